//! What an agent writes when it is done.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::disk::owner::{Owner, read_json};
use crate::files::write_whole;

/// How an agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Which agent, in which run.
    pub owner: Owner,
    /// Rounds done.
    pub round: u64,
    /// Whether it ended early, because its state or another agent's diverged.
    pub diverged: bool,
    /// Seconds in rounds, by this process.
    pub seconds: f64,
    /// Of these, in its first round, which waits for all agents to start.
    pub seconds_first: f64,
    /// Of these, waiting for neighbours.
    pub waited: f64,
    /// Rounds done by this process.
    pub rounds: u64,
    /// How many times it requested a missing row.
    pub asked: u64,
}

impl Finished {
    /// Its name in an agent's folder.
    pub const FILE: &str = "finished.json";

    /// Reads it from an agent's folder; nothing if the agent is not done. A file of another agent, run or
    /// plan is refused.
    pub fn read(folder: &Path, owner: &Owner) -> Result<Option<Self>> {
        read_json(&folder.join(Self::FILE), owner)
    }

    /// Writes it into an agent's folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(Self::FILE);
        write_whole(&path, &serde_json::to_vec(self)?).with_context(|| path.display().to_string())
    }
}
