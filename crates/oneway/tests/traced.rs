//! Methods that are data: those made of rules have the rules' bits everywhere, and any programs those of the interpreter.
#![allow(clippy::unwrap_used)]

mod common;
mod random_programs;

use common::{build, logistic, quadratic, rules, topology};
use oneway::engine::asynchronous::{Asynchronous, Clock, Times};
use oneway::engine::unreliable::{Faults, Unreliable};
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::families;
use oneway::method::{
    Agents, Ask, Gradient, Gradients, Hearing, Kept, Kernel, Method, Points, Profile, Round, Rows, RowsMut,
    Sending, Sizes, Traced,
};
use oneway::methods::KINDS;
use oneway::numeric::Float;
use oneway::numeric::sample::{Draws, Purpose};
use oneway::problem::Problem;
use oneway::problems::Batch;

const SEED: u64 = 5;

/// Rows of numbers drawn by chance.
struct Chance(Draws);

impl Chance {
    fn rows<T: Float>(&mut self, count: usize, width: usize) -> Vec<T> {
        (0..count * width).map(|_| T::from_f64(self.0.normal().abs() + 0.01)).collect()
    }
}

fn bits<T: Float>(numbers: &[T]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_f64().to_bits()).collect()
}

/// All that a kernel makes of rows drawn by chance, of agents one after another and of some that are not.
fn made<T: Float>(kernel: &dyn Kernel<T>, profile: &dyn Fn(Sizes) -> Profile) -> Vec<u64> {
    const AGENTS: usize = 9;
    let mut all = vec![];
    for d in [1, 3, 8, 11, 24, 123, 517, 1100] {
        let mut chance = Chance(Draws::new(SEED, Purpose::Problem, d, 0));
        let profile = profile(Sizes { agents: AGENTS, dim: d, samples: None });
        let [state, pull, push] = profile.widths(d);
        let at = |phase| {
            let kept = Kept::Share(0.375);
            Round { k: 2, phase, turn: 0, η: 0.3, agent: 0, agents: AGENTS, d, seed: SEED, kept }
        };
        let (x, mut g, mut other) = (chance.rows::<T>(1, d), chance.rows::<T>(1, d), chance.rows::<T>(1, d));
        let mut first = vec![T::default(); state];
        let with_other = matches!(profile.start, Ask::BothPoints | Ask::Samples(2..));
        let next = if profile.start == Ask::Nothing { &mut [] } else { &mut g[..] };
        let other = if with_other { &mut other[..] } else { &mut [] };
        kernel.start(at(0), &x, Gradient { next, other, sample: 0 }, &mut first);
        all.extend(bits(&first));
        for (phase, exchange) in (0..).zip(&profile.exchanges) {
            for who in [Agents::Range { first: 2, len: 5 }, Agents::List(&[2, 3, 5, 6, 8]), Agents::one(4)] {
                let n = who.len();
                let mut states = chance.rows::<T>(AGENTS, state);
                let (mut pulls, mut pushes) = (vec![T::default(); n * pull], vec![T::default(); n * push]);
                let mut sending = Sending {
                    agents: who,
                    states: RowsMut::new(&mut states, state, state),
                    pulls: RowsMut::new(&mut pulls, pull, pull),
                    pushes: RowsMut::new(&mut pushes, push, push),
                };
                kernel.send_block(at(phase), &mut sending);
                all.extend([bits(&pulls), bits(&pushes)].concat());
                let (pulled, pushed) = (chance.rows::<T>(n, pull), chance.rows::<T>(n, push));
                let mut hearing = Hearing {
                    agents: who,
                    first: 1,
                    states: RowsMut::new(&mut states, state, state),
                    pulled: Rows::new(&pulled, pull, pull),
                    pushed: Rows::new(&pushed, push, push),
                };
                let ask = exchange.turns[0];
                let (both, some) = (ask == Ask::BothPoints, ask != Ask::Nothing);
                let [mut next, mut last] = [(); 2].map(|()| vec![T::default(); n * d]);
                let mut points = Points {
                    next: if some { RowsMut::new(&mut next, d, d) } else { RowsMut::none() },
                    last: if both { RowsMut::new(&mut last, d, d) } else { RowsMut::none() },
                };
                kernel.point_block(at(phase), &mut hearing, &mut points);
                all.extend([bits(&next), bits(&last)].concat());
                let (mut g, mut other) = (chance.rows::<T>(n, d), chance.rows::<T>(n, d));
                let second = both || matches!(ask, Ask::Samples(2..));
                let mut gradients = Gradients {
                    next: if some { RowsMut::new(&mut g, d, d) } else { RowsMut::none() },
                    other: if second { RowsMut::new(&mut other, d, d) } else { RowsMut::none() },
                    samples: &[],
                };
                kernel.update_block(at(phase), &mut hearing, &mut gradients);
                all.extend(bits(&states));
            }
        }
    }
    all
}

