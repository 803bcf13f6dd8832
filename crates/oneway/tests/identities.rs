//! The identities that prove an implementation right (exact up to rounding), over random digraphs.
#![allow(clippy::unwrap_used)]

use oneway::engine::Engine;
use oneway::engine::Simulator;
use oneway::graph::mixing::Mixing;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{families, weights};
use oneway::method::Method;
use oneway::methods::estimator::{Gradient, Storm};
use oneway::methods::{Ab, Csgdm, Frost, PUSH_PULL, PushPullHb, Smtpp, Tracking, kind};
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::testing::conserves;
use proptest::prelude::*;

use crate::common::{
    advance, build, distance, estimates, logistic, methods, quadratic, simulate, strongly_connected,
    subjects, topology,
};

const ROUNDS: usize = 60;

/// An effective step that every method bears on every digraph drawn here.
const STEP: f64 = 0.02;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Lemma 2, (1/n)Σv = (1/n)Σm, and its kin: what a method says it conserves, it does, with any gradients.
    #[test]
    fn conserved_quantities_stay_to_rounding(digraph in strongly_connected(8)) {
        for subject in subjects() {
            let found = conserves(&subject, &digraph);
            prop_assert!(found.is_ok(), "{found:?}");
        }
    }

    /// SMTPP with λ = 1 and exact gradients is Push-Pull, one round late.
    #[test]
    fn smtpp_without_momentum_is_push_pull_one_round_late(digraph in strongly_connected(8)) {
        let problem = logistic(digraph.agents(), Batch::Full);
        for graph in [Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees] {
            let topology = Topology::from_digraphs(std::slice::from_ref(&digraph), graph, Weights::Uniform, 0).unwrap();
            let η = STEP / topology.c_pi().unwrap();
            let smtpp = Smtpp::new(1.0).unwrap();
            let mut late = simulate(&smtpp, &problem, &topology, η);
            let mut push_pull = simulate(&PUSH_PULL, &problem, &topology, η);
            advance(&mut late, ROUNDS + 1);
            advance(&mut push_pull, ROUNDS);
            prop_assert!(distance(&estimates(&late), &estimates(&push_pull)) < 1e-12);
        }
    }

    /// STORM with a = 1 is the gradient, momentum with λ = 1 after tracking is none: both are Push-Pull. AB
    /// has no heavy ball and extrapolates nothing.
    #[test]
    fn methods_without_their_extras_are_push_pull_and_ab(digraph in strongly_connected(8)) {
        let problem = logistic(digraph.agents(), Batch::Sampled(1));
        for graph in [Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees] {
            let topology = Topology::from_digraphs(std::slice::from_ref(&digraph), graph, Weights::Uniform, 0).unwrap();
            let run = |method: &dyn Method| {
                let mut simulator = simulate(method, &problem, &topology, STEP / topology.c_pi().unwrap());
                advance(&mut simulator, ROUNDS);
                estimates(&simulator)
            };
            let push_pull = run(&PUSH_PULL);
            prop_assert_eq!(&run(&Tracking::from_estimator(Storm::new("storm", 1.0).unwrap())), &push_pull);
            prop_assert_eq!(&run(&PushPullHb::new(Gradient, 1.0).unwrap()), &push_pull);
            let ab = |β| Ab::new(Gradient, β).unwrap();
            for β in [0.0, 0.4] {
                prop_assert_eq!(&run(&ab(β).accelerated(0.0).unwrap()), &run(&ab(β)));
                // extrapolates, but by less than a number can show
                prop_assert_eq!(&run(&ab(β).accelerated(1e-300).unwrap()), &run(&ab(β)));
            }
            prop_assert_eq!(&run(&*kind("abm").unwrap().method([("heavy_ball", 0.0)]).unwrap()), &run(&ab(0.0)));
        }
    }

    /// R-FAST with everyone awake and nothing lost: S⁺ = CS + G⁺ − G and X⁺ = R(X − η·diag(C)·S), seen from
    /// outside.
    #[test]
    fn r_fast_follows_push_pull_along_the_kept_share(digraph in strongly_connected(8)) {
        let (n, problem) = (digraph.agents(), logistic(digraph.agents(), Batch::Sampled(1)));
        let (d, η) = (problem.dim(), 0.05);
        let method = build(kind("r-fast").unwrap());
        for graph in [Subgraph::Full, Subgraph::LazyTrees] {
            let topology = Topology::from_digraphs(std::slice::from_ref(&digraph), graph, Weights::Uniform, 0).unwrap();
            let mut simulator = simulate(&*method, &problem, &topology, η);
            let all = |simulator: &Simulator<'_>, index: usize| -> Vec<f64> {
                (0..n).flat_map(|i| simulator.view().vector(i, index).to_vec()).collect()
            };
            let pair = topology.at(0);
            let mix = |mixing: &Mixing, rows: &[f64]| {
                let mut out = vec![0.0; n * d];
                (0..n).for_each(|i| mixing.mix_row(i, rows, &mut out[i * d..(i + 1) * d]));
                out
            };
            for _ in 0..ROUNDS {
                let [x, s, g] = [0, 1, 2].map(|index| all(&simulator, index));
                simulator.round().unwrap();
                let [x_next, s_next, g_next] = [0, 1, 2].map(|index| all(&simulator, index));
                let kept = |at: usize| pair.push.weight(at / d, at / d) * s[at];
                let stepped: Vec<f64> = (0..n * d).map(|at| x[at] - η * kept(at)).collect();
                prop_assert!(distance(&x_next, &mix(&pair.pull, &stepped)) < 1e-14);
                let mut tracked = mix(&pair.push, &s);
                (0..n * d).for_each(|at| tracked[at] += g_next[at] - g[at]);
                prop_assert!(distance(&s_next, &tracked) < 1e-14);
            }
        }
    }

    /// FROST's rows come to be π_R, on any digraph, and what they divide by undoes π_R: Σ π_i u_i is the sum
    /// of the gradients.
    #[test]
    fn frost_learns_the_perron_vector(digraph in strongly_connected(6)) {
        let n = digraph.agents();
        let topology =
            Topology::from_digraphs(std::slice::from_ref(&digraph), Subgraph::Full, Weights::Uniform, 0).unwrap();
        let π_r = &topology.stationary(0).unwrap().pull;
        let problem = logistic(n, Batch::Full);
        let frost = Frost::from_estimator(Gradient);
        let mut simulator = simulate(&frost, &problem, &topology, 0.01 / n as f64);
        advance(&mut simulator, 600);
        let (view, d) = (simulator.view(), problem.dim());
        for i in 0..n {
            (0..n).for_each(|j| assert!((view.scalar(i, j) - π_r[j]).abs() < 1e-9, "{} {}", view.scalar(i, j), π_r[j]));
        }
        for k in 0..d {
            let sum: f64 = (0..n).map(|i| π_r[i] * view.vector(i, 1)[k]).sum();
            let gradients: f64 = (0..n).map(|i| view.vector(i, 3)[k]).sum();
            prop_assert!((sum - gradients).abs() < 1e-8, "{sum} {gradients}");
        }
    }

    /// Column-stochastic mixing conserves sums; row-stochastic mixing conserves constants.
    #[test]
    fn mixing_conserves_what_it_must(
        digraph in strongly_connected(12), width in 1usize..70, constant in -1e3..1e3f64, seed: u64
    ) {
        let n = digraph.agents();
        let mut draws = oneway::numeric::sample::Draws::new(seed, oneway::numeric::sample::Purpose::Problem, 0, 0);
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
    decentral.round().unwrap();
    for _ in 0..ROUNDS {
        assert!(distance(&estimates(&decentral), &estimates(&central)) < 1e-13);
        decentral.round().unwrap();
        central.round().unwrap();
    }
}

