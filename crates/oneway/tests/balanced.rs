//! What the methods for balanced and undirected networks, and the centralised ones, are in their limits.
#![allow(clippy::unwrap_used)]

use oneway::codec::Identity;
use oneway::engine::Simulator;
use oneway::engine::metrics::measure;
use oneway::engine::schedule::{Schedule, Shape};
use oneway::engine::{Engine, Setup};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::{Method, Network};
use oneway::methods::combine::{Compressed, Damping, MultiGossip};
use oneway::methods::estimator::{AnyEstimator, Gradient, HeavyBall, Storm};
use oneway::methods::{Ab, Csgdm, Dsgd, Dsmt, ExactDiffusion, GlobalMomentum, SGP, Tracking, kind};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::theory::stability::{limit, rate};
use proptest::prelude::*;

use crate::common::{
    advance, balanced, distance, estimates, lazily, logistic, quadratic, simulate, strongly_connected,
};

const ROUNDS: usize = 60;

fn method(name: &str, parameters: &[(&'static str, f64)]) -> Box<dyn Method> {
    kind(name).unwrap().method(parameters.iter().copied()).unwrap()
}

/// All estimates after some rounds.
fn run(method: &dyn Method, problem: &dyn Problem, topology: &Topology, η: f64) -> Vec<f64> {
    let mut simulator = simulate(method, problem, topology, η);
    advance(&mut simulator, ROUNDS);
    estimates(&simulator)
}

/// Doubly stochastic, and not symmetric.
fn exponential(n: usize) -> Topology {
    Topology::from_digraphs(&[families::exponential(n).unwrap()], Subgraph::Full, Weights::Uniform, 0)
        .unwrap()
}

/// A problem's gradients and a network's mixing, on all agents' vectors one after another.
struct ByHand<'a> {
    problem: &'a dyn Problem,
    topology: &'a Topology,
}

impl ByHand<'_> {
    fn gradients(&self, x: &[f64], k: u64) -> Vec<f64> {
        let d = self.problem.dim();
        let agent = |(i, x): (usize, &[f64])| {
            let mut g = vec![0.0; d];
            self.problem.gradient(i, x, &mut Draws::new(5, Purpose::Gradient, i, k), &mut g);
            g
        };
        x.chunks(d).enumerate().flat_map(agent).collect()
    }

    /// ((1−τ)I + τW)x.
    fn mix(&self, τ: f64, x: &[f64]) -> Vec<f64> {
        let (mixing, d) = (&self.topology.at(0).pull, self.problem.dim());
        let mut out = vec![0.0; x.len()];
        out.chunks_mut(d).enumerate().for_each(|(i, row)| mixing.mix_row(i, x, row));
        out.iter().zip(x).map(|(wx, x)| (1.0 - τ) * x + τ * wx).collect()
    }

    fn start(&self) -> Vec<f64> {
        vec![0.0; self.problem.agents() * self.problem.dim()]
    }
}

