//! Checkpoints: an agent's state and what it sent lately, in two generations.
//!
//! A checkpoint is written aside, synced, and renamed into the place of the older generation; so at every instant there is a whole
//! one. It says whose it is and carries its own SHA-256: what is damaged, or somebody else's, is not believed.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files;
use crate::frame::Moment;
use crate::history::Sent;
use crate::owner::{Foreign, Owner};
use crate::recent::Recent;

const MAGIC: &[u8; 8] = b"1WAYCP\x00\x02";

/// The two generations.
const NAMES: [&str; 2] = ["checkpoint-a", "checkpoint-b"];

/// What an agent goes on from.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Rounds done.
    pub k: u64,
    /// Its state row.
    pub state: Vec<f64>,
    /// States of the last rounds that are not recorded.
    pub recent: Vec<(u64, Vec<f64>)>,
    /// What it sent lately.
    pub sent: Vec<Sent>,
}

/// The checkpoints of one agent, in a folder of its own.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    owner: Owner,
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
    /// It is somebody else's.
    #[error(transparent)]
    Foreign(#[from] Foreign),
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
    /// Those in a folder, which is made if need be, and the whole ones of them, the newest first.
    pub fn open(folder: &Path, owner: Owner) -> Result<(Self, Vec<Checkpoint>), CheckpointError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CheckpointError::Io { path, source }
        };
        files::make_folder(folder).map_err(io(folder))?;
        let mut checkpoints = Self { folder: folder.to_owned(), owner, next: 0 };
        let (mut whole, mut faults): (Vec<Checkpoint>, Vec<String>) = (vec![], vec![]);
        for (generation, name) in NAMES.into_iter().enumerate() {
            let path = folder.join(name);
            let bytes = match fs::read(&path) {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io(&path)(error)),
            };
            match checkpoints.decode(&bytes, &path) {
                Ok(found) => {
                    let newer = whole.iter().position(|other| other.k < found.k).unwrap_or(whole.len());
                    if newer == 0 {
                        checkpoints.next = 1 - generation;
                    }
                    whole.insert(newer, found);
                }
                Err(Fault::Foreign(foreign)) => return Err(foreign.into()),
                Err(Fault::Damaged) => faults.push(format!("{name} is damaged")),
            }
        }
        if whole.is_empty() && !faults.is_empty() {
            return Err(CheckpointError::Damaged { folder: folder.to_owned(), why: faults.join(", ") });
        }
        faults.iter().for_each(|fault| tracing::warn!("{fault}: the other one is used"));
        Ok((checkpoints, whole))
    }

    /// The older one is gone on from: the newer one is to be written over.
    pub fn go_back(&mut self) {
        self.next = 1 - self.next;
    }

    /// Writes a checkpoint in place of the older generation. If that fails, the newer one is as it was.
    pub fn save(&mut self, k: u64, state: &[f64], recent: &Recent, sent: &[Sent]) -> io::Result<()> {
        let path = self.folder.join(NAMES[self.next]);
        let aside = self.folder.join("checkpoint.part");
        let written =
            self.write(&aside, &self.encode(k, state, recent, sent)).and_then(|()| fs::rename(&aside, &path));
        if let Err(error) = written {
            drop(fs::remove_file(&aside));
            return Err(error);
        }
        self.next = 1 - self.next;
        File::open(&self.folder)?.sync_all()
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = files::private().write(true).create(true).truncate(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
    }

    fn encode(&self, k: u64, state: &[f64], recent: &Recent, sent: &[Sent]) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        bytes.extend_from_slice(&self.owner.to_bytes());
        let mut number = |number: u64| bytes.extend_from_slice(&number.to_le_bytes());
        let row = |row: &[f64], number: &mut dyn FnMut(u64)| {
            number(row.len() as u64);
            row.iter().for_each(|x| number(x.to_bits()));
        };
        number(k);
        row(state, &mut number);
        number(recent.states().len() as u64);
        for (k, state) in recent.states() {
            number(k);
            row(state, &mut number);
        }
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

    fn decode(&self, bytes: &[u8], path: &Path) -> Result<Checkpoint, Fault> {
        let (content, checksum) = bytes.split_last_chunk::<32>().ok_or(Fault::Damaged)?;
        if *checksum != *Sha256::digest(content) {
            return Err(Fault::Damaged);
        }
        let (owner, content) = content.strip_prefix(MAGIC).and_then(Owner::split).ok_or(Fault::Damaged)?;
        self.owner.check(&owner, path).map_err(Fault::Foreign)?;
        let mut reader = Reader(content);
        let (k, state) = (reader.number()?, reader.row()?);
        let mut recent = vec![];
        for _ in 0..reader.number()? {
            recent.push((reader.number()?, reader.row()?));
        }
        let count = reader.number()?;
        let mut sent = vec![];
        for _ in 0..count {
            let (round, phase) = (reader.number()?, reader.number()?);
            let at = Moment { round, phase: u32::try_from(phase).map_err(|_| Fault::Damaged)? };
            sent.push(Sent { at, pull: reader.row()?.into(), push: reader.row()?.into() });
        }
        Ok(Checkpoint { k, state, recent, sent })
    }
}

