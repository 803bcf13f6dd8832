//! The journal: states that will be measured, appended as they are reached. Curves are made from it.
//!
//! The file names its owner. Records have one length, known rounds and a checksum each. The journal is synced
//! before a checkpoint is written. After a crash, rounds are repeated, to the same bits: a state that is
//! recorded already is compared, and not written again. So a journal is shortened only where it is damaged;
//! that is logged, and what is cut off is kept in a file beside it.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::disk::owner::{Foreign, Owner};
use crate::disk::stream::{Fault, Magic, Sealing, Source};
use crate::files::{self, beside};
use crate::wire::{Number, same_bits};

mod record;

pub use record::Shape;
use record::{decode, encode};

const MAGIC: Magic = Magic { letters: *b"1WAYST", version: 2 };

/// Bytes before the records: magic, owner, numbers in a state, checksum.
const HEAD: usize = Magic::BYTES + Owner::BYTES + 8 + 4;

/// Bytes of records that may wait for room on the disk. With more, the agent should wait too.
const MOST_WAITING: usize = 64 << 20;

/// Its name in an agent's folder.
pub const FILE: &str = "states";

/// The file with the states of the last rounds of a run that diverged.
const RECENT: &str = "states.last";

/// What is wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
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
    /// A record is damaged.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found, and where.
        what: String,
    },
    /// A round that was repeated gave another state.
    #[error(
        "{}: the state of round {round} that was recorded differs from the one that was computed again: one of them is damaged, or this machine does not compute as it did before",
        path.display()
    )]
    Differs {
        /// The file.
        path: PathBuf,
        /// Which.
        round: u64,
    },
}

/// An agent's states, on disk.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    shape: Shape,
    /// Records on disk before the first damaged one.
    whole: u64,
    /// The index of the next record. If it is on disk already, it is compared.
    next: u64,
    /// What is wrong with the records after these.
    damage: Option<String>,
    /// Records that could not be written yet: a full disk may have room later.
    waiting: Vec<u8>,
}

fn head(owner: Owner, shape: Shape) -> io::Result<Vec<u8>> {
    let mut head = Sealing::<_, crc32fast::Hasher>::new(vec![]);
    head.bytes(&MAGIC.to_bytes(shape.precision))?;
    head.bytes(&owner.to_bytes())?;
    head.number(shape.width as u64)?;
    head.seal()
}

/// Reads the head of a journal; `false` for a file that ends before, which was just begun.
fn read_head(file: &mut impl Read, path: &Path, owner: Owner, shape: Shape) -> Result<bool, JournalError> {
    let mut found = vec![];
    file.take(HEAD as u64).read_to_end(&mut found).map_err(at(path))?;
    let expected = head(owner, shape).map_err(at(path))?;
    let damaged = |what: String| JournalError::Damaged { path: path.to_owned(), what };
    if found == expected {
        return Ok(true);
    }
    if expected.starts_with(&found) {
        return Ok(false);
    }
    let Some(precision) = found.get(..Magic::BYTES).and_then(|magic| MAGIC.precision(magic)) else {
        return Err(damaged("this is not a journal of this version of the program".to_owned()));
    };
    let Ok(found) = owner_in(&found) else {
        return Err(damaged("its head, which says whose it is, is damaged".to_owned()));
    };
    owner.check(&found, path)?;
    Err(damaged(match precision == shape.precision {
        true => format!("its states are not of {} numbers", shape.width),
        false => format!("its states are of precision {precision}, here {}", shape.precision),
    }))
}

/// The owner in a head whose checksum matches.
fn owner_in(head: &[u8]) -> Result<Owner, Fault> {
    let mut source = Source::<_, crc32fast::Hasher>::new(head, head.len() as u64)?;
    source.bytes(Magic::BYTES)?;
    let owner = source.owner()?;
    source.check()?;
    Ok(owner)
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Io { path, source }
}