/// a + c·b.
fn plus(a: &[f64], c: f64, b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + c * b).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// β = 0: no momentum, and what is left is DSGD or gradient tracking. λ = 1: DSMT tracks gradients. η_w =
    /// 0: no acceleration.
    #[test]
    fn without_momentum_little_is_left(digraph in strongly_connected(8)) {
        let topology = balanced(std::slice::from_ref(&digraph));
        let problem = logistic(digraph.agents(), Batch::Sampled(1));
        let all = |method: &dyn Method| run(method, &problem, &topology, 0.05);
        let dsgd = all(&Dsgd::new(Gradient));
        let gt = all(&Ab::new(Gradient, 0.0).unwrap().balanced());
        for name in ["qg-dsgdm", "decentlam"] {
            prop_assert!(distance(&all(&*method(name, &[("heavy_ball", 0.0)])), &dsgd) < 1e-13, "{}", name);
        }
        prop_assert_eq!(&all(&*method("momentum-tracking", &[("heavy_ball", 0.0)])), &gt);
        prop_assert_eq!(&all(&Dsgd::new(HeavyBall::new("test", 0.0).unwrap())), &dsgd);

        let dsmt = all(&Dsmt::new(0.2).unwrap());
        prop_assert_eq!(&all(&Dsmt::new(0.2).unwrap().accelerated(0.0).unwrap()), &dsmt);
        prop_assert_eq!(all(&Dsmt::new(1.0).unwrap()), all(&Dsmt::from_estimator(Gradient)));
    }

    /// AdaMDOS with scales that stay what they are is gradient tracking with the step γ/ρ: of gradients for β = 1, of STORM's
    /// estimates else.
    #[test]
    fn adamdos_that_does_not_adapt_is_gradient_tracking(digraph in strongly_connected(8)) {
        let topology = balanced(std::slice::from_ref(&digraph));
        let problem = logistic(digraph.agents(), Batch::Sampled(1));
        for β in [1.0, 0.3] {
            let given = [("momentum", β), ("decay", 1.0), ("mixing", 1.0), ("offset", 4.0)];
            let storm = Storm::new("test", β).unwrap();
            let tracking = Ab::new(storm, 0.0).unwrap().balanced();
            let (found, expected) =
                (run(&*method("adamdos", &given), &problem, &topology, 0.2), run(&tracking, &problem, &topology, 0.05));
            prop_assert!(distance(&found, &expected) < 1e-13);
        }
    }
}

/// On a doubly stochastic digraph push-sum's weights stay one, and SGP is DSGD.
#[test]
fn dsgd_is_sgp_where_weights_are_doubly_stochastic() {
    let (topology, problem) = (exponential(8), logistic(8, Batch::Sampled(2)));
    let found = run(&Dsgd::new(Gradient), &problem, &topology, 0.1);
    assert!(distance(&found, &run(&SGP, &problem, &topology, 0.1)) < 1e-13);
}

/// X⁺ from k, X and X⁻.
type Next<'a> = dyn Fn(u64, &[f64], &[f64]) -> Vec<f64> + 'a;

/// The rules as they stand in the papers, where the library has them in another form: combine then adapt, X⁺ = WX − ηG;
/// DecentLaM, X⁺ = W(X − ηG) + β(X − X⁻); exact diffusion and D², X⁺ = W̃(2X − X⁻ − η(G − G⁻)); DSMT with λ = 1.
#[test]
fn rules_with_two_states_in_them() {
    let η = 0.05;
    let (topology, problem) = (balanced(&[families::flower(9, 3).unwrap()]), logistic(9, Batch::Sampled(1)));
    let by_hand = ByHand { problem: &problem, topology: &topology };
    let ends = |method: &dyn Method, next: &Next<'_>| {
        let (mut x_before, mut x) = (vec![], by_hand.start());
        for k in 0..ROUNDS as u64 {
            let x_next = next(k, &x, &x_before);
            x_before = std::mem::replace(&mut x, x_next);
        }
        let far = distance(&run(method, &problem, &topology, η), &x);
        assert!(far < 1e-12, "{method:?}: {far:e}");
    };
    ends(&Dsgd::new(Gradient).combine_first(), &|k, x, _| {
        plus(&by_hand.mix(1.0, x), -η, &by_hand.gradients(x, k))
    });
    ends(&GlobalMomentum::decent_lam(0.7).unwrap(), &|k, x, x_before| {
        let descended = by_hand.mix(1.0, &plus(x, -η, &by_hand.gradients(x, k)));
        if k == 0 { descended } else { plus(&plus(&descended, 0.7, x), -0.7, x_before) }
    });
    for (τ, method) in [(0.5, ExactDiffusion::new(Gradient)), (1.0, ExactDiffusion::d2(Gradient))] {
        ends(&method, &|k, x, x_before| {
            let descended = plus(x, -η, &by_hand.gradients(x, k));
            match k {
                0 => by_hand.mix(τ, &descended),
                _ => {
                    let before = plus(x_before, -η, &by_hand.gradients(x_before, k - 1));
                    by_hand.mix(τ, &plus(&plus(&descended, 1.0, x), -1.0, &before))
                }
            }
        });
    }

    let (mut x, mut g) = (by_hand.start(), by_hand.gradients(&by_hand.start(), 0));
    let mut y = g.clone();
    for k in 0..ROUNDS as u64 {
        x = by_hand.mix(0.5, &plus(&x, -η, &y));
        let g_next = by_hand.gradients(&x, k + 1);
        y = by_hand.mix(0.5, &plus(&plus(&y, 1.0, &g_next), -1.0, &g));
        g = g_next;
    }
    assert!(distance(&run(&Dsmt::new(1.0).unwrap(), &problem, &topology, η), &x) < 1e-12);
}

