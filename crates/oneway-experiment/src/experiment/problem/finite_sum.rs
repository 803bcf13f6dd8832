//! The kinds of problem that are a mean over rows: softmax, least squares, a network, robust regression.

use std::path::Path;

use anyhow::Result;
use oneway::data::partition::Partition;
use oneway::data::{Dataset, Split, Synthetic};
use oneway::problems::{
    AnyModel, Batch, LeastSquares, Regulariser, Robust, RobustLoss, Sharing, Softmax, TwoLayer,
};
use oneway_data::LabelKind;
use oneway_data::classes::Groups;
use toml::Value;

use super::dataset::{DatasetSpec, SYNTHETIC, hash};
use super::keys::{MOST_NUMBERS, batch, dimension, partition};
use super::preparation::{GROUPS, Preparation, Prepared, groups, layout};
use super::{BuiltProblem, Rows, check_one_test};
use crate::experiment::fields::{Fields, real};
use crate::experiment::spec::RunSpec;
use crate::identity::{Identify, Identity};
use crate::problem_facts::Minimiser;

/// What the user wrote of one.
#[derive(Debug)]
pub(crate) struct FiniteSumSpec {
    pub(super) model: ModelSpec,
    pub(super) dataset: DatasetSpec,
    pub(super) test: Option<DatasetSpec>,
    /// The labels of all classes, if they are not those of the dataset.
    classes: Option<Vec<f64>>,
    preparation: Preparation,
    pub(super) intercept: bool,
    pub(super) regulariser: Regulariser,
    partition: Partition,
    pub(super) batch: Batch,
    pub(super) seed: u64,
}

/// The loss of a row.
#[derive(Debug, Clone, Copy)]
pub(super) enum ModelSpec {
    Softmax,
    TwoLayer { hidden: usize },
    LeastSquares,
    Robust { loss: RobustLoss, scale: f64 },
}

/// Its name, before its own keys are read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum ModelKind {
    Softmax,
    TwoLayer,
    LeastSquares,
    Robust,
}

impl FiniteSumSpec {
    pub(super) fn read(
        kind: ModelKind,
        fields: &mut Fields,
        folder: &Path,
        run: RunSpec,
        seed: u64,
    ) -> Result<Self> {
        let classifies = matches!(kind, ModelKind::Softmax | ModelKind::TwoLayer);
        let dataset = fields.file("dataset")?;
        let features = dimension(fields, "features", run.agents)?;
        let test = if classifies { fields.file("test")? } else { None };
        let layout = layout(fields)?;
        let (classes, groups) = if classifies { classes(fields)? } else { (None, None) };
        let preparation = Preparation::read(fields, groups, classifies)?;
        check_one_test(fields, test.as_deref(), &preparation)?;
        let model = ModelSpec::read(kind, fields)?;
        let regulariser = regulariser(fields)?;
        let intercept = fields.flag("intercept")?.unwrap_or(classifies);
        let (partition, batch) = (partition(fields)?, batch(fields)?);
        let dataset = fields.required("dataset", dataset)?;
        let dataset = match !classifies && dataset == SYNTHETIC {
            true => {
                let shape = synthetic(fields, features)?;
                DatasetSpec::Synthetic { shape, agents: run.agents, seed }
            }
            false => DatasetSpec::new(&dataset, folder, features, layout.clone(), Split::Train)?,
        };
        let test =
            test.map(|test| DatasetSpec::new(&test, folder, features, layout, Split::Test)).transpose()?;
        Ok(Self {
            model,
            dataset,
            test,
            classes,
            preparation,
            intercept,
            regulariser,
            partition,
            batch,
            seed,
        })
    }

    /// The rows, and how they are split.
    pub(super) fn rows(&self) -> Result<Rows> {
        let Prepared { data, .. } = self.preparation.rows(&self.dataset, None, self.labels(), self.seed)?;
        let classes = self.model.classifies().then(|| self.classes_of(&data)).transpose()?;
        Ok(Rows { data, partition: self.partition, seed: self.seed, classes })
    }

    fn labels(&self) -> LabelKind {
        if self.model.classifies() { LabelKind::Classes } else { LabelKind::Targets }
    }

    /// The labels of all classes.
    fn classes_of(&self, data: &Dataset) -> Result<Vec<f64>> {
        data.check_rows()?;
        if let Some(groups) = &self.preparation.groups {
            return Ok((0..groups.len()).map(|class| class as f64).collect());
        }
        Ok(self.classes.clone().unwrap_or_else(|| data.classes()))
    }

