//! What the user means: validated cells, one for each topology × method × repetition.

mod cell;
mod networks;
#[cfg(test)]
mod tests;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use anyhow::{Context, Result, anyhow, bail};
use oneway::engine::schedule::{self, Schedule};
use oneway::engine::unreliable::{self, Faults, Unreliable};
use oneway::engine::{Engine, Setup};
use oneway::graph::Topology;
use oneway::method::{Method, Network};
use oneway::methods::combine::Recipe;
use oneway::numeric::Precision;

use super::Experiment;
use super::clock::Timing;
use super::links::Links;
use super::measure::Measure;
use super::problem::{BuiltProblem, Problems};
use super::spec::{MethodSpec, RunSpec, Spec, StepSpec, TopologySpec};
use super::step::Scaling;
use super::supplies::Supplies;
use super::sweep::Chosen;
use crate::problem_facts::Optimum;

pub use cell::Cell;
use networks::{Networks, Shared};

/// Everything that will run, checked: nothing that a user can get wrong is left to find.
#[derive(Debug)]
pub struct Plan {
    /// What is run, in the order of the output.
    pub entries: Vec<Entry>,
    /// The experiment's settings, and what paths in them are relative to.
    pub settings: toml::Table,
    pub(crate) folder: PathBuf,
}

/// A method on a topology, to be repeated.
#[derive(Debug, Clone)]
pub struct Entry {
    /// What the topology is called.
    pub topology_name: String,
    /// What the method is called.
    pub method_name: String,
    /// `full`, `trees` or `lazy-trees` of the topology, or `complete`.
    pub graph: &'static str,
    /// How long, how often, from which seed.
    pub run: RunSpec,
    /// What is measured beside the rest.
    pub measure: Measure,
    /// What is minimised.
    pub problem: Arc<BuiltProblem>,
    /// The network that it runs on.
    pub topology: Arc<Topology>,
    /// Hashes of R and of C, once somebody has asked for them.
    mixing_sha256: Arc<OnceLock<[String; 2]>>,
    /// How the network fails; never for centralised methods.
    pub faults: Faults,
    /// What the method is called in the registry, its parameters, defaults filled in, and what is put around
    /// it.
    pub recipe: Recipe,
    /// The method, built.
    pub method: Arc<dyn Method>,
    /// What tells it from others, where it is given in memory.
    supplied: Option<String>,
    /// η of every round, divided already.
    pub schedule: Schedule,
    /// c_π that an effective step was divided by.
    pub divided_by: f64,
    /// Whether rounds take time, and whether anyone waits.
    pub timing: Timing,
    /// Which of the experiment's variants it belongs to.
    pub(crate) variant: usize,
    /// What a sweep has chosen for it.
    pub swept: Chosen,
}

/// The column of `curves.csv` that says in which precision a run was made, where it is not the usual one.
const PRECISION: &str = "run.precision";

impl Plan {
    /// Resolves and checks an experiment; reads the files it names.
    pub fn new(experiment: &Experiment) -> Result<Self> {
        Self::sharing(experiment, &mut Problems::default())
    }

    /// The same, with the problems that other plans have built already.
    pub fn sharing(experiment: &Experiment, problems: &mut Problems) -> Result<Self> {
        let variants = experiment.variants.iter().enumerate();
        let entries =
            variants.map(|(variant, spec)| entries_of(variant, spec, &experiment.supplies, problems));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        Ok(Self {
            entries: entries.into_iter().flatten().collect(),
            settings: experiment.settings.clone(),
            folder: experiment.folder.clone(),
        })
    }

    /// The same; refuses what theory does not speak of: agents that do not wait, and networks that fail.
    pub fn for_theory(experiment: &Experiment) -> Result<Self> {
        let plan = Self::new(experiment)?;
        for Entry { method_name, topology_name, timing, faults, run, .. } in &plan.entries {
            if run.precision != Precision::F64 {
                bail!("run: `precision` = \"{}\": theory is checked in \"f64\"", run.precision);
            }
            if timing.is_asynchronous() {
                bail!(
                    "method \"{method_name}\" is asynchronous, and the theory covers synchronous rounds only"
                );
            }
            if !faults.are_none() {
                bail!(
                    "the links of topology \"{topology_name}\" fail, and the theory covers links that never do"
                );
            }
        }
        Ok(plan)
    }

