//! Methods that are data: those made of rules have the rules' bits everywhere, and any programs those of the
//! interpreter.
#![allow(clippy::unwrap_used)]

use oneway::engine::asynchronous::{Asynchronous, Clock, Times};
use oneway::engine::unreliable::{Faults, Unreliable};
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Topology, families};
use oneway::method::{
    Agents, Ask, Carries, DefinedExchange, Definition, Expression, Expressions, Gradient, Gradients, Hearing,
    Input, Kept, Kernel, Method, Network, OfRound, Points, Profile, Reliance, Roles, Round, Rows, RowsMut,
    Sending, Sizes, Traced,
};
use oneway::methods::{KINDS, kind};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::numeric::{Float, Instruction, Symbol, Tape};
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::testing::conformance_of;
use oneway::theory::stability::limit;

use crate::common::{build, logistic, quadratic, rules, topology};

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
        let traced = Traced::from_method(&name, &*method).unwrap();
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
        let traced = Traced::from_method(kind.name, &*method).unwrap();
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

/// Where a rule is linear, the theory says the same of it as data.
#[test]
fn the_theory_takes_methods_that_are_data() {
    let digraph = families::flower(12, 3).unwrap();
    for name in ["smtpp", "push-pull", "dsgt", "sgp"] {
        let kind = kind(name).unwrap();
        let (method, topology) =
            (build(kind), topology(kind, kind.graphs[0], std::slice::from_ref(&digraph), 0));
        let traced = Traced::from_method(name, &*method).unwrap();
        let [compiled, data] =
            [&*method, &traced as &dyn Method].map(|method| limit(method, &topology).unwrap());
        assert_eq!(compiled.raw.to_bits(), data.raw.to_bits(), "{name}");
    }
    let adam = build(kind("adam").unwrap());
    let error =
        limit(&Traced::from_method("mine", &*adam).unwrap(), &Topology::complete(3).unwrap()).unwrap_err();
    assert!(error.to_string().contains("theory has no answer here"), "{error}");
    let mut of = Expressions::new("steep", &["x", "g"], [1, 0], [OfRound::Zero; 2]).unwrap();
    let error =
        limit(&descent(&mut of, Expressions::sign).unwrap(), &Topology::complete(3).unwrap()).unwrap_err();
    assert!(error.to_string().contains("chooses by the sign of a number that varies"), "{error}");
}

/// x⁺ = Σ_j W_ij x_j − η·of(g), written expression by expression.
fn descent(
    of: &mut Expressions,
    along: impl FnOnce(&mut Expressions, Expression) -> oneway::Result<Expression>,
) -> oneway::Result<Traced> {
    let (η, x, g) = (of.input(Input::Step)?, of.input(Input::State(0))?, of.input(Input::State(1))?);
    let (pulled, new, x_0) =
        (of.input(Input::Pulled(0))?, of.input(Input::Gradient)?, of.input(Input::Start)?);
    let along = along(of, g)?;
    let step = of.mul(η, along)?;
    let x_next = of.sub(pulled, step)?;
    Traced::new(Definition {
        name: "descent".to_owned(),
        network: Network::Balanced,
        carries: Carries::Nothing,
        names: vec!["x".to_owned(), "g".to_owned()],
        sends: [1, 0],
        roles: Roles::default(),
        reliance: Reliance::Nothing,
        constants: [OfRound::Zero; 2],
        start_ask: Ask::ONE,
        start: of.start(&[x_0, new])?,
        exchanges: vec![DefinedExchange {
            sends: [true; 2],
            ask: Ask::ONE,
            send: of.send(&[x], &[])?,
            points: of.points([x_next, x])?,
            update: of.update(&[x_next, new])?,
        }],
    })
}

#[test]
fn what_is_written_as_expressions_prints_and_runs() {
    let written = |along: fn(&mut Expressions, Expression) -> oneway::Result<Expression>| {
        let mut of = Expressions::new("descent", &["x", "g"], [1, 0], [OfRound::Zero; 2]).unwrap();
        descent(&mut of, along).unwrap()
    };
    let equation = |traced: &Traced| traced.trace().unwrap().equations()[0].clone();
    assert_eq!(equation(&written(|_, g| Ok(g))), "x⁺ = Wx − ηg");
    assert_eq!(equation(&written(Expressions::sign)), "x⁺ = Wx − η·sign(g)");
    assert_eq!(equation(&written(Expressions::abs)), "x⁺ = Wx − η|g|");
    let clipped = written(|of, g| {
        let κ = of.parameter("κ", 0.5)?;
        let minus = of.neg(κ)?;
        let below = of.min(g, κ)?;
        of.max(below, minus)
    });
    assert_eq!(equation(&clipped), "x⁺ = Wx − η·max(min(g, κ), −κ)");
    let update = &clipped.trace().unwrap().exchanges[0].update;
    let at = |g: f64| update.run(&[0.1, 1.0, 0.0, 0.0, 0.0, 9.0, g, 1.0, 0.0, 0.0])[0];
    assert_eq!([2.0, 0.25, -3.0].map(at), [1.0 - 0.1 * 0.5, 1.0 - 0.1 * 0.25, 1.0 - 0.1 * -0.5]);
    // a formula that doubles with every step is cut short, and still runs
    let long = written(|of, g| (0..120).try_fold(g, |sum, _| of.add(sum, sum)));
    assert!(equation(&long).len() < 10_000);
}

