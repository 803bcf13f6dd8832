//! Every method over links on Zenoh, an agent a thread with a session of its own: the simulator's bits, agent
//! by agent.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::{Duration, Instant};

use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Graph, Subgraph, Topology, Weights, families};
use oneway::method::Method;
use oneway::methods::{KINDS, Kind};
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::testing::{Subject, quadratic, simulate};
use oneway_agent::agent::{Agent, Task};
use oneway_agent::link::LinkError;
use oneway_agent::link::zenoh::keys::Keys;
use oneway_agent::link::zenoh::{ZenohLink, ZenohOptions};
use oneway_agent::plan::endpoints::{Dial, Endpoints};
use oneway_agent::plan::hosts::free_addresses;
use oneway_agent::plan::identity::Identity;
use oneway_agent::plan::limits::{Guard, Patience};
use oneway_agent::plan::ties::Ties;
use oneway_agent::watch::status::Status;
use oneway_agent::wire::Number;
use oneway_agent::wire::frame::{self, Moment};
use oneway_agent::wire::history::{History, Sent, rounds_needed};
use oneway_agent::wire::message::Message;
use oneway_agent::wire::rows::Rows;
use zenoh::Wait;
use zenoh::query::ConsolidationMode;

const AGENTS: usize = 4;
const ROUNDS: u64 = 8;
const LIMIT: Duration = Duration::from_secs(20);

fn addresses() -> Vec<String> {
    free_addresses(AGENTS).unwrap().into_iter().map(|address| format!("tcp/{address}")).collect()
}

