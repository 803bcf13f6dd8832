//! The rules applied to the curves of one reading: two p values for each claim, that it holds and that it
//! fails.

use std::sync::Arc;

use oneway::engine::metrics::Measurement;
use oneway::numeric::student;

use super::rules::{Graph, Rule, Rules};
use super::space::{Quantity, View};
use crate::studies::claims::statistics::mean;

/// What ran under a reading.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran {
    pub(crate) runs: Vec<Runs>,
    /// F*.
    pub(crate) optimum: f64,
}

/// The repetitions of a method on a graph.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    pub(crate) graph: Graph,
    pub(crate) method: String,
    pub(crate) curves: Vec<Arc<[Measurement]>>,
}

/// The chance of such data, or of data that say it more clearly, if it were not so.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Evidence {
    pub(crate) holds: f64,
    pub(crate) fails: f64,
}

impl Evidence {
    const SURE: Self = Self { holds: 0.0, fails: 1.0 };
    const NOT_SO: Self = Self { holds: 1.0, fails: 0.0 };
    const OPEN: Self = Self { holds: 1.0, fails: 1.0 };

    /// Holds if all hold, fails if any does.
    fn all(of: impl IntoIterator<Item = Self>) -> Self {
        let of: Vec<Self> = of.into_iter().collect();
        let holds = of.iter().map(|one| one.holds).fold(0.0, f64::max);
        let least = of.iter().map(|one| one.fails).fold(1.0, f64::min);
        if of.is_empty() { Self::OPEN } else { Self { holds, fails: (least * of.len() as f64).min(1.0) } }
    }

    /// Whether the mean of these numbers is below a bound.
    fn below(numbers: &[f64], bound: f64) -> Self {
        if !numbers.iter().all(|number| number.is_finite()) {
            return Self::OPEN; // curves that do not move at all, say: nothing can be compared
        }
        let tail = below_by_chance(numbers, bound);
        Self { holds: tail, fails: 1.0 - tail }
    }

    /// Whether the mean of these numbers is within ± margin: both ends are tested.
    fn within(numbers: &[f64], margin: f64) -> Self {
        if !numbers.iter().all(|number| number.is_finite()) {
            return Self::OPEN;
        }
        let mirrored: Vec<f64> = numbers.iter().map(|x| -x).collect();
        let [upper, lower] = [numbers, &mirrored].map(|side| below_by_chance(side, margin));
        Self { holds: upper.max(lower), fails: (2.0 * (1.0 - upper).min(1.0 - lower)).min(1.0) }
    }
}

/// P(T ≥ (bound − x̄)/(s/√r)) by Student's t of r − 1 degrees of freedom: small if the mean is surely below.
fn below_by_chance(numbers: &[f64], bound: f64) -> f64 {
    let r = numbers.len();
    let mean = mean(numbers);
    let squares: f64 = numbers.iter().map(|x| (x - mean) * (x - mean)).sum();
    let error = (squares / (r.max(2) - 1) as f64 / r as f64).sqrt();
    match () {
        () if r < 2 => 1.0,
        () if error == 0.0 => {
            if mean < bound {
                0.0
            } else {
                1.0
            }
        }
        () => {
            let t = (bound - mean) / error;
            let tail = student::upper_tail(t.abs(), (r - 1) as f64);
            if t >= 0.0 { tail } else { 1.0 - tail }
        }
    }
}

/// A method's curves as a view shows them: for each repetition a value at each recorded state up to the
/// place. None if one of them is not finite or not there: the method has diverged.
type Shown = Option<Vec<Vec<f64>>>;

/// The evidence on each claim in a reading, as a view shows it.
pub(crate) fn evidence(rules: &Rules, ran: &Ran, view: View) -> Vec<Evidence> {
    let look = Look { rules, ran, view };
    rules.claims.iter().map(|claim| look.judge(&claim.rule)).collect()
}

struct Look<'a> {
    rules: &'a Rules,
    ran: &'a Ran,
    view: View,
}

