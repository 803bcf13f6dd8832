//! One table over every method: what any of them must do, on problems and networks that it is made for.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::metrics::{Extras, Measurement, measure, measure_many};
use oneway::engine::observe::{Observer, View};
use oneway::engine::record::{self, Recorder};
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::Digraph;
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::{At, Mail, Method, Network, Profile, Rule};
use oneway::methods::{Csgdm, Frost, Kind, PUSH_PULL, PushPull, SGP, estimator::Gradient, kind};
use oneway::numeric::sample::Purpose;
use oneway::numeric::{Precision, Real};
use oneway::problem::Problem;
use oneway::testing::{self, CHECKS, Passed};

use crate::common::{
    self, advance, ask_all, build, digraphs, methods, quadratic, raw_step, simulate, table, topology,
};

/// An effective step that every method bears on every topology of the table: the flower's and the ring's long
/// cycles with gradient tracking bear the least.
const STEP: f64 = 0.02;

/// Runs `check` on every method × subgraph × topology.
fn over_the_table(mut check: impl FnMut(&str, &dyn oneway::method::Method, &Topology, f64)) {
    for (kind, graph, name, digraphs) in table() {
        let topology = topology(kind, graph, &digraphs, 4);
        let η = raw_step(kind, &topology, STEP);
        check(&format!("{} ({graph:?}) on {name}", kind.name), &*build(kind), &topology, η);
    }
}

