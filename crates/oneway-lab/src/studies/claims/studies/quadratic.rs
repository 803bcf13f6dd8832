//! SMTPP and Push-Pull on quadratics with a known minimiser, measured cheaply in every round.

use std::ops::ControlFlow;

use anyhow::Result;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::observe::{Observer, View};
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::Method;
use oneway::problems::{Quadratic, QuadraticShape};

use super::{AGENTS, PETALS};

/// Seed of every problem here.
const PROBLEM_SEED: u64 = 1;

/// The two graphs of the paper: their names, and they.
pub(super) fn paper_graphs() -> Result<[(&'static str, Digraph); 2]> {
    Ok([
        ("multi-sub-ring", families::flower(AGENTS, PETALS)?),
        ("exponential", families::exponential(AGENTS)?),
    ])
}

/// A topology with uniform weights, rooted at agent 0.
pub(super) fn topology(digraph: Digraph, subgraph: Subgraph) -> Result<Topology> {
    Ok(Topology::from_digraphs(&[digraph], subgraph, Weights::Uniform, 0)?)
}

/// f_i(x) = ½(x − c_i)ᵀdiag(h)(x − c_i) with σ² of gradient noise in all.
pub(super) fn problem(agents: usize, dim: usize, curvature: [f64; 2], variance: f64) -> Result<Quadratic> {
    let shape = QuadraticShape { dim, curvature, heterogeneity: 1.0, noise: variance.sqrt() };
    Ok(Quadratic::new(shape, agents, PROBLEM_SEED)?)
}

/// Runs for `rounds` rounds with the constant effective step η·c_π, calling `look` on the start and after
/// every round.
pub(super) fn run(
    method: &dyn Method,
    problem: &Quadratic,
    topology: &Topology,
    effective_step: f64,
    [seed, rounds]: [u64; 2],
    look: impl FnMut(&View<'_>) -> oneway::Result<ControlFlow<()>>,
) -> Result<Status> {
    let schedule = Schedule::constant(effective_step / topology.c_pi()?)?;
    let mut simulator = Simulator::new(Setup { method, problem, topology, schedule, seed })?;
    Ok(simulator.run(rounds, 1, &mut Look(look))?.status)
}

/// An observer made of a function.
struct Look<F>(F);

impl<F: FnMut(&View<'_>) -> oneway::Result<ControlFlow<()>>> Observer for Look<F> {
    fn observe(&mut self, view: &View<'_>) -> oneway::Result<ControlFlow<()>> {
        (self.0)(view)
    }
}

/// x̄ = π_RᵀX.
pub(super) fn average(view: &View<'_>, π_r: &[f64], mean: &mut [f64]) {
    mean.fill(0.0);
    for (i, π) in π_r.iter().enumerate() {
        mean.iter_mut().zip(view.estimate(i)).for_each(|(mean, x)| *mean += π * x);
    }
}

/// ‖∇F(x)‖² = Σ_k h_k²(x_k − x*_k)².
pub(super) fn gradient_sq(problem: &Quadratic, x: &[f64]) -> f64 {
    let coordinates = x.iter().zip(problem.minimiser()).zip(problem.curvature());
    coordinates.map(|((x, x_star), h)| (h * (x - x_star)).powi(2)).sum()
}

/// (1/n) Σ ‖x_i − x*‖².
pub(super) fn distance_sq(view: &View<'_>, problem: &Quadratic) -> f64 {
    let of_agent = |i| -> f64 {
        let coordinates = view.estimate(i).iter().zip(problem.minimiser());
        coordinates.map(|(x, x_star)| (x - x_star).powi(2)).sum()
    };
    (0..view.agents()).map(of_agent).sum::<f64>() / view.agents() as f64
}
