//! Problems built from what a spec says, with a hash of all that they are made of.

use anyhow::Result;
use oneway::data::{Dataset, a9a, libsvm};
use oneway::problem::Problem;
use oneway::problems::{Logistic, Quadratic};

use super::spec::{DatasetSpec, ProblemSpec};
use crate::results::sha256;

/// A problem and its fingerprint.
#[derive(Debug)]
pub(crate) struct BuiltProblem {
    pub(crate) problem: Box<dyn Problem>,
    /// Hash of the settings and of the data, wherever they were read from.
    pub(crate) sha256: String,
}

impl BuiltProblem {
    /// Builds the problem for so many agents; reads the files it names.
    pub(crate) fn new(spec: &ProblemSpec, agents: usize) -> Result<Self> {
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
