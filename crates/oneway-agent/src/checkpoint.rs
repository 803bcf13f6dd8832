//! Checkpoints: an agent's state and what it sent lately, in two generations.
//!
//! A checkpoint is written aside, synced, and renamed into the place of the older generation; so at every instant there is a whole
//! one. It carries the run's fingerprint and its own SHA-256: what is damaged, or belongs to another run, is not believed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::frame::Moment;
use crate::history::Sent;

const MAGIC: &[u8; 8] = b"1WAYCP\x00\x01";

/// The two generations.
const NAMES: [&str; 2] = ["checkpoint-a", "checkpoint-b"];

/// What an agent goes on from.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Rounds done.
    pub k: u64,
    /// Its state row.
    pub state: Vec<f64>,
    /// What it sent lately.
    pub sent: Vec<Sent>,
}

/// The checkpoints of one agent, in a folder of its own.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    fingerprint: [u8; 32],
    agent: usize,
    /// Which generation is to be written next.
    next: usize,
}

/// Why there is nothing to go on from.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// It cannot be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is of another run or agent.
    #[error(
        "{} is a checkpoint of {what}: give another folder, or remove it to begin anew", path.display()
    )]
    Foreign {
        /// The file.
        path: PathBuf,
        /// Whose it is.
        what: String,
    },
    /// No generation is whole.
    #[error(
        "{} holds no whole checkpoint ({why}): remove what is there to begin anew", folder.display()
    )]
    Damaged {
        /// Where.
        folder: PathBuf,
        /// What is wrong with them.
        why: String,
    },
}

impl Checkpoints {
    /// Those in a folder, which is made if need be, and the newest whole one of them.
    pub fn open(
        folder: &Path,
        fingerprint: [u8; 32],
        agent: usize,
    ) -> Result<(Self, Option<Checkpoint>), CheckpointError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CheckpointError::Io { path, source }
        };
        fs::create_dir_all(folder).map_err(io(folder))?;
        let mut checkpoints = Self { folder: folder.to_owned(), fingerprint, agent, next: 0 };
        let (mut newest, mut faults): (Option<Checkpoint>, Vec<String>) = (None, vec![]);
        for (generation, name) in NAMES.into_iter().enumerate() {
            let path = folder.join(name);
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io(&path)(error)),
            };
            match checkpoints.decode(&bytes) {
                Ok(found) => {
                    if newest.as_ref().is_none_or(|newest| newest.k < found.k) {
                        checkpoints.next = 1 - generation;
                        newest = Some(found);
                    }
                }
                Err(Fault::Foreign(what)) => return Err(CheckpointError::Foreign { path, what }),
                Err(Fault::Damaged) => faults.push(format!("{name} is damaged")),
            }
        }
        if newest.is_none() && !faults.is_empty() {
            return Err(CheckpointError::Damaged { folder: folder.to_owned(), why: faults.join(", ") });
        }
        faults.iter().for_each(|fault| tracing::warn!("{fault}: the other one is used"));
        Ok((checkpoints, newest))
    }

    /// Writes a checkpoint in place of the older generation. If that fails, the newer one is as it was.
    pub fn save(&mut self, k: u64, state: &[f64], sent: &[Sent]) -> io::Result<()> {
        let path = self.folder.join(NAMES[self.next]);
        let aside = self.folder.join("checkpoint.part");
        let written = self.write(&aside, k, state, sent).and_then(|()| fs::rename(&aside, &path));
        if let Err(error) = written {
            drop(fs::remove_file(&aside));
            return Err(error);
        }
        self.next = 1 - self.next;
        File::open(&self.folder)?.sync_all()
    }

    fn write(&self, path: &Path, k: u64, state: &[f64], sent: &[Sent]) -> io::Result<()> {
        let bytes = self.encode(k, state, sent);
        let mut file = File::create(path)?;
        file.write_all(&bytes)?;
        file.sync_all()
    }

    fn encode(&self, k: u64, state: &[f64], sent: &[Sent]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.fingerprint);
        let mut number = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
        let row = |row: &[f64], number: &mut dyn FnMut(u64)| {
            number(row.len() as u64);
            row.iter().for_each(|x| number(x.to_bits()));
        };
        number(self.agent as u64);
        number(k);
        row(state, &mut number);
        number(sent.len() as u64);
        for Sent { at, pull, push } in sent {
            number(at.round);
            number(u64::from(at.phase));
            row(pull, &mut number);
            row(push, &mut number);
        }
        let checksum = Sha256::digest(&bytes);
        bytes.extend_from_slice(&checksum);
        bytes
    }

    fn decode(&self, bytes: &[u8]) -> Result<Checkpoint, Fault> {
        let (content, checksum) = bytes.split_last_chunk::<32>().ok_or(Fault::Damaged)?;
        if *checksum != *Sha256::digest(content) {
            return Err(Fault::Damaged);
        }
        let content = content.strip_prefix(MAGIC).ok_or(Fault::Foreign("another version".to_owned()))?;
        let (fingerprint, content) = content.split_first_chunk::<32>().ok_or(Fault::Damaged)?;
        if *fingerprint != self.fingerprint {
            return Err(Fault::Foreign("another run".to_owned()));
        }
        let mut reader = Reader(content);
        let agent = reader.number()?;
        if agent != self.agent as u64 {
            return Err(Fault::Foreign(format!("agent {agent}, not {}", self.agent)));
        }
        let (k, state) = (reader.number()?, reader.row()?);
        let count = reader.number()?;
        let mut sent = vec![];
        for _ in 0..count {
            let (round, phase) = (reader.number()?, reader.number()?);
            let at = Moment { round, phase: u32::try_from(phase).map_err(|_| Fault::Damaged)? };
            sent.push(Sent { at, pull: reader.row()?.into(), push: reader.row()?.into() });
        }
        Ok(Checkpoint { k, state, sent })
    }
}