/// The names of those that were not asked.
fn not_asked(found: &[(&'static str, Passed)]) -> Vec<&'static str> {
    found.iter().filter(|(_, passed)| matches!(passed, Passed::NotAsked(_))).map(|(name, _)| *name).collect()
}

#[test]
fn trackers_find_the_minimiser_and_others_its_neighbourhood() {
    assert!(not_asked(&ask_all("minimiser")).is_empty());
}

#[test]
fn noise_leaves_a_floor_that_shrinks_with_the_step() {
    assert_eq!(not_asked(&ask_all("noise floor")), ["push-saga", "ab-saga"]);
}

#[test]
fn steps_that_are_too_large_end_in_a_status_with_the_curve_so_far() {
    assert_eq!(not_asked(&ask_all("divergence")), ["adamdos", "adam"]);
}

#[test]
fn threads_change_no_bit() {
    assert!(not_asked(&ask_all("threads")).is_empty());
}

/// A method as others see it: a report on one that keeps all promises, and on one that does not.
#[test]
fn a_report_names_what_was_asked_and_what_is_wrong() {
    let good = testing::conformance(kind("push-pull").unwrap());
    assert!(good.is_ok(), "{good}");
    for check in CHECKS {
        assert!(good.to_string().contains(check.name), "{good}");
    }
    let leaky = Kind { name: "leaky", build: |_| Ok(Box::new(Leaky)), ..*kind("push-pull").unwrap() };
    let bad = testing::conformance(&leaky);
    let failed = bad.found.iter().filter(|(_, found)| found.is_err()).map(|(check, _)| check.name);
    assert_eq!(failed.collect::<Vec<_>>(), ["minimiser", "noise floor", "laws"], "{bad}");
    assert!(bad.to_string().contains("leaky (Full) on ring: "), "{bad}");
}

/// Keeps every measurement; asks to stop after a given number of them.
struct Watch(Vec<Measurement>, usize);

impl Observer for Watch {
    fn observe(&mut self, view: &View<'_>) -> oneway::Result<ControlFlow<()>> {
        self.0.push(measure(view)?);
        Ok(if self.0.len() > self.1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    }
}

#[test]
fn an_observer_sees_the_start_the_rhythm_and_the_end_and_can_stop() {
    let problem = quadratic(9, 0.1);
    over_the_table(|case, method, topology, η| {
        let mut watch = Watch(vec![], usize::MAX);
        let outcome = simulate(method, &problem, topology, η).run(25, 10, &mut watch).unwrap();
        assert_eq!(outcome.status, Status::Completed, "{case}");
        let seen: Vec<u64> = watch.0.iter().map(|m| m.iteration).collect();
        assert_eq!(seen, [0, 10, 20, 25], "{case}");

        let mut impatient = Watch(vec![], 1);
        let outcome = simulate(method, &problem, topology, η).run(25, 10, &mut impatient).unwrap();
        assert_eq!(outcome.status, Status::Stopped { round: 10 }, "{case}");
    });
}

/// The registry and the methods say the same of a method's network.
#[test]
fn the_registry_knows_the_networks_of_its_methods() {
    methods().for_each(|(kind, _)| assert_eq!(kind.network(), build(kind).network(), "{}", kind.name));
}

/// What the columns of a measurement mean, worked out by hand from the states.
#[test]
fn measurements_follow_their_definitions() {
    let problem = quadratic(9, 0.3);
    over_the_table(|case, method, topology, η| {
        let mut simulator = simulate(method, &problem, topology, η);
        advance(&mut simulator, 7);
        let (view, roles) = (simulator.view(), method.roles());
        let measured = measure(&view).unwrap();
        let (n, d) = (9, problem.dim());
        let stationary = topology.stationary(7).unwrap();

        let weight = |i: usize| if roles.conserved.is_some() { 1.0 / 9.0 } else { stationary.pull[i] };
        let row = |i: usize| view.vector(i, roles.conserved.unwrap_or(0));
        let mean: Vec<f64> = (0..d).map(|k| (0..n).map(|i| weight(i) * row(i)[k]).sum()).collect();
        let mut gradient = vec![0.0; d];
        let mut loss = 0.0;
        for i in 0..n {
            let mut g = vec![0.0; d];
            loss += problem.exact(i, &mean, &mut g) / 9.0;
            gradient.iter_mut().zip(g).for_each(|(sum, g)| *sum += g / 9.0);
        }
        let near = |a: f64, b: f64| (a - b).abs() <= 1e-12 * (1.0 + b.abs());
        assert!(near(measured.loss, loss), "{case}");
        assert!(near(measured.grad_norm_sq, gradient.iter().map(|g| g * g).sum()), "{case}");
        let spread = |i: usize| view.estimate(i).iter().zip(&mean).map(|(x, m)| (x - m).powi(2)).sum::<f64>();
        assert!(near(measured.consensus_error, (0..n).map(spread).sum::<f64>() / 9.0), "{case}");

        // pushed trackers keep their sum, pulled ones their mean by π_R
        let pulled = method.network() == Network::PullOnly;
        let counts = |i: usize| if pulled { 9.0 * stationary.pull[i] } else { 1.0 };
        if let Some(tracker) = roles.tracker {
            let total: Vec<f64> =
                (0..d).map(|k| (0..n).map(|i| counts(i) * view.vector(i, tracker)[k]).sum()).collect();
            let far = |i: usize| -> f64 {
                let share = if pulled { 1.0 / 9.0 } else { stationary.push[i] };
                let pairs = view.vector(i, tracker).iter().zip(&total);
                pairs.map(|(v, total)| (v - share * total).powi(2)).sum()
            };
            let expected = (0..n).map(far).sum::<f64>() / 9.0;
            assert!(near(measured.tracking_error.unwrap(), expected), "{case}");
        }
        if let Some(momentum) = roles.momentum {
            let far = |i: usize| -> f64 {
                let mut g = vec![0.0; d];
                problem.exact(i, view.estimate(i), &mut g);
                view.vector(i, momentum).iter().zip(g).map(|(m, g)| (m - g).powi(2)).sum()
            };
            assert!(near(measured.momentum_error.unwrap(), (0..n).map(far).sum::<f64>() / 9.0), "{case}");
        }

        let sum =
            |index: usize, k: usize| (0..n).map(|i| counts(i) * view.vector(i, index)[k]).sum::<f64>() / 9.0;
        let tracked = roles.tracker.zip(roles.tracked).map(|(tracker, tracked)| {
            (0..d).map(|k| (sum(tracker, k) - sum(tracked, k)).powi(2)).sum::<f64>().sqrt()
        });
        let weights =
            roles.weight.map(|w| ((0..n).map(|i| view.scalar(i, w)).sum::<f64>() / 9.0 - 1.0).abs());
        let conserved = tracked.into_iter().chain(weights).reduce(f64::max);
        assert_eq!(measured.conservation_error.is_some(), conserved.is_some(), "{case}");
        // FROST's first gradients are divided by small numbers
        let rounding = if pulled { 1e-12 } else { 1e-14 };
        assert!(conserved.is_none_or(|by_hand| by_hand < rounding), "{case}: {conserved:?}");

        let profile = method.profile_on(&problem);
        let phases = (0..profile.phases()).map(|phase| profile.bytes(phase, d, Precision::F64));
        let [pull, push] = phases.fold([0, 0], |[a, b], [pull, push]| [a + pull, b + push]);
        let per_round = |k: u64| {
            let pair = topology.at(k);
            let wire =
                |mixing: &oneway::graph::mixing::Mixing| mixing.iter().filter(|l| l.from != l.to).count();
            wire(&pair.pull) * pull + wire(&pair.push) * push
        };
        let sent = (0..7).map(|k| per_round(k) as u64).sum::<u64>();
        let central = method.network() == Network::Central;
        assert_eq!(measured.bytes_sent, (!central).then_some(sent), "{case}");
    });
}

/// All that can be asked for, with some F*.
const EXTRAS: Extras = Extras { optimum: Some(0.125), agents: true, minimiser: None };

/// ∇F at every agent's own estimate is what it is by definition, and what it is at x̄ where all agree.
#[test]
fn gradients_at_the_agents_are_those_of_all_of_f() {
    let problem = common::logistic(9, oneway::problems::Batch::Sampled(1));
    let (n, d) = (problem.agents(), problem.dim());
    over_the_table(|case, method, topology, η| {
        let mut simulator = simulate(method, &problem, topology, η);
        for rounds in [0, 5] {
            advance(&mut simulator, rounds);
            let view = simulator.view();
            let measured = measure_many(&[view], &EXTRAS).unwrap()[0];
            assert_eq!(measured.loss_gap, Some(measured.loss - 0.125), "{case}");
            let mut mean = 0.0;
            for j in 0..n {
                let (mut sum, mut g) = (vec![0.0; d], vec![0.0; d]);
                for i in 0..n {
                    problem.exact(i, view.estimate(j), &mut g);
                    sum.iter_mut().zip(&g).for_each(|(sum, g)| *sum += g / n as f64);
                }
                mean += sum.iter().map(|g| g * g).sum::<f64>() / n as f64;
            }
            let found = measured.agents_grad_norm_sq.unwrap();
            assert!((found - mean).abs() <= 1e-12 * mean, "{case}: {found} and {mean}");
            if rounds == 0 || method.network() == Network::Central {
                let at_mean = measured.grad_norm_sq;
                assert!((found - at_mean).abs() <= 1e-12 * at_mean, "{case}: {found} and {at_mean}");
            }
        }
    });
}

/// States that wait to be measured together are measured as each would be alone.
#[test]
fn a_recorder_measures_what_it_was_shown() {
    let sampled = common::logistic(9, oneway::problems::Batch::Sampled(1));
    over_the_table(|case, method, topology, η| {
        let mut simulator = simulate(method, &sampled, topology, η);
        let (mut recorder, mut alone) = (Recorder::default(), vec![]);
        let (mut recorder_of_all, mut all) = (Recorder::new(EXTRAS), vec![]);
        for _ in 0..11 {
            recorder.record(&simulator.view()).unwrap();
            recorder_of_all.record(&simulator.view()).unwrap();
            alone.push(measure(&simulator.view()).unwrap());
            all.extend(measure_many(&[simulator.view()], &EXTRAS).unwrap());
            advance(&mut simulator, 3);
        }
        assert_eq!(recorder.finish(&simulator.view()).unwrap(), alone, "{case}");
        assert_eq!(recorder_of_all.finish(&simulator.view()).unwrap(), all, "{case}");
        let without = |m: &Measurement| Measurement { loss_gap: None, agents_grad_norm_sq: None, ..*m };
        assert_eq!(all.iter().map(without).collect::<Vec<_>>(), alone, "{case}: extras change nothing else");
    });
}

/// … and so are those that other threads measure while the run goes on, in their order.
#[test]
fn a_recorder_beside_a_run_measures_the_same() {
    let sampled = common::logistic(9, oneway::problems::Batch::Sampled(1));
    over_the_table(|case, method, topology, η| {
        let schedule = Schedule::constant(η).unwrap();
        let setup = Setup { method, problem: &sampled, topology, schedule, seed: 1 };
        let mut expected = vec![];
        let mut simulator = Simulator::new(setup).unwrap();
        for _ in 0..45 {
            expected.extend(measure_many(&[simulator.view()], &EXTRAS).unwrap());
            advance(&mut simulator, 1);
        }
        for threads in [1, 3] {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            let run = |recorder: &mut record::ConcurrentRecorder<'_, '_>| {
                let mut simulator = Simulator::new(setup).unwrap();
                for _ in 0..45 {
                    recorder.record(&simulator.view()).unwrap();
                    advance(&mut simulator, 1);
                }
                simulator.state_hash()
            };
            let (hash, measured) = pool.install(|| record::concurrently(setup, EXTRAS, run)).unwrap();
            assert_eq!(
                (hash, measured),
                (simulator.state_hash(), expected.clone()),
                "{case}, {threads} threads"
            );
        }
    });
}

/// Push-Pull that loses a tenth of what is pushed in every round, with two exchanges a round.
#[derive(Debug)]
struct Leaky;

impl Rule for Leaky {
    type State<S: Real> = <PushPull as Rule>::State<S>;
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = PushPull::NAMES;

    fn profile(&self) -> Profile {
        let mut profile = Rule::profile(&PUSH_PULL);
        profile.exchanges.extend_from_within(..);
        profile
    }
    fn start<S: Real>(&self, at: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        PUSH_PULL.start(at, x, g)
    }
    fn send<S: Real>(&self, at: At<S>, state: Self::State<S>) -> Mail<S, S> {
        PUSH_PULL.send(at, state)
    }
    fn points<S: Real>(&self, at: At<S>, state: Self::State<S>, heard: Mail<S, S>) -> [S; 2] {
        PUSH_PULL.points(at, state, heard)
    }
    fn update<S: Real>(
        &self,
        at: At<S>,
        state: Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let lost = Mail { push: S::constant(0.9) * heard.push, ..heard };
        PUSH_PULL.update(at, state, lost, g)
    }
}

/// A law that is broken must show: the laws of the table would hold of a metric that is always zero.
#[test]
fn a_leak_shows_in_the_conservation_error_and_phases_count() {
    let problem = quadratic(9, 0.3);
    let topology = Topology::complete(9).unwrap();
    let mut leaky = simulate(&Leaky, &problem, &topology, 0.01);
    advance(&mut leaky, 5);
    let (view, d) = (leaky.view(), problem.dim());
    let measured = measure(&view).unwrap();
    let mean = |index: usize, k: usize| (0..9).map(|i| view.vector(i, index)[k]).sum::<f64>() / 9.0;
    let by_hand = (0..d).map(|k| (mean(1, k) - mean(2, k)).powi(2)).sum::<f64>().sqrt();
    let error = measured.conservation_error.unwrap();
    assert!(error > 1e-2 && (error - by_hand).abs() < 1e-14, "{error} {by_hand}");
    // two exchanges a round, on 9·8 links of each graph, d numbers of eight bytes each
    assert_eq!(measured.bytes_sent, Some(5 * 2 * 2 * 72 * 8 * d as u64));

    // each phase draws afresh: without noise shared between them, two phases are not one phase twice
    let draw =
        |phase: u32| oneway::numeric::sample::Draws::new(5, Purpose::Gradient, 0, 1).in_phase(phase).normal();
    assert_ne!(draw(0), draw(1));
}

/// A method on a network that it is not made for is refused, not run to nonsense.
#[test]
fn methods_are_kept_from_networks_they_are_not_made_for() {
    let problem = quadratic(4, 0.0);
    let of = |edges: &[(usize, usize)]| {
        let digraph = Digraph::from_edges(4, edges.iter().copied()).unwrap();
        Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
    };
    let (ring, path, apart) =
        (of(&[(0, 1), (1, 2), (2, 3), (3, 0)]), of(&[(0, 1), (1, 2), (2, 3)]), of(&[(0, 1), (2, 3)]));
    let refused = |method: &dyn Method, topology: &Topology| {
        let schedule = Schedule::constant(0.1).unwrap();
        Simulator::new(Setup { method, problem: &problem, topology, schedule, seed: 1 })
            .err()
            .map(|e| e.to_string())
    };
    let csgdm = Csgdm::new(0.1).unwrap();
    assert!(refused(&csgdm, &ring).unwrap().contains("everyone to hear everyone"));
    assert!(refused(&SGP, &path).unwrap().contains("not strongly connected"));
    assert!(refused(&PUSH_PULL, &apart).unwrap().contains("no common root"));
    assert_eq!((refused(&SGP, &ring), refused(&PUSH_PULL, &ring)), (None, None));

    let frost = Frost::from_estimator(Gradient);
    assert!(refused(&frost, &path).unwrap().contains("not strongly connected"));
    assert_eq!(refused(&frost, &ring), None);
    let weight = |from: usize, to: usize, weight: f64| Link { from, to, weight };
    let links = [weight(0, 0, 0.5), weight(1, 0, 0.5), weight(0, 1, 1.0)];
    let pull = Mixing::new(2, Stochastic::Rows, links).unwrap();
    let selfless = Topology::fixed(pull, Mixing::complete(2)).unwrap();
    let two = quadratic(2, 0.0);
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &frost, problem: &two, topology: &selfless, schedule, seed: 1 };
    let error = Simulator::new(setup).unwrap_err().to_string();
    assert!(error.contains("agent 1 gives itself no weight"), "{error}");
    let (_, moving) = digraphs().pop().unwrap();
    let moving = Topology::from_digraphs(&moving, Subgraph::Full, Weights::Uniform, 0).unwrap();
    let error = moving.check(Network::PullOnly).unwrap_err().to_string();
    assert!(error.contains("one π_R for all rounds") && error.contains("agent"), "{error}");
}

/// A method that needs a finite sum says so of a problem that is none.
#[test]
fn methods_are_kept_from_problems_that_they_cannot_work_on() {
    let problem = quadratic(4, 0.1);
    let topology = Topology::complete(4).unwrap();
    let schedule = Schedule::constant(0.1).unwrap();
    for name in ["push-saga", "ab-saga"] {
        let method = build(kind(name).unwrap());
        let setup = Setup { method: &*method, problem: &problem.0, topology: &topology, schedule, seed: 1 };
        let error = Simulator::new(setup).unwrap_err().to_string();
        assert!(error.contains("no finite sum"), "{name}: {error}");
        assert!(Simulator::new(Setup { problem: &problem, ..setup }).is_ok(), "{name}");
    }
}
