//! Engines on other devices than this computer's processors.

use std::fmt::Debug;

use oneway::engine::metrics::{Extras, Measurement};
use oneway::engine::observe::Snapshot;
use oneway::engine::{Engine, Setup};
use oneway::numeric::Precision;

/// Any engine.
pub type AnyEngine<'a> = Box<dyn Engine<'a> + Send + 'a>;

/// A run that may be made beside others.
#[derive(Debug, Clone)]
pub struct Task<'a> {
    /// What is run.
    pub setup: Setup<'a>,
    /// The precision of its states.
    pub precision: Precision,
    /// How many rounds.
    pub rounds: u64,
    /// A state is measured each time this number of rounds is done, and at the end.
    pub record_every: u64,
    /// What is measured beside the rest.
    pub extras: Extras,
}

/// Makes engines on another device. They have the simulator's bits, so that results do not say where they
/// were made.
pub trait Engines: Debug + Send + Sync {
    /// The engine of a run. An error is the device's, and ends the run.
    fn engine<'a>(&self, setup: Setup<'a>, precision: Precision) -> oneway::Result<Made<'a>>;

    /// Which of these runs are better made side by side than one by one, by their places: each in one group at
    /// most. The runs of a group have equally many rounds and are measured in the same of them.
    fn groups(&self, _tasks: &[Task<'_>]) -> Vec<Vec<usize>> {
        vec![]
    }

    /// The runs of a group, or of a part of it, at state 0. An error is the device's, and ends them all.
    fn together<'a>(&self, _tasks: &[Task<'a>]) -> oneway::Result<Together<'a>> {
        Ok(Together::TooMany)
    }
}

/// Runs side by side on a device. Vectors speak of those that go on, in their order.
pub trait SideBySide<'a>: Debug {
    /// Whether the states of each are within all bounds.
    fn are_sound(&mut self) -> oneway::Result<Vec<bool>>;

    /// What is recorded of each, with the bits of [`measure_many`](oneway::engine::metrics::measure_many).
    fn measure(&mut self) -> oneway::Result<Vec<Measurement>>;

    /// Makes this many rounds of each.
    fn advance(&mut self, rounds: u64) -> oneway::Result<()>;

    /// Which of them go on from here. The others stay at the state that they are at.
    fn keep(&mut self, going: &[bool]) -> oneway::Result<()>;

    /// The hashes of the states of all runs that there were at first, as
    /// [`Engine::state_hash`] has it.
    fn state_hashes(&mut self) -> oneway::Result<Vec<String>>;

    /// The state of one of the runs that there were at first.
    fn state(&mut self, run: usize) -> oneway::Result<Snapshot<'a>>;
}

/// Where a run is.
pub enum Made<'a> {
    /// On the device.
    There(AnyEngine<'a>),
    /// It cannot be there, for this reason, and stays on the processors.
    Stays(String),
}

/// Runs that were asked for side by side.
#[derive(Debug)]
pub enum Together<'a> {
    /// On the device.
    Made(Box<dyn SideBySide<'a> + 'a>),
    /// The device has no memory for all of them; it may have enough for fewer.
    TooMany,
}

impl Debug for Made<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Made::There(_) => f.write_str("There"),
            Made::Stays(why) => f.debug_tuple("Stays").field(why).finish(),
        }
    }
}
