//! The predicted floor: ‖∇F(x̄)‖² in the long run, summed over the directions in which the problem is on its
//! own.
//!
//! E‖∇F(x̄)‖² = Σ_k s_k·φ(ηh_k) + Σ_k (r(ηh_k)·b_k)², h_k the curvature along direction k, s_k the noise
//! along it, b_k the agents' gradients along it at the minimiser; φ(ηh) is the floor of f(x) = hx²/2 with
//! noise of variance one, and r(ηh) the response of the fixed point to the agents' gradients. Exact for
//! quadratics; elsewhere a model, see [`oneway::theory::modes`].

use std::collections::BTreeMap;

use oneway::graph::Topology;
use oneway::method::Method;
use oneway::theory::floor;
use oneway::theory::modes::Mode;
use serde::Serialize;

use super::{Answer, settled};

/// Between two values a line is taken as straight if it is so to this at the middle. The true error is
/// smaller: the middle is where it is largest, and each half is straighter than the whole.
const STRAIGHT: f64 = 1e-3;
/// Curvatures below this share of the largest are not looked at one by one: φ and r are proportional to ηh
/// there.
const SMALL: f64 = 1e-5;
/// Of so few directions each is looked at.
const FEW: usize = 32;
/// A stretch is not halved more often than this.
const DEPTH: usize = 16;

/// ‖∇F(x̄)‖² in the long run, and what it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub(crate) struct Floor {
    /// What the noise of the gradients leaves.
    pub(crate) noise: f64,
    /// What is left without any: the squared distance at which agents that pull in different directions come
    /// to rest.
    pub(crate) bias: f64,
    /// Their sum.
    pub(crate) total: f64,
}

/// The floor at the raw step η, where ηh must stay below `limit`.
pub(crate) fn predicted(
    method: &dyn Method,
    topology: &Topology,
    (η, limit): (f64, f64),
    modes: &[Mode],
) -> Answer<Floor> {
    let curved: Vec<&Mode> = modes.iter().filter(|mode| mode.curvature > 0.0).collect();
    let Some(largest) = curved.iter().map(|mode| mode.curvature).reduce(f64::max) else {
        return Answer::Known(Floor::default());
    };
    if η * largest >= limit {
        return Answer::none("the last step is not stable: there is no floor");
    }
    let smallest = curved.iter().map(|mode| mode.curvature).fold(largest, f64::min).max(SMALL * largest);
    let look = |at: f64| Response::new(method, topology, at);
    let table = match curved.len() {
        ..=FEW => Table::at_points(curved.iter().map(|mode| η * mode.curvature), look),
        _ => Table::new(η * smallest, η * largest, look),
    };
    let table = match table {
        Err(error) => return Answer::none(error.to_string()),
        Ok(table) => table,
    };
    let (mut noise, mut bias) = (0.0, 0.0);
    for mode in curved {
        let at = η * mode.curvature;
        let response = table.at(at);
        noise += mode.noise * at * response.noise.exp();
        bias += (at * response.bias.iter().zip(&mode.gradients).map(|(r, b)| r * b).sum::<f64>()).powi(2);
    }
    Answer::Known(Floor { noise: settled(noise), bias: settled(bias), total: settled(noise + bias) })
}

/// What a unit of noise, and of each agent's gradient at the minimiser, do to ∇F(x̄) at a step x = ηh. Both
/// are proportional to x where it is small, so that they are kept divided by it.
#[derive(Debug, Clone, PartialEq)]
struct Response {
    /// ln(φ(x)/x).
    noise: f64,
    /// r(x)/x, an entry an agent.
    bias: Vec<f64>,
}

impl Response {
    fn new(method: &dyn Method, topology: &Topology, x: f64) -> oneway::Result<Self> {
        let noise = (floor::floor(method, topology, x)?.at_average / x).ln();
        let bias = floor::bias(method, topology, x)?.of_average.iter().map(|r| r / x).collect();
        Ok(Self { noise, bias })
    }

    /// Straight between two, `share` of the way from this one to the other.
    fn towards(&self, other: &Self, share: f64) -> Self {
        let between = |a: f64, b: f64| a + (b - a) * share;
        let bias = self.bias.iter().zip(&other.bias).map(|(a, b)| between(*a, *b)).collect();
        Self { noise: between(self.noise, other.noise), bias }
    }

    /// Whether the two are the same except for what does not matter.
    fn is_about(&self, other: &Self) -> bool {
        let apart: f64 = self.bias.iter().zip(&other.bias).map(|(a, b)| (a - b).abs()).sum();
        let size: f64 = other.bias.iter().map(|r| r.abs()).sum();
        (self.noise - other.noise).abs() <= STRAIGHT && apart <= STRAIGHT * size
    }
}

