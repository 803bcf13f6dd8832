//! What an experiment file says → cells → runs → a results folder. No drawing, no terminal.
//!
//! 1. [`Experiment`] reads a file strictly; a [`sweep`] in it stands for several experiments.
//! 2. [`plan`] makes [entries](plan::Entry) (a method on a topology) and [cells](plan::Cell) (one repetition
//!    of it) of that, and refuses what cannot run.
//! 3. [`Runner`](runner::Runner) runs cells; a [store](results::cells::CellStore) keeps those that are
//!    finished.
//! 4. [`results`] writes and reads `curves.csv` and `summary.json`; [`live`] shows a run while it runs.
//!
//! [`networked`] is what agents on a network need of the same.

pub mod arrivals;
pub mod engines;
mod experiment;
pub mod files;
mod hash;
mod identity;
mod keeper;
pub mod live;
pub mod networked;
pub mod problem_facts;
pub mod progress;
pub mod results;
pub mod runner;
pub mod shard;

pub use experiment::{Experiment, clock, fields, links, names, plan, problem, set, spec, supplies, sweep};
pub use hash::sha256;

/// A fingerprint of the code that results depend on: the library's, that of reading files, and this crate's.
pub fn code() -> String {
    format!("{}-{}-{}", oneway::CODE, oneway_data::CODE, env!("ONEWAY_EXPERIMENT_CODE"))
}
