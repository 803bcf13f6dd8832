//! Gradients in one call, gradients that fail, and single precision.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use common::{ask_all, build, quadratic};
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::asynchronous::{Asynchronous, Clock};
use oneway::engine::unreliable::{Faults, Unreliable};
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::methods::{PUSH_PULL, Smtpp, kind};
use oneway::problem::Problem;
use oneway::problems::FromFn;
use oneway::testing::Passed;

const AGENTS: usize = 9;

fn network() -> Topology {
    let digraph = families::exponential(AGENTS).unwrap();
    Topology::of(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
}

fn setup<'a>(problem: &'a dyn Problem, topology: &'a Topology) -> Setup<'a> {
    let schedule = Schedule::constant(0.1).unwrap();
    Setup { method: &PUSH_PULL, problem, topology, schedule, seed: 1 }
}

/// f_i(x) = ½‖x − i‖².
fn slope(agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
    g.iter_mut().zip(x).for_each(|(g, x)| *g = x - agent as f64);
    0.5 * g.iter().map(|g| g * g).sum::<f64>()
}

fn alone() -> FromFn {
    FromFn::new(AGENTS, 3, slope)
}

/// The same gradients in one call, and how often there was one.
fn together() -> (FromFn, Arc<AtomicUsize>) {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let problem = alone().batched(move |mut batch| {
        counted.fetch_add(1, Ordering::Relaxed);
        for q in 0..batch.agents.len() {
            slope(batch.agents.get(q), batch.points.row(q), batch.gradients.row(q));
        }
        Ok(())
    });
    (problem, calls)
}

/// Fails after so many gradients.
fn failing(after: usize) -> FromFn {
    let calls = AtomicUsize::new(0);
    alone().stochastic(move |agent, x, _, g| {
        if calls.fetch_add(1, Ordering::Relaxed) == after {
            return Err(format!("the data of shard {agent} are gone").into());
        }
        slope(agent, x, g);
        Ok(())
    })
}

#[test]
fn one_call_a_round_makes_all_gradients_with_the_same_bits() {
    let (one_by_one, (problem, calls)) = (alone(), together());
    let topology = network();
    let mut expected = Simulator::new(setup(&one_by_one, &topology)).unwrap();
    let mut simulator = Simulator::new(setup(&problem, &topology)).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed), 1, "at the start");
    for _ in 0..20 {
        expected.round().unwrap();
        simulator.round().unwrap();
    }
    assert_eq!(simulator.state_hash(), expected.state_hash());
    assert_eq!(calls.load(Ordering::Relaxed), 21, "one at the start, one a round");

    let faults = Faults { loss: 0.2, ..Faults::default() };
    let mut unreliable = Unreliable::new(setup(&problem, &topology), faults).unwrap();
    let before = calls.load(Ordering::Relaxed);
    (0..5).try_for_each(|_| unreliable.round()).unwrap();
    assert_eq!(calls.load(Ordering::Relaxed) - before, 5, "one a round");
}

#[test]
fn a_gradient_that_fails_ends_the_run_and_says_why() {
    let topology = network();
    let reason = "the gradient of agent 4 could not be made: the data of shard 4 are gone";
    let failed = |engine: &mut dyn Engine<'_>, round: u64| {
        let outcome = engine.run(50, 10, &mut ()).unwrap();
        assert_eq!(outcome.status, Status::Failed { round, reason: reason.to_owned() });
    };
    let problem = failing(AGENTS * 4 + 4); // the start and three rounds go well
    failed(&mut Simulator::new(setup(&problem, &topology)).unwrap(), 3);
    let problem = failing(AGENTS * 4 + 4);
    failed(&mut Unreliable::new(setup(&problem, &topology), Faults::default()).unwrap(), 3);
    let problem = failing(AGENTS * 4 + 4);
    failed(&mut Asynchronous::new(setup(&problem, &topology), Clock::EVEN).unwrap(), 3);

    let problem = failing(4); // at the start there is no run yet
    let error = Simulator::new(setup(&problem, &topology)).unwrap_err().to_string();
    assert_eq!(error, reason);
    let batched = alone().batched(|_| Err("no device".into()));
    let error = Simulator::new(setup(&batched, &topology)).unwrap_err().to_string();
    assert_eq!(error, "the gradient could not be made: no device");
}

#[test]
fn closures_are_checked() {
    let error = alone().with_start(vec![0.0; 2]).unwrap_err().to_string();
    assert!(error.contains('2') && error.contains('3'), "{error}");
    let problem = alone().with_start(vec![1.0; 3]).unwrap().with_smoothness(1.0);
    let mut x = [0.0; 3];
    problem.start(&mut x);
    assert_eq!((x, problem.smoothness(), problem.noise()), ([1.0; 3], 1.0, Some(0.0)));
}

/// Every rule: near the run in double precision, half the bytes, and a hash that says what it is of.
#[test]
fn single_precision_stays_near_double() {
    let found = ask_all("f32");
    let single = found.iter().filter(|(_, passed)| matches!(passed, Passed::On(_))).count();
    assert!(single >= 29, "{single}");
}

#[test]
fn single_precision_is_refused_where_it_cannot_be_had() {
    let (problem, topology) = (quadratic(AGENTS, 0.0), network());
    let method = build(kind("compressed-smtpp").unwrap());
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let error = Simulator::<f32>::with_precision(setup).unwrap_err().to_string();
    assert!(error.contains("no single precision") && error.contains("double precision"), "{error}");
    let smtpp = Smtpp::new(0.1).unwrap();
    assert!(Simulator::<f32>::with_precision(Setup { method: &smtpp, ..setup }).is_ok());
}