    /// All cells, in the order of the output: topologies, then methods, then repetitions, as in the file.
    pub fn cells(&self) -> Vec<Cell<'_>> {
        self.entries.iter().flat_map(Entry::cells).collect()
    }
}

fn entries_of(
    variant: usize,
    spec: &Spec,
    supplies: &Supplies,
    problems: &mut Problems,
) -> Result<Vec<Entry>> {
    let run = spec.run;
    let methods = spec.methods.iter().map(|method| {
        Built::new(method, spec, supplies).with_context(|| format!("method \"{}\"", method.name))
    });
    let methods = methods.collect::<Result<Vec<_>>>()?;
    // links before the problem: a family refuses too many agents at once, and building a problem for them
    // would take long
    let links = spec.topologies.iter().map(|topology| {
        let links = Links::build(topology, Some(run.agents), supplies);
        let links = links.with_context(|| format!("topology \"{}\"", topology.name))?;
        Ok(Networks::new(topology, links))
    });
    let networks = links.collect::<Result<Vec<_>>>()?;
    let complete = OnceCell::new();
    let problem = problems.get(&spec.problem, run.agents, supplies)?;
    let mut entries = vec![];
    for network in &networks {
        let topology = network.spec;
        let here = spec.methods.iter().zip(&methods).filter(|(method, _)| method.runs_on(&topology.name));
        for (method, built) in here {
            let on = |networks| Entry::new((networks, &complete), method, built, (run, &problem));
            let elsewhere = || networks.iter().filter(|other| on(other).is_ok());
            let entry = on(network)
                .map_err(|error| with_advice(error, elsewhere().map(|other| other.spec)))
                .with_context(|| format!("method \"{}\" on topology \"{}\"", method.name, topology.name))?;
            let mut swept = spec.swept.of(&topology.name, &method.name);
            let named = swept.iter().any(|(name, _)| name == PRECISION);
            if run.precision != Precision::F64 && !named {
                swept.push((PRECISION.to_owned(), run.precision.to_string())); // curves say that they are not in f64
            }
            entries.push(Entry { variant, swept, ..entry });
        }
    }
    Ok(entries)
}

/// Single precision is for rules, in rounds on links that do not fail; the error says what is in the way.
fn check_single_precision(method: &dyn Method, faults: &Faults, timing: &Timing) -> Result<()> {
    if !faults.are_none() || timing.is_asynchronous() {
        bail!(
            "`precision` = \"f32\" is for rounds on links that do not fail: leave out faults and `asynchronous`, or run in \"f64\""
        );
    }
    method.single_precision().map(drop).ok_or(oneway::Error::NoSinglePrecision)?;
    Ok(())
}

/// An error of a method on a topology, and how to keep the method to those that it can run on, if there are
/// any.
fn with_advice<'a>(error: anyhow::Error, elsewhere: impl Iterator<Item = &'a TopologySpec>) -> anyhow::Error {
    let names: Vec<String> = elsewhere.map(|topology| format!("\"{}\"", topology.name)).collect();
    match names.is_empty() {
        true => error,
        false => {
            anyhow!("{error:#}; `only = [{}]` in the method keeps it off the others", names.join(", "))
        }
    }
}

