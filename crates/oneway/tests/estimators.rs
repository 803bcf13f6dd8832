//! Estimators: what each makes of the gradients it is shown.
#![allow(clippy::unwrap_used)]

use oneway::engine::Engine;
use oneway::engine::metrics::measure;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::Method;
use oneway::methods::estimator::{AnyEstimator, ESTIMATORS, Gradient, MeanGradient, Storm, estimator};
use oneway::methods::{KINDS, PUSH_PULL, Tracking, kind};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway::problems::Batch;

use crate::common::{advance, build, distance, estimates, logistic, quadratic, raw_step, simulate, topology};

fn made(name: &str, given: &[(&str, f64)]) -> oneway::Result<AnyEstimator> {
    let kind = estimator(name)?;
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), *value));
    (kind.build)(&Parameters::new(kind.name, kind.parameters, given)?)
}

/// A method of the registry with another estimator in place of its own.
fn around(name: &str, estimator: AnyEstimator) -> Box<dyn Method> {
    let kind = kind(name).unwrap();
    let parameters = Parameters::new(kind.name, kind.parameters, []).unwrap();
    kind.with_estimator.unwrap()(&parameters, estimator).unwrap()
}

fn full(digraph: Digraph) -> Topology {
    Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
}

/// Every method with room for an estimator takes every estimator, and finds the minimiser of a problem
/// without noise if it tracks.
#[test]
fn every_estimator_fits_every_method_that_has_room_for_one() {
    let problem = quadratic(5, 0.0);
    let digraph = families::exponential(5).unwrap();
    for kind in KINDS {
        if kind.with_estimator.is_none() {
            continue;
        }
        for estimator in ESTIMATORS {
            let method = around(kind.name, made(estimator.name, &[]).unwrap());
            let place = format!("{} with {}", kind.name, estimator.name);
            let topology = topology(kind, kind.graphs[0], std::slice::from_ref(&digraph), 0);
            let mut simulator = simulate(&*method, &problem, &topology, raw_step(kind, &topology, 0.01));
            advance(&mut simulator, 8000);
            let end = measure(&simulator.view()).unwrap();
            let exact = method.roles().tracker.is_some();
            assert!(end.grad_norm_sq < if exact { 1e-20 } else { 1e-2 }, "{place}: {end:?}");
            assert!(end.conservation_error.unwrap_or(0.0) < 1e-9, "{place}: {end:?}");
            // m is near ∇f_i once all is still, where it says that it means to be
            assert!(!exact || end.momentum_error.unwrap_or(0.0) < 1e-20, "{place}: {end:?}");
        }
    }
}

/// A mean of K gradients is the mean of K gradients, drawn one after another; of one, it is that one.
#[test]
fn means_of_gradients_are_means_of_gradients() {
    let problem = quadratic(3, 0.5);
    let topology = full(families::ring(3).unwrap());
    let three = Tracking::from_estimator(MeanGradient::new("mean", 3).unwrap());
    let simulator = simulate(&three, &problem, &topology, 0.1);
    for agent in 0..3 {
        let mut draws = Draws::new(5, Purpose::Gradient, agent, 0);
        let (mut g, mut mean) = (vec![0.0; 4], vec![0.0; 4]);
        for _ in 0..3 {
            problem.gradient(agent, &[0.0; 4], &mut draws, &mut g);
            mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / 3.0);
        }
        assert!(distance(simulator.view().vector(agent, 2), &mean) < 1e-15);
    }
    let run = |method: &dyn Method| {
        let mut simulator = simulate(method, &problem, &topology, 0.1);
        advance(&mut simulator, 50);
        estimates(&simulator)
    };
    assert_eq!(run(&Tracking::from_estimator(MeanGradient::new("mean", 1).unwrap())), run(&PUSH_PULL));
    assert_eq!(run(&*around("push-pull", made("gradient", &[]).unwrap())), run(&PUSH_PULL));
    assert_ne!(run(&three), run(&PUSH_PULL));
    for (name, parameter, value, words) in [
        ("gradient", "samples", 0.0, "at least one gradient"),
        ("gradient", "samples", 1.5, "whole number"),
        ("storm", "momentum", 0.0, "(0, 1]"),
        ("storm", "momentum", 1.1, "(0, 1]"),
    ] {
        let error = made(name, &[(parameter, value)]).unwrap_err().to_string();
        assert!(error.contains(words) && error.contains(parameter), "{error}");
    }
}

