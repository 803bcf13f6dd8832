//! `summary.json`: what was run, on what, and what came out: enough to run it again and compare.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::numeric::Precision;
use serde::{Deserialize, Serialize};

use super::cells::{End, Ran, body};
use super::curves::Curve;
use crate::experiment::plan::{Cell, Entry, Plan};
use crate::hash::sha256;
use crate::problem_facts::Optimum;

/// The manifest of a results folder.
#[derive(Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the program.
    pub oneway: String,
    /// A fingerprint of the code that results depend on.
    pub code: String,
    /// What the results are for; left out where it is figures.
    #[serde(default, skip_serializing_if = "Purpose::is_figures")]
    pub purpose: Purpose,
    /// The experiment's settings, after `--set`.
    pub settings: toml::Table,
    /// The folder that paths in the settings are relative to, as it was given.
    pub folder: String,
    /// Every method on every topology.
    pub entries: Vec<EntryRecord>,
    /// Runs that were asked for.
    pub cells_planned: usize,
    /// Completed or diverged: neither stopped on the way nor failed.
    pub(crate) cells_complete: usize,
    /// Every run that was begun.
    pub cells: Vec<CellRecord>,
    /// SHA-256 of `curves.csv`.
    pub curves_sha256: String,
}

/// What results are for, where they are a part of a larger study: how its page shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Figures: what results are for, unless something else is said.
    #[default]
    Figures,
    /// Verdicts only: nothing is drawn.
    Verdicts,
    /// A table of how results change with what the paper leaves open.
    Sensitivity,
}

impl Purpose {
    fn is_figures(&self) -> bool {
        *self == Self::Figures
    }
}

/// A method on a topology: what it was given.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EntryRecord {
    /// What the topology is called.
    pub topology: String,
    /// What the method is called.
    pub method: String,
    /// `full`, `trees`, `lazy-trees` or `complete`.
    pub(crate) graph: String,
    /// `rounds`, `synchronous` (rounds with a clock) or `asynchronous`.
    pub(crate) timing: String,
    /// `f64` or `f32`; folders of earlier versions have only the first, and do not say so.
    #[serde(default = "double")]
    pub(crate) precision: String,
    /// Hash of the problem: its data and how they are split.
    pub problem_sha256: String,
    /// Hash of R of the whole period, as links and weights.
    pub pull_sha256: String,
    /// The same of C.
    pub push_sha256: String,
    /// The step sizes of the file were divided by this.
    pub step_divided_by: f64,
    /// Repetitions that were asked for; 0 in folders of earlier versions.
    #[serde(default)]
    pub(crate) repetitions: u64,
    /// F*, where `loss_gap` is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub optimum: Option<Optimum>,
}

fn double() -> String {
    Precision::F64.to_string()
}

impl EntryRecord {
    /// What is known of an entry before it runs.
    pub fn new(entry: &Entry) -> Self {
        let [pull_sha256, push_sha256] = entry.mixing_sha256();
        Self {
            topology: entry.topology_name.clone(),
            method: entry.method_name.clone(),
            graph: entry.graph.to_owned(),
            timing: entry.timing.name().to_owned(),
            precision: entry.run.precision.to_string(),
            problem_sha256: entry.problem.sha256.clone(),
            pull_sha256,
            push_sha256,
            step_divided_by: entry.divided_by,
            repetitions: entry.run.repetitions,
            optimum: entry.optimum(),
        }
    }
}

impl CellRecord {
    /// Whether this is its curve.
    pub fn has_curve(&self, curve: &Curve) -> bool {
        (&*self.topology, &*self.method, self.repetition)
            == (&*curve.topology, &*curve.method, curve.repetition)
    }

    /// Whether it speaks of this cell.
    pub fn is_of(&self, cell: &Cell<'_>) -> bool {
        (&*self.topology, &*self.method, self.repetition)
            == (&*cell.entry.topology_name, &*cell.entry.method_name, cell.repetition)
    }

    /// What came of a cell.
    pub fn new(ran: &Ran<'_>) -> Self {
        Self {
            topology: ran.cell.entry.topology_name.clone(),
            method: ran.cell.entry.method_name.clone(),
            repetition: ran.cell.repetition,
            seed: ran.cell.seed,
            key: ran.cell.key.clone(),
            end: ran.result.end.clone(),
            curve_sha256: sha256(body(&ran.result.points)),
        }
    }
}

/// One run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CellRecord {
    /// What the topology is called.
    pub topology: String,
    /// What the method is called.
    pub method: String,
    /// Which repetition it is, from 0.
    pub repetition: u64,
    /// What its samples were drawn from.
    pub seed: u64,
    /// Hash of all that the result depends on.
    pub key: String,
    /// How it ended.
    #[serde(flatten)]
    pub end: End,
    /// SHA-256 of its lines of `curves.csv`, without names.
    pub curve_sha256: String,
}

impl Manifest {
    /// What to keep of a run.
    pub(crate) fn new(plan: &Plan, purpose: Purpose, ran: &[Ran<'_>], curves_sha256: String) -> Self {
        Self {
            oneway: env!("CARGO_PKG_VERSION").to_owned(),
            code: crate::code(),
            purpose,
            settings: plan.settings.clone(),
            folder: plan.folder.display().to_string(),
            entries: plan.entries.iter().map(EntryRecord::new).collect(),
            cells_planned: plan.entries.iter().map(|entry| entry.run.repetitions as usize).sum(),
            cells_complete: ran.iter().filter(|ran| ran.result.end.status.is_final()).count(),
            cells: ran.iter().map(CellRecord::new).collect(),
            curves_sha256,
        }
    }

    /// Its name in a results folder.
    pub const FILE: &str = "summary.json";

    /// As JSON.
    pub(crate) fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// Reads the manifest of a results folder.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(Self::FILE);
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not a summary that oneway wrote", path.display()))
    }
}

/// The folder itself, if it is a results folder, or all results folders in it, by name.
pub fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    if dir.join(Manifest::FILE).exists() {
        return Ok(vec![dir.to_owned()]);
    }
    let entries = std::fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.map(|entry| Ok(entry?.path())).collect::<Result<_>>()?;
    folders.retain(|folder| folder.join(Manifest::FILE).exists());
    folders.sort();
    if folders.is_empty() {
        bail!(
            "{} is not a results folder, nor does it hold any: there is no {}",
            dir.display(),
            Manifest::FILE
        );
    }
    Ok(folders)
}
