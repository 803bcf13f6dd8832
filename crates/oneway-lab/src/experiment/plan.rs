//! What the user means: validated cells, one for each topology × method × repetition.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::data::{Dataset, a9a, libsvm};
use oneway::graph::file::{self, EdgeList};
use oneway::graph::{Digraph, MAX_EDGES};
use oneway::method::{Method, Network};
use oneway::mixing::Stochastic;
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway::problems::{Logistic, Quadratic};
use oneway::sample::derive_seed;
use oneway::schedule::{self, Schedule, Shape};
use oneway::simulator::Setup;
use oneway::topology::{Subgraph, Topology, Weights};

use super::spec::{
    DatasetSpec, LinksSpec, MethodSpec, ProblemSpec, RunSpec, Scaling, ShapeSpec, Spec, StepSpec,
    TopologySpec,
};

/// Everything that will run, checked: nothing that a user can get wrong is left to find.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) run: RunSpec,
    pub(crate) problem: Box<dyn Problem>,
    pub(crate) entries: Vec<Entry>,
    pub(crate) settings: toml::Table,
}

/// A method on a topology, to be repeated.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) topology_name: String,
    pub(crate) method_name: String,
    pub(crate) graph: Subgraph,
    pub(crate) topology: Arc<Topology>,
    pub(crate) method: Arc<dyn Method>,
    pub(crate) schedule: Schedule,
    /// c_π that an effective step was divided by.
    pub(crate) divided_by: f64,
}

/// One run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub(crate) entry: &'a Entry,
    pub(crate) repetition: u64,
    /// Seed of the sampling: the same for all methods and topologies of a repetition.
    pub(crate) seed: u64,
}

impl Plan {
    /// Resolves and checks a spec; reads the files it names.
    pub(crate) fn new(spec: Spec) -> Result<Self> {
        let run = spec.run;
        let problem = build_problem(&spec.problem, run.agents)?;
        let methods = spec.methods.iter().map(|method| {
            let built = build_method(method, run).and_then(|m| Ok((m, build_schedule(method.step, run)?)));
            built.with_context(|| format!("method \"{}\"", method.name))
        });
        let methods = methods.collect::<Result<Vec<_>>>()?;
        let mut entries = vec![];
        for topology in &spec.topologies {
            let links = Links::build(topology, run.agents)
                .with_context(|| format!("topology \"{}\"", topology.name))?;
            for (method, (built, schedule)) in spec.methods.iter().zip(&methods) {
                let entry = links.entry(topology, method, Arc::clone(built), *schedule, run.agents);
                let place = || format!("method \"{}\" on topology \"{}\"", method.name, topology.name);
                entries.push(entry.with_context(place)?);
            }
        }
        Ok(Self { run, problem, entries, settings: spec.settings })
    }

    /// All cells, in the order of the output: topologies, then methods, then repetitions, as in the file.
    pub(crate) fn cells(&self) -> Vec<Cell<'_>> {
        let repetitions = |entry| {
            (0..self.run.repetitions).map(move |repetition| Cell {
                entry,
                repetition,
                seed: derive_seed(self.run.seed, repetition),
            })
        };
        self.entries.iter().flat_map(repetitions).collect()
    }

    /// What the simulator needs for a cell.
    pub(crate) fn setup<'a>(&'a self, cell: &Cell<'a>) -> Setup<'a> {
        Setup {
            method: &*cell.entry.method,
            problem: &*self.problem,
            topology: &cell.entry.topology,
            schedule: cell.entry.schedule,
            seed: cell.seed,
        }
    }
}

fn build_problem(spec: &ProblemSpec, agents: usize) -> Result<Box<dyn Problem>> {
    Ok(match spec {
        ProblemSpec::Quadratic { shape, seed } => Box::new(Quadratic::new(*shape, agents, *seed)?),
        ProblemSpec::Logistic { dataset, test, alpha, partition, batch, seed } => {
            let data = dataset.load()?;
            let problem = Logistic::new(&data, *partition, agents, *alpha, *batch, *seed)?;
            match (dataset, test) {
                (_, Some(test)) => Box::new(problem.with_test(test.with_features(data.features).load()?)?),
                (DatasetSpec::A9a(_), None) => Box::new(problem.with_test(a9a::a9a(a9a::Split::Test))?),
                (DatasetSpec::File { .. }, None) => Box::new(problem),
            }
        }
    })
}

impl DatasetSpec {
    /// Reads the rows.
    pub(crate) fn load(&self) -> oneway::Result<Dataset> {
        match self {
            DatasetSpec::A9a(split) => Ok(a9a::a9a(*split)),
            DatasetSpec::File { path, features } => libsvm::read(path, *features),
        }
    }

    /// The same with the number of features of the training data, which a test split may not show.
    fn with_features(&self, features: usize) -> Self {
        match self {
            DatasetSpec::A9a(split) => DatasetSpec::A9a(*split),
            DatasetSpec::File { path, .. } => {
                DatasetSpec::File { path: path.clone(), features: Some(features) }
            }
        }
    }
}

/// A topology's links, before a method chooses which of them to use.
enum Links {
    /// One digraph for each round of the period, weights to be chosen.
    Digraphs(Vec<Digraph>),
    /// R and C as given.
    Explicit(Arc<Topology>),
}

