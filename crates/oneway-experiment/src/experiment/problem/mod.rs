//! `[problem]`: what the user wrote, and the problem built from it, with a hash of all that it is made of.

pub mod dataset;
mod finite_sum;
mod keys;
pub mod listing;
mod preparation;
mod write;

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, Result, bail};
use oneway::data::libsvm;
use oneway::data::partition::Partition;
use oneway::data::{Dataset, Split};
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic, ProblemKind, Quadratic, QuadraticShape, Sharing};
use oneway::registry;
use oneway_data::LabelKind;
use oneway_data::classes::Groups;

use super::fields::Fields;
use super::spec::RunSpec;
use super::supplies::Supplies;
use crate::hash::sha256;
use crate::identity::{Identify as _, Identity};
use crate::problem_facts::{Minimiser, Optimum};
use dataset::DatasetSpec;
use finite_sum::{FiniteSumSpec, ModelKind};
use keys::{batch, curvature, dimension, partition};
pub use preparation::read_layout;
use preparation::{GROUPS, Preparation, Prepared, groups, layout};
pub(crate) use write::OwnRows;

/// `[problem]`.
#[derive(Debug)]
pub(crate) enum ProblemSpec {
    /// Non-convex logistic regression.
    Logistic {
        dataset: DatasetSpec,
        test: Option<DatasetSpec>,
        preparation: Preparation,
        alpha: f64,
        partition: Partition,
        batch: Batch,
        seed: u64,
    },
    /// Quadratics with a known minimiser.
    Quadratic { shape: QuadraticShape, seed: u64 },
    /// A mean over rows of another model.
    FiniteSum(FiniteSumSpec),
    /// One that is given in memory under this name.
    Supplied(String),
    /// One that the registry has from elsewhere.
    Registered { kind: &'static ProblemKind, parameters: Parameters, seed: u64 },
}

/// `kind`.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Logistic,
    Quadratic,
    FiniteSum(ModelKind),
    Registered(&'static ProblemKind),
}

impl ProblemSpec {
    pub(crate) fn read(mut fields: Fields, folder: &Path, run: RunSpec) -> Result<Self> {
        let kinds = [
            ("logistic", Kind::Logistic),
            ("quadratic", Kind::Quadratic),
            ("softmax", Kind::FiniteSum(ModelKind::Softmax)),
            ("least-squares", Kind::FiniteSum(ModelKind::LeastSquares)),
            ("two-layer", Kind::FiniteSum(ModelKind::TwoLayer)),
            ("robust", Kind::FiniteSum(ModelKind::Robust)),
        ];
        let registered = registry::installed().problems().iter();
        let registered = registered.map(|kind| (kind.name, Kind::Registered(kind)));
        let kinds: Vec<_> = kinds.into_iter().chain(registered).collect();
        if let Some(name) = fields.supplied()? {
            fields.count("seed")?; // other problems draw from it
            fields.finish()?;
            return Ok(ProblemSpec::Supplied(name));
        }
        let kind = fields.choice("kind", &kinds)?;
        let seed = fields.count("seed")?.unwrap_or(run.seed);
        let Some(kind) = kind else {
            let names: Vec<&str> = kinds.iter().map(|(name, _)| *name).collect();
            return fields.missing("kind", &format!("one of {}", names.join(", ")));
        };
        let spec = match kind {
            Kind::Logistic => {
                let (dataset, test) = (fields.file("dataset")?, fields.file("test")?);
                let features = dimension(&mut fields, "features", run.agents)?;
                let layout = layout(&mut fields)?;
                let classes = two_classes(&mut fields)?;
                let preparation = Preparation::read(&mut fields, classes, true)?;
                let alpha = fields.real("alpha")?.unwrap_or(0.01);
                let (partition, batch) = (partition(&mut fields)?, batch(&mut fields)?);
                let dataset = fields.required("dataset", dataset)?;
                check_one_test(&fields, test.as_deref(), &preparation)?;
                let read =
                    |name: String, split| DatasetSpec::new(&name, folder, features, layout.clone(), split);
                ProblemSpec::Logistic {
                    dataset: read(dataset, Split::Train)?,
                    test: test.map(|test| read(test, Split::Test)).transpose()?,
                    preparation,
                    alpha,
                    partition,
                    batch,
                    seed,
                }
            }
            Kind::Quadratic => {
                let dim = dimension(&mut fields, "dim", run.agents)?;
                let curvature = curvature(&mut fields)?;
                let heterogeneity = fields.real("heterogeneity")?.unwrap_or(1.0);
                let noise = fields.real("noise")?.unwrap_or(0.0);
                let dim = fields.required("dim", dim)?;
                ProblemSpec::Quadratic {
                    shape: QuadraticShape { dim, curvature, heterogeneity, noise },
                    seed,
                }
            }
            Kind::FiniteSum(model) => {
                ProblemSpec::FiniteSum(FiniteSumSpec::read(model, &mut fields, folder, run, seed)?)
            }
            Kind::Registered(kind) => {
                let given = fields.parameters(kind.parameters)?;
                let parameters = Parameters::new(kind.name, kind.parameters, given);
                ProblemSpec::Registered { kind, parameters: parameters.context("problem")?, seed }
            }
        };
        fields.finish()?;
        Ok(spec)
    }

