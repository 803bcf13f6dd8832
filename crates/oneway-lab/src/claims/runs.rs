//! The runs of one experiment, as the claims ask about them.

use oneway::metrics::Measurement;

use super::statistics::{Interval, mean};
use crate::results::curves::Curve;

pub(crate) const SMTPP: &str = "SMTPP";
pub(crate) const SMTPP_TREES: &str = "SMTPP (trees)";
pub(crate) const STPP: &str = "STPP";
pub(crate) const SGP: &str = "SGP";
pub(crate) const PUSH_DIGING: &str = "Push-DIGing";
pub(crate) const CSGDM: &str = "CSGDM";

/// The last iterations of the three plateaus of the step size.
pub(crate) const PLATEAU_ENDS: [u64; 3] = [300, 600, 900];

/// What it would have taken to judge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) String);

/// A quantity of a measurement, and how two methods are compared in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    of: fn(&Measurement) -> Option<f64>,
}

pub(crate) const LOSS: Quantity = Quantity { name: "loss", of: |m| Some(m.loss) };
pub(crate) const GRADIENT: Quantity = Quantity { name: "‖∇F‖²", of: |m| Some(m.grad_norm_sq) };
pub(crate) const CONSERVATION: Quantity =
    Quantity { name: "‖v̄ − m̄‖", of: |m| m.conservation_error };
pub(crate) const FLOATS: Quantity = Quantity { name: "floats sent", of: |m| Some(m.floats_sent? as f64) };

/// All curves of an experiment on one topology.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs<'a>(pub(crate) &'a [Curve]);

