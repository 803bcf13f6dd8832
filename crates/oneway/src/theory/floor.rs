//! The error floor at a constant step: exactly, from the stationary covariance.
//!
//! On quadratics of one curvature h with additive noise of variance σ² in every agent's gradients, a state away from the
//! fixed point follows s⁺ = T(ηh)·s + N·ξ⁺, with T from [`RoundMap`] and N what a round makes of a unit of noise. Its stationary
//! covariance Σ = TΣTᵀ + NNᵀ is summed by doubling, S ← S + A·S·Aᵀ, A ← A²: after k steps S has 2^k rounds of noise.
//! In the variables (hx, g, v, …) it depends on ηh alone, so that floors of ‖∇F‖² are given as multiples of σ².

use faer::Mat;

use super::linear::RoundMap;
use super::stability;
use crate::method::Method;
use crate::topology::Topology;
use crate::{Error, Result};

/// The largest map whose covariance is computed: some seconds.
const LARGEST: usize = 1200;
/// Doublings after which even a rate of 1 − 10⁻¹² has forgotten its past.
const DOUBLINGS: u32 = 50;
/// The sum ends when a doubling adds less than this share.
const SETTLED: f64 = 1e-14;

/// Stationary errors of a method, in units of the noise σ² of one agent (the same for every coordinate).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floor {
    /// E‖∇F(x̄)‖²/σ².
    pub at_average: f64,
    /// E (1/n)Σ‖∇F(x_i)‖²/σ².
    pub at_agents: f64,
    /// h²·E (1/n)Σ‖x_i − x̄‖²/σ².
    pub consensus: f64,
    /// E (1/n)Σ‖v_i − nπ_C,i v̄‖²/σ², for methods that track.
    pub tracking: Option<f64>,
}

/// The floor of a method on a fixed topology at the raw step ηh.
///
/// [`Error::NoTheory`] if the step is not stable, if the topology changes with the round, if the method draws more than one
/// gradient a round, or for more agents than a matrix of all states has room for (400 with three vectors each).
///
/// # Complexity
/// O(k·(sn)³) for s vectors a state, with 2^k rounds to forget.
///
/// ```
/// use oneway::{methods::PUSH_PULL, theory::floor, topology::Topology};
/// // one agent: x⁺ = x − η(x + ξ), a variance of η/(2 − η)
/// let alone = Topology::complete(1).unwrap();
/// let floor = floor::floor(&PUSH_PULL, &alone, 0.5).unwrap();
/// assert!((floor.at_average - 0.5 / 1.5).abs() < 1e-12);
/// ```
pub fn floor(method: &dyn Method, topology: &Topology, step: f64) -> Result<Floor> {
    let map = RoundMap::new(method, topology)?;
    if map.rounds() > 1 {
        return Err(Error::NoTheory(
            "a topology that changes with the round has a floor for each round".to_owned(),
        ));
    }
    if map.dim() > LARGEST {
        let numbers = map.dim();
        return Err(Error::NoTheory(format!(
            "a covariance of {numbers} numbers is too large (the most is {LARGEST})"
        )));
    }
    let rate = stability::rate(method, topology, step)?;
    if rate >= 1.0 {
        return Err(Error::NoTheory(format!("the step is not stable: errors grow by {rate} a round")));
    }
    let covariance = stationary(map.dense_within_law(step)?, &map.noise(step)?)?;
    let energy = |reads: &[f64]| {
        let entries = reads.iter().enumerate().filter(|(_, weight)| **weight != 0.0);
        let along =
            |row: usize| entries.clone().map(|(j, weight)| weight * covariance[(row, j)]).sum::<f64>();
        entries.clone().map(|(row, weight)| weight * along(row)).sum::<f64>()
    };
    let reads = map.readouts()?;
    let mean_over_agents = |of: &dyn Fn(usize) -> Vec<f64>| {
        let n = reads.estimates.len();
        (0..n).map(|i| energy(&of(i))).sum::<f64>() / n as f64
    };
    Ok(Floor {
        at_average: energy(&reads.average),
        at_agents: mean_over_agents(&|i| reads.estimates[i].clone()),
        consensus: mean_over_agents(&|i| difference(&reads.estimates[i], &reads.average)),
        tracking: reads.trackers.as_ref().map(|trackers| mean_over_agents(&|i| trackers[i].clone())),
    })
}

/// Σ = TΣTᵀ + NNᵀ.
fn stationary(map: Mat<f64>, noise: &Mat<f64>) -> Result<Mat<f64>> {
    let mut power = map;
    let mut sum = noise * noise.transpose();
    for _ in 0..DOUBLINGS {
        let added = &power * &sum * power.transpose();
        let settled = added.norm_max() <= SETTLED * sum.norm_max();
        sum += added;
        if settled {
            return Ok(sum);
        }
        power = &power * &power;
    }
    Err(Error::NoTheory("the stationary covariance did not settle".to_owned()))
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
