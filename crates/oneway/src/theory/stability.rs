//! Which step a network bears: exactly, from the linear map of a round.
//!
//! A step is stable when every eigenvalue of T(ηh) lies inside the unit disc, except for those of the
//! conserved quantity Σ(tracker − tracked), which is zero in every run. On quadratics with one curvature h
//! for all agents that is convergence itself; elsewhere, with h = L, it is the step that practice bears.

use super::linear::RoundMap;
use super::spectrum::{self, Search};
use crate::graph::Topology;
use crate::method::{Method, Network};
use crate::{Error, Result};

/// The limit is found to this share of it; for maps too large to be matrices, where the last digits are dear,
/// to a hundred times that.
const TOLERANCE: f64 = 1e-6;
/// Steps that no network asks for.
const SMALLEST: f64 = 1e-13;
const LARGEST: f64 = 1e6;
/// The most numbers of a round: 2000 agents with three vectors each.
const LARGEST_MAP: usize = 6000;
/// Below this c_π the mean's eigenvalue 1 − ηc_πh is 1 to rounding.
const SMALLEST_C_PI: f64 = 1e-10;

/// The largest stable step of a method on a topology, times the curvature h.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// η·h, for η as the method takes it.
    pub raw: f64,
    /// η·c_π·h, for the step that the average takes; as `raw` for methods whose average takes η itself.
    pub effective: f64,
}

/// The end of the stable steps: steps below it are stable, and those just above are not.
///
/// Stability is not monotone: there are networks on which a window of steps diverges while larger ones
/// converge again. So once a stable step with an unstable one above it is found, the steps below are scanned,
/// and where errors shrink slowest between two that are stable, that place is sought out. Up to 128 rows of T
/// the scan goes in steps of 15 % over four decades; beyond, where a rate is dear, by halves over two
/// decades, and a narrow window may be missed.
///
/// # Complexity
/// About a hundred spectral radii, each O((sn)³) for s vectors a state and n ≤ 40 agents; beyond, about
/// thirty, each some thousand to some hundred thousand products with the entries of T.
///
/// ```
/// use oneway::{methods::Smtpp, theory::stability, graph::Topology};
/// // one agent, or a complete graph: gradient descent for λ = 1, a step of 2/h
/// let complete = Topology::complete(4).unwrap();
/// let limit = stability::limit(&Smtpp::new(1.0).unwrap(), &complete).unwrap();
/// assert!((limit.effective - 2.0).abs() < 1e-5);
/// ```
pub fn limit(method: &dyn Method, topology: &Topology) -> Result<Limit> {
    let one = one_for_all(method)?;
    let topology = one.as_ref().unwrap_or(topology);
    let map = RoundMap::new(method, topology)?;
    let divisor = method.step_divisor(topology)?;
    if divisor < SMALLEST_C_PI {
        let message =
            format!("c_π = {divisor:e}: the average hardly moves, and its eigenvalue cannot be told from 1");
        return Err(Error::NoTheory(message));
    }
    let small = spectrum::is_small(map.dim());
    let mut search = Search::new(map.dim());
    let mut growth = |step: f64| growth(&map, &mut search, step);
    let (stable, unstable) = bracket(&mut growth)?;
    let scan = if small { FINE } else { COARSE };
    let (stable, unstable) = scan.first_window(stable, &mut growth)?.unwrap_or((stable, unstable));
    let tolerance = if small { TOLERANCE } else { 100.0 * TOLERANCE };
    let raw = crossing(stable, unstable, tolerance, &mut growth)?;
    Ok(Limit { raw, effective: raw * divisor })
}

