//! Rounds of methods that are data beside the same methods compiled, in one run. `just bench-traced`.
//!
//! The two take turns, and the least time of each counts: what disturbs one of them disturbs the other as
//! often. An argument keeps the lines that contain it.
#![allow(clippy::unwrap_used)]

mod setting;

use std::time::Instant;

use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::Topology;
use oneway::method::{Method, Traced};
use oneway::methods::kind;
use oneway::problem::Problem;
use oneway::problems::{Quadratic, QuadraticShape};
use setting::{AGENTS, exponential, problem};

fn main() {
    let only: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let wanted = |line: &str| only.is_empty() || only.iter().any(|part| line.contains(part.as_str()));
    println!("{:<44} {:>12} {:>12} {:>7}", "a round", "compiled", "as data", "ratio");
    let compare = |name: &str, what: &str, problem: &dyn Problem, topology: &Topology| {
        let line = format!("{name}, {what}");
        if !wanted(&line) {
            return;
        }
        let compiled = kind(name).unwrap().method([]).unwrap();
        let traced = Traced::of(name, &*compiled).unwrap();
        let [compiled, data] = least([&*compiled, &traced], problem, topology);
        println!("{line:<44} {:>9.2} µs {:>9.2} µs {:>7.3}", 1e6 * compiled, 1e6 * data, data / compiled);
    };
    let (a9a, network) = (problem(), exponential());
    for name in ["smtpp", "push-pull", "sgp", "adamdos", "exact-diffusion", "adam"] {
        match name {
            "adam" => compare(name, "a9a", &a9a, &Topology::complete(AGENTS).unwrap()),
            "exact-diffusion" => compare(name, "a9a", &a9a, &setting::both_ways()),
            _ => compare(name, "a9a", &a9a, &network),
        }
    }
    for d in [5, 10, 123, 1_000, 100_000] {
        let shape = QuadraticShape { dim: d, curvature: [0.5, 2.0], heterogeneity: 1.0, noise: 0.0 };
        let quadratic = Quadratic::new(shape, AGENTS, 1).unwrap();
        compare("smtpp", &format!("quadratic, d = {d}"), &quadratic, &network);
    }
}

/// Seconds of a round of each, the least of many batches that take turns.
fn least(methods: [&dyn Method; 2], problem: &dyn Problem, topology: &Topology) -> [f64; 2] {
    let schedule = Schedule::constant(1e-3).unwrap();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    pool.install(|| {
        let mut simulators = methods
            .map(|method| Simulator::new(Setup { method, problem, topology, schedule, seed: 1 }).unwrap());
        let rounds = (20_000_000 / (AGENTS * problem.dim() * 60)).clamp(2, 2000);
        let mut least = [f64::INFINITY; 2];
        let started = Instant::now();
        while started.elapsed().as_secs_f64() < 2.0 {
            for (simulator, least) in simulators.iter_mut().zip(&mut least) {
                let started = Instant::now();
                (0..rounds).try_for_each(|_| simulator.round()).unwrap();
                *least = least.min(started.elapsed().as_secs_f64() / rounds as f64);
            }
        }
        assert_eq!(simulators[0].state_hash(), simulators[1].state_hash(), "the same bits");
        least
    })
}
