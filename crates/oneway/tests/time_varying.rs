//! Networks that change with the round: SMTPP on time-varying digraphs, and what a long period has.
#![allow(clippy::unwrap_used)]

use oneway::engine::Engine;
use oneway::engine::metrics::measure;
use oneway::graph::families::{self, family};
use oneway::graph::topology::{Pair, Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families::random_links};
use oneway::method::{Method, Network};
use oneway::methods::{Smtpp, kind};
use oneway::problems::{Quadratic, QuadraticShape};
use oneway::theory::stability::limit;
use proptest::prelude::*;

use crate::common::{advance, balanced, build, digraphs, distance, estimates, quadratic, simulate, π_moves};

fn topology_of(digraphs: &[Digraph]) -> Topology {
    Topology::from_digraphs(digraphs, Subgraph::Full, Weights::Uniform, 0).unwrap()
}

fn drawn(name: &str, agents: usize, given: &[(&str, f64)], seed: u64) -> Topology {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), *value));
    topology_of(&family(name).unwrap().digraphs(agents, given, seed).unwrap())
}

/// Periods whose rounds are not connected, any of them, but are together.
fn periods() -> impl Strategy<Value = Vec<Digraph>> {
    (2..7_usize, 2..6_usize).prop_flat_map(|(n, p)| {
        let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        let rounds = prop::collection::vec(0..p, n);
        let more = prop::collection::vec((0..p, 0..n, 0..n), 0..2 * n);
        (order, rounds, more).prop_map(move |(order, rounds, more)| {
            // the links of a cycle through all agents are dealt out over the rounds
            let cycle = (0..n).map(|i| (rounds[i], order[i], order[(i + 1) % n]));
            let links: Vec<_> = cycle.chain(more).collect();
            let of_round = |round: usize| {
                let links = links.iter().filter(|link| link.0 == round).map(|&(_, from, to)| (from, to));
                Digraph::from_edges(n, links).unwrap()
            };
            (0..p).map(of_round).collect()
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// Lemma 2 of SMTPP in every round, and the laws of the others that run on time-varying digraphs.
    #[test]
    fn laws_hold_though_links_come_and_go(digraphs in periods(), λ in 0.05..1.0_f64) {
        let (topology, problem) = (topology_of(&digraphs), quadratic(digraphs[0].agents(), 0.5));
        let smtpp: Box<dyn Method> = Box::new(Smtpp::new(λ).unwrap());
        let others = ["push-pull", "ab", "push-diging", "sgp"].map(|name| build(kind(name).unwrap()));
        for method in [smtpp].into_iter().chain(others) {
            let mut simulator = simulate(&*method, &problem, &topology, 0.01);
            for round in 0..30 {
                advance(&mut simulator, 1);
                let error = measure(&simulator.view()).unwrap().conservation_error.unwrap();
                prop_assert!(error < 1e-13, "{method:?}, round {round}: {error:e}");
            }
        }
    }

    /// … and they find the minimiser, exactly.
    #[test]
    fn trackers_converge_though_no_round_is_connected(digraphs in periods()) {
        let n = digraphs[0].agents();
        let (topology, problem) = (topology_of(&digraphs), quadratic(n, 0.0));
        for name in ["smtpp", "push-pull", "push-diging"] {
            let kind = kind(name).unwrap();
            let method = build(kind);
            let η = 0.01 / topology.step_divisor(kind.network()).unwrap();
            let mut simulator = simulate(&*method, &problem, &topology, η);
            advance(&mut simulator, 10_000);
            let minimisers: Vec<f64> = problem.minimiser().iter().copied().cycle().take(4 * n).collect();
            let far = distance(&estimates(&simulator), &minimisers);
            prop_assert!(far < 1e-9, "{name}: {far:e} from x*");
        }
    }
}

/// The exact limit of a period: steps below it converge, and steps above it do not.
#[test]
fn limits_of_a_period_are_those_that_runs_have() {
    let shape = QuadraticShape { dim: 2, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
    let problem = Quadratic::new(shape, 6, 7).unwrap();
    for (name, given) in [
        ("random-links", &[("period", 5.0), ("probability", 0.6)][..]),
        ("random-matching", &[("period", 4.0)]),
        ("random-links", &[("period", 7.0), ("offsets", 1.0), ("probability", 0.7)]),
    ] {
        let topology = drawn(name, 6, given, 2);
        for method in [build(kind("smtpp").unwrap()), build(kind("push-pull").unwrap())] {
            let raw = limit(&*method, &topology).unwrap().raw;
            let far = |factor: f64| {
                let mut simulator = simulate(&*method, &problem, &topology, factor * raw);
                advance(&mut simulator, 20_000);
                let there = problem.minimiser().iter().cycle();
                let far = estimates(&simulator).into_iter().zip(there).map(|(x, y)| (x - y).abs());
                far.fold(0.0, |most, far| if far < most { most } else { far }) // NaN is far
            };
            // on matchings Push-Pull's |1 − rate| falls with the cube of the distance to the limit: nearer
            // takes too long
            let (below, above) = (far(0.8), far(1.25));
            assert!(below < 1e-6, "{name}: {method:?} is {below:e} away below its limit {raw}");
            assert!(
                above.is_nan() || above > 1e3,
                "{name}: {method:?} is {above:e} away above its limit {raw}"
            );
        }
    }
}

/// φ_{k+1}ᵀR_k = φ_kᵀ and C_kψ_k = ψ_{k+1}: where a time-varying network is evaluated.
#[test]
fn stationary_vectors_move_with_the_rounds() {
    for (name, digraphs) in digraphs() {
        let topology = Topology::from_digraphs(&digraphs, Subgraph::Full, Weights::Uniform, 0).unwrap();
        for k in 0..topology.period().len() as u64 {
            let (now, next) = (topology.stationary(k).unwrap(), topology.stationary(k + 1).unwrap());
            let (mut pulled, mut pushed) = (vec![0.0; 9], vec![0.0; 9]);
            topology.at(k).pull.iter().for_each(|link| pulled[link.from] += next.pull[link.to] * link.weight);
            topology.at(k).push.iter().for_each(|link| pushed[link.to] += link.weight * now.push[link.from]);
            for i in 0..9 {
                assert!((pulled[i] - now.pull[i]).abs() < 1e-14, "{name}, round {k}");
                assert!((pushed[i] - next.push[i]).abs() < 1e-14, "{name}, round {k}");
            }
            assert!((now.pull.iter().sum::<f64>() - 1.0).abs() < 1e-14);
        }
        let moves = topology.stationary(0).unwrap() != topology.stationary(1).unwrap();
        assert_eq!(moves, π_moves(name), "{name}");
    }
}

/// φ_{k+1}ᵀR_k = φ_kᵀ and C_kψ_k = ψ_{k+1}, all round a long period; and a period is as good as the same one
/// twice.
#[test]
fn long_periods_have_stationary_vectors() {
    let n = 17;
    for period in [20, 300] {
        let topology = drawn("random-links", n, &[("period", f64::from(period)), ("probability", 0.3)], 3);
        assert_eq!(topology.period().len(), period as usize);
        for k in 0..period as u64 {
            let (now, next) = (topology.stationary(k).unwrap(), topology.stationary(k + 1).unwrap());
            let (mut pulled, mut pushed) = (vec![0.0; n], vec![0.0; n]);
            topology.at(k).pull.iter().for_each(|link| pulled[link.from] += next.pull[link.to] * link.weight);
            topology.at(k).push.iter().for_each(|link| pushed[link.to] += link.weight * now.push[link.from]);
            assert!(
                distance(&pulled, &now.pull) < 1e-14 && distance(&pushed, &next.push) < 1e-14,
                "round {k}"
            );
            assert!((now.push.iter().sum::<f64>() - 1.0).abs() < 1e-13);
        }
        let twice: Vec<Pair> = topology.period().iter().chain(topology.period()).cloned().collect();
        let twice = Topology::cyclic(twice).unwrap();
        let (once, twice) =
            (topology.stationary(1).unwrap(), twice.stationary(u64::from(period as u32) + 1).unwrap());
        assert!(distance(&once.pull, &twice.pull) < 1e-13 && distance(&once.push, &twice.push) < 1e-13);
    }
}

/// Pairs average: doubly stochastic and symmetric in every round, so that methods for undirected graphs run
/// too.
#[test]
fn matchings_are_for_undirected_methods_too() {
    for agents in [8, 9] {
        let topology = drawn("random-matching", agents, &[], 1);
        assert_eq!(topology.c_pi().unwrap(), 1.0);
        for network in [Network::Undirected, Network::Balanced, Network::PushPull, Network::PushSum] {
            topology.check(network).unwrap();
        }
        for pair in topology.period() {
            assert!(pair.pull.iter().all(|link| link.weight == 0.5 || link.from == link.to));
        }
        let (problem, gt) = (quadratic(agents, 0.0), build(kind("gt").unwrap()));
        let mut simulator = simulate(&*gt, &problem, &topology, 0.05);
        advance(&mut simulator, 6000);
        let minimisers: Vec<f64> = problem.minimiser().iter().copied().cycle().take(4 * agents).collect();
        assert!(distance(&estimates(&simulator), &minimisers) < 1e-9);
    }
}

/// What is not connected over its period is refused, and the message speaks of the period and of agents there
/// are.
#[test]
fn periods_that_never_connect_are_refused() {
    let ring = families::ring(6).unwrap();
    let never = topology_of(&random_links(&ring, 0.0, 10, 1).unwrap());
    let message = |network| never.check(network).unwrap_err().to_string();
    assert!(
        message(Network::PushPull).contains("over the period of 10 rounds"),
        "{}",
        message(Network::PushPull)
    );
    let push_sum = message(Network::PushSum);
    assert!(
        push_sum.contains("from agent 0") && push_sum.contains("over the period of 10 rounds"),
        "{push_sum}"
    );
    // one way along a path, in whatever order of rounds
    let path = |from: usize| Digraph::from_edges(3, [(from, from + 1)]).unwrap();
    let one_way = topology_of(&[path(1), path(0)]);
    assert!(one_way.check(Network::PushSum).unwrap_err().to_string().contains("period of 2 rounds"));
    let lone = balanced(&[Digraph::from_edges(3, [(0, 1)]).unwrap(), Digraph::from_edges(3, []).unwrap()]);
    assert!(lone.check(Network::Undirected).is_err());
}
