//! What holds without rounds: mass is conserved at every moment, the limit of no delay is the simulator, a
//! log replays to the same bits, and methods made for asynchrony find the minimiser.
#![allow(clippy::unwrap_used)]

use std::time::Instant;

use oneway::Error;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::asynchronous::{Asynchronous, Clock, Log, Synchronous, Times};
use oneway::engine::metrics::{Measurement, average, measure};
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::families;
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::{Method, Network, Reliance};
use oneway::methods::{self, Csgdm, KINDS, Kind, PUSH_PULL, Smtpp};
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::testing::Passed;
use proptest::prelude::*;

use crate::common::{
    self, build, digraphs, distance, logistic, methods, quadratic, raw_step, strongly_connected, topology,
};

/// Some agents five times slower, steps and journeys of random length, one message in five lost.
const ROUGH: Clock = Clock {
    step: Times::Exponential,
    spread: 0.3,
    slow_share: 0.2,
    slow_factor: 5.0,
    latency: 0.7,
    journey: Times::LogNormal { sigma: 1.0 },
    loss: 0.2,
};

/// All as fast in the long run, and nobody silent for more than a few steps.
const MILD: Clock = Clock { step: Times::Uniform { spread: 0.5 }, latency: 0.5, loss: 0.1, ..Clock::EVEN };

fn setup<'a>(method: &'a dyn Method, problem: &'a dyn Problem, topology: &'a Topology, η: f64) -> Setup<'a> {
    Setup { method, problem, topology, schedule: Schedule::constant(η).unwrap(), seed: 5 }
}

/// Why a method does not run here, if it does not.
fn refusal(kind: &Kind, topology: &Topology) -> bool {
    let method = build(kind);
    let refused = matches!(kind.network(), Network::Central | Network::PullOnly)
        || method.phases() > 1
        || method.keeps_copies()
        || method.reliance() != Reliance::Nothing
        || topology.period().len() > 1;
    let problem = logistic(topology.agents(), Batch::Sampled(1));
    match Asynchronous::new(setup(&*method, &problem, topology, 0.1), Clock::EVEN) {
        Err(Error::NotAsynchronous(_)) => assert!(refused, "{} is refused", kind.name),
        made => assert!(made.is_ok() && !refused, "{}: {:?}", kind.name, made.err()),
    }
    refused
}

/// All but the time and, of methods that measure it, nothing.
fn without_time(measured: Measurement) -> Measurement {
    Measurement { time: None, ..measured }
}

#[test]
fn without_delay_and_in_step_every_state_has_the_bits_of_the_simulator() {
    let ring = [families::ring(9).unwrap()];
    for (name, passed) in common::ask_all("in step") {
        let kind = methods::kind(name).unwrap();
        let refused = refusal(kind, &topology(kind, kind.graphs[0], &ring, 4));
        assert_eq!(matches!(passed, Passed::NotAsked(_)), refused, "{name}: {passed}");
    }
}

