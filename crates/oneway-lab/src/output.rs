//! What a run leaves behind: `curves.csv` and `summary.json`, written whole or not at all.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use oneway::metrics::Measurement;

/// The columns of `curves.csv`.
pub(crate) const COLUMNS: &str = "topology,method,repetition,iteration,loss,grad_norm_sq,consensus_error,\
tracking_error,momentum_error,conservation_error,test_accuracy,floats_sent";

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
        fs::write(&aside, content)
            .and_then(|()| fs::rename(&aside, &path))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }
}

/// One line of `curves.csv`. Numbers in shortest round-trip form, what a method does not have left empty.
pub(crate) fn push_line(csv: &mut String, topology: &str, method: &str, repetition: u64, m: &Measurement) {
    let optional = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:?}"));
    let floats_sent = m.floats_sent.map_or(String::new(), |floats| floats.to_string());
    let line = writeln!(
        csv,
        "{topology},{method},{repetition},{},{:?},{:?},{:?},{},{},{},{},{floats_sent}",
        m.iteration,
        m.loss,
        m.grad_norm_sq,
        m.consensus_error,
        optional(m.tracking_error),
        optional(m.momentum_error),
        optional(m.conservation_error),
        optional(m.test_accuracy),
    );
    debug_assert!(line.is_ok(), "writing to a string cannot fail");
}
