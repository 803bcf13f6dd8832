//! Several exchanges a round, local updates, and recipes that put all of it together.
#![allow(clippy::unwrap_used)]

use oneway::Result;
use oneway::codec::codec;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::metrics::measure;
use oneway::engine::{Engine, Setup};
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::{Method, Network, Reliance};
use oneway::methods::combine::{Compression, Damping, LocalUpdates, MultiGossip, Recipe};
use oneway::methods::estimator::{ESTIMATORS, estimator};
use oneway::methods::{KINDS, Kind, PUSH_PULL, kind};
use oneway::numeric::sample::{Draws, Purpose};
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway::problems::Batch;
use oneway::theory::stability::{limit, rate};

use crate::combined::bare;
use crate::common::{
    advance, build, distance, estimates, logistic, methods, quadratic, raw_step as step, simulate, topology,
};

const ROUNDS: usize = 30;

/// Once is once: with K = 1 or Q = 1 every method keeps its bits.
#[test]
fn one_exchange_and_one_step_are_the_method_itself() {
    let problem = logistic(9, Batch::Sampled(1));
    for (kind, graph) in methods() {
        let topology = topology(kind, graph, &[families::flower(9, 3).unwrap()], 0);
        let hash = |method: &dyn Method| {
            let mut simulator = simulate(method, &problem, &topology, 0.01);
            advance(&mut simulator, ROUNDS);
            (simulator.state_hash(), measure(&simulator.view()).unwrap())
        };
        let plain = hash(&*build(kind));
        assert_eq!(plain, hash(&MultiGossip::new("K", build(kind), 1).unwrap()), "{}", kind.name);
        assert_eq!(plain, hash(&LocalUpdates::new("Q", build(kind), 1).unwrap()), "{}", kind.name);
    }
}

/// A combinator has the precisions of its method, and in each of them once is once; codecs see doubles only.
#[test]
fn combinators_have_the_precisions_of_their_methods() {
    let problem = logistic(9, Batch::Sampled(1));
    for (kind, graph) in methods() {
        let topology = topology(kind, graph, &[families::flower(9, 3).unwrap()], 0);
        let hash = |method: &dyn Method| {
            let schedule = Schedule::constant(0.01).unwrap();
            let setup = Setup { method, problem: &problem, topology: &topology, schedule, seed: 1 };
            let mut simulator = Simulator::<f32>::with_precision(setup).ok()?;
            (0..ROUNDS).for_each(|_| simulator.round().unwrap());
            Some(simulator.state_hash())
        };
        let plain = hash(&*build(kind));
        assert_eq!(plain.is_some(), build(kind).single_precision().is_some(), "{}", kind.name);
        assert_eq!(plain, hash(&MultiGossip::new("K", build(kind), 1).unwrap()), "{}", kind.name);
        assert_eq!(plain, hash(&LocalUpdates::new("Q", build(kind), 1).unwrap()), "{}", kind.name);
        if let Ok(gossip) = MultiGossip::new("K", build(kind), 2) {
            let found = hash(&gossip);
            assert_eq!(plain.is_some(), found.is_some(), "{}", kind.name);
            assert!(plain.is_none() || plain != found, "{}: two exchanges are one", kind.name);
        }
    }
    let recipe = Recipe {
        compression: Some(Compression::new(codec("sign").unwrap(), []).unwrap()),
        ..Recipe::new(kind("push-pull").unwrap(), []).unwrap()
    };
    assert!(recipe.build().unwrap().single_precision().is_none());
}

/// R^K, entry by entry.
fn power(mixing: &Mixing, exponent: usize, stochastic: Stochastic) -> Mixing {
    let n = mixing.agents();
    let mut product: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(i == j)).collect()).collect();
    for _ in 0..exponent {
        let entry = |i: usize, j: usize| (0..n).map(|k| mixing.weight(i, k) * product[k][j]).sum();
        product = (0..n).map(|i| (0..n).map(|j| entry(i, j)).collect()).collect();
    }
    let links = (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let links: Vec<Link> = links
        .map(|(to, from)| Link { from, to, weight: product[to][from] })
        .filter(|link| link.weight > 0.0)
        .collect();
    Mixing::new(n, stochastic, links).unwrap()
}

