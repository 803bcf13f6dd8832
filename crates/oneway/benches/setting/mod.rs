//! The paper's setting: a9a over 20 agents, exponential graph, batch 1.
#![allow(clippy::unwrap_used, unreachable_pub, dead_code)] // each bench uses its part

use oneway::data::a9a::{Split, a9a};
use oneway::graph::families;
use oneway::partition::Partition;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic};
use oneway::topology::{Subgraph, Topology, Weights};

pub const AGENTS: usize = 20;

pub fn problem() -> Logistic {
    Logistic::new(&a9a(Split::Train), Partition::Even, AGENTS, 0.01, Batch::Sampled(1), 1).unwrap()
}

pub fn exponential() -> Topology {
    let digraph = families::exponential(AGENTS).unwrap();
    Topology::of(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
}

/// F(x) and ∇F(x) over all of a9a, on one thread.
pub fn evaluate(problem: &Logistic, g: &mut [f64]) -> f64 {
    let x: Vec<f64> = (0..problem.dim()).map(|k| 0.01 * k as f64 - 0.5).collect();
    (0..AGENTS).map(|agent| problem.exact(agent, &x, g)).sum()
}
