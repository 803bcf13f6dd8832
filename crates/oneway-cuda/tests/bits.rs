//! Kernels have the simulator's bits: the very text that a GPU gets, compiled for the host.
#![allow(clippy::unwrap_used)]

mod common;

use common::{host, rules, same_bits};
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::method::Method;
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::testing::{Subject, logistic, quadratic};
use oneway::{methods::KINDS, testing};

/// More rounds than are begun at a time, and not a multiple.
const ROUNDS: u64 = 67;

/// Every rule with every estimator that it takes, with noise.
#[test]
fn every_rule_has_the_bits_of_the_simulator() {
    let host = host(1);
    let rules = rules();
    assert!(rules.len() > 80, "{}", rules.len());
    common::at_once(rules, |(name, kind, method)| {
        let subject = Subject::builtin(kind);
        let (graph, network, digraphs) = subject.networks().unwrap().into_iter().next_back().unwrap();
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let problem = quadratic(topology.agents(), 0.3).unwrap();
        let η = subject.raw_step(&topology, 0.02).unwrap();
        let schedule = Schedule::constant(η).unwrap();
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 11 };
        for precision in [Precision::F64, Precision::F32] {
            same_bits(&host, setup, precision, ROUNDS, &format!("{name} on {network}"));
        }
    });
}
