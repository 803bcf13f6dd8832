//! Checkpoints: a run on its way, in one file for all of its agents.
//!
//! The first line is a head of JSON with the hash of what follows: the lines measured so far, then all states
//! as little-endian doubles. It replaces the one before when it is whole and on disk. It says nothing of
//! threads or processes: a run goes on with any number of them.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::metrics::Measurement;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::cells::{body, points};
use crate::files::replace;
use crate::hash::hexadecimal;

/// A run at state k, as a file has it.
#[derive(Debug)]
pub struct Checkpoint {
    /// Rounds done.
    pub k: u64,
    /// Seconds that they took.
    pub seconds: f64,
    /// What was measured so far, state k included where it is recorded.
    pub points: Vec<Measurement>,
    /// The file, where the states begin, and how many numbers they are.
    states: BufReader<File>,
    numbers: usize,
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
    /// Opens the file, and checks that it is whole; `None` if there is none.
    ///
    /// # Errors
    /// It is damaged, or of another run.
    pub fn open(path: &Path, key: &str, numbers: usize) -> Result<Option<Self>> {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| path.display().to_string()),
        };
        match Self::check(file, key, numbers).with_context(|| path.display().to_string())? {
            Some(checkpoint) => Ok(Some(checkpoint)),
            None => bail!("{} is damaged, or of another run: remove it to begin again", path.display()),
        }
    }

    fn check(file: File, key: &str, numbers: usize) -> io::Result<Option<Self>> {
        let (bytes, mut from) = (file.metadata()?.len(), BufReader::new(file));
        let mut head = vec![];
        from.read_until(b'\n', &mut head)?;
        let Ok(Head { key: of, k, seconds, lines, sha256 }) = serde_json::from_slice(&head) else {
            return Ok(None);
        };
        let states = 8 * numbers as u64;
        if of != key || (head.len() as u64 + states).checked_add(lines as u64) != Some(bytes) {
            return Ok(None);
        }
        let mut text = vec![0; lines];
        from.read_exact(&mut text)?;
        let mut hasher = Sha256::new_with_prefix(&text);
        while let some = from.fill_buf()?
            && !some.is_empty()
        {
            hasher.update(some);
            let read = some.len();
            from.consume(read);
        }
        from.seek(SeekFrom::Start(bytes - states))?;
        let is_whole = sha256 == hexadecimal(&hasher.finalize());
        let points = std::str::from_utf8(&text).ok().and_then(points).filter(|_| is_whole);
        Ok(points.map(|points| Self { k, seconds, points, states: from, numbers }))
    }

    /// All states, agents ascending, read as they are asked for.
    pub fn states(&mut self) -> impl Iterator<Item = io::Result<f64>> {
        (0..self.numbers).map(|_| {
            let mut bytes = [0; 8];
            self.states.read_exact(&mut bytes).map(|()| f64::from_le_bytes(bytes))
        })
    }
}

/// Replaces the file of a run at state k, after these seconds. States are taken as they are written, and need
/// not all be there before.
pub fn write(
    path: &Path,
    key: &str,
    (k, seconds): (u64, f64),
    points: &[Measurement],
    mut states: impl Iterator<Item = f64>,
) -> Result<()> {
    let lines = body(points);
    let head = |sha256: String| {
        serde_json::to_string(&Head { key: key.to_owned(), k, seconds, lines: lines.len(), sha256 })
    };
    let unknown = head("0".repeat(64))?; // as long as a hash
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
    }
    let written = replace(path, &aside(path), &mut File::options(), |file| {
        let (mut to, mut hasher) = (BufWriter::new(&mut *file), Sha256::new_with_prefix(&lines));
        writeln!(to, "{unknown}")?;
        to.write_all(lines.as_bytes())?;
        states.try_for_each(|x| {
            hasher.update(x.to_le_bytes());
            to.write_all(&x.to_le_bytes())
        })?;
        to.seek(SeekFrom::Start(0))?; // writes what waits
        to.write_all(head(hexadecimal(&hasher.finalize()))?.as_bytes())?;
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

    fn bits(numbers: &[f64]) -> Vec<u64> {
        numbers.iter().map(|x| x.to_bits()).collect()
    }

    /// What is in a file: state, seconds, and all numbers.
    fn content(path: &Path, key: &str, numbers: usize) -> Result<Option<(u64, f64, Vec<f64>)>> {
        let content = |mut found: Checkpoint| {
            let states = found.states().collect::<io::Result<_>>().unwrap();
            (found.k, found.seconds, states)
        };
        Ok(Checkpoint::open(path, key, numbers)?.map(content))
    }

    #[test]
    fn a_checkpoint_comes_back_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("some/key.state");
        let states = [0.1, -0.0, 5e-324];
        assert_eq!(content(&place, "key", 3).unwrap(), None);
        write(&place, "key", (7, 0.5), &[], states.into_iter()).unwrap();
        let (k, seconds, found) = content(&place, "key", 3).unwrap().unwrap();
        assert_eq!((k, seconds, bits(&found)), (7, 0.5, bits(&states)));
        assert!(content(&place, "other", 3).is_err() && content(&place, "key", 4).is_err());
        let whole = std::fs::read(&place).unwrap();
        for cut in [0, 10, whole.len() - 1] {
            std::fs::write(&place, &whole[..cut]).unwrap();
            assert!(content(&place, "key", 3).is_err(), "cut to {cut} bytes");
        }
        for flipped in [whole.len() - 1, whole.len() / 2] {
            let mut damaged = whole.clone();
            damaged[flipped] ^= 1;
            std::fs::write(&place, &damaged).unwrap();
            assert!(content(&place, "key", 3).is_err(), "byte {flipped} is another");
        }
    }
}