/// K exchanges are one exchange on the network with R^K and C^K.
#[test]
fn several_exchanges_are_one_with_powers_of_the_weights() {
    let problem = logistic(7, Batch::Full);
    for kind in bare() {
        let method = build(kind);
        if method.phases() > 1 || ["r-fast", "ab-saga", "push-saga"].contains(&kind.name) {
            continue; // R-FAST asks for its own weight, which R^K does not tell; SAGA draws in the last exchange
        }
        let once = topology(kind, kind.graphs[0], &[families::flower(7, 3).unwrap()], 0);
        let pair = once.at(0);
        for exchanges in [2, 3] {
            let pull = power(&pair.pull, exchanges, Stochastic::Rows);
            let push = power(&pair.push, exchanges, Stochastic::Columns);
            let at_once = Topology::fixed(pull, push).unwrap();
            let η = step(kind, &once, 0.02);
            let mut expected = simulate(&*method, &problem, &at_once, η);
            let gossip = MultiGossip::new("K", build(kind), exchanges).unwrap();
            let mut found = simulate(&gossip, &problem, &once, η);
            for _ in 0..ROUNDS {
                expected.round().unwrap();
                found.round().unwrap();
                let far = distance(&estimates(&found), &estimates(&expected));
                assert!(far < 1e-11, "{} with {exchanges}: off by {far:e}", kind.name);
            }
            let bytes = |method: &dyn Method| {
                let mut simulator = simulate(method, &problem, &once, 0.0001);
                advance(&mut simulator, 3);
                measure(&simulator.view()).unwrap().bytes_sent.unwrap()
            };
            assert_eq!(bytes(&gossip), exchanges as u64 * bytes(&*method), "{}", kind.name);
        }
    }
}

/// The registry's multi-gossip: K exchanges, and the mean of K gradients with samples of their own.
#[test]
fn multi_gossip_averages_as_many_samples_as_it_exchanges() {
    let kind = kind("multi-gossip").unwrap();
    let problem = quadratic(5, 0.7);
    let topology = topology(kind, Subgraph::Full, &[families::flower(5, 2).unwrap()], 0);
    let hash = |method: &dyn Method| {
        let mut simulator = simulate(method, &problem, &topology, 0.01);
        advance(&mut simulator, ROUNDS);
        simulator.state_hash()
    };
    assert_eq!(hash(&*kind.method([("gossip", 1.0)]).unwrap()), hash(&PUSH_PULL));

    let three = kind.method([("gossip", 3.0)]).unwrap();
    let simulator = simulate(&*three, &problem, &topology, 0.01);
    let d = problem.dim();
    for i in 0..5 {
        let mut draws = Draws::new(5, Purpose::Gradient, i, 0);
        let mut mean = vec![0.0; d];
        for _ in 0..3 {
            let mut g = vec![0.0; d];
            problem.gradient(i, &vec![0.0; d], &mut draws, &mut g);
            mean.iter_mut().zip(g).for_each(|(mean, g)| *mean += g / 3.0);
        }
        assert!(distance(simulator.view().vector(i, 1), &mean) < 1e-14, "y₀ is the mean of three gradients");
    }
}

/// Alone, an agent with Q local steps makes Q rounds in one, of any method.
#[test]
fn local_steps_of_one_agent_are_its_rounds() {
    let problem = quadratic(1, 0.0);
    let alone = Digraph::from_edges(1, []).unwrap();
    for kind in bare() {
        let topology = topology(kind, kind.graphs[0], std::slice::from_ref(&alone), 0);
        let method = build(kind);
        if kind.name.ends_with("saga") || method.reliance() != Reliance::Nothing {
            continue; // which samples it draws depends on the round; or it is refused
        }
        let mut plain = simulate(&*method, &problem, &topology, 0.05);
        let local = LocalUpdates::new("Q", build(kind), 4).unwrap();
        let mut local = simulate(&local, &problem, &topology, 0.05);
        for _ in 0..10 {
            advance(&mut plain, 4);
            local.round().unwrap();
            let far = distance(&estimates(&plain), &estimates(&local));
            assert!(far < 1e-13, "{}: off by {far:e}", kind.name);
        }
    }
}

/// Each local step draws a sample of its own: by hand, Push-Pull alone.
#[test]
fn local_steps_take_fresh_samples() {
    let problem = quadratic(1, 0.5);
    let topology = Topology::complete(1).unwrap();
    let local = LocalUpdates::new("Q", Box::new(PUSH_PULL), 3).unwrap();
    let mut simulator = simulate(&local, &problem, &topology, 0.1);
    advance(&mut simulator, 2);
    let d = problem.dim();
    let (mut x, mut g) = (vec![0.0; d], vec![0.0; d]);
    problem.gradient(0, &x, &mut Draws::new(5, Purpose::Gradient, 0, 0), &mut g);
    for k in 0..2 {
        let mut draws = Draws::new(5, Purpose::Gradient, 0, k + 1);
        for _ in 0..3 {
            x.iter_mut().zip(&g).for_each(|(x, g)| *x -= 0.1 * g); // alone, y = g
            problem.gradient(0, &x, &mut draws, &mut g);
        }
    }
    assert!(distance(&estimates(&simulator), &x) < 1e-14);
}

