//! The states that are to be measured, appended as they are reached: what curves are made of when a run is over.
//!
//! Records have one length and a checksum each. Before a checkpoint is written the journal is synced; after a crash it is cut back to the
//! checkpoint, and what is done again is appended again, to the same bits.

use std::fs::{File, OpenOptions};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::Path;

const MAGIC: &[u8; 8] = b"1WAYST\x00\x01";

/// Bytes before the records: magic, fingerprint, numbers in a state.
const HEAD: usize = 8 + 32 + 8;

/// Bytes of records that may wait for room on the disk. With more the agent should wait too.
const MOST_WAITING: usize = 64 << 20;

/// Its name in an agent's folder.
pub const FILE: &str = "states";

/// An agent's states, on disk.
#[derive(Debug)]
pub struct Journal {
    file: File,
    width: usize,
    /// Bytes that are written; all records before are whole.
    end: u64,
    /// Records that could not be written yet: a full disk may have room later.
    waiting: Vec<u8>,
    last: Option<u64>,
}

/// Bytes of a record: the round, the state, a checksum.
const fn record(width: usize) -> usize {
    8 + width * 8 + 4
}

fn head(fingerprint: [u8; 32], width: usize) -> Vec<u8> {
    [&MAGIC[..], &fingerprint, &(width as u64).to_le_bytes()].concat()
}

/// Whether a file has this at its beginning; it is left behind it.
fn begins_with(file: &mut File, head: &[u8]) -> io::Result<bool> {
    let mut found = vec![0; head.len()];
    match file.read_exact(&mut found) {
        Ok(()) => Ok(found == head),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

impl Journal {
    /// Opens the journal in an agent's folder, cut back to the states up to round k; a new one if there is none of this run.
    pub fn open(folder: &Path, fingerprint: [u8; 32], width: usize, k: u64) -> io::Result<Self> {
        let path = folder.join(FILE);
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let head = head(fingerprint, width);
        if !begins_with(&mut file, &head)? {
            file.set_len(0)?;
            file.seek(SeekFrom::Start(0))?;
            file.write_all(&head)?;
        }
        let (mut end, mut last) = (HEAD as u64, None);
        let mut reader = BufReader::new(&file);
        let mut bytes = vec![0; record(width)]; // one record at a time: a journal may be longer than memory
        while reader.read_exact(&mut bytes).is_ok() {
            match read_record(&bytes)
                .filter(|(round, _)| *round <= k && last.is_none_or(|last| last < *round))
            {
                Some((round, _)) => last = Some(round),
                None => break,
            }
            end += bytes.len() as u64;
        }
        file.set_len(end)?;
        Ok(Self { file, width, end, waiting: vec![], last })
    }

    /// Appends the state of a round, unless it is there. If it cannot be written it waits for the next call.
    pub fn append(&mut self, k: u64, state: &[f64]) -> io::Result<()> {
        if self.last.is_none_or(|last| last < k) && state.len() == self.width {
            self.last = Some(k);
            let begin = self.waiting.len();
            self.waiting.extend_from_slice(&k.to_le_bytes());
            state.iter().for_each(|x| self.waiting.extend_from_slice(&x.to_le_bytes()));
            let checksum = crc32fast::hash(&self.waiting[begin..]);
            self.waiting.extend_from_slice(&checksum.to_le_bytes());
        }
        self.flush()
    }

    /// The last record that is on disk.
    pub fn last(&mut self) -> io::Result<Option<(u64, Vec<f64>)>> {
        let length = record(self.width);
        if self.end < (HEAD + length) as u64 {
            return Ok(None);
        }
        let mut bytes = vec![0; length];
        self.file.seek(SeekFrom::Start(self.end - length as u64))?;
        self.file.read_exact(&mut bytes)?;
        Ok(read_record(&bytes))
    }

    /// Whether so many records wait for room on the disk that no more should be made.
    pub fn is_full(&self) -> bool {
        self.waiting.len() > MOST_WAITING
    }

    /// Everything is on disk after this.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.file.sync_data()
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        self.file.seek(SeekFrom::Start(self.end))?;
        let written = self.file.write_all(&self.waiting);
        if written.is_err() {
            self.file.set_len(self.end)?;
            return written;
        }
        self.end += self.waiting.len() as u64;
        self.waiting.clear();
        Ok(())
    }
}

/// How many states a journal holds by its length alone, for a look at a run under way.
pub fn recorded(folder: &Path, width: usize) -> u64 {
    let bytes = std::fs::metadata(folder.join(FILE)).map_or(0, |file| file.len());
    bytes.saturating_sub(HEAD as u64) / record(width) as u64
}

/// All whole states of a journal of this run, by round; nothing if there is none.
pub fn read(folder: &Path, fingerprint: [u8; 32], width: usize) -> io::Result<Vec<(u64, Vec<f64>)>> {
    let content = match std::fs::read(folder.join(FILE)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(vec![]),
        content => content?,
    };
    let Some(records) = content.strip_prefix(&head(fingerprint, width)[..]) else { return Ok(vec![]) };
    Ok(records.chunks_exact(record(width)).map_while(read_record).collect())
}

fn read_record(bytes: &[u8]) -> Option<(u64, Vec<f64>)> {
    let (content, checksum) = bytes.split_last_chunk()?;
    if crc32fast::hash(content) != u32::from_le_bytes(*checksum) {
        return None;
    }
    let (round, state) = content.split_first_chunk()?;
    let state = state.as_chunks().0.iter().map(|bits| f64::from_le_bytes(*bits)).collect();
    Some((u64::from_le_bytes(*round), state))
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: [u8; 32] = [7; 32];

    #[test]
    fn states_come_back_and_a_crash_cuts_back_to_the_checkpoint() {
        let folder = tempfile::tempdir().unwrap();
        let open = |k| Journal::open(folder.path(), RUN, 2, k).unwrap();
        let rounds = || read(folder.path(), RUN, 2).unwrap().iter().map(|(k, _)| *k).collect::<Vec<_>>();
        let mut journal = open(0);
        (0..5).for_each(|k| journal.append(10 * k, &[k as f64, f64::NAN]).unwrap());
        journal.append(40, &[9.0, 9.0]).unwrap();
        journal.sync().unwrap();
        assert_eq!(rounds(), [0, 10, 20, 30, 40]);
        let state = &read(folder.path(), RUN, 2).unwrap()[4].1;
        assert!(state[0] == 4.0 && state[1].is_nan(), "the first of two stays");

        let mut journal = open(25); // as after a crash, from the checkpoint of round 25
        assert_eq!(rounds(), [0, 10, 20]);
        assert_eq!(journal.last().unwrap().unwrap().0, 20);
        journal.append(30, &[3.0, 0.0]).unwrap();
        assert_eq!(journal.last().unwrap(), Some((30, vec![3.0, 0.0])));
        drop(journal);
        let path = folder.path().join(FILE);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert_eq!(rounds(), [0, 10, 20], "half a record is none");
        assert_eq!(read(folder.path(), [8; 32], 2).unwrap(), [], "of another run");
    }
}
