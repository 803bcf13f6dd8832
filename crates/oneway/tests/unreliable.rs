//! Networks that fail: nothing that is pushed is lost for good, and trackers find the minimiser all the same.
#![allow(clippy::unwrap_used)]

use oneway::engine::Schedule;
use oneway::engine::metrics::measure;
use oneway::engine::record::Recorder;
use oneway::engine::unreliable::{self, Absence, Churn, Faults, Missing, Unreliable};
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::Graph;
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::{Method, Network};
use oneway::methods::{Kind, PUSH_PULL, kind};
use oneway::numeric::row;
use oneway::problem::Problem;
use oneway::testing::Passed;
use proptest::prelude::*;

use crate::common::{self, build, digraphs, distance, methods, quadratic, strongly_connected, topology};
use crate::running_sums::ByTheBook;

fn setup<'a>(method: &'a dyn Method, problem: &'a dyn Problem, topology: &'a Topology, η: f64) -> Setup<'a> {
    Setup { method, problem, topology, schedule: Schedule::constant(η).unwrap(), seed: 5 }
}

/// Every method that bears loss, on every subgraph that it may use.
fn bearing_loss() -> impl Iterator<Item = (&'static Kind, Subgraph)> {
    methods().filter(|(kind, _)| bears_loss(kind))
}

fn bears_loss(kind: &Kind) -> bool {
    let complete = Topology::complete(3).unwrap();
    unreliable::check(&*build(kind), &complete, &Faults { loss: 0.1, ..Faults::default() }).is_ok()
}

/// Losses, delays and absences, one by one and all together.
fn faults() -> Vec<(&'static str, Faults)> {
    let none = Faults::default;
    let (missing, churn) = (Missing::Latest, Churn::Drawn { up: 40.0, down: 5.0 });
    vec![
        ("5 % loss", Faults { loss: 0.05, ..none() }),
        ("30 % loss", Faults { loss: 0.3, ..none() }),
        ("30 % loss, old rows", Faults { loss: 0.3, missing, ..none() }),
        ("delays", Faults { delay: 4, ..none() }),
        ("churn", Faults { churn: churn.clone(), ..none() }),
        ("all", Faults { loss: 0.3, delay: 3, churn: churn.clone(), ..none() }),
        ("all, old rows", Faults { loss: 0.3, delay: 3, missing, churn }),
    ]
}

/// A small step that all bear, with losses too.
fn step(topology: &Topology, network: Network) -> f64 {
    0.02 / topology.step_divisor(network).unwrap()
}

#[test]
fn without_faults_it_is_the_simulator_to_the_last_bit() {
    for (name, passed) in common::ask_all("no faults") {
        assert_eq!(matches!(passed, Passed::On(_)), bears_loss(kind(name).unwrap()), "{name}: {passed}");
    }
}

