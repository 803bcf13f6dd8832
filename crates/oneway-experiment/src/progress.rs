//! How far a run is, for whoever wants to show it.

use std::fmt::Debug;
use std::ops::ControlFlow;

use oneway::engine::metrics::Measurement;

use crate::experiment::plan::Cell;

/// Is told of the rounds of all cells, whether they are run or not.
pub trait Progress: Debug + Sync {
    /// These rounds need not be run.
    fn skip(&self, rounds: u64);

    /// A cell begins. What is returned is told of its rounds, and dropped at its end.
    fn begin(&self, cell: &Cell<'_>) -> Box<dyn CellProgress>;
}

/// Is told how far one cell is.
pub trait CellProgress: Debug + Send {
    /// Round `k` is done.
    fn reach(&mut self, k: u64);
}

/// Is shown what is measured, as soon as it is.
pub trait Watcher: Debug + Send + Sync {
    /// A state of a cell was measured. After a break the cell is stopped.
    fn measured(&self, cell: &Cell<'_>, point: &Measurement) -> ControlFlow<()>;
}

/// Shows nothing.
#[derive(Debug, Clone, Copy)]
pub struct Silent;

impl Progress for Silent {
    fn skip(&self, _rounds: u64) {}

    fn begin(&self, _cell: &Cell<'_>) -> Box<dyn CellProgress> {
        Box::new(Silent)
    }
}

impl CellProgress for Silent {
    fn reach(&mut self, _k: u64) {}
}

/// How often to look up from the rounds: a divisor of `record_every`, small enough that Ctrl-C need not wait
/// for long.
pub(crate) fn look_every(record_every: u64) -> u64 {
    const SOON: u64 = 100;
    (1..=SOON.min(record_every)).rev().find(|every| record_every.is_multiple_of(*every)).unwrap_or(1)
}
