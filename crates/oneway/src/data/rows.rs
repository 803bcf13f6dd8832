//! Sparse rows of features: compressed, with columns in a byte where they fit and values only where they are
//! not all one.

use std::ops::Range;

use crate::numeric::matrix::keep_only;
use crate::numeric::vectors::prefetch;

/// Sparse rows. Columns count from 0 and ascend within a row.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    /// Row r's entries are `offsets[r]..offsets[r + 1]`; half the size of a `usize`, so that they stay in a
    /// near cache.
    offsets: Vec<u32>,
    columns: Columns,
    /// `None`: every stored entry is 1, as in binarised data.
    values: Option<Vec<f64>>,
}

/// Column indices, in the narrowest of two widths that holds them all.
#[derive(Debug, Clone, PartialEq)]
enum Columns {
    Byte(Vec<u8>),
    Word(Vec<u32>),
}

impl Default for SparseRows {
    fn default() -> Self {
        Self::new()
    }
}

impl SparseRows {
    /// No rows yet.
    pub fn new() -> Self {
        Self { offsets: vec![0], columns: Columns::Byte(vec![]), values: None }
    }

    /// Whether `entries` more can be appended: there is room for 2³² − 1.
    pub fn has_room(&self, entries: usize) -> bool {
        self.entries().checked_add(entries).is_some_and(|all| u32::try_from(all).is_ok())
    }

    /// Appends one row of (column, value) pairs, columns ascending.
    ///
    /// # Panics
    /// If there is no [room](Self::has_room) for them.
    pub fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        for (column, value) in row {
            self.push_column(column);
            let stored = self.columns.len();
            match &mut self.values {
                Some(values) => values.push(value),
                None if value == 1.0 => {}
                none => {
                    let mut values = vec![1.0; stored - 1];
                    values.push(value);
                    *none = Some(values);
                }
            }
        }
        let end = u32::try_from(self.columns.len()).expect("sparse rows hold fewer than 2³² entries");
        self.offsets.push(end);
    }

    fn push_column(&mut self, column: u32) {
        match &mut self.columns {
            Columns::Byte(bytes) => match u8::try_from(column) {
                Ok(byte) => bytes.push(byte),
                Err(_) => {
                    let mut words: Vec<u32> = bytes.iter().map(|&b| u32::from(b)).collect();
                    words.push(column);
                    self.columns = Columns::Word(words);
                }
            },
            Columns::Word(words) => words.push(column),
        }
    }

    /// Lets the entries of all rows go but of these: the others must not be looked at any more.
    pub(crate) fn keep(&mut self, rows: Range<usize>) {
        let entries = self.offsets[rows.start] as usize..self.offsets[rows.end] as usize;
        match &mut self.columns {
            Columns::Byte(bytes) => keep_only(bytes, entries.clone()),
            Columns::Word(words) => keep_only(words, entries.clone()),
        }
        if let Some(values) = &mut self.values {
            keep_only(values, entries);
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of stored entries.
    pub fn entries(&self) -> usize {
        self.columns.len()
    }

    /// Whether every stored entry is 1.
    pub fn is_binary(&self) -> bool {
        self.values.is_none()
    }

    fn range(&self, r: usize) -> Range<usize> {
        range(&self.offsets, r)
    }

    /// Asks for row r from far memory; only its columns, since values may be implied.
    #[inline]
    pub(crate) fn prefetch(&self, r: usize) {
        let start = self.offsets[r] as usize;
        match &self.columns {
            Columns::Byte(bytes) => bytes.get(start).map_or((), prefetch),
            Columns::Word(words) => words.get(start).map_or((), prefetch),
        }
    }

    /// The (column, value) pairs of one row.
    pub fn row(&self, r: usize) -> impl Iterator<Item = (u32, f64)> + '_ {
        let range = self.range(r);
        range.map(move |e| {
            let column = match &self.columns {
                Columns::Byte(bytes) => u32::from(bytes[e]),
                Columns::Word(words) => words[e],
            };
            (column, self.values.as_ref().map_or(1.0, |values| values[e]))
        })
    }

    /// Runs `kernel` on the concrete representation, so that the choice is made once and not per entry.
    #[inline(always)]
    pub(crate) fn with<K: Kernel>(&self, kernel: K) -> K::Output {
        let offsets = &self.offsets[..];
        match (&self.columns, &self.values) {
            (Columns::Byte(columns), None) => kernel.run(Binary { offsets, columns }),
            (Columns::Word(columns), None) => kernel.run(Binary { offsets, columns }),
            (Columns::Byte(columns), Some(values)) => kernel.run(Valued { offsets, columns, values }),
            (Columns::Word(columns), Some(values)) => kernel.run(Valued { offsets, columns, values }),
        }
    }
}

