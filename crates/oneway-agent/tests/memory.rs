//! Every method over links in memory, an agent a thread: the simulator's bits, agent by agent, whatever the
//! links do to rows.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::Topology;
use oneway::method::Method;
use oneway::methods::KINDS;
use oneway::problem::Problem;
use oneway::testing::{Case, Subject, quadratic};
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

fn assert_conforms<T: Number>(subject: &Subject<'_>, mischief: Mischief) {
    let problem = quadratic(9, 0.3).unwrap();
    for Case { name, method, topology, η } in subject.cases().unwrap() {
        assert_same_bits::<T>(&name, &*method, &problem, &topology, η, mischief);
    }
}

#[test]
fn every_method_on_every_network_has_the_simulators_bits() {
    KINDS.iter().for_each(|kind| assert_conforms::<f64>(&Subject::builtin(kind), Mischief::default()));
}

#[test]
fn every_rule_in_single_precision_has_the_simulators_bits() {
    let subjects = KINDS.iter().map(Subject::builtin);
    let rules: Vec<_> = subjects.filter(|subject| subject.method().unwrap().trace().is_some()).collect();
    assert_eq!(rules.len(), 29);
    rules.iter().for_each(|subject| assert_conforms::<f32>(subject, Mischief::default()));
}

#[test]
fn a_method_without_single_precision_is_refused() {
    let (problem, topology) = (quadratic(4, 0.0).unwrap(), Topology::complete(4).unwrap());
    let method = oneway::methods::kind("compressed-smtpp").unwrap().method([]).unwrap();
    let ties = Ties::from_topology(&topology, 0);
    let schedule = Schedule::constant(STEP).unwrap();
    let task = Task { method: &*method, problem: &problem, ties: &ties, schedule, seed: 5 };
    let history = Arc::new(task.history::<f32>(1, 10));
    let error = Agent::new(task, history).unwrap_err().to_string();
    assert!(error.contains("no single precision"), "{error}");
}

/// Rows that are lost are asked for again; those that come twice, late or out of order change nothing.
#[test]
fn loss_repetition_and_disorder_change_no_bit() {
    let mischief = Mischief { lose: 0.1, repeat: 0.3, hold: 0.2, seed: 3 };
    for name in ["smtpp", "sgp", "multi-gossip", "compressed-smtpp"] {
        assert_conforms::<f64>(&Subject::builtin(oneway::methods::kind(name).unwrap()), mischief);
    }
}