enum Fault {
    Damaged,
    Foreign(Foreign),
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

    const OWNER: Owner = Owner { agent: 3, run: [7; 32], plan: [9; 32] };

    fn sent(round: u64) -> Sent {
        let at = Moment { round, phase: 1 };
        Sent { at, pull: vec![round as f64, f64::NAN].into(), push: vec![-0.0].into() }
    }

    fn recent(k: u64) -> Recent {
        let mut recent = Recent::new(1);
        recent.keep(k - 1, &[k as f64]);
        recent
    }

    fn open(folder: &Path) -> (Checkpoints, Option<Checkpoint>) {
        let (checkpoints, whole) = Checkpoints::open(folder, OWNER).unwrap();
        (checkpoints, whole.into_iter().next())
    }

    #[test]
    fn the_newest_whole_generation_is_gone_on_from() {
        let folder = tempfile::tempdir().unwrap();
        let (mut checkpoints, none) = open(folder.path());
        assert_eq!(none, None);
        for k in [10, 20, 30] {
            checkpoints.save(k, &[k as f64, 0.5], &recent(k), &[sent(k - 1)]).unwrap();
            let (_, found) = open(folder.path());
            let found = found.unwrap();
            assert_eq!((found.k, &found.state[..]), (k, &[k as f64, 0.5][..]));
            assert_eq!(found.recent, [(k - 1, vec![k as f64])]);
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
            checkpoints.save(30, &[30.0, 0.5], &recent(30), &[]).unwrap();
        }
    }

    #[test]
    fn without_a_whole_one_nothing_is_begun_anew_in_silence() {
        let folder = tempfile::tempdir().unwrap();
        NAMES.iter().for_each(|name| fs::write(folder.path().join(name), "x").unwrap());
        let error = Checkpoints::open(folder.path(), OWNER).unwrap_err().to_string();
        assert!(
            error.contains("no whole checkpoint (checkpoint-a is damaged, checkpoint-b is damaged)"),
            "{error}"
        );
    }

    #[test]
    fn those_of_others_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        open(folder.path()).0.save(1, &[1.0], &recent(1), &[]).unwrap();
        for (owner, words) in [
            (Owner { run: [8; 32], ..OWNER }, "another run"),
            (Owner { agent: 4, ..OWNER }, "agent 3, not agent 4"),
            (Owner { plan: [8; 32], ..OWNER }, "another plan"),
        ] {
            let error = Checkpoints::open(folder.path(), owner).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn a_disk_that_cannot_be_written_costs_nothing_that_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (mut checkpoints, _) = open(folder.path());
        checkpoints.save(1, &[1.0], &recent(1), &[]).unwrap();
        fs::create_dir(folder.path().join("checkpoint.part")).unwrap(); // nothing can be written aside
        assert!(checkpoints.save(2, &[2.0], &recent(2), &[]).is_err());
        assert_eq!(open(folder.path()).1.unwrap().k, 1);
    }

    proptest! {
        #[test]
        fn damage_never_panics_and_is_never_believed(at: prop::sample::Index, with in 1u8.., cut: prop::sample::Index) {
            let folder = tempfile::tempdir().unwrap();
            let (checkpoints, _) = open(folder.path());
            let whole = checkpoints.encode(5, &[1.0, 2.0], &recent(5), &[sent(1), sent(2)]);
            let mut damaged = whole.clone();
            damaged[at.index(whole.len())] ^= with;
            prop_assert!(checkpoints.decode(&damaged, folder.path()).is_err());
            prop_assert!(checkpoints.decode(&whole[..cut.index(whole.len())], folder.path()).is_err());
            // lengths that lie, under a checksum that fits
            let end = whole.len() - 32;
            let mut lying = whole[..end].to_vec();
            lying[40 + at.index(end - 40)] ^= with;
            let checksum = Sha256::digest(&lying);
            lying.extend_from_slice(&checksum);
            drop(checkpoints.decode(&lying, folder.path()));
        }
    }
}