impl<'a> Runs<'a> {
    /// The curves of a method, by repetition.
    pub(crate) fn of(&self, method: &str) -> Result<Vec<&'a Curve>, Missing> {
        let mut curves: Vec<&Curve> = self.0.iter().filter(|curve| curve.method == method).collect();
        curves.sort_by_key(|curve| curve.repetition);
        if curves.len() < 2 {
            return Err(Missing(format!("pair of runs of {method}")));
        }
        Ok(curves)
    }

    /// All methods, in the order of the curves.
    pub(crate) fn methods(&self) -> Vec<&'a str> {
        let mut methods: Vec<&str> = vec![];
        for curve in self.0 {
            if !methods.contains(&&*curve.method) {
                methods.push(&curve.method);
            }
        }
        methods
    }

    /// A quantity of every repetition of a method at one iteration.
    pub(crate) fn at(&self, method: &str, quantity: Quantity, iteration: u64) -> Result<Vec<f64>, Missing> {
        self.of(method)?.into_iter().map(|curve| value_at(curve, quantity, iteration)).collect()
    }

    /// ln(a/b) at one iteration, repetition by repetition.
    pub(crate) fn log_ratio(
        &self,
        [a, b]: [&str; 2],
        quantity: Quantity,
        iteration: u64,
    ) -> Result<Interval, Missing> {
        paired(&self.at(a, quantity, iteration)?, &self.at(b, quantity, iteration)?)
    }

    /// The iterations that every run has recorded, from `first` on.
    pub(crate) fn iterations_from(&self, first: u64) -> Vec<u64> {
        let recorded = |curve: &Curve, k: u64| curve.points.iter().any(|point| point.iteration == k);
        let candidates = self.0.first().map_or(&[][..], |curve| &curve.points).iter();
        let wanted = candidates.map(|point| point.iteration).filter(|&k| k >= first);
        wanted.filter(|&k| self.0.iter().all(|curve| recorded(curve, k))).collect()
    }

    /// A loss that every method should reach: 2 % above the best.
    pub(crate) fn target_loss(&self) -> Result<f64, Missing> {
        Ok(1.02 * self.best_loss()?)
    }

    /// The lowest mean final loss of all methods.
    pub(crate) fn best_loss(&self) -> Result<f64, Missing> {
        let [.., last] = PLATEAU_ENDS;
        let mut lowest = f64::INFINITY;
        for method in self.methods() {
            lowest = lowest.min(mean(&self.at(method, LOSS, last)?));
        }
        if lowest.is_finite() { Ok(lowest) } else { Err(Missing("finite loss".to_owned())) }
    }

    /// The first recorded measurement of each repetition with a loss at or below the target.
    pub(crate) fn reaching(&self, method: &str, target: f64) -> Result<Vec<&'a Measurement>, Missing> {
        let first = |curve: &'a Curve| {
            let reached = curve.points.iter().find(|point| point.loss <= target);
            reached.ok_or_else(|| {
                Missing(format!("loss of {target:.4} in repetition {} of {method}", curve.repetition))
            })
        };
        self.of(method)?.into_iter().map(first).collect()
    }

    /// The mean of F − `best` over the recorded points in a window: how fast a method comes down, with less noise than
    /// the iteration at which it first passes some loss.
    pub(crate) fn excess(&self, method: &str, best: f64, window: [u64; 2]) -> Result<Vec<f64>, Missing> {
        let [first, last] = window;
        let of_curve = |curve: &Curve| {
            let within = curve.points.iter().filter(|point| (first..=last).contains(&point.iteration));
            let excesses: Vec<f64> = within.map(|point| point.loss - best).collect();
            let what = || Missing(format!("loss of {method} between iterations {first} and {last}"));
            if excesses.is_empty() { Err(what()) } else { Ok(mean(&excesses)) }
        };
        self.of(method)?.into_iter().map(of_curve).collect()
    }

    /// Σ|ln‖∇F‖²_{k+1} − ln‖∇F‖²_k| over the recorded points in a window, for each iteration of it: how much a curve
    /// goes up and down, whatever its height.
    pub(crate) fn variation(&self, method: &str, [first, last]: [u64; 2]) -> Result<Vec<f64>, Missing> {
        let of_curve = |curve: &Curve| {
            let within = curve.points.iter().filter(|point| (first..=last).contains(&point.iteration));
            let logs: Vec<f64> = within.map(|point| point.grad_norm_sq.ln()).collect();
            let variation: f64 = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
            let enough = logs.len() > 2 && variation > 0.0 && variation.is_finite();
            let what = || Missing(format!("‖∇F‖² of {method} between iterations {first} and {last}"));
            if enough { Ok(variation / (last - first) as f64) } else { Err(what()) }
        };
        self.of(method)?.into_iter().map(of_curve).collect()
    }
}

/// A finite value of a quantity, where a run has one.
pub(crate) fn value_at(curve: &Curve, quantity: Quantity, iteration: u64) -> Result<f64, Missing> {
    let point = curve.points.iter().find(|point| point.iteration == iteration);
    let value = point.and_then(quantity.of).filter(|value| value.is_finite());
    let Curve { method, repetition, .. } = curve;
    value.ok_or_else(|| {
        Missing(format!("{} at iteration {iteration} in repetition {repetition} of {method}", quantity.name))
    })
}

/// The largest value of a quantity over all runs of a method.
pub(crate) fn largest(runs: Runs<'_>, method: &str, quantity: Quantity) -> Result<f64, Missing> {
    let mut largest: f64 = 0.0;
    for curve in runs.of(method)? {
        for point in &curve.points {
            largest = largest.max(value_at(curve, quantity, point.iteration)?);
        }
    }
    Ok(largest)
}

/// ln(a/b) of paired values, as an interval.
pub(crate) fn paired(a: &[f64], b: &[f64]) -> Result<Interval, Missing> {
    let logs: Vec<f64> = a.iter().zip(b).map(|(a, b)| (a / b).ln()).collect();
    let interval = Interval::of(&logs).filter(|i| i.mean.is_finite() && i.half.is_finite());
    interval.filter(|_| a.len() == b.len()).ok_or_else(|| Missing("pairs of positive values".to_owned()))
}
