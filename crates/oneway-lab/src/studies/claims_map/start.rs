//! A problem that is begun somewhere else.

use std::sync::Arc;

use oneway::Result;
use oneway::method::Agents;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::{Description, ExactBatch, GradientBatch, LocalModel, Problem};
use oneway_experiment::problem::BuiltProblem;

/// The same problem, begun by all agents at one point with standard normal coordinates.
pub(super) fn random(problem: &Arc<BuiltProblem>, seed: u64) -> Arc<BuiltProblem> {
    let mut start = vec![0.0; problem.problem.dim()];
    Draws::new(seed, Purpose::Problem, 0, 0).normals(&mut start);
    let identity = format!("{} from standard normals of seed {seed}", problem.sha256);
    let started = Started { of: Arc::clone(problem), start };
    Arc::new(BuiltProblem::supplied(Box::new(started), &identity))
}

#[derive(Debug)]
struct Started {
    of: Arc<BuiltProblem>,
    start: Vec<f64>,
}

impl Started {
    fn inner(&self) -> &dyn Problem {
        &*self.of.problem
    }
}

impl Problem for Started {
    fn agents(&self) -> usize {
        self.inner().agents()
    }

    fn dim(&self) -> usize {
        self.inner().dim()
    }

    fn start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn prefetch(&self, agent: usize, draws: &mut Draws) {
        self.inner().prefetch(agent, draws);
    }

    fn prefetch_all(&self, agents: Agents<'_>, draws: &mut [Draws]) {
        self.inner().prefetch_all(agents, draws);
    }

    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.inner().gradient(agent, x, draws, g);
    }

    fn gradients(&self, batch: GradientBatch<'_>) -> Result<()> {
        self.inner().gradients(batch)
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        self.inner().exact(agent, x, g)
    }

    fn exact_batch(&self, batch: ExactBatch<'_>) -> Result<()> {
        self.inner().exact_batch(batch)
    }

    fn exact_many(&self, agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        self.inner().exact_many(agent, points, losses, gradients);
    }

    fn samples(&self) -> Option<usize> {
        self.inner().samples()
    }

    fn component(&self, agent: usize, sample: usize, x: &[f64], g: &mut [f64]) {
        self.inner().component(agent, sample, x, g);
    }

    fn smoothness(&self) -> f64 {
        self.inner().smoothness()
    }

    fn noise_is_fresh(&self) -> bool {
        self.inner().noise_is_fresh()
    }

    fn local_model(&self, agent: usize, x: &[f64]) -> Option<LocalModel> {
        self.inner().local_model(agent, x)
    }

    fn describe(&self) -> Option<Description<'_>> {
        self.inner().describe()
    }

    fn test_accuracies(&self, points: &[&[f64]]) -> Option<Vec<f64>> {
        self.inner().test_accuracies(points)
    }
}