/// Where everyone hears everyone, decentralised methods are the centralised ones.
#[test]
fn on_the_complete_graph_they_are_centralised() {
    let topology = Topology::complete(6).unwrap();
    let (full, sampled) = (logistic(6, Batch::Full), logistic(6, Batch::Sampled(1)));
    let near = |a: &dyn Method, b: &dyn Method, problem: &dyn Problem| {
        let far = distance(&run(a, problem, &topology, 0.2), &run(b, problem, &topology, 0.2));
        assert!(far < 1e-13, "{a:?} and {b:?}: {far:e}");
    };
    let (sgd, storm) = (method("sgd", &[]), method("central-storm", &[("momentum", 0.3)]));
    near(&Csgdm::new(1.0).unwrap(), &*sgd, &sampled);
    near(&*method("central-storm", &[("momentum", 1.0)]), &*sgd, &sampled);
    near(&Dsgd::new(Gradient), &*sgd, &sampled);
    near(&ExactDiffusion::d2(Gradient), &*sgd, &full);
    near(&Tracking::from_estimator(Storm::new("test", 0.3).unwrap()).balanced(), &*storm, &sampled);
    let any: AnyEstimator = Storm::new("test", 0.3).unwrap().into();
    let parameters = oneway::parameters::Parameters::new("sgd", &[], []).unwrap();
    near(&*kind("sgd").unwrap().with_estimator.unwrap()(&parameters, any).unwrap(), &*storm, &sampled);
}

/// One agent alone, where it is not SGD or momentum as the others have it.
#[test]
fn one_agent_alone() {
    let η = 0.1;
    let (problem, topology) = (quadratic(1, 0.0), Topology::complete(1).unwrap());
    let d = problem.dim();
    let ends = |name: &str, next: &mut dyn FnMut(i32, usize, &mut f64, f64)| {
        let (mut x, mut g) = (vec![0.0; d], vec![0.0; d]);
        for t in 1..=ROUNDS as i32 {
            problem.exact(0, &x, &mut g);
            (0..d).for_each(|c| next(t, c, &mut x[c], g[c]));
        }
        let far = distance(&run(&*method(name, &[]), &problem, &topology, η), &x);
        assert!(far < 1e-12, "{name}: {far:e}");
    };
    let (mut m, mut v) = (vec![0.0; d], vec![0.0; d]);
    ends("qg-dsgdm", &mut |_, c, x, g| {
        let went = 0.5 * m[c] + g;
        *x -= η * went;
        m[c] = 0.5 * m[c] + 0.5 * went;
    });
    m.fill(0.0);
    ends("adamdos", &mut |_, c, x, g| {
        v[c] = 0.9 * v[c] + 0.1 * g * g;
        *x -= 0.9 * η * g / (v[c].sqrt() + 0.5);
    });
    v.fill(0.0);
    ends("adam", &mut |t, c, x, g| {
        (m[c], v[c]) = (0.9 * m[c] + 0.1 * g, 0.999 * v[c] + 0.001 * g * g);
        *x -= η * m[c] / (1.0 - 0.9f64.powi(t)) / ((v[c] / (1.0 - 0.999f64.powi(t))).sqrt() + 1e-8);
    });
}

