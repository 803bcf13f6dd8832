//! What networked agents need of an experiment: its cells, an agent's share of its problem, and a place for results.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::data::{Dataset, libsvm};
use oneway::engine::Setup;
use oneway::engine::metrics::{Extras, Measurement};
use oneway::methods::combine::Recipe;
use oneway::problem::Problem;
use toml::{Table, Value};

use crate::experiment::Experiment;
use crate::experiment::clock::Timing;
use crate::experiment::fields::Fields;
use crate::experiment::measure::MeasureSpec;
use crate::experiment::plan::{Cell, Plan};
use crate::experiment::problem::{ProblemSpec, Problems, Rows};
use crate::experiment::spec::RunSpec;
use crate::experiment::sweep::{self, Variant};
use crate::results::cells::{CellResult, CellStatus, End, Ran};
use crate::results::folder::OutputFolder;
use crate::runner::look_every;

pub use crate::hash::sha256;

/// An experiment that agents can run on a network, checked.
#[derive(Debug)]
pub struct Networked {
    plan: Plan,
    folder: PathBuf,
    /// For each entry of the plan: `[problem]` as the user wrote it, and the rest that it depends on.
    problems: Vec<(Table, RunSpec)>,
}

impl Networked {
    /// Reads a file and applies `--set path=value` in order.
    pub fn read(file: &Path, overrides: &[String]) -> Result<Self> {
        let experiment = Experiment::read(file, overrides)?;
        let read = || {
            let plan = Plan::new(&experiment)?;
            let mut problems = vec![];
            let variants = sweep::expand(experiment.settings.clone())?;
            for (Variant { settings, .. }, spec) in variants.iter().zip(&experiment.variants) {
                let problem = settings.get("problem").and_then(Value::as_table).cloned().unwrap_or_default();
                let entries = spec.topologies.iter().map(|topology| spec.methods_on(topology).count()).sum();
                problems.extend(std::iter::repeat_n((problem, spec.run), entries));
            }
            for entry in &plan.entries {
                let place =
                    format!("method \"{}\" on topology \"{}\"", entry.method_name, entry.topology_name);
                if !entry.faults.are_none() || !matches!(entry.timing, Timing::Rounds) {
                    bail!(
                        "{place}: faults and clocks are the simulator's; agents have the network's own, and work in rounds"
                    );
                }
            }
            Ok(Self { plan, folder: experiment.folder.clone(), problems })
        };
        read().with_context(|| file.display().to_string())
    }

    /// All cells, in the order of the output.
    pub fn cells(&self) -> Vec<NetworkedCell<'_>> {
        let of_entry = self.plan.entries.iter().zip(&self.problems);
        let cells = of_entry.flat_map(|(entry, (problem, run))| {
            entry.cells().map(move |cell| NetworkedCell { cell, problem, run: *run, folder: &self.folder })
        });
        cells.collect()
    }

    /// Makes the output folder if need be, and checks that files can be made in it.
    pub fn prepare(&self, folder: &Path) -> Result<()> {
        OutputFolder::prepare(folder).map(drop)
    }

    /// Writes `curves.csv` and `summary.json` into a folder, as the simulator would; returns where.
    pub fn save(&self, folder: &Path, results: Vec<(NetworkedCell<'_>, Ended)>) -> Result<Vec<PathBuf>> {
        let ran: Vec<Ran<'_>> = results.into_iter().map(|(cell, ended)| ended.of(cell.cell)).collect();
        crate::results::save(&OutputFolder::prepare(folder)?, &self.plan, self.cells().len(), &ran)
    }
}

/// One run of an experiment.
#[derive(Debug, Clone)]
pub struct NetworkedCell<'a> {
    cell: Cell<'a>,
    problem: &'a Table,
    run: RunSpec,
    folder: &'a Path,
}

/// How a cell ended.
#[derive(Debug, Clone)]
pub struct Ended {
    /// Whether its states went beyond all bounds before all rounds were done.
    pub diverged: bool,
    /// Rounds done.
    pub rounds: u64,
    /// SHA-256 of all states.
    pub state_hash: String,
    /// Time in rounds.
    pub seconds: f64,
    /// Time in measuring.
    pub seconds_observing: f64,
    /// What was measured.
    pub points: Vec<Measurement>,
}

impl Ended {
    /// Whether it diverged, as the simulator's results would say of the same states: they went beyond all bounds, or the curve did.
    pub fn has_diverged(&self) -> bool {
        self.status() == CellStatus::Diverged
    }

    fn status(&self) -> CellStatus {
        let status = if self.diverged { CellStatus::Diverged } else { CellStatus::Completed };
        status.judged_by(&self.points)
    }

    fn of(self, cell: Cell<'_>) -> Ran<'_> {
        let end = End {
            status: self.status(),
            rounds: self.rounds,
            state_hash: self.state_hash,
            seconds_stepping: self.seconds,
            seconds_observing: self.seconds_observing,
        };
        Ran { cell, result: CellResult { end, points: self.points } }
    }
}

/// An agent's share of a problem: its settings, and its rows where they are given by rows.
#[derive(Debug)]
pub struct Share {
    /// `[problem]` for this agent alone, or for all of them if it is drawn from a seed.
    pub settings: Table,
    /// For how many agents the settings are: 1, or all.
    pub agents: usize,
    /// The agent's rows; the settings name them as `dataset`.
    pub rows: Option<Dataset>,
}

impl<'a> NetworkedCell<'a> {
    /// Its names: topology, method and repetition.
    pub fn names(&self) -> (&'a str, &'a str, u64) {
        (&self.cell.entry.topology_name, &self.cell.entry.method_name, self.cell.repetition)
    }

