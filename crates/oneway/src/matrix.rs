//! One row an agent, where the machine likes rows to be: on cache lines of their own, if they are long enough.
//!
//! A load that straddles two cache lines costs two loads. Rows of 123 numbers, one behind the other, would make almost every
//! wide load such a load; so long rows begin on a line and are filled up with zeros to the end of one.

/// Numbers in a cache line.
pub(crate) const LINE: usize = 8;

/// Rows from this width on are filled up to whole lines, which makes them at most a ninth longer.
const PADDED_FROM: usize = 64;

/// From the start of one row of `width` numbers to the start of the next.
pub(crate) const fn stride(width: usize) -> usize {
    if width < PADDED_FROM { width } else { width.next_multiple_of(LINE) }
}

/// Rows of one width, aligned to cache lines; all zero at first.
#[derive(Debug)]
pub(crate) struct Matrix {
    buffer: Vec<f64>,
    /// Where in the buffer the first cache line begins.
    first: usize,
    numbers: usize,
}

impl Matrix {
    pub(crate) fn new(rows: usize, width: usize) -> Self {
        let numbers = rows * stride(width);
        let buffer = vec![0.0; numbers + LINE - 1];
        let first = buffer.as_ptr().align_offset(LINE * size_of::<f64>()).min(LINE - 1);
        Self { buffer, first, numbers }
    }

    /// All rows, each [`stride`] long.
    pub(crate) fn rows(&self) -> &[f64] {
        &self.buffer[self.first..self.first + self.numbers]
    }

    /// Row i, of this width.
    pub(crate) fn row(&self, i: usize, width: usize) -> &[f64] {
        &self.rows()[i * stride(width)..][..width]
    }

    /// Row i, to write into.
    pub(crate) fn row_mut(&mut self, i: usize, width: usize) -> &mut [f64] {
        &mut self.rows_mut()[i * stride(width)..][..width]
    }

    /// Row `from`, and another to write into.
    pub(crate) fn row_and_other(&mut self, from: usize, other: usize, width: usize) -> (&[f64], &mut [f64]) {
        let later = from.max(other) * stride(width);
        let (before, after) = self.rows_mut().split_at_mut(later);
        let (first, second) = (&mut before[from.min(other) * stride(width)..][..width], &mut after[..width]);
        if from < other { (first, second) } else { (second, first) }
    }

    /// All rows, to write into.
    pub(crate) fn rows_mut(&mut self) -> &mut [f64] {
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
            let mut matrix = Matrix::new(3, width);
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
