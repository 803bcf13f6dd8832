//! Engines on other devices than this computer's processors.

use std::fmt::Debug;

use oneway::engine::{Engine, Setup};
use oneway::numeric::Precision;

/// Any engine.
pub type AnyEngine<'a> = Box<dyn Engine<'a> + Send + 'a>;

/// Makes engines on another device. They have the simulator's bits, so that results do not say where they
/// were made.
pub trait Engines: Debug + Send + Sync {
    /// The engine of a run. An error is the device's, and ends the run.
    fn engine<'a>(&self, setup: Setup<'a>, precision: Precision) -> oneway::Result<Made<'a>>;
}

/// Where a run is.
pub enum Made<'a> {
    /// On the device.
    There(AnyEngine<'a>),
    /// It cannot be there, for this reason, and stays on the processors.
    Stays(String),
}

impl Debug for Made<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Made::There(_) => f.write_str("There"),
            Made::Stays(why) => f.debug_tuple("Stays").field(why).finish(),
        }
    }
}
