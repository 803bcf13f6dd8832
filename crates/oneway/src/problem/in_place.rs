//! Gradients that another program makes where the points are: in the memory of a device.

use std::any::Any;
use std::fmt::{self, Debug};
use std::sync::Arc;

use crate::Result;
use crate::numeric::Precision;
use crate::numeric::sample::Streams;

/// Whose memory it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// This computer's processors'.
    Host,
    /// An NVIDIA GPU's, by its number.
    Cuda(i32),
}

/// Memory that an engine lends: it stays as long as somebody holds it, but what is in it changes with the
/// engine's next work.
pub trait Lent: Debug + Send + Sync {
    /// Whose memory it is.
    fn memory(&self) -> Memory;

    /// Lets work that is begun on another stream of the device from now on wait for what the engine has begun.
    /// Nobody here waits. `stream` is the driver's handle; memory of the host has no streams, and nothing is
    /// done.
    fn order_before(&self, stream: u64) -> Result<()>;
}

/// The gradients of all agents that are asked for at points on a device.
#[derive(Debug)]
pub struct PlacedBatch<'a> {
    /// The address of n·d numbers, agent by agent. They may be read until the call returns, by whatever the call
    /// has put in order before the engine's stream.
    pub points: u64,
    /// The memory they are in.
    pub lent: &'a Arc<dyn Lent>,
    /// What these numbers are, and what the gradients must be.
    pub precision: Precision,
    /// The engine's stream by the driver's handle: what must be done before gradients are there has to be in order
    /// before its next work. None where there are no streams.
    pub stream: Option<u64>,
    /// The draws of all agents.
    pub draws: &'a mut Streams,
}

/// Gradients on a device.
pub struct Placed {
    address: u64,
    keeper: Box<dyn Any + Send>,
}

impl Placed {
    /// Gradients at an address, which are there until `keeper` is dropped.
    ///
    /// # Safety
    ///
    /// From the address on, n·d numbers of the precision that was asked for, agent by agent and properly aligned,
    /// are in the memory where the points are. Nobody writes to them before the engine's work that is begun until
    /// its next call is done, or `keeper` is dropped.
    #[allow(unsafe_code)]
    pub unsafe fn new(address: u64, keeper: Box<dyn Any + Send>) -> Self {
        Self { address, keeper }
    }

    /// The address of the first number, and what keeps it.
    pub fn into_parts(self) -> (u64, Box<dyn Any + Send>) {
        (self.address, self.keeper)
    }
}

impl Debug for Placed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "gradients at {:#x}", self.address)
    }
}

/// Gradients that are made where the points are.
pub trait InPlace: Send + Sync {
    /// Begins what makes the stochastic gradients of all agents. An error ends the run.
    fn gradients_at(&self, batch: PlacedBatch<'_>) -> Result<Placed>;
}
