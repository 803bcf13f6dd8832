//! Numbers and rows as streams of bytes, with a checksum: nothing is copied as a whole.

use std::borrow::Cow;
use std::io::{self, Read, Write};

use sha2::{Digest, Sha256};

use crate::owner::Foreign;

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

/// A checksum under way.
pub(super) trait Sum {
    fn add(&mut self, bytes: &[u8]);
}

impl Sum for Sha256 {
    fn add(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

impl Sum for crc32fast::Hasher {
    fn add(&mut self, bytes: &[u8]) {
        self.update(bytes);
    }
}

/// Bytes that pass by, and their checksum.
#[derive(Debug)]
pub(super) struct Checked<T, S> {
    pub(super) inner: T,
    pub(super) sum: S,
}

impl<W: Write, S: Sum> Write for Checked<W, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.sum.add(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl<R: Read, S: Sum> Read for Checked<R, S> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(bytes)?;
        self.sum.add(&bytes[..read]);
        Ok(read)
    }
}

pub(super) fn write_number(out: &mut impl Write, number: u64) -> io::Result<()> {
    out.write_all(&number.to_le_bytes())
}

/// A row: how long it is, and its numbers.
pub(super) fn write_row(out: &mut impl Write, row: &[f64]) -> io::Result<()> {
    write_number(out, row.len() as u64)?;
    let bytes: Cow<'_, [u8]> = if cfg!(target_endian = "little") {
        bytemuck::cast_slice(row).into()
    } else {
        row.iter().flat_map(|x| x.to_le_bytes()).collect()
    };
    // in pieces, so that a checksum finds them where the processor still has them
    bytes.chunks(1 << 16).try_for_each(|piece| out.write_all(piece))
}

/// Reads numbers and rows; what is promised and not there is damage, before anything is allocated for it.
#[derive(Debug)]
pub(super) struct Source<R> {
    pub(super) inner: R,
    /// Bytes that are left.
    pub(super) left: u64,
}

impl<R: Read> Source<R> {
    fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.left = self.left.checked_sub(bytes).ok_or(Fault::Damaged)?;
        Ok(())
    }

    pub(super) fn bytes(&mut self, count: usize) -> Result<Vec<u8>, Fault> {
        self.take(count as u64)?;
        let mut bytes = vec![0; count];
        self.inner.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    pub(super) fn number(&mut self) -> Result<u64, Fault> {
        self.take(8)?;
        let mut bytes = [0; 8];
        self.inner.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    pub(super) fn row(&mut self) -> Result<Vec<f64>, Fault> {
        let length = self.number()?;
        self.take(length.checked_mul(8).ok_or(Fault::Damaged)?)?;
        let mut row = vec![0.0; usize::try_from(length).map_err(|_| Fault::Damaged)?];
        for piece in bytemuck::cast_slice_mut::<f64, u8>(&mut row).chunks_mut(1 << 16) {
            self.inner.read_exact(piece)?;
        }
        if cfg!(target_endian = "big") {
            row.iter_mut().for_each(|x| *x = f64::from_bits(x.to_bits().swap_bytes()));
        }
        Ok(row)
    }

    /// As many as are said to come.
    pub(super) fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, Fault>,
    ) -> Result<Vec<T>, Fault> {
        let count = self.number()?;
        (0..count).map(|_| one(self)).collect()
    }

    /// Passes over what is left.
    pub(super) fn skip(&mut self) -> Result<(), Fault> {
        let left = std::mem::take(&mut self.left);
        let mut rest = (&mut self.inner).take(left);
        match io::copy(&mut rest, &mut io::sink())? == left {
            true => Ok(()),
            false => Err(Fault::Damaged),
        }
    }
}