/// Lemma 2 and its kin with local steps and several exchanges, with any gradients; and x* is found all the
/// same.
#[test]
fn laws_and_solutions_stay() {
    let digraph = families::flower(7, 3).unwrap();
    let (sampled, exact) = (logistic(7, Batch::Sampled(1)), quadratic(7, 0.0));
    for kind in bare() {
        let topology = topology(kind, kind.graphs[0], std::slice::from_ref(&digraph), 0);
        let local = LocalUpdates::new("Q", build(kind), 3);
        assert_eq!(local.is_err(), build(kind).reliance() != Reliance::Nothing, "{}", kind.name);
        let mut combined: Vec<Box<dyn Method>> =
            vec![Box::new(MultiGossip::new("K", build(kind), 3).unwrap())];
        combined.extend(local.ok().map(|local| Box::new(local) as Box<dyn Method>));
        for method in &combined {
            let η = step(kind, &topology, 0.01);
            if method.check_problem(&sampled).is_ok() {
                let mut simulator = simulate(&**method, &sampled, &topology, η);
                for _ in 0..ROUNDS {
                    simulator.round().unwrap();
                    let error = measure(&simulator.view()).unwrap().conservation_error.unwrap_or(0.0);
                    // exact diffusion divides by η
                    let scale = estimates(&simulator).iter().fold(1.0, |most: f64, x| most.max(x.abs()));
                    assert!(error < 1e-11 * scale, "{method:?}: {error:e}");
                }
            }
            if method.check_problem(&exact).is_ok() && method.roles().tracker.is_some() {
                // a step that all bear, and no larger than where momentum begins to ring
                let most = step(kind, &topology, 0.1);
                let η = limit(&**method, &topology).map_or(0.3 * η, |limit| (0.3 * limit.raw).min(most));
                let mut simulator = simulate(&**method, &exact, &topology, η);
                advance(&mut simulator, 20_000);
                let expected = exact.minimiser().repeat(7);
                let far = distance(&estimates(&simulator), &expected);
                assert!(far < 1e-9, "{method:?}: {far:e} from x*");
            }
        }
    }
}

/// Local steps of a method whose rounds are linear are linear too: theory knows their limit, and the
/// simulator keeps to it.
#[test]
fn theory_knows_the_limits_of_local_steps() {
    let topology =
        Topology::from_digraphs(&[families::flower(7, 3).unwrap()], Subgraph::Full, Weights::Uniform, 0)
            .unwrap();
    let problem = oneway::problems::Quadratic::new(
        oneway::problems::QuadraticShape { dim: 2, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 },
        7,
        1,
    )
    .unwrap();
    for steps in [2, 4] {
        let local = LocalUpdates::new("Q", Box::new(PUSH_PULL), steps).unwrap();
        let raw = limit(&local, &topology).unwrap().raw;
        for (factor, converges) in [(0.95, true), (1.05, false)] {
            let span = (8.0 / rate(&local, &topology, factor * raw).unwrap().ln().abs()).ceil() as usize;
            let schedule = Schedule::constant(factor * raw).unwrap();
            let setup = Setup { method: &local, problem: &problem, topology: &topology, schedule, seed: 1 };
            let mut simulator = Simulator::new(setup).unwrap();
            let mut movement = |rounds: usize| {
                let before = estimates(&simulator);
                advance(&mut simulator, rounds);
                distance(&estimates(&simulator), &before)
            };
            // errors change by e^8 in a span; what dies out sooner is gone after the first
            movement(span);
            let (early, late) = (movement(span), movement(span));
            let settled = late < 1e-2 * early || late < 1e-12;
            assert_eq!(settled, converges, "Q = {steps}, {factor} of {raw}: {early:e} then {late:e}");
        }
    }
}

fn recipe(name: &str) -> Recipe {
    Recipe::new(kind(name).unwrap(), []).unwrap()
}

fn with_estimator(name: &str, other: &str) -> Recipe {
    let kind = estimator(other).unwrap();
    let parameters = Parameters::new(kind.name, kind.parameters, []).unwrap();
    Recipe { estimator: Some((kind, parameters)), ..recipe(name) }
}

fn with_codec(name: &str, other: &str) -> Recipe {
    Recipe { compression: Some(Compression::new(codec(other).unwrap(), []).unwrap()), ..recipe(name) }
}