impl Journal {
    /// Opens the journal in an agent's folder, or begins one. Existing records stay as they are.
    pub fn open(folder: &Path, owner: Owner, shape: Shape) -> Result<Self, JournalError> {
        let path = folder.join(FILE);
        let options = files::private().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(&path).map_err(at(&path))?;
        let (mut whole, mut damage) = (0, None);
        if read_head(&mut file, &path, owner, shape)? {
            let mut records = Records { reader: BufReader::new(&file), path: &path, shape, index: 0 };
            loop {
                match records.next_bytes() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(JournalError::Damaged { what, .. }) => {
                        damage = Some(what);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            whole = records.index;
        } else {
            file.seek(SeekFrom::Start(0))
                .and_then(|_| file.write_all(&head(owner, shape)?))
                .map_err(at(&path))?;
        }
        Ok(Self { file, path, shape, whole, next: 0, damage, waiting: vec![] })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has all states up to round k, as an agent that resumes from round k needs.
    pub fn holds(&self, k: u64) -> bool {
        self.whole >= self.shape.until(k)
    }

    /// The last round before the first damaged record.
    pub fn reaches(&self) -> Option<u64> {
        self.whole.checked_sub(1).map(|last| self.shape.round(last))
    }

    /// The error for an agent whose oldest whole checkpoint, of round k, needs states that are missing.
    pub fn fault(&self, k: u64) -> JournalError {
        let ends = || match self.reaches() {
            Some(round) => format!("its states end at round {round}"),
            None => "it holds no states".to_owned(),
        };
        let found = self.damage.clone().unwrap_or_else(ends);
        let what = format!(
            "{found}, and what is missing cannot be recorded again, since the oldest whole checkpoint is of round {k}: put back a whole copy, or remove the agent's folder to begin the run again"
        );
        JournalError::Damaged { path: self.path.clone(), what }
    }

    /// Continues at round k, up to which it [holds](Self::holds) all states. Damaged records after that are
    /// cut off, which is logged, and kept beside the journal.
    pub fn go_on_at(&mut self, k: u64) -> Result<(), JournalError> {
        if let Some(what) = self.damage.take() {
            let kept = self.keep_rest().map_err(at(&self.path))?;
            tracing::warn!(
                "{}: {what}; it is recorded again from there on, and what was there is kept as {}",
                self.path.display(),
                kept.display()
            );
        }
        self.next = self.shape.before(k);
        Ok(())
    }

    /// Cuts off what follows the whole records, and keeps it beside the journal.
    fn keep_rest(&mut self) -> io::Result<PathBuf> {
        let mut number = 1;
        let kept = loop {
            let path = beside(&self.path, &format!(".damaged-{number}"));
            match files::private().write(true).create_new(true).open(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(error),
                Ok(mut kept) => {
                    self.file.seek(SeekFrom::Start(self.place(self.whole)))?;
                    io::copy(&mut self.file, &mut kept)?;
                    kept.sync_all()?;
                    break path;
                }
            }
        };
        self.file.set_len(self.place(self.whole))?;
        Ok(kept)
    }

    /// Appends the state of a round that is recorded, or compares it if it is on disk already. If it cannot
    /// be written, it waits for the next call.
    pub fn append<T: Number>(&mut self, k: u64, state: &[T]) -> Result<(), JournalError> {
        let fits = state.len() == self.shape.width && T::PRECISION == self.shape.precision;
        if fits && self.shape.is_recorded(k) && self.shape.round(self.next) == k {
            if self.next < self.whole {
                let (_, found) = self.read::<T>(self.next).map_err(at(&self.path))?;
                if !found.iter().zip(state).all(|(x, y)| same_bits(*x, *y)) {
                    return Err(JournalError::Differs { path: self.path.clone(), round: k });
                }
            } else {
                encode(k, state, &mut self.waiting).map_err(at(&self.path))?;
            }
            self.next += 1;
        }
        self.flush().map_err(at(&self.path))
    }

    /// The last state that was appended, once all are [on disk](Self::sync).
    pub fn last<T: Number>(&mut self) -> io::Result<Option<(u64, Vec<T>)>> {
        self.next.checked_sub(1).map(|last| self.read(last)).transpose()
    }

    fn read<T: Number>(&mut self, index: u64) -> io::Result<(u64, Vec<T>)> {
        let mut bytes = vec![0; self.shape.bytes()];
        self.file.seek(SeekFrom::Start(self.place(index)))?;
        self.file.read_exact(&mut bytes)?;
        decode(&bytes).map_err(|_| io::Error::other(format!("record {index} is damaged")))
    }

    /// Where a record is.
    fn place(&self, index: u64) -> u64 {
        HEAD as u64 + index * self.shape.bytes() as u64
    }

    /// Whether more records wait for room on the disk than should.
    pub fn is_full(&self) -> bool {
        self.waiting.len() > MOST_WAITING
    }

    /// A handle of the file, so that another thread can sync it.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Writes and syncs everything.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_data()
    }

    /// Writes what waits for room, without a sync.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let end = self.place(self.whole);
        self.file.seek(SeekFrom::Start(end))?;
        let written = self.file.write_all(&self.waiting);
        if written.is_err() {
            self.file.set_len(end)?;
            return written;
        }
        self.whole += (self.waiting.len() / self.shape.bytes()) as u64;
        self.waiting.clear();
        Ok(())
    }
}

/// How many states a journal holds, judged by its length alone.
pub fn recorded(folder: &Path, shape: Shape) -> u64 {
    let bytes = std::fs::metadata(folder.join(FILE)).map_or(0, |file| file.len());
    bytes.saturating_sub(HEAD as u64) / shape.bytes() as u64
}

/// The states of a journal one after another, each checked.
#[derive(Debug)]
pub struct Records<R, P> {
    reader: R,
    path: P,
    shape: Shape,
    /// The record that comes next.
    index: u64,
}

/// The states that an agent has recorded.
pub fn read(
    folder: &Path,
    owner: Owner,
    shape: Shape,
) -> Result<Records<BufReader<File>, PathBuf>, JournalError> {
    let path = folder.join(FILE);
    let mut reader = BufReader::new(File::open(&path).map_err(at(&path))?);
    read_head(&mut reader, &path, owner, shape)?;
    Ok(Records { reader, path, shape, index: 0 })
}

impl<R: Read, P: AsRef<Path>> Records<R, P> {
    /// The next one, with its round; `None` at the end.
    #[expect(clippy::should_implement_trait, reason = "an iterator would continue after an error")]
    pub fn next<T: Number>(&mut self) -> Result<Option<(u64, Vec<T>)>, JournalError> {
        let Some(bytes) = self.next_bytes()? else { return Ok(None) };
        let damaged = |_| self.damaged("a state in it is damaged".to_owned());
        decode(&bytes).map(Some).map_err(damaged)
    }

