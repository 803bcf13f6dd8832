//! Results folders, and what is to be shown of them.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use oneway::Error;
use oneway_experiment::results::curves::Curve;
use oneway_experiment::results::manifest::EntryRecord;
use oneway_experiment::results::stored::Stored;
use oneway_experiment::sweep::is_called;

/// Results folders that are shown together.
#[derive(Debug)]
pub(crate) struct Sources {
    pub(crate) folders: Vec<Source>,
}

/// A results folder, and what it is called beside the others.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) stored: Stored,
    label: String,
}

/// A method on a topology in a folder.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) source: &'a Source,
    pub(crate) record: &'a EntryRecord,
    /// What the method is called in a figure: with its folder where several folders have it.
    pub(crate) method: String,
}

/// Methods and topologies that are asked for by name; all if there are none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Choice<'a> {
    pub(crate) methods: &'a [String],
    pub(crate) topologies: &'a [String],
}

impl Sources {
    /// Reads results folders.
    pub(crate) fn read(dirs: &[PathBuf]) -> Result<Self> {
        let whole: Vec<Option<PathBuf>> = dirs.iter().map(|dir| dir.canonicalize().ok()).collect();
        if let Some(twice) =
            (1..dirs.len()).find(|&at| whole[at].is_some() && whole[..at].contains(&whole[at]))
        {
            bail!("{} is given twice", dirs[twice].display());
        }
        let shown = |dir: &Path| {
            let same = dirs.iter().filter(|other| other.file_name() == dir.file_name()).count();
            match dir.file_name() {
                Some(name) if same == 1 => name.to_string_lossy().into_owned(),
                _ => dir.display().to_string(),
            }
        };
        let read = |dir: &PathBuf| Ok(Source { stored: Stored::read(dir)?, label: shown(dir) });
        Ok(Self { folders: dirs.iter().map(read).collect::<Result<_>>()? })
    }

    /// All names of what `of` is of the entries, in order of appearance.
    fn names<'a>(&'a self, of: impl Fn(&'a EntryRecord) -> &'a str) -> Vec<&'a str> {
        let entries = self.folders.iter().flat_map(|folder| &folder.stored.manifest.entries);
        entries.map(of).fold(vec![], |mut names, name| {
            if !names.contains(&name) {
                names.push(name);
            }
            names
        })
    }

    /// What is asked for, method by method in the order in which they are; refuses names that are not there,
    /// and folders that have no topology in common.
    pub(crate) fn found(&self, choice: Choice<'_>) -> Result<Vec<Found<'_>>> {
        let methods = chosen("method", choice.methods, &self.names(|entry| &entry.method))?;
        let mut topologies = chosen("topology", choice.topologies, &self.names(|entry| &entry.topology))?;
        let has = |folder: &Source, topology: &str| {
            folder.stored.manifest.entries.iter().any(|entry| entry.topology == topology)
        };
        let before = topologies.len();
        topologies.retain(|topology| self.folders.iter().all(|folder| has(folder, topology)));
        if topologies.is_empty() && before > 0 {
            let each = self.folders.iter().map(|folder| {
                let own = Self::names_of(&folder.stored);
                format!("{} has {}", folder.label, own.join(", "))
            });
            bail!(
                "these folders have no topology in common, so there is no figure for their curves: {}",
                each.collect::<Vec<_>>().join("; ")
            );
        }
        let entries = || {
            let all = self
                .folders
                .iter()
                .flat_map(|source| source.stored.manifest.entries.iter().map(move |record| (source, record)));
            all.filter(|(_, record)| topologies.contains(&&*record.topology))
        };
        let mut found = vec![];
        for &method in &methods {
            for (source, record) in entries().filter(|(_, record)| record.method == method) {
                let mut others = entries()
                    .filter(|(other, record)| record.method == method && !std::ptr::eq(*other, source));
                let method = match others.next() {
                    Some(_) => with_folder(method, &source.label),
                    None => method.to_owned(),
                };
                found.push(Found { source, record, method });
            }
        }
        if found.is_empty() {
            bail!("{} holds no results", self.shown());
        }
        Ok(found)
    }

    fn names_of(stored: &Stored) -> Vec<&str> {
        let mut names: Vec<&str> = vec![];
        for entry in &stored.manifest.entries {
            if !names.contains(&&*entry.topology) {
                names.push(&entry.topology);
            }
        }
        names
    }

    /// The folders, for messages.
    pub(crate) fn shown(&self) -> String {
        self.folders
            .iter()
            .map(|folder| folder.stored.dir.display().to_string())
            .collect::<Vec<_>>()
            .join(", ")
    }

    /// A sentence where methods of different folders did not have the same problem.
    pub(crate) fn problems_note(&self, found: &[Found<'_>]) -> Option<String> {
        let mut problems = found.iter().map(|found| &found.record.problem_sha256);
        let first = problems.next()?;
        let differ = self.folders.len() > 1 && problems.any(|other| other != first);
        differ.then(|| "The folders' problems differ, in their data or in how these are split.".to_owned())
    }
}

impl Found<'_> {
    /// The curves that are drawn of it, under the name that it has in the figure; and which runs are left
    /// out.
    pub(crate) fn drawn(&self) -> (Vec<Curve>, Option<String>) {
        let (mut curves, note) = self.source.stored.drawn_of(self.record);
        curves.iter_mut().for_each(|curve| curve.method.clone_from(&self.method));
        (curves, note.map(|note| format!("{}: {note}.", self.method)))
    }

    /// Seconds in a round of each repetition, where they were measured.
    pub(crate) fn pace(&self) -> impl Iterator<Item = (u64, f64)> + '_ {
        let cells =
            self.source.stored.manifest.cells.iter().filter(|cell| {
                (&cell.topology, &cell.method) == (&self.record.topology, &self.record.method)
            });
        let pace = cells.map(|cell| (cell.repetition, cell.end.seconds_stepping / cell.end.rounds as f64));
        pace.filter(|(_, pace)| *pace > 0.0 && pace.is_finite())
    }
}

