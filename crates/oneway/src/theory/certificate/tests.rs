//! Check values, laws, and proofs with a number changed.
#![allow(clippy::unwrap_used)]

use super::*;
use crate::graph::topology::{Subgraph, Weights};
use crate::graph::{Digraph, families};

const SETTING: Setting = Setting { smoothness: 1.592, momentum: 0.1 };

fn topology(digraph: Digraph, subgraph: Subgraph) -> Topology {
    Topology::from_digraphs(&[digraph], subgraph, Weights::Uniform, 0).unwrap()
}

fn full(digraph: Digraph) -> Topology {
    topology(digraph, Subgraph::Full)
}

#[test]
fn largest_steps_agree_with_an_independent_computation() {
    for (name, topology, expected) in [
        ("exponential", full(families::exponential(20).unwrap()), 1.0e-3),
        ("complete", Topology::complete(20).unwrap(), 1.1e-2),
        ("flower", full(families::flower(20, 4).unwrap()), 6e-5),
        ("ring", full(families::ring(20).unwrap()), 1e-7),
    ] {
        let best = Certificate::largest(&topology, SETTING).unwrap().unwrap();
        best.recheck().unwrap();
        assert!(best.step() > 0.9 * expected && best.step() < 1.1 * expected, "{name}: {:e}", best.step());
    }
}

#[test]
fn trees_and_single_agents_are_certified() {
    for subgraph in [Subgraph::Trees, Subgraph::LazyTrees] {
        for digraph in [families::flower(20, 4), families::ring(20), families::exponential(20)] {
            let topology = topology(digraph.unwrap(), subgraph);
            let certifier = Certifier::new(&topology).unwrap();
            let [pull, push] = certifier.radii();
            assert!(pull < 0.7 && push < 0.7 && (subgraph == Subgraph::LazyTrees || pull + push == 0.0));
            let best = certifier.largest(SETTING).unwrap().unwrap();
            best.recheck().unwrap();
            assert!(best.step() > 1e-20, "{:e}", best.step());
        }
    }
    let alone = Certificate::largest(&Topology::complete(1).unwrap(), SETTING).unwrap().unwrap();
    alone.recheck().unwrap();
    assert_eq!(alone.constants().projection_sq(), 0.0);
    let start = Start { gap: 1.0, gradient_sq: 1.0, variance: 0.0 };
    assert_eq!(alone.first_errors(start), [0.0, 0.0, 0.9 * 0.9, 0.0]);
}

#[test]
fn steps_below_a_certified_one_are_certified_and_above_the_largest_none() {
    let certifier = Certifier::new(&full(families::flower(9, 2).unwrap())).unwrap();
    for momentum in [0.01, 0.1, 0.5, 1.0] {
        let setting = Setting { momentum, ..SETTING };
        let largest = certifier.largest(setting).unwrap().unwrap().step();
        for share in [1e-6, 0.01, 0.5, 0.999] {
            certifier.at(setting, share * largest).unwrap().unwrap().recheck().unwrap();
        }
        assert!(certifier.at(setting, 1.001 * largest).unwrap().is_none());
    }
}

#[test]
fn steps_scale_with_smoothness_alone() {
    // X/L, L·F: η·L and the whole proof are free of units
    let certifier = Certifier::new(&full(families::exponential(8).unwrap())).unwrap();
    let largest =
        |smoothness| certifier.largest(Setting { smoothness, momentum: 0.2 }).unwrap().unwrap().step();
    let [one, hundred] = [1.0, 100.0].map(largest);
    assert!((one / (100.0 * hundred) - 1.0).abs() < 1e-9, "{one:e} {hundred:e}");
}

#[test]
fn weights_solve_their_equation_and_grow_with_the_step() {
    let certifier = Certifier::new(&full(families::ring(6).unwrap())).unwrap();
    let best = certifier.largest(SETTING).unwrap().unwrap();
    let Recursion { jacobian, descent, .. } = *best.recursion();
    let p = best.weights();
    for j in 0..4 {
        let fed: f64 = (0..4).map(|i| p[i] * jacobian[i][j]).sum();
        assert!((p[j] - fed - descent[j]).abs() <= 1e-12 * (p[j] + fed), "{j}");
    }
    let smaller = best.constants().recursion(SETTING, 0.5 * best.step()).weights().unwrap();
    assert!(smaller.iter().zip(p).all(|(small, large)| 2.0 * small <= large * (1.0 + 1e-12)));
    let larger = best.constants().recursion(SETTING, 1e3 * best.step());
    assert!(larger.weights().is_none_or(|p| larger.margin(&p) < 0.0));
}