/// A response by its values over ln x, in straight pieces that are short where it bends.
struct Table {
    /// By the bits of x, which ascend as x does.
    points: BTreeMap<u64, Response>,
}

impl Table {
    /// From `low` to `high`, both positive.
    fn new(low: f64, high: f64, look: impl Fn(f64) -> oneway::Result<Response>) -> oneway::Result<Self> {
        let mut table = Self { points: BTreeMap::new() };
        table.add(low, &look)?;
        if high > low {
            table.add(high, &look)?;
            table.refine(low, high, &look, DEPTH)?;
        }
        Ok(table)
    }

    /// At these points, all positive; those that are there twice once.
    fn at_points(
        at: impl Iterator<Item = f64>,
        look: impl Fn(f64) -> oneway::Result<Response>,
    ) -> oneway::Result<Self> {
        let mut table = Self { points: BTreeMap::new() };
        for x in at {
            if !table.points.contains_key(&x.to_bits()) {
                table.add(x, &look)?;
            }
        }
        Ok(table)
    }

    fn add(&mut self, x: f64, look: &dyn Fn(f64) -> oneway::Result<Response>) -> oneway::Result<()> {
        self.points.insert(x.to_bits(), look(x)?);
        Ok(())
    }

    fn refine(
        &mut self,
        low: f64,
        high: f64,
        look: &dyn Fn(f64) -> oneway::Result<Response>,
        depth: usize,
    ) -> oneway::Result<()> {
        let middle = (low * high).sqrt();
        if depth == 0 || middle <= low || middle >= high {
            return Ok(());
        }
        let straight = self.at(middle);
        self.add(middle, look)?;
        if !straight.is_about(&self.at(middle)) || depth == DEPTH {
            self.refine(low, middle, look, depth - 1)?;
            self.refine(middle, high, look, depth - 1)?;
        }
        Ok(())
    }

    /// Straight between the nearest points; beyond the first and the last as there.
    fn at(&self, x: f64) -> Response {
        let below = self.points.range(..=x.to_bits()).next_back();
        let above = self.points.range(x.to_bits()..).next();
        match (below, above) {
            (Some((low, first)), Some((high, second))) if high > low => {
                let [low, high] = [*low, *high].map(|bits| f64::from_bits(bits).ln());
                first.towards(second, (x.ln() - low) / (high - low))
            }
            (Some((_, only)), _) | (_, Some((_, only))) => only.clone(),
            (None, None) => Response { noise: f64::NAN, bias: vec![] },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gradient descent: φ(x) = x/(2 − x), which leaves for infinity at 2; and a bias that changes its sign.
    fn look(x: f64) -> oneway::Result<Response> {
        Ok(Response { noise: -(2.0 - x).ln(), bias: vec![1.0 - x, x] })
    }

    #[test]
    fn between_its_points_a_table_is_right_to_a_thousandth() {
        let table = Table::new(1e-6, 1.99, look).unwrap();
        assert!(table.points.len() < 250, "{}", table.points.len());
        for i in 0..1000 {
            let x = 1e-6 * 1.98e6f64.powf(f64::from(i) / 999.0);
            let (found, exact) = (table.at(x), look(x).unwrap());
            assert!((found.noise - exact.noise).abs() < 2e-3, "{x}: {found:?} {exact:?}");
            let apart: f64 = found.bias.iter().zip(&exact.bias).map(|(a, b)| (a - b).abs()).sum();
            assert!(
                apart < 2e-3 * exact.bias.iter().map(|r| r.abs()).sum::<f64>(),
                "{x}: {found:?} {exact:?}"
            );
        }
        assert!((table.at(1e-9).noise - look(1e-9).unwrap().noise).abs() < 1e-5, "proportional below");
    }

    #[test]
    fn given_points_are_looked_at_once_each() {
        let calls = std::cell::Cell::new(0);
        let counted = |x: f64| {
            calls.set(calls.get() + 1);
            look(x)
        };
        let table = Table::at_points([0.1, 1.5, 0.1, 0.7].into_iter(), counted).unwrap();
        assert_eq!(calls.get(), 3);
        assert!([0.1, 0.7, 1.5].iter().all(|x| table.at(*x) == look(*x).unwrap()));
    }

    #[test]
    fn one_point_is_a_table_too() {
        let table = Table::new(0.5, 0.5, look).unwrap();
        assert!(table.at(0.5) == look(0.5).unwrap() && table.points.len() == 1);
    }
}