/// `SMTPP (a) [step=1]` of `SMTPP [step=1]` in the folder `a`.
fn with_folder(method: &str, folder: &str) -> String {
    match method.split_once(" [") {
        Some((name, values)) => format!("{name} ({folder}) [{values}"),
        None => format!("{method} ({folder})"),
    }
}

/// Those of the known names that are asked for, in the order in which they are: `SMTPP` also asks for what a
/// sweep made of it, `SMTPP [step=0.1]`.
fn chosen<'a>(what: &str, asked: &[String], known: &[&'a str]) -> Result<Vec<&'a str>> {
    if asked.is_empty() {
        return Ok(known.to_vec());
    }
    let mut chosen: Vec<&str> = vec![];
    for name in asked {
        let before = chosen.len();
        let called = known.iter().filter(|known| is_called(known, name)).copied();
        let mut called = called.peekable();
        if called.peek().is_none() {
            return Err(Error::unknown(what, name.as_str(), known.iter().copied()).into());
        }
        chosen.extend(called);
        let mut seen = vec![];
        chosen.retain(|name| {
            let new = !seen.contains(name);
            seen.push(name);
            new
        });
        if chosen.len() == before {
            bail!("the {what} \"{name}\" is asked for twice");
        }
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_asks_for_what_a_sweep_made_of_it() {
        let known = ["SMTPP [step=1]", "SMTPP [step=2]", "SMTPP (trees)", "SGP"];
        let ask = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            chosen("method", &names, &known).map_err(|error| error.to_string())
        };
        assert_eq!(ask(&[]).unwrap(), known);
        assert_eq!(ask(&["SGP", "SMTPP"]).unwrap(), ["SGP", "SMTPP [step=1]", "SMTPP [step=2]"]);
        assert_eq!(ask(&["SMTPP [step=2]"]).unwrap(), ["SMTPP [step=2]"]);
        assert!(ask(&["SGP", "SGP"]).unwrap_err().contains("twice"));
        assert!(ask(&["SMTP"]).unwrap_err().contains("SGP"), "what there is, is said");
    }

    #[test]
    fn a_folder_stands_before_what_a_sweep_chose() {
        assert_eq!(with_folder("SMTPP", "a"), "SMTPP (a)");
        assert_eq!(with_folder("SMTPP [step=1]", "a"), "SMTPP (a) [step=1]");
    }
}