impl Columns {
    fn len(&self) -> usize {
        match self {
            Columns::Byte(bytes) => bytes.len(),
            Columns::Word(words) => words.len(),
        }
    }
}

/// Where row r's entries are.
#[inline(always)]
fn range(offsets: &[u32], r: usize) -> Range<usize> {
    offsets[r] as usize..offsets[r + 1] as usize
}

/// A computation over rows whose entries it can walk without knowing how they are stored.
pub(crate) trait Kernel {
    /// What it computes.
    type Output;
    /// Computes it.
    fn run<E: Entries>(self, entries: E) -> Self::Output;
}

/// Rows of entries in one concrete representation.
pub(crate) trait Entries: Copy {
    /// The (column, value) pairs of row `r`; value is the constant 1 for binary rows, so that it costs
    /// nothing.
    fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)>;
}

#[derive(Clone, Copy)]
struct Binary<'a, C> {
    offsets: &'a [u32],
    columns: &'a [C],
}

impl<C: Copy + Into<u32>> Entries for Binary<'_, C> {
    #[inline(always)]
    fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)> {
        self.columns[range(self.offsets, r)].iter().map(|&c| (c.into() as usize, 1.0))
    }
}

#[derive(Clone, Copy)]
struct Valued<'a, C> {
    offsets: &'a [u32],
    columns: &'a [C],
    values: &'a [f64],
}

impl<C: Copy + Into<u32>> Entries for Valued<'_, C> {
    #[inline(always)]
    fn row(&self, r: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = range(self.offsets, r);
        let columns = self.columns[range.clone()].iter().map(|&c| c.into() as usize);
        columns.zip(self.values[range].iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_entries_as_an_offset_can_count() {
        let mut rows = SparseRows::new();
        let most = u32::MAX as usize;
        assert!(rows.has_room(most) && !rows.has_room(most + 1));
        rows.push([(0, 1.0), (3, 1.0)]);
        assert!(rows.has_room(most - 2) && !rows.has_room(most - 1) && !rows.has_room(usize::MAX));
    }

    #[test]
    fn rows_come_back_as_pushed_in_every_representation() {
        let binary = vec![vec![(0, 1.0), (254, 1.0)], vec![], vec![(3, 1.0)]];
        let wide = [binary.clone(), vec![vec![(255, 1.0), (256, 1.0), (70_000, 1.0)]]].concat();
        let valued = [binary.clone(), vec![vec![(1, 0.5), (2, 1.0)]]].concat();
        let both = [wide.clone(), valued.clone(), wide.clone()].concat();
        for pushed in [binary, wide, valued, both] {
            let mut rows = SparseRows::new();
            pushed.iter().for_each(|row| rows.push(row.iter().copied()));
            assert_eq!(rows.len(), pushed.len());
            assert_eq!(rows.is_binary(), pushed.iter().flatten().all(|e| e.1 == 1.0));
            for (r, row) in pushed.iter().enumerate() {
                assert_eq!(&rows.row(r).collect::<Vec<_>>(), row);
            }
        }
    }
}