    /// Takes what is given in memory under the names of its datasets.
    pub(crate) fn supply(&mut self, given: &HashMap<String, Arc<Dataset>>) {
        let (dataset, test) = match self {
            ProblemSpec::Quadratic { .. } | ProblemSpec::Registered { .. } | ProblemSpec::Supplied(_) => {
                return;
            }
            ProblemSpec::Logistic { dataset, test, .. } => (dataset, test),
            ProblemSpec::FiniteSum(sum) => (&mut sum.dataset, &mut sum.test),
        };
        dataset.supply(given);
        test.iter_mut().for_each(|test| test.supply(given));
    }

    /// The rows that are shared out among agents, if there are any.
    pub(crate) fn rows(&self) -> Result<Option<Rows>> {
        Ok(match self {
            ProblemSpec::Logistic { dataset, preparation, partition, seed, .. } => {
                let Prepared { data, .. } = preparation.rows(dataset, None, LabelKind::Signs, *seed)?;
                Some(Rows { data, partition: *partition, seed: *seed, classes: None })
            }
            ProblemSpec::Quadratic { .. } | ProblemSpec::Registered { .. } | ProblemSpec::Supplied(_) => None,
            ProblemSpec::FiniteSum(spec) => Some(spec.rows()?),
        })
    }
}

impl ProblemSpec {
    /// What it is for a number of agents, with its rows by name.
    fn identity(&self, agents: usize) -> String {
        let mut identity = self.settings(agents);
        let (dataset, test) = match self {
            ProblemSpec::Quadratic { .. } | ProblemSpec::Registered { .. } | ProblemSpec::Supplied(_) => {
                (None, &None)
            }
            ProblemSpec::Logistic { dataset, test, .. } => (Some(dataset), test),
            ProblemSpec::FiniteSum(sum) => (Some(&sum.dataset), &sum.test),
        };
        for (name, rows) in [("dataset", dataset), ("test", test.as_ref())] {
            if let Some(rows) = rows {
                identity.part(name, rows);
            }
        }
        identity.into_text()
    }

    /// A hash of what it is for a number of agents, with its rows, and those held out, by their own hashes,
    /// wherever they were read from.
    fn fingerprint(&self, agents: usize, rows: &[String]) -> String {
        let mut identity = self.settings(agents);
        rows.iter().zip(["data", "test"]).for_each(|(hash, name)| identity.text(name, hash));
        identity.sha256()
    }

