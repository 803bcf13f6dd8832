//! The engine on an NVIDIA GPU.
//!
//! A rule is one coordinate's arithmetic, written down as a straight-line program
//! ([`oneway::method::Trace`]). Here it is [printed](mod@print) as CUDA C, put together with kernels for
//! mixing and for a problem's gradients ([`Source`]), compiled when a run begins, and run with all states on
//! the device ([`Wide`]). Sums have the bit contract's order and nothing is fused, so that states have the
//! CPU's bits.
//!
//! Many small runs go side by side, a multiprocessor's each ([`Cells`]); with what is measured of them on the
//! device too they are [`Together`]. [`OnDevice`] is both for whoever runs experiments.
//!
//! The driver is found when it is asked for ([`cuda::open`]). Everything else is plain Rust over a small
//! trait, [`device::Device`], which a [`host`] implements too: it compiles the very same text with a C++
//! compiler, so that the bits of kernels are tested where there is no GPU.

mod arena;
mod around;
mod cells;
mod columns;
pub mod cuda;
pub mod device;
mod engines;
mod error;
mod foreign;
pub mod host;
mod meter;
mod network;
pub mod print;
mod problem;
mod rounds;
mod run;
mod source;
mod states;
mod together;
mod wide;

pub use cells::Cells;
pub use engines::OnDevice;
pub use error::{Error, Result};
pub use source::Source;
pub use together::Together;
pub use wide::Wide;
