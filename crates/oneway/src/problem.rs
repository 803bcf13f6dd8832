//! What is minimised: F(x) = (1/n) Σ f_i(x), where only agent i can ask about f_i.

mod description;
mod in_place;

use std::fmt::Debug;
use std::ops::Range;
use std::sync::Arc;

pub use description::{Description, Penalty, RowLoss, RowSum, Targets, TestRows};
pub use in_place::{InPlace, Lent, Memory, Placed, PlacedBatch};

use crate::Result;
use crate::numeric::row::{Agents, Rows, RowsMut};
use crate::numeric::sample::Draws;

/// The gradients that are asked of a problem in one call. Row q and stream q belong to the q-th agent.
#[derive(Debug)]
pub struct GradientBatch<'a> {
    /// Whose gradients.
    pub agents: Agents<'a>,
    /// Where.
    pub points: Rows<'a, f64>,
    /// The draws of each agent, as many as there are agents.
    pub draws: &'a mut [Draws],
    /// Where they go.
    pub gradients: RowsMut<'a, f64>,
}

impl<'a> GradientBatch<'a> {
    /// One agent's.
    pub fn one(agent: usize, x: &'a [f64], draws: &'a mut Draws, g: &'a mut [f64]) -> Self {
        Self {
            agents: Agents::one(agent),
            points: Rows::one(x),
            draws: std::slice::from_mut(draws),
            gradients: RowsMut::one(g),
        }
    }
}

/// The losses and full gradients that are asked of a problem in one call. Row q belongs to the q-th agent.
#[derive(Debug)]
pub struct ExactBatch<'a> {
    /// Whose.
    pub agents: Agents<'a>,
    /// Where.
    pub points: Rows<'a, f64>,
    /// Where the losses f_i(x_i) go: as many as there are agents, or none where they are not asked for.
    pub losses: &'a mut [f64],
    /// Where the gradients ∇f_i(x_i) go.
    pub gradients: RowsMut<'a, f64>,
}

/// A sum of local objectives.
pub trait Problem: Send + Sync + Debug {
    /// Number of local objectives, n.
    fn agents(&self) -> usize;

    /// Dimension of x, d.
    fn dim(&self) -> usize;

    /// From now on nothing but losses and gradients of these agents is asked for: data of others may be let
    /// go, for a process that has no others.
    fn keep(&mut self, _agents: Range<usize>) {}

    /// Writes the starting point x₀: the origin, unless the problem says otherwise.
    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    /// A hint that agent i's gradient with these draws will be asked for soon: a moment to fetch from far
    /// memory what it will look at, and to prepare the draws. Changes no result.
    fn prefetch(&self, _agent: usize, _draws: &mut Draws) {}

    /// [`prefetch`](Self::prefetch), for some agents, whose draws can be prepared side by side.
    fn prefetch_all(&self, agents: Agents<'_>, draws: &mut [Draws]) {
        agents.iter().zip(draws).for_each(|(agent, draws)| self.prefetch(agent, draws));
    }