impl Links {
    fn build(spec: &TopologySpec, agents: usize) -> Result<Self> {
        if spec.root >= agents {
            bail!(
                "`root` = {} is not possible: with {agents} agents the ids are 0 to {}",
                spec.root,
                agents - 1
            );
        }
        match &spec.links {
            LinksSpec::Family { family, parameters } => {
                Ok(Links::Digraphs((family.build)(agents, parameters, spec.seed)?))
            }
            LinksSpec::File(path) => {
                let list = file::read(path, Some(agents))?;
                match list.weights {
                    Some(_) => Self::explicit((path, &list), (path, &list)),
                    None => Ok(Links::Digraphs(vec![list.digraph()?])),
                }
            }
            LinksSpec::Matrices { pull, push } => {
                let [r, c] = [pull, push].map(|path| file::read(path, Some(agents)));
                Self::explicit((pull, &r?), (push, &c?))
            }
        }
    }

    /// R and C as two edge lists have them; which file is which helps whoever mixed them up.
    fn explicit(pull: (&Path, &EdgeList), push: (&Path, &EdgeList)) -> Result<Self> {
        let matrix = |(path, list): (&Path, &EdgeList), stochastic, name| {
            list.to_mixing(stochastic).with_context(|| format!("{} as {name}", path.display()))
        };
        let pull = matrix(pull, Stochastic::Rows, "R (pull)")?;
        let push = matrix(push, Stochastic::Columns, "C (push)")?;
        Ok(Links::Explicit(Arc::new(Topology::fixed(pull, push)?)))
    }

    fn entry(
        &self,
        topology_spec: &TopologySpec,
        spec: &MethodSpec,
        method: Arc<dyn Method>,
        schedule: Schedule,
        agents: usize,
    ) -> Result<Entry> {
        let graph = spec.graph.unwrap_or(spec.kind.graphs[0]);
        if !spec.kind.graphs.contains(&graph) {
            let possible: Vec<&str> = spec.kind.graphs.iter().map(|graph| graph.name()).collect();
            bail!(
                "{} does not run on `graph` = \"{}\" (possible: {})",
                spec.kind.name,
                graph.name(),
                possible.join(", ")
            );
        }
        let topology = match method.network() {
            Network::Central => {
                let most = MAX_EDGES.isqrt();
                if agents > most {
                    bail!("everyone hears everyone: {agents} agents are too many, give at most {most}");
                }
                Arc::new(Topology::complete(agents)?)
            }
            Network::PushPull | Network::PushSum => self.topology(topology_spec, graph)?,
        };
        match method.network() {
            Network::PushPull => drop(topology.check_common_root()?),
            Network::PushSum => topology.check_strongly_connected()?,
            Network::Central => {}
        }
        // what the metrics will ask for, so that it cannot fail in the middle of a run; kept by the topology
        if method.network() == Network::PushPull || method.roles().tracker.is_some() {
            topology.stationary(0)?;
        }
        let divided_by = match (spec.step.scaling, method.network()) {
            (Scaling::Effective, Network::PushPull) => topology.c_π()?,
            _ => 1.0,
        };
        let schedule = schedule.scaled(1.0 / divided_by)?;
        let (topology_name, method_name) = (topology_spec.name.clone(), spec.name.clone());
        Ok(Entry { topology_name, method_name, graph, topology, method, schedule, divided_by })
    }

    fn topology(&self, spec: &TopologySpec, graph: Subgraph) -> Result<Arc<Topology>> {
        match self {
            Links::Digraphs(digraphs) => {
                Ok(Arc::new(Topology::of(digraphs, graph, spec.weights, spec.root)?))
            }
            Links::Explicit(_) if graph != Subgraph::Full || spec.weights != Weights::Uniform => {
                bail!("its weights are given link by link: `graph` must be \"full\" and `weights` left out")
            }
            Links::Explicit(topology) => Ok(Arc::clone(topology)),
        }
    }
}

fn build_method(spec: &MethodSpec, run: RunSpec) -> Result<Arc<dyn Method>> {
    let mut given = spec.parameters.clone();
    if spec.corollary_momentum {
        let (_, λ) = schedule::corollary(run.agents, run.iterations)?;
        given.push(("momentum".to_owned(), λ));
    }
    let parameters = Parameters::new(spec.kind.name, spec.kind.parameters, given)?;
    Ok((spec.kind.build)(&parameters)?.into())
}

fn build_schedule(spec: StepSpec, run: RunSpec) -> Result<Schedule> {
    let (size, shape) = match spec.shape {
        ShapeSpec::Constant => (spec.size, Shape::Constant),
        ShapeSpec::Decay { factor, every } => (spec.size, Shape::Decay { factor, every }),
        ShapeSpec::InverseSqrt => (spec.size, Shape::InverseSqrt),
        ShapeSpec::Cosine => (spec.size, Shape::Cosine { rounds: run.iterations }),
        ShapeSpec::Corollary => {
            let (root, _) = schedule::corollary(run.agents, run.iterations)?;
            (spec.size * root, Shape::Constant)
        }
    };
    Ok(Schedule::new(size, shape, spec.warmup)?)
}
