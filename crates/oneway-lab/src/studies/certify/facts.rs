//! What the theorem asks of a problem: L, σ², where it starts, and how low it goes.

use anyhow::Result;
use oneway::problem::Problem;
use oneway::theory::certificate::Start;
use oneway::theory::modes::{Mode, modes};
use oneway_experiment::problem_facts::{self, Minimum, SAMPLES, Variance, exact};
use serde::Serialize;

use super::{Answer, settled};

/// A problem, in the numbers that theory needs.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Facts {
    pub(crate) agents: usize,
    pub(crate) dim: usize,
    /// L: every ∇f_i is L-Lipschitz.
    pub(crate) smoothness: f64,
    pub(crate) noise: Noise,
    /// F(x₀), and F at the lowest point that gradients without noise find.
    pub(crate) loss_at_start: f64,
    pub(crate) lowest_loss: f64,
    /// ‖∇F‖² at that point: how well it was found.
    pub(crate) grad_norm_sq_there: f64,
    /// Σ_i ‖∇f_i(x₀)‖².
    pub(crate) gradients_at_start: f64,
    /// The smallest and largest curvature of F at the lowest point, where they are known.
    pub(crate) curvature: Option<[f64; 2]>,
}

/// σ², and how it was found.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Noise {
    /// At the start and the lowest point: what runs meet.
    pub(crate) variance: f64,
    /// Of an estimate.
    pub(crate) standard_error: Option<f64>,
    pub(crate) how: String,
    /// A bound for all x, where one is known.
    pub(crate) bound: Option<f64>,
    /// What the theorem's bound is reckoned with.
    pub(crate) in_theorem: Variance,
}

impl Facts {
    /// Looks at a problem, and takes it apart at its lowest point. Runs on the threads of the pool it is
    /// called on.
    pub(crate) fn new(problem: &dyn Problem, seed: u64) -> Result<(Self, Answer<Vec<Mode>>)> {
        let smoothness = problem_facts::smoothness(problem)?;
        let mut x = vec![0.0; problem.dim()];
        problem.start(&mut x);
        let (loss_at_start, _) = exact(problem, &x);
        let lowest = problem_facts::lowest(problem);
        let modes = match modes(problem, &lowest.x) {
            Ok(Some(modes)) => Answer::Known(modes),
            Ok(None) => Answer::none("the problem has no Hessian that could be taken apart"),
            Err(error) => Answer::none(error.to_string()),
        };
        let curvature = modes
            .known()
            .and_then(|modes| Some([modes.first()?, modes.last()?].map(|mode| settled(mode.curvature))));
        let facts = Self {
            agents: problem.agents(),
            dim: problem.dim(),
            smoothness,
            noise: Noise::new(problem, &lowest, seed)?,
            loss_at_start,
            lowest_loss: lowest.loss,
            grad_norm_sq_there: lowest.grad_norm_sq,
            gradients_at_start: gradients(problem, &x),
            curvature,
        };
        Ok((facts, modes))
    }

    /// What the theorem's bound begins with.
    pub(super) fn start(&self) -> Start {
        Start {
            gap: (self.loss_at_start - self.lowest_loss).max(0.0),
            gradient_sq: self.gradients_at_start,
            variance: self.noise.in_theorem.variance,
        }
    }
}

impl Noise {
    fn new(problem: &dyn Problem, lowest: &Minimum, seed: u64) -> Result<Self> {
        let bound = problem.noise_bound();
        if let Some(variance) = problem.noise() {
            let how = "exact: the same for all agents, everywhere".to_owned();
            let in_theorem = Variance { variance, is: "exact" };
            return Ok(Self { variance, standard_error: None, how, bound, in_theorem });
        }
        let found = problem_facts::estimate(problem, lowest, seed)?;
        let place = if found.point == 0 { "at the start" } else { "at the lowest point" };
        let how = format!(
            "estimated: {SAMPLES} draws for each agent at the start and at the lowest point; largest for agent {} {place}",
            found.agent
        );
        let (variance, standard_error) = (found.variance, Some(found.standard_error));
        let in_theorem = Variance::everywhere(problem, || Ok(found))?;
        Ok(Self { variance, standard_error, how, bound, in_theorem })
    }
}

/// Σ_i ‖∇f_i(x)‖².
fn gradients(problem: &dyn Problem, x: &[f64]) -> f64 {
    let mut g = vec![0.0; x.len()];
    let square = |agent: usize| {
        problem.exact(agent, x, &mut g);
        g.iter().map(|g| g * g).sum::<f64>()
    };
    (0..problem.agents()).map(square).sum()
}
