//! What algebra says of a reading, beside its runs: whether a step is stable, and where a method comes to rest.
//!
//! F is taken at its lowest point as a quadratic with one Hessian for all agents, and along the direction q in which it
//! curves most, h = qᵀ∇²F q: there a run forgets its start first. With the noise s of a gradient along q and the agents'
//! gradients b along it, a method on its network at its first step η rests at E(qᵀ∇F(x̄))² = s·φ(ηh) + (r(ηh)·b)²,
//! φ and r exact ([`oneway::theory::floor`]), or at no place where an eigenvalue of its round is outside the unit
//! disc. A claim on who is lower is decided by these numbers. The noise is taken as independent from round to round,
//! where rows are drawn without replacement too.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use oneway::theory::modes::{Mode, modes};
use oneway::theory::{floor, stability};
use oneway_experiment::plan::Entry;
use oneway_experiment::problem::BuiltProblem;
use oneway_experiment::problem_facts;
use rayon::prelude::*;
use serde::Serialize;

use super::experiment::Planned;
use super::rules::{Graph, Rule, Rules};
use super::verdicts::Verdict;
use super::{Cells, Map};
use crate::studies::certify::{predicted, settled};

/// Floors that are nearer than this, as |ln(a/b)|, are the same but for rounding.
const SAME: f64 = 1e-6;

/// A method on a network, at its first step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Exact {
    /// η·h, as the method takes it.
    pub(crate) step: f64,
    /// The factor by which errors shrink a round, or grow.
    pub(crate) rate: f64,
    /// E(qᵀ∇F(x̄))² in the long run; none where errors grow.
    pub(crate) floor: Option<f64>,
}

/// All methods of a reading.
pub(crate) type OfReading = Vec<(Graph, String, Exact)>;

/// What is looked at more closely in those readings that are told of.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Closer {
    /// The largest stable η·h, as the method takes it.
    pub(crate) limit: f64,
    /// E‖∇F(x̄)‖² in the long run at the first step, over all directions; none where that step is not stable.
    pub(crate) gradient: Option<f64>,
}

/// All that algebra says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Algebra {
    /// By reading.
    pub(crate) exact: Vec<OfReading>,
    /// Of those that are told of.
    pub(crate) closer: HashMap<usize, Vec<(Graph, String, Closer)>>,
}

/// The directions of a problem at its lowest point, the steepest last.
fn directions(problem: &BuiltProblem) -> Result<Vec<Mode>> {
    let lowest = problem_facts::lowest(&*problem.problem);
    let all = modes(&*problem.problem, &lowest.x)?.context("the problem has no Hessian")?;
    anyhow::ensure!(!all.is_empty(), "the problem has no direction");
    Ok(all)
}

impl Exact {
    fn new(entry: &Entry, modes: &[Mode]) -> Result<Self> {
        let mode = modes.last().context("the problem has no direction")?;
        let (method, topology) = (&*entry.method, &*entry.topology);
        let step = entry.schedule.at(0) * mode.curvature;
        let rate = stability::rate(method, topology, step)?;
        let floor = match rate < 1.0 {
            false => None,
            true => {
                let noise = floor::floor(method, topology, step)?.at_average;
                let bias = floor::bias(method, topology, step)?.at_average(&mode.gradients);
                Some(settled(mode.noise * noise + bias))
            }
        };
        Ok(Self { step: settled(step), rate: settled(rate), floor })
    }
}

impl Closer {
    fn new(entry: &Entry, modes: &[Mode]) -> Result<Self> {
        let (method, topology) = (&*entry.method, &*entry.topology);
        let limit = stability::limit(method, topology)?.raw;
        let floor = predicted(method, topology, (entry.schedule.at(0), limit), modes);
        Ok(Self { limit: settled(limit), gradient: floor.known().map(|floor| floor.total) })
    }
}

