//! Compression around any method: what it must keep, what it must find, and what it costs.
#![allow(clippy::unwrap_used)]

use oneway::codec::{CODECS, Carried, Codec, Identity, Sign, codec};
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::metrics::measure;
use oneway::engine::{Engine, Setup, Turns};
use oneway::graph::mixing::Mixing;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::{Agents, Heard, Hearing, Method, Network, Profile, Round, RowsMut};
use oneway::methods::combine::{CODED, Compressed, Compression, Damping, Recipe};
use oneway::methods::{Kind, Smtpp, kind};
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::{Batch, Quadratic, QuadraticShape};
use oneway::theory::stability::limit;

use crate::combined::{bare, codable, compressed, far_from_minimiser, network, with_codec};
use crate::common::{
    advance, distance, estimates, logistic, quadratic, raw_step as step, simulate, topology,
};

#[test]
fn methods_that_need_whole_messages_refuse_a_codec() {
    let refused: Vec<&str> =
        bare().filter(|kind| codable().all(|other| other.name != kind.name)).map(|kind| kind.name).collect();
    assert_eq!(refused, ["exact-diffusion", "d2"]);
    for name in refused {
        let method = oneway::methods::kind(name).unwrap().method([]).unwrap();
        let error = Compressed::new(name, method, Box::new(Identity), [Damping::BY_QUALITY; 2]).unwrap_err();
        assert!(error.to_string().contains("corrects by how far W"), "{error}");
    }
}