enum Fault {
    Damaged,
    Foreign(String),
}

/// Reads numbers and rows; what is promised and not there is damage, before anything is allocated for it.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number(&mut self) -> Result<u64, Fault> {
        let (number, rest) = self.0.split_first_chunk().ok_or(Fault::Damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*number))
    }

    fn row(&mut self) -> Result<Vec<f64>, Fault> {
        let length = usize::try_from(self.number()?).map_err(|_| Fault::Damaged)?;
        let bytes = length.checked_mul(8).filter(|bytes| *bytes <= self.0.len()).ok_or(Fault::Damaged)?;
        let (row, rest) = self.0.split_at(bytes);
        self.0 = rest;
        Ok(row.as_chunks().0.iter().map(|bits| f64::from_le_bytes(*bits)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const RUN: [u8; 32] = [7; 32];

    fn sent(round: u64) -> Sent {
        let at = Moment { round, phase: 1 };
        Sent { at, pull: vec![round as f64, f64::NAN].into(), push: vec![-0.0].into() }
    }

    fn open(folder: &Path) -> (Checkpoints, Option<Checkpoint>) {
        Checkpoints::open(folder, RUN, 3).unwrap()
    }

    #[test]
    fn the_newest_whole_generation_is_gone_on_from() {
        let folder = tempfile::tempdir().unwrap();
        let (mut checkpoints, none) = open(folder.path());
        assert_eq!(none, None);
        for k in [10, 20, 30] {
            checkpoints.save(k, &[k as f64, 0.5], &[sent(k - 1)]).unwrap();
            let (_, found) = open(folder.path());
            let found = found.unwrap();
            assert_eq!((found.k, &found.state[..]), (k, &[k as f64, 0.5][..]));
            assert!(found.sent[0].pull[1].is_nan() && found.sent[0].at == sent(k - 1).at);
        }
        // 30 is in a, 20 in b; half a file in the place of 30, as if the disk had lied
        let newest = folder.path().join(NAMES[0]);
        let whole = fs::read(&newest).unwrap();
        for cut in [0, 10, whole.len() - 1] {
            fs::write(&newest, &whole[..cut]).unwrap();
            let (mut checkpoints, found) = open(folder.path());
            assert_eq!(found.unwrap().k, 20);
            assert_eq!(checkpoints.next, 0, "the damaged one is written over, never the whole one");
            checkpoints.save(30, &[30.0, 0.5], &[]).unwrap();
        }
    }

    #[test]
    fn without_a_whole_one_nothing_is_begun_anew_in_silence() {
        let folder = tempfile::tempdir().unwrap();
        NAMES.iter().for_each(|name| fs::write(folder.path().join(name), "x").unwrap());
        let error = Checkpoints::open(folder.path(), RUN, 3).unwrap_err().to_string();
        assert!(
            error.contains("no whole checkpoint (checkpoint-a is damaged, checkpoint-b is damaged)"),
            "{error}"
        );
    }

    #[test]
    fn those_of_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).0.save(1, &[1.0], &[]).unwrap();
        for (run, agent, words) in [([8; 32], 3, "another run"), (RUN, 4, "agent 3, not 4")] {
            let error = Checkpoints::open(folder.path(), run, agent).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_disk_that_cannot_be_written_costs_nothing_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (mut checkpoints, _) = open(folder.path());
        checkpoints.save(1, &[1.0], &[]).unwrap();
        fs::create_dir(folder.path().join("checkpoint.part")).unwrap(); // nothing can be written aside
        assert!(checkpoints.save(2, &[2.0], &[]).is_err());
        assert_eq!(open(folder.path()).1.unwrap().k, 1);
    }

    proptest! {
        #[test]
        fn damage_never_panics_and_is_never_believed(at: prop::sample::Index, with in 1u8.., cut: prop::sample::Index) {
            let folder = tempfile::tempdir().unwrap();
            let (checkpoints, _) = open(folder.path());
            let whole = checkpoints.encode(5, &[1.0, 2.0], &[sent(1), sent(2)]);
            let mut damaged = whole.clone();
            damaged[at.index(whole.len())] ^= with;
            prop_assert!(checkpoints.decode(&damaged).is_err());
            prop_assert!(checkpoints.decode(&whole[..cut.index(whole.len())]).is_err());
            // lengths that lie, under a checksum that fits
            let end = whole.len() - 32;
            let mut lying = whole[..end].to_vec();
            lying[40 + at.index(end - 40)] ^= with;
            let checksum = Sha256::digest(&lying);
            lying.extend_from_slice(&checksum);
            drop(checkpoints.decode(&lying));
        }
    }
}