fn identity(run: &str, precision: Precision, agent: usize) -> Identity {
    Identity {
        precision,
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
    limit: Duration,
    addresses: Vec<String>,
}

/// One agent's rounds; its state, or why there is none.
fn run<T: Number>(case: &Case<'_>, ties: &Ties) -> Result<Vec<T>, LinkError> {
    let Case { method, problem, .. } = *case;
    let task = Task { method, problem, ties, schedule: Schedule::constant(case.η).unwrap(), seed: 5 };
    let identity = identity(case.name, T::PRECISION, ties.agent);
    let history = Arc::new(task.history(identity.run_id(), rounds_needed(4, ties.lag)));
    let lower = ties.neighbours().into_iter().filter(|&who| who < ties.agent);
    let endpoints = Endpoints {
        met: None,
        block: None,
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
        patience: Patience { limit: case.limit, ..Patience::default() },
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

fn run_all<T: Number>(case: &Case<'_>, topology: &Topology) -> Vec<Result<Vec<T>, LinkError>> {
    let ties = Ties::all(topology);
    std::thread::scope(|scope| {
        let threads: Vec<_> = ties.iter().map(|ties| scope.spawn(|| run::<T>(case, ties))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Several methods at a time: agents wait for each other's sessions most of the time.
#[test]
fn every_method_has_the_simulators_bits() {
    const AT_A_TIME: usize = 4;
    std::thread::scope(|scope| {
        for share in KINDS.chunks(KINDS.len().div_ceil(AT_A_TIME)) {
            scope.spawn(|| share.iter().for_each(has_the_simulators_bits));
        }
    });
}

fn has_the_simulators_bits(kind: &Kind) {
    let problem = quadratic(AGENTS, 0.3).unwrap();
    let digraphs = [families::exponential(AGENTS).unwrap()];
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
        limit: LIMIT,
        addresses: addresses(),
    };
    for (agent, state) in run_all::<f64>(&case, &topology).into_iter().enumerate() {
        let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(
            bits(&state.unwrap()),
            bits(simulator.view().state(agent)),
            "{}: agent {agent}",
            kind.name
        );
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
    let case = Case {
        name: "absurd",
        method: &*method,
        problem: &problem,
        η: 1e4,
        guard,
        limit: LIMIT / 2, // the others wait it out
        addresses: addresses(),
    };
    let ended = run_all::<f64>(&case, &topology);
    let refused = ended
        .iter()
        .filter_map(|result| result.as_ref().err())
        .find(|error| matches!(error, LinkError::Refused { .. }));
    let words = refused.unwrap().to_string();
    assert!(words.starts_with("refused the p") && words.contains("beyond the guard's 1e6"), "{words}");
}

#[test]
fn single_precision_has_the_simulators_bits() {
    let problem = quadratic(AGENTS, 0.3).unwrap();
    let subject = Subject::builtin(oneway::methods::kind("smtpp").unwrap());
    let topology = subject.topology(Subgraph::Full, &[families::ring(AGENTS).unwrap()], 0).unwrap();
    let (method, η) = (subject.method().unwrap(), subject.raw_step(&topology, 0.02).unwrap());
    let schedule = Schedule::constant(η).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 5 };
    let mut simulator = Simulator::<f32>::with_precision(setup).unwrap();
    (0..ROUNDS).try_for_each(|_| simulator.round()).unwrap();
    let case = Case {
        name: "single",
        method: &*method,
        problem: &problem,
        η,
        guard: Guard::Beyond(1e6),
        limit: LIMIT,
        addresses: addresses(),
    };
    for (agent, state) in run_all::<f32>(&case, &topology).into_iter().enumerate() {
        let found: Vec<u64> = state.unwrap().iter().map(|x| f64::from(*x).to_bits()).collect();
        let expected: Vec<u64> = simulator.view().state(agent).iter().map(|x| x.to_bits()).collect();
        assert_eq!(found, expected, "agent {agent}");
    }
}

/// A session that may send anything to one agent.
fn stranger(address: &str) -> zenoh::Session {
    let settings = format!(
        r#"{{ "mode": "peer", "connect": {{ "endpoints": ["{address}"] }},
              "scouting": {{ "multicast": {{ "enabled": false }}, "gossip": {{ "enabled": false }} }} }}"#
    );
    zenoh::open(zenoh::Config::from_json5(&settings).unwrap()).wait().unwrap()
}

/// The payloads of all answers to a query, and whether any of them is an error that the agent sent.
fn ask(session: &zenoh::Session, key: &str, payload: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let query = session.get(key).payload(payload).consolidation(ConsolidationMode::None);
    let replies = query.timeout(Duration::from_secs(2)).wait().unwrap();
    let (mut answers, mut errors) = (vec![], false);
    while let Ok(reply) = replies.recv() {
        match reply.result() {
            Ok(sample) => answers.push(sample.payload().to_bytes().into_owned()),
            Err(error) => errors |= error.payload().to_bytes().as_ref() != b"Timeout",
        }
    }
    (answers, errors)
}

/// Every request gets a typed answer, none of them an error; what is damaged, or does not fit the run, gets
/// none and is counted.
#[test]
fn requests_get_typed_answers_and_damaged_ones_get_none() {
    let topology =
        Topology::from_digraphs(&[families::ring(2).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let (ties, identity) = (Ties::from_topology(&topology, 0), identity("asked", Precision::F64, 0));
    let history = Arc::new(History::<f64>::new(identity.run_id(), ties.clone(), 2, 1));
    let at = |round| Moment { round, phase: 0 };
    for round in 0..5 {
        history.buffers(at(round), [1, 1]);
        history.keep(Sent { at: at(round), pull: vec![round as f64].into(), push: vec![0.0].into() });
    }
    let address = addresses().swap_remove(0);
    let endpoints = Endpoints {
        met: None,
        block: None,
        observed: false,
        listen: address.clone(),
        connect: vec![],
        bind: None,
        tls: None,
    };
    let status = Arc::new(Status::new(&ties, ROUNDS));
    let link = ZenohLink::open(ZenohOptions {
        endpoints: &endpoints,
        identity: identity.clone(),
        ties: &ties,
        rows: Rows { widths: [1, 1], wire: None, phases: 1 },
        history,
        status: Arc::clone(&status),
        patience: Patience::default(),
        guard: Guard::Off,
        ends_file: None,
    })
    .unwrap();
    let session = stranger(&address);
    let key = Keys::new(identity.key()).again(Graph::Pull, 0, 1);
    let until = Instant::now() + Duration::from_secs(60);
    let noted = loop {
        let (answers, errors) = ask(&session, &key, &Message::Done(7).encode());
        assert!(!errors && Instant::now() < until, "an error, or no answer");
        if let Some(answer) = answers.into_iter().next() {
            break answer; // the agent is found
        }
    };
    assert_eq!(Message::decode(&noted), Ok(Message::Noted(7)));
    let (gone, errors) = ask(&session, &key, &Message::Rows(at(1)).encode());
    assert_eq!((Message::decode(&gone[0]), gone.len(), errors), (Ok(Message::Gone(3)), 1, false));
    let (rows, errors) = ask(&session, &key, &Message::Rows(at(3)).encode());
    let numbers: Vec<f64> =
        rows.iter().flat_map(|row| frame::decode(row).unwrap().content.to_f64().unwrap()).collect();
    assert_eq!((numbers, errors), (vec![3.0, 4.0], false));
    assert_eq!(ask(&session, &key, &Message::Rows(at(9)).encode()), (vec![], false), "not sent yet");
    let refused = || status.report().neighbours.iter().map(|of| of.refused).sum::<u64>();
    assert_eq!(refused(), 0);

    let mut damaged = Message::Done(7).encode();
    damaged[8] ^= 1;
    let bad: [&[u8]; 8] = [
        b"",
        b"done=7",
        b"round=3;phase=0",
        &damaged,
        &damaged[..12],
        &Message::Done(ROUNDS + 1).encode(),
        &Message::Rows(Moment { round: 3, phase: 1 }).encode(),
        &Message::Noted(7).encode(),
    ];
    for payload in bad {
        assert_eq!(ask(&session, &key, payload), (vec![], false), "{payload:?}");
    }
    assert_eq!(refused(), bad.len() as u64);
    session.close().wait().unwrap();
    link.close();
}

/// What an agent logs, for a test to read.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Two agents, one in each precision: neither gets a row of the other, and both say why.
#[test]
fn agents_of_different_precision_refuse_each_other() {
    let log = Log::default();
    let writer = log.clone();
    let logs = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
    tracing::subscriber::set_global_default(logs).unwrap();
    let problem = quadratic(2, 0.3).unwrap();
    let subject = Subject::builtin(oneway::methods::kind("smtpp").unwrap());
    let topology = subject.topology(Subgraph::Full, &[families::ring(2).unwrap()], 0).unwrap();
    let method = subject.method().unwrap();
    let case = Case {
        name: "mixed",
        method: &*method,
        problem: &problem,
        η: 0.01,
        guard: Guard::Off,
        limit: Duration::from_secs(6),
        addresses: addresses(),
    };
    let ties = Ties::all(&topology);
    let [double, single] = std::thread::scope(|scope| {
        let double = scope.spawn(|| run::<f64>(&case, &ties[0]).map(drop));
        let single = scope.spawn(|| run::<f32>(&case, &ties[1]).map(drop));
        [double.join().unwrap(), single.join().unwrap()]
    });
    for ended in [double, single] {
        assert!(matches!(ended, Err(LinkError::Away { .. })), "{ended:?}");
    }
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for words in
        ["refused agent 1: its precision is f32, here f64", "refused agent 0: its precision is f64, here f32"]
    {
        assert!(log.contains(words), "{words} in\n{log}");
    }
}