fn any_faults() -> impl Strategy<Value = Faults> {
    let churn = prop_oneof![
        Just(Churn::None),
        (5.0..30.0, 1.0..5.0).prop_map(|(up, down)| Churn::Drawn { up, down }),
    ];
    let missing = prop_oneof![Just(Missing::Renormalise), Just(Missing::Latest)];
    (0.0..0.6, 0..6_u32, missing, churn).prop_map(|(loss, delay, missing, churn)| Faults {
        loss,
        delay,
        missing,
        churn,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Σ tracker + what is on its way = Σ tracked, and Σ w + what is on its way = n, whatever is lost.
    #[test]
    fn nothing_that_is_pushed_is_lost_for_good(
        graphs in prop_oneof![
            strongly_connected(8).prop_map(|graph| vec![graph]),
            Just(digraphs().pop().unwrap().1),
        ],
        faults in any_faults(),
        seed in 0..u64::MAX,
    ) {
        let problem = quadratic(graphs[0].agents(), 0.3);
        for (kind, graph) in bearing_loss().filter(|(_, graph)| graphs.len() == 1 || *graph == Subgraph::Full) {
            let (topology, method) = (topology(kind, graph, &graphs, 0), build(kind));
            let setup = Setup { seed, ..setup(&*method, &problem, &topology, 0.01) };
            let mut engine = Unreliable::new(setup, faults.clone()).unwrap();
            for round in 0..40 {
                engine.round().unwrap();
                let view = engine.view();
                let size = (0..view.agents()).flat_map(|i| view.state(i)).fold(1.0_f64, |most, x| most.max(x.abs()));
                if size > 1e12 {
                    // it diverges: who is cut off for long has next to no push-sum weight to divide by, and
                    // the run says so. (Steps that are just below a thousand times too long have been seen to
                    // reach 10⁶ by themselves.)
                    prop_assert!(engine.starved().is_some(), "{}, round {round}: {size:e}", kind.name);
                    break;
                }
                let error = measure(&view).unwrap().conservation_error;
                let roles = method.roles();
                prop_assert_eq!(error.is_some(), roles.tracker.is_some() || roles.weight.is_some());
                prop_assert!(error.unwrap_or(0.0) < 1e-12 * size, "{}, round {round}: {error:?}", kind.name);
            }
        }
    }

    /// The queues of a link do what running sums on both sides of it do, in every round. Both round differently,
    /// and dividing by a push-sum weight w makes 1/w of what they differ by.
    #[test]
    fn queues_are_running_sums(
        graph in strongly_connected(6),
        faults in any_faults(),
        absences in prop::collection::vec((0..6_usize, 0..30_u64, 1..10_u64), 0..6),
        seed in 0..1000_u64,
    ) {
        let n = graph.agents();
        let listed = absences.into_iter().filter(|absence| absence.0 < n);
        let listed = listed.map(|(agent, from, rounds)| Absence { agent, from, to: from + rounds });
        let faults = Faults { churn: Churn::Listed(listed.collect()), ..faults };
        let problem = quadratic(n, 0.3);
        for name in ["smtpp", "push-diging", "abm", "stpp"] {
            let kind = oneway::methods::kind(name).unwrap();
            let topology = topology(kind, kind.graphs[0], std::slice::from_ref(&graph), 0);
            let method = build(kind);
            let setup = Setup { seed, ..setup(&*method, &problem, &topology, 1e-3) };
            let mut engine = Unreliable::new(setup, faults.clone()).unwrap();
            let mut book = ByTheBook::new(setup, &faults).unwrap();
            let mut least_weight = 1.0_f64;
            for round in 0..40 {
                engine.round().unwrap();
                book.round().unwrap();
                let view = engine.view();
                let weights = method.roles().weight.map(|w| (0..n).map(move |i| view.scalar(i, w)));
                least_weight = weights.into_iter().flatten().fold(least_weight, f64::min);
                let states: Vec<f64> = (0..n).flat_map(|i| engine.view().state(i).to_vec()).collect();
                let far = distance(&states, &book.states.concat());
                prop_assert!(far < 1e-12 / least_weight, "{name}, round {round}: {far:e}, {least_weight:e}");
                let bytes = measure(&engine.view()).unwrap().bytes_sent;
                prop_assert_eq!(bytes, Some(book.bytes_sent));
            }
        }
    }
}

/// What is on its way is not small: without it the law would not hold.
#[test]
fn much_is_on_its_way() {
    let (problem, kind) = (quadratic(9, 0.3), oneway::methods::kind("push-pull").unwrap());
    let topology = topology(kind, Subgraph::Full, &[families::flower(9, 3).unwrap()], 0);
    for (name, faults) in faults() {
        let mut engine = Unreliable::new(setup(&PUSH_PULL, &problem, &topology, 0.01), faults).unwrap();
        let missing = (0..200).map(|_| {
            engine.round().unwrap();
            let view = engine.view();
            let sum = |index: usize| (0..9).map(|i| view.vector(i, index)[0]).sum::<f64>();
            (sum(1) - sum(2)).abs()
        });
        let missing = missing.fold(0.0, f64::max);
        assert!(missing > 1e-2, "{name}: {missing}");
    }
}

/// The minimiser, with every fault: R and C change with every round, and trackers do not mind.
#[test]
fn trackers_find_the_minimiser_whatever_fails() {
    let problem = quadratic(9, 0.0);
    let tracks =
        |kind: &Kind| build(kind).roles().tracker.is_some() && build(kind).check_problem(&problem).is_ok();
    for (kind, graph) in bearing_loss().filter(|(kind, _)| tracks(kind)) {
        let networks = match kind.network() {
            Network::PushSum => &["exponential"][..], // see below
            _ => &["flower", "there and back"],
        };
        for (name, digraphs) in digraphs().into_iter().filter(|(name, _)| networks.contains(name)) {
            if digraphs.len() > 1 && graph != Subgraph::Full {
                continue;
            }
            let (topology, method) = (topology(kind, graph, &digraphs, 4), build(kind));
            for (failing, faults) in faults() {
                let setup = setup(&*method, &problem, &topology, step(&topology, kind.network()));
                let mut engine = Unreliable::new(setup, faults).unwrap();
                let far = |engine: &Unreliable<'_>| {
                    farthest((0..9).map(|i| engine.view().estimate(i).to_vec()), problem.minimiser())
                };
                while far(&engine) > 1e-9 && engine.view().k < 40_000 {
                    (0..1000).try_for_each(|_| engine.round()).unwrap();
                }
                let far = far(&engine);
                assert!(far <= 1e-9, "{} ({graph:?}) on {name} with {failing}: {far:e} from x*", kind.name);
            }
        }
    }
}

/// The largest distance of a point from `there`; infinite if one is not a number.
fn farthest(points: impl Iterator<Item = Vec<f64>>, there: &[f64]) -> f64 {
    let far = |point: Vec<f64>| match point.iter().all(|x| x.is_finite()) {
        true => distance(&point, there),
        false => f64::INFINITY,
    };
    points.map(far).fold(0.0, f64::max)
}

/// A limit of push-sum, not of the engine: who hears no one for long halves its weight w in every round, and
/// what it divides by w explodes. Push-Pull divides by nothing.
#[test]
fn who_is_cut_off_loses_its_push_sum_weight() {
    let problem = quadratic(3, 0.0);
    let topology =
        Topology::from_digraphs(&[families::ring(3).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let away =
        |to| Faults { churn: Churn::Listed(vec![Absence { agent: 0, from: 0, to }]), ..Faults::default() };
    let push_diging = build(oneway::methods::kind("push-diging").unwrap());
    let mut engine = Unreliable::new(setup(&*push_diging, &problem, &topology, 0.05), away(40)).unwrap();
    (0..40).try_for_each(|_| engine.round()).unwrap();
    let view = engine.view();
    assert_eq!(view.scalar(1, 0), 0.5_f64.powi(40)); // agent 1 hears agent 0 alone
    assert!(view.estimate(1)[0].abs() > 1e3, "{:?}", view.estimate(1));

    let mut engine = Unreliable::new(setup(&PUSH_PULL, &problem, &topology, 0.05), away(40)).unwrap();
    (0..40).try_for_each(|_| engine.round()).unwrap();
    assert!(engine.view().estimate(1)[0].abs() < 10.0);
    (0..3000).try_for_each(|_| engine.round()).unwrap();
    let estimates = (0..3).map(|i| engine.view().estimate(i).to_vec());
    assert!(farthest(estimates, problem.minimiser()) < 1e-9);
}

/// The law matters: the same network without running sums loses mass, and with it the minimiser.
#[test]
fn without_running_sums_nobody_gets_there() {
    let problem = quadratic(9, 0.0);
    let faults = Faults { loss: 0.05, ..Faults::default() };
    for name in ["push-pull", "smtpp", "gt", "push-diging"] {
        let kind = oneway::methods::kind(name).unwrap();
        let (topology, method) =
            (topology(kind, Subgraph::Full, &[families::exponential(9).unwrap()], 0), build(kind));
        let setup = setup(&*method, &problem, &topology, 0.05);
        let far = |forgets: bool| {
            let mut book = ByTheBook::new(setup, &faults).unwrap();
            book.forgets = forgets;
            (0..3000).try_for_each(|_| book.round()).unwrap();
            farthest(book.states.iter().map(|state| row::vector(state, 0, 4).to_vec()), problem.minimiser())
        };
        let (forgotten, kept) = (far(true), far(false));
        assert!(kept < 1e-9, "{name}: {kept:e}");
        assert!(forgotten > 1e-2, "{name}: {forgotten:e} from x* though mass is lost");
    }
}

/// Two agents, one of them away in round 0: every number by hand.
#[test]
fn two_agents_by_hand() {
    let problem = quadratic(2, 0.0);
    let topology = Topology::complete(2).unwrap();
    let churn = Churn::Listed(vec![Absence { agent: 1, from: 0, to: 1 }]);
    let mut engine =
        Unreliable::new(setup(&PUSH_PULL, &problem, &topology, 0.1), Faults { churn, ..Faults::default() })
            .unwrap();
    let state = |engine: &Unreliable<'_>, i: usize, index: usize| engine.view().vector(i, index)[0];
    let [g0, g1] = [0, 1].map(|i| state(&engine, i, 2)); // v₀ = g₀
    let x0 = state(&engine, 0, 0);
    let before = engine.view().state(1).to_vec();

    engine.round().unwrap();
    assert!(engine.was_away(1) && !engine.was_away(0));
    assert_eq!(engine.view().state(1), before); // away: nothing moves
    let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-15, "{a} is not {b}");
    let x = x0 - 0.1 * g0; // R = (1) for agent 0, who hears itself alone
    near(state(&engine, 0, 0), x);
    let g = state(&engine, 0, 2);
    near(state(&engine, 0, 1), 0.5 * g0 + (g - g0)); // it keeps half of its tracker; the other half waits for agent 1
    let error = measure(&engine.view()).unwrap().conservation_error.unwrap();
    assert!(error < 1e-16, "{error:e}");

    let [v0, v1] = [state(&engine, 0, 1), g1];
    let x = 0.5 * (x - 0.1 * v0) + 0.5 * (x0 - 0.1 * v1);
    engine.round().unwrap();
    (0..2).for_each(|i| near(state(&engine, i, 0), x));
    let moved = |engine: &Unreliable<'_>, i: usize, old: f64| state(engine, i, 2) - old;
    near(state(&engine, 0, 1), 0.5 * v0 + 0.5 * v1 + moved(&engine, 0, g));
    near(state(&engine, 1, 1), 0.5 * v0 + 0.5 * g0 + 0.5 * v1 + moved(&engine, 1, g1)); // what waited has come
    let bytes = 8 * 4 * 2; // d numbers on two graphs: agent 0 sent twice, agent 1 once
    assert_eq!(measure(&engine.view()).unwrap().bytes_sent, Some(3 * bytes));
}

#[test]
fn runs_are_reproducible_and_seeds_matter() {
    let (problem, kind) = (quadratic(9, 0.3), oneway::methods::kind("smtpp").unwrap());
    let topology = topology(kind, Subgraph::Full, &[families::exponential(9).unwrap()], 0);
    let method = build(kind);
    for (name, faults) in faults() {
        let run = |seed: u64, threads: usize, looks: u64| {
            let setup = Setup { seed, ..setup(&*method, &problem, &topology, 0.01) };
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut engine = Unreliable::new(setup, faults.clone()).unwrap();
                engine.run(100, looks, &mut ()).unwrap();
                (engine.state_hash(), measure(&engine.view()).unwrap())
            })
        };
        let once = run(1, 1, 100);
        assert_eq!(once, run(1, 1, 100), "{name}");
        assert_eq!(once, run(1, 4, 7), "{name}: neither threads nor looking on change a bit");
        assert_ne!(once.0, run(2, 1, 100).0, "{name}");
    }
}

