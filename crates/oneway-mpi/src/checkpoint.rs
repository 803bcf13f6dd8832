//! One checkpoint for all processes of a run, written and read by rank 0.

use std::path::{Path, PathBuf};

pub use oneway_experiment::results::checkpoint::{Checkpoint, write};

/// Where the checkpoint of a cell is.
pub fn path(out: &Path, key: &str) -> PathBuf {
    out.join("checkpoints").join(format!("{key}.state"))
}