    /// The hash of all that its result depends on.
    pub fn key(&self) -> &str {
        &self.cell.key
    }

    /// What the simulator needs.
    pub fn setup(&self) -> Setup<'a> {
        self.cell.setup()
    }

    /// What is measured beside the rest. Where that takes F*, it may take a moment.
    pub fn extras(&self) -> Extras {
        self.cell.extras()
    }

    /// The method, as it is put together.
    pub fn recipe(&self) -> &'a Recipe {
        &self.cell.entry.recipe
    }

    /// Rounds to be done.
    pub fn rounds(&self) -> u64 {
        self.cell.entry.run.iterations
    }

    /// States are measured every so many rounds.
    pub fn record_every(&self) -> u64 {
        self.cell.entry.run.record_every
    }

    /// States are looked at every so many rounds, to see whether they have diverged.
    pub fn look_every(&self) -> u64 {
        look_every(self.cell.entry.run.record_every)
    }

    /// Hashes of the problem, and of R and C.
    pub fn hashes(&self) -> [String; 3] {
        let [pull, push] = self.cell.entry.mixing_sha256();
        [self.cell.entry.problem.sha256.clone(), pull, push]
    }

    /// What each agent needs of the problem: of rows its own only. Problems that are drawn from a seed everyone draws.
    pub fn shares(&self, dataset: &str) -> Result<Vec<Share>> {
        let spec = ProblemSpec::read(Fields::new("problem", self.problem.clone()), self.folder, self.run)?;
        let agents = self.run.agents;
        let mut settings = self.problem.clone();
        let seed = i64::try_from(self.run.seed).context("the seed is too large for a file")?;
        settings.entry("seed").or_insert(Value::Integer(seed));
        let Some(Rows { data, partition, seed, classes }) = spec.rows()? else {
            let whole = || Share { settings: settings.clone(), agents, rows: None };
            return Ok((0..agents).map(|_| whole()).collect());
        };
        for key in ["test", "partition", "rows", "noise", "heterogeneity", "outliers"] {
            settings.remove(key);
        }
        settings.insert("dataset".to_owned(), Value::String(dataset.to_owned()));
        settings.insert("features".to_owned(), Value::Integer(data.features as i64));
        if let Some(classes) = classes {
            settings.insert(
                "classes".to_owned(),
                classes.into_iter().map(Value::Float).collect::<Vec<_>>().into(),
            );
        }
        let shards = partition.split(&data.labels, agents, seed)?;
        let share = |rows: Vec<usize>| Share {
            settings: settings.clone(),
            agents: 1,
            rows: Some(data.select(&rows)),
        };
        Ok(shards.into_iter().map(share).collect())
    }
}

impl Share {
    /// The agent's rows as text in LIBSVM's format, to the last bit.
    pub fn text(&self) -> Result<Option<Vec<u8>>> {
        let write = |rows: &Dataset| {
            let mut text = vec![];
            libsvm::write(rows, &mut text)?;
            anyhow::Ok(text)
        };
        self.rows.as_ref().map(write).transpose()
    }
}

/// Builds a problem from its settings, for so many agents; paths in them are relative to `folder`.
pub fn problem(settings: Table, agents: usize, folder: &Path) -> Result<Box<dyn Problem>> {
    let measure = MeasureSpec::Only { loss_gap: false, agents: false };
    let run = RunSpec { agents, iterations: 1, repetitions: 1, seed: 1, record_every: 1, measure };
    let spec = ProblemSpec::read(Fields::new("problem", settings), folder, run)?;
    Problems::build(&spec, agents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::divergence::tests::curve;

    /// Also where methods sit topologies out, and the problem is swept.
    #[test]
    fn every_cell_has_the_problem_of_its_own_variant() {
        let text = "[problem]\nkind = \"quadratic\"\ndim = 1\n[run]\nagents = 3\niterations = 1\n\
                    [[topology]]\nkind = \"ring\"\n[[topology]]\nkind = \"star\"\n\
                    [[method]]\nkind = \"smtpp\"\nstep = 0.1\n\
                    [[method]]\nkind = \"sgp\"\nstep = 0.1\nonly = [\"star\"]\n\
                    [sweep]\nproblem.dim = [1, 2, 3]\n";
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("swept.toml");
        std::fs::write(&file, text).unwrap();
        let networked = Networked::read(&file, &[]).unwrap();
        let cells = networked.cells();
        assert_eq!(cells.len(), 3 * 3);
        for cell in cells {
            let (topology, method, _) = cell.names();
            let dim = cell.problem["dim"].as_integer().unwrap();
            assert!(topology.ends_with(&format!("[problem.dim={dim}]")), "{method} on {topology}: {dim}");
            assert_eq!(cell.setup().problem.dim() as i64, dim);
        }
    }

    /// Agents cannot know F; their results are judged by the curve all the same.
    #[test]
    fn agents_results_diverge_where_the_simulators_do() {
        let ended = |losses: &[f64]| Ended {
            diverged: false,
            rounds: 20,
            state_hash: String::new(),
            seconds: 0.0,
            seconds_observing: 0.0,
            points: curve(losses),
        };
        assert!(!ended(&[1.0, 0.5, 0.2]).has_diverged());
        assert!(ended(&[1.0, 1e4, 1e8]).has_diverged());
        assert!(Ended { diverged: true, ..ended(&[1.0]) }.has_diverged());
    }
}
