//! What the user wrote: an experiment file, read strictly, not yet resolved.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::asynchronous::Clock;
use oneway::engine::unreliable::Faults;
use oneway::graph::MAX_AGENTS;
use oneway::graph::families::Family;
use oneway::graph::topology::{Subgraph, Weights};
use oneway::methods::Kind;
use oneway::numeric::Precision;
use oneway::parameters::Parameters;
use oneway::registry;
use toml::{Table, Value};

use super::clock::{self, Timing};
use super::combination::Combination;
use super::faults::{self, Redraw};
use super::fields::Fields;
use super::measure::MeasureSpec;
use super::names;
use super::problem::ProblemSpec;
pub use super::step::StepSpec;
use super::supplies;
use super::sweep::{Swept, is_called};

/// An experiment without sweeps.
#[derive(Debug)]
pub struct Spec {
    /// `[problem]`.
    pub(crate) problem: ProblemSpec,
    /// `[run]`.
    pub run: RunSpec,
    /// Every `[[topology]]`.
    pub topologies: Vec<TopologySpec>,
    /// Every `[[method]]`.
    pub methods: Vec<MethodSpec>,
    /// `[clock]`, if there is one.
    pub(crate) clock: Option<Clock>,
    /// What a sweep has chosen.
    pub(crate) swept: Swept,
    /// What it was read from: the file's settings, with the values that a sweep has chosen.
    pub settings: Table,
}

/// `[run]`.
#[derive(Debug, Clone, Copy)]
pub struct RunSpec {
    /// n.
    pub agents: usize,
    /// T, the rounds of a run.
    pub iterations: u64,
    /// How often each is run, with other samples.
    pub repetitions: u64,
    /// What all samples are drawn from.
    pub seed: u64,
    /// States are measured every this number of rounds, and at the end.
    pub record_every: u64,
    /// What states and messages are made of.
    pub precision: Precision,
    /// The columns that take more time.
    pub(crate) measure: MeasureSpec,
}

/// One `[[topology]]`.
#[derive(Debug)]
pub struct TopologySpec {
    /// What it is called.
    pub name: String,
    /// Where its links come from.
    pub links: LinksSpec,
    /// How links are weighted.
    pub weights: Weights,
    /// The agent that spanning trees are rooted at.
    pub root: usize,
    /// What random families draw from.
    pub seed: u64,
    /// Which weights of files are divided by their sums.
    pub(crate) normalise: Normalise,
    /// The first id in files.
    pub(crate) base: usize,
    /// Whether files call agents by names.
    pub(crate) names: bool,
    /// Whether its links come and go.
    pub(crate) redraw: Option<Redraw>,
    /// How it fails.
    pub(crate) faults: Faults,
}

/// `normalise`: which weights of files are divided by their sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Normalise {
    /// Each row of R: what an agent takes.
    pub(crate) rows: bool,
    /// Each column of C: what an agent gives.
    pub(crate) columns: bool,
}

impl Normalise {
    /// `true` is both.
    fn read(fields: &mut Fields) -> Result<Self> {
        let both = |both| Self { rows: both, columns: both };
        match fields.value("normalise") {
            None => Ok(both(false)),
            Some(Value::Boolean(flag)) => Ok(both(flag)),
            Some(Value::String(word)) if word == "rows" => Ok(Self { rows: true, columns: false }),
            Some(Value::String(word)) if word == "columns" => Ok(Self { rows: false, columns: true }),
            Some(other) => fields.wrong("normalise", &other, "true or false, \"rows\" or \"columns\""),
        }
    }

    pub(crate) fn any(self) -> bool {
        self.rows || self.columns
    }
}

/// Where a topology's links come from.
#[derive(Debug)]
pub enum LinksSpec {
    /// A family with its parameters.
    Family {
        /// Which of the registry it is.
        family: &'static Family,
        /// Its parameters, defaults filled in.
        parameters: Parameters,
    },
    /// Edge lists, one for each round of the period, each for both graphs.
    Files(Vec<PathBuf>),
    /// Two edge lists with explicit weights: R and C.
    Matrices {
        /// R.
        pull: PathBuf,
        /// C.
        push: PathBuf,
    },
    /// Given in memory under this name.
    Supplied(String),
}

/// One `[[method]]`.
#[derive(Debug)]
pub struct MethodSpec {
    /// What it is called.
    pub name: String,
    /// Which of the registry it is.
    pub kind: &'static Kind,
    /// The name under which it is given in memory, if it is.
    pub(crate) supplied: Option<String>,
    /// Which links of a topology it uses; by default those that suit it best.
    pub(crate) graph: Option<Subgraph>,
    /// Its step sizes.
    pub step: StepSpec,
    /// Whether nobody waits for anyone.
    pub(crate) asynchronous: bool,
    /// λ = (n/T)^¼ by the corollary, in place of a number.
    pub corollary_momentum: bool,
    /// The parameters that are given.
    pub parameters: Vec<(String, f64)>,
    /// What is put around it.
    pub(crate) combination: Combination,
    /// The topologies that it runs on; all, unless given.
    only: Option<Vec<String>>,
}