#[test]
fn a_method_that_is_data_passes_all_checks() {
    let traced = Traced::from_method("my-smtpp", &*build(kind("smtpp").unwrap())).unwrap();
    let report = conformance_of(&traced);
    assert!(report.is_ok() && report.to_string().starts_with("my-smtpp: ok"), "{report}");
}

/// Each refusal names the part that is wrong, and says what is wrong with it.
#[test]
fn what_is_wrong_with_a_definition_is_said() {
    let good = Traced::from_method("good", &*build(kind("smtpp").unwrap())).unwrap().definition().clone();
    let refused = |spoil: &dyn Fn(&mut Definition), expected: &str| {
        let mut bad = good.clone();
        spoil(&mut bad);
        let error = Traced::new(bad).unwrap_err().to_string();
        assert!(error.contains(expected), "{error:?} does not say {expected:?}");
    };
    let late = Tape::record(|| (0..90).map(|_| Symbol::input("")).collect()).results[89];
    refused(&|bad| bad.name.clear(), "name: a method has a name");
    refused(&|bad| bad.names.clear(), "state: an agent keeps 1 to 32 numbers of a coordinate, not 0");
    refused(&|bad| bad.names = vec![String::new(); 33], "not 33");
    refused(
        &|bad| bad.names[1] = "v".repeat(1000),
        "state, number 1: the name `vvvvvvvvvvvv…` has 1000 bytes",
    );
    refused(&|bad| bad.sends = [9, 1], "sends: at most 8");
    refused(&|bad| bad.sends = [1, 2], "send: it makes 3 numbers, not 2");
    refused(&|bad| bad.roles.tracker = Some(3), "roles: `tracker` is number 3 of a state that has 3");
    refused(
        &|bad| bad.roles.tracker_sent = Some(1),
        "roles: `tracker_sent` is number 1 of a push row that has 1",
    );
    refused(&|bad| bad.roles.weight = Some(0), "roles: `weight`");
    refused(&|bad| bad.roles.tracked = None, "roles: `tracker` and `tracked` belong together");
    refused(&|bad| bad.network = Network::PushSum, "network: on this network nothing is pulled");
    refused(&|bad| bad.network = Network::PullOnly, "network: on a pull-only network nothing is pushed");
    refused(&|bad| bad.carries = Carries::Eigenvector, "network: rows of Rᵏ");
    refused(
        &|bad| bad.start_ask = Ask::AllComponents,
        "start: a method that is coordinate by coordinate cannot ask",
    );
    refused(
        &|bad| bad.exchanges[0].ask = Ask::Samples(0),
        "exchange 0: 1 to 1048576 samples can be asked for, not 0",
    );
    refused(&|bad| bad.exchanges.clear(), "exchanges: a round has 1 to 16 exchanges, not 0");
    refused(&|bad| bad.constants[0] = OfRound::Power(f64::NAN), "constants: the power of NaN is no number");
    refused(&|bad| bad.start.results.clear(), "start: it makes 3 numbers, not 0");
    refused(&|bad| bad.start.instructions.truncate(3), "start: it has 8 inputs");
    refused(
        &|bad| bad.exchanges[0].update.results[1] = late,
        "update: result 1 is step 89 of a program that has",
    );
    refused(&|bad| bad.exchanges[0].update.instructions.push(Instruction::Sqrt(late)), "uses step 89");
    refused(
        &|bad| bad.exchanges[0].points.instructions.push(Instruction::Constant(f64::INFINITY)),
        "points: step 10: inf is no number to compute with",
    );
    refused(
        &|bad| {
            let update = &mut bad.exchanges[0].update;
            for step in 0..300 {
                let last = Tape::record(|| (0..400).map(|_| Symbol::input("")).collect()).results;
                let at = update.instructions.len();
                update.instructions.push(Instruction::Add(last[at - 1], last[step % 5]));
                update.results[0] = last[at];
            }
        },
        "update: results need at most 256 steps",
    );
    let [mut one, mut other] =
        [(); 2].map(|()| Expressions::new("two", &["x"], [1, 0], [OfRound::Zero; 2]).unwrap());
    let (x, y) = (one.input(Input::State(0)).unwrap(), other.input(Input::State(0)).unwrap());
    assert!(one.add(x, y).unwrap_err().to_string().contains("belongs to another method"));
    assert!(one.input(Input::Pushed(0)).unwrap_err().to_string().contains("no number 0 of what is pushed"));
    assert!(one.constant(f64::NAN).is_err() && one.parameter("λ", f64::NAN).is_err());
    let pulled = one.input(Input::Pulled(0)).unwrap();
    let error = one.send(&[pulled], &[]).unwrap_err().to_string();
    assert_eq!(error, "method `two`: send: number 0 of what was pulled is not known there");
    assert!(Traced::from_method("saga", &*build(kind("push-saga").unwrap())).is_err());
}