fn clocks() -> impl Strategy<Value = Clock> {
    let times = || {
        prop_oneof![
            Just(Times::Constant),
            (0.0..1.0f64).prop_map(|spread| Times::Uniform { spread }),
            Just(Times::Exponential),
            (0.0..1.5f64).prop_map(|sigma| Times::LogNormal { sigma }),
        ]
    };
    let agents = (times(), 0.0..0.9f64, 0.0..1.0f64, 1.0..6.0f64);
    (agents, times(), 0.0..3.0f64, 0.0..0.8f64).prop_map(
        |((step, spread, slow_share, slow_factor), journey, latency, loss)| Clock {
            step,
            spread,
            slow_share,
            slow_factor,
            latency,
            journey,
            loss,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn mass_is_conserved_at_every_unit_of_time(digraph in strongly_connected(7), clock in clocks()) {
        let problem = logistic(digraph.agents(), Batch::Sampled(1));
        for kind in KINDS {
            let method = build(kind);
            let roles = method.roles();
            let topology = topology(kind, kind.graphs[0], std::slice::from_ref(&digraph), 0);
            let travels = roles.tracker.is_none() || roles.tracker_sent.is_some();
            if !travels || refusal(kind, &topology) {
                continue;
            }
            let setup = setup(&*method, &problem, &topology, 0.01);
            let mut engine = Asynchronous::new(setup, clock).unwrap();
            // push-sum divides by weights that may have become small, and then moves far: rounding grows with
            // it
            let mut largest = 1.0f64;
            for unit in 0..30 {
                engine.round().unwrap();
                let view = engine.view();
                let states = (0..view.agents()).flat_map(|i| view.state(i));
                largest = states.fold(largest, |largest, x| largest.max(x.abs()));
                let error = measure(&view).unwrap().conservation_error.unwrap_or(0.0);
                prop_assert!(error < 1e-13 * largest, "{} after {unit}: {error:e} of {largest:e}", kind.name);
            }
        }
    }

    #[test]
    fn a_log_replays_to_the_same_bits(digraph in strongly_connected(6), clock in clocks()) {
        let problem = quadratic(digraph.agents(), 0.3);
        let method = Smtpp::new(0.3).unwrap();
        let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let setup = setup(&method, &problem, &topology, 0.02);
        let mut first = Asynchronous::logging(setup, clock).unwrap();
        (0..25).try_for_each(|_| first.round()).unwrap();
        let log = first.log().unwrap();
        let log = Log::from_bytes(&log.to_bytes()).unwrap();
        let mut again = Asynchronous::replay(setup, &log).unwrap();
        for _ in 0..log.units() {
            again.round().unwrap();
        }
        prop_assert_eq!(again.state_hash(), log.state_hash());
        prop_assert_eq!(measure(&again.view()).unwrap(), measure(&first.view()).unwrap());
        prop_assert_eq!(again.wakes(), log.wakes());
        again.round().unwrap(); // nothing wakes after its end
        prop_assert_eq!(again.state_hash(), log.state_hash());
    }
}

/// What agents hold is *not* conserved by itself: what is on its way makes the difference.
#[test]
fn mass_on_its_way_is_missing_in_what_agents_hold() {
    let problem = quadratic(9, 0.0);
    let topology =
        Topology::from_digraphs(&[families::ring(9).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let mut engine = Asynchronous::new(setup(&PUSH_PULL, &problem, &topology, 0.01), ROUGH).unwrap();
    (0..20).try_for_each(|_| engine.round()).unwrap();
    let view = engine.view();
    let held: f64 = (0..9).map(|i| view.vector(i, 1)[0] - view.vector(i, 2)[0]).sum();
    assert!(held.abs() > 1e-3, "{held:e}");
    assert!(measure(&view).unwrap().conservation_error.unwrap() < 1e-14);
}

/// Those that do not run here, by name, so that none slips in.
#[test]
fn only_these_need_rounds() {
    let complete = Topology::complete(9).unwrap();
    let refused: Vec<&str> =
        KINDS.iter().filter(|kind| refusal(kind, &complete)).map(|kind| kind.name).collect();
    let mut expected = [
        &["dsmt", "dsmt-lca", "multi-gossip", "local-dsmt"][..], //                 several exchanges a round
        &["compressed-smtpp", "cpp", "rcpp", "c-gt", "beer", "motef"], //           copies of others' state
        &["exact-diffusion", "d2"], //                                              a memory of what W did
        &["frost"], //                                                              one π_R for all steps
        &["csgdm", "sgd", "central-storm", "adam"], //                              no network at all
    ]
    .concat();
    let mut refused = refused;
    refused.sort_unstable();
    expected.sort_unstable();
    assert_eq!(refused, expected);
}

/// Every method of the registry either is refused, or comes to where it should: trackers to the minimiser,
/// whoever is slow; others, where all are as fast, to a neighbourhood that shrinks with the step. Push-sum
/// bears no long silence, and says when there was one.
#[test]
fn every_method_is_refused_or_comes_to_the_minimiser() {
    let problem = quadratic(9, 0.0);
    for (kind, graph) in methods() {
        let topology = topology(kind, graph, &[families::exponential(9).unwrap()], 4);
        if refusal(kind, &topology) {
            continue;
        }
        let (method, name) = (build(kind), format!("{} ({graph:?})", kind.name));
        let started = |effective: f64, clock: Clock| {
            let η = raw_step(kind, &topology, effective);
            Asynchronous::new(setup(&*method, &problem, &topology, η), clock).unwrap()
        };
        let farthest = |engine: &Asynchronous<'_>| {
            let far = |i| distance(engine.view().estimate(i), problem.minimiser());
            (0..9).map(far).fold(0.0, f64::max)
        };
        let push_sum = method.roles().weight.is_some();
        let mut rough = started(0.01, ROUGH);
        (0..2000).try_for_each(|_| rough.round()).unwrap();
        assert_eq!(rough.starved().is_some(), push_sum, "{name}");
        if method.roles().tracker.is_some() {
            let slow = Clock { slow_share: 0.2, slow_factor: 2.0, ..MILD };
            let mut engine = started(0.01, if push_sum { slow } else { ROUGH });
            (0..30_000).try_for_each(|_| engine.round()).unwrap();
            assert!(farthest(&engine) < 1e-9, "{name} is {:e} away", farthest(&engine));
            continue;
        }
        // the mean square of the farthest agent's distance, after as many units of time as 1/η asks for
        let neighbourhood = |effective: f64| {
            let mut engine = started(effective, MILD);
            let units = (50.0 / effective) as u32;
            (0..units).try_for_each(|_| engine.round()).unwrap();
            let mut sum = 0.0;
            for _ in 0..units {
                engine.round().unwrap();
                sum += farthest(&engine).powi(2);
            }
            assert_eq!(engine.starved(), None, "{name}");
            sum / f64::from(units)
        };
        let [far, closer] = [0.01, 0.0025].map(neighbourhood);
        assert!(far < 1e-2 && closer < 0.5 * far, "{name}: {far:e}, then {closer:e}");
    }
}

/// Whoever hears one very slow agent alone has next to no push-sum weight while it waits for it.
#[test]
fn push_sum_weights_that_run_dry_are_said() {
    let problem = quadratic(9, 0.0);
    let ring =
        Topology::from_digraphs(&[families::ring(9).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let ended = |method: &dyn Method, slow_factor: f64| {
        let clock = Clock { slow_share: 0.12, slow_factor, ..Clock::EVEN };
        let mut engine = Asynchronous::new(setup(method, &problem, &ring, 0.001), clock).unwrap();
        engine.run(200, 100, &mut ()).unwrap().status
    };
    let sgp = build(methods::kind("sgp").unwrap());
    assert_eq!(ended(&*sgp, 2.0), Status::Completed);
    assert!(matches!(ended(&*sgp, 20.0), Status::Starved { round: 10..20 }));
    assert_eq!(ended(&PUSH_PULL, 20.0), Status::Completed);
}

/// SGP subtracts γg_i whenever i wakes, so that agents count by their speed r_i: it minimises Σ r_i f_i.
#[test]
fn sgp_has_a_bias_towards_fast_agents() {
    let problem = quadratic(9, 0.0);
    let topology =
        Topology::from_digraphs(&[families::exponential(9).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let sgp = build(methods::kind("sgp").unwrap());
    let clock = Clock { slow_share: 0.34, slow_factor: 8.0, ..Clock::EVEN };
    let mut engine = Asynchronous::new(setup(&*sgp, &problem, &topology, 0.002), clock).unwrap();
    (0..8000).try_for_each(|_| engine.round()).unwrap();
    let mean = average(&engine.view()).unwrap();
    let gradient = |weight: &dyn Fn(usize) -> f64| -> f64 {
        let mut sum = vec![0.0; problem.dim()];
        for i in 0..9 {
            let mut g = vec![0.0; problem.dim()];
            problem.exact(i, &mean, &mut g);
            sum.iter_mut().zip(g).for_each(|(sum, g)| *sum += weight(i) * g);
        }
        let total: f64 = (0..9).map(weight).sum();
        sum.iter().map(|g| (g / total).powi(2)).sum()
    };
    let (plain, by_speed) = (gradient(&|_| 1.0), gradient(&|i| engine.steps(i) as f64));
    assert!(plain > 1e-2 && by_speed < 1e-3 * plain, "‖∇F‖² = {plain:e}, by speed {by_speed:e}");
}

#[test]
fn threads_change_nothing() {
    let problem = logistic(9, Batch::Sampled(1));
    let topology =
        Topology::from_digraphs(&[families::exponential(9).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let hash = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut engine = Asynchronous::new(setup(&PUSH_PULL, &problem, &topology, 0.05), ROUGH).unwrap();
            (0..50).try_for_each(|_| engine.round()).unwrap();
            (engine.state_hash(), measure(&engine.view()).unwrap())
        })
    };
    assert_eq!(hash(1), hash(4));
}

#[test]
fn what_cannot_run_without_rounds_is_refused_with_the_reason() {
    let problem = quadratic(9, 0.0);
    let complete = Topology::complete(9).unwrap();
    let refused = |method: &dyn Method, topology: &Topology| {
        Asynchronous::new(setup(method, &problem, topology, 0.1), Clock::EVEN).unwrap_err().to_string()
    };
    assert!(refused(&Csgdm::new(0.1).unwrap(), &complete).contains("waits for everyone"));
    let (_, changing) = digraphs().pop().unwrap();
    let changing = Topology::from_digraphs(&changing, Subgraph::Full, Weights::Uniform, 0).unwrap();
    assert!(refused(&PUSH_PULL, &changing).contains("changes with the round"));
    let bad = Clock { loss: 1.5, ..Clock::EVEN };
    let error = Asynchronous::new(setup(&PUSH_PULL, &problem, &complete, 0.1), bad).unwrap_err();
    assert!(error.to_string().contains("clock: `loss` = 1.5"), "{error}");
    let nine = quadratic(8, 0.0);
    let error = Asynchronous::new(setup(&PUSH_PULL, &nine, &complete, 0.1), Clock::EVEN).unwrap_err();
    assert!(error.to_string().contains("the problem has 8 agents"), "{error}");
}

/// Pull: before anything is heard an agent's own row stands in for its neighbour's; then the newest counts.
#[test]
fn who_has_not_been_heard_is_replaced_by_oneself() {
    // 0 hears 1 only, with no weight of its own; latency 2.5: the first row arrives before its wake at 3
    let one = |from, to| Link { from, to, weight: 1.0 };
    let pull = Mixing::new(2, Stochastic::Rows, [one(1, 0), one(1, 1)]).unwrap();
    let push = Mixing::new(2, Stochastic::Columns, [one(0, 1), one(1, 1)]).unwrap();
    let topology = Topology::fixed(pull, push).unwrap();
    let problem = quadratic(2, 0.0);
    let clock = Clock { latency: 2.5, ..Clock::EVEN };
    let mut engine = Asynchronous::new(setup(&PUSH_PULL, &problem, &topology, 0.1), clock).unwrap();
    let mut models = vec![];
    for _ in 0..3 {
        let view = engine.view();
        let descended = |i| -> Vec<f64> {
            view.estimate(i).iter().zip(view.vector(i, 1)).map(|(x, v)| x - 0.1 * v).collect()
        };
        models.push([descended(0), descended(1)]);
        engine.round().unwrap();
        let now = engine.view().estimate(0).to_vec();
        let at = models.len();
        assert_eq!(now, if at < 3 { models[at - 1][0].clone() } else { models[0][1].clone() }, "after {at}");
    }
}

#[test]
fn a_synchronous_round_lasts_as_long_as_what_it_waits_for() {
    let problem = quadratic(9, 0.0);
    let ring =
        Topology::from_digraphs(&[families::ring(9).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let timed = |method: &dyn Method, clock, rounds| {
        let setup = setup(method, &problem, &ring, 0.01);
        let mut engine = Synchronous::new(Box::new(Simulator::new(setup).unwrap()), clock).unwrap();
        let mut alone = Simulator::new(setup).unwrap();
        for _ in 0..rounds {
            engine.round().unwrap();
            alone.round().unwrap();
        }
        assert_eq!(engine.state_hash(), alone.state_hash());
        let measured = measure(&engine.view()).unwrap();
        assert_eq!(without_time(measured), measure(&alone.view()).unwrap());
        measured.time.unwrap()
    };
    let even = Clock::EVEN;
    assert_eq!(timed(&PUSH_PULL, even, 40), 40.0);
    assert_eq!(timed(&PUSH_PULL, Clock { latency: 0.5, ..even }, 40), 60.0);
    // two of nine are slow: everyone goes at their pace
    assert_eq!(timed(&PUSH_PULL, Clock { slow_share: 0.2, slow_factor: 5.0, ..even }, 40), 200.0);
    // a lost message costs another journey: the slowest of all attempts is waited for
    let lossy = timed(&PUSH_PULL, Clock { latency: 0.5, loss: 0.3, ..even }, 40);
    assert!(lossy > 70.0, "{lossy}");
    // push-sum methods do not wait for the pull graph, so they cannot be later
    let sgp = build(methods::kind("sgp").unwrap());
    let [both, one] = [&PUSH_PULL as &dyn Method, &*sgp].map(|method| timed(method, ROUGH, 40));
    assert!(one < both, "{one} and {both}");
    // waiting for those one hears is never slower than a barrier for all
    let random = Clock { step: Times::Exponential, ..even };
    assert!(timed(&PUSH_PULL, random, 400) < 400.0 * 2.83, "the mean of the largest of nine");
    assert!(timed(&PUSH_PULL, random, 400) > 400.0);
}

#[test]
fn a_thousand_agents_are_quick() {
    let (n, units) = (1000, 100);
    let problem = logistic(n, Batch::Sampled(1));
    let topology =
        Topology::from_digraphs(&[families::exponential(n).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let clock = Clock { step: Times::Exponential, ..ROUGH };
    let mut engine = Asynchronous::new(setup(&PUSH_PULL, &problem, &topology, 0.01), clock).unwrap();
    let started = Instant::now();
    (0..units).try_for_each(|_| engine.round()).unwrap();
    let seconds = started.elapsed().as_secs_f64();
    let wakes = engine.wakes() as f64;
    println!("{wakes} wakes and {} messages in {seconds:.2} s", wakes * 20.0);
    assert!(wakes > 0.7 * (n * units) as f64 && seconds < 60.0);
}
