//! The states that are to be measured, appended as they are reached: what curves are made of when a run is over.
//!
//! The file says whose it is; records have one length, known rounds and a checksum each. Before a checkpoint is written the journal is
//! synced. After a crash rounds are done again, to the same bits: what is recorded already is compared, and not written again. So
//! a journal is never shortened but where it is damaged; what is cut off is kept beside it, and said.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::files::{self, beside};
use crate::owner::{Foreign, Owner};

mod record;

pub use record::Shape;
use record::{encode, numbers};

const MAGIC: &[u8; 8] = b"1WAYST\x00\x02";

/// Bytes before the records: magic, owner, numbers in a state, checksum.
const HEAD: usize = 8 + Owner::BYTES + 8 + 4;

/// Bytes of records that may wait for room on the disk. With more the agent should wait too.
const MOST_WAITING: usize = 64 << 20;

/// Its name in an agent's folder.
pub const FILE: &str = "states";

/// The name of the states of the last rounds of a run that diverged.
const RECENT: &str = "states.last";

/// What is wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The disk does not do what it should.
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
    /// Records are not as they were written.
    #[error("{}: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found, and where.
        what: String,
    },
    /// A round that was done again came to another state.
    #[error(
        "{}: the state of round {round} that was recorded is another than the one that was computed again: one of them is damaged, or this machine does not compute as it did before",
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
    /// Records that are on disk, from the first one on without a fault.
    whole: u64,
    /// The record to be made next; what is on disk already will be compared with it.
    next: u64,
    /// What was found behind the whole records.
    damage: Option<String>,
    /// Records that could not be written yet: a full disk may have room later.
    waiting: Vec<u8>,
}

fn head(owner: Owner, shape: Shape) -> Vec<u8> {
    let mut head = [&MAGIC[..], &owner.to_bytes(), &(shape.width as u64).to_le_bytes()].concat();
    let checksum = crc32fast::hash(&head);
    head.extend_from_slice(&checksum.to_le_bytes());
    head
}

