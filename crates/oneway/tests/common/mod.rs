//! What several test files share: methods, topologies and problems to run over.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used, clippy::panic)]

use std::sync::Mutex;

use oneway::data::Dataset;
use oneway::data::partition::Partition;
use oneway::engine::metrics::measure;
use oneway::engine::{Engine, Simulator};
use oneway::graph::Digraph;
use oneway::graph::topology::{Subgraph, Topology};
use oneway::method::Method;
use oneway::methods::estimator::ESTIMATORS;
use oneway::methods::{KINDS, Kind};
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway::problems::{
    Batch, FiniteSum, LeastSquares, Logistic, Model, Regulariser, Robust, RobustLoss, Sharing, Softmax,
    TwoLayer,
};
use oneway::testing::{self, CHECKS, Passed, Subject};
use proptest::prelude::*;

#[allow(unused_imports)] // each test file takes what it needs
pub use oneway::testing::{Tilted, dataset, distance, π_moves};

pub fn build(kind: &Kind) -> Box<dyn Method> {
    kind.method([]).unwrap()
}

/// All rules of the registry: as they are, and with every estimator that they take.
pub fn rules() -> Vec<(String, Box<dyn Method>)> {
    let mut rules = vec![];
    for kind in KINDS {
        let own = Parameters::new(kind.name, kind.parameters, []).unwrap();
        rules.push((kind.name.to_owned(), build(kind)));
        for (with, estimator) in
            kind.with_estimator.iter().flat_map(|with| ESTIMATORS.iter().map(move |e| (with, e)))
        {
            // three samples for the mean of several gradients
            let given =
                estimator.parameters.iter().filter(|p| p.name == "samples").map(|p| (p.name.to_owned(), 3.0));
            let given = Parameters::new(estimator.name, estimator.parameters, given).unwrap();
            let method = with(&own, (estimator.build)(&given).unwrap()).unwrap();
            rules.push((format!("{} with {}", kind.name, estimator.name), method));
        }
    }
    rules.retain(|(_, method)| method.trace().is_some());
    rules
}

/// Every registered method, with what is known of it.
pub fn subjects() -> impl Iterator<Item = Subject<'static>> {
    KINDS.iter().map(Subject::builtin)
}

/// Asks every registered method what the check of this name asks, several at a time.
pub fn ask_all(check: &str) -> Vec<(&'static str, Passed)> {
    let check = CHECKS.iter().find(|known| known.name == check).unwrap();
    let ask = |subject: Subject<'static>| match check.run(&subject) {
        Ok(passed) => (subject.kind.name, passed),
        Err(why) => panic!("{why} (asked: {})", check.about),
    };
    at_once(subjects().collect(), ask)
}

/// What `work` makes of each item, on as many threads as there are cores. They are not rayon's: what those
/// print is lost where a test fails.
pub fn at_once<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(items.into_iter().enumerate());
    let next = || queue.lock().unwrap().next();
    let share = || std::iter::from_fn(|| next().map(|(i, item)| (i, work(item)))).collect::<Vec<_>>();
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(share)).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, made)| made).collect()
}

/// Every registered method on every subgraph that it may use.
pub fn methods() -> impl Iterator<Item = (&'static Kind, Subgraph)> {
    KINDS.iter().flat_map(|kind| kind.graphs.iter().map(move |&graph| (kind, graph)))
}

/// The topology that a method gets on a digraph.
pub fn topology(kind: &Kind, graph: Subgraph, digraphs: &[Digraph], root: usize) -> Topology {
    Subject::builtin(kind).topology(graph, digraphs, root).unwrap()
}

/// The same links both ways, with Metropolis weights: one symmetric, doubly stochastic matrix.
pub fn balanced(digraphs: &[Digraph]) -> Topology {
    testing::balanced(digraphs).unwrap()
}

/// The same with half of all weight kept: (I + W)/2.
pub fn lazily(topology: &Topology) -> Topology {
    testing::lazy(topology).unwrap()
}

/// The networks of the table, by name.
pub fn digraphs() -> Vec<(&'static str, Vec<Digraph>)> {
    testing::networks().unwrap()
}

