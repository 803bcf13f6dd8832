//! What an agent keeps on disk, so that a crash changes nothing.

pub mod checkpoint;
pub mod finished;
pub mod journal;
pub mod owner;
pub mod recent;
mod stream;