/// STORM's error under additive noise is an exponential mean of the noise alone, however x moves: a variance
/// of a/(2 − a)·σ². Plain momentum lags behind x besides.
#[test]
fn storm_does_not_lag_behind() {
    let (problem, topology) = (quadratic(9, 0.5), full(families::exponential(9).unwrap()));
    let error = |method: &dyn Method, rounds: std::ops::Range<usize>| {
        let mut simulator = simulate(method, &problem, &topology, 0.05);
        advance(&mut simulator, rounds.start);
        let one = |_| {
            advance(&mut simulator, 1);
            measure(&simulator.view()).unwrap().momentum_error.unwrap()
        };
        rounds.clone().map(one).sum::<f64>() / rounds.len() as f64
    };
    let (storm, smtpp) = (build(kind("storm-tracking").unwrap()), build(kind("smtpp").unwrap()));
    let expected = 0.1 / 1.9 * 0.25;
    let settled = error(&*storm, 200..4000);
    assert!((settled - expected).abs() < 0.05 * expected, "{settled} not {expected}");
    // on its way, where x moves fast
    let (storm, smtpp) = (error(&*storm, 20..40), error(&*smtpp, 20..40));
    assert!(storm < 3.0 * expected && smtpp > 3.0 * storm, "{storm} {smtpp}");
}

/// With one sample a round SAGA converges linearly to a stationary point of a finite sum; gradients of the
/// same samples do not.
#[test]
fn saga_has_no_noise_floor() {
    let problem = logistic(6, Batch::Sampled(1));
    let topology = full(families::flower(6, 2).unwrap());
    for (with, without) in [("ab-saga", "ab"), ("push-saga", "add-opt")] {
        let run = |name: &str, rounds: &[usize]| {
            let method = build(kind(name).unwrap());
            let mut simulator = simulate(&*method, &problem, &topology, 0.02);
            let measure_after = |&rounds: &usize| {
                advance(&mut simulator, rounds);
                measure(&simulator.view()).unwrap().grad_norm_sq
            };
            rounds.iter().map(measure_after).collect::<Vec<_>>()
        };
        let gone = run(with, &[6000, 6000, 6000]);
        assert!(gone[1] < 1e-3 * gone[0] && gone[2] < 1e-3 * gone[1], "{with}: {gone:?}");
        let left = run(without, &[40_000, 10_000, 10_000]);
        assert!(left.iter().all(|left| *left > 1e-5), "{without}: {left:?}");
    }
}

/// One agent with SAGA's table, by hand from the definition.
#[test]
fn one_agent_alone_does_saga() {
    let problem = logistic(1, Batch::Sampled(2));
    let (d, samples) = (problem.dim(), problem.samples().unwrap());
    let topology = Topology::complete(1).unwrap();
    for name in ["ab-saga", "push-saga"] {
        let method = build(kind(name).unwrap());
        let mut simulator = simulate(&*method, &problem, &topology, 0.1);
        let (mut x, mut g) = (vec![0.0; d], vec![0.0; d]);
        let component = |s: usize, x: &[f64]| {
            let mut g = vec![0.0; d];
            problem.component(0, s, x, &mut g);
            g
        };
        let mut table: Vec<Vec<f64>> = (0..samples).map(|s| component(s, &x)).collect();
        problem.exact(0, &x, &mut g);
        for k in 1..200 {
            x.iter_mut().zip(&g).for_each(|(x, g)| *x -= 0.1 * g);
            simulator.round().unwrap();
            assert!(distance(&estimates(&simulator), &x) < 1e-12, "{name}, round {k}");
            let s = Draws::new(5, Purpose::Gradient, 0, k).below(samples);
            let fresh = component(s, &x);
            let mean = |c: usize| table.iter().map(|row| row[c]).sum::<f64>() / samples as f64;
            g = (0..d).map(|c| fresh[c] - table[s][c] + mean(c)).collect();
            table[s] = fresh;
        }
    }
    // what an estimator keeps besides m, in vectors: around Push-Pull, whose own state is (x, v, m)
    let memory = |estimator: AnyEstimator| {
        let state = around("push-pull", estimator).profile_on(&problem).state;
        assert_eq!(state.scalars, 0);
        state.vectors - 3
    };
    assert_eq!(memory(AnyEstimator::Saga), samples + 1);
    assert_eq!((memory(Gradient.into()), memory(Storm::new("storm", 0.3).unwrap().into())), (0, 1));
}
