//! One row an agent, where the machine likes rows to be: on cache lines of their own, if they are long enough.
//!
//! A load that straddles two cache lines costs two loads. Rows of 123 numbers, one behind the other, would make almost every
//! wide load such a load; so long rows begin on a line and are filled up with zeros to the end of one.

use crate::numeric::Float;

/// Bytes in a cache line.
const LINE_BYTES: usize = 64;

/// Double-precision numbers in a cache line.
pub(crate) const LINE: usize = LINE_BYTES / size_of::<f64>();

/// Rows of at least this many lines are filled up to whole ones, which makes them at most a ninth longer.
const PADDED_FROM: usize = 8;

/// From the start of one row of `width` numbers to the start of the next.
pub(crate) const fn stride_of<T>(width: usize) -> usize {
    let line = LINE_BYTES / size_of::<T>();
    if width < PADDED_FROM * line { width } else { width.next_multiple_of(line) }
}

/// [`stride_of`] double-precision numbers.
pub(crate) const fn stride(width: usize) -> usize {
    stride_of::<f64>(width)
}

/// Rows of one width, aligned to cache lines; all zero at first.
#[derive(Debug)]
pub(crate) struct Matrix<T = f64> {
    buffer: Vec<T>,
    /// Where in the buffer the first cache line begins.
    first: usize,
    numbers: usize,
}

impl<T: Float> Matrix<T> {
    pub(crate) fn new(rows: usize, width: usize) -> Self {
        let (numbers, line) = (rows * stride_of::<T>(width), LINE_BYTES / size_of::<T>());
        let buffer = vec![T::default(); numbers + line - 1];
        let first = buffer.as_ptr().align_offset(LINE_BYTES).min(line - 1);
        Self { buffer, first, numbers }
    }

    /// All rows, each [`stride`] long.
    pub(crate) fn rows(&self) -> &[T] {
        &self.buffer[self.first..self.first + self.numbers]
    }

    /// Row i, of this width.
    pub(crate) fn row(&self, i: usize, width: usize) -> &[T] {
        &self.rows()[i * stride_of::<T>(width)..][..width]
    }

    /// Row i, to write into.
    pub(crate) fn row_mut(&mut self, i: usize, width: usize) -> &mut [T] {
        &mut self.rows_mut()[i * stride_of::<T>(width)..][..width]
    }

    /// Row `from`, and another to write into.
    pub(crate) fn row_and_other(&mut self, from: usize, other: usize, width: usize) -> (&[T], &mut [T]) {
        let later = from.max(other) * stride_of::<T>(width);
        let (before, after) = self.rows_mut().split_at_mut(later);
        let (first, second) =
            (&mut before[from.min(other) * stride_of::<T>(width)..][..width], &mut after[..width]);
        if from < other { (first, second) } else { (second, first) }
    }

    /// All rows, to write into.
    pub(crate) fn rows_mut(&mut self) -> &mut [T] {
        &mut self.buffer[self.first..self.first + self.numbers]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_rows_begin_on_cache_lines_and_short_ones_are_packed() {
        for (width, expected) in
            [(0, 0), (1, 1), (10, 10), (63, 63), (64, 64), (65, 72), (123, 128), (247, 248)]
        {
            assert_eq!(stride(width), expected, "{width}");
            let mut matrix = Matrix::<f64>::new(3, width);
            assert_eq!(matrix.rows().len(), 3 * expected);
            assert_eq!(matrix.rows_mut().as_ptr() as usize % 64, 0);
            matrix.row_mut(2, width).fill(2.0);
            for (from, other) in [(2, 1), (2, 0), (1, 2)] {
                let (row, written) = matrix.row_and_other(from, other, width);
                written.copy_from_slice(row);
            }
            assert!((0..3).all(|i| matrix.row(i, width) == vec![2.0; width]));
        }
    }
}
