//! Floors against long runs: what noise leaves, and what is left because agents differ.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::observe::View;
use oneway::engine::{Engine, Setup};
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology};
use oneway::method::Method;
use oneway::methods::kind;
use oneway::problem::Problem;
use oneway::problems::{Quadratic, QuadraticShape};
use oneway::theory::floor::{bias, floor};
use oneway::theory::stability::{limit, rate};

use crate::common::{self, topology};

const DIM: usize = 64;

/// Curvature 1, a variance of 1 in each coordinate.
fn quadratic(n: usize, heterogeneity: f64) -> Quadratic {
    let shape = QuadraticShape { dim: DIM, curvature: [1.0, 1.0], heterogeneity, noise: (DIM as f64).sqrt() };
    Quadratic::new(shape, n, 1).unwrap()
}

/// Long-run means of (x̄ − x*)², (1/n)Σ(x_i − x*)² and (1/n)Σ(x_i − x̄)² in each coordinate.
fn long_run(method: &dyn Method, topology: &Topology, problem: &Quadratic, step: f64) -> Vec<[f64; 3]> {
    let n = problem.agents() as f64;
    let schedule = Schedule::constant(step).unwrap();
    let setup = Setup { method, problem, topology, schedule, seed: 7 };
    let memory = -1.0 / rate(method, topology, step).unwrap().ln();
    let (burn_in, rounds) = (20 * memory as u64 + 50, 20 * memory as u64 + 3000);
    let mut sums = vec![[0.0; 3]; DIM];
    let mut look = |view: &View<'_>| {
        if view.k <= burn_in {
            return Ok(ControlFlow::Continue(()));
        }
        let mean = oneway::engine::metrics::average(view)?;
        for i in 0..problem.agents() {
            for (k, x) in view.estimate(i).iter().enumerate() {
                sums[k][1] += (x - problem.minimiser()[k]).powi(2) / n;
                sums[k][2] += (x - mean[k]).powi(2) / n;
            }
        }
        for (k, mean) in mean.iter().enumerate() {
            sums[k][0] += (mean - problem.minimiser()[k]).powi(2);
        }
        Ok(ControlFlow::Continue(()))
    };
    Simulator::new(setup).unwrap().run(rounds, 1, &mut look).unwrap();
    sums.iter().map(|sums| sums.map(|sum| sum / (rounds - burn_in) as f64)).collect()
}

/// Runs of 64 independent coordinates: their means must be noise and bias together, within four standard
/// errors.
#[test]
fn the_floor_is_what_long_runs_show() {
    let digraphs = [families::flower(8, 3).unwrap(), families::exponential(8).unwrap()];
    let cases: [(&str, &[(&str, f64)]); 7] = [
        ("smtpp", &[("momentum", 0.1)]),
        ("smtpp", &[("momentum", 0.5)]),
        ("push-pull", &[]),
        ("sgp", &[]),
        ("dsgd", &[]),
        ("dsgt", &[]),
        ("push-diging", &[]),
    ];
    for (digraph, (name, parameters)) in
        digraphs.iter().flat_map(|d| cases.iter().map(move |case| (d, *case)))
    {
        let kind = kind(name).unwrap();
        let method = kind.method(parameters.iter().copied()).unwrap();
        for &graph in kind.graphs {
            let topology = topology(kind, graph, std::slice::from_ref(digraph), 0);
            let limit = limit(&*method, &topology).unwrap().raw;
            for (share, heterogeneity) in [(0.1, 0.0), (0.6, 0.0), (0.1, 2.0), (0.6, 2.0)] {
                if heterogeneity > 0.0 && graph != Subgraph::Full {
                    continue; // trees have been seen to track
                }
                let step = share * limit;
                let problem = quadratic(topology.agents(), heterogeneity);
                let noise = floor(&*method, &topology, step).unwrap();
                let bias = bias(&*method, &topology, step).unwrap();
                let gradients = gradients_at_minimiser(&problem);
                let measured = long_run(&*method, &topology, &problem, step);
                for which in 0..3 {
                    let expected = |b: &[f64]| match which {
                        0 => noise.at_average + bias.at_average(b),
                        1 => noise.at_agents + bias.at_agents(b),
                        _ => noise.consensus + bias.consensus(b),
                    };
                    let off: Vec<f64> =
                        measured.iter().zip(&gradients).map(|(sums, b)| sums[which] - expected(b)).collect();
                    let mean = off.iter().sum::<f64>() / DIM as f64;
                    let variance = off.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (DIM - 1) as f64;
                    let error = (variance / DIM as f64).sqrt();
                    assert!(
                        mean.abs() <= 4.0 * error + 1e-20,
                        "{name} {parameters:?}, {graph:?}, step {step}, ζ = {heterogeneity}: {which} is off by {mean} ± {error}"
                    );
                }
            }
        }
    }
}

/// ∇f_i(x*) of all agents, by coordinate.
fn gradients_at_minimiser(problem: &Quadratic) -> Vec<Vec<f64>> {
    let mut by_coordinate = vec![vec![]; DIM];
    let mut g = vec![0.0; DIM];
    for agent in 0..problem.agents() {
        problem.exact(agent, problem.minimiser(), &mut g);
        by_coordinate.iter_mut().zip(&g).for_each(|(all, g)| all.push(*g));
    }
    by_coordinate
}

/// Whom the average listens to alike has no bias there: trackers, and methods for one doubly stochastic
/// matrix, whose agents may stand apart all the same. Push-sum without a tracker has one, of the order of the
/// step.
#[test]
fn who_tracks_has_no_bias() {
    let flower = families::flower(8, 3).unwrap();
    let pulls: Vec<f64> = (0..8).map(|i| f64::from(i) - 3.5).collect();
    for (name, of_average, of_agents) in [
        ("smtpp", false, false),
        ("push-pull", false, false),
        ("push-diging", false, false),
        ("frost", false, false),
        ("exact-diffusion", false, false),
        ("gt", false, false),
        ("csgdm", false, false),
        ("dsgd", false, true),
        ("decentlam", false, true),
        ("sgp", true, true),
    ] {
        let kind = kind(name).unwrap();
        let (method, topology) =
            (common::build(kind), topology(kind, Subgraph::Full, std::slice::from_ref(&flower), 0));
        let at = |share: f64| {
            let step = share * limit(&*method, &topology).unwrap().raw.min(1.0);
            let found = bias(&*method, &topology, step).unwrap();
            [found.at_average(&pulls), found.at_agents(&pulls), found.consensus(&pulls)]
        };
        let [small, large] = [1e-3, 0.1].map(at);
        let is = |biased: bool, of: usize| match biased {
            // a bias is of the order of the step, and here it is squared
            true => assert!(small[of] > 1e-9 && large[of] > 1e3 * small[of], "{name}: {small:?} {large:?}"),
            false => assert!(small[of] < 1e-18 && large[of] < 1e-18, "{name}: {small:?} {large:?}"),
        };
        is(of_average, 0);
        is(of_agents, 1);
        is(of_agents, 2);
    }
}