/// Every rule of the registry, with every estimator, in both precisions: what is sent, points and updates.
#[test]
fn rules_as_data_have_the_bits_of_the_rules() {
    for (name, method) in rules() {
        let traced = Traced::of(&name, &*method).unwrap();
        let [compiled, data] =
            [&*method, &traced as &dyn Method].map(|method| made(method, &|s| method.profile(s)));
        assert!(compiled == data, "{name}");
        let single = |method: &dyn Method| made(method.single_precision().unwrap(), &|s| method.profile(s));
        assert!(single(&*method) == single(&traced), "{name} in single precision");
        assert_eq!(method.trace(), traced.trace(), "{name}");
        let sizes = Sizes { agents: 7, dim: 4, samples: None };
        assert_eq!(format!("{:?}", method.profile(sizes)), format!("{:?}", traced.profile(sizes)), "{name}");
    }
}

fn hash<'a>(mut engine: impl Engine<'a>) -> String {
    (0..12).try_for_each(|_| engine.round()).unwrap();
    engine.state_hash()
}

/// The simulator in both precisions, messages that are lost, agents that wake when they like.
#[test]
fn rules_as_data_have_the_bits_of_the_rules_in_every_engine() {
    let (n, schedule) = (7, Schedule::constant(0.02).unwrap());
    let (smooth, sampled) = (quadratic(n, 0.3), logistic(n, Batch::Sampled(2)));
    let mut engines = [0; 4];
    for kind in KINDS {
        let method = build(kind);
        if method.trace().is_none() {
            continue;
        }
        let traced = Traced::of(kind.name, &*method).unwrap();
        let topology = topology(kind, kind.graphs[0], &[families::exponential(n).unwrap()], 0);
        for problem in [&smooth as &dyn Problem, &sampled] {
            let setups = [&*method, &traced as &dyn Method].map(|method| Setup {
                method,
                problem,
                topology: &topology,
                schedule,
                seed: SEED,
            });
            let same = |run: &dyn Fn(Setup<'_>) -> Option<String>, engine: &mut usize, what: &str| {
                let [compiled, data] = setups.map(run);
                assert_eq!(compiled, data, "{}, {what}", kind.name);
                *engine += usize::from(data.is_some());
            };
            let [first, second, third, fourth] = &mut engines;
            same(&|setup| Some(hash(Simulator::new(setup).unwrap())), first, "simulator");
            let single = |setup: Setup<'_>| Some(hash(Simulator::<f32>::with_precision(setup).unwrap()));
            same(&single, second, "single precision");
            let faults = Faults { loss: 0.2, ..Faults::default() };
            same(&|setup| Some(hash(Unreliable::new(setup, faults.clone()).ok()?)), third, "unreliable");
            let clock = Clock { step: Times::Exponential, ..Clock::EVEN };
            same(&|setup| Some(hash(Asynchronous::new(setup, clock).ok()?)), fourth, "asynchronous");
        }
    }
    assert!(engines[0] == engines[1] && engines.iter().all(|ran| *ran > 8), "{engines:?}");
}