/// Doubly stochastic W: push-sum weights stay 1. SGP is DSGD; Push-DIGing is DSGT is Push-Pull with R = C =
/// W; ADD-OPT is GT is AB.
#[test]
fn doubly_stochastic_weights_make_push_sum_vanish() {
    let n = 8;
    let topology =
        Topology::from_digraphs(&[families::exponential(n).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let problem = logistic(n, Batch::Sampled(2));
    let kinds = ["sgp", "push-diging", "push-pull", "dsgt", "add-opt", "ab", "gt"];
    let built = kinds.map(|name| build(kind(name).unwrap()));
    let mut running = built.each_ref().map(|method| simulate(&**method, &problem, &topology, 0.1));

    // DSGD, adapt then combine: X⁺ = W(X − ηG), by hand
    let d = problem.dim();
    let mixing = &topology.at(0).push;
    let mut x = vec![0.0; n * d];
    for k in 0..ROUNDS as u64 {
        let [sgp, push_diging, push_pull, dsgt, add_opt, ab, gt] = running.each_ref().map(estimates);
        assert!(distance(&sgp, &x) < 1e-13);
        assert!(distance(&push_diging, &push_pull) < 1e-13 && dsgt == push_pull);
        assert!(distance(&add_opt, &ab) < 1e-13 && gt == ab);
        assert!(k < 2 || distance(&ab, &push_pull) > 1e-6, "combining first is another method");
        let mut adapted = x.clone();
        for i in 0..n {
            let mut g = vec![0.0; d];
            let mut draws =
                oneway::numeric::sample::Draws::new(5, oneway::numeric::sample::Purpose::Gradient, i, k);
            problem.gradient(i, &x[i * d..(i + 1) * d], &mut draws, &mut g);
            adapted[i * d..(i + 1) * d].iter_mut().zip(g).for_each(|(x, g)| *x -= 0.1 * g);
        }
        (0..n).for_each(|i| mixing.mix_row(i, &adapted, &mut x[i * d..(i + 1) * d]));
        running.iter_mut().try_for_each(Simulator::round).unwrap();
    }
}

/// Doubly stochastic R with rows that have learnt π_R = 1/n: FROST with a step η/n is GT with η, its trackers
/// n times as long.
#[test]
fn frost_with_doubly_stochastic_weights_is_gradient_tracking() {
    let n = 8;
    let topology =
        Topology::from_digraphs(&[families::exponential(n).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let problem = logistic(n, Batch::Sampled(1));
    let (d, frost, gt) =
        (problem.dim(), Frost::from_estimator(Gradient), Ab::new(Gradient, 0.0).unwrap().balanced());
    let mut gt = simulate(&gt, &problem, &topology, 0.1);
    let mut frost = simulate(&frost, &problem, &topology, 0.1 / n as f64);
    frost.fill_states(|i, row| {
        let [x, s, g] = [0, 1, 2].map(|index| gt.view().vector(i, index));
        let times_n = |v: &[f64]| v.iter().map(|v| n as f64 * v).collect::<Vec<_>>();
        let state = [x, &times_n(s), &times_n(g), g, &vec![1.0 / n as f64; n]].concat();
        row.copy_from_slice(&state); // (x, z, u, m; y)
    });
    for _ in 0..ROUNDS {
        assert!(distance(&estimates(&frost), &estimates(&gt)) < 1e-13);
        [&mut frost, &mut gt].into_iter().try_for_each(Simulator::round).unwrap();
    }
    assert!(estimates(&gt).iter().any(|x| x.abs() > 0.1) && d == 6);
}

/// R-FAST where everyone keeps a quarter, with four times the step: Push-Pull.
#[test]
fn r_fast_with_equal_self_weights_is_push_pull() {
    let topology =
        Topology::from_digraphs(&[families::exponential(8).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let problem = logistic(8, Batch::Sampled(1));
    let r_fast = build(kind("r-fast").unwrap());
    let mut r_fast = simulate(&*r_fast, &problem, &topology, 0.4);
    let mut push_pull = simulate(&PUSH_PULL, &problem, &topology, 0.1);
    for _ in 0..ROUNDS {
        assert!(distance(&estimates(&r_fast), &estimates(&push_pull)) < 1e-13);
        [&mut r_fast, &mut push_pull].into_iter().try_for_each(Simulator::round).unwrap();
    }
}

/// One agent: every method is SGD, or SGD with momentum, on its own data.
#[test]
fn one_agent_alone_does_sgd() {
    let problem = quadratic(1, 0.0);
    let d = problem.dim();
    for (kind, graph) in methods() {
        if kind.name.ends_with("saga") {
            continue; // SAGA on its own data: see estimators.rs
        }
        if ["qg-dsgdm", "adamdos", "adam"].contains(&kind.name) {
            continue; // rules of their own: see balanced.rs
        }
        let digraph = oneway::graph::Digraph::from_edges(1, []).unwrap();
        let method = build(kind);
        let topology = topology(kind, graph, &[digraph], 0);
        let mut simulator = simulate(&*method, &problem, &topology, 0.1);
        // m⁺ = (1−λ)m + λg(s), x⁺ = s − ηm⁺ + β(x − x⁻), s⁺ = x⁺ + γ(x⁺ − x). STORM on its own: d = g, for
        // nothing is drawn
        let (λ, β, γ) = match kind.name {
            "smtpp" | "local-smtpp" | "compressed-smtpp" | "motef" | "local-dsmt" | "csgdm"
            | "push-pull-hb" | "dsmt" | "dsmt-lca" => (0.1, 0.0, 0.0),
            "abm" => (1.0, 0.2, 0.0),
            "sgp-momentum" | "pd-sgdm" | "hb-sector" | "momentum-tracking" | "decentlam" => (1.0, 0.5, 0.0),
            "accelerated-ab" => (1.0, 0.1, 0.1),
            _ => (1.0, 0.0, 0.0),
        };
        let (mut x, mut m, mut g) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        let (mut x_before, mut s) = (x.clone(), x.clone());
        let local = kind.parameters.iter().find(|parameter| parameter.name == "local_steps");
        let local_steps = local.and_then(|parameter| parameter.default).unwrap_or(1.0) as usize;
        // M₀ = V₀ = 0: the first step goes nowhere
        let mut late =
            usize::from(["smtpp", "local-smtpp", "compressed-smtpp", "motef"].contains(&kind.name));
        for _ in 0..ROUNDS {
            for _ in std::mem::take(&mut late)..local_steps {
                problem.exact(0, &s, &mut g);
                for k in 0..d {
                    m[k] += λ * (g[k] - m[k]);
                    let x_next = s[k] - 0.1 * m[k] + β * (x[k] - x_before[k]);
                    x_before[k] = x[k];
                    x[k] = x_next;
                    s[k] = x_next + γ * (x_next - x_before[k]);
                }
            }
            simulator.round().unwrap();
            let far = distance(&estimates(&simulator), &x);
            assert!(far < 1e-13, "{}: off by {far:e}", kind.name);
        }
    }
}
