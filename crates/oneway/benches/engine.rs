//! The two costs of an experiment, timed: a round, and an evaluation. `just bench`.
#![allow(clippy::unwrap_used)]

mod setting;

use divan::Bencher;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::{Engine, Setup};
use oneway::graph::Topology;
use oneway::method::Method;
use oneway::methods::{Csgdm, PUSH_DIGING, PUSH_PULL, SGP, Smtpp};
use oneway::problem::Problem;
use setting::{AGENTS, evaluate, exponential, problem};

fn main() {
    divan::main();
}

/// One round of n = 20 agents on a9a (d = 123, batch 1), exponential graph.
#[divan::bench(args = ["smtpp", "push-pull", "sgp", "push-diging", "csgdm"], sample_size = 1000)]
fn round(bencher: Bencher, name: &str) {
    let method: Box<dyn Method> = match name {
        "smtpp" => Box::new(Smtpp::new(0.1).unwrap()),
        "push-pull" => Box::new(PUSH_PULL),
        "sgp" => Box::new(SGP),
        "push-diging" => Box::new(PUSH_DIGING),
        _ => Box::new(Csgdm::new(0.1).unwrap()),
    };
    let topology = if name == "csgdm" { Topology::complete(AGENTS).unwrap() } else { exponential() };
    let (problem, schedule) = (problem(), Schedule::constant(0.01).unwrap());
    let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup).unwrap();
    bencher.bench_local(|| simulator.round());
}

/// F(x) and ∇F(x) over all of a9a, at so many points at once, on one thread.
#[divan::bench(args = [1, 8], sample_size = 20)]
fn evaluation(bencher: Bencher, points: usize) {
    let problem = problem();
    let mut gradients = vec![0.0; points * problem.dim()];
    bencher.bench_local(|| evaluate(&problem, points, &mut gradients));
}
