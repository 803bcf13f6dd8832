//! What networked agents need of an experiment: its cells, an agent's share of its problem, and a place for
//! results.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::data::{Dataset, libsvm};
use oneway::engine::Setup;
use oneway::engine::metrics::{Extras, Measurement};
use oneway::graph::Topology;
use oneway::method::Network;
use oneway::methods::combine::Recipe;
use oneway::numeric::Precision;
use oneway::problem::Problem;
use toml::Table;

use crate::experiment::Experiment;
use crate::experiment::clock::Timing;
use crate::experiment::fields::Fields;
use crate::experiment::links::Links;
use crate::experiment::measure::{Measure, MeasureSpec};
use crate::experiment::plan::{Cell, Entry, Plan};
use crate::experiment::problem::{Own, OwnRows, ProblemSpec, Problems, Rows};
use crate::experiment::spec::{RunSpec, Spec};
use crate::experiment::supplies::Supplies;
use crate::progress::look_every;
use crate::results::cells::{CellResult, CellStatus, CellStore, End, Ran};
use crate::results::folder::OutputFolder;
use crate::results::manifest::Purpose;

pub use crate::experiment::combination::{read_recipe, write_recipe};
pub use crate::hash::sha256;

/// An experiment that agents can run on a network, checked.
#[derive(Debug)]
pub struct Networked {
    experiment: Experiment,
    plan: Plan,
}

impl Networked {
    /// Reads a file and applies `--set path=value` in order.
    pub fn read(file: &Path, overrides: &[String]) -> Result<Self> {
        Self::with(file, overrides, &mut Problems::default())
    }

    /// The same for a process that has some of the agents, `own(n)` of n, and finds no F*: it has the data of
    /// these only.
    pub fn read_for(
        own: impl Fn(usize) -> Range<usize> + Send + 'static,
        file: &Path,
        overrides: &[String],
    ) -> Result<Self> {
        Self::with(file, overrides, &mut Problems::for_some(Own(Box::new(own))))
    }

    fn with(file: &Path, overrides: &[String], problems: &mut Problems) -> Result<Self> {
        let experiment = Experiment::read(file, overrides)?;
        Self::new(experiment, problems).with_context(|| file.display().to_string())
    }

    fn new(experiment: Experiment, problems: &mut Problems) -> Result<Self> {
        let plan = Plan::sharing(&experiment, problems)?;
        for Entry { method_name, topology_name, faults, timing, .. } in &plan.entries {
            if !faults.are_none() || !matches!(timing, Timing::Rounds) {
                bail!(
                    "method \"{method_name}\" on topology \"{topology_name}\": faults and clocks are the simulator's; agents have the \
                     network's own, and work in rounds"
                );
            }
        }
        Ok(Self { experiment, plan })
    }

    /// All cells, in the order of the output.
    pub fn cells(&self) -> Vec<NetworkedCell<'_>> {
        let cells = self.plan.cells().into_iter();
        cells
            .map(|cell| NetworkedCell { spec: &self.experiment.variants[cell.entry.variant], cell })
            .collect()
    }

    /// Makes the output folder if need be, and checks that files can be made in it.
    pub fn prepare(&self, folder: &Path) -> Result<()> {
        OutputFolder::prepare(folder).map(drop)
    }

    /// Writes `curves.csv` and `summary.json` into a folder, as the simulator would; returns where.
    pub fn save(&self, folder: &Path, results: Vec<(NetworkedCell<'_>, Ended)>) -> Result<Vec<PathBuf>> {
        let ran: Vec<Ran<'_>> = results.into_iter().map(|(cell, ended)| ended.of(cell.cell)).collect();
        crate::results::save(&OutputFolder::prepare(folder)?, &self.plan, Purpose::Figures, &ran)
    }
}

/// What a folder keeps of cells that came to their end, as `oneway run` does: neither runs them again.
#[derive(Debug)]
pub struct Kept(CellStore);

impl Kept {
    /// That of an output folder.
    pub fn new(folder: &Path) -> Self {
        Self(CellStore::new(folder))
    }

    /// What came of a cell, if it is known.
    pub fn get(&self, cell: &NetworkedCell<'_>) -> Option<Ended> {
        let CellResult { end, points, .. } = self.0.get(cell.key())?;
        Some(Ended {
            diverged: end.status == CellStatus::Diverged,
            rounds: end.rounds,
            state_hash: end.state_hash,
            seconds: end.seconds_stepping,
            seconds_observing: end.seconds_observing,
            points: points.to_vec(),
        })
    }

    /// Keeps what came of a cell.
    pub fn put(&self, cell: &NetworkedCell<'_>, ended: &Ended) -> Result<()> {
        self.0.put(cell.key(), &ended.clone().of(cell.cell.clone()).result)
    }
}

