//! What theory says of an experiment, beside what is measured: stability limit, certified step, floor, bound.
//!
//! [`facts`] are those of the problem (L, σ², F*), [`floor`] the predicted floor, [`measured`] what the runs
//! show, [`region`] the picture of which steps work, [`show`] the table and the page.

mod facts;
mod floor;
mod measured;
mod region;
pub(crate) mod show;

use std::sync::Arc;

use anyhow::{Context, Result};
use oneway::theory::certificate::{Certificate, Certifier, Setting, Start};
use oneway::theory::stability;
use oneway_experiment::plan::{Entry, Plan};
use oneway_experiment::problem::BuiltProblem;
use oneway_experiment::problem_facts::IN_PASSES;
use oneway_experiment::results::cells::Ran;
use rayon::prelude::*;
use serde::Serialize;

pub(crate) use facts::Facts;
pub(crate) use floor::{Floor, predicted};
pub(crate) use measured::Measured;
pub(crate) use region::{Region, Ways};

/// A number or several, or why there are none.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(crate) enum Answer<T> {
    Known(T),
    None { none: String },
}

impl<T> Answer<T> {
    /// No answer, and why.
    pub(crate) fn none(why: impl Into<String>) -> Self {
        Answer::None { none: why.into() }
    }

    /// What theory found, or its reason for finding nothing.
    fn from_result(found: oneway::Result<T>) -> Self {
        match found {
            Ok(found) => Answer::Known(found),
            Err(error) => Answer::none(error.to_string()),
        }
    }

    /// The answer, if there is one.
    pub(crate) fn known(&self) -> Option<&T> {
        match self {
            Answer::Known(known) => Some(known),
            Answer::None { .. } => None,
        }
    }

    /// Why there is none, if there is none.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Answer::Known(_) => None,
            Answer::None { none } => Some(none),
        }
    }
}

/// A step size in both its scalings.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Step {
    /// η.
    pub(crate) raw: f64,
    /// η·c_π.
    pub(crate) effective: f64,
}

/// The steps of a schedule that matter.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Steps {
    /// The largest, which must be stable.
    pub(crate) largest: Step,
    /// The last, which decides how low a run ends.
    pub(crate) last: Step,
    /// For how many rounds the step was the last one.
    pub(crate) last_for: u64,
}

/// Stability with curvature h = L in every direction.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Stability {
    /// The largest stable step.
    pub(crate) limit: Step,
    /// Whether the schedule's largest step is below it.
    pub(crate) stable: bool,
    /// The factor by which errors shrink in a round at the schedule's largest step.
    pub(crate) rate: Option<f64>,
}

/// What the theorem proves for T rounds.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Proven {
    /// The largest certified step.
    pub(crate) largest: Step,
    /// Whether the experiment's own step is constant and certified.
    pub(crate) given: bool,
    /// The step that the bound is for: the given one if it is certified, otherwise the certified one with the
    /// lowest bound.
    pub(crate) step: Step,
    /// The mean of E‖∇F(x̄_k)‖² over k = 1, …, T is at most this: what the start costs, what stays, and their
    /// sum.
    pub(crate) transient: f64,
    pub(crate) floor: f64,
    pub(crate) bound: f64,
}

/// One method on one topology.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Row {
    pub(crate) topology: String,
    pub(crate) method: String,
    pub(crate) graph: &'static str,
    /// Which of the problems it runs on.
    pub(crate) problem: usize,
    pub(crate) agents: usize,
    pub(crate) rounds: u64,
    /// What turns a raw step into the step that the average takes: c_π for most push-pull methods, 1 for
    /// others.
    pub(crate) c_pi: f64,
    pub(crate) step: Steps,
    pub(crate) stability: Answer<Stability>,
    pub(crate) certificate: Answer<Proven>,
    /// ‖∇F(x̄)‖² in the long run with the last step.
    pub(crate) floor: Answer<Floor>,
    /// Rounds after which the flattest direction has forgotten where it began, 1/(η·c_π·h) at the last step:
    /// a shorter run has not come down to its floor.
    pub(crate) rounds_to_forget: Option<f64>,
    pub(crate) measured: Answer<Measured>,
}