    /// Builds the problem for `agents` agents; reads the files it names.
    /// `fingerprint` makes a hash of it from those of the rows, and of the rows held out.
    pub(super) fn build(
        &self,
        agents: usize,
        fingerprint: impl FnOnce(&[String]) -> String,
    ) -> Result<BuiltProblem> {
        let Self { model, dataset, test, intercept, seed, .. } = self;
        let test = test.clone().or_else(|| dataset.held_out()).filter(|_| model.classifies());
        let Prepared { data, test } = self.preparation.rows(dataset, test, self.labels(), *seed)?;
        let with_intercept = |data: Dataset| if *intercept { data.with_intercept() } else { Ok(data) };
        let (data, test) = (with_intercept(data)?, test.map(with_intercept).transpose()?);

        let hashes: Vec<String> = [Some(&data), test.as_ref()].into_iter().flatten().map(hash).collect();
        let sha256 = fingerprint(&hashes);
        let features = data.features;
        let model = match *model {
            ModelSpec::Softmax => {
                AnyModel::Softmax(Softmax::with_classes(features, &self.classes_of(&data)?)?)
            }
            ModelSpec::TwoLayer { hidden } => {
                let classes = self.classes_of(&data)?;
                AnyModel::TwoLayer(TwoLayer::with_classes(features, &classes, hidden, *seed)?)
            }
            ModelSpec::LeastSquares => AnyModel::LeastSquares(LeastSquares::new(features)),
            ModelSpec::Robust { loss, scale } => AnyModel::Robust(Robust::new(features, loss, scale)?),
        };
        let Self { partition, regulariser, batch, seed, .. } = *self;
        let sharing = Sharing { agents, partition, batch, seed };
        let problem = model.into_problem(data, regulariser, sharing, test)?;
        let quadratic =
            matches!((self.model, self.regulariser), (ModelSpec::LeastSquares, Regulariser::Ridge(_)));
        let minimiser = if quadratic { Minimiser::OfQuadratic } else { Minimiser::Unknown };
        Ok(BuiltProblem::from_parts(problem, sha256, minimiser))
    }
}

/// All but its rows.
impl Identify for FiniteSumSpec {
    fn identify(&self, to: &mut Identity) {
        let Self {
            model,
            classes,
            preparation,
            intercept,
            regulariser,
            partition,
            batch,
            seed,
            dataset: _,
            test: _,
        } = self;
        match model {
            ModelSpec::Softmax => to.text("kind", "softmax"),
            ModelSpec::LeastSquares => to.text("kind", "least-squares"),
            ModelSpec::TwoLayer { hidden } => {
                to.text("kind", "two-layer");
                to.count("hidden", *hidden as u64);
            }
            ModelSpec::Robust { loss, scale } => {
                to.text("kind", "robust");
                loss.identify(to);
                to.real("scale", *scale);
            }
        }
        if let Some(classes) = classes {
            to.reals("classes", classes);
        }
        preparation.identify(to);
        to.flag("intercept", *intercept);
        to.part("regulariser", regulariser);
        to.part("partition", partition);
        to.part("batch", batch);
        to.count("seed", *seed);
    }
}

impl ModelSpec {
    /// Whether labels are classes.
    fn classifies(self) -> bool {
        matches!(self, Self::Softmax | Self::TwoLayer { .. })
    }

    fn read(kind: ModelKind, fields: &mut Fields) -> Result<Self> {
        Ok(match kind {
            ModelKind::Softmax => Self::Softmax,
            ModelKind::LeastSquares => Self::LeastSquares,
            ModelKind::TwoLayer => {
                let hidden = fields.count("hidden")?.unwrap_or(32);
                Self::TwoLayer { hidden: usize::try_from(hidden).unwrap_or(usize::MAX) }
            }
            ModelKind::Robust => {
                let losses = [("welsch", RobustLoss::Welsch), ("cauchy", RobustLoss::Cauchy)];
                let loss = fields.choice("loss", &losses)?;
                let scale = fields.real("scale")?.unwrap_or(1.0);
                Self::Robust { loss: loss.unwrap_or(RobustLoss::Cauchy), scale }
            }
        })
    }
}

/// `classes`: the labels of all of them, where the rows may not have them all, or what classes are made of.
fn classes(fields: &mut Fields) -> Result<(Option<Vec<f64>>, Option<Groups>)> {
    let Some(given) = fields.value("classes") else { return Ok((None, None)) };
    if let Some(groups) = groups(&given) {
        return Ok((None, Some(groups)));
    }
    let labels: Option<Vec<f64>> = match &given {
        Value::Array(labels) => labels.iter().map(real).collect(),
        _ => None,
    };
    let possible = |labels: &Vec<f64>| {
        let differ = labels.iter().any(|label| *label != labels[0]);
        differ && labels.iter().all(|label| label.is_finite())
    };
    match labels.filter(possible) {
        Some(labels) => Ok((Some(labels), None)),
        None => {
            let expected = "a list of labels, each a number, and two or more different";
            fields.wrong("classes", &given, &format!("{expected}; or {GROUPS}"))
        }
    }
}

/// `regulariser` and its weight `alpha`.
fn regulariser(fields: &mut Fields) -> Result<Regulariser> {
    let alpha = fields.real("alpha")?.unwrap_or(0.0001);
    let kinds = [("ridge", Regulariser::Ridge(alpha)), ("non-convex", Regulariser::NonConvex(alpha))];
    Ok(fields.choice("regulariser", &kinds)?.unwrap_or(Regulariser::Ridge(alpha)))
}

/// The shape of rows that are drawn.
fn synthetic(fields: &mut Fields, features: Option<usize>) -> Result<Synthetic> {
    let rows = fields.count("rows")?;
    let noise = fields.real("noise")?.unwrap_or(0.1);
    let outliers = fields.real("outliers")?.unwrap_or(0.0);
    let heterogeneity = fields.real("heterogeneity")?.unwrap_or(0.0);
    let features = fields.required("features", features)?;
    let rows = fields.required("rows", rows)?;
    let most = MOST_NUMBERS / features as u64;
    if !(1..=most).contains(&rows) {
        let expected = format!("from 1 to {most} for {features} features");
        return fields.wrong("rows", &Value::Integer(rows as i64), &expected);
    }
    Ok(Synthetic { rows: rows as usize, features, noise, outliers, heterogeneity })
}
