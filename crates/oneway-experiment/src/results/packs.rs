//! Many finished runs in one file: a file of its own for each of a hundred thousand short runs takes longer than
//! the runs.
//!
//! The first line says which they are, as a list of keys and lengths in bytes; behind it are their entries, one
//! after another, each as it would stand in a file of its own.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::files::write_whole;
use crate::hash::sha256;

/// How the names of packs end.
const ENDING: &str = "cells";
/// A first line is at most this long.
const LONGEST: u64 = 1 << 24;

/// Where an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    file: PathBuf,
    from: u64,
    bytes: u64,
}

/// The entries of all packs of a folder.
#[derive(Debug, Default)]
pub(super) struct Packs(HashMap<String, Place>);

impl Packs {
    /// Those that are in a folder. What is no pack is passed over: its runs are made again.
    pub(super) fn of(folder: &Path) -> Self {
        let mut packs = Self::default();
        let files = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
        for file in files.filter(|file| file.extension().is_some_and(|ending| ending == ENDING)) {
            if packs.add(&file).is_none() {
                eprintln!("oneway: {} is damaged: what it had is computed again", file.display());
            }
        }
        packs
    }

    fn add(&mut self, file: &Path) -> Option<()> {
        let mut first = String::new();
        BufReader::new(File::open(file).ok()?).take(LONGEST).read_line(&mut first).ok()?;
        let mut from = first.len() as u64;
        let entries: Vec<(String, u64)> = serde_json::from_str(&first).ok()?;
        for (key, bytes) in entries {
            self.0.insert(key, Place { file: file.to_owned(), from, bytes });
            from = from.checked_add(bytes)?;
        }
        Some(())
    }

    /// Writes entries with their keys.
    pub(super) fn put(&mut self, folder: &Path, entries: &[(&str, String)]) -> Result<()> {
        let lengths: Vec<(&str, usize)> = entries.iter().map(|(key, text)| (*key, text.len())).collect();
        let first = serde_json::to_string(&lengths)?;
        let file = folder.join(format!("{}.{ENDING}", sha256(&first)));
        let texts = entries.iter().map(|(_, text)| text.as_str());
        let all: String = [first.as_str(), "\n"].into_iter().chain(texts).collect();
        write_whole(&file, all)?;
        self.add(&file).with_context(|| format!("{} cannot be read again", file.display()))
    }

    /// The text of an entry, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<Vec<u8>> {
        let Place { file, from, bytes } = self.0.get(key)?;
        let mut file = File::open(file).ok()?;
        file.seek(SeekFrom::Start(*from)).ok()?;
        let mut text = vec![];
        file.take(*bytes).read_to_end(&mut text).ok()?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_back_and_damage_is_no_more_than_a_loss() {
        let folder = tempfile::tempdir().unwrap();
        let mut packs = Packs::of(folder.path());
        let text = |key: &str| format!("{{\"key\":\"{key}\"}}\nλ,1\n").repeat(3);
        let entries = ["a", "b", "c"].map(|key| (key, text(key)));
        packs.put(folder.path(), &entries).unwrap();
        packs.put(folder.path(), &[("d", String::new())]).unwrap();
        for packs in [packs, Packs::of(folder.path())] {
            assert!(entries.iter().all(|(key, text)| packs.get(key).unwrap() == text.as_bytes()));
            assert_eq!((packs.get("d"), packs.get("e")), (Some(vec![]), None));
        }
        for damage in ["", "[", "[[\"a\",18446744073709551615],[\"b\",1]]\n", "{}\n", "[[\"a\",-1]]\n"] {
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("x.cells"), damage).unwrap();
            let packs = Packs::of(folder.path());
            assert!(packs.get("b").is_none(), "{damage}");
            assert!(packs.get("a").is_none_or(|text| text.is_empty()), "{damage}");
        }
        // cut short: the entry is too, and its checksum says so
        let file = fs::read_dir(folder.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .max_by_key(|p| p.metadata().unwrap().len());
        let file = file.unwrap();
        let whole = fs::read(&file).unwrap();
        fs::write(&file, &whole[..whole.len() - 1]).unwrap();
        assert!(Packs::of(folder.path()).get("c").unwrap().len() < text("c").len());
    }
}
