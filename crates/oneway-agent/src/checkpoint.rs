//! Checkpoints: an agent's state, in two generations, and what it sent lately, in pieces that both share.
//!
//! Rows that were sent since the last checkpoint go into a segment of their own, so that every row is written once. Then the
//! checkpoint itself, which names the segments that belong to it, is written aside, synced, and renamed into the place of the older
//! generation; so at every instant there is a whole one. All files say whose they are and carry checksums: what is damaged, or somebody
//! else's, is not believed. Everything is written as a stream, from the rows that the agent has in memory, by a thread of its own.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::files;
use crate::history::Sent;
use crate::owner::{Foreign, Owner};

pub mod saver;
mod segment;
mod stream;

use segment::Segment;
use stream::{Checked, Fault, Source, write_number, write_row};

const MAGIC: &[u8; 8] = b"1WAYCP\x00\x03";

/// The two generations.
const NAMES: [&str; 2] = ["checkpoint-a", "checkpoint-b"];

/// What an agent goes on from, but for [what it sent](Checkpoints::sent).
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Rounds done.
    pub k: u64,
    /// Its state row.
    pub state: Vec<f64>,
    /// States of the last rounds that are not recorded.
    pub recent: Vec<(u64, Vec<f64>)>,
    segments: Vec<Segment>,
}

/// What a new checkpoint is made of.
#[derive(Debug)]
pub struct Content<'a> {
    /// Rounds done.
    pub k: u64,
    /// The state row.
    pub state: &'a [f64],
    /// States of the last rounds that are not recorded.
    pub recent: &'a [(u64, Vec<f64>)],
    /// What was sent after that which is [on disk](Checkpoints::sent_until).
    pub sent: &'a [Sent],
    /// The oldest round of which neighbours may still need what was sent.
    pub oldest: u64,
}

/// The checkpoints of one agent, in a folder of its own.
#[derive(Debug)]
pub struct Checkpoints {
    folder: PathBuf,
    owner: Owner,
    /// Which generation is to be written next; the other one is gone on from.
    next: usize,
    /// The segments of both generations.
    segments: [Vec<Segment>; 2],
    /// The number of the next segment.
    number: u64,
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
        let number = segment::numbers(folder).map_err(io(folder))?.last().map_or(0, |last| last + 1);
        let mut checkpoints =
            Self { folder: folder.to_owned(), owner, next: 0, segments: [vec![], vec![]], number };
        let (mut whole, mut faults): (Vec<Checkpoint>, Vec<String>) = (vec![], vec![]);
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

    /// The older one is gone on from: the newer one is to be written over.
    pub fn go_back(&mut self) {
        self.next = 1 - self.next;
    }

    /// What was sent before a checkpoint, ascending and without gaps. If some of it is damaged, that is said, and the rest is what came
    /// after: a neighbour that needs more will be told that it is gone.
    pub fn sent(&self, checkpoint: &Checkpoint) -> Result<Vec<Sent>, CheckpointError> {
        let mut pieces: Vec<Vec<Sent>> = vec![];
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
            let follows = |later: &Sent| piece.last().is_some_and(|last| later.at.round <= last.at.round + 1);
            if pieces.last().and_then(|later| later.first()).is_some_and(|later| !follows(later)) {
                break; // the disk was full for a while
            }
            pieces.push(piece);
        }
        Ok(pieces.into_iter().rev().flatten().collect())
    }

    /// The last round of which it is on disk what was sent.
    pub fn sent_until(&self) -> Option<u64> {
        self.segments[1 - self.next].last().map(|segment| segment.last)
    }

    /// Writes a checkpoint in place of the older generation. If that fails, the newer one is as it was.
    pub fn save(&mut self, content: &Content<'_>) -> io::Result<()> {
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

    fn encode(&self, content: &Content<'_>, segments: &[Segment], out: &mut impl Write) -> io::Result<()> {
        let Content { k, state, recent, .. } = *content;
        let mut out = Checked { inner: out, sum: Sha256::new() };
        out.write_all(MAGIC)?;
        out.write_all(&self.owner.to_bytes())?;
        write_number(&mut out, k)?;
        write_row(&mut out, state)?;
        write_number(&mut out, recent.len() as u64)?;
        for (k, state) in recent {
            write_number(&mut out, *k)?;
            write_row(&mut out, state)?;
        }
        write_number(&mut out, segments.len() as u64)?;
        for Segment { number, bytes, last } in segments {
            [*number, *bytes, *last].into_iter().try_for_each(|x| write_number(&mut out, x))?;
        }
        let Checked { inner, sum } = out;
        inner.write_all(&sum.finalize())
    }

    fn decode(&self, file: impl Read, length: u64, path: &Path) -> Result<Checkpoint, Fault> {
        let content = length.checked_sub(32).ok_or(Fault::Damaged)?;
        let mut source = Source { inner: Checked { inner: file, sum: Sha256::new() }, left: content };
        let is_own = source.bytes(MAGIC.len())? == *MAGIC;
        let owner = source.bytes(Owner::BYTES)?;
        let read = |source: &mut Source<_>| {
            let (k, state) = (source.number()?, source.row()?);
            let recent = source.list(|source| Ok((source.number()?, source.row()?)))?;
            let segment = |source: &mut Source<_>| {
                Ok(Segment { number: source.number()?, bytes: source.number()?, last: source.number()? })
            };
            Ok(Checkpoint { k, state, recent, segments: source.list(segment)? })
        };
        let found = if is_own { read(&mut source) } else { Err(Fault::Damaged) };
        source.skip()?; // to the checksum, whatever was found before it
        let Checked { mut inner, sum } = source.inner;
        let mut expected = [0; 32];
        inner.read_exact(&mut expected)?;
        if *sum.finalize() != expected {
            return Err(Fault::Damaged);
        }
        let (owner, _) = Owner::split(&owner).ok_or(Fault::Damaged)?;
        if is_own {
            self.owner.check(&owner, path).map_err(Fault::Foreign)?;
        }
        found
    }
}

#[cfg(test)]
mod tests;