/// Who hears nothing halves its push-sum weight with every step: the run goes on, and ends with a status of
/// its own.
#[test]
fn push_sum_weights_that_run_dry_are_said() {
    let problem = quadratic(9, 0.0);
    let ring = [families::ring(9).unwrap()];
    let ended = |name: &str, away: u64| {
        let kind = oneway::methods::kind(name).unwrap();
        let (method, topology) = (build(kind), topology(kind, Subgraph::Full, &ring, 0));
        let churn = Churn::Listed(vec![Absence { agent: 3, from: 20, to: 20 + away }]);
        let faults = Faults { churn, ..Faults::default() };
        let η = step(&topology, kind.network());
        let mut engine = Unreliable::new(setup(&*method, &problem, &topology, η), faults).unwrap();
        engine.run(100, 50, &mut ()).unwrap().status
    };
    for push_sum in ["sgp", "sgp-momentum", "push-diging", "add-opt", "push-saga"] {
        assert_eq!(ended(push_sum, 5), Status::Completed, "{push_sum}");
        // agent 4 hears 3 alone: between two looks its weight falls to 2⁻³⁰ and comes back
        assert_eq!(ended(push_sum, 30), Status::Starved { round: 31 }, "{push_sum}");
    }
    for pulls in ["smtpp", "push-pull", "r-fast", "ab"] {
        assert_eq!(ended(pulls, 30), Status::Completed, "{pulls}");
    }
}

