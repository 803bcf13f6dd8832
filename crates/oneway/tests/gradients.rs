//! Gradients in one call, gradients that fail, and single precision.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, LazyLock};

use oneway::data::a9a::{Split, a9a};
use oneway::data::partition::Partition;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::asynchronous::{Asynchronous, Clock};
use oneway::engine::unreliable::{Faults, Unreliable};
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::methods::{PUSH_PULL, Smtpp, kind};
use oneway::numeric::row::{Agents, Rows, RowsMut};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::{GradientBatch, Problem};
use oneway::problems::{Batch, FromFn, Logistic, Quadratic, QuadraticShape, Sharing};
use oneway::testing::{Passed, logistic};
use proptest::prelude::*;

use crate::common::{ask_all, build, finite_sums, quadratic};

const AGENTS: usize = 9;

/// Agents of the problems whose blocks are compared: more than two groups of those that are done side by
/// side.
const MANY: usize = 37;

fn network() -> Topology {
    let digraph = families::exponential(AGENTS).unwrap();
    Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
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

/// Fails after a given number of gradients.
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

/// They take a moment to make.
static PROBLEMS: LazyLock<Vec<(String, Box<dyn Problem>)>> = LazyLock::new(all_problems);

/// Every problem of the library, with batches and dimensions on both sides of what is done in a different
/// way.
fn all_problems() -> Vec<(String, Box<dyn Problem>)> {
    let mut problems: Vec<(String, Box<dyn Problem>)> = vec![];
    for batch in
        [Batch::Sampled(1), Batch::Sampled(3), Batch::Reshuffled(1), Batch::Reshuffled(3), Batch::Full]
    {
        let named = |(name, problem): (&str, Box<dyn Problem>)| (format!("{name}, {batch:?}"), problem);
        problems.extend(finite_sums(MANY, batch).into_iter().map(named));
        problems.push((format!("logistic, {batch:?}"), Box::new(logistic(MANY, batch).unwrap())));
    }
    for batch in [Batch::Sampled(1), Batch::Sampled(8), Batch::Reshuffled(8)] {
        let paper = Logistic::new(
            &a9a(Split::Test),
            Sharing { agents: MANY, partition: Partition::Even, batch, seed: 1 },
            0.01,
        )
        .unwrap();
        problems.push((format!("a9a, {batch:?}"), Box::new(paper)));
    }
    for (dim, noise) in [(5, 0.0), (8, 0.3), (10, 0.0), (10, 0.3), (33, 0.1)] {
        let shape = QuadraticShape { dim, curvature: [0.5, 2.0], heterogeneity: 1.0, noise };
        let problem = Quadratic::new(shape, MANY, 1).unwrap();
        problems.push((format!("quadratic of {dim}, noise {noise}"), Box::new(problem)));
    }
    problems.push(("closure".to_owned(), Box::new(FromFn::new(MANY, 3, slope))));
    problems
}

/// The bits of the gradients of some agents in one call, and of one call each; draws go on in the same place
/// after both.
fn both_ways(problem: &dyn Problem, agents: Agents<'_>, seed: u64, stride: usize) -> [Vec<u64>; 2] {
    let (d, n) = (problem.dim(), agents.len());
    let mut normal = Draws::new(seed, Purpose::Problem, 0, 0);
    let mut points = vec![0.0; n * stride];
    points.fill_with(|| normal.normal());
    let points = Rows::new(&points, d, stride);
    let mut draws: Vec<Draws> =
        agents.iter().map(|agent| Draws::new(seed, Purpose::Gradient, agent, 3)).collect();
    let mut own_draws = draws.clone();
    let [mut together, mut alone] = [(); 2].map(|()| vec![9.0; n * stride]);
    problem.prefetch_all(agents, &mut draws);
    let gradients = RowsMut::new(&mut together, d, stride);
    problem.gradients(GradientBatch { agents, points, draws: &mut draws, gradients }).unwrap();
    for (q, draws) in own_draws.iter_mut().enumerate() {
        problem.gradient(agents.get(q), points.row(q), draws, &mut alone[q * stride..][..d]);
    }
    [(together, draws), (alone, own_draws)].map(|(gradients, mut draws)| {
        let next = draws.iter_mut().map(Draws::bits).collect::<Vec<_>>();
        gradients.iter().map(|g| g.to_bits()).chain(next).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn gradients_of_any_block_have_the_bits_of_one_call_each(
        chosen in proptest::collection::btree_set(0..MANY, 1..MANY),
        first in 0..MANY,
        len in 0..MANY,
        seed: u64,
        apart in 0..9usize,
    ) {
        let chosen: Vec<usize> = chosen.into_iter().collect();
        let range = Agents::Range { first, len: len.min(MANY - first) };
        for (name, problem) in PROBLEMS.iter() {
            for agents in [Agents::List(&chosen), range] {
                let [together, alone] = both_ways(&**problem, agents, seed, problem.dim() + apart);
                prop_assert_eq!(together, alone, "{}: {:?}", name, agents);
            }
        }
    }
}
