//! A results folder, read: what was run, and what was measured.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use super::curves::{self, Curve, SweptValues};
use super::manifest::{self, EntryRecord, Manifest};
use super::repetitions::Repetitions;

/// A results folder, read.
#[derive(Debug)]
pub struct Stored {
    /// Where it is.
    pub dir: PathBuf,
    /// The last part of its path.
    pub name: String,
    /// What was run.
    pub manifest: Manifest,
    /// What was measured.
    pub curves: Vec<Curve>,
    /// Which settings were swept, and the values they had.
    pub swept: SweptValues,
}

impl Stored {
    /// Reads a results folder; one that holds several is refused with their names.
    pub fn read(dir: &Path) -> Result<Self> {
        match &manifest::folders(dir)?[..] {
            [folder] if folder == dir => Self::read_one(dir),
            several => {
                let names: Vec<String> = several.iter().map(|one| one.display().to_string()).collect();
                bail!("{} is a folder of results folders: name one of {}", dir.display(), names.join(", "))
            }
        }
    }

    /// Reads the folder itself, if it is a results folder, or all results folders in it, by name.
    pub fn read_all(dir: &Path) -> Result<Vec<Self>> {
        manifest::folders(dir)?.iter().map(|folder| Self::read_one(folder)).collect()
    }

    fn read_one(dir: &Path) -> Result<Self> {
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let manifest = Manifest::read(dir)?;
        let (curves, swept) = curves::read_with_swept(&dir.join(curves::FILE))?;
        Ok(Self { dir: dir.to_owned(), name, manifest, curves, swept })
    }

    /// What became of each repetition of a method on a topology.
    pub fn repetitions(&self, entry: &EntryRecord) -> Repetitions<'_> {
        Repetitions::of_record(entry, &self.manifest, &self.curves)
    }

    /// The curves that charts are made of, the mean of which is over runs that end together; and which runs
    /// are left out.
    pub fn drawn(&self) -> (Vec<Curve>, Vec<String>) {
        let (mut drawn, mut notes) = (vec![], vec![]);
        for entry in &self.manifest.entries {
            let (curves, note) = self.drawn_of(entry);
            drawn.extend(curves);
            notes.extend(note.map(|note| format!("{} · {}: {note}", entry.topology, entry.method)));
        }
        (drawn, notes)
    }

    /// The same of a method on a topology.
    pub fn drawn_of(&self, entry: &EntryRecord) -> (Vec<Curve>, Option<String>) {
        let repetitions = self.repetitions(entry);
        let what = match repetitions.mean_at_end(|point| Some(point.loss)) {
            Some(_) => "means are over the repetitions that completed",
            None if repetitions.drawn().is_empty() => "not drawn, for no repetition has a curve",
            None => "no repetition completed, and drawn is what came furthest",
        };
        let curve = |(repetition, points): (u64, &[_])| Curve {
            topology: entry.topology.clone(),
            method: entry.method.clone(),
            repetition,
            points: points.into(),
        };
        let curves = repetitions.drawn().into_iter().map(curve).collect();
        (curves, repetitions.note().map(|note| format!("{what}: {note}")))
    }
}
