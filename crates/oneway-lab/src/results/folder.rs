//! The output folder: files are written whole or not at all.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// An output folder that was found writable before anything ran.
#[derive(Debug)]
pub(crate) struct OutputFolder(PathBuf);

impl OutputFolder {
    /// Makes the folder if need be, and checks that files can be made in it.
    pub(crate) fn prepare(folder: &Path) -> Result<Self> {
        let place = || format!("cannot write to the output folder {}", folder.display());
        fs::create_dir_all(folder).with_context(place)?;
        let probe = folder.join(".oneway-probe");
        fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe)).with_context(place)?;
        Ok(Self(folder.to_owned()))
    }

    /// Writes a file: first aside, then into its place, so that no reader ever sees half of it.
    pub(crate) fn write(&self, name: &str, content: &str) -> Result<PathBuf> {
        let path = self.0.join(name);
        let aside = self.0.join(format!(".{name}.part"));
        let written = fs::write(&aside, content).and_then(|()| fs::rename(&aside, &path));
        if written.is_err() {
            fs::remove_file(&aside).ok();
        }
        written.with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}