/// Steps may shrink to nothing. What is divided by them must stay finite, and what is conserved, conserved.
#[test]
fn a_schedule_may_end_at_zero() {
    let topology = balanced(&[families::flower(9, 3).unwrap()]);
    let problem = logistic(9, Batch::Sampled(1));
    let schedule = Schedule::new(0.05, Shape::Cosine { rounds: 30 }, 0).unwrap();
    for name in ["exact-diffusion", "d2", "qg-dsgdm", "decentlam"] {
        let method = method(name, &[]);
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 5 };
        let mut simulator = Simulator::new(setup).unwrap();
        advance(&mut simulator, 30);
        let before = measure(&simulator.view()).unwrap();
        advance(&mut simulator, 3000);
        let after = measure(&simulator.view()).unwrap();
        assert!((after.loss - before.loss).abs() < 1e-9, "{name}: x̄ moved without a step");
        assert!(after.consensus_error < 1e-12, "{name}: agents go on averaging");
        assert!(after.conservation_error.is_none_or(|error| error < 1e-11), "{name}: {after:?}");
    }
}

/// D² needs eigenvalues of W of −1/3 or more, and refuses others. Four agents that all hear the four others,
/// and nobody else, have −3/5; a ring of eight agents has −1/3.
#[test]
fn d2_refuses_what_exact_diffusion_bears() {
    let sides = (0..4).flat_map(|i| (4..8).map(move |j| (i, j)));
    let topology = balanced(&[Digraph::from_edges(8, sides).unwrap()]);
    let problem = quadratic(8, 0.0);
    let end = |method: &dyn Method, topology: &Topology| {
        let schedule = Schedule::constant(0.1).unwrap();
        let mut simulator = Simulator::new(Setup { method, problem: &problem, topology, schedule, seed: 1 })?;
        advance(&mut simulator, 3000);
        Ok(measure(&simulator.view())?.grad_norm_sq)
    };
    let (diffusion, d2) = (ExactDiffusion::new(Gradient), ExactDiffusion::d2(Gradient));
    assert!(end(&diffusion, &topology).unwrap() < 1e-20);
    let refused: oneway::Error = end(&d2, &topology).unwrap_err();
    assert!(refused.to_string().contains("W has one of -0.600"), "{refused}");
    assert!(limit(&d2, &topology).is_err());
    let ring = balanced(&[families::ring(8).unwrap()]);
    assert!(end(&d2, &ring).unwrap() < 1e-20);

    let far =
        distance(&run(&d2, &problem, &lazily(&topology), 0.1), &run(&diffusion, &problem, &topology, 0.1));
    assert!(far < 1e-13, "D² on (I + W)/2 is exact diffusion: {far:e}");
}

/// What remembers what mixing did is not for networks that change.
#[test]
fn weights_that_change_are_refused() {
    let family = families::family("one-peer-exponential").unwrap();
    let (changing, problem) = (balanced(&family.digraphs(8, [], 1).unwrap()), quadratic(8, 0.0));
    for kind in oneway::methods::KINDS.iter().filter(|kind| kind.network() == Network::Undirected) {
        let method = || kind.method([]).unwrap();
        let twice = Box::new(MultiGossip::new(kind.name, method(), 2).unwrap());
        let direct = [Damping::direct(0.5); 2];
        let coded = Compressed::new(kind.name, method(), Box::new(Identity), direct);
        let coded = coded.ok().map(|coded| Box::new(coded) as Box<dyn Method>);
        for method in [method(), twice].into_iter().chain(coded) {
            let schedule = Schedule::constant(0.01).unwrap();
            let setup = Setup { method: &*method, problem: &problem, topology: &changing, schedule, seed: 1 };
            let error = Simulator::new(setup).unwrap_err().to_string();
            assert!(error.contains("in every round") || method.keeps_copies(), "{method:?}: {error}");
        }
    }
}

