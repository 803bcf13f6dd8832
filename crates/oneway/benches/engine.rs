//! The two costs of an experiment, timed: a round of every method, and an evaluation. `just bench`.
#![allow(clippy::unwrap_used)]

mod setting;

use divan::Bencher;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::{Engine, Setup};
use oneway::problem::Problem;
use setting::work::{Case, cases};
use setting::{evaluate, problem};

fn main() {
    divan::main();
}

/// One round of n = 20 agents on a9a (d = 123, batch 1), exponential graph.
#[divan::bench(args = cases(), sample_size = 200)]
fn round(bencher: Bencher, case: &Case) {
    let (problem, schedule) = (problem(), Schedule::constant(0.01).unwrap());
    let method = case.kind.method([]).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &case.topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup).unwrap();
    bencher.bench_local(|| simulator.round());
}

/// F(x) and ∇F(x) over all of a9a, at several points at once, on one thread.
#[divan::bench(args = [1, 8], sample_size = 20)]
fn evaluation(bencher: Bencher, points: usize) {
    let problem = problem();
    let mut gradients = vec![0.0; points * problem.dim()];
    bencher.bench_local(|| evaluate(&problem, points, &mut gradients));
}