/// Push-sum's weights go with the vectors: with γ < 1 on a network that changes z = u/w still finds x*.
#[test]
fn weights_are_mixed_as_the_vectors_are() {
    let (there, back) = (families::ring(5).unwrap(), families::star(5).unwrap());
    let topology = Topology::from_digraphs(&[there, back], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let kind = oneway::methods::kind("push-diging").unwrap();
    let method = compressed(kind, Box::new(Identity), Damping::direct(0.5));
    let far = far_from_minimiser(&method, &topology, 0.02, 6000);
    assert!(far < 1e-9, "{far:e} from x*");
}

fn default(name: &str) -> Box<dyn Codec> {
    codec(name).unwrap().codec([]).unwrap()
}

/// With nothing lost in the code, γ = 1 and any α, every method is handed what it would have heard.
#[test]
fn the_identity_changes_no_method() {
    let flower = families::flower(7, 3).unwrap();
    for kind in codable() {
        let method = kind.method([]).unwrap();
        for problem in [logistic(7, Batch::Sampled(1)), logistic(7, Batch::Full)] {
            if method.check_problem(&problem).is_err() {
                continue;
            }
            let topology = network(kind, &flower);
            let η = step(kind, &topology, 0.05);
            for α in [0.0, 0.3, 1.0] {
                let around = compressed(kind, Box::new(Identity), Damping::new(1.0, α));
                let mut plain = simulate(&*method, &problem, &topology, η);
                let mut coded = simulate(&around, &problem, &topology, η);
                for _ in 0..40 {
                    plain.round().unwrap();
                    coded.round().unwrap();
                    let far = distance(&estimates(&plain), &estimates(&coded));
                    assert!(far < 1e-11, "{} at α = {α}: off by {far:e}", kind.name);
                }
            }
        }
    }
}

/// Every compressed method finds x* exactly, with every codec that it allows; one that it does not allow is
/// refused.
#[test]
fn every_compressed_method_finds_the_minimiser() {
    let digraph = families::exponential(8).unwrap();
    for coded in CODED {
        let topology = network(&coded.kind, &digraph);
        let mut tried = vec![];
        for name in ["top-k", "random-k", "quantise", "sign", "natural", "log-quantise", "saturate"] {
            // random-k of 4 numbers sends one, four times as large: ω = 3
            let parameters: &[(&str, f64)] = match name {
                "random-k" => &[("gamma", 0.15), ("alpha", 0.25), ("gamma_tracker", 0.15)],
                _ => &[("gamma", 0.25), ("alpha", 0.8), ("gamma_tracker", 0.25)],
            };
            let parameters = [parameters, &[("decay", 0.99)]].concat();
            // a codec that is right in the mean only is no contraction: where copies jump onto the code, it
            // is scaled down
            let codec = match (name, coded.kind.name) {
                ("random-k", "beer" | "motef") => codec(name).unwrap().codec([("unbiased", 0.0)]).unwrap(),
                ("saturate", _) => codec(name).unwrap().codec([("limit", 9.0)]).unwrap(),
                _ => default(name),
            };
            let allowed = match coded.kind.name {
                "cpp" => codec.unbiased(),
                "hb-sector" => matches!(name, "log-quantise" | "saturate"),
                _ => true,
            };
            let method = match with_codec(coded, codec, &parameters) {
                Ok(method) => method,
                Err(error) => {
                    assert!(!allowed && error.to_string().contains("`compress`"), "{error}");
                    continue;
                }
            };
            assert!(allowed, "{} takes {name}", coded.kind.name);
            let far = far_from_minimiser(&*method, &topology, step(&coded.kind, &topology, 0.04), 4000);
            assert!(far < 1e-9, "{} with {name}: {far:e} from x*", coded.kind.name);
            tried.push(name);
        }
        assert!(tried.len() >= 2, "{}: {tried:?}", coded.kind.name);
    }
}

/// … and so does every method that tracks, with γ and α left to the codec.
#[test]
fn any_tracker_finds_the_minimiser_with_the_damping_that_a_codec_suggests() {
    let digraph = families::exponential(8).unwrap();
    let tracks = |kind: &&Kind| kind.method([]).unwrap().roles().tracker.is_some();
    for kind in codable().filter(tracks) {
        let topology = network(kind, &digraph);
        for name in ["identity", "top-k", "random-k", "quantise", "sign", "natural", "log-quantise"] {
            let method = compressed(kind, default(name), Damping::BY_QUALITY);
            if method.check_problem(&quadratic(8, 0.0)).is_err() {
                continue; // a quadratic is no finite sum
            }
            let far = far_from_minimiser(&method, &topology, step(kind, &topology, 0.03), 5000);
            assert!(far < 1e-9, "{} with {name}: {far:e} from x*", kind.name);
        }
    }
}

/// Σv = Σm and Σw = n in every round, whatever the codec does: biased, saturating, off by a constant.
#[test]
fn no_codec_breaks_the_law_of_the_trackers() {
    let digraph = families::flower(7, 3).unwrap();
    let problem = logistic(7, Batch::Sampled(1));
    for (kind, damping) in codable()
        .flat_map(|kind| [Damping::new(0.3, 0.2), Damping::direct(0.3)].map(|damping| (kind, damping)))
    {
        let topology = network(kind, &digraph);
        for codec in CODECS {
            let method: &dyn Method = &compressed(kind, codec.codec([]).unwrap(), damping);
            if method.check_problem(&problem).is_err() || method.network() == Network::PullOnly {
                continue; // where trackers are pulled, their mean is π_R's
            }
            let mut simulator = simulate(method, &problem, &topology, step(kind, &topology, 0.01));
            for round in 1..=150 {
                simulator.round().unwrap();
                let error = measure(&simulator.view()).unwrap().conservation_error;
                let conserves = kind.method([]).unwrap().roles();
                assert_eq!(error.is_some(), conserves.tracker.is_some() || conserves.weight.is_some());
                let scale = estimates(&simulator).iter().fold(1.0, |most: f64, x| most.max(x.abs()));
                let error = error.unwrap_or(0.0) / scale;
                assert!(error < 1e-12, "{} with {}, round {round}: {error:e}", kind.name, codec.name);
            }
        }
    }
}

/// A vector costs the bytes of its code, a single number eight; a link carries that once for each exchange.
#[test]
fn bytes_are_those_of_the_codes_on_the_links() {
    let digraph = families::flower(7, 3).unwrap();
    let problem = logistic(7, Batch::Sampled(1));
    let d = problem.dim();
    for (name, vectors, scalars) in
        [("push-pull", [1, 1], [0, 0]), ("sgp", [0, 1], [0, 1]), ("push-diging", [0, 2], [0, 1])]
    {
        let kind = kind(name).unwrap();
        let topology = network(kind, &digraph);
        for codec in CODECS {
            let method = compressed(kind, codec.codec([]).unwrap(), Damping::new(0.2, 0.2));
            if method.check_problem(&problem).is_err() {
                continue;
            }
            let mut simulator = simulate(&method, &problem, &topology, 0.001);
            advance(&mut simulator, 5);
            let pair = topology.at(0);
            let code = codec.codec([]).unwrap().bytes(d);
            let cost = |mixing: &Mixing, graph: usize| {
                let links = mixing.iter().filter(|link| link.from != link.to).count();
                links * (vectors[graph] * code + scalars[graph] * 8)
            };
            let expected = 5 * (cost(&pair.pull, 0) + cost(&pair.push, 1)) as u64;
            assert_eq!(
                measure(&simulator.view()).unwrap().bytes_sent,
                Some(expected),
                "{name}, {}",
                codec.name
            );
        }
    }
}

/// The messages of one agent after a few rounds: what it sends at `at`, and the state it is left in.
fn sent(method: &dyn Method, problem: &dyn Problem, state: &[f64], at: Round<'_>) -> [Vec<f64>; 3] {
    let Profile { pull, push, .. } = method.profile_on(problem);
    let (mut pull, mut push) = (vec![0.0; pull.len(problem.dim())], vec![0.0; push.len(problem.dim())]);
    let mut state = state.to_vec();
    method.send(at, &mut state, &mut pull, &mut push);
    [pull, push, state]
}

/// What is sent is a pure function of the state and of (seed, agent, round); random codecs draw anew for
/// each. And it is what the codec can put into its bytes.
#[test]
fn messages_are_pure_and_fit_into_their_bytes() {
    let problem = logistic(7, Batch::Sampled(1));
    let kind = kind("push-diging").unwrap();
    let topology = network(kind, &families::flower(7, 3).unwrap());
    for codec in CODECS {
        let method = compressed(kind, codec.codec([]).unwrap(), Damping::new(0.2, 0.1));
        let mut simulator = simulate(&method, &problem, &topology, 0.05);
        advance(&mut simulator, 4);
        let view = simulator.view();
        let state = view.state(3);
        let at = Round { agent: 3, ..simulator.setup().round(4, 0) };
        let first = sent(&method, &problem, state, at);
        assert_eq!(first, sent(&method, &problem, state, at), "{}", codec.name);

        let random = matches!(codec.name, "random-k" | "quantise" | "natural");
        let others = [
            Round { k: 5, ..at },
            Round { agent: 4, ..at },
            Round { seed: 6, ..at },
            Round { phase: 0, ..at },
        ];
        for (other, differs) in others.into_iter().zip([true, true, true, false]) {
            let other = sent(&method, &problem, state, other);
            assert_eq!(other != first, random && differs, "{}", codec.name);
        }

        let codec_of = codec.codec([]).unwrap();
        let (d, [_, push, _]) = (problem.dim(), &first);
        for q in push[..2 * d].chunks_exact(d) {
            let (mut bytes, mut heard) = (vec![], vec![0.0; d]);
            codec_of.encode(q, &mut bytes);
            codec_of.decode(&bytes, &mut heard).unwrap();
            assert_eq!(heard, q, "{}", codec.name);
        }
    }
}

/// Copies are of differences: on links that change they would not be what the neighbours hold. Direct
/// compression keeps none.
#[test]
fn links_that_change_are_refused_where_copies_are_kept() {
    let there_and_back = [[(0, 1), (1, 2), (2, 0)], [(0, 2), (2, 1), (1, 0)]]
        .map(|links| Digraph::from_edges(3, links).unwrap());
    let problem = quadratic(3, 0.0);
    let kind = kind("push-pull").unwrap();
    let topology = topology(kind, kind.graphs[0], &there_and_back, 0);
    let start = |method: &dyn Method| {
        let schedule = Schedule::constant(0.01).unwrap();
        Simulator::new(Setup { method, problem: &problem, topology: &topology, schedule, seed: 1 }).map(drop)
    };
    let copies = compressed(kind, Box::new(Sign), Damping::BY_QUALITY);
    let error = start(&copies).unwrap_err().to_string();
    assert!(error.contains("copies") && error.contains("period of 2 rounds"), "{error}");
    start(&compressed(kind, Box::new(Sign), Damping::direct(0.5))).unwrap();
    for coded in CODED {
        assert_eq!(coded.kind.method([]).unwrap().keeps_copies(), coded.kind.name != "hb-sector");
    }
}

#[test]
fn settings_that_cannot_work_are_refused_with_the_reason() {
    let push_pull = || kind("push-pull").unwrap().method([]).unwrap();
    for (damping, words) in [
        (Damping::new(0.0, 0.5), "`gamma` = 0 is not possible: the share of mixing γ must be in (0, 1]"),
        (Damping::new(1.5, 0.5), "`gamma` = 1.5"),
        (Damping::new(f64::NAN, 0.5), "`gamma` = NaN"),
        (
            Damping::new(0.5, -0.1),
            "`alpha` = -0.1 is not possible: the pace of the copies α must be in [0, 1]",
        ),
        (Damping::new(0.5, 2.0), "`alpha` = 2"),
    ] {
        for dampings in [[damping, Damping::BY_QUALITY], [Damping::BY_QUALITY, damping]] {
            let error = Compressed::new("push-pull", push_pull(), Box::new(Sign), dampings).unwrap_err();
            assert!(error.to_string().contains(words), "{error}");
        }
    }
    let central = kind("csgdm").unwrap().method([]).unwrap();
    let error = Compressed::new("csgdm", central, Box::new(Sign), [Damping::BY_QUALITY; 2]).unwrap_err();
    assert!(error.to_string().contains("sends nothing over links"), "{error}");

    // ω = 3 on four numbers: copies would swing wider and wider
    let wild = compressed(kind("push-pull").unwrap(), default("random-k"), Damping::new(0.1, 0.5));
    let error = wild.check_problem(&quadratic(3, 0.0)).unwrap_err().to_string();
    assert!(error.contains("`alpha` = 0.5") && error.contains("α < 2/(1 + ω) = 0.5"), "{error}");

    for (name, given, words) in [
        ("c-gt", [("alpha", 0.0)], "`alpha` = 0"),
        ("c-gt", [("gamma", -1.0)], "c-gt: `gamma` = -1"),
        ("rcpp", [("scale", 0.0)], "rcpp: `scale` = 0"),
        ("rcpp", [("decay", 1.5)], "rcpp: `decay` = 1.5"),
        ("motef", [("momentum", 0.0)], "motef: `momentum` = 0"),
    ] {
        let error = kind(name).unwrap().method(given).unwrap_err().to_string();
        assert!(error.contains(words), "{name}: {error}");
    }
}

/// A round with a code in it is no linear map: theory must not pretend that it is, whatever the codec.
#[test]
fn theory_says_nothing_of_compressed_methods() {
    let digraph = families::flower(7, 3).unwrap();
    for coded in CODED {
        for codec in CODECS.iter().map(|codec| codec.codec([]).unwrap()) {
            let Ok(method) = with_codec(coded, codec, &[("alpha", 0.1)]) else { continue };
            let error = limit(&*method, &network(&coded.kind, &digraph)).unwrap_err();
            assert!(matches!(error, oneway::Error::NoTheory(_)), "{}: {error}", coded.kind.name);
        }
    }
}

/// Fewer bytes for the same accuracy: what all of this is for.
#[test]
fn compression_saves_bytes() {
    let shape = QuadraticShape { dim: 40, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.0 };
    let problem = Quadratic::new(shape, 8, 3).unwrap();
    let smtpp = kind("smtpp").unwrap();
    let topology = network(smtpp, &families::exponential(8).unwrap());
    let bytes = |method: &dyn Method| {
        let mut simulator = simulate(method, &problem, &topology, 0.1);
        loop {
            simulator.round().unwrap();
            let measured = measure(&simulator.view()).unwrap();
            assert!(measured.iteration < 5000, "{method:?}: {:e}", measured.grad_norm_sq);
            if measured.grad_norm_sq < 1e-12 {
                return measured.bytes_sent.unwrap();
            }
        }
    };
    let plain = bytes(&Smtpp::new(0.1).unwrap());
    for (name, at_most) in [("quantise", 0.25), ("natural", 0.4), ("top-k", 0.8), ("sign", 0.5)] {
        let mut recipe = Recipe::new(smtpp, []).unwrap();
        recipe.compression = Some(Compression::new(codec(name).unwrap(), []).unwrap());
        let share = bytes(&*recipe.build().unwrap()) as f64 / plain as f64;
        assert!(share < at_most, "{name}: {share} of the bytes");
    }
}

/// What a link carries has the bytes that are counted, and its receiver has the sender's bits; other lengths
/// are refused.
#[test]
fn rows_survive_the_wire() {
    let problem = quadratic(8, 0.3);
    let mut rows = 0;
    let coded = CODED.iter().map(|coded| coded.kind.method([]).unwrap());
    let around = ["sgp", "push-diging", "dsmt"].map(|name| kind(name).unwrap()).into_iter();
    let around =
        around.flat_map(|kind| CODECS.iter().map(move |codec| (kind, codec))).map(|(kind, codec)| {
            let codec = codec.codec([]).unwrap();
            Box::new(compressed(kind, codec, Damping::BY_QUALITY)) as Box<dyn Method>
        });
    for method in coded.chain(around) {
        let (profile, d) = (method.profile_on(&problem), problem.dim());
        let wire = profile.wire.as_ref().unwrap();
        let [mut state, mut pull, mut push] = profile.widths(d).map(|width| vec![0.0; width]);
        let topology = Topology::complete(8).unwrap();
        let schedule = Schedule::constant(0.1).unwrap();
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 5 };
        let (alone, mut turns) = (Agents::one(3), Turns::new(&profile, 1, d));
        let at = Round { agent: 3, ..setup.round(0, 0) };
        turns.start(&*method, &problem, profile.start, at, alone, RowsMut::one(&mut state)).unwrap();
        for (k, phase) in (0..4).flat_map(|k| (0..profile.phases()).map(move |phase| (k, phase))) {
            let at = Round { agent: 3, ..setup.round(k, phase) };
            method.send(at, &mut state, &mut pull, &mut push);
            for (push, row) in [(false, &pull), (true, &push)] {
                let (carried, mut bytes) = (Carried { push, k, phase }, vec![]);
                wire.encode(carried, row, &mut bytes);
                let counted = profile.bytes(phase, d, Precision::F64)[usize::from(push)];
                assert_eq!(bytes.len(), counted, "{method:?}");
                let mut heard = vec![f64::NAN; row.len()];
                wire.decode(carried, &bytes, &mut heard).unwrap();
                let bits = |row: &[f64]| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
                assert_eq!(bits(&heard), bits(row), "{method:?}, round {k}, phase {phase}");
                bytes.push(0);
                assert!(wire.decode(carried, &bytes, &mut heard).is_err());
                rows += usize::from(!row.is_empty());
            }
            let heard = Heard { state: &mut state, pulled: &pull, pushed: &push }; // as if alone
            let exchange = &profile.exchanges[phase as usize];
            turns.prepare(&problem, at, k + 1, alone);
            turns.finish(&*method, &problem, exchange, at, &mut Hearing::one(3, heard)).unwrap();
        }
    }
    assert!(rows > 100, "{rows}");
}