#[test]
fn entries_of_the_recursion_are_those_of_the_lemmas() {
    // one agent, L = λ = ½, η = ¼, by hand: R = C = 1, all disagreement is zero, c_π = 1
    let constants =
        *Certificate::largest(&Topology::complete(1).unwrap(), SETTING).unwrap().unwrap().constants();
    let constants = Constants { pull_rho: 0.5, push_rho: 0.5, push_weight_in_pull_sq: 1.0, ..constants };
    let recursion = constants.recursion(Setting { smoothness: 0.5, momentum: 0.5 }, 0.25);
    let c_x2 = 2.0 * 0.25 * 1.25 / 0.75; // 2·ρ²(1+ρ²)/(1−ρ²)
    let w = 4.0 * 0.25 * 0.25 / 0.5 * 0.0625; // 4(1−λ)²L²/λ·η²
    let expected = [
        [0.625 + c_x2 * 0.0625, c_x2 * 0.0625, 2.0 * c_x2 * 0.0625, 0.0],
        [0.0, 0.625, 0.0, 0.0],
        [w, w, 0.5 + 2.0 * w, 0.0],
        [0.25, 0.0, 0.0, 0.5],
    ];
    compare("J", expected.as_flattened(), recursion.jacobian.as_flattened()).unwrap();
    assert_eq!(recursion.noise, [0.0, 0.0, 0.25, 0.25]);
    compare("h", &[c_x2 * 0.25, 0.0, 4.0 * w, 1.0], &recursion.gradient).unwrap();
    compare("c_dl", &[0.0625, 1.125 * 0.25, 0.0, 1.25 * 0.25 * 0.015625], &recursion.descent).unwrap();
    assert_eq!((recursion.progress, recursion.descent_noise), (0.03125, 0.03125));
}

/// Two agents with π_C = (¼, ¾), every constant another number: all terms by hand.
#[test]
fn every_term_of_the_recursion_is_that_of_its_lemma() {
    let constants = Constants {
        agents: 2.0,
        c_pi: 1.25,
        pull_rho: 0.5,
        pull_delta_sq: 2.0,
        push_rho: 0.5,
        push_delta_sq: 3.0,
        pull_norm_sq: 1.5,
        pull_change_sq: 0.75,
        pull_weight_sq: 0.5,
        push_weight_sq: 0.625,
        push_weight_in_pull_sq: 0.9,
    };
    // c̃₁ = 5/12, c_x1 = 5/3, c_x2 = 3, ‖I − Π_C‖² = 1.25, C_tr = 10; ‖m̄‖² ≤ E_m + 8E_x + 4‖∇F‖²
    let found = constants.recursion(Setting { smoothness: 2.0, momentum: 0.5 }, 0.1);
    let expected = [
        [0.625 + 0.03 * 8.0, 1.0 / 60.0, 0.03, 0.0],
        [45.0 + 4.5 * 8.0, 0.625 + 1.8, 7.5 + 4.5, 0.0],
        [3.0 + 0.3 * 8.0, 0.12, 0.5 + 0.3, 0.0],
        [2.0, 0.0, 0.0, 0.5],
    ];
    compare("J", expected.as_flattened(), found.jacobian.as_flattened()).unwrap();
    compare("b", &[0.0, 15.0, 0.5, 0.125], &found.noise).unwrap();
    compare("h", &[0.12, 18.0, 1.2, 1.0], &found.gradient).unwrap();
    compare("c_dl", &[0.25, 0.05, 0.0, 0.009765625], &found.descent).unwrap();
    compare("scalars", &[0.015625, 0.015625], &[found.progress, found.descent_noise]).unwrap();
}

