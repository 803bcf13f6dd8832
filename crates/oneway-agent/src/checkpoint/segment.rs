//! What an agent sent between two checkpoints, in a file of its own: written once, and removed when nobody can need it any more.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::stream::{Checked, Fault, Source, write_number, write_row};
use crate::files;
use crate::frame::Moment;
use crate::history::Sent;
use crate::owner::Owner;

const MAGIC: &[u8; 8] = b"1WAYSG\x00\x01";

/// What the names of all of them begin with.
const PREFIX: &str = "sent-";

/// A segment that belongs to a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// It is in its name.
    pub(super) number: u64,
    /// How long it is.
    pub(super) bytes: u64,
    /// The last round in it.
    pub(super) last: u64,
}

/// The numbers of those in a folder, ascending.
pub(super) fn numbers(folder: &Path) -> io::Result<Vec<u64>> {
    let mut numbers = vec![];
    for entry in std::fs::read_dir(folder)? {
        let name = entry?.file_name();
        numbers.extend(name.to_str().and_then(|name| name.strip_prefix(PREFIX)?.parse::<u64>().ok()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}

/// Removes those that belong to no checkpoint; one that cannot be removed is tried again with the next checkpoint.
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

    /// Writes rows, of which there are some, as they are in memory.
    pub(super) fn write(folder: &Path, owner: &Owner, number: u64, sent: &[Sent]) -> io::Result<Self> {
        let last = sent.last().map_or(0, |sent| sent.at.round);
        let bytes = files::replace(&path(folder, number), |file| {
            let mut out = Checked { inner: BufWriter::new(file), sum: crc32fast::Hasher::new() };
            out.write_all(MAGIC)?;
            out.write_all(&owner.to_bytes())?;
            write_number(&mut out, sent.len() as u64)?;
            for Sent { at, pull, push } in sent {
                write_number(&mut out, at.round)?;
                write_number(&mut out, u64::from(at.phase))?;
                write_row(&mut out, pull)?;
                write_row(&mut out, push)?;
            }
            let Checked { inner: mut out, sum } = out;
            out.write_all(&sum.finalize().to_le_bytes())?;
            out.flush()?;
            Ok(out.get_ref().metadata()?.len())
        })?;
        Ok(Self { number, bytes, last })
    }

    /// Reads all of it, or nothing.
    pub(super) fn read(&self, path: &Path, owner: &Owner) -> Result<Vec<Sent>, Fault> {
        let file = File::open(path)?;
        if file.metadata()?.len() != self.bytes {
            return Err(Fault::Damaged);
        }
        let inner = Checked { inner: BufReader::new(file), sum: crc32fast::Hasher::new() };
        let mut source = Source { inner, left: self.bytes.checked_sub(4).ok_or(Fault::Damaged)? };
        if source.bytes(MAGIC.len())? != *MAGIC {
            return Err(Fault::Damaged);
        }
        let (found, _) = Owner::split(&source.bytes(Owner::BYTES)?).ok_or(Fault::Damaged)?;
        let rows = source.list(|source| {
            let (round, phase) = (source.number()?, source.number()?);
            let at = Moment { round, phase: u32::try_from(phase).map_err(|_| Fault::Damaged)? };
            Ok(Sent { at, pull: source.row()?.into(), push: source.row()?.into() })
        })?;
        let Checked { mut inner, sum } = source.inner;
        let mut expected = [0; 4];
        inner.read_exact(&mut expected)?;
        if source.left != 0 || sum.finalize().to_le_bytes() != expected {
            return Err(Fault::Damaged);
        }
        owner.check(&found, path).map_err(Fault::Foreign)?;
        Ok(rows)
    }
}
