//! What theory asks of a problem, the same for all commands: L, σ² and F*.

mod optimum;

use anyhow::{Result, ensure};
use oneway::problem::Problem;
use oneway::theory::noise::{self, Estimate};
use serde::Serialize;

pub(crate) use optimum::Minimiser;
pub use optimum::{Minimum, Optimum, exact};

/// Draws at each point and agent for an estimate of σ².
pub const SAMPLES: u64 = 4000;
/// Gradients taken to find the lowest point, at most, and how small ‖∇F‖² is to become beside that at the
/// start.
const STEPS: usize = 500;
const TOLERANCE: f64 = 1e-20;
/// Standard errors added to an estimate of σ² where a bound is asked for.
const SAFETY: f64 = 3.0;

/// L: every ∇f_i is L-Lipschitz. Refused if nothing can be made of it.
pub fn smoothness(problem: &dyn Problem) -> Result<f64> {
    let smoothness = problem.smoothness();
    ensure!(
        smoothness.is_finite() && smoothness > 0.0,
        "the problem has no curvature to certify anything with: L = {smoothness}"
    );
    Ok(smoothness)
}

/// What keeps theory from a problem whose noise is not [fresh](Problem::noise_is_fresh).
pub const IN_PASSES: &str =
    "draws rows without replacement: the theory asks for noise that is independent from round to round";

/// The lowest point that gradients without noise find.
pub fn lowest(problem: &dyn Problem) -> Minimum {
    optimum::minimum(problem, STEPS, TOLERANCE)
}

/// σ² at the start and at the lowest point, by drawing.
pub fn estimate(problem: &dyn Problem, lowest: &Minimum, seed: u64) -> Result<Estimate> {
    let mut start = vec![0.0; problem.dim()];
    problem.start(&mut start);
    Ok(noise::estimate(problem, &[&start, &lowest.x], SAMPLES, seed)?)
}

/// The σ² that the theorem and its lemmas ask for: at least the variance wherever runs go.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct Variance {
    /// σ².
    pub variance: f64,
    /// Where it comes from.
    pub is: &'static str,
}

impl Variance {
    /// What is known for all x, or else what an estimate comes to with three standard errors added.
    pub fn everywhere(problem: &dyn Problem, estimate: impl FnOnce() -> Result<Estimate>) -> Result<Self> {
        Ok(match (problem.noise(), problem.noise_bound()) {
            (Some(variance), _) => Self { variance, is: "exact" },
            (None, Some(variance)) => Self { variance, is: "a bound for all x" },
            (None, None) => {
                let found = estimate()?;
                let variance = found.variance + SAFETY * found.standard_error;
                Self { variance, is: "estimated at the start and at the lowest point" }
            }
        })
    }
}
