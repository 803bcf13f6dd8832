//! One agent's part of a problem.

use oneway::numeric::row::Agents;
use oneway::numeric::sample::Draws;
use oneway::problem::{GradientBatch, Problem};

/// Agent i's part f_i of a problem of n agents, kept as a problem of one agent.
///
/// Draws belong to the agent, not to its place in a dataset, so the part alone gives the bits of the whole.
#[derive(Debug)]
pub struct Shard {
    /// f_i, as agent 0 of a problem with one agent.
    part: Box<dyn Problem>,
    agents: usize,
}

impl Shard {
    /// One part of a problem with `agents` agents.
    pub fn new(part: Box<dyn Problem>, agents: usize) -> Self {
        Self { part, agents }
    }
}

impl Problem for Shard {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.part.dim()
    }

    fn start(&self, x: &mut [f64]) {
        self.part.start(x);
    }

    fn prefetch(&self, _agent: usize, draws: &mut Draws) {
        self.part.prefetch(0, draws);
    }

    fn gradient(&self, _agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.part.gradient(0, x, draws, g);
    }

    fn gradients(&self, batch: GradientBatch<'_>) -> oneway::Result<()> {
        debug_assert_eq!(batch.agents.len(), 1, "an agent asks for its own gradient only");
        self.part.gradients(GradientBatch { agents: Agents::one(0), ..batch })
    }

    fn exact(&self, _agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        self.part.exact(0, x, g)
    }

    fn exact_many(&self, _agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        self.part.exact_many(0, points, losses, gradients);
    }

    fn noise_is_fresh(&self) -> bool {
        self.part.noise_is_fresh()
    }

    fn samples(&self) -> Option<usize> {
        self.part.samples()
    }

    fn component(&self, _agent: usize, sample: usize, x: &[f64], g: &mut [f64]) {
        self.part.component(0, sample, x, g);
    }
}
