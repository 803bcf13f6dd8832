//! Memory of a device taken in large pieces: thousands of small buffers for the price of a few.

use std::any::Any;

use crate::device::{Buffer, Launch, Program, Recording};
use crate::error::Result;

/// Bytes of the first piece; each is twice as large as the one before, up to the most.
const FIRST: usize = 1 << 20;
const MOST: usize = 1 << 26;
/// Buffers begin on multiples of this many bytes.
const ALIGNED: usize = 256;

/// A program whose buffers are parts of larger ones. They are given back when it is dropped, all at once.
#[derive(Debug)]
pub(crate) struct Arena {
    inner: Box<dyn Program>,
    /// The piece that buffers are taken from, where its free part begins, and where it ends.
    piece: Option<(Buffer, usize, usize)>,
    next: usize,
    /// Where each buffer is: in which piece, and from which byte on.
    places: Vec<(Buffer, usize)>,
}

impl Arena {
    pub(crate) fn new(inner: Box<dyn Program>) -> Self {
        Self { inner, piece: None, next: FIRST, places: vec![] }
    }
}

impl Program for Arena {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        let bytes = bytes.max(1).next_multiple_of(ALIGNED);
        let (piece, from, end) = match self.piece {
            Some((piece, from, end)) if end - from >= bytes => (piece, from, end),
            _ => {
                let size = self.next.max(bytes);
                let piece = self.inner.allocate(size)?;
                self.next = (2 * self.next).min(MOST);
                (piece, 0, size)
            }
        };
        self.piece = Some((piece, from + bytes, end));
        self.places.push((piece, from));
        Ok(Buffer(self.places.len() - 1))
    }

    fn address(&self, buffer: Buffer) -> u64 {
        let (piece, from) = self.places[buffer.0];
        self.inner.address(piece) + from as u64
    }

    fn write_at(&mut self, buffer: Buffer, from: usize, bytes: &[u8]) -> Result<()> {
        let (piece, at) = self.places[buffer.0];
        self.inner.write_at(piece, at + from, bytes)
    }

    fn read_at(&mut self, buffer: Buffer, from: usize, bytes: &mut [u8]) -> Result<()> {
        let (piece, at) = self.places[buffer.0];
        self.inner.read_at(piece, at + from, bytes)
    }

    fn launch(&mut self, launch: &Launch) -> Result<()> {
        self.inner.launch(launch)
    }

    fn record(&mut self, launches: &[Launch]) -> Result<Recording> {
        self.inner.record(launches)
    }

    fn replay(&mut self, recording: Recording) -> Result<()> {
        self.inner.replay(recording)
    }

    fn hold(&mut self, kept: Box<dyn Any + Send>) -> Result<()> {
        self.inner.hold(kept)
    }
}
