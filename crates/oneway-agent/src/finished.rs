//! What an agent leaves behind of its own end.

use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::files::write_whole;
use crate::owner::{Owner, read_json};

/// How an agent came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// Who it was, in which run.
    pub owner: Owner,
    /// Rounds done.
    pub round: u64,
    /// Whether it ended before its time, because states went beyond all bounds, here or elsewhere.
    pub diverged: bool,
    /// Seconds in rounds, by this process.
    pub seconds: f64,
    /// Of them in its first round, which waits for everyone to be there.
    pub seconds_first: f64,
    /// Of them waiting for neighbours.
    pub waited: f64,
    /// Rounds done by this process.
    pub rounds: u64,
    /// How often it asked for a row again.
    pub asked: u64,
}

impl Finished {
    /// Its name in an agent's folder.
    pub const FILE: &str = "finished.json";

    /// Of the agent with this folder, if it has come to its end in this run. What is somebody else's is refused.
    pub fn read(folder: &Path, owner: &Owner) -> Result<Option<Self>> {
        read_json(&folder.join(Self::FILE), owner)
    }

    /// Writes it down.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(Self::FILE);
        write_whole(&path, &serde_json::to_vec(self)?).with_context(|| path.display().to_string())
    }
}
