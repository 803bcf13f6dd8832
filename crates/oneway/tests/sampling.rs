//! Rows drawn without replacement, in whole runs: every engine draws the same rows, at any number of threads, and an
//! agent goes through all of its own.
#![allow(clippy::unwrap_used)]

use oneway::engine::asynchronous::{Asynchronous, Clock};
use oneway::engine::unreliable::{Faults, Unreliable};
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Topology, families};
use oneway::methods::kind;
use oneway::problems::Batch;

use crate::common::{build, finite_sums, logistic, same_on_threads, simulate, topology};

const AGENTS: usize = 9;

fn ring() -> Topology {
    let smtpp = kind("smtpp").unwrap();
    topology(smtpp, smtpp.graphs[0], &[families::ring(AGENTS).unwrap()], 0)
}

#[test]
fn threads_change_no_bit() {
    let (method, topology) = (build(kind("smtpp").unwrap()), ring());
    for batch in [Batch::Reshuffled(1), Batch::Reshuffled(3)] {
        let mut problems = finite_sums(AGENTS, batch);
        problems.push(("logistic", Box::new(logistic(AGENTS, batch))));
        for (name, problem) in problems {
            let what = format!("{name}, {batch:?}");
            same_on_threads(&what, || simulate(&*method, &*problem, &topology, 0.05), 12);
        }
    }
}

#[test]
fn engines_draw_the_same_rows() {
    let topology = ring();
    for name in ["smtpp", "push-pull", "sgp"] {
        let method = build(kind(name).unwrap());
        for batch in [Batch::Reshuffled(1), Batch::Reshuffled(2)] {
            let problem = logistic(AGENTS, batch);
            let (topology, schedule) = (&topology, Schedule::constant(0.05).unwrap());
            let setup = Setup { method: &*method, problem: &problem, topology, schedule, seed: 5 };
            let mut simulator = Simulator::new(setup).unwrap();
            let mut unreliable = Unreliable::new(setup, Faults::default()).unwrap();
            let mut asynchronous = Asynchronous::new(setup, Clock::EVEN).unwrap();
            for k in 0..20 {
                simulator.round().unwrap();
                unreliable.round().unwrap();
                asynchronous.round().unwrap();
                assert_eq!(simulator.state_hash(), unreliable.state_hash(), "{name}, {batch:?}, round {k}");
                assert_eq!(simulator.state_hash(), asynchronous.state_hash(), "{name}, {batch:?}, round {k}");
            }
        }
    }
}