/// Reads the head of a journal; whether there is one. A file that ends before is one that was just begun.
fn read_head(file: &mut impl Read, path: &Path, owner: Owner, shape: Shape) -> Result<bool, JournalError> {
    let mut found = vec![];
    file.take(HEAD as u64).read_to_end(&mut found).map_err(at(path))?;
    let expected = head(owner, shape);
    let damaged = |what: String| JournalError::Damaged { path: path.to_owned(), what };
    if found == expected {
        return Ok(true);
    }
    if expected.starts_with(&found) {
        return Ok(false);
    }
    let Some(rest) = found.strip_prefix(&MAGIC[..]) else {
        return Err(damaged("this is no journal of this version of the program".to_owned()));
    };
    let checksum = found.split_last_chunk().map(|(head, sum)| crc32fast::hash(head).to_le_bytes() == *sum);
    match Owner::split(rest).filter(|_| checksum == Some(true)) {
        None => Err(damaged("its head, which says whose it is, is damaged".to_owned())),
        Some((found, _)) => {
            owner.check(&found, path)?;
            Err(damaged(format!("its states are not of {} numbers", shape.width)))
        }
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> JournalError {
    let path = path.to_owned();
    move |source| JournalError::Io { path, source }
}

impl Journal {
    /// Opens the journal in an agent's folder, or begins one. What is in it stays as it is.
    pub fn open(folder: &Path, owner: Owner, shape: Shape) -> Result<Self, JournalError> {
        let path = folder.join(FILE);
        let options = files::private().read(true).write(true).create(true).truncate(false).clone();
        let mut file = options.open(&path).map_err(at(&path))?;
        let (mut whole, mut damage) = (0, None);
        if read_head(&mut file, &path, owner, shape)? {
            let mut records = Records { reader: BufReader::new(&file), path: &path, shape, index: 0 };
            loop {
                match records.next() {
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
                .and_then(|_| file.write_all(&head(owner, shape)))
                .map_err(at(&path))?;
        }
        Ok(Self { file, path, shape, whole, next: 0, damage, waiting: vec![] })
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether it has all states that a checkpoint of round k comes after.
    pub fn holds(&self, k: u64) -> bool {
        self.whole >= self.shape.until(k)
    }

    /// The last round that is recorded without a fault before it.
    pub fn reaches(&self) -> Option<u64> {
        self.whole.checked_sub(1).map(|last| self.shape.round(last))
    }

    /// What is wrong with it, if a checkpoint of round k has nothing to go on with.
    pub fn fault(&self, k: u64) -> JournalError {
        let ends = || match self.reaches() {
            Some(round) => format!("its states end at round {round}"),
            None => "it holds no states".to_owned(),
        };
        let found = self.damage.clone().unwrap_or_else(ends);
        let what = format!(
            "{found}, and what is missing cannot be recorded again, since the oldest whole checkpoint is of round {k}: put back a whole copy, or remove the agent's folder to begin the run anew"
        );
        JournalError::Damaged { path: self.path.clone(), what }
    }

    /// Goes on at round k, of which it [holds](Self::holds) what came before. If records after that are damaged they are cut off,
    /// said to be, and kept beside the journal.
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

    /// Cuts off what is behind the whole records, and keeps it beside the journal.
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

    /// Appends the state of a round that is to be recorded; compares it, if it is there. If it cannot be written it waits for the
    /// next call.
    pub fn append(&mut self, k: u64, state: &[f64]) -> Result<(), JournalError> {
        if self.shape.is_recorded(k) && self.shape.round(self.next) == k && state.len() == self.shape.width {
            if self.next < self.whole {
                let (_, found) = self.read(self.next).map_err(at(&self.path))?;
                let same = |(x, y): (&f64, &f64)| x.to_bits() == y.to_bits() || (x.is_nan() && y.is_nan());
                if !found.iter().zip(state).all(same) {
                    return Err(JournalError::Differs { path: self.path.clone(), round: k });
                }
            } else {
                encode(k, state, &mut self.waiting);
            }
            self.next += 1;
        }
        self.flush().map_err(at(&self.path))
    }

    /// The last state that was appended, once all are [on disk](Self::sync).
    pub fn last(&mut self) -> io::Result<Option<(u64, Vec<f64>)>> {
        self.next.checked_sub(1).map(|last| self.read(last)).transpose()
    }

    fn read(&mut self, index: u64) -> io::Result<(u64, Vec<f64>)> {
        let mut bytes = vec![0; self.shape.bytes()];
        self.file.seek(SeekFrom::Start(self.place(index)))?;
        self.file.read_exact(&mut bytes)?;
        numbers(&bytes).ok_or_else(|| io::Error::other(format!("record {index} is damaged")))
    }

    /// Where a record is.
    fn place(&self, index: u64) -> u64 {
        HEAD as u64 + index * self.shape.bytes() as u64
    }

    /// Whether so many records wait for room on the disk that no more should be made.
    pub fn is_full(&self) -> bool {
        self.waiting.len() > MOST_WAITING
    }

    /// A handle of the file, to be synced by somebody else.
    pub fn handle(&self) -> io::Result<File> {
        self.file.try_clone()
    }

    /// Everything is on disk after this.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_data()
    }

    /// Writes what waits for room; it need not be on disk after this.
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

/// How many states a journal holds by its length alone, for a look at a run under way.
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
    #[expect(clippy::should_implement_trait, reason = "an iterator would go on after an error")]
    pub fn next(&mut self) -> Result<Option<(u64, Vec<f64>)>, JournalError> {
        let mut bytes = vec![];
        let limit = self.shape.bytes() as u64;
        (&mut self.reader).take(limit).read_to_end(&mut bytes).map_err(at(self.path.as_ref()))?;
        if bytes.is_empty() {
            return Ok(None);
        }
        match self.shape.check(self.index, &bytes) {
            Ok(found) => {
                self.index += 1;
                Ok(Some(found))
            }
            Err(what) => Err(JournalError::Damaged { path: self.path.as_ref().to_owned(), what }),
        }
    }
}

/// Writes down the states of the last rounds of a run that has diverged, in ascending order.
pub fn write_recent<'a>(
    folder: &Path,
    owner: Owner,
    shape: Shape,
    states: impl Iterator<Item = (u64, &'a [f64])>,
) -> io::Result<()> {
    let mut bytes = head(owner, shape);
    states.for_each(|(k, state)| encode(k, state, &mut bytes));
    files::write_whole(&folder.join(RECENT), &bytes)
}

/// The states that were [written down](write_recent); none if none were.
pub fn read_recent(folder: &Path, owner: Owner, shape: Shape) -> Result<Vec<(u64, Vec<f64>)>, JournalError> {
    let path = folder.join(RECENT);
    let bytes = match std::fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        bytes => bytes.map_err(at(&path))?,
    };
    let damaged = |what: &str| JournalError::Damaged { path: path.clone(), what: what.to_owned() };
    if !read_head(&mut &bytes[..], &path, owner, shape)? {
        return Err(damaged("it ends before its first state"));
    }
    let records = bytes[HEAD..].chunks(shape.bytes()).map(numbers);
    records.collect::<Option<_>>().ok_or_else(|| damaged("a state in it is damaged"))
}

#[cfg(test)]
mod tests;
