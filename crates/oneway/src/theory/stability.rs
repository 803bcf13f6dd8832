//! Which step a network bears: exactly, from the linear map of a round.
//!
//! A step is stable when every eigenvalue of T(ηh) lies inside the unit disc, but for those of the conserved quantity
//! Σ(tracker − tracked), which is zero in every run. On quadratics with one curvature h for all agents that is
//! convergence itself; elsewhere, with h = L, it is the step that practice bears.

use super::linear::RoundMap;
use super::spectrum::{self, Search};
use crate::method::{Method, Network};
use crate::topology::Topology;
use crate::{Error, Result};

/// The limit is found to this share of it; for maps too large to be matrices, where the last digits are dear, to a
/// hundred times that.
const TOLERANCE: f64 = 1e-6;
/// Effective steps that no network asks for.
const SMALLEST: f64 = 1e-12;
const LARGEST: f64 = 1e6;

/// The largest stable step of a method on a topology, times the curvature h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// η·h, for η as the method takes it.
    pub raw: f64,
    /// η·c_π·h, for the step that the average takes; as `raw` for methods whose average takes η itself.
    pub effective: f64,
}

/// The end of the stable steps: all steps below it are stable, and those just above are not.
///
/// From the largest power of two below which a step is stable, by bisection with secants. Steps further below are tried
/// too, down to a thousandth; should one of them be unstable, the limit is below it.
///
/// # Complexity
/// About thirty spectral radii, each O((sn)³) for s vectors a state and n ≤ 40 agents, and some thousand rounds beyond.
///
/// ```
/// use oneway::{methods::Smtpp, theory::stability, topology::Topology};
/// // one agent, or a complete graph: gradient descent for λ = 1, a step of 2/h
/// let complete = Topology::complete(4).unwrap();
/// let limit = stability::limit(&Smtpp::new(1.0).unwrap(), &complete).unwrap();
/// assert!((limit.effective - 2.0).abs() < 1e-5);
/// ```
pub fn limit(method: &dyn Method, topology: &Topology) -> Result<Limit> {
    let one = one_for_all(method)?;
    let topology = one.as_ref().unwrap_or(topology);
    let map = RoundMap::new(method, topology)?;
    let divisor = topology.step_divisor(method.network())?;
    let tolerance = if spectrum::is_small(map.dim()) { TOLERANCE } else { 100.0 * TOLERANCE };
    let mut search = Search::new(map.dim());
    let mut growth = |effective: f64| growth(&map, &mut search, effective / divisor);

    let (mut stable, mut unstable) = bracket(&mut growth)?;
    for below in [0.75, 0.5, 0.25, 0.1, 0.01, 0.001] {
        let at = below * stable.0;
        let there = growth(at)?;
        if there >= 0.0 {
            unstable = (at, there);
            (stable, unstable) = bracket_below(unstable, &mut growth)?;
        }
    }
    let effective = crossing(stable, unstable, tolerance, &mut growth)?;
    Ok(Limit { raw: effective / divisor, effective })
}

/// The factor by which errors shrink in a round, once all that shrinks faster has gone: the largest |z| over the
/// eigenvalues of T, per round. Above 1 if the step is not stable. `step` is the raw ηh.
///
/// ```
/// use oneway::{methods::PushPull, theory::stability, topology::Topology};
/// let alone = Topology::complete(1).unwrap();
/// assert!((stability::rate(&PushPull, &alone, 0.25).unwrap() - 0.75).abs() < 1e-12); // x⁺ = (1 − ηh)x
/// ```
pub fn rate(method: &dyn Method, topology: &Topology, step: f64) -> Result<f64> {
    let one = one_for_all(method)?;
    let map = RoundMap::new(method, one.as_ref().unwrap_or(topology))?;
    Ok(growth(&map, &mut Search::new(map.dim()), step)?.exp())
}

/// All agents of a centralised method hold the same: one shows what they do.
fn one_for_all(method: &dyn Method) -> Result<Option<Topology>> {
    (method.network() == Network::Central).then(|| Topology::complete(1)).transpose()
}

/// ln of the growth a round at the raw step.
fn growth(map: &RoundMap<'_>, search: &mut Search, step: f64) -> Result<f64> {
    let radius = map.with(step, 1, |flow| search.radius(flow))??;
    Ok(radius.ln() / map.rounds() as f64)
}

/// A step and the growth there.
type Tried = (f64, f64);

/// A stable step, and an unstable one twice as large.
fn bracket(mut growth: impl FnMut(f64) -> Result<f64>) -> Result<(Tried, Tried)> {
    let first = (1.0, growth(1.0)?);
    if first.1 >= 0.0 {
        return bracket_below(first, growth);
    }
    let mut stable = first;
    loop {
        let next = (2.0 * stable.0, growth(2.0 * stable.0)?);
        if next.1 >= 0.0 {
            return Ok((stable, next));
        }
        if next.0 > LARGEST {
            return Err(Error::NoTheory(format!("every step up to {LARGEST} is stable")));
        }
        stable = next;
    }
}

/// The same below an unstable step.
fn bracket_below(mut unstable: Tried, mut growth: impl FnMut(f64) -> Result<f64>) -> Result<(Tried, Tried)> {
    loop {
        let next = (0.5 * unstable.0, growth(0.5 * unstable.0)?);
        if next.1 < 0.0 {
            return Ok((next, unstable));
        }
        if next.0 < SMALLEST {
            return Err(Error::NoTheory(format!("no step down to {SMALLEST} is stable")));
        }
        unstable = next;
    }
}

/// Where the growth passes zero: secants, with the end that stays halved (Illinois), and bisection when they are slow.
fn crossing(
    mut stable: Tried,
    mut unstable: Tried,
    tolerance: f64,
    mut growth: impl FnMut(f64) -> Result<f64>,
) -> Result<f64> {
    let mut weights = [1.0, 1.0];
    for tries in 0.. {
        let width = unstable.0 - stable.0;
        let least = 0.25 * tolerance * unstable.0;
        if width <= 4.0 * least {
            break;
        }
        let (low, high) = (weights[0] * stable.1, weights[1] * unstable.1);
        let secant = stable.0 - low * width / (high - low);
        // never onto an end: the bracket must shrink
        let at = match tries % 4 != 3 && secant.is_finite() {
            true => secant.clamp(stable.0 + least, unstable.0 - least),
            false => stable.0 + 0.5 * width,
        };
        let there = growth(at)?;
        if there < 0.0 {
            weights = [1.0, if weights[0] == 1.0 && tries > 0 { 0.5 * weights[1] } else { 1.0 }];
            stable = (at, there);
        } else {
            weights = [if weights[1] == 1.0 && tries > 0 { 0.5 * weights[0] } else { 1.0 }, 1.0];
            unstable = (at, there);
        }
    }
    Ok(0.5 * (stable.0 + unstable.0))
}