    /// Everything but its rows.
    fn settings(&self, agents: usize) -> Identity {
        let mut identity = Identity::new("problem", 1);
        match self {
            ProblemSpec::Logistic { alpha, preparation, partition, batch, seed, dataset: _, test: _ } => {
                identity.text("kind", "logistic");
                preparation.identify(&mut identity);
                identity.real("alpha", *alpha);
                identity.part("partition", partition);
                identity.part("batch", batch);
                identity.count("seed", *seed);
            }
            ProblemSpec::Quadratic { shape, seed } => {
                identity.text("kind", "quadratic");
                shape.identify(&mut identity);
                identity.count("seed", *seed);
            }
            ProblemSpec::FiniteSum(sum) => sum.identify(&mut identity),
            ProblemSpec::Supplied(name) => identity.text("supplied", name),
            ProblemSpec::Registered { kind, parameters, seed } => {
                identity.text("kind", kind.name);
                identity.text("version", kind.version);
                identity.part("parameters", parameters);
                identity.count("seed", *seed);
            }
        }
        identity.count("agents", agents as u64);
        identity
    }
}

/// `classes` of a problem that tells two apart.
fn two_classes(fields: &mut Fields) -> Result<Option<Groups>> {
    let Some(given) = fields.value("classes") else { return Ok(None) };
    match groups(&given).filter(|groups| groups.len() == 2) {
        Some(groups) => Ok(Some(groups)),
        None => fields.wrong("classes", &given, &format!("two classes, -1 first: {GROUPS}")),
    }
}

/// Rows to test with come from one place.
fn check_one_test(fields: &Fields, test: Option<&str>, preparation: &Preparation) -> Result<()> {
    match test {
        Some(_) if preparation.splits() => {
            bail!("{}: give `test`, a file, or `split`, a share of the rows, not both", fields.path())
        }
        _ => Ok(()),
    }
}

/// Rows that are shared out among agents.
#[derive(Debug)]
pub(crate) struct Rows {
    pub(crate) data: Dataset,
    /// How they are split.
    pub(crate) partition: Partition,
    /// What the split depends on.
    pub(crate) seed: u64,
    /// The labels of all classes, which a share may not have all.
    pub(crate) classes: Option<Vec<f64>>,
}

/// A problem and its fingerprint.
#[derive(Debug)]
pub struct BuiltProblem {
    /// What is minimised.
    pub problem: Box<dyn Problem>,
    /// Hash of the settings and of the data, wherever they were read from.
    pub sha256: String,
    minimiser: Minimiser,
    /// F*, once it was asked for.
    optimum: Mutex<Option<(Optimum, Arc<[f64]>)>>,
}

/// The problems that were built so far. Variants of an experiment mostly share theirs.
#[derive(Debug, Default)]
pub struct Problems {
    built: HashMap<String, Arc<BuiltProblem>>,
    own: Option<Own>,
}

/// Of how many agents, which ones this process has.
pub(crate) struct Own(pub(crate) Box<dyn Fn(usize) -> Range<usize> + Send>);

impl std::fmt::Debug for Own {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("some agents")
    }
}

impl Problems {
    /// For a process that has some of the agents, and measures nothing: data of others are let go.
    pub(crate) fn for_some(own: Own) -> Self {
        Self { own: Some(own), ..Self::default() }
    }

    /// A problem that is asked for once; it may be an agent's share of a larger one.
    pub(crate) fn build(spec: &ProblemSpec, agents: usize) -> Result<Box<dyn Problem>> {
        Ok(BuiltProblem::new(spec, agents, Part::Share)?.problem)
    }

    /// The problem for `agents` agents, built if it is the first to be asked for.
    pub(crate) fn get(
        &mut self,
        spec: &ProblemSpec,
        agents: usize,
        supplies: &Supplies,
    ) -> Result<Arc<BuiltProblem>> {
        if let ProblemSpec::Supplied(name) = spec {
            return supplies.problem(name, agents);
        }
        let key = spec.identity(agents);
        if let Some(built) = self.built.get(&key) {
            return Ok(Arc::clone(built));
        }
        let mut built = BuiltProblem::new(spec, agents, Part::Whole)?;
        if let Some(Own(own)) = &self.own {
            built.problem.keep(own(agents));
        }
        let built = Arc::new(built);
        self.built.insert(key, Arc::clone(&built));
        Ok(built)
    }
}

/// Whether rows are all there are, or may be an agent's share, which can well have one label only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Whole,
    Share,
}

