//! The output folder: files are written whole or not at all, and what earlier commands left there and is no
//! longer true is removed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::files::write_whole;
use crate::hash::sha256;

/// The part of a results folder that `report` writes: the page and its figures.
pub const PAGE: &str = "page";
/// The part of a results folder that holds logs of arrivals.
pub(crate) const ARRIVALS: &str = "arrivals";

/// Names of files, relative to an output folder, and the hashes of what was written into them.
type Files = BTreeMap<String, String>;

/// An output folder that was found writable before anything ran.
#[derive(Debug, Clone)]
pub struct OutputFolder {
    path: PathBuf,
    /// Where this folder is in the one that it was made from: `figures/`.
    prefix: String,
    /// What was written into it, and into folders inside it, since it was prepared.
    written: Arc<Mutex<Files>>,
}

impl OutputFolder {
    /// Makes the folder if need be, and checks that files can be made in it.
    pub fn prepare(folder: &Path) -> Result<Self> {
        let place = || format!("cannot write to the output folder {}", folder.display());
        fs::create_dir_all(folder).with_context(place)?;
        tempfile::tempfile_in(folder).with_context(place)?;
        Ok(Self { path: folder.to_owned(), prefix: String::new(), written: Arc::default() })
    }

    /// A folder in it.
    pub fn inside(&self, name: &str) -> Result<Self> {
        let Self { path, .. } = Self::prepare(&self.path.join(name))?;
        Ok(Self { path, prefix: format!("{}{name}/", self.prefix), written: Arc::clone(&self.written) })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file in it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path.join(name);
        write_whole(&path, &content)?;
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        written.insert(format!("{}{name}", self.prefix), sha256(content));
        Ok(path)
    }

    /// Notes that this is all there is of a `part` of the folder, its page, say: removes what was noted of
    /// that part before and has not been written since. Files that were changed by others stay.
    pub fn settle(&self, part: &str) -> Result<()> {
        let written = std::mem::take(&mut *self.written.lock().unwrap_or_else(PoisonError::into_inner));
        let mut ledger = Ledger::read(&self.path);
        let before = ledger.0.remove(part).unwrap_or_default();
        for (name, hash) in before.iter().filter(|(name, _)| !written.contains_key(*name)) {
            remove(&self.path, name, hash)?;
        }
        if !written.is_empty() {
            ledger.0.insert(part.to_owned(), written);
        }
        ledger.write(&self.path)
    }
}

/// `files.json`: what commands wrote into an output folder, by part. Files that are always replaced are not
/// in it.
#[derive(Debug, Default)]
struct Ledger(BTreeMap<String, Files>);

impl Ledger {
    const FILE: &str = "files.json";

    /// That of a folder; an empty one if it has none, or none that we wrote: then nothing is removed.
    fn read(folder: &Path) -> Self {
        let text = fs::read(folder.join(Self::FILE)).unwrap_or_default();
        Self(serde_json::from_slice(&text).unwrap_or_default())
    }

    fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(Self::FILE);
        match self.0.is_empty() {
            true if !path.exists() => Ok(()),
            true => fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display())),
            false => write_whole(&path, serde_json::to_string_pretty(&self.0)? + "\n"),
        }
    }
}

/// Removes a file that we wrote, if it is still what we wrote, and its folder if that is empty then.
fn remove(folder: &Path, name: &str, hash: &str) -> Result<()> {
    let path = folder.join(name);
    let inside = Path::new(name).components().all(|part| matches!(part, Component::Normal(_)));
    let Ok(content) = fs::read(&path) else { return Ok(()) }; // it is gone already
    if !inside || sha256(content) != hash {
        eprintln!("oneway: {} is of an earlier run, but was changed since: left as it is", path.display());
        return Ok(());
    }
    fs::remove_file(&path).with_context(|| format!("cannot remove {}, of an earlier run", path.display()))?;
    if let Some(parent) = path.parent().filter(|parent| *parent != folder) {
        let _ = fs::remove_dir(parent); // stays if there is anything else in it
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let all =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut all: Vec<String> = all.collect();
        all.sort();
        all
    }

    #[test]
    fn a_part_replaces_what_it_left_before_and_nothing_else() {
        let place = tempfile::tempdir().unwrap();
        let put = |part: &str, files: &[&str]| {
            let folder = OutputFolder::prepare(place.path()).unwrap();
            for name in files {
                let (folder, name) = match name.split_once('/') {
                    Some((inner, name)) => (folder.inside(inner).unwrap(), name),
                    None => (folder.clone(), *name),
                };
                folder.write(name, "ours").unwrap();
            }
            folder.settle(part).unwrap();
        };
        put("page", &["page", "drawn/a", "drawn/b"]);
        put("logs", &["logs/a"]);
        fs::write(place.path().join("drawn/mine"), "ours").unwrap();
        put("page", &["page", "drawn/b", "drawn/c"]);
        assert_eq!(names(&place.path().join("drawn")), ["b", "c", "mine"], "what others put there stays");
        assert_eq!(names(place.path()), ["drawn", "files.json", "logs", "page"]);
        fs::write(place.path().join("drawn/c"), "changed").unwrap();
        put("page", &[]);
        assert_eq!(names(&place.path().join("drawn")), ["c", "mine"], "what others changed stays");
        put("logs", &[]);
        assert_eq!(names(place.path()), ["drawn"], "no empty folder, and no list of nothing");
    }

    #[test]
    fn nothing_outside_the_folder_is_removed() {
        let place = tempfile::tempdir().unwrap();
        let (inner, outer) = (place.path().join("results"), place.path().join("mine"));
        fs::create_dir(&inner).unwrap();
        fs::write(&outer, "ours").unwrap();
        for name in ["../mine".to_owned(), outer.display().to_string()] {
            let ledger = format!("{{\"page\":{{\"{name}\":\"{}\"}}}}", sha256("ours"));
            fs::write(inner.join("files.json"), ledger).unwrap();
            OutputFolder::prepare(&inner).unwrap().settle("page").unwrap();
            assert!(outer.exists(), "{name}");
        }
        fs::write(inner.join("files.json"), "not ours").unwrap();
        OutputFolder::prepare(&inner).unwrap().settle("page").unwrap();
    }
}