/// One run of an experiment.
#[derive(Debug, Clone)]
pub struct NetworkedCell<'a> {
    cell: Cell<'a>,
    /// The variant that it belongs to.
    spec: &'a Spec,
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
    /// Whether it diverged, as the simulator's results would say of the same states: they went beyond all
    /// bounds, or the curve did.
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
            reason: None,
        };
        Ran { cell, result: CellResult { end, points: self.points.into(), estimates: None } }
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

    /// The network that the method would have with another number of agents, where its links come from a
    /// family.
    pub fn network_of(&self, agents: usize) -> Result<Arc<Topology>> {
        let Entry { method, topology_name, method_name, .. } = self.cell.entry;
        if method.network() == Network::Central {
            return Ok(Arc::new(Topology::complete(agents)?));
        }
        let topology = self.spec.topologies.iter().find(|topology| topology.name == *topology_name);
        let topology = topology.context("the topology is not of the file")?;
        let graph = self.spec.methods.iter().find(|method| method.name == *method_name);
        let graph = graph.map(|method| method.graph.unwrap_or(method.kind.graphs[0]));
        let links = Links::build(topology, Some(agents), &Supplies::default())?;
        links.topology(topology, graph.context("the method is not of the file")?)
    }

    /// What is measured beside the rest. Where that takes F*, it may take a moment.
    pub fn extras(&self) -> Extras {
        self.cell.extras()
    }

    /// The same for a process that measures together with one that has the [extras](Self::extras): what
    /// takes all of them, and nothing that has to be found.
    pub fn shared_extras(&self) -> Extras {
        Extras { agents: self.cell.entry.measure.agents, ..Extras::default() }
    }

    /// The method, as it is put together.
    pub fn recipe(&self) -> &'a Recipe {
        &self.cell.entry.recipe
    }

    /// Rounds to be done.
    pub fn rounds(&self) -> u64 {
        self.cell.entry.run.iterations
    }

    /// What states and rows are made of.
    pub fn precision(&self) -> Precision {
        self.cell.entry.run.precision
    }

    /// States are measured whenever this many rounds are done.
    pub fn record_every(&self) -> u64 {
        self.cell.entry.run.record_every
    }

    /// How many rounds go by between two looks at the states, to see whether they have diverged.
    pub fn look_every(&self) -> u64 {
        look_every(self.cell.entry.run.record_every)
    }

    /// Hashes of the problem, and of R and C.
    pub fn hashes(&self) -> [String; 3] {
        let [pull, push] = self.cell.entry.mixing_sha256();
        [self.cell.entry.problem.sha256.clone(), pull, push]
    }

    /// What each agent needs of the problem: of rows its own only. Problems that are drawn from a seed
    /// everyone draws.
    pub fn shares(&self, dataset: &str) -> Result<Vec<Share>> {
        let Spec { problem, run: RunSpec { agents, .. }, .. } = self.spec;
        let agents = *agents;
        let Some(Rows { data, partition, seed, classes }) = problem.rows()? else {
            let settings = problem.to_settings(None)?;
            let whole = || Share { settings: settings.clone(), agents, rows: None };
            return Ok((0..agents).map(|_| whole()).collect());
        };
        let settings = problem.to_settings(Some(OwnRows { dataset, features: data.features, classes }))?;
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

/// Builds a problem from its settings, for `agents` agents; paths in them are relative to `folder`.
pub fn problem(settings: Table, agents: usize, folder: &Path) -> Result<Box<dyn Problem>> {
    let measure = MeasureSpec::Only(Measure { loss_gap: false, agents: false, distance: false });
    let precision = Precision::F64; // problems know no other
    let run = RunSpec { agents, iterations: 1, repetitions: 1, seed: 1, record_every: 1, precision, measure };
    let spec = ProblemSpec::read(Fields::new("problem", settings), folder, run)?;
    Problems::build(&spec, agents)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::numeric::sample::{Draws, Purpose};

    use crate::results::divergence::tests::curve;

    /// Also where methods leave topologies out, and the problem is swept.
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
            let dim = cell.shares("rows").unwrap()[0].settings["dim"].as_integer().unwrap();
            assert!(topology.ends_with(&format!("[problem.dim={dim}]")), "{method} on {topology}: {dim}");
            assert_eq!(cell.setup().problem.dim() as i64, dim);
        }
    }

    #[test]
    fn a_process_with_some_agents_has_their_gradients_to_the_bit() {
        let place = tempfile::tempdir().unwrap();
        for problem in [
            "kind = \"quadratic\"\ndim = 5\nnoise = 0.1",
            "kind = \"logistic\"\ndataset = \"a9a\"",
            "kind = \"softmax\"\ndataset = \"digits\"",
            "kind = \"least-squares\"\ndataset = \"synthetic\"\nfeatures = 3\nrows = 40",
        ] {
            let text = format!(
                "[problem]\n{problem}\n[run]\nagents = 8\niterations = 1\n[[topology]]\nkind = \"ring\"\n\
                 [[method]]\nkind = \"smtpp\"\nstep = 0.1\n"
            );
            let file = place.path().join("experiment.toml");
            std::fs::write(&file, text).unwrap();
            let own = |agents: usize| agents / 4..agents / 2;
            let (all, some) =
                (Networked::read(&file, &[]).unwrap(), Networked::read_for(own, &file, &[]).unwrap());
            let [all, some] = [&all, &some].map(|experiment| experiment.cells().remove(0));
            assert_eq!(all.key(), some.key(), "it is the same experiment");
            let gradient = |cell: &NetworkedCell<'_>, agent: usize| {
                let problem = cell.setup().problem;
                let (x, mut g) = (vec![0.5; problem.dim()], vec![0.0; problem.dim()]);
                problem.gradient(agent, &x, &mut Draws::new(1, Purpose::Gradient, agent, 1), &mut g);
                g
            };
            for agent in own(8) {
                let (expected, found) = (gradient(&all, agent), gradient(&some, agent));
                assert!(expected.iter().any(|g| *g != 0.0), "{problem}");
                assert_eq!(expected, found, "{problem}");
            }
            assert_ne!(gradient(&all, 0), gradient(&some, 0), "others' data are gone: {problem}");
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
