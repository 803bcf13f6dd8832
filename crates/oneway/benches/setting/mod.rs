//! The paper's setting: a9a over 20 agents, exponential graph, batch 1.
#![allow(clippy::unwrap_used, unreachable_pub, dead_code)] // each bench uses its part

pub mod work;

use oneway::data::a9a::{Split, a9a};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::problem::Problem;
use oneway::problems::{Logistic, Sharing};

pub const AGENTS: usize = 20;

pub fn problem() -> Logistic {
    Logistic::new(&a9a(Split::Train), Sharing::among(AGENTS), 0.01).unwrap()
}

pub fn exponential() -> Topology {
    let digraph = families::exponential(AGENTS).unwrap();
    Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
}

/// The exponential graph with every link both ways.
pub fn both_ways() -> Topology {
    let one_way = families::exponential(AGENTS).unwrap();
    let edges = one_way.edges().flat_map(|(from, to)| [(from, to), (to, from)]);
    let digraph = Digraph::from_edges(AGENTS, edges).unwrap();
    Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Metropolis, 0).unwrap()
}

/// Σ_i f_i over all of a9a at several points at once, on one thread; `gradients` are those of the last agent.
pub fn evaluate(problem: &Logistic, points: usize, gradients: &mut [f64]) -> f64 {
    let at = |p: usize| (0..problem.dim()).map(|k| 0.01 * (k + p) as f64 - 0.5).collect();
    let at: Vec<Vec<f64>> = (0..points).map(at).collect();
    let at: Vec<&[f64]> = at.iter().map(Vec::as_slice).collect();
    let mut losses = vec![0.0; points];
    let mut total = 0.0;
    for agent in 0..AGENTS {
        problem.exact_many(agent, &at, &mut losses, gradients);
        total += losses.iter().sum::<f64>();
    }
    total
}