/// Everything at once: an estimator, two exchanges, three steps, a codec, on every method that has room for
/// them.
#[test]
fn all_of_it_goes_together() {
    let problem = logistic(7, Batch::Sampled(1));
    let mut tried = 0;
    let goes_around = |kind: &&Kind| build(kind).reliance() == Reliance::Nothing;
    for kind in bare().filter(|kind| kind.with_estimator.is_some()).filter(goes_around) {
        for estimator in ESTIMATORS {
            let recipe = Recipe {
                gossip: 2,
                local_steps: 3,
                compression: Some(Compression::new(codec("quantise").unwrap(), []).unwrap()),
                ..with_estimator(kind.name, estimator.name)
            };
            let method = recipe.build().unwrap();
            if method.check_problem(&problem).is_err() {
                continue;
            }
            let topology = topology(kind, kind.graphs[0], &[families::flower(7, 3).unwrap()], 0);
            let mut simulator = simulate(&*method, &problem, &topology, step(kind, &topology, 0.02));
            advance(&mut simulator, 300);
            let measured = measure(&simulator.view()).unwrap();
            // what FROST divides by is small at first, and its numbers large
            let rounding = if kind.network() == Network::PullOnly { 1e-9 } else { 1e-12 };
            assert!(measured.conservation_error.unwrap_or(0.0) < rounding, "{method:?}: {measured:?}");
            let start = measure(&simulate(&*method, &problem, &topology, 0.1).view()).unwrap();
            assert!(measured.loss < start.loss, "{method:?}: {} from {}", measured.loss, start.loss);
            tried += 1;
        }
    }
    assert!(tried >= 20, "{tried}");
}

/// A recipe with nothing around it is the registry's method, and a codec of a compressed method replaces its
/// own.
#[test]
fn recipes_build_what_the_registry_builds() {
    for kind in KINDS {
        let plain = Recipe::new(kind, []).unwrap();
        assert!(plain.is_plain());
        assert_eq!(format!("{:?}", plain.build().unwrap()), format!("{:?}", build(kind)), "{}", kind.name);
    }
    let sign = format!("{:?}", with_codec("beer", "sign").build().unwrap());
    assert!(sign.contains("Sign") && !sign.contains("TopK"), "{sign}");
    let both =
        Recipe { compression: with_codec("c-gt", "sign").compression, ..with_estimator("c-gt", "storm") };
    let both = format!("{:?}", both.build().unwrap());
    assert!(both.contains("Storm") && both.contains("Sign"), "{both}");
}

#[test]
fn recipes_that_do_not_fit_are_refused_with_the_reason() {
    let refused = |recipe: Recipe| -> String { recipe.build().unwrap_err().to_string() };
    for (recipe, words) in [
        (with_estimator("smtpp", "storm"), ["smtpp: `estimator` = storm", "those that have: push-pull"]),
        (with_estimator("csgdm", "saga"), ["csgdm: `estimator` = saga", "no place for one"]),
        (with_estimator("motef", "storm"), ["motef: `estimator`", "beer"]),
        (with_codec("csgdm", "sign"), ["csgdm: `compress`", "nothing over links"]),
        (with_codec("cpp", "sign"), ["cpp: `compress` = Sign", "right in the mean"]),
        (with_codec("hb-sector", "top-k"), ["hb-sector: `compress` = TopK", "log-quantise"]),
        (Recipe { gossip: 0, ..recipe("push-pull") }, ["push-pull: `gossip` = 0", "1 to 1000"]),
        (Recipe { gossip: 2000, ..recipe("push-pull") }, ["push-pull: `gossip` = 2000", "1 to 1000"]),
        (Recipe { local_steps: 0, ..recipe("ab") }, ["ab: `local_steps` = 0", "1 to 100000"]),
        (Recipe { local_steps: 2, ..recipe("csgdm") }, ["csgdm: `local_steps` = 2", "mean of all gradients"]),
        (Recipe { gossip: 2, ..recipe("csgdm") }, ["csgdm: `gossip` = 2", "heard everyone"]),
        (Recipe { gossip: 2, ..recipe("c-gt") }, ["c-gt: `gossip` = 2", "give it to gt, with `compress`"]),
        (Recipe { local_steps: 2, ..recipe("cpp") }, ["cpp: `local_steps` = 2", "compressed by definition"]),
    ] {
        let message = refused(recipe);
        assert!(words.iter().all(|word| message.contains(word)), "{words:?} are not in: {message}");
    }
    let mut twice = with_codec("c-gt", "sign");
    twice.compression.as_mut().unwrap().damping = Damping { γ: Some(0.1), α: None };
    assert!(refused(twice).contains("give them beside `kind`"));
    let inside = with_codec("push-pull", "sign").build().unwrap();
    let error: Result<LocalUpdates> = LocalUpdates::new("Q", inside, 2);
    assert!(error.unwrap_err().to_string().contains("not the other way round"));
}
