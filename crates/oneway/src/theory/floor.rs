//! The error floor at a constant step: exactly, from the stationary covariance and the fixed point.
//!
//! On quadratics of one curvature h with additive noise of variance σ² in every agent's gradients, a state
//! away from the fixed point follows s⁺ = T(ηh)·s + N·ξ⁺, with T from [`RoundMap`] and N what a round makes
//! of a unit of noise. Its stationary covariance Σ = TΣTᵀ + NNᵀ is summed by doubling, S ← S + A·S·Aᵀ, A ←
//! A²: after k steps S has 2^k rounds of noise. In the variables (hx, g, v, …) it depends on ηh alone, so
//! that floors of ‖∇F‖² are given as multiples of σ².
//!
//! Where agents pull in different directions, b_i = ∇f_i(x*) with Σb_i = 0, every round adds N·b too, and the
//! fixed point is s* = (I − T)⁻¹N·b: a method that does not track may end beside x* without any noise.
//! E‖∇F(x̄)‖² is then the sum of the two, noise and squared [`Bias`]; the bias is linear in b.

use faer::Mat;
use faer::prelude::Solve;

use super::linear::RoundMap;
use super::stability;
use crate::graph::Topology;
use crate::method::{Method, Network};
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
/// [`Error::NoTheory`] if the step is not stable, if the topology changes with the round, if the method draws
/// more than one gradient a round, or for more agents than a matrix of all states has room for (400 with
/// three vectors each).
///
/// # Complexity
/// O(k·(sn)³) for s vectors a state, with 2^k rounds to forget.
///
/// ```
/// use oneway::{methods::PUSH_PULL, theory::floor, graph::Topology};
/// // one agent: x⁺ = x − η(x + ξ), a variance of η/(2 − η)
/// let alone = Topology::complete(1).unwrap();
/// let floor = floor::floor(&PUSH_PULL, &alone, 0.5).unwrap();
/// assert!((floor.at_average - 0.5 / 1.5).abs() < 1e-12);
/// ```
pub fn floor(method: &dyn Method, topology: &Topology, step: f64) -> Result<Floor> {
    let map = stable_map(method, topology, step)?;
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

/// Where a method ends without noise: beside the minimiser, as far as the agents pull in different
/// directions.
#[derive(Debug, Clone, PartialEq)]
pub struct Bias {
    /// ∂∇F(x̄)/∂b_i: how far agent i's gradient at the minimiser, b_i, moves the average. Only differences
    /// between agents count, since Σb_i = 0, so that the mean of these is taken out; all zero for methods
    /// that track.
    pub of_average: Vec<f64>,
    /// The same for each agent's own estimate: ∂∇F(x_j)/∂b_i, by j.
    pub of_agents: Vec<Vec<f64>>,
}

impl Bias {
    /// ‖∇F(x̄)‖² in one coordinate, if the agents' gradients at the minimiser are b there.
    pub fn at_average(&self, b: &[f64]) -> f64 {
        square(dot(&self.of_average, b))
    }

    /// (1/n)Σ‖∇F(x_i)‖² in one coordinate.
    pub fn at_agents(&self, b: &[f64]) -> f64 {
        self.mean_over_agents(|of_agent| dot(of_agent, b))
    }

    /// h²·(1/n)Σ‖x_i − x̄‖² in one coordinate.
    pub fn consensus(&self, b: &[f64]) -> f64 {
        let average = dot(&self.of_average, b);
        self.mean_over_agents(|of_agent| dot(of_agent, b) - average)
    }

    fn mean_over_agents(&self, of: impl Fn(&[f64]) -> f64) -> f64 {
        self.of_agents.iter().map(|of_agent| square(of(of_agent))).sum::<f64>() / self.of_agents.len() as f64
    }
}

/// The bias of a method on a fixed topology at the raw step ηh, for any gradients of the agents at the
/// minimiser. Refused as [`floor`] is.
///
/// # Complexity
/// O((sn)³) for s vectors a state.
///
/// ```
/// use oneway::graph::families;
/// use oneway::{methods::{PUSH_PULL, SGP}, theory::floor::bias};
/// use oneway::graph::topology::{Subgraph, Topology, Weights};
/// let flower = families::flower(5, 2).unwrap();
/// let topology = Topology::from_digraphs(&[flower], Subgraph::Full, Weights::Uniform, 0).unwrap();
/// let pulls = [1.0, 0.0, 0.0, 0.0, -1.0];
/// assert_eq!(bias(&PUSH_PULL, &topology, 0.05).unwrap().at_average(&pulls), 0.0); // it tracks
/// assert!(bias(&SGP, &topology, 0.05).unwrap().at_average(&pulls) > 1e-6);
/// ```
pub fn bias(method: &dyn Method, topology: &Topology, step: f64) -> Result<Bias> {
    let map = stable_map(method, topology, step)?;
    let n = topology.agents();
    if method.network() == Network::Central {
        return Ok(Bias { of_average: vec![0.0; n], of_agents: vec![vec![0.0; n]; n] }); // all stand where the mean pulls
    }
    let away = Mat::<f64>::identity(map.dim(), map.dim()) - map.dense_within_law(step)?;
    let fixed = away.partial_piv_lu().solve(map.noise(step)?); // (I − T)⁻¹N, a column an agent
    if !fixed.is_all_finite() {
        return Err(Error::NoTheory("the fixed point was not found".to_owned()));
    }
    let reads = map.readouts()?;
    let along = |weights: &[f64]| {
        let mut moved: Vec<f64> =
            (0..fixed.ncols()).map(|agent| dot(weights, fixed.col_as_slice(agent))).collect();
        keep_differences(&mut moved);
        moved
    };
    Ok(Bias {
        of_average: along(&reads.average),
        of_agents: reads.estimates.iter().map(|estimate| along(estimate)).collect(),
    })
}

/// Takes the mean out, and with it what is rounding error beside it.
fn keep_differences(moved: &mut [f64]) {
    const ROUNDING: f64 = 1e-10;
    let mean = moved.iter().sum::<f64>() / moved.len() as f64;
    let largest = moved.iter().fold(0.0_f64, |largest, x| largest.max(x.abs()));
    for x in moved {
        *x -= mean;
        if x.abs() <= ROUNDING * largest {
            *x = 0.0;
        }
    }
}

/// A round as a map, if a run at this step comes to rest.
fn stable_map<'a>(method: &'a dyn Method, topology: &'a Topology, step: f64) -> Result<RoundMap<'a>> {
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
    Ok(map)
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

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn square(x: f64) -> f64 {
    x * x
}

fn difference(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}
