//! What a reading settles: how the paper's experiments are to be run.

use anyhow::{Result, ensure};
use serde::Deserialize;
use toml::Value;

/// What an answer settles; all that it leaves open is another question's.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Setting {
    pub(crate) kind: Option<String>,
    pub(crate) petals: Option<u64>,
    pub(crate) rings: Option<u64>,
    /// Agents on each cycle through agent 0.
    pub(crate) cycles: Option<Vec<usize>>,
    pub(crate) root: Option<u64>,
    pub(crate) links: Option<Links>,
    pub(crate) weights: Option<Weights>,
    pub(crate) trees: Option<Trees>,
    pub(crate) scaling: Option<Scaling>,
    pub(crate) partition: Option<Value>,
    pub(crate) sampling: Option<Sampling>,
    pub(crate) start: Option<Start>,
    /// Rounds between decays; none: no decay.
    pub(crate) every: Option<u64>,
    pub(crate) momentum: Option<f64>,
    pub(crate) rivals_step: Option<f64>,
    /// Steps of which each rival takes the one that suits it best.
    pub(crate) rivals_steps: Option<Vec<f64>>,
    pub(crate) rivals_momentum: Option<bool>,
}

/// The links that SMTPP uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Links {
    Trees,
    Full,
}

/// How links are weighted; on trees there is a choice between the first two only.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Weights {
    Uniform,
    Lazy,
    /// 1/(1 + the larger of two degrees), the rest for oneself.
    Metropolis,
}

/// The spanning trees that are cut from a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Trees {
    /// The shallowest: nobody is farther from the root than need be.
    BreadthFirst,
    /// Depth first: chains where the graph has them.
    Chain,
}

/// How an agent draws from its rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Sampling {
    WithReplacement,
    /// Each row once, in a random order, then all of them in another.
    WithoutReplacement,
}

impl Sampling {
    /// As an experiment file has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::WithReplacement => "with-replacement",
            Self::WithoutReplacement => "without-replacement",
        }
    }
}

/// Where all agents begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Start {
    Zero,
    /// At one point with standard normal coordinates.
    Random,
}

/// What a step on trees means.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Scaling {
    /// η·c_π.
    Effective,
    /// η·n, as the authors of the tree methods have it in code.
    OverN,
    /// η.
    Raw,
}

impl Setting {
    /// Takes what another settles; refused where both settle the same.
    pub(super) fn take(&mut self, other: Self) -> Result<()> {
        macro_rules! take {
            ($($key:ident),*) => {$(
                if let Some(value) = other.$key {
                    ensure!(
                        self.$key.is_none(),
                        "`{}` is settled by another question already", stringify!($key)
                    );
                    self.$key = Some(value);
                }
            )*};
        }
        take!(
            kind,
            petals,
            rings,
            cycles,
            root,
            links,
            weights,
            trees,
            scaling,
            partition,
            sampling,
            start,
            every,
            momentum,
            rivals_step,
            rivals_steps,
            rivals_momentum
        );
        Ok(())
    }
}