impl Entry {
    fn new(
        (networks, complete): (&Networks<'_>, &OnceCell<Shared>),
        spec: &MethodSpec,
        built: &Built,
        (run, problem): (RunSpec, &Arc<BuiltProblem>),
    ) -> Result<Self> {
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
        let Built { method, recipe, supplied, schedule, timing } = built;
        if let Some(compression) = &recipe.compression {
            compression.codec.check(&compression.parameters, problem.problem.dim())?;
        }
        let topology_spec = networks.spec;
        let Shared { topology, mixing_sha256 } = match method.network() {
            Network::Central => networks::complete(complete, run.agents)?,
            _ => networks.of(graph)?,
        };
        let setup = |schedule: Schedule| Setup {
            method: &**method,
            problem: &*problem.problem,
            topology: &topology,
            schedule,
            seed: run.seed,
        };
        setup(*schedule).check()?; // what cannot run is refused now, not after hours of other cells
        let faults = match method.network() {
            Network::Central => Faults::default(),
            _ => topology_spec.faults.clone(),
        };
        if !faults.are_none() {
            if !matches!(timing, Timing::Rounds) {
                bail!(
                    "give the faults of its links either in the topology, for rounds, or in [clock], for virtual time"
                );
            }
            unreliable::check(&**method, &topology, &faults)?;
        }
        // what the metrics will ask for, so that it cannot fail in the middle of a run; kept by the topology
        let roles = method.roles();
        let weights_watched =
            roles.weight.is_some() && !(faults.are_none() && matches!(timing, Timing::Rounds));
        if method.network() == Network::PushPull || roles.tracker.is_some() || weights_watched {
            topology.stationary(0)?;
        }
        let divided_by = match spec.step.scaling {
            Scaling::Effective => method.step_divisor(&topology)?,
            Scaling::Raw => 1.0,
        };
        let schedule = schedule.divided_by(divided_by)?;
        timing.check(&setup(schedule))?;
        if run.precision == Precision::F32 {
            check_single_precision(&**method, &faults, timing)?;
        }
        Ok(Self {
            topology_name: topology_spec.name.clone(),
            method_name: spec.name.clone(),
            graph: if method.network() == Network::Central { "complete" } else { graph.name() },
            run,
            measure: run.measure.on(problem),
            problem: Arc::clone(problem),
            topology,
            mixing_sha256,
            faults,
            recipe: recipe.clone(),
            method: Arc::clone(method),
            supplied: supplied.clone(),
            schedule,
            divided_by,
            timing: *timing,
            variant: 0,
            swept: vec![],
        })
    }

    /// What runs a cell of it.
    pub(crate) fn engine<'a>(&self, setup: Setup<'a>) -> oneway::Result<Box<dyn Engine<'a> + Send + 'a>> {
        match self.faults.are_none() {
            true => self.timing.engine(setup, self.run.precision),
            false => Ok(Box::new(Unreliable::new(setup, self.faults.clone())?)),
        }
    }

    /// Why it can run on this computer's processors only, if that is so whatever the device.
    pub(crate) fn stays_here(&self) -> Option<&'static str> {
        match self.timing {
            _ if !self.faults.are_none() => Some("the links of its network fail"),
            Timing::Rounds => None,
            Timing::Synchronous(_) | Timing::Asynchronous(_) => Some("it runs by a clock"),
        }
    }

    /// F*, if it is asked for.
    pub(crate) fn optimum(&self) -> Option<Optimum> {
        self.measure.loss_gap.then(|| self.problem.optimum())
    }

    /// The same with another method, steps and run, under another name: as it is asked for.
    pub fn with_method(
        &self,
        name: String,
        recipe: Recipe,
        schedule: Schedule,
        run: RunSpec,
    ) -> Result<Self> {
        let method = recipe.build()?.into();
        Ok(Self { method_name: name, recipe, method, schedule, run, ..self.clone() })
    }
}

/// A method of the file, built: the same for all topologies.
struct Built {
    method: Arc<dyn Method>,
    recipe: Recipe,
    supplied: Option<String>,
    schedule: Schedule,
    timing: Timing,
}

impl Built {
    fn new(spec: &MethodSpec, experiment: &Spec, supplies: &Supplies) -> Result<Self> {
        let run = experiment.run;
        let mut given = spec.parameters.clone();
        if spec.corollary_momentum {
            let (_, λ) = schedule::corollary(run.agents, run.iterations)?;
            given.push(("momentum".to_owned(), λ));
        }
        let recipe = spec.combination.around(Recipe::new(spec.kind, given)?);
        let timing = Timing::new(experiment.clock, spec.asynchronous)?;
        let given = spec.supplied.as_ref().map(|name| supplies.method(name)).transpose()?;
        let method = match given {
            Some(given) => recipe.around((given.make)())?,
            None => recipe.build()?,
        };
        let supplied = given.map(|given| given.identity.clone());
        Ok(Self {
            method: method.into(),
            recipe,
            supplied,
            schedule: build_schedule(spec.step, run)?,
            timing,
        })
    }
}

fn build_schedule(spec: StepSpec, run: RunSpec) -> Result<Schedule> {
    let size = match spec.corollary {
        true => spec.size * schedule::corollary(run.agents, run.iterations)?.0, // √(n/T)
        false => spec.size,
    };
    Ok(Schedule::new(size, spec.shape, spec.warmup)?)
}