impl Spec {
    /// Reads settings strictly; paths inside are relative to `folder`.
    pub(crate) fn new(settings: Table, folder: &Path) -> Result<Self> {
        let mut top = Fields::new("the experiment", settings.clone());
        top.expect(&["run", "problem", "topology", "method", "clock", "sweep"]);
        let [run, problem] = ["run", "problem"].map(|key| top.section(key));
        let run = RunSpec::read(run?)?;
        let problem = ProblemSpec::read(problem?, folder, run)?;
        let topologies = top.tables("topology")?.into_iter();
        let topologies =
            topologies.map(|t| TopologySpec::read(t, folder, run)).collect::<Result<Vec<_>>>()?;
        let methods = top
            .tables("method")?
            .into_iter()
            .map(|method| MethodSpec::read(method, run))
            .collect::<Result<Vec<_>>>()?;
        let clock = clock::read(&mut top)?;
        top.leave("sweep");
        top.finish()?;

        for (what, names) in [
            ("topology", topologies.iter().map(|t| &t.name).collect::<Vec<_>>()),
            ("method", methods.iter().map(|m| &m.name).collect()),
        ] {
            if names.is_empty() {
                bail!("there is no [[{what}]]: give at least one");
            }
            if let Some((i, name)) = names.iter().enumerate().find(|(i, name)| names[..*i].contains(name)) {
                bail!("{what} {}: the name \"{name}\" is taken already; give each its own `name`", i + 1);
            }
        }
        for method in &methods {
            method.check_only(&topologies)?;
        }
        let spec = Self { problem, run, topologies, methods, clock, swept: Swept::default(), settings };
        if let Some(idle) = spec.topologies.iter().find(|topology| spec.methods_on(topology).count() == 0) {
            bail!(
                "topology \"{}\": no method runs on it: the `only` of every method names other topologies",
                idle.name
            );
        }
        Ok(spec)
    }

    /// The methods that run on a topology: all but those whose `only` leaves it out.
    pub fn methods_on(&self, topology: &TopologySpec) -> impl Iterator<Item = &MethodSpec> {
        self.methods.iter().filter(|method| method.runs_on(&topology.name))
    }
}

impl RunSpec {
    fn read(mut fields: Fields) -> Result<Self> {
        let (agents, iterations) = (fields.count("agents")?, fields.count("iterations")?);
        let (repetitions, seed) = (fields.count("repetitions")?, fields.count("seed")?);
        let (record_every, measure) = (fields.count("record_every")?, MeasureSpec::read(&mut fields)?);
        let precisions = [Precision::F64, Precision::F32].map(|precision| (precision.name(), precision));
        let precision = fields.choice("precision", &precisions)?;
        let spec = Self {
            agents: fields.required("agents", agents)? as usize,
            iterations: fields.required("iterations", iterations)?,
            repetitions: repetitions.unwrap_or(1),
            seed: seed.unwrap_or(1),
            record_every: record_every.unwrap_or(10),
            precision: precision.unwrap_or_default(),
            measure,
        };
        for (name, value, most) in [
            ("agents", spec.agents as u64, MAX_AGENTS as u64),
            ("iterations", spec.iterations, u64::from(u32::MAX)),
            ("repetitions", spec.repetitions, 1_000_000),
            ("record_every", spec.record_every, u64::from(u32::MAX)),
        ] {
            if !(1..=most).contains(&value) {
                bail!("run: `{name}` = {value} is not possible: it must be from 1 to {most}");
            }
        }
        fields.finish()?;
        Ok(spec)
    }
}

impl TopologySpec {
    fn read(mut fields: Fields, folder: &Path, run: RunSpec) -> Result<Self> {
        let kind = fields.string("kind")?;
        let name = name_of(&mut fields, "topology", "topologies", kind.as_deref())?;
        Self::named(name, kind, fields, folder, (Some(run.agents), run.seed))
    }

