//! The output folder: files are written whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};

/// An output folder that was found writable before anything ran.
#[derive(Debug)]
pub(crate) struct OutputFolder(PathBuf);

impl OutputFolder {
    /// Makes the folder if need be, and checks that files can be made in it.
    pub(crate) fn prepare(folder: &Path) -> Result<Self> {
        let place = || format!("cannot write to the output folder {}", folder.display());
        fs::create_dir_all(folder).with_context(place)?;
        tempfile::tempfile_in(folder).with_context(place)?;
        Ok(Self(folder.to_owned()))
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a file in it.
    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.0.join(name);
        write_whole(&path, content)?;
        Ok(path)
    }
}

/// Writes a file: first aside, then into its place, so that no reader ever sees half of it.
pub(crate) fn write_whole(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    static WRITES: AtomicUsize = AtomicUsize::new(0); // threads must not share a name either
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}.{}.part", std::process::id(), WRITES.fetch_add(1, Ordering::Relaxed)));
    fs::write(&aside, content)
        .and_then(|()| fs::rename(&aside, path))
        .inspect_err(|_| drop(fs::remove_file(&aside)))
        .with_context(|| format!("cannot write {}", path.display()))
}
