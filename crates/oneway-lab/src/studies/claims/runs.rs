//! The runs of one experiment, as the claims ask about them.

use oneway::engine::metrics::Measurement;
use oneway_experiment::results::curves::Curve;

use super::statistics::{Interval, mean};

pub(crate) const SMTPP: &str = "SMTPP";
pub(crate) const SMTPP_TREES: &str = "SMTPP (trees)";
pub(crate) const STPP: &str = "STPP";
pub(crate) const SGP: &str = "SGP";
pub(crate) const PUSH_DIGING: &str = "Push-DIGing";
pub(crate) const CSGDM: &str = "CSGDM";

/// The last iterations of the three plateaus of the step size.
pub(crate) const PLATEAU_ENDS: [u64; 3] = [300, 600, 900];

/// What it would have taken to judge: "two runs of STPP".
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Missing(pub(crate) String);

/// A number for each repetition.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Values(Vec<(u64, f64)>);

impl Values {
    /// Their mean over the repetitions.
    pub(crate) fn mean(&self) -> f64 {
        self.0.iter().map(|(_, value)| value).sum::<f64>() / self.0.len() as f64
    }

    /// Each less the same number.
    pub(crate) fn above(&self, bottom: f64) -> Self {
        Self(self.0.iter().map(|(repetition, value)| (*repetition, value - bottom)).collect())
    }
}

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
pub(crate) const ITERATION: Quantity = Quantity { name: "iteration", of: |m| Some(m.iteration as f64) };
pub(crate) const BYTES: Quantity = Quantity { name: "bytes sent", of: |m| Some(m.bytes_sent? as f64) };

/// All curves of an experiment on one topology.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Runs<'a>(pub(crate) &'a [Curve]);

impl<'a> Runs<'a> {
    /// The curves of a method, by repetition.
    pub(crate) fn of(&self, method: &str) -> Result<Vec<&'a Curve>, Missing> {
        let mut curves: Vec<&Curve> = self.0.iter().filter(|curve| curve.method == method).collect();
        curves.sort_by_key(|curve| curve.repetition);
        if curves.len() < 2 {
            return Err(Missing(format!("two runs of {method}")));
        }
        Ok(curves)
    }

    /// A number for each repetition of a method.
    fn each(&self, method: &str, of: impl Fn(&'a Curve) -> Result<f64, Missing>) -> Result<Values, Missing> {
        let value = |curve: &'a Curve| Ok((curve.repetition, of(curve)?));
        Ok(Values(self.of(method)?.into_iter().map(value).collect::<Result<_, Missing>>()?))
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
    pub(crate) fn at(&self, method: &str, quantity: Quantity, iteration: u64) -> Result<Values, Missing> {
        self.each(method, |curve| value_at(curve, quantity, iteration))
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
            lowest = lowest.min(self.at(method, LOSS, last)?.mean());
        }
        if lowest.is_finite() { Ok(lowest) } else { Err(Missing("a finite loss".to_owned())) }
    }

    /// A quantity of the first recorded measurement of each repetition with a loss at or below the target.
    pub(crate) fn on_reaching(
        &self,
        method: &str,
        target: f64,
        quantity: Quantity,
    ) -> Result<Values, Missing> {
        self.each(method, |curve| {
            let reached = curve.points.iter().find(|point| point.loss <= target);
            let reached = reached.ok_or_else(|| {
                Missing(format!("a loss of {target:.4} in repetition {} of {method}", curve.repetition))
            })?;
            value_at(curve, quantity, reached.iteration)
        })
    }

    /// The mean of F − `bottom` over the recorded points in a window: how fast a method comes down, with less
    /// noise than the iteration at which it first passes some loss.
    pub(crate) fn excess(&self, method: &str, bottom: f64, window: [u64; 2]) -> Result<Values, Missing> {
        let [first, last] = window;
        let of_curve = |curve: &'a Curve| {
            let within = curve.points.iter().filter(|point| (first..=last).contains(&point.iteration));
            let excesses: Vec<f64> = within.map(|point| point.loss - bottom).collect();
            let what = || Missing(format!("loss of {method} between iterations {first} and {last}"));
            if excesses.is_empty() { Err(what()) } else { Ok(mean(&excesses)) }
        };
        self.each(method, of_curve)
    }

    /// Σ|ln‖∇F‖²_{k+1} − ln‖∇F‖²_k| over the recorded points in a window, for each iteration of it: how much
    /// a curve goes up and down, whatever its height.
    pub(crate) fn variation(&self, method: &str, [first, last]: [u64; 2]) -> Result<Values, Missing> {
        let of_curve = |curve: &'a Curve| {
            let within = curve.points.iter().filter(|point| (first..=last).contains(&point.iteration));
            let logs: Vec<f64> = within.map(|point| point.grad_norm_sq.ln()).collect();
            let variation: f64 = logs.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
            let enough = logs.len() > 2 && variation > 0.0 && variation.is_finite();
            let what = || Missing(format!("‖∇F‖² of {method} between iterations {first} and {last}"));
            if enough { Ok(variation / (last - first) as f64) } else { Err(what()) }
        };
        self.each(method, of_curve)
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
        for point in curve.points.iter() {
            largest = largest.max(value_at(curve, quantity, point.iteration)?);
        }
    }
    Ok(largest)
}

/// ln(a/b) of values paired by their repetition, as an interval.
pub(crate) fn paired(Values(a): &Values, Values(b): &Values) -> Result<Interval, Missing> {
    let pairs = a.iter().filter_map(|(repetition, a)| {
        let (_, b) = b.iter().find(|(other, _)| other == repetition)?;
        Some((a / b).ln())
    });
    let logs: Vec<f64> = pairs.collect();
    let interval =
        Interval::new(&logs).ok_or_else(|| Missing("two repetitions that both have".to_owned()))?;
    let finite = interval.mean.is_finite() && interval.half.is_finite();
    if finite { Ok(interval) } else { Err(Missing("positive values to compare".to_owned())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_paired_by_repetition() {
        let (a, b) = (Values(vec![(0, 2.0), (1, 3.0), (7, 5.0)]), Values(vec![(7, 5.0), (0, 2.0), (3, 1.0)]));
        assert_eq!(paired(&a, &b).unwrap(), Interval { mean: 0.0, half: 0.0 });
        assert!(paired(&a, &Values(vec![(0, 1.0), (8, 1.0)])).is_err());
        assert!(paired(&a, &b.above(5.0)).is_err(), "no logarithm of zero");
    }
}
