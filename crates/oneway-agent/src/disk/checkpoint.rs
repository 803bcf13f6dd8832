//! Checkpoints: an agent's state, in two generations, and the rows that it sent, in segments that both share.
//!
//! Rows that were sent since the last checkpoint go into a new segment, so that every row is written once.
//! Then the checkpoint, which names its segments, is written to a temporary file, synced, and renamed to
//! replace the older generation. So there is a whole one at every instant. All files name their owner and end
//! with a checksum: what is damaged, or another agent's, is refused. A separate thread writes everything,
//! from the rows in the agent's memory.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::Sha256;

use crate::disk::owner::{Foreign, Owner};
use crate::files;
use crate::wire::Number;
use crate::wire::history::Sent;

pub mod saver;
mod segment;

use super::stream::{Fault, Magic, Sealing, Source};
use segment::Segment;

/// Version 3 began with double precision only: byte 6 was always 0, which now means `f64`.
const MAGIC: Magic = Magic { letters: *b"1WAYCP", version: 3 };

/// The two generations.
const NAMES: [&str; 2] = ["checkpoint-a", "checkpoint-b"];

/// What an agent resumes from. The rows that it sent are [apart](Checkpoints::sent).
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint<T = f64> {
    /// Rounds done.
    pub k: u64,
    /// Its state row.
    pub state: Vec<T>,
    /// States of the last rounds that are not recorded.
    pub recent: Vec<(u64, Vec<T>)>,
    segments: Vec<Segment>,
}

/// What a new checkpoint is made of.
#[derive(Debug)]
pub struct Content<'a, T = f64> {
    /// Rounds done.
    pub k: u64,
    /// The state row.
    pub state: &'a [T],
    /// States of the last rounds that are not recorded.
    pub recent: &'a [(u64, Vec<T>)],
    /// Rows sent after those that are [on disk](Checkpoints::sent_until).
    pub sent: &'a [Sent<T>],
    /// The oldest round whose sent rows neighbours may still need.
    pub oldest: u64,
}

/// The checkpoints of one agent, in its folder.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    owner: Owner,
    /// Which generation is written next; the other one is the newer.
    next: usize,
    /// The segments of both generations.
    segments: [Vec<Segment>; 2],
    /// The number of the next segment.
    number: u64,
}

/// Why there is nothing to resume from.
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
    /// It belongs to another agent, run or plan.
    #[error(transparent)]
    Foreign(#[from] Foreign),
    /// No generation is whole.
    #[error(
        "{} holds no whole checkpoint ({why}): remove what is there to begin again", folder.display()
    )]
    Damaged {
        /// Where.
        folder: PathBuf,
        /// What is wrong with them.
        why: String,
    },
}