#[test]
fn a_changed_number_is_found() {
    let sound = Certificate::largest(&full(families::flower(7, 2).unwrap()), SETTING).unwrap().unwrap();
    sound.recheck().unwrap();
    type Change = fn(&mut Certificate);
    let changes: [(&str, Change); 16] = [
        ("weights", |c| c.proof.weights[1] *= 0.999),
        ("negative", |c| c.proof.weights[3] = -c.proof.weights[3]),
        ("margin", |c| c.proof.margin *= 1.001),
        ("jacobian", |c| c.proof.recursion.jacobian[2][0] *= 0.999),
        ("noise", |c| c.proof.recursion.noise[1] *= 0.5),
        ("gradient", |c| c.proof.recursion.gradient[0] = 0.0),
        ("descent", |c| c.proof.recursion.descent[0] *= 0.99),
        ("step", |c| c.η *= 1.001),
        ("smoothness", |c| c.setting.smoothness *= 0.99),
        ("momentum", |c| c.setting.momentum = 0.11),
        ("delta", |c| c.push.δ_sq *= 0.99),
        ("rho", |c| c.pull.ρ *= 0.99),
        ("weight matrix", |c| c.pull.weight[(0, 1)] += 0.1),
        ("symmetric weight matrix", |c| {
            c.push.weight[(0, 1)] *= 1.5;
            c.push.weight[(1, 0)] = c.push.weight[(0, 1)];
        }),
        ("matrix", |c| c.pull.deviation[(1, 0)] += 1e-3),
        ("Perron vector", |c| c.push_weights.swap(0, 1)),
    ];
    for (what, change) in changes {
        let mut changed = sound.clone();
        change(&mut changed);
        let error = changed.recheck().expect_err(what);
        assert!(matches!(error, Error::Uncertified(_)), "{what}: {error}");
    }
    let mut constants = sound.clone();
    constants.constants.pull_norm_sq *= 0.99;
    constants.proof.recursion = constants.constants.recursion(SETTING, constants.η);
    assert!(constants.recheck().unwrap_err().to_string().contains("constants"));
}

#[test]
fn bounds_come_in_two_parts() {
    let topology = full(families::exponential(8).unwrap());
    let largest = Certificate::largest(&topology, SETTING).unwrap().unwrap().step();
    let certificate = Certificate::at(&topology, SETTING, 0.5 * largest).unwrap().unwrap();
    let start = Start { gap: 2.0, gradient_sq: 3.0, variance: 0.5 };
    let [long, short] = [2000, 1000].map(|rounds| certificate.bound(start, rounds));
    assert!((2.0 * long.transient / short.transient - 1.0).abs() < 1e-12 && long.floor == short.floor);
    let quiet = certificate.bound(Start { variance: 0.0, ..start }, 1000);
    assert!(quiet.floor == 0.0 && quiet.total() < short.total());
    assert!(quiet.transient >= 2.0 / (certificate.margin() * 1000.0));
    let printed = certificate.bound_printed(start, 1000);
    let expected = (2.0 + 3.0 * certificate.weights()[2]) / (1000.0 * certificate.margin());
    assert!((printed.transient / expected - 1.0).abs() < 1e-12 && printed.floor == short.floor);
}

#[test]
fn impossible_settings_are_refused() {
    let topology = Topology::complete(3).unwrap();
    for smoothness in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Certificate::largest(&topology, Setting { smoothness, ..SETTING }).unwrap_err();
        assert!(error.to_string().contains("`smoothness`"), "{error}");
    }
    for momentum in [0.0, 1.1, f64::NAN] {
        assert!(Certificate::largest(&topology, Setting { momentum, ..SETTING }).is_err());
    }
    for step in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = Certificate::at(&topology, SETTING, step).unwrap_err();
        assert!(error.to_string().contains("`step`"), "{error}");
    }
    let varying = families::one_peer_exponential(8).unwrap();
    let varying = Topology::from_digraphs(&varying, Subgraph::Full, Weights::Uniform, 0).unwrap();
    assert!(Certificate::largest(&varying, SETTING).unwrap_err().to_string().contains("fixed network"));
}

#[test]
fn the_corollary_is_put_beside_what_is_certified() {
    let certifier = Certifier::new(&Topology::complete(4).unwrap()).unwrap();
    let corollary = certifier.corollary(1.0, 4 * 256).unwrap();
    assert_eq!((corollary.step, corollary.momentum), (0.0625, 0.25));
    assert_eq!(corollary.certified.unwrap().setting().momentum, 0.25);
    assert!(certifier.corollary(1.0, 3).is_err());
}
