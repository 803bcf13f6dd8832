//! Corollary 1's schedule: η = c√(n/T), λ = (n/T)^¼, and the average of ‖∇F(x̄_k)‖² over the T rounds.

use std::ops::ControlFlow;

use anyhow::Result;
use oneway::engine::schedule;
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology};
use oneway::methods::Smtpp;
use rayon::prelude::*;

use super::LINKS;
use super::quadratic::{average, gradient_sq, paper_graphs, problem, run as run_quadratic, topology};
use crate::studies::claims::statistics::{PowerLaw, mean};

/// c in η·c_π = c√(n/T): stable for every T tried.
const SCALE: f64 = 0.25;
const DIM: usize = 8;
const CURVATURE: [f64; 2] = [0.2, 1.0];
/// σ², such that the noise and the way from the start weigh about the same.
const VARIANCE: f64 = 64.0;
const SEEDS: [u64; 2] = [31, 32];
/// T = 2^7 … 2^12.
const LENGTHS: [u64; 6] = [128, 256, 512, 1024, 2048, 4096];
const SIZES: [usize; 4] = [5, 10, 20, 40];
/// T while n varies.
const LENGTH: u64 = 1024;

/// Average ‖∇F(x̄)‖² against T, and against n.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Corollary {
    /// Against T on each of the paper's graphs, full and on trees, n = 20.
    pub(crate) in_rounds: Vec<InRounds>,
    /// (n, average) on the exponential graph, T = 1024.
    pub(crate) in_agents: Vec<(usize, f64)>,
    /// The fit in n.
    pub(crate) in_agents_fit: PowerLaw,
}

/// Average ‖∇F(x̄)‖² against T on one graph.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct InRounds {
    pub(crate) graph: String,
    /// (T, average).
    pub(crate) averages: Vec<(u64, f64)>,
    pub(crate) fit: PowerLaw,
}

pub(super) fn run() -> Result<Corollary> {
    let mut in_rounds = vec![];
    let graphs = paper_graphs()?;
    for ((subgraph, links), (graph, digraph)) in LINKS.iter().flat_map(|l| graphs.iter().map(move |g| (l, g)))
    {
        let topology = topology(digraph.clone(), *subgraph)?;
        let averages = LENGTHS.par_iter().map(|&rounds| Ok((rounds, average_gradient(&topology, rounds)?)));
        let averages = averages.collect::<Result<Vec<_>>>()?;
        let points: Vec<(f64, f64)> = averages.iter().map(|&(rounds, avg)| (rounds as f64, avg)).collect();
        in_rounds.push(InRounds { graph: format!("{graph}{links}"), averages, fit: PowerLaw::fit(&points) });
    }
    let of_size = |&n: &usize| {
        let topology = topology(families::exponential(n)?, Subgraph::Full)?;
        Ok((n, average_gradient(&topology, LENGTH)?))
    };
    let in_agents: Vec<(usize, f64)> = SIZES.par_iter().map(of_size).collect::<Result<_>>()?;
    let points: Vec<(f64, f64)> = in_agents.iter().map(|&(n, avg)| (n as f64, avg)).collect();
    Ok(Corollary { in_rounds, in_agents, in_agents_fit: PowerLaw::fit(&points) })
}

/// (1/T) Σ_{k<T} ‖∇F(x̄_k)‖², averaged over the seeds.
fn average_gradient(topology: &Topology, rounds: u64) -> Result<f64> {
    let n = topology.agents();
    let (root, λ) = schedule::corollary(n, rounds)?;
    let method = Smtpp::new(λ)?;
    let problem = problem(n, DIM, CURVATURE, VARIANCE)?;
    let π_r = &topology.stationary(0)?.pull;
    let of_seed = |&seed: &u64| {
        let (mut sum, mut x_mean) = (0.0, [0.0; DIM]);
        run_quadratic(&method, &problem, topology, SCALE * root, [seed, rounds], |view| {
            if view.k < rounds {
                average(view, π_r, &mut x_mean);
                sum += gradient_sq(&problem, &x_mean);
            }
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(sum / rounds as f64)
    };
    Ok(mean(&SEEDS.iter().map(of_seed).collect::<Result<Vec<f64>>>()?))
}