    /// The rest of it, once its name and its kind have been read.
    pub fn named(
        name: String,
        kind: Option<String>,
        mut fields: Fields,
        folder: &Path,
        (agents, run_seed): (Option<usize>, u64),
    ) -> Result<Self> {
        let [file, pull, push] = ["file", "pull", "push"].map(|key| fields.file(key));
        let files = match (file?, fields.files("files")?) {
            (Some(_), Some(_)) => bail!("{}: give `file` or `files`, not both", fields.path()),
            (file, files) => file.map(|file| vec![file]).or(files),
        };
        let supplied = supplied(&mut fields, kind.as_deref())?;
        let is_supplied = supplied.is_some();
        let links = match (kind.or(supplied), files, pull?, push?) {
            (Some(name), None, None, None) if is_supplied => LinksSpec::Supplied(name),
            (Some(kind), None, None, None) => {
                let family = registry::installed().family(&kind).with_context(|| fields.path().to_owned())?;
                let given = fields.parameters(family.parameters)?;
                let parameters = Parameters::new(family.name, family.parameters, given)
                    .with_context(|| fields.path().to_owned())?;
                LinksSpec::Family { family, parameters }
            }
            (None, Some(files), None, None) => {
                LinksSpec::Files(files.iter().map(|file| folder.join(file)).collect())
            }
            (None, None, Some(pull), Some(push)) => {
                LinksSpec::Matrices { pull: folder.join(pull), push: folder.join(push) }
            }
            _ => {
                bail!("{}: give one of `kind`, `file`, `files`, or `pull` and `push` together", fields.path())
            }
        };
        let weights = [("uniform", Weights::Uniform), ("metropolis", Weights::Metropolis)];
        let spec = Self {
            name,
            links,
            weights: fields.choice("weights", &weights)?.unwrap_or(Weights::Uniform),
            root: fields.count("root")?.unwrap_or(0) as usize,
            seed: fields.count("seed")?.unwrap_or(run_seed),
            normalise: Normalise::read(&mut fields)?,
            base: fields.count("base")?.unwrap_or(0) as usize,
            names: fields.flag("names")?.unwrap_or(false),
            redraw: Redraw::read(&mut fields)?,
            faults: faults::read(&mut fields, agents)?,
        };
        let of_files = matches!(spec.links, LinksSpec::Files(_) | LinksSpec::Matrices { .. });
        if spec.normalise.any() && matches!(spec.links, LinksSpec::Family { .. }) {
            bail!("{}: `normalise` is for the weights of files, and a family has none", fields.path());
        }
        if !of_files && (spec.base != 0 || spec.names) {
            bail!("{}: `base` and `names` are for edge lists, and there is none", fields.path());
        }
        if spec.base > 1 || (spec.base == 1 && spec.names) {
            let expected = "0 or 1: the first id in its files (leave it out where agents have names)";
            return fields.wrong("base", &Value::Integer(spec.base as i64), expected);
        }
        fields.finish()?;
        Ok(spec)
    }
}

/// `supplied`, which names what is given in memory, in place of `kind`.
fn supplied(fields: &mut Fields, kind: Option<&str>) -> Result<Option<String>> {
    match (kind, fields.supplied()?) {
        (Some(_), Some(_)) => bail!("{}: give `kind` or `supplied`, not both", fields.path()),
        (_, supplied) => Ok(supplied),
    }
}

impl MethodSpec {
    fn read(mut fields: Fields, run: RunSpec) -> Result<Self> {
        let kind = fields.string("kind")?;
        let name = name_of(&mut fields, "method", "methods", kind.as_deref())?;
        let supplied = supplied(&mut fields, kind.as_deref())?;
        let kind = match &supplied {
            Some(_) => &supplies::SUPPLIED,
            None => {
                let kind =
                    kind.map_or_else(|| fields.missing("kind", "a name as in `oneway methods`"), Ok)?;
                registry::installed().method(&kind).with_context(|| fields.path().to_owned())?
            }
        };
        let graph = fields.choice("graph", &Subgraph::NAMED)?;
        let step = StepSpec::read(&mut fields, run)?;
        let asynchronous = Timing::read(&mut fields)?;
        let has_momentum = kind.parameters.iter().any(|parameter| parameter.name == "momentum");
        let corollary_momentum = has_momentum && fields.word_for_number("momentum", "corollary")?;
        let parameters = fields.parameters(kind.parameters)?;
        let combination = Combination::read(&mut fields, kind)?;
        let only = fields.strings("only")?;
        fields.finish()?;
        Ok(Self {
            name,
            kind,
            supplied,
            graph,
            step,
            asynchronous,
            corollary_momentum,
            parameters,
            combination,
            only,
        })
    }

    /// Whether it runs on the topology of this name.
    pub(crate) fn runs_on(&self, topology: &str) -> bool {
        self.only.as_ref().is_none_or(|only| only.iter().any(|name| is_called(topology, name)))
    }

    /// Refuses to run only on what is not there.
    fn check_only(&self, topologies: &[TopologySpec]) -> Result<()> {
        let is_there = |name: &&String| topologies.iter().any(|topology| is_called(&topology.name, name));
        if let Some(unknown) = self.only.iter().flatten().find(|name| !is_there(name)) {
            let names: Vec<&str> = topologies.iter().map(|topology| &*topology.name).collect();
            bail!(
                "method \"{}\": `only` names the topology \"{unknown}\", and there is none (there is: {})",
                self.name,
                names.join(", ")
            );
        }
        Ok(())
    }
}

/// The `name` of a topology or method, its kind unless given; from here on messages call the table by it.
fn name_of(fields: &mut Fields, what: &str, plural: &str, kind: Option<&str>) -> Result<String> {
    let Some(name) = fields.string("name")?.or(kind.map(str::to_owned)) else {
        return match fields.has_any(&["file", "files", "pull", "push", "supplied"]) {
            true => fields.missing("name", "what to call it"),
            false => fields.missing("kind", &format!("a name as in `oneway {plural}`")),
        };
    };
    names::check(fields.path(), &name)?;
    fields.rename(format!("{what} \"{name}\""));
    Ok(name)
}
