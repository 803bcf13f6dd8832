//! `[problem]`: what the user wrote, and the problem built from it, with a hash of all that it is made of.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use oneway::data::a9a::{self, FEATURES, Split};
use oneway::data::{Dataset, libsvm};
use oneway::partition::Partition;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic, Quadratic, QuadraticShape};
use toml::Value;

use super::fields::{Fields, real};
use super::spec::RunSpec;
use crate::results::sha256;

/// `[problem]`.
#[derive(Debug)]
pub(crate) enum ProblemSpec {
    /// Non-convex logistic regression.
    Logistic {
        dataset: DatasetSpec,
        test: Option<DatasetSpec>,
        alpha: f64,
        partition: Partition,
        batch: Batch,
        seed: u64,
    },
    /// Quadratics with a known minimiser.
    Quadratic { shape: QuadraticShape, seed: u64 },
}

/// Where rows come from.
#[derive(Debug, Clone)]
pub(crate) enum DatasetSpec {
    /// A split of the embedded a9a.
    A9a(Split),
    /// A LIBSVM file.
    File { path: PathBuf, features: Option<usize> },
}

/// `kind`.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Logistic,
    Quadratic,
}

impl ProblemSpec {
    pub(super) fn read(mut fields: Fields, folder: &Path, run: RunSpec) -> Result<Self> {
        let kinds = [("logistic", Kind::Logistic), ("quadratic", Kind::Quadratic)];
        let kind = fields.choice("kind", &kinds)?;
        let seed = fields.count("seed")?.unwrap_or(run.seed);
        let spec = match fields.required("kind", kind)? {
            Kind::Logistic => {
                let (dataset, test) = (fields.string("dataset")?, fields.string("test")?);
                let features = dimension(&mut fields, "features", run.agents)?;
                let alpha = fields.real("alpha")?.unwrap_or(0.01);
                let (partition, batch) = (partition(&mut fields)?, batch(&mut fields)?);
                let dataset = fields.required("dataset", dataset)?;
                let read = |name: String, split| DatasetSpec::new(&name, folder, features, split);
                ProblemSpec::Logistic {
                    dataset: read(dataset, Split::Train)?,
                    test: test.map(|test| read(test, Split::Test)).transpose()?,
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
        };
        fields.finish()?;
        Ok(spec)
    }
}

impl DatasetSpec {
    /// `a9a`, of which `split` is taken, or a path relative to `folder`.
    pub(crate) fn new(name: &str, folder: &Path, features: Option<usize>, split: Split) -> Result<Self> {
        match (name, features) {
            ("a9a", None | Some(FEATURES)) => Ok(DatasetSpec::A9a(split)),
            ("a9a", Some(other)) => bail!("a9a: `features` = {other} is not possible: it has {FEATURES}"),
            (path, features) => Ok(DatasetSpec::File { path: folder.join(path), features }),
        }
    }
}

/// A number of coordinates, within what could ever fit into memory: a slip of the keyboard should not exhaust it.
fn dimension(fields: &mut Fields, key: &str, agents: usize) -> Result<Option<usize>> {
    const MOST_NUMBERS: u64 = 1_000_000_000;
    let most = (MOST_NUMBERS / agents.max(1) as u64).max(1);
    match fields.count(key)? {
        Some(value) if !(1..=most).contains(&value) => {
            fields.wrong(key, &Value::Integer(value as i64), &format!("from 1 to {most} for {agents} agents"))
        }
        value => Ok(value.map(|value| value as usize)),
    }
}

fn partition(fields: &mut Fields) -> Result<Partition> {
    let rules =
        [("even", Partition::Even), ("shuffled", Partition::Shuffled), ("by-label", Partition::ByLabel)];
    match fields.value("partition") {
        None => Ok(Partition::Even),
        Some(Value::Table(table)) => {
            let mut table = fields.inner("partition", table);
            let concentration = table.real("dirichlet")?;
            let concentration = table.required("dirichlet", concentration)?;
            table.finish()?;
            Ok(Partition::Dirichlet(concentration))
        }
        Some(Value::String(word)) => fields.word("partition", &word.into(), &rules),
        Some(other) => {
            fields.wrong("partition", &other, "\"even\", \"shuffled\", \"by-label\" or { dirichlet = … }")
        }
    }
}

fn batch(fields: &mut Fields) -> Result<Batch> {
    match fields.value("batch") {
        None => Ok(Batch::Sampled(1)),
        Some(Value::Integer(size)) if size > 0 => Ok(Batch::Sampled(size as usize)),
        Some(Value::String(word)) if word == "full" => Ok(Batch::Full),
        Some(other) => fields.wrong("batch", &other, "a whole number, 1 or more, or \"full\""),
    }
}

/// One number for all coordinates, or `[smallest, largest]`.
fn curvature(fields: &mut Fields) -> Result<[f64; 2]> {
    match fields.value("curvature") {
        None => Ok([1.0, 1.0]),
        Some(Value::Array(range)) => match range.iter().filter_map(real).collect::<Vec<_>>()[..] {
            [low, high] if range.len() == 2 => Ok([low, high]),
            _ => fields.wrong("curvature", &range.into(), "a number, or [smallest, largest]"),
        },
        Some(value) => match real(&value) {
            Some(both) => Ok([both, both]),
            None => fields.wrong("curvature", &value, "a number, or [smallest, largest]"),
        },
    }
}

/// A problem and its fingerprint.
#[derive(Debug)]
pub(crate) struct BuiltProblem {
    pub(crate) problem: Box<dyn Problem>,
    /// Hash of the settings and of the data, wherever they were read from.
    pub(crate) sha256: String,
}

/// The problems that were built so far. Variants of an experiment mostly share theirs.
#[derive(Debug, Default)]
pub(crate) struct Problems(HashMap<String, Arc<BuiltProblem>>);

impl Problems {
    /// The problem for so many agents, built if it is the first to be asked for.
    pub(crate) fn get(&mut self, spec: &ProblemSpec, agents: usize) -> Result<Arc<BuiltProblem>> {
        let key = format!("{spec:?} {agents}");
        if let Some(built) = self.0.get(&key) {
            return Ok(Arc::clone(built));
        }
        let built = Arc::new(BuiltProblem::new(spec, agents)?);
        self.0.insert(key, Arc::clone(&built));
        Ok(built)
    }
}

impl BuiltProblem {
    /// Builds the problem for so many agents; reads the files it names.
    fn new(spec: &ProblemSpec, agents: usize) -> Result<Self> {
        match spec {
            ProblemSpec::Quadratic { shape, seed } => Ok(Self {
                problem: Box::new(Quadratic::new(*shape, agents, *seed)?),
                sha256: sha256(format!("quadratic {shape:?} agents {agents} seed {seed}")),
            }),
            ProblemSpec::Logistic { dataset, test, alpha, partition, batch, seed } => {
                let data = dataset.load()?;
                let test = match (dataset, test) {
                    (_, Some(test)) => Some(test.with_features(data.features).load()?),
                    (DatasetSpec::A9a(_), None) => Some(a9a::a9a(a9a::Split::Test)),
                    (DatasetSpec::File { .. }, None) => None,
                };
                let hash = |data: &Dataset| {
                    let mut text = vec![];
                    libsvm::write(data, &mut text)?;
                    anyhow::Ok(format!("{} features {}", data.features, sha256(text)))
                };
                let settings = format!("alpha {alpha:?} {partition:?} {batch:?} agents {agents} seed {seed}");
                let test_hash = test.as_ref().map(hash).transpose()?;
                let fingerprint = format!("logistic {settings} data {} test {test_hash:?}", hash(&data)?);
                let problem = Logistic::new(&data, *partition, agents, *alpha, *batch, *seed)?;
                let problem: Box<dyn Problem> = match test {
                    Some(test) => Box::new(problem.with_test(test)?),
                    None => Box::new(problem),
                };
                Ok(Self { problem, sha256: sha256(fingerprint) })
            }
        }
    }
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