impl Look<'_> {
    fn judge(&self, rule: &Rule) -> Evidence {
        let every = |these: &[String], than: &[String], compare: &dyn Fn(&str, &str) -> Evidence| {
            let pairs = these.iter().flat_map(|a| than.iter().map(move |b| (a, b)));
            Evidence::all(pairs.map(|(a, b)| compare(a, b)).collect::<Vec<_>>())
        };
        match rule {
            Rule::Lower { these, than, on } => {
                every(these, than, &|a, b| self.lower((a, *on), (b, *on), last))
            }
            Rule::Smoother { these, than, on } => {
                let points = self.rules.window / self.spacing().max(1);
                every(these, than, &|a, b| self.lower((a, *on), (b, *on), |curve| variation(curve, points)))
            }
            Rule::LowerOnExponential { these } => {
                Evidence::all(these.iter().map(|method| {
                    self.lower((method, Graph::Exponential), (method, Graph::MultiSubRing), last)
                }))
            }
            Rule::Close { pair: [a, b], on } => self.close(a, b, *on, |a, b| (last(a) / last(b)).ln(), false),
            Rule::Overlap { pair: [a, b], on } => {
                let first = self.rules.from.div_ceil(self.spacing().max(1)) as usize;
                let apart = |a: &[f64], b: &[f64]| {
                    let logs = a.iter().zip(b).skip(first).map(|(a, b)| (a / b).ln().abs());
                    mean(&logs.collect::<Vec<_>>())
                };
                self.close(a, b, *on, apart, true)
            }
            Rule::SendsLess { these, than, on } => every(these, than, &|a, b| self.sends_less(a, b, *on)),
        }
    }

    fn runs(&self, method: &str, graph: Graph) -> Option<&Runs> {
        let mut all = self.ran.runs.iter();
        // what is computed at one place is the same on all graphs
        all.find(|runs| runs.method == method && runs.graph == graph)
    }

    /// Rounds between recorded states.
    fn spacing(&self) -> u64 {
        let first = self.ran.runs.iter().flat_map(|runs| &runs.curves).find(|curve| curve.len() > 1);
        first.map_or(1, |curve| curve[1].iteration - curve[0].iteration)
    }

    fn shown(&self, method: &str, graph: Graph) -> Shown {
        let curves = &self.runs(method, graph)?.curves;
        curves.iter().map(|curve| shown(curve, self.view, self.ran.optimum)).collect()
    }

    /// Whether a summary of a's curves is below that of b's, by ln(a/b) of each repetition.
    fn lower(&self, a: (&str, Graph), b: (&str, Graph), of: impl Fn(&[f64]) -> f64) -> Evidence {
        match (self.shown(a.0, a.1), self.shown(b.0, b.1)) {
            (None, None) => Evidence::OPEN,
            (None, Some(_)) => Evidence::NOT_SO,
            (Some(_), None) => Evidence::SURE,
            (Some(a), Some(b)) => {
                let logs = a.iter().zip(&b).map(|(a, b)| (of(a) / of(b)).ln());
                Evidence::below(&logs.collect::<Vec<_>>(), 0.0)
            }
        }
    }

    /// Whether how far two curves are apart is within the margin; a distance has one side only.
    fn close(
        &self,
        a: &str,
        b: &str,
        graph: Graph,
        apart: impl Fn(&[f64], &[f64]) -> f64,
        is_distance: bool,
    ) -> Evidence {
        let (Some(a), Some(b)) = (self.shown(a, graph), self.shown(b, graph)) else {
            return Evidence::NOT_SO;
        };
        let margin = match self.view.quantity {
            Quantity::Loss => self.rules.margin_loss,
            Quantity::Gap | Quantity::Gradient | Quantity::LeastGradient => self.rules.margin,
        };
        let numbers: Vec<f64> = a.iter().zip(&b).map(|(a, b)| apart(a, b)).collect();
        match is_distance {
            true => Evidence::below(&numbers, margin),
            false => Evidence::within(&numbers, margin),
        }
    }

    /// Bytes sent up to the first recorded state after the start: the same in all repetitions, noise or not.
    fn sends_less(&self, a: &str, b: &str, graph: Graph) -> Evidence {
        let sent = |method| self.runs(method, graph)?.curves.first()?.get(1)?.bytes_sent;
        match (sent(a), sent(b)) {
            (Some(a), Some(b)) if a < b => Evidence::SURE,
            (Some(_), Some(_)) => Evidence::NOT_SO,
            _ => Evidence::OPEN,
        }
    }
}

/// The values of a curve up to the place, in the order of its states.
pub(crate) fn shown(curve: &[Measurement], view: View, optimum: f64) -> Option<Vec<f64>> {
    let place = curve.iter().position(|point| point.iteration == view.place)?;
    let mut least = f64::INFINITY;
    let values = curve[..=place].iter().map(|point| {
        least = least.min(point.grad_norm_sq);
        match view.quantity {
            Quantity::Loss => point.loss,
            Quantity::Gap => point.loss - optimum,
            Quantity::Gradient => point.grad_norm_sq,
            Quantity::LeastGradient => least,
        }
    });
    let values: Vec<f64> = values.collect();
    let sound = values.iter().all(|value| value.is_finite() && *value > 0.0)
        && curve[..=place].iter().all(|point| point.loss.is_finite() && point.grad_norm_sq.is_finite());
    sound.then_some(values)
}

/// Mean F over the repetitions at a place; infinite where one of them has none that is finite.
pub(crate) fn mean_loss(runs: &Runs, place: u64) -> f64 {
    let at = |curve: &Arc<[Measurement]>| {
        curve.iter().find(|point| point.iteration == place).map_or(f64::INFINITY, |point| point.loss)
    };
    let losses: Vec<f64> = runs.curves.iter().map(at).collect();
    if losses.iter().all(|loss| loss.is_finite()) { mean(&losses) } else { f64::INFINITY }
}

fn last(curve: &[f64]) -> f64 {
    curve.last().copied().unwrap_or(f64::NAN)
}

/// Σ|Δ ln| over the last recorded steps.
fn variation(curve: &[f64], points: u64) -> f64 {
    let from = curve.len().saturating_sub(points as usize + 1);
    curve[from..].windows(2).map(|pair| (pair[1] / pair[0]).ln().abs()).sum()
}