/// The factor by which errors shrink in a round, once all that shrinks faster has gone: the largest |z| over
/// the eigenvalues of T, per round. Above 1 if the step is not stable. `step` is the raw ηh.
///
/// ```
/// use oneway::{methods::PUSH_PULL, theory::stability, graph::Topology};
/// let alone = Topology::complete(1).unwrap();
/// assert!((stability::rate(&PUSH_PULL, &alone, 0.25).unwrap() - 0.75).abs() < 1e-12); // x⁺ = (1 − ηh)x
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
    if map.dim() > LARGEST_MAP {
        let numbers = map.dim();
        let message = format!(
            "a round of {numbers} numbers is too large for its eigenvalues (the most is {LARGEST_MAP})"
        );
        return Err(Error::NoTheory(message));
    }
    let radius = search.radius(&mut map.sparse(step)?)?;
    Ok(radius.ln() / map.rounds() as f64)
}

/// A step and the growth there.
type Tried = (f64, f64);

/// Steps are tried this far apart at first.
const APART: f64 = 4.0;

/// A stable step, and an unstable one [`APART`] times as large.
fn bracket(mut growth: impl FnMut(f64) -> Result<f64>) -> Result<(Tried, Tried)> {
    let first = (1.0, growth(1.0)?);
    if first.1 >= 0.0 {
        return bracket_below(first, growth);
    }
    let mut stable = first;
    loop {
        let next = (APART * stable.0, growth(APART * stable.0)?);
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
        let next = (unstable.0 / APART, growth(unstable.0 / APART)?);
        if next.1 < 0.0 {
            return Ok((next, unstable));
        }
        if next.0 < SMALLEST {
            return Err(Error::NoTheory(format!("no step down to {SMALLEST} is stable")));
        }
        unstable = next;
    }
}

/// How the steps below a stable one are looked through.
#[derive(Debug, Clone, Copy)]
struct Scan {
    /// From one step to the next.
    ratio: f64,
    /// How many.
    steps: usize,
    /// Tries to find the top of a hump.
    tries: usize,
}

const FINE: Scan = Scan { ratio: 1.15, steps: 66, tries: 12 };
const COARSE: Scan = Scan { ratio: 2.0, steps: 7, tries: 0 };

impl Scan {
    /// The lowest window of unstable steps below `stable`, by a stable step and the unstable one above it.
    fn first_window(
        self,
        stable: Tried,
        mut growth: impl FnMut(f64) -> Result<f64>,
    ) -> Result<Option<(Tried, Tried)>> {
        let mut tried = vec![stable];
        for step in 1..=self.steps {
            let at = stable.0 / self.ratio.powi(step as i32);
            tried.push((at, growth(at)?));
        }
        tried.reverse();
        for at in 1..tried.len() {
            let (below, here) = (tried[at - 1], tried[at]);
            if below.1 < 0.0 && here.1 >= 0.0 {
                return Ok(Some((below, here)));
            }
            let Some(&above) = tried.get(at + 1) else { break };
            if here.1 > below.1 && here.1 > above.1 {
                let top = self.top(below.0, above.0, here, &mut growth)?;
                if top.1 >= 0.0 {
                    return Ok(Some((below, top)));
                }
            }
        }
        Ok(None)
    }

    /// The top of a hump of the growth between two steps: golden section in the logarithm, ended by the first
    /// unstable step.
    fn top(
        self,
        low: f64,
        high: f64,
        mut top: Tried,
        mut growth: impl FnMut(f64) -> Result<f64>,
    ) -> Result<Tried> {
        const SHORT: f64 = 0.381_966_011_250_105_1; // 2 − golden ratio
        let (mut low, mut high) = (low.ln(), high.ln());
        for _ in 0..self.tries {
            let middle = top.0.ln();
            let left = middle - low > high - middle;
            let at = if left { middle - SHORT * (middle - low) } else { middle + SHORT * (high - middle) };
            let there = (at.exp(), growth(at.exp())?);
            match (there.1 > top.1, left) {
                (true, true) => (high, top) = (middle, there),
                (true, false) => (low, top) = (middle, there),
                (false, true) => low = at,
                (false, false) => high = at,
            }
            if top.1 >= 0.0 {
                break;
            }
        }
        Ok(top)
    }
}

/// Where the growth passes zero: secants, with the end that stays halved (Illinois), and bisection when they
/// are slow.
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