impl Checkpoints {
    /// The checkpoints in a folder, which is made if it does not exist, and the whole ones of them, the
    /// newest first.
    pub fn open<T: Number>(
        folder: &Path,
        owner: Owner,
    ) -> Result<(Self, Vec<Checkpoint<T>>), CheckpointError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |source| CheckpointError::Io { path, source }
        };
        files::make_folder(folder).map_err(io(folder))?;
        let number = segment::numbers(folder).map_err(io(folder))?.last().map_or(0, |last| last + 1);
        let mut checkpoints =
            Self { folder: folder.to_owned(), owner, next: 0, segments: [vec![], vec![]], number };
        let (mut whole, mut faults): (Vec<Checkpoint<T>>, Vec<String>) = (vec![], vec![]);
        for (generation, name) in NAMES.into_iter().enumerate() {
            let path = folder.join(name);
            let file = match File::open(&path) {
                Ok(file) => file,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io(&path)(error)),
            };
            let length = file.metadata().map_err(io(&path))?.len();
            match checkpoints.decode(BufReader::new(file), length, &path) {
                Ok(found) => {
                    checkpoints.segments[generation].clone_from(&found.segments);
                    let place = whole.iter().position(|other| other.k < found.k).unwrap_or(whole.len());
                    if place == 0 {
                        checkpoints.next = 1 - generation;
                    }
                    whole.insert(place, found);
                }
                Err(Fault::Foreign(foreign)) => return Err(foreign.into()),
                Err(Fault::Io(error)) => return Err(io(&path)(error)),
                Err(Fault::Damaged) => faults.push(format!("{name} is damaged")),
            }
        }
        if whole.is_empty() && !faults.is_empty() {
            return Err(CheckpointError::Damaged { folder: folder.to_owned(), why: faults.join(", ") });
        }
        faults.iter().for_each(|fault| tracing::warn!("{fault}: the other one is used"));
        Ok((checkpoints, whole))
    }

    /// The agent resumes from the older one: the newer one will be overwritten.
    pub fn go_back(&mut self) {
        self.next = 1 - self.next;
    }

    /// The rows sent before a checkpoint, ascending and without gaps. If some are damaged, that is logged,
    /// and only later ones are returned: a neighbour that needs more will be told that they are gone.
    pub fn sent<T: Number>(&self, checkpoint: &Checkpoint<T>) -> Result<Vec<Sent<T>>, CheckpointError> {
        let mut pieces: Vec<Vec<Sent<T>>> = vec![];
        for segment in checkpoint.segments.iter().rev() {
            let path = segment.path(&self.folder);
            let piece = match segment.read(&path, &self.owner) {
                Ok(piece) => piece,
                Err(Fault::Foreign(foreign)) => return Err(foreign.into()),
                Err(Fault::Io(source)) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CheckpointError::Io { path, source });
                }
                Err(_) => {
                    tracing::warn!(
                        "{} is damaged or missing: rows up to round {} that were sent cannot be sent again",
                        path.display(),
                        segment.last
                    );
                    break;
                }
            };
            let follows =
                |later: &Sent<T>| piece.last().is_some_and(|last| later.at.round <= last.at.round + 1);
            if pieces.last().and_then(|later| later.first()).is_some_and(|later| !follows(later)) {
                break; // the disk was full for a while
            }
            pieces.push(piece);
        }
        Ok(pieces.into_iter().rev().flatten().collect())
    }

    /// The last round whose sent rows are on disk.
    pub fn sent_until(&self) -> Option<u64> {
        self.segments[1 - self.next].last().map(|segment| segment.last)
    }

    /// Writes a checkpoint in place of the older generation. If that fails, the newer one stays as it was.
    pub fn save<T: Number>(&mut self, content: &Content<'_, T>) -> io::Result<()> {
        let mut segments = self.segments[1 - self.next].clone();
        segments.retain(|segment| segment.last >= content.oldest);
        if !content.sent.is_empty() {
            segments.push(Segment::write(&self.folder, &self.owner, self.number, content.sent)?);
            self.number += 1;
        }
        let path = self.folder.join(NAMES[self.next]);
        let written = files::replace(&path, |file| {
            let mut out = BufWriter::new(file);
            self.encode(content, &segments, &mut out)?;
            out.flush()
        });
        if written.is_ok() {
            self.segments[self.next] = segments;
            self.next = 1 - self.next;
        }
        let named: BTreeSet<u64> = self.segments.iter().flatten().map(|segment| segment.number).collect();
        segment::remove_others(&self.folder, &named); // a full disk may have room for the next one then
        written.and_then(|()| files::sync_folder(&self.folder))
    }

    fn encode<T: Number>(
        &self,
        content: &Content<'_, T>,
        segments: &[Segment],
        out: &mut impl Write,
    ) -> io::Result<()> {
        let Content { k, state, recent, .. } = *content;
        let mut out = Sealing::<_, Sha256>::new(out);
        out.bytes(&MAGIC.to_bytes(T::PRECISION))?;
        out.bytes(&self.owner.to_bytes())?;
        out.number(k)?;
        out.row(state)?;
        out.number(recent.len() as u64)?;
        for (k, state) in recent {
            out.number(*k)?;
            out.row(state)?;
        }
        out.number(segments.len() as u64)?;
        for Segment { number, bytes, last } in segments {
            [*number, *bytes, *last].into_iter().try_for_each(|x| out.number(x))?;
        }
        out.seal().map(drop)
    }

    fn decode<T: Number>(&self, file: impl Read, length: u64, path: &Path) -> Result<Checkpoint<T>, Fault> {
        let mut source = Source::<_, Sha256>::new(file, length)?;
        let precision = MAGIC.precision(&source.bytes(Magic::BYTES)?);
        let owner = source.owner()?;
        let read = |source: &mut Source<_, _>| {
            let (k, state) = (source.number()?, source.row()?);
            let recent = source.list(|source| Ok((source.number()?, source.row()?)))?;
            let segment = |source: &mut Source<_, _>| {
                Ok(Segment { number: source.number()?, bytes: source.number()?, last: source.number()? })
            };
            Ok(Checkpoint { k, state, recent, segments: source.list(segment)? })
        };
        let found = if precision == Some(T::PRECISION) { read(&mut source) } else { Err(Fault::Damaged) };
        source.check()?; // whatever was found before the checksum
        if precision.is_some() {
            self.owner.check(&owner, path).map_err(Fault::Foreign)?;
        }
        found
    }
}

#[cfg(test)]
mod tests;