/// What algebra says of all readings, and more closely of some, on the threads of the pool it is called on.
pub(crate) fn of_all(map: &Map, plans: &[Planned], told: &[usize]) -> Result<Algebra> {
    let mut problems: Vec<&Arc<BuiltProblem>> = vec![];
    for Planned { problem, .. } in plans {
        if problems.iter().all(|known| known.sha256 != problem.sha256) {
            problems.push(problem);
        }
    }
    let directions = problems.par_iter().map(|problem| Ok((&*problem.sha256, directions(problem)?)));
    let modes: HashMap<&str, Vec<Mode>> = directions.collect::<Result<_>>()?;
    // what is judged, each once: cells of one key are one method on one network with one step
    let mut wanted: HashMap<&str, (&Entry, &[Mode], bool)> = HashMap::new();
    for (at, (Planned { plan, problem }, cells)) in plans.iter().zip(&map.cells).enumerate() {
        let modes = modes.get(&*problem.sha256).context("a problem without a direction")?;
        let of_key: HashMap<String, &Entry> =
            plan.cells().into_iter().map(|cell| (cell.key, cell.entry)).collect();
        for (_, _, keys) in &cells.judged {
            let key = keys.first().context("a method without runs")?;
            let entry = of_key.get(key).context("a cell that is in no plan")?;
            wanted.entry(key).or_insert((entry, modes, false)).2 |= told.contains(&at);
        }
    }
    let found = wanted.into_par_iter().map(|(key, (entry, modes, closer))| {
        let closer = closer.then(|| Closer::new(entry, modes)).transpose()?;
        Ok((key, (Exact::new(entry, modes)?, closer)))
    });
    let found: HashMap<&str, (Exact, Option<Closer>)> = found.collect::<Result<_>>()?;
    let each = |cells: &Cells| {
        let of = |(graph, method, keys): &(Graph, String, Vec<String>)| {
            Some((*graph, method.clone(), *found.get(&**keys.first()?)?))
        };
        cells.judged.iter().filter_map(of).collect::<Vec<_>>()
    };
    let exact = |cells| each(cells).into_iter().map(|(graph, method, (exact, _))| (graph, method, exact));
    let closer = |&reading: &usize| {
        let all = each(map.cells.get(reading)?).into_iter();
        Some((
            reading,
            all.filter_map(|(graph, method, (_, closer))| Some((graph, method, closer?))).collect(),
        ))
    };
    Ok(Algebra {
        exact: map.cells.iter().map(|cells| exact(cells).collect()).collect(),
        closer: told.iter().filter_map(closer).collect(),
    })
}

/// What algebra says of a rule in a reading; none where it says nothing of its kind.
pub(crate) fn decided(rules: &Rules, rule: &Rule, exact: &OfReading) -> Option<Verdict> {
    let of = |method: &str, graph: Graph| {
        exact.iter().find(|(on, name, _)| *on == graph && name == method).map(|(_, _, exact)| exact.floor)
    };
    let lower = |a: Option<Option<f64>>, b: Option<Option<f64>>| match (a?, b?) {
        (None, None) => Some(Verdict::Open),
        (None, Some(_)) => Some(Verdict::Fails),
        (Some(_), None) => Some(Verdict::Holds),
        (Some(a), Some(b)) => Some(match (a / b).ln() {
            log if log.abs() <= SAME => Verdict::Open,
            log if log < 0.0 => Verdict::Holds,
            _ => Verdict::Fails,
        }),
    };
    match rule {
        Rule::Lower { these, than, on } => {
            let pairs = these.iter().flat_map(|a| than.iter().map(move |b| (a, b)));
            all(pairs.map(|(a, b)| lower(of(a, *on), of(b, *on))))
        }
        Rule::LowerOnExponential { these } => {
            all(these.iter().map(|a| lower(of(a, Graph::Exponential), of(a, Graph::MultiSubRing))))
        }
        Rule::Close { pair: [a, b], on } | Rule::Overlap { pair: [a, b], on } => {
            Some(match (of(a, *on)?, of(b, *on)?) {
                (Some(a), Some(b)) if (a / b).ln().abs() <= rules.margin => Verdict::Holds,
                _ => Verdict::Fails,
            })
        }
        Rule::Smoother { .. } | Rule::SendsLess { .. } => None,
    }
}

/// Holds if all hold, fails if any does.
fn all(of: impl Iterator<Item = Option<Verdict>>) -> Option<Verdict> {
    let of: Vec<Verdict> = of.collect::<Option<_>>()?;
    Some(match () {
        () if of.contains(&Verdict::Fails) => Verdict::Fails,
        () if of.contains(&Verdict::Open) || of.is_empty() => Verdict::Open,
        () => Verdict::Holds,
    })
}