    /// Writes a stochastic gradient ∇F_i(x; ξ) of agent i into `g`, with mean ∇f_i(x).
    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]);

    /// Writes the stochastic gradients of some agents, each at its own point and with its own draws. What one
    /// call can do for many agents at once belongs here; the bits are those of [`gradient`](Self::gradient).
    /// An error ends the run.
    fn gradients(&self, batch: GradientBatch<'_>) -> Result<()> {
        let GradientBatch { agents, points, draws, mut gradients } = batch;
        for (q, draws) in draws.iter_mut().enumerate() {
            self.gradient(agents.get(q), points.row(q), draws, gradients.row(q));
        }
        Ok(())
    }

    /// Whether one call of [`gradients`](Self::gradients) for all agents is much better than several for
    /// some: where a call crosses into another language, or runs on another device. Then engines call
    /// [`gradients_in`](Self::gradients_in), and measure by [`exact_batch`](Self::exact_batch).
    fn at_once(&self) -> bool {
        false
    }

    /// [`gradients`](Self::gradients) at points that lie in memory which may be kept: whoever holds a clone
    /// of `memory` after the call keeps these numbers as they are, and the engine goes on in other memory. So
    /// another language can be shown the points without a copy of them.
    fn gradients_in(&self, batch: GradientBatch<'_>, _memory: &Arc<Vec<f64>>) -> Result<()> {
        self.gradients(batch)
    }

    /// Returns f_i(x) and writes ∇f_i(x) into `g`.
    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64;

    /// [`exact`](Self::exact) for some agents in one call, each at its own point. An error ends the run.
    fn exact_batch(&self, batch: ExactBatch<'_>) -> Result<()> {
        let ExactBatch { agents, points, losses, mut gradients } = batch;
        for q in 0..agents.len() {
            let loss = self.exact(agents.get(q), points.row(q), gradients.row(q));
            if let Some(place) = losses.get_mut(q) {
                *place = loss;
            }
        }
        Ok(())
    }

    /// [`exact`](Self::exact) of one agent at several points: losses, and the gradients one after another.
    /// One pass over the data may serve them all; the bits are those of [`exact`](Self::exact).
    fn exact_many(&self, agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        let gradients = gradients.chunks_exact_mut(self.dim());
        for ((x, loss), g) in points.iter().zip(losses).zip(gradients) {
            *loss = self.exact(agent, x, g);
        }
    }

    /// m, where f_i = (1/m) Σ_s f_is is a mean of m components, as many for each agent; none where f_i is no
    /// finite sum.
    fn samples(&self) -> Option<usize> {
        None
    }

    /// Writes ∇f_is(x) of agent i's component s into `g`, s below [`samples`](Self::samples), regulariser
    /// included: the mean over s is ∇f_i(x). What is no finite sum counts as one component.
    fn component(&self, agent: usize, _sample: usize, x: &[f64], g: &mut [f64]) {
        self.exact(agent, x, g);
    }

    /// L: every ∇f_i is L-Lipschitz (Assumption 2). An upper bound where it is not known exactly, ∞ where
    /// nothing is known. May take many passes over the data: ask once.
    fn smoothness(&self) -> f64 {
        f64::INFINITY
    }

    /// σ² = E‖∇F_i(x; ξ) − ∇f_i(x)‖² (Assumption 3) where it is known and the same for all agents and all x.
    /// Elsewhere it depends on x and can be [estimated](crate::theory::noise).
    fn noise(&self) -> Option<f64> {
        None
    }

    /// An upper bound on σ² for all agents and all x, where one is known. It may be far above what a run
    /// meets.
    fn noise_bound(&self) -> Option<f64> {
        self.noise()
    }

    /// Whether the noise of a gradient knows nothing of that of other rounds, as Assumption 3 and all floors
    /// presume. Not so where rows are drawn [without replacement](crate::problems::Batch::Reshuffled): what is
    /// left of a pass depends on what has been drawn.
    fn noise_is_fresh(&self) -> bool {
        true
    }

    /// The curvature of f_i and the noise of its gradient around x, where they are known and not too many to
    /// write down.
    fn local_model(&self, _agent: usize, _x: &[f64]) -> Option<LocalModel> {
        None
    }

    /// What the problem is, as data, where an engine on another device can make its gradients of that. None
    /// where only [`gradients`](Self::gradients) knows, or where a library's functions are needed for them.
    fn describe(&self) -> Option<Description<'_>> {
        None
    }

    /// What makes its gradients where an engine on another device has the points, in this memory. None where
    /// nothing does.
    fn in_place(&self, _memory: Memory) -> Option<&dyn InPlace> {
        None
    }

    /// The shares of held-out examples that the points classify rightly, where that has a meaning.
    fn test_accuracies(&self, _points: &[&[f64]]) -> Option<Vec<f64>> {
        None
    }
}

/// What an agent's problem looks like around a point: a quadratic with additive noise.
#[derive(Debug, Clone, PartialEq)]
pub struct LocalModel {
    /// ∇²f_i(x).
    pub hessian: Symmetric,
    /// S_i(x) = E ξξᵀ with ξ = ∇F_i(x; ξ) − ∇f_i(x); its trace is the σ² of that point.
    pub covariance: Symmetric,
}

/// A symmetric d×d matrix.
#[derive(Debug, Clone, PartialEq)]
pub enum Symmetric {
    /// Its diagonal; all else is zero.
    Diagonal(Vec<f64>),
    /// All of its d² numbers.
    Dense(Vec<f64>),
}
