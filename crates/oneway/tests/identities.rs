//! The identities that prove an implementation right (exact up to rounding), over random digraphs.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    advance, build, distance, estimates, logistic, methods, quadratic, simulate, strongly_connected, topology,
};
use oneway::engine::Engine;
use oneway::graph::{families, weights};
use oneway::method::Network;
use oneway::methods::{Csgdm, PUSH_PULL, PushDiging, Sgp, Smtpp};
use oneway::metrics::measure;
use oneway::mixing::Mixing;
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::simulator::Simulator;
use oneway::topology::{Subgraph, Topology, Weights};
use proptest::prelude::*;

const ROUNDS: usize = 60;

/// A step that every method bears on every digraph drawn here.
fn small_step(topology: &Topology, network: Network) -> f64 {
    match network {
        Network::PushPull => 0.02 / topology.c_pi().unwrap(),
        _ => 0.02,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Lemma 2, (1/n)Σv = (1/n)Σm, and its kin: what a method says it conserves, it does, with any gradients.
    #[test]
    fn conserved_quantities_stay_to_rounding(digraph in strongly_connected(8)) {
        let n = digraph.agents();
        let problem = logistic(n, Batch::Sampled(1));
        for (kind, graph) in methods() {
            let method = build(kind);
            let topology = topology(kind, graph, std::slice::from_ref(&digraph), 0);
            let mut simulator = simulate(&*method, &problem, &topology, small_step(&topology, kind.network));
            for _ in 0..ROUNDS {
                simulator.round();
                let error = measure(&simulator.view()).unwrap().conservation_error;
                prop_assert_eq!(error.is_none(), kind.network == Network::Central);
                prop_assert!(error.unwrap_or(0.0) < 1e-13, "{}: {error:?}", kind.name);
            }
        }
    }

    /// SMTPP with λ = 1 and exact gradients is Push-Pull, one round late.
    #[test]
    fn smtpp_without_momentum_is_push_pull_one_round_late(digraph in strongly_connected(8)) {
        let problem = logistic(digraph.agents(), Batch::Full);
        for graph in [Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees] {
            let topology = Topology::of(std::slice::from_ref(&digraph), graph, Weights::Uniform, 0).unwrap();
            let η = small_step(&topology, Network::PushPull);
            let smtpp = Smtpp::new(1.0).unwrap();
            let mut late = simulate(&smtpp, &problem, &topology, η);
            let mut push_pull = simulate(&PUSH_PULL, &problem, &topology, η);
            advance(&mut late, ROUNDS + 1);
            advance(&mut push_pull, ROUNDS);
            prop_assert!(distance(&estimates(&late), &estimates(&push_pull)) < 1e-12);
        }
    }

    /// Column-stochastic mixing conserves sums; row-stochastic mixing conserves constants.
    #[test]
    fn mixing_conserves_what_it_must(
        digraph in strongly_connected(12), width in 1usize..70, constant in -1e3..1e3f64, seed: u64
    ) {
        let n = digraph.agents();
        let mut draws = oneway::sample::Draws::new(seed, oneway::sample::Purpose::Problem, 0, 0);
        let rows: Vec<f64> = (0..n * width).map(|_| draws.normal()).collect();
        let mix = |mixing: &Mixing, rows: &[f64]| {
            let mut out = vec![0.0; n * width];
            (0..n).for_each(|i| mixing.mix_row(i, rows, &mut out[i * width..(i + 1) * width]));
            out
        };
        let column_sum = |rows: &[f64], k: usize| (0..n).map(|i| rows[i * width + k]).sum::<f64>();

        let pushed = mix(&weights::uniform_columns(&digraph).unwrap(), &rows);
        for k in 0..width {
            prop_assert!((column_sum(&pushed, k) - column_sum(&rows, k)).abs() < 1e-12);
        }
        let pulled = mix(&weights::uniform_rows(&digraph).unwrap(), &vec![constant; n * width]);
        prop_assert!(pulled.iter().all(|x| (x - constant).abs() <= 1e-15 * n as f64 * constant.abs()));
    }
}

/// SMTPP on the complete graph with exact gradients: X_{k+1} is CSGDM's x_k.
#[test]
fn smtpp_on_the_complete_graph_is_centralised() {
    let topology = Topology::complete(6).unwrap();
    let problem = logistic(6, Batch::Full);
    let (smtpp, csgdm) = (Smtpp::new(0.3).unwrap(), Csgdm::new(0.3).unwrap());
    let mut decentral = simulate(&smtpp, &problem, &topology, 0.2);
    let mut central = simulate(&csgdm, &problem, &topology, 0.2);
    decentral.round();
    for _ in 0..ROUNDS {
        assert!(distance(&estimates(&decentral), &estimates(&central)) < 1e-13);
        decentral.round();
        central.round();
    }
}

/// Doubly stochastic W: push-sum weights stay 1, SGP is DSGD, Push-DIGing is Push-Pull with R = C = W.
#[test]
fn doubly_stochastic_weights_make_push_sum_vanish() {
    let n = 8;
    let topology =
        Topology::of(&[families::exponential(n).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let problem = logistic(n, Batch::Sampled(2));
    let mut push_diging = simulate(&PushDiging, &problem, &topology, 0.1);
    let mut push_pull = simulate(&PUSH_PULL, &problem, &topology, 0.1);
    let mut sgp = simulate(&Sgp, &problem, &topology, 0.1);

    // DSGD, adapt then combine: X⁺ = W(X − ηG), by hand
    let d = problem.dim();
    let mixing = &topology.at(0).push;
    let mut x = vec![0.0; n * d];
    for k in 0..ROUNDS as u64 {
        assert!(distance(&estimates(&sgp), &x) < 1e-13);
        assert!(distance(&estimates(&push_diging), &estimates(&push_pull)) < 1e-13);
        let mut adapted = x.clone();
        for i in 0..n {
            let mut g = vec![0.0; d];
            let mut draws = oneway::sample::Draws::new(5, oneway::sample::Purpose::Gradient, i, k);
            problem.gradient(i, &x[i * d..(i + 1) * d], &mut draws, &mut g);
            adapted[i * d..(i + 1) * d].iter_mut().zip(g).for_each(|(x, g)| *x -= 0.1 * g);
        }
        (0..n).for_each(|i| mixing.mix_row(i, &adapted, &mut x[i * d..(i + 1) * d]));
        [&mut sgp, &mut push_diging, &mut push_pull].into_iter().for_each(Simulator::round);
    }
}

/// One agent: every method is SGD, or SGD with momentum, on its own data.
#[test]
fn one_agent_alone_does_sgd() {
    let problem = quadratic(1, 0.0);
    let d = problem.dim();
    for (kind, graph) in methods() {
        let digraph = oneway::graph::Digraph::from_edges(1, []).unwrap();
        let method = build(kind);
        let topology = topology(kind, graph, &[digraph], 0);
        let mut simulator = simulate(&*method, &problem, &topology, 0.1);
        // m⁺ = (1−λ)m + λg, x⁺ = x − ηm⁺ + β(x − x⁻)
        let (λ, β) = match kind.name {
            "smtpp" | "csgdm" => (0.1, 0.0),
            "abm" => (1.0, 0.5),
            _ => (1.0, 0.0),
        };
        let (mut x, mut m, mut g) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        let mut x_before = x.clone();
        if kind.name == "smtpp" {
            simulator.round(); // M₀ = V₀ = 0: the first round goes nowhere
        }
        for _ in 0..ROUNDS {
            problem.exact(0, &x, &mut g);
            for (((x, m), g), x_before) in x.iter_mut().zip(&mut m).zip(&g).zip(&mut x_before) {
                *m += λ * (g - *m);
                let x_next = *x - 0.1 * *m + β * (*x - *x_before);
                *x_before = *x;
                *x = x_next;
            }
            simulator.round();
            let far = distance(&estimates(&simulator), &x);
            assert!(far < 1e-13, "{}: off by {far:e}", kind.name);
        }
    }
}