impl Row {
    /// How many rounds with the last step a run needs to come down to its floor, if it had fewer.
    pub(crate) fn rounds_missing(&self) -> Option<f64> {
        self.rounds_to_forget.filter(|&needed| needed > self.step.last_for as f64)
    }
}

/// All that the command finds.
#[derive(Debug, Serialize)]
pub(crate) struct Findings {
    pub(crate) problems: Vec<Facts>,
    pub(crate) rows: Vec<Row>,
    pub(crate) regions: Vec<Region>,
}

/// The problems of a plan: those that entries share, once.
#[derive(Debug)]
pub(crate) struct Problems {
    facts: Vec<Facts>,
    places: Vec<Place>,
}

/// What belongs to a problem but not into a file.
#[derive(Debug)]
struct Place {
    problem: Arc<BuiltProblem>,
    modes: Answer<Vec<oneway::theory::modes::Mode>>,
}

impl Problems {
    /// Looks at every problem of the plan.
    pub(crate) fn new(plan: &Plan) -> Result<Self> {
        let mut found = Self { facts: vec![], places: vec![] };
        for entry in &plan.entries {
            if !found.places.iter().any(|place| Arc::ptr_eq(&place.problem, &entry.problem)) {
                let (facts, modes) = Facts::new(&*entry.problem.problem, entry.run.seed)?;
                found.facts.push(facts);
                found.places.push(Place { problem: Arc::clone(&entry.problem), modes });
            }
        }
        Ok(found)
    }

    fn place(&self, entry: &Entry) -> Result<usize> {
        let place = self.places.iter().position(|place| Arc::ptr_eq(&place.problem, &entry.problem));
        place.context("every entry has a problem")
    }

    /// The entry's problem.
    pub(crate) fn facts(&self, entry: &Entry) -> Result<&Facts> {
        Ok(&self.facts[self.place(entry)?])
    }

