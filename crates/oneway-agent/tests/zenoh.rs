//! Every method over links on Zenoh, an agent a thread with a session of its own: the simulator's bits, agent by agent.
#![allow(clippy::unwrap_used)]

use std::net::TcpListener;
use std::sync::Arc;
use std::time::Duration;

use oneway::engine::Engine;
use oneway::engine::Schedule;
use oneway::graph::families;
use oneway::graph::{Subgraph, Topology};
use oneway::method::Method;
use oneway::methods::KINDS;
use oneway::problem::Problem;
use oneway::testing::{Subject, quadratic, simulate};
use oneway_agent::agent::{Agent, Task};
use oneway_agent::history::History;
use oneway_agent::identity::Identity;
use oneway_agent::link::{LinkError, Patience};
use oneway_agent::net::config::{Dial, Endpoints};
use oneway_agent::net::{Guard, ZenohLink, ZenohOptions};
use oneway_agent::status::Status;
use oneway_agent::ties::Ties;

const AGENTS: usize = 4;
const ROUNDS: u64 = 8;

fn addresses() -> Vec<String> {
    let listeners: Vec<_> = (0..AGENTS).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
    listeners.iter().map(|listener| format!("tcp/{}", listener.local_addr().unwrap())).collect()
}

fn identity(run: &str, agent: usize) -> Identity {
    Identity {
        protocol: Identity::PROTOCOL,
        code: String::new(),
        run: run.to_owned(),
        agents: AGENTS,
        topology: String::new(),
        problem: String::new(),
        method: String::new(),
        seed: 5,
        rounds: ROUNDS,
        agent,
    }
}

struct Case<'a> {
    name: &'a str,
    method: &'a dyn Method,
    problem: &'a dyn Problem,
    η: f64,
    guard: Guard,
    addresses: Vec<String>,
}

/// One agent's rounds; its state, or why there is none.
fn run(case: &Case<'_>, ties: &Ties) -> Result<Vec<f64>, LinkError> {
    let Case { method, problem, .. } = *case;
    let task = Task { method, problem, ties, schedule: Schedule::constant(case.η).unwrap(), seed: 5 };
    let identity = identity(case.name, ties.agent);
    let history = Arc::new(task.history(identity.run_id(), History::enough(4, ties.lag)));
    let lower = ties.neighbours().into_iter().filter(|&who| who < ties.agent);
    let endpoints = Endpoints {
        observed: false,
        listen: case.addresses[ties.agent].clone(),
        connect: lower.map(|agent| Dial { agent, address: case.addresses[agent].clone() }).collect(),
        bind: None,
        tls: None,
    };
    let mut link = ZenohLink::open(ZenohOptions {
        endpoints: &endpoints,
        identity,
        ties,
        rows: task.rows(),
        history: Arc::clone(&history),
        status: Arc::new(Status::new(ties, ROUNDS)),
        patience: Patience { limit: Duration::from_secs(20), ..Patience::default() },
        guard: case.guard,
        ends_file: None,
    })?;
    let mut agent = Agent::new(task, history).unwrap();
    let done = (0..ROUNDS).try_for_each(|_| agent.round(&mut link));
    if done.is_ok() {
        assert!(link.linger(ties, ROUNDS, Duration::from_secs(30))?);
    }
    link.close();
    done.map(|()| agent.state().to_vec())
}

fn run_all(case: &Case<'_>, topology: &Topology) -> Vec<Result<Vec<f64>, LinkError>> {
    let ties = Ties::all(topology);
    std::thread::scope(|scope| {
        let threads: Vec<_> = ties.iter().map(|ties| scope.spawn(|| run(case, ties))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

#[test]
fn every_method_has_the_simulators_bits() {
    let problem = quadratic(AGENTS, 0.3).unwrap();
    let digraphs = [families::exponential(AGENTS).unwrap()];
    for kind in KINDS {
        let subject = Subject::builtin(kind);
        let topology = subject.topology(kind.graphs[0], &digraphs, 1).unwrap();
        let (method, η) = (subject.method().unwrap(), subject.raw_step(&topology, 0.02).unwrap());
        let mut simulator = simulate(&*method, &problem, &topology, η).unwrap();
        (0..ROUNDS).try_for_each(|_| simulator.round()).unwrap();
        let case = Case {
            name: kind.name,
            method: &*method,
            problem: &problem,
            η,
            guard: Guard::Off,
            addresses: addresses(),
        };
        for (agent, state) in run_all(&case, &topology).into_iter().enumerate() {
            let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
            assert_eq!(
                bits(&state.unwrap()),
                bits(simulator.view().state(agent)),
                "{}: agent {agent}",
                kind.name
            );
        }
    }
}

/// The step is so long that numbers soon pass the guard: the first to meet one names who sent it.
#[test]
fn absurd_rows_are_refused_by_name() {
    let problem = quadratic(AGENTS, 0.3).unwrap();
    let subject = Subject::builtin(oneway::methods::kind("smtpp").unwrap());
    let topology = subject.topology(Subgraph::Full, &[families::ring(AGENTS).unwrap()], 0).unwrap();
    let method = subject.method().unwrap();
    let guard = Guard::Beyond(1e6);
    let case =
        Case { name: "absurd", method: &*method, problem: &problem, η: 1e4, guard, addresses: addresses() };
    let ended = run_all(&case, &topology);
    let refused = ended
        .iter()
        .filter_map(|result| result.as_ref().err())
        .find(|error| matches!(error, LinkError::Refused { .. }));
    let words = refused.unwrap().to_string();
    assert!(words.starts_with("refused the p") && words.contains("beyond the guard's 1e6"), "{words}");
}
