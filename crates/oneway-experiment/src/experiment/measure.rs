//! `[run] measure`: the columns of `curves.csv` that take more time than the others, asked for or where they
//! take little.

use anyhow::Result;
use toml::Value;

use super::fields::Fields;
use super::problem::BuiltProblem;
use crate::identity::{Identify, Identity};

/// `measure`, as given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MeasureSpec {
    /// Not given: what takes little time.
    Cheap,
    /// These, and no others.
    Only(Measure),
}

/// What is measured beside the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// F(x̄) − F*.
    pub(crate) loss_gap: bool,
    /// (1/n) Σ ‖∇F(x_i)‖².
    pub(crate) agents: bool,
    /// ‖x̄ − x*‖².
    pub(crate) distance: bool,
}

impl Identify for Measure {
    fn identify(&self, to: &mut Identity) {
        let Self { loss_gap, agents, distance } = *self;
        to.flag(LOSS_GAP, loss_gap);
        to.flag(AGENTS, agents);
        to.flag(DISTANCE, distance);
    }
}

/// The columns, as `measure` names them.
const LOSS_GAP: &str = "loss_gap";
const AGENTS: &str = "agents_grad_norm_sq";
const DISTANCE: &str = "distance_sq";

/// F* is looked for unasked if a pass over all data takes at most this many products, as a9a's rows do: a
/// tenth of a second.
const MOST_FOR_OPTIMUM: usize = 1 << 23;
/// ∇F is taken at all agents unasked if that takes at most this many products: what a round or two take in a
/// small experiment.
const MOST_FOR_AGENTS: usize = 1 << 14;

impl MeasureSpec {
    /// Takes the key.
    pub(crate) fn read(fields: &mut Fields) -> Result<Self> {
        let given = match fields.value("measure") {
            None => return Ok(Self::Cheap),
            Some(Value::Array(given)) => given,
            Some(other) => {
                let expected = format!("a list of \"{LOSS_GAP}\", \"{AGENTS}\" and \"{DISTANCE}\", or []");
                return fields.wrong("measure", &other, &expected);
            }
        };
        let all = [LOSS_GAP, AGENTS, DISTANCE].map(|column| (column, column));
        let columns = given.iter().map(|column| fields.word("measure", column, &all));
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let [loss_gap, agents, distance] = all.map(|(column, _)| columns.contains(&column));
        Ok(Self::Only(Measure { loss_gap, agents, distance }))
    }

    /// What that comes to for a problem: it goes by sizes alone, so that the same file always has the same
    /// columns.
    pub(crate) fn on(self, built: &BuiltProblem) -> Measure {
        let problem = &built.problem;
        let agents = problem.agents();
        let pass = agents.saturating_mul(problem.samples().unwrap_or(1)).saturating_mul(problem.dim());
        match self {
            Self::Only(measure) => measure,
            // nobody knows what a call takes
            Self::Cheap if problem.at_once() => Measure { loss_gap: false, agents: false, distance: false },
            Self::Cheap => Measure {
                distance: false,
                loss_gap: built.knows_minimiser() || pass <= MOST_FOR_OPTIMUM,
                agents: pass.saturating_mul(agents) <= MOST_FOR_AGENTS,
            },
        }
    }
}
