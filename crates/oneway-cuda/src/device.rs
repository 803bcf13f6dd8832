//! What an engine needs of a device: memory, copies, launches. Few calls, so that a host can stand in.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;

use oneway::problem::{Lent, Memory};

use crate::error::{Error, Result};

/// A device.
pub trait Device: Debug + Send + Sync {
    /// What it is called.
    fn name(&self) -> String;

    /// How many threads keep it busy.
    fn threads(&self) -> u64;

    /// Bytes of memory that the threads of a block can share, at most.
    fn shared(&self) -> usize;

    /// Where the memory of its programs is.
    fn memory(&self) -> Memory;

    /// Compiles a source, or finds it compiled, and gets it ready to run.
    fn load(&self, source: &str) -> Result<Box<dyn Program>>;
}

/// Compiled kernels with memory of their own. What is begun is done in its order; only reading waits.
pub trait Program: Debug + Send {
    /// Memory for this many bytes, all zero.
    fn allocate(&mut self, bytes: usize) -> Result<Buffer>;

    /// Where a buffer is, for kernels.
    fn address(&self, buffer: Buffer) -> u64;

    /// Copies bytes into a buffer, from this byte of it on.
    fn write_at(&mut self, buffer: Buffer, from: usize, bytes: &[u8]) -> Result<()>;

    /// Copies what is in a buffer from this byte on, when all that was begun is done.
    fn read_at(&mut self, buffer: Buffer, from: usize, bytes: &mut [u8]) -> Result<()>;

    /// Copies bytes into the beginning of a buffer.
    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<()> {
        self.write_at(buffer, 0, bytes)
    }

    /// Copies the beginning of a buffer, when all that was begun is done.
    fn read(&mut self, buffer: Buffer, bytes: &mut [u8]) -> Result<()> {
        self.read_at(buffer, 0, bytes)
    }

    /// Begins a kernel.
    fn launch(&mut self, launch: &Launch) -> Result<()>;

    /// Keeps launches that are made again and again, in this order.
    fn record(&mut self, launches: &[Launch]) -> Result<Recording>;

    /// Begins all launches of a recording.
    fn replay(&mut self, recording: Recording) -> Result<()>;

    /// Memory for this many bytes that other programs may see, as long as anybody holds it, and its address.
    fn allocate_lent(&mut self, _bytes: usize) -> Result<(u64, Arc<dyn Lent>)> {
        Err(Error::Unsupported("it lends no memory to other programs".to_owned()))
    }

    /// The driver's handle of the stream that all is begun on, if there are streams.
    fn stream(&self) -> Option<u64> {
        None
    }

    /// Keeps something that kernels read until all that was begun is done.
    fn hold(&mut self, kept: Box<dyn Any + Send>) -> Result<()>;
}

/// Memory of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Buffer(pub(crate) usize);

/// Launches that a program keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording(pub(crate) usize);

/// One kernel over some threads. Its arguments are three structures of eight-byte words: the run, the
/// problem, and which part of a round this is.
#[derive(Debug, Clone)]
pub struct Launch {
    pub(crate) kernel: &'static str,
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    /// Bytes of memory that the threads of a block share.
    pub(crate) shared: u32,
    pub(crate) run: Arc<[u64]>,
    pub(crate) problem: Arc<[u64]>,
    pub(crate) turn: [u64; 6],
}

/// Puts numbers into memory of their own; nothing for none.
pub(crate) fn put<T: bytemuck::NoUninit>(program: &mut dyn Program, numbers: &[T]) -> Result<u64> {
    if numbers.is_empty() {
        return Ok(0);
    }
    let bytes = bytemuck::cast_slice(numbers);
    let buffer = program.allocate(bytes.len())?;
    program.write(buffer, bytes)?;
    Ok(program.address(buffer))
}
