//! The largest stable effective step η·c_π·h, by bisection: noise-free quadratics with h = 1 either settle or grow.

use std::ops::ControlFlow;

use anyhow::Result;
use oneway::method::Method;
use oneway::methods::{PushPull, Smtpp};
use oneway::problems::Quadratic;
use oneway::simulator::Status;
use oneway::topology::{Subgraph, Topology};
use rayon::prelude::*;

use super::quadratic::{distance_sq, paper_graphs, problem, run as run_quadratic, topology};
use super::{AGENTS, MOMENTUM};

/// Rounds after which growth and decay are told apart, by halves of what follows the first third.
const ROUNDS: u64 = 3000;
/// The first step tried; steps are doubled from here until one is unstable.
const SMALLEST: f64 = 0.02;
/// No step beyond this is tried.
const LARGEST: f64 = 64.0;
/// Bisections of the last doubling: 2^(1/1024) − 1 is below a thousandth.
const BISECTIONS: u32 = 10;

/// The limit of a method on a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limit {
    pub(crate) graph: &'static str,
    pub(crate) trees: bool,
    /// Largest stable η·c_π·h of SMTPP, λ = 0.1.
    pub(crate) smtpp: f64,
    /// The same of Push-Pull, which tracks gradients.
    pub(crate) push_pull: f64,
}

/// Both methods on both graphs, on the full digraph and on trees.
pub(super) fn run() -> Result<Vec<Limit>> {
    let mut topologies = vec![];
    for (graph, digraph) in paper_graphs()? {
        topologies.push((graph, true, topology(digraph.clone(), Subgraph::Trees)?));
        topologies.push((graph, false, topology(digraph, Subgraph::Full)?));
    }
    let problem = problem(AGENTS, 1, [1.0, 1.0], 0.0)?;
    let limit = |(graph, trees, topology): &(&'static str, bool, Topology)| {
        let (smtpp, push_pull) = (Smtpp::new(MOMENTUM)?, PushPull);
        let both: [&dyn Method; 2] = [&smtpp, &push_pull];
        let limits: Vec<f64> = both
            .par_iter()
            .map(|method| largest_stable(*method, &problem, topology))
            .collect::<Result<_>>()?;
        Ok(Limit { graph, trees: *trees, smtpp: limits[0], push_pull: limits[1] })
    };
    topologies.par_iter().map(limit).collect()
}

fn largest_stable(method: &dyn Method, problem: &Quadratic, topology: &Topology) -> Result<f64> {
    let mut stable = 0.0;
    let mut unstable = SMALLEST;
    while is_stable(method, problem, topology, unstable)? {
        stable = unstable;
        unstable *= 2.0;
        if unstable > LARGEST {
            return Ok(stable);
        }
    }
    for _ in 0..BISECTIONS {
        let middle = 0.5 * (stable + unstable);
        match is_stable(method, problem, topology, middle)? {
            true => stable = middle,
            false => unstable = middle,
        }
    }
    Ok(0.5 * (stable + unstable))
}

/// Whether (1/n)Σ‖x_i − x*‖² is less in the last third of the rounds than in the middle one.
fn is_stable(method: &dyn Method, problem: &Quadratic, topology: &Topology, step: f64) -> Result<bool> {
    const SETTLED: f64 = 1e-20;
    const GROWN: f64 = 1e20;
    let mut thirds = [0.0; 3];
    let mut last = 0.0;
    let status = run_quadratic(method, problem, topology, step, [0, ROUNDS], |view| {
        last = distance_sq(view, problem);
        thirds[(view.k * 3 / ROUNDS).min(2) as usize] += last;
        // What looks settled for a round may be passing by: it counts after the transient only.
        let settled = last < SETTLED && view.k > ROUNDS / 6;
        Ok(if settled || last > GROWN { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    Ok(match status {
        Status::Diverged { .. } => false,
        Status::Stopped { .. } => last < SETTLED,
        Status::Completed => thirds[2] < thirds[1],
    })
}
