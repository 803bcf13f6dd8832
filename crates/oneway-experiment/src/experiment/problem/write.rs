//! `[problem]` written down again, as a file would say it: what [reading](ProblemSpec::read) makes the same
//! problem of.

use anyhow::{Context, Result};
use oneway::problems::{Batch, Regulariser, RobustLoss};
use toml::{Table, Value};

use super::ProblemSpec;
use super::finite_sum::{FiniteSumSpec, ModelSpec};
use super::keys::WITHOUT_REPLACEMENT;
use crate::experiment::fields::written;

/// Rows that take the place of a problem's own: those of one agent.
#[derive(Debug)]
pub(crate) struct OwnRows<'a> {
    /// The name of the file that has them.
    pub(crate) dataset: &'a str,
    pub(crate) features: usize,
    /// The labels of all classes, of which these rows may not have all.
    pub(crate) classes: Option<Vec<f64>>,
}

impl ProblemSpec {
    /// Its settings, with these rows, none of them held out, in place of its own. A problem without rows is
    /// written as it is.
    pub(crate) fn to_settings(&self, rows: Option<OwnRows<'_>>) -> Result<Table> {
        let mut settings = Table::new();
        let mut put = |key: &str, value: Value| drop(settings.insert(key.to_owned(), value));
        let seed = match self {
            ProblemSpec::Supplied(name) => {
                anyhow::bail!(
                    "problem: `supplied` = \"{name}\": it is in no file, so agents cannot be given it"
                )
            }
            // rows are prepared before they are shared out
            ProblemSpec::Logistic { alpha, batch, seed, .. } => {
                put("kind", "logistic".into());
                put("alpha", (*alpha).into());
                put_batch(*batch, &mut put)?;
                seed
            }
            ProblemSpec::Quadratic { shape, seed } => {
                put("kind", "quadratic".into());
                put("dim", count(shape.dim)?);
                put("curvature", shape.curvature.to_vec().into());
                put("heterogeneity", shape.heterogeneity.into());
                put("noise", shape.noise.into());
                seed
            }
            ProblemSpec::FiniteSum(sum) => {
                put_sum(sum, &mut put)?;
                &sum.seed
            }
            ProblemSpec::Registered { kind, parameters, seed } => {
                put("kind", kind.name.into());
                written(kind.parameters, parameters).for_each(|(name, value)| put(name, value));
                seed
            }
        };
        put("seed", Value::Integer(i64::try_from(*seed).context("the seed is too large for a file")?));
        if let Some(OwnRows { dataset, features, classes }) = rows {
            put("dataset", dataset.into());
            put("features", count(features)?);
            if let Some(classes) = classes {
                put("classes", classes.into());
            }
        }
        Ok(settings)
    }
}

fn put_sum(sum: &FiniteSumSpec, put: &mut impl FnMut(&str, Value)) -> Result<()> {
    match sum.model {
        ModelSpec::Softmax => put("kind", "softmax".into()),
        ModelSpec::LeastSquares => put("kind", "least-squares".into()),
        ModelSpec::TwoLayer { hidden } => {
            put("kind", "two-layer".into());
            put("hidden", count(hidden)?);
        }
        ModelSpec::Robust { loss, scale } => {
            put("kind", "robust".into());
            let loss = match loss {
                RobustLoss::Welsch => "welsch",
                RobustLoss::Cauchy => "cauchy",
            };
            put("loss", loss.into());
            put("scale", scale.into());
        }
    }
    let (regulariser, alpha) = match sum.regulariser {
        Regulariser::Ridge(alpha) => ("ridge", alpha),
        Regulariser::NonConvex(alpha) => ("non-convex", alpha),
    };
    put("regulariser", regulariser.into());
    put("alpha", alpha.into());
    put("intercept", sum.intercept.into());
    put_batch(sum.batch, put)
}

fn put_batch(batch: Batch, put: &mut impl FnMut(&str, Value)) -> Result<()> {
    match batch {
        Batch::Sampled(size) => put("batch", count(size)?),
        Batch::Reshuffled(size) => {
            put("batch", count(size)?);
            put("sampling", WITHOUT_REPLACEMENT.into());
        }
        Batch::Full => put("batch", "full".into()),
    }
    Ok(())
}

fn count(value: usize) -> Result<Value> {
    Ok(Value::Integer(i64::try_from(value).context("a number is too large for a file")?))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Experiment;

    /// What is written reads back as the same problem.
    #[test]
    fn settings_that_are_written_are_read_as_the_same_problem() {
        let problem = |keys: &str| {
            let text = format!(
                "[run]\nagents = 3\niterations = 1\nseed = 7\n[problem]\n{keys}\n[[topology]]\nkind = \"ring\"\n[[method]]\nkind = \
                 \"smtpp\"\nstep = 0.1\n"
            );
            Experiment::parse(&text, Path::new(""), &[]).unwrap().variants.remove(0).problem
        };
        for keys in [
            "kind = \"quadratic\"\ndim = 3\ncurvature = [0.5, 2]\nnoise = 0.25",
            "kind = \"logistic\"\ndataset = \"a9a\"\nalpha = 0.5\nbatch = \"full\"\nseed = 3",
            "kind = \"softmax\"\ndataset = \"digits\"\nintercept = false\nbatch = 4",
            "kind = \"logistic\"\ndataset = \"a9a\"\nbatch = 5\nsampling = \"without-replacement\"",
            "kind = \"softmax\"\ndataset = \"digits\"\nsampling = \"without-replacement\"",
            "kind = \"two-layer\"\ndataset = \"digits\"\nhidden = 5\nregulariser = \"non-convex\"",
            "kind = \"least-squares\"\ndataset = \"rows.libsvm\"\nalpha = 0.125",
            "kind = \"robust\"\ndataset = \"rows.libsvm\"\nloss = \"welsch\"\nscale = 2",
        ] {
            let spec = problem(keys);
            let rows = || OwnRows { dataset: "own", features: 4, classes: None };
            let rows = (!matches!(spec, ProblemSpec::Quadratic { .. })).then(rows);
            let written = toml::to_string(&spec.to_settings(rows).unwrap()).unwrap();
            let again = problem(&written);
            assert_eq!(again.settings(3).into_text(), spec.settings(3).into_text(), "{written}");
        }
    }
}
