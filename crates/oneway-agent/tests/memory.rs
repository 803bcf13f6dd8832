//! Every method over links in memory, an agent a thread: the simulator's bits, agent by agent, whatever the links do to rows.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;

use oneway::engine::Engine;
use oneway::engine::Schedule;
use oneway::graph::Topology;
use oneway::method::Method;
use oneway::methods::KINDS;
use oneway::problem::Problem;
use oneway::testing::{Case, Subject, quadratic, simulate};
use oneway_agent::agent::{Agent, Task};
use oneway_agent::history::History;
use oneway_agent::link::LinkError;
use oneway_agent::memory::{MemoryNetwork, Mischief};
use oneway_agent::ties::Ties;

/// The states of all agents after so many rounds, each on a thread of its own.
fn states(
    method: &dyn Method,
    problem: &dyn Problem,
    topology: &Topology,
    η: f64,
    rounds: u64,
    mischief: Mischief,
) -> Vec<Vec<f64>> {
    let ties = Ties::all(topology);
    let schedule = Schedule::constant(η).unwrap();
    let rows = Task { method, problem, ties: &ties[0], schedule, seed: 5 }.rows();
    let network = MemoryNetwork::new(&ties, rows, mischief);
    let run = |ties: &Ties| {
        let task = Task { method, problem, ties, schedule, seed: 5 };
        let history = Arc::new(task.history(1, History::enough(0, ties.lag)));
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

fn assert_same_bits(
    case: &str,
    method: &dyn Method,
    problem: &dyn Problem,
    topology: &Topology,
    η: f64,
    mischief: Mischief,
) {
    const ROUNDS: u64 = 12;
    let mut simulator = simulate(method, problem, topology, η).unwrap();
    (0..ROUNDS).try_for_each(|_| simulator.round()).unwrap();
    let found = states(method, problem, topology, η, ROUNDS, mischief);
    for (agent, state) in found.iter().enumerate() {
        let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(state), bits(simulator.view().state(agent)), "{case}: agent {agent}");
    }
}

fn assert_conforms(subject: Subject<'_>, mischief: Mischief) {
    let problem = quadratic(9, 0.3).unwrap();
    for Case { name, method, topology, η } in subject.cases().unwrap() {
        assert_same_bits(&name, &*method, &problem, &topology, η, mischief);
    }
}

#[test]
fn every_method_on_every_network_has_the_simulators_bits() {
    KINDS.iter().for_each(|kind| assert_conforms(Subject::builtin(kind), Mischief::default()));
}

/// Rows that are lost are asked for again; those that come twice, late or out of order change nothing.
#[test]
fn loss_repetition_and_disorder_change_no_bit() {
    let mischief = Mischief { lose: 0.1, repeat: 0.3, hold: 0.2, seed: 3 };
    for name in ["smtpp", "sgp", "multi-gossip", "compressed-smtpp"] {
        assert_conforms(Subject::builtin(oneway::methods::kind(name).unwrap()), mischief);
    }
}