/// Refuses rows that all have one label: there is nothing to tell apart, and x grows without end.
fn check_labels(dataset: &DatasetSpec, data: &Dataset) -> Result<()> {
    match &data.labels[..] {
        [first, rest @ ..] if rest.iter().all(|label| label == first) => bail!(
            "problem: every row of {dataset} ({} of them) has the label {first:+}: a logistic regression needs both labels",
            data.len()
        ),
        _ => Ok(()),
    }
}

impl BuiltProblem {
    /// Builds the problem for `agents` agents; reads the files it names.
    fn new(spec: &ProblemSpec, agents: usize, part: Part) -> Result<Self> {
        match spec {
            ProblemSpec::FiniteSum(sum) => sum.build(agents, |hashes| spec.fingerprint(agents, hashes)),
            ProblemSpec::Supplied(name) => {
                bail!("problem: `supplied` = \"{name}\": only the program that made it can use it")
            }
            ProblemSpec::Registered { kind, parameters, seed } => {
                let problem = (kind.build)(parameters, agents, *seed)?;
                if problem.agents() != agents {
                    let made = problem.agents();
                    bail!("problem: `{}` was asked for {agents} agents and has made {made}", kind.name);
                }
                Ok(Self::from_parts(problem, spec.fingerprint(agents, &[]), Minimiser::Unknown))
            }
            ProblemSpec::Quadratic { shape, seed } => {
                let problem = Quadratic::new(*shape, agents, *seed)?;
                let minimiser = Minimiser::Known(problem.minimiser().to_vec());
                Ok(Self::from_parts(Box::new(problem), spec.fingerprint(agents, &[]), minimiser))
            }
            ProblemSpec::Logistic { dataset, test, preparation, alpha, partition, batch, seed } => {
                let test = test.clone().or_else(|| dataset.held_out());
                let Prepared { data, test } = preparation.rows(dataset, test, LabelKind::Signs, *seed)?;
                if part == Part::Whole {
                    check_labels(dataset, &data)?;
                }
                let hash = |data: &Dataset| {
                    let mut text = vec![];
                    libsvm::write(data, &mut text)?;
                    anyhow::Ok(format!("{} features {}", data.features, sha256(text)))
                };
                let mut hashes = vec![hash(&data)?];
                hashes.extend(test.as_ref().map(hash).transpose()?);
                let sha256 = spec.fingerprint(agents, &hashes);
                let sharing = Sharing { agents, partition: *partition, batch: *batch, seed: *seed };
                let problem = Logistic::new(&data, sharing, *alpha)?;
                let problem: Box<dyn Problem> = match test {
                    Some(test) => Box::new(problem.with_test(test)?),
                    None => Box::new(problem),
                };
                Ok(Self::from_parts(problem, sha256, Minimiser::Unknown))
            }
        }
    }

    /// A problem that is given in memory, with a text that no other problem has.
    pub fn supplied(problem: Box<dyn Problem>, identity: &str) -> Self {
        Self::from_parts(problem, sha256(format!("supplied problem 1; {identity}")), Minimiser::Unknown)
    }

    fn from_parts(problem: Box<dyn Problem>, sha256: String, minimiser: Minimiser) -> Self {
        Self { problem, sha256, minimiser, optimum: Mutex::default() }
    }

    /// Whether there is nothing to search for F*.
    pub(crate) fn knows_minimiser(&self) -> bool {
        matches!(self.minimiser, Minimiser::Known(_))
    }

    /// F*, found when it is first asked for.
    pub fn optimum(&self) -> Optimum {
        self.optimum_and_place().0
    }

    /// F*, and the x* where it is taken.
    ///
    /// Not under the lock: a thread that waits for the parts of its search may take up other work, and ask
    /// again.
    pub(crate) fn optimum_and_place(&self) -> (Optimum, Arc<[f64]>) {
        let known = self.optimum.lock().unwrap_or_else(PoisonError::into_inner).clone();
        known.unwrap_or_else(|| {
            let (optimum, x) = Optimum::new(&*self.problem, &self.minimiser);
            let found = (optimum, x.into());
            *self.optimum.lock().unwrap_or_else(PoisonError::into_inner) = Some(found.clone());
            found
        })
    }
}
