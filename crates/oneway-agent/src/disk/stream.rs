//! Numbers and rows as streams of bytes that end with a checksum: the one reader and the one writer of all
//! binary files of an agent.
//!
//! Rows are read and written where they are in memory. A length in a file is compared with the bytes that are
//! left before anything is allocated for it.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use oneway::numeric::Precision;
use sha2::{Digest, Sha256};

use super::owner::{Foreign, Owner};
use crate::wire::{Number, to_little_endian};

/// Why something cannot be read.
#[derive(Debug)]
pub(super) enum Fault {
    Damaged,
    Foreign(Foreign),
    Io(io::Error),
}

impl From<io::Error> for Fault {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Fault::Damaged,
            _ => Fault::Io(error),
        }
    }
}

/// How a kind of file begins: six letters, the precision of its numbers (0: `f64`, 1: `f32`), and the version
/// of its format.
#[derive(Debug, Clone, Copy)]
pub(super) struct Magic {
    pub(super) letters: [u8; 6],
    pub(super) version: u8,
}

impl Magic {
    /// Bytes of it.
    pub(super) const BYTES: usize = 8;

    /// As it is in a file.
    pub(super) fn to_bytes(self, precision: Precision) -> [u8; Self::BYTES] {
        let [a, b, c, d, e, f] = self.letters;
        [a, b, c, d, e, f, u8::from(precision == Precision::F32), self.version]
    }

    /// The precision of a file that begins with these bytes; nothing if it is of another kind or version.
    pub(super) fn precision(self, bytes: &[u8]) -> Option<Precision> {
        [Precision::F64, Precision::F32].into_iter().find(|precision| self.to_bytes(*precision) == *bytes)
    }
}

/// A checksum that is being computed.
pub(super) trait Sum: Default {
    /// Bytes of it.
    const BYTES: usize;

    fn add(&mut self, bytes: &[u8]);

    /// As it is in a file.
    fn finish(self) -> Vec<u8>;
}

impl Sum for Sha256 {
    const BYTES: usize = 32;

    fn add(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    fn finish(self) -> Vec<u8> {
        self.finalize().to_vec()
    }
}

impl Sum for crc32fast::Hasher {
    const BYTES: usize = 4;

    fn add(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }

    fn finish(self) -> Vec<u8> {
        self.finalize().to_le_bytes().to_vec()
    }
}

/// Writes bytes and, at their end, their checksum.
#[derive(Debug)]
pub(super) struct Sealing<W, S> {
    inner: W,
    sum: S,
}

impl<W: Write, S: Sum> Sealing<W, S> {
    pub(super) fn new(inner: W) -> Self {
        Self { inner, sum: S::default() }
    }

    pub(super) fn number(&mut self, number: u64) -> io::Result<()> {
        self.bytes(&number.to_le_bytes())
    }

    pub(super) fn bytes(&mut self, bytes: &[u8]) -> io::Result<()> {
        // in pieces, so that the checksum finds them in the processor's cache
        bytes.chunks(1 << 16).try_for_each(|piece| {
            self.sum.add(piece);
            self.inner.write_all(piece)
        })
    }

    pub(super) fn numbers<T: Number>(&mut self, numbers: &[T]) -> io::Result<()> {
        let little: Cow<'_, [T]> = if cfg!(target_endian = "little") {
            numbers.into()
        } else {
            numbers.iter().copied().map(to_little_endian).collect()
        };
        self.bytes(bytemuck::cast_slice(&little))
    }

    /// A row: its length, and its numbers.
    pub(super) fn row<T: Number>(&mut self, row: &[T]) -> io::Result<()> {
        self.number(row.len() as u64)?;
        self.numbers(row)
    }

    /// Ends with the checksum.
    pub(super) fn seal(mut self) -> io::Result<W> {
        self.inner.write_all(&self.sum.finish())?;
        Ok(self.inner)
    }
}

/// Reads what was [sealed](Sealing). A length beyond the end is damage, and nothing is allocated for it.
#[derive(Debug)]
pub(super) struct Source<R, S> {
    inner: R,
    sum: S,
    /// Bytes that are left before the checksum.
    left: u64,
}

impl<R: Read, S: Sum> Source<R, S> {
    /// Of `length` bytes, the checksum among them.
    pub(super) fn new(inner: R, length: u64) -> Result<Self, Fault> {
        let left = length.checked_sub(S::BYTES as u64).ok_or(Fault::Damaged)?;
        Ok(Self { inner, sum: S::default(), left })
    }

    fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes).ok_or(Fault::Damaged)?;
        Ok(())
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Fault> {
        for piece in bytes.chunks_mut(1 << 16) {
            self.inner.read_exact(piece)?;
            self.sum.add(piece);
        }
        Ok(())
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Fault> {
        self.take(count as u64)?;
        let mut bytes = vec![0; count];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64, Fault> {
        self.take(8)?;
        let mut bytes = [0; 8];
        self.fill(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn owner(&mut self) -> Result<Owner, Fault> {
        let bytes = self.bytes(Owner::BYTES)?;
        Owner::split(&bytes).map(|(owner, _)| owner).ok_or(Fault::Damaged)
    }

    /// `count` numbers.
    pub(super) fn numbers<T: Number>(&mut self, count: u64) -> Result<Vec<T>, Fault> {
        self.take(count.checked_mul(size_of::<T>() as u64).ok_or(Fault::Damaged)?)?;
        let mut row = vec![T::default(); usize::try_from(count).map_err(|_| Fault::Damaged)?];
        self.fill(bytemuck::cast_slice_mut(&mut row))?;
        if cfg!(target_endian = "big") {
            row.iter_mut().for_each(|x| *x = x.reverse_bytes());
        }
        Ok(row)
    }

    /// A row, which says its length.
    pub(super) fn row<T: Number>(&mut self) -> Result<Vec<T>, Fault> {
        let length = self.number()?;
        self.numbers(length)
    }

    /// As many as are said to follow.
    pub(super) fn list<U>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<U, Fault>,
    ) -> Result<Vec<U>, Fault> {
        let count = self.number()?;
        (0..count).map(|_| one(self)).collect()
    }

    /// Whether only the checksum is left.
    pub(super) fn is_at_end(&self) -> bool {
        self.left == 0
    }

    /// Skips what is left, and compares the checksum.
    pub(super) fn check(mut self) -> Result<(), Fault> {
        let mut piece = [0; 4096];
        while self.left > 0 {
            let next = piece.len().min(usize::try_from(self.left).unwrap_or(usize::MAX));
            self.take(next as u64)?;
            self.fill(&mut piece[..next])?;
        }
        let mut expected = vec![0; S::BYTES];
        self.inner.read_exact(&mut expected)?;
        if self.sum.finish() == expected { Ok(()) } else { Err(Fault::Damaged) }
    }
}
