//! Segments: the rows that an agent sent between two checkpoints, written once, and removed when no neighbour
//! can need them any more.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use crate::disk::owner::Owner;
use crate::disk::stream::{Fault, Magic, Sealing, Source};
use crate::files;
use crate::wire::Number;
use crate::wire::frame::Moment;
use crate::wire::history::Sent;

const MAGIC: Magic = Magic { letters: *b"1WAYSG", version: 1 };

/// The beginning of their names.
const PREFIX: &str = "sent-";

/// A segment that belongs to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// The number in its name.
    pub(super) number: u64,
    /// Its length in bytes.
    pub(super) bytes: u64,
    /// The last round in it.
    pub(super) last: u64,
}

/// The numbers of the segments in a folder, ascending.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = vec![];
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes segments that belong to no checkpoint. One that cannot be removed is tried again with the next
/// checkpoint.
pub(super) fn remove_others(folder: &Path, named: &BTreeSet<u64>) {
    let others = numbers(folder).unwrap_or_default().into_iter().filter(|number| !named.contains(number));
    others.for_each(|number| drop(std::fs::remove_file(path(folder, number))));
}

fn path(folder: &Path, number: u64) -> PathBuf {
    folder.join(format!("{PREFIX}{number}"))
}

impl Segment {
    pub(super) fn path(&self, folder: &Path) -> PathBuf {
        path(folder, self.number)
    }

    /// Writes rows, at least one.
    pub(super) fn write<T: Number>(
        folder: &Path,
        owner: &Owner,
        number: u64,
        sent: &[Sent<T>],
    ) -> io::Result<Self> {
        let last = sent.last().map_or(0, |sent| sent.at.round);
        let bytes = files::replace(&path(folder, number), |file| {
            let mut out = Sealing::<_, crc32fast::Hasher>::new(BufWriter::new(file));
            out.bytes(&MAGIC.to_bytes(T::PRECISION))?;
            out.bytes(&owner.to_bytes())?;
            out.number(sent.len() as u64)?;
            for Sent { at, pull, push } in sent {
                out.number(at.round)?;
                out.number(u64::from(at.phase))?;
                out.row(pull)?;
                out.row(push)?;
            }
            let mut out = out.seal()?;
            out.flush()?;
            Ok(out.get_ref().metadata()?.len())
        })?;
        Ok(Self { number, bytes, last })
    }

    /// Reads all of it, or nothing.
    pub(super) fn read<T: Number>(&self, path: &Path, owner: &Owner) -> Result<Vec<Sent<T>>, Fault> {
        let file = File::open(path)?;
        if file.metadata()?.len() != self.bytes {
            return Err(Fault::Damaged);
        }
        let mut source = Source::<_, crc32fast::Hasher>::new(BufReader::new(file), self.bytes)?;
        if source.bytes(Magic::BYTES)? != MAGIC.to_bytes(T::PRECISION) {
            return Err(Fault::Damaged);
        }
        let found = source.owner()?;
        let rows = source.list(|source| {
            let (round, phase) = (source.number()?, source.number()?);
            let at = Moment { round, phase: u32::try_from(phase).map_err(|_| Fault::Damaged)? };
            Ok(Sent { at, pull: source.row()?.into(), push: source.row()?.into() })
        })?;
        let is_whole = source.is_at_end();
        source.check()?;
        if !is_whole {
            return Err(Fault::Damaged);
        }
        owner.check(&found, path).map_err(Fault::Foreign)?;
        Ok(rows)
    }
}