/// A batch that waits to be measured remembers what was on its way, and what was sent, when it was recorded.
#[test]
fn a_recorder_measures_what_it_was_shown() {
    let (problem, kind) = (quadratic(9, 0.3), oneway::methods::kind("push-diging").unwrap());
    let topology = topology(kind, Subgraph::Full, &[families::exponential(9).unwrap()], 0);
    let method = build(kind);
    for (_, faults) in faults() {
        let mut engine = Unreliable::new(setup(&*method, &problem, &topology, 0.01), faults).unwrap();
        let (mut recorder, mut alone) = (Recorder::default(), vec![]);
        for _ in 0..11 {
            recorder.record(&engine.view()).unwrap();
            alone.push(measure(&engine.view()).unwrap());
            (0..3).try_for_each(|_| engine.round()).unwrap();
        }
        assert_eq!(recorder.finish(&engine.view()).unwrap(), alone);
        assert!(alone.iter().all(|m| m.conservation_error.unwrap() < 1e-14));
    }
}

/// As often as they should: losses, each delay, and absences; pulls and pushes independently.
#[test]
fn events_have_their_probabilities() {
    let faults = Faults { loss: 0.2, delay: 3, ..Faults::default() };
    let fates = |graph: Graph| (0..40_000).map(|k| faults.fate(3, graph, 7, 2, k)).collect::<Vec<_>>();
    let (pulls, pushes) = (fates(Graph::Pull), fates(Graph::Push));
    for fate in [None, Some(0), Some(1), Some(2), Some(3)] {
        let times = pulls.iter().filter(|found| **found == fate).count();
        assert!((7700..8300).contains(&times), "{fate:?}: {times}");
        let both = pulls.iter().zip(&pushes).filter(|(pull, push)| **pull == fate && **push == fate).count();
        assert!((1450..1750).contains(&both), "{fate:?} on both: {both}");
    }

    let churn = Churn::Drawn { up: 30.0, down: 10.0 };
    let (problem, topology) = (quadratic(4, 0.0), Topology::complete(4).unwrap());
    let faults = Faults { churn, ..Faults::default() };
    let mut engine = Unreliable::new(setup(&PUSH_PULL, &problem, &topology, 0.01), faults).unwrap();
    let (mut away, mut left, mut before) = (0, 0, [false; 4]);
    for _ in 0..20_000 {
        engine.round().unwrap();
        let now = [0, 1, 2, 3].map(|i| engine.was_away(i));
        away += now.iter().filter(|away| **away).count();
        left += now.iter().zip(before).filter(|(now, before)| **now && !before).count();
        before = now;
    }
    assert!((0.23..0.27).contains(&(away as f64 / 80_000.0)), "{away}"); // 10/(30 + 10) of the time
    assert!((1800..2200).contains(&left), "{left}"); // once in 40 rounds
}
