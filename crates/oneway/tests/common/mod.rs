//! What several test files share: methods, topologies and problems to run over.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::ops::Deref;

use oneway::data::partition::Partition;
use oneway::data::{Dataset, SparseRows};
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::{Engine, Setup};
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Pair, Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::{Method, Network, Reliance};
use oneway::methods::{KINDS, Kind};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::Problem;
use oneway::problems::{
    Batch, FiniteSum, LeastSquares, Logistic, Model, Quadratic, QuadraticShape, Regulariser, Robust,
    RobustLoss, Softmax, TwoLayer,
};
use proptest::prelude::*;

pub fn build(kind: &Kind) -> Box<dyn Method> {
    kind.method([]).unwrap()
}

/// Every registered method on every subgraph that it may use.
pub fn methods() -> impl Iterator<Item = (&'static Kind, Subgraph)> {
    KINDS.iter().flat_map(|kind| kind.graphs.iter().map(move |&graph| (kind, graph)))
}

/// The topology that a method gets on a digraph.
pub fn topology(kind: &Kind, graph: Subgraph, digraphs: &[Digraph], root: usize) -> Topology {
    match kind.network() {
        Network::Central => Topology::complete(digraphs[0].agents()).unwrap(),
        Network::Undirected if kind.name == "d2" => lazily(&balanced(digraphs)), // for no eigenvalue below −1/3
        Network::Balanced | Network::Undirected => balanced(digraphs),
        _ => Topology::of(digraphs, graph, Weights::Uniform, root).unwrap(),
    }
}

/// The same links both ways, with Metropolis weights: one symmetric, doubly stochastic matrix.
pub fn balanced(digraphs: &[Digraph]) -> Topology {
    let both_ways = |digraph: &Digraph| {
        let links: Vec<_> = digraph.edges().flat_map(|(from, to)| [(from, to), (to, from)]).collect();
        Digraph::from_edges(digraph.agents(), links).unwrap()
    };
    let graphs: Vec<_> = digraphs.iter().map(both_ways).collect();
    Topology::of(&graphs, Subgraph::Full, Weights::Metropolis, 0).unwrap()
}

/// The same with half of all weight kept: (I + W)/2.
pub fn lazily(topology: &Topology) -> Topology {
    let half = |mixing: &Mixing| {
        let own =
            (0..mixing.agents()).map(|i| Link { from: i, to: i, weight: 0.5 * mixing.weight(i, i) + 0.5 });
        let others = mixing.iter().filter(|link| link.from != link.to);
        let others = others.map(|link| Link { weight: 0.5 * link.weight, ..link });
        Mixing::new(mixing.agents(), Stochastic::Rows, own.chain(others)).unwrap()
    };
    let pairs = topology.period().iter().map(|pair| Pair { pull: half(&pair.pull), push: half(&pair.push) });
    Topology::cyclic(pairs.collect()).unwrap()
}

const THERE_AND_BACK: &str = "there and back";

/// Every family with n = 9 agents (random ones with the first seed that makes them strongly connected), and a period whose
/// matrices do not commute, so that the order of rounds matters.
pub fn digraphs() -> Vec<(&'static str, Vec<Digraph>)> {
    let connected = |graphs: &Vec<Digraph>| graphs.len() > 1 || graphs[0].is_strongly_connected();
    let of_family = |family: &'static families::Family| {
        let mut seeds = (0..100).map(|seed| family.digraphs(9, [], seed).unwrap());
        (family.name, seeds.find(connected).unwrap())
    };
    let mut all: Vec<_> = families::FAMILIES.iter().map(of_family).collect();
    let odd = (0..8).map(|i| (i, i + 1)).chain([(0, 2), (3, 7)]);
    let even = (0..8).map(|i| (i + 1, i)).chain([(8, 0), (5, 1), (2, 6)]);
    let alternating = vec![Digraph::from_edges(9, odd).unwrap(), Digraph::from_edges(9, even).unwrap()];
    all.push((THERE_AND_BACK, alternating));
    all
}

/// A quadratic for every method: those that need samples find four, f_is = f_i tilted a little, and the mean of them is f_i.
#[derive(Debug)]
pub struct Tilted(pub Quadratic);

const TILTS: [f64; 4] = [0.7, -0.2, -1.0, 0.5];

impl Deref for Tilted {
    type Target = Quadratic;

    fn deref(&self) -> &Quadratic {
        &self.0
    }
}