    fn damaged(&self, what: String) -> JournalError {
        JournalError::Damaged { path: self.path.as_ref().to_owned(), what }
    }

    /// The next record, checked.
    fn next_bytes(&mut self) -> Result<Option<Vec<u8>>, JournalError> {
        let mut bytes = vec![];
        let limit = self.shape.bytes() as u64;
        (&mut self.reader).take(limit).read_to_end(&mut bytes).map_err(at(self.path.as_ref()))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        match self.shape.check(self.index, &bytes) {
            Ok(_) => {
                self.index += 1;
                Ok(Some(bytes))
            }
            Err(what) => Err(self.damaged(what)),
        }
    }
}

/// Writes the states of the last rounds of a run that diverged, in ascending order.
pub fn write_recent<'a, T: Number>(
    folder: &Path,
    owner: Owner,
    shape: Shape,
    states: impl Iterator<Item = (u64, &'a [T])>,
) -> io::Result<()> {
    let mut bytes = head(owner, shape)?;
    for (k, state) in states {
        encode(k, state, &mut bytes)?;
    }
    files::write_whole(&folder.join(RECENT), &bytes)
}

/// Reads the states of the [last rounds](write_recent); none if there is no such file.
pub fn read_recent<T: Number>(
    folder: &Path,
    owner: Owner,
    shape: Shape,
) -> Result<Vec<(u64, Vec<T>)>, JournalError> {
    let path = folder.join(RECENT);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        bytes => bytes.map_err(at(&path))?,
    };
    let damaged = |what: &str| JournalError::Damaged { path: path.clone(), what: what.to_owned() };
    if !read_head(&mut &bytes[..], &path, owner, shape)? {
        return Err(damaged("it ends before its first state"));
    }
    let records = bytes[HEAD..].chunks(shape.bytes()).map(|record| match decode(record) {
        Ok((k, state)) if state.len() == shape.width => Ok((k, state)),
        _ => Err(damaged("a state in it is damaged")),
    });
    records.collect()
}

#[cfg(test)]
mod tests;
