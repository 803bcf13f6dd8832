//! Every method over links in memory, an agent a thread: the simulator's bits, agent by agent, whatever the links do to rows.
#![allow(clippy::unwrap_used)]

#[path = "../../oneway/tests/common/mod.rs"]
mod common;

use std::sync::Arc;

use common::{build, quadratic, raw_step, table, topology};
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::Topology;
use oneway::method::Method;
use oneway::problem::Problem;
use oneway_agent::agent::{Agent, Task};
use oneway_agent::link::LinkError;
use oneway_agent::link::memory::{MemoryNetwork, Mischief};
use oneway_agent::plan::ties::Ties;
use oneway_agent::wire::Number;
use oneway_agent::wire::history::rounds_needed;

const STEP: f64 = 0.02;

/// The states of all agents after `rounds` rounds, each on a thread of its own.
fn states<T: Number>(
    method: &dyn Method,
    problem: &dyn Problem,
    topology: &Topology,
    η: f64,
    rounds: u64,
    mischief: Mischief,
) -> Vec<Vec<T>> {
    let ties = Ties::all(topology);
    let schedule = Schedule::constant(η).unwrap();
    let rows = Task { method, problem, ties: &ties[0], schedule, seed: 5 }.rows();
    let network = MemoryNetwork::<T>::new(&ties, rows, mischief);
    let run = |ties: &Ties| {
        let task = Task { method, problem, ties, schedule, seed: 5 };
        let history = Arc::new(task.history(1, rounds_needed(0, ties.lag)));
        let mut link = network.link(ties.agent, Arc::clone(&history));
        let mut agent = Agent::new(task, history).unwrap();
        let done = (0..rounds).try_for_each(|_| agent.round(&mut link));
        if let Err(error) = &done {
            network.close(&LinkError::Stopped);
            assert_eq!(*error, LinkError::Stopped, "agent {}", ties.agent);
        }
        agent.state().to_vec()
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = ties.iter().map(|ties| scope.spawn(|| run(ties))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn assert_same_bits<T: Number>(
    case: &str,
    method: &dyn Method,
    problem: &dyn Problem,
    topology: &Topology,
    η: f64,
    mischief: Mischief,
) {
    const ROUNDS: u64 = 12;
    let schedule = Schedule::constant(η).unwrap();
    let setup = Setup { method, problem, topology, schedule, seed: 5 };
    let mut simulator = Simulator::<T>::with_precision(setup).unwrap();
    (0..ROUNDS).try_for_each(|_| simulator.round()).unwrap();
    let found = states::<T>(method, problem, topology, η, ROUNDS, mischief);
    for (agent, state) in found.iter().enumerate() {
        // in double precision all numbers of single precision are exact
        let found: Vec<u64> = state.iter().map(|x| x.to_f64().to_bits()).collect();
        let expected: Vec<u64> = simulator.view().state(agent).iter().map(|x| x.to_bits()).collect();
        assert_eq!(found, expected, "{case}: agent {agent}");
    }
}

#[test]
fn every_method_on_every_network_has_the_simulators_bits() {
    let problem = quadratic(9, 0.3);
    for (kind, graph, name, digraphs) in table() {
        let topology = topology(kind, graph, &digraphs, 4);
        let η = raw_step(kind, &topology, STEP);
        let case = format!("{} ({graph:?}) on {name}", kind.name);
        assert_same_bits::<f64>(&case, &*build(kind), &problem, &topology, η, Mischief::default());
    }
}

/// Every method that can be had in single precision: all rules.
#[test]
fn every_rule_in_single_precision_has_the_simulators_bits() {
    let problem = quadratic(9, 0.3);
    let mut single = std::collections::BTreeSet::new();
    for (kind, graph, name, digraphs) in table() {
        let method = build(kind);
        if method.trace().is_none() {
            continue; // no rule
        }
        let topology = topology(kind, graph, &digraphs, 4);
        let η = raw_step(kind, &topology, STEP);
        let case = format!("{} ({graph:?}) on {name} in f32", kind.name);
        assert_same_bits::<f32>(&case, &*method, &problem, &topology, η, Mischief::default());
        single.insert(kind.name);
    }
    assert!(single.len() >= 20, "{single:?}");
}

#[test]
fn a_method_without_single_precision_is_refused() {
    let (problem, topology) = (quadratic(4, 0.0), Topology::complete(4).unwrap());
    let method = build(oneway::methods::kind("compressed-smtpp").unwrap());
    let ties = Ties::of(&topology, 0);
    let schedule = Schedule::constant(STEP).unwrap();
    let task = Task { method: &*method, problem: &problem, ties: &ties, schedule, seed: 5 };
    let history = Arc::new(task.history::<f32>(1, 10));
    let error = Agent::new(task, history).unwrap_err().to_string();
    assert!(error.contains("no single precision"), "{error}");
}

/// Rows that are lost are asked for again; those that come twice, late or out of order change nothing.
#[test]
fn loss_repetition_and_disorder_change_no_bit() {
    let problem = quadratic(9, 0.3);
    let mischief = Mischief { lose: 0.1, repeat: 0.3, hold: 0.2, seed: 3 };
    for (kind, graph, name, digraphs) in table() {
        if !["smtpp", "sgp", "multi-gossip", "compressed-smtpp"].contains(&kind.name) {
            continue;
        }
        let topology = topology(kind, graph, &digraphs, 4);
        let η = raw_step(kind, &topology, STEP);
        let case = format!("{} ({graph:?}) on {name}", kind.name);
        assert_same_bits::<f64>(&case, &*build(kind), &problem, &topology, η, mischief);
    }
}
