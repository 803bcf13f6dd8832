//! Checkpoints: a run on its way, in one file for all of its agents.
//!
//! The first line is a head of JSON with the hash of what follows: the lines measured so far, then all states
//! as little-endian doubles. It replaces the one before when it is whole and on disk. It says nothing of
//! threads or processes: a run goes on with any number of them.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::metrics::Measurement;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cells::{body, points};
use crate::files::replace;
use crate::hash::{hexadecimal, sha256};

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

impl Checkpoint {
    /// Replaces the file.
    pub fn write(&self, path: &Path, key: &str) -> Result<()> {
        write(path, key, (self.k, self.seconds), &self.points, self.states.iter().copied())
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

/// Replaces the file of a run at state k, after these seconds. States are gone through twice, so that they need
/// not be copied: once for the hash and once for the file.
pub fn write(
    path: &Path,
    key: &str,
    (k, seconds): (u64, f64),
    points: &[Measurement],
    states: impl Iterator<Item = f64> + Clone,
) -> Result<()> {
    let lines = body(points);
    let mut hasher = Sha256::new_with_prefix(&lines);
    states.clone().for_each(|x| hasher.update(x.to_le_bytes()));
    let sha256 = hexadecimal(&hasher.finalize());
    let head = Head { key: key.to_owned(), k, seconds, lines: lines.len(), sha256 };
    let head = serde_json::to_string(&head)?;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    }
    let written = replace(path, &aside(path), &mut File::options(), |file| {
        let mut to = BufWriter::new(&mut *file);
        writeln!(to, "{head}")?;
        to.write_all(lines.as_bytes())?;
        states.into_iter().try_for_each(|x| to.write_all(&x.to_le_bytes()))?;
        to.flush()?;
        drop(to);
        file.sync_all() // a name that stands for nothing would be worse than the file before
    });
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Removes the file, and what a process that was killed had begun to write.
pub fn remove(path: &Path) {
    // there may be neither
    let _ = std::fs::remove_file(path);
    let _ = std::fs::remove_file(aside(path));
}

fn aside(path: &Path) -> PathBuf {
    path.with_extension("part")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("some/key.state");
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