/// On a ring with equal weights a round falls into one small block for each frequency; the numbers are those
/// of the blocks. Exact diffusion and D² bear what gradient descent bears, DSMT what a heavy ball bears.
/// Acceleration makes rounds count for eleven, and for that bears a hundredth of the step.
#[test]
fn limits_and_rates_on_a_ring() {
    let ring = balanced(&[families::ring(20).unwrap()]);
    let accelerated = method("dsmt-lca", &[("acceleration", 0.85)]);
    for (method, expected) in [
        (&*method("exact-diffusion", &[]), 2.0),
        (&*method("d2", &[]), 2.0),
        (&*method("dsmt", &[]), 38.0),
        (&*accelerated, 0.227444982),
    ] {
        let found = limit(method, &ring).unwrap().raw;
        assert!((found / expected - 1.0).abs() < 1e-4, "{method:?}: {found} not {expected}");
    }
    for (method, expected) in
        [(&*method("exact-diffusion", &[]), 0.9818410234), (&*method("d2", &[]), 0.9899747470)]
    {
        let found = rate(method, &ring, 0.02).unwrap();
        assert!((found - expected).abs() < 1e-8, "{method:?}: {found} not {expected}");
    }
    let [plain, fast] =
        [&*method("dsmt", &[]), &*accelerated].map(|method| rate(method, &ring, 0.03).unwrap());
    assert!((plain - 0.9954381261).abs() < 1e-8 && (fast - 0.9497597930).abs() < 1e-8, "{plain} {fast}");
}

/// What needs a symmetric W does not run on a digraph with a doubly stochastic one; what needs only the
/// latter does.
#[test]
fn balanced_and_undirected_are_told_apart() {
    let (topology, problem) = (exponential(8), quadratic(8, 0.0));
    let refused = |name: &str| {
        let (method, schedule) = (method(name, &[]), Schedule::constant(0.01).unwrap());
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
        Simulator::new(setup).err().map(|error| error.to_string())
    };
    for name in ["exact-diffusion", "d2", "dsmt-lca"] {
        assert!(refused(name).unwrap().contains("symmetric weights"), "{name}");
    }
    for name in ["dsgd", "dsmt", "momentum-tracking", "qg-dsgdm", "decentlam", "adamdos"] {
        assert_eq!(refused(name), None, "{name}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    for (name, parameter, value, expected) in [
        ("dsgd", "combine_first", 2.0, "true or false"),
        ("dsgd", "combine_first", 0.5, "true or false"),
        ("dsmt", "momentum", 0.0, "(0, 1]"),
        ("dsmt-lca", "acceleration", 1.0, "[0, 1)"),
        ("momentum-tracking", "heavy_ball", 1.0, "[0, 1)"),
        ("qg-dsgdm", "heavy_ball", -0.1, "[0, 1)"),
        ("decentlam", "heavy_ball", 1.5, "[0, 1)"),
        ("adamdos", "momentum", 0.0, "(0, 1]"),
        ("adamdos", "decay", 1.1, "[0, 1]"),
        ("adamdos", "offset", 0.0, "positive"),
        ("adamdos", "mixing", 0.0, "(0, 1]"),
        ("central-storm", "momentum", 2.0, "(0, 1]"),
        ("adam", "beta1", 1.0, "[0, 1)"),
        ("adam", "beta2", -1.0, "[0, 1)"),
        ("adam", "epsilon", 0.0, "positive"),
    ] {
        let message = kind(name).unwrap().method([(parameter, value)]).unwrap_err().to_string();
        assert!(message.contains(parameter) && message.contains(expected), "{name}: {message}");
    }
}