impl Problem for Tilted {
    fn agents(&self) -> usize {
        self.0.agents()
    }
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.0.gradient(agent, x, draws, g);
    }
    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        self.0.exact(agent, x, g)
    }
    fn samples(&self) -> Option<usize> {
        Some(TILTS.len())
    }
    fn component(&self, agent: usize, sample: usize, x: &[f64], g: &mut [f64]) {
        self.0.exact(agent, x, g);
        g.iter_mut().for_each(|g| *g += TILTS[sample]);
    }
}

pub fn quadratic(n: usize, noise: f64) -> Tilted {
    let shape = QuadraticShape { dim: 4, curvature: [0.5, 1.0], heterogeneity: 1.0, noise };
    Tilted(Quadratic::new(shape, n, 7).unwrap())
}

/// Every method on every subgraph that it may use of every topology that it may run on: (kind, subgraph, name, digraphs).
pub fn table() -> impl Iterator<Item = (&'static Kind, Subgraph, &'static str, Vec<Digraph>)> {
    methods().flat_map(|(kind, graph)| {
        let fits = move |(name, digraphs): &(&'static str, Vec<Digraph>)| {
            // trees are cut from fixed digraphs, copies are kept and corrections made on them; pull-only methods need a π_R that does not move
            let changing = graph == Subgraph::Full
                && !build(kind).keeps_copies()
                && build(kind).reliance() == Reliance::Nothing;
            (digraphs.len() == 1 || changing)
                && (kind.network() != Network::PullOnly || !π_moves(name))
                && build(kind).check_network(&topology(kind, graph, digraphs, 0)).is_ok()
        };
        digraphs().into_iter().filter(fits).map(move |(name, digraphs)| (kind, graph, name, digraphs))
    })
}

/// Whether π_R is another in another round: where the rounds' weights are not doubly stochastic.
pub fn π_moves(name: &str) -> bool {
    [THERE_AND_BACK, "random-links"].contains(&name)
}

/// A raw step that moves the average by `effective` times the mean gradient in the long run, momentum of any kind included.
pub fn raw_step(kind: &Kind, topology: &Topology, effective: f64) -> f64 {
    let balls = kind.parameters.iter().filter(|p| ["heavy_ball", "nesterov"].contains(&p.name));
    let rolling: f64 = balls.filter_map(|p| p.default).sum();
    let divisor = build(kind).step_divisor(topology).unwrap();
    let local = kind.parameters.iter().find(|p| p.name == "local_steps").and_then(|p| p.default);
    effective * (1.0 - rolling) / (divisor * local.unwrap_or(1.0))
}

/// A small random dataset with real values: `rows` rows of 6 features.
pub fn dataset(rows: usize) -> Dataset {
    let mut draws = Draws::new(3, Purpose::Problem, 0, 9);
    let mut draws_keep = Draws::new(3, Purpose::Problem, 1, 9);
    let mut features = SparseRows::new();
    let mut labels = vec![];
    for _ in 0..rows {
        let row: Vec<(u32, f64)> =
            (0..6).map(|c| (c, draws.normal())).filter(|_| draws_keep.unit() < 0.6).collect();
        features.push(row);
        labels.push(if draws.unit() < 0.4 { 1.0 } else { -1.0 });
    }
    Dataset { features: 6, labels, rows: features }
}

pub fn logistic(n: usize, batch: Batch) -> Logistic {
    Logistic::new(&dataset(5 * n), Partition::Even, n, 0.01, batch, 1).unwrap()
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
    let problem = FiniteSum::new(model, data, Partition::Shuffled, n, Regulariser::NonConvex(0.01), batch, 1);
    Box::new(problem.unwrap().with_test(data.clone()).unwrap())
}

pub fn simulate<'a>(
    method: &'a dyn Method,
    problem: &'a dyn Problem,
    topology: &'a Topology,
    η: f64,
) -> Simulator<'a> {
    let schedule = Schedule::constant(η).unwrap();
    Simulator::new(Setup { method, problem, topology, schedule, seed: 5 }).unwrap()
}

pub fn advance(simulator: &mut Simulator<'_>, rounds: usize) {
    (0..rounds).try_for_each(|_| simulator.round()).unwrap();
}

/// All agents' estimates, one after another.
pub fn estimates(simulator: &Simulator<'_>) -> Vec<f64> {
    let view = simulator.view();
    (0..view.agents()).flat_map(|i| view.estimate(i).to_vec()).collect()
}

/// The largest difference, relative to the size of the numbers where that is above one.
pub fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let far = |(a, b): (&f64, &f64)| (a - b).abs() / a.abs().max(b.abs()).max(1.0);
    a.iter().zip(b).map(far).fold(0.0, f64::max)
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
