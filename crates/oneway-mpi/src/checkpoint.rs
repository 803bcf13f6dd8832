//! Checkpoints: one file for all agents, written by rank 0 when all processes are at the same round.
//!
//! The first line is a head of JSON with the hash of what follows: the lines measured so far, then all states
//! as little-endian doubles. It replaces the one before when it is whole. Since it says nothing of processes, a
//! run goes on with any number of them.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::metrics::Measurement;
use oneway_experiment::files::write_whole;
use oneway_experiment::results::cells::{body, points};
use oneway_experiment::sha256;
use serde::{Deserialize, Serialize};

/// A run at state k.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Rounds done.
    pub k: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// What was measured so far, state k included where it is recorded.
    pub points: Vec<Measurement>,
    /// All states, agents ascending.
    pub states: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Head {
    key: String,
    k: u64,
    seconds: f64,
    /// Bytes of the lines.
    lines: usize,
    sha256: String,
}

/// Where the checkpoint of a cell is.
pub fn path(out: &Path, key: &str) -> PathBuf {
    out.join("checkpoints").join(format!("{key}.state"))
}

impl Checkpoint {
    /// Replaces the file.
    pub fn write(&self, path: &Path, key: &str) -> Result<()> {
        let mut content = body(&self.points).into_bytes();
        let lines = content.len();
        content.extend(self.states.iter().flat_map(|x| x.to_le_bytes()));
        let head =
            Head { key: key.to_owned(), k: self.k, seconds: self.seconds, lines, sha256: sha256(&content) };
        let mut file = (serde_json::to_string(&head)? + "\n").into_bytes();
        file.append(&mut content);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot write to {}", folder.display()))?;
        }
        write_whole(path, file)
    }

    /// Reads the file; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged, or of another run.
    pub fn read(path: &Path, key: &str, numbers: usize) -> Result<Option<Self>> {
        let file = match std::fs::read(path) {
            Ok(file) => file,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        let read = || {
            let end = file.iter().position(|byte| *byte == b'\n')?;
            let (head, content) = (serde_json::from_slice::<Head>(&file[..end]).ok()?, &file[end + 1..]);
            let (lines, states) = content.split_at_checked(head.lines)?;
            let whole = head.key == key && head.sha256 == sha256(content);
            let points = points(std::str::from_utf8(lines).ok()?)?;
            let (numbers_there, rest) = states.as_chunks::<8>();
            let fits = whole && rest.is_empty() && numbers_there.len() == numbers;
            let states = numbers_there.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect();
            fits.then_some(Self { k: head.k, seconds: head.seconds, points, states })
        };
        match read() {
            Some(checkpoint) => Ok(Some(checkpoint)),
            None => bail!("{} is damaged, or of another run: remove it to begin again", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let place = path(folder.path(), "key");
        let state = Checkpoint { k: 7, seconds: 0.5, points: vec![], states: vec![0.1, -0.0, 5e-324] };
        assert_eq!(Checkpoint::read(&place, "key", 3).unwrap(), None);
        state.write(&place, "key").unwrap();
        assert_eq!(Checkpoint::read(&place, "key", 3).unwrap(), Some(state));
        assert!(Checkpoint::read(&place, "other", 3).is_err() && Checkpoint::read(&place, "key", 4).is_err());
        let whole = std::fs::read(&place).unwrap();
        for cut in [0, 10, whole.len() - 1] {
            std::fs::write(&place, &whole[..cut]).unwrap();
            assert!(Checkpoint::read(&place, "key", 3).is_err(), "cut to {cut} bytes");
        }
    }
}
