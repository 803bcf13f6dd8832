//! The predicted floor: ‖∇F(x̄)‖² in the long run, summed over the directions in which the problem is on its own.
//!
//! E‖∇F(x̄)‖² = Σ_k s_k·φ(ηh_k), h_k the curvature along direction k, s_k the noise along it, and φ(ηh) the floor of
//! f(x) = hx²/2 with noise of variance one. Exact for quadratics; elsewhere a model, see [`oneway::theory::modes`].

use std::collections::BTreeMap;

use oneway::method::Method;
use oneway::theory::floor;
use oneway::theory::modes::Mode;
use oneway::topology::Topology;

use super::{Answer, settled};

/// Between two values of φ the logarithm is taken as straight if it is so to this at the middle. The true error is smaller:
/// the middle is where it is largest, and each half is straighter than the whole.
const STRAIGHT: f64 = 1e-3;
/// Curvatures below this share of the largest are not looked at one by one: φ is proportional to ηh there.
const SMALL: f64 = 1e-5;
/// Of so few directions each is looked at.
const FEW: usize = 32;
/// A stretch is not halved more often than this.
const DEPTH: usize = 16;

/// The floor at the raw step η, where ηh must stay below `limit`.
pub(super) fn predicted(
    method: &dyn Method,
    topology: &Topology,
    (η, limit): (f64, f64),
    modes: &[Mode],
) -> Answer<f64> {
    let curved: Vec<&Mode> = modes.iter().filter(|mode| mode.curvature > 0.0 && mode.noise > 0.0).collect();
    let Some(largest) = curved.iter().map(|mode| mode.curvature).reduce(f64::max) else {
        return Answer::Known(0.0);
    };
    if η * largest >= limit {
        return Answer::none("the last step is not stable: there is no floor");
    }
    let smallest = curved.iter().map(|mode| mode.curvature).fold(largest, f64::min).max(SMALL * largest);
    let φ = |at: f64| Ok(floor::floor(method, topology, at)?.at_average);
    let table = match curved.len() {
        ..=FEW => Table::of(curved.iter().map(|mode| η * mode.curvature), φ),
        _ => Table::new(η * smallest, η * largest, φ),
    };
    match table {
        Err(error) => Answer::none(error.to_string()),
        Ok(table) => {
            let along = |mode: &&Mode| mode.noise * table.at(η * mode.curvature);
            Answer::Known(settled(curved.iter().map(along).sum()))
        }
    }
}

/// A positive function by its logarithm, in straight pieces that are short where it bends.
struct Table {
    /// (ln x, ln φ(x)), by the bits of x, which ascend as x does.
    points: BTreeMap<u64, [f64; 2]>,
}

impl Table {
    /// φ from `low` to `high`, both positive.
    fn new(low: f64, high: f64, φ: impl Fn(f64) -> oneway::Result<f64>) -> oneway::Result<Self> {
        let mut table = Self { points: BTreeMap::new() };
        table.add(low, &φ)?;
        if high > low {
            table.add(high, &φ)?;
            table.refine(low, high, &φ, DEPTH)?;
        }
        Ok(table)
    }

    /// φ at these points, all positive; those that are there twice once.
    fn of(at: impl Iterator<Item = f64>, φ: impl Fn(f64) -> oneway::Result<f64>) -> oneway::Result<Self> {
        let mut table = Self { points: BTreeMap::new() };
        for x in at {
            if !table.points.contains_key(&x.to_bits()) {
                table.add(x, &φ)?;
            }
        }
        Ok(table)
    }

    fn add(&mut self, x: f64, φ: &dyn Fn(f64) -> oneway::Result<f64>) -> oneway::Result<[f64; 2]> {
        let point = [x.ln(), φ(x)?.ln()];
        self.points.insert(x.to_bits(), point);
        Ok(point)
    }

    fn refine(
        &mut self,
        low: f64,
        high: f64,
        φ: &dyn Fn(f64) -> oneway::Result<f64>,
        depth: usize,
    ) -> oneway::Result<()> {
        let middle = (low * high).sqrt();
        if depth == 0 || middle <= low || middle >= high {
            return Ok(());
        }
        let straight = self.at(middle).ln();
        let [_, found] = self.add(middle, φ)?;
        if (found - straight).abs() > STRAIGHT || depth == DEPTH {
            self.refine(low, middle, φ, depth - 1)?;
            self.refine(middle, high, φ, depth - 1)?;
        }
        Ok(())
    }

    /// φ(x): straight between the nearest points in logarithms; below the first point proportional to x.
    fn at(&self, x: f64) -> f64 {
        let below = self.points.range(..=x.to_bits()).next_back().map(|(_, point)| *point);
        let above = self.points.range(x.to_bits()..).next().map(|(_, point)| *point);
        let ln = match (below, above) {
            (Some([x_0, φ_0]), Some([x_1, φ_1])) if x_1 > x_0 => {
                φ_0 + (φ_1 - φ_0) * (x.ln() - x_0) / (x_1 - x_0)
            }
            (None, Some([x_1, φ_1])) => φ_1 + (x.ln() - x_1),
            (Some([_, φ]), _) => φ,
            (None, None) => f64::NAN,
        };
        ln.exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_its_points_a_table_is_right_to_a_thousandth() {
        // gradient descent: φ(x) = x/(2 − x), which leaves for infinity at 2
        let φ = |x: f64| x / (2.0 - x);
        let table = Table::new(1e-6, 1.99, |x| Ok(φ(x))).unwrap();
        assert!(table.points.len() < 250, "{}", table.points.len());
        for i in 0..1000 {
            let x = 1e-6 * 1.98e6f64.powf(f64::from(i) / 999.0);
            assert!((table.at(x) / φ(x) - 1.0).abs() < 2e-3, "{x}: {} {}", table.at(x), φ(x));
        }
        assert!((table.at(1e-9) / φ(1e-9) - 1.0).abs() < 1e-5, "proportional below");
    }

    #[test]
    fn given_points_are_looked_at_once_each() {
        let calls = std::cell::Cell::new(0);
        let φ = |x: f64| {
            calls.set(calls.get() + 1);
            Ok(x / (2.0 - x))
        };
        let table = Table::of([0.1, 1.5, 0.1, 0.7].into_iter(), φ).unwrap();
        assert_eq!(calls.get(), 3);
        assert!([0.1, 0.7, 1.5].iter().all(|x| (table.at(*x) * (2.0 - x) / x - 1.0).abs() < 1e-14));
    }

    #[test]
    fn one_point_is_a_table_too() {
        let table = Table::new(0.5, 0.5, |x| Ok(x * x)).unwrap();
        assert!((table.at(0.5) - 0.25).abs() < 1e-15 && table.points.len() == 1);
    }
}