    /// All findings; entries side by side, on the threads of the pool this is called on.
    pub(crate) fn findings(self, plan: &Plan, ran: &[Ran<'_>], regions: Vec<Region>) -> Result<Findings> {
        let rows = plan.entries.par_iter().map(|entry| self.row(entry, ran)).collect::<Result<_>>()?;
        Ok(Findings { problems: self.facts, rows, regions })
    }

    fn row(&self, entry: &Entry, ran: &[Ran<'_>]) -> Result<Row> {
        let problem = self.place(entry)?;
        let facts = &self.facts[problem];
        let c_pi = entry.method.step_divisor(&entry.topology)?;
        let step = Steps::new(entry, c_pi);
        let stability = Answer::from_result(Stability::new(entry, step, facts.smoothness));
        let in_passes = !entry.problem.problem.noise_is_fresh();
        let floor = match (&stability, &self.places[problem].modes) {
            _ if in_passes => Answer::none(format!("the problem {IN_PASSES}")),
            (Answer::None { none }, _) | (_, Answer::None { none }) => Answer::none(none.clone()),
            (Answer::Known(known), Answer::Known(modes)) => {
                let limit = known.limit.raw * facts.smoothness;
                floor::predicted(&*entry.method, &entry.topology, (step.last.raw, limit), modes)
            }
        };
        let flattest = facts.curvature.map(|[flattest, _]| flattest).filter(|&h| h > 0.0);
        Ok(Row {
            topology: entry.topology_name.clone(),
            method: entry.method_name.clone(),
            graph: entry.graph,
            problem,
            agents: entry.run.agents,
            rounds: entry.run.iterations,
            c_pi,
            step,
            stability,
            certificate: match in_passes {
                true => Answer::none(format!("the problem {IN_PASSES}")),
                false => Proven::new(entry, step, facts),
            },
            floor,
            rounds_to_forget: flattest.map(|h| settled(1.0 / (step.last.effective * h))),
            measured: Measured::new(entry, ran),
        })
    }
}

/// A number from dense linear algebra without its last digits, which depend on the machine's vector unit:
/// same inputs, same bytes.
pub(crate) fn settled(value: f64) -> f64 {
    format!("{value:.8e}").parse().unwrap_or(value)
}

impl Step {
    fn new(raw: f64, c_pi: f64) -> Self {
        Self { raw, effective: raw * c_pi }
    }
}

impl Steps {
    fn new(entry: &Entry, c_pi: f64) -> Self {
        let last = entry.run.iterations.saturating_sub(1);
        let largest = entry.schedule.largest(entry.run.iterations);
        Self {
            largest: Step::new(largest, c_pi),
            last: Step::new(entry.schedule.at(last), c_pi),
            last_for: measured::rounds_with_last_step(entry),
        }
    }
}

impl Stability {
    fn new(entry: &Entry, step: Steps, smoothness: f64) -> oneway::Result<Self> {
        let limit = stability::limit(&*entry.method, &entry.topology)?;
        let limit =
            Step { raw: settled(limit.raw / smoothness), effective: settled(limit.effective / smoothness) };
        let rate = stability::rate(&*entry.method, &entry.topology, step.largest.raw * smoothness);
        Ok(Self { limit, stable: step.largest.raw < limit.raw, rate: rate.ok().map(settled) })
    }
}

impl Proven {
    fn new(entry: &Entry, step: Steps, facts: &Facts) -> Answer<Self> {
        let Some(momentum) = momentum(entry) else {
            return Answer::none("the theorem is about SMTPP");
        };
        if entry.topology.period().len() > 1 {
            return Answer::none("the theorem is about a network that stays the same");
        }
        let found = || {
            let certifier = Certifier::new(&entry.topology)?;
            let setting = Setting { smoothness: facts.smoothness, momentum };
            let Some(largest) = certifier.largest(setting)? else { return Ok(None) };
            let constant = step.largest.raw == step.last.raw;
            let given = match constant {
                true => certifier.at(setting, step.largest.raw)?,
                false => None,
            };
            let best = match &given {
                Some(given) => Some(given.clone()),
                None => best(&certifier, setting, &largest, facts.start(), entry.run.iterations)?,
            };
            let c_pi = entry.topology.stationary(0)?.c_pi;
            oneway::Result::Ok(best.map(|best| {
                let bound = best.bound(facts.start(), entry.run.iterations);
                Self {
                    largest: Step::new(settled(largest.step()), c_pi),
                    given: given.is_some(),
                    step: Step::new(if given.is_some() { best.step() } else { settled(best.step()) }, c_pi),
                    transient: settled(bound.transient),
                    floor: settled(bound.floor),
                    bound: settled(bound.total()),
                }
            }))
        };
        match found() {
            Ok(Some(proven)) => Answer::Known(proven),
            Ok(None) => Answer::none("no step is certified"),
            Err(error) => Answer::none(error.to_string()),
        }
    }
}

/// The certificate with the lowest bound for `rounds` rounds. At the largest certified step the margin of the
/// proof is next to nothing and its bound useless; far below, the start is never forgotten.
fn best(
    certifier: &Certifier,
    setting: Setting,
    largest: &Certificate,
    start: Start,
    rounds: u64,
) -> oneway::Result<Option<Certificate>> {
    let shares = [0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.02, 0.01];
    let mut best = Some(largest.clone());
    for share in shares {
        let next = certifier.at(setting, share * largest.step())?;
        let total = |certificate: &Certificate| certificate.bound(start, rounds).total();
        if let (Some(next), Some(so_far)) = (next, &best)
            && total(&next) < total(so_far)
        {
            best = Some(next);
        }
    }
    Ok(best)
}

/// λ of an entry that runs SMTPP.
fn momentum(entry: &Entry) -> Option<f64> {
    let recipe = &entry.recipe;
    let smtpp = recipe.kind.name == "smtpp" && recipe.is_plain();
    smtpp.then(|| recipe.parameters.real("momentum").ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_itself_or_its_reason() {
        let known = serde_json::to_string(&Answer::Known(1.5)).unwrap();
        let none = serde_json::to_string(&Answer::<f64>::none("why")).unwrap();
        assert_eq!((&*known, &*none), ("1.5", "{\"none\":\"why\"}"));
    }
}
