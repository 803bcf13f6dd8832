//! One row an agent, where the machine likes rows to be: on cache lines of their own, if they are long
//! enough.
//!
//! A load that straddles two cache lines costs two loads. Rows of 123 numbers, one behind the other, would
//! make almost every wide load such a load; so long rows begin on a line and are filled up with zeros to the
//! end of one.

use std::ops::Range;
use std::sync::Arc;

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

/// Lets all numbers go but some, which keep their places. Zeros that nobody touches take address space, not
/// memory.
pub(crate) fn keep_only<T: Copy + Default>(numbers: &mut Vec<T>, kept: Range<usize>) {
    let mut fresh = vec![T::default(); numbers.len()];
    fresh[kept.clone()].copy_from_slice(&numbers[kept]);
    *numbers = fresh;
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

    /// Hands out its memory, where its numbers are double, until it is [taken back](Self::take_back);
    /// meanwhile there are no rows.
    pub(crate) fn lend(&mut self) -> Option<Arc<Vec<f64>>> {
        match T::into_f64(std::mem::take(&mut self.buffer)) {
            Ok(buffer) => Some(Arc::new(buffer)),
            Err(buffer) => {
                self.buffer = buffer;
                None
            }
        }
    }

    /// Takes its memory back. Where somebody has kept it, they keep it as it is, and the rows are copied to
    /// other memory.
    pub(crate) fn take_back(&mut self, memory: Arc<Vec<f64>>) {
        match Arc::try_unwrap(memory) {
            Ok(buffer) => self.buffer = T::from_f64_vector(buffer).unwrap_or_default(),
            Err(kept) => {
                let mut copy = Self::new(self.numbers, 1);
                let numbers = &kept[self.first..][..self.numbers];
                copy.rows_mut().iter_mut().zip(numbers).for_each(|(to, from)| *to = T::from_f64(*from));
                *self = copy;
            }
        }
    }

    /// The rows in memory that was lent.
    pub(crate) fn lent<'m>(&self, memory: &'m [f64]) -> &'m [f64] {
        &memory[self.first..][..self.numbers]
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
    fn memory_that_is_kept_is_left_as_it_is() {
        let mut matrix = Matrix::<f64>::new(2, 65);
        matrix.row_mut(1, 65).fill(3.0);
        let place = matrix.rows().as_ptr();
        let memory = matrix.lend().unwrap();
        matrix.take_back(memory);
        assert_eq!(matrix.rows().as_ptr(), place, "nobody kept it: it is not copied");

        let memory = matrix.lend().unwrap();
        let (kept, first) = (Arc::clone(&memory), matrix.first);
        matrix.take_back(memory);
        matrix.row_mut(1, 65).fill(4.0);
        assert_eq!(matrix.row(1, 65), vec![4.0; 65]);
        assert_eq!(kept[first + 72..][..65], [3.0; 65]);
        assert_eq!(matrix.rows().as_ptr() as usize % 64, 0);
        assert!(Matrix::<f32>::new(2, 3).lend().is_none());
    }

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