pub fn quadratic(n: usize, noise: f64) -> Tilted {
    testing::quadratic(n, noise).unwrap()
}

/// Every method on every subgraph that it may use of every topology that it may run on: (kind, subgraph,
/// name, digraphs).
pub fn table() -> impl Iterator<Item = (&'static Kind, Subgraph, &'static str, Vec<Digraph>)> {
    let with_kind = |subject: Subject<'static>| {
        let networks = subject.networks().unwrap().into_iter();
        networks.map(move |(graph, name, digraphs)| (subject.kind, graph, name, digraphs))
    };
    subjects().flat_map(with_kind)
}

/// A raw step that moves the average by `effective` times the mean gradient in the long run, momentum of any
/// kind included.
pub fn raw_step(kind: &Kind, topology: &Topology, effective: f64) -> f64 {
    Subject::builtin(kind).raw_step(topology, effective).unwrap()
}

pub fn logistic(n: usize, batch: Batch) -> Logistic {
    testing::logistic(n, batch).unwrap()
}

/// Every model of a finite sum, on rows with as many features as [`dataset`]'s and four classes.
pub fn finite_sums(n: usize, batch: Batch) -> Vec<(&'static str, Box<dyn Problem>)> {
    let mut data = dataset(7 * n);
    data.labels = (0..7 * n).map(|r| (r * r % 7) as f64).collect(); // 0, 1, 2 and 4
    let robust = |loss| finite_sum(Robust::new(6, loss, 0.7).unwrap(), &data, n, batch);
    vec![
        ("softmax", finite_sum(Softmax::new(&data).unwrap(), &data, n, batch)),
        ("two-layer", finite_sum(TwoLayer::new(&data, 5, 1).unwrap(), &data, n, batch)),
        ("least-squares", finite_sum(LeastSquares::new(6), &data, n, batch)),
        ("welsch", robust(RobustLoss::Welsch)),
        ("cauchy", robust(RobustLoss::Cauchy)),
    ]
}

fn finite_sum(model: impl Model + 'static, data: &Dataset, n: usize, batch: Batch) -> Box<dyn Problem> {
    let problem = FiniteSum::new(
        model,
        data,
        Regulariser::NonConvex(0.01),
        Sharing::among(n).partition(Partition::Shuffled).batch(batch),
    );
    Box::new(problem.unwrap().with_test(data.clone()).unwrap())
}

pub fn simulate<'a>(
    method: &'a dyn Method,
    problem: &'a dyn Problem,
    topology: &'a Topology,
    η: f64,
) -> Simulator<'a> {
    testing::simulate(method, problem, topology, η).unwrap()
}

pub fn advance(simulator: &mut Simulator<'_>, rounds: usize) {
    testing::advance(simulator, rounds).unwrap();
}

/// States and measurements are the same on 1, 2 and 8 threads; the state's hash.
pub fn same_on_threads<'a>(what: &str, start: impl Fn() -> Simulator<'a> + Sync, rounds: usize) -> String {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut simulator = start();
            advance(&mut simulator, rounds);
            (simulator.state_hash(), measure(&simulator.view()).unwrap())
        })
    };
    let alone = run(1);
    assert_eq!(alone, run(2), "{what}");
    assert_eq!(alone, run(8), "{what}");
    alone.0
}

/// All agents' estimates, one after another.
pub fn estimates(simulator: &Simulator<'_>) -> Vec<f64> {
    testing::estimates(&simulator.view())
}

/// A random strongly connected digraph: a cycle through all agents in random order, and random links.
pub fn strongly_connected(most: usize) -> impl Strategy<Value = Digraph> {
    (1..=most).prop_flat_map(|n| {
        let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        let links = prop::collection::vec((0..n, 0..n), 0..2 * n);
        (order, links).prop_map(move |(order, links)| {
            let cycle = (0..n).map(|i| (order[i], order[(i + 1) % n])).collect::<Vec<_>>();
            Digraph::from_edges(n, cycle.into_iter().chain(links)).unwrap()
        })
    })
}
