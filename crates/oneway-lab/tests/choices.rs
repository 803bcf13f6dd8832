//! Every choice that an experiment file offers runs, and means what it says.
#![allow(clippy::unwrap_used)]

use oneway::Error;
use oneway::engine::Schedule;
use oneway::engine::Setup;
use oneway::graph::Digraph;
use oneway::graph::families::{FAMILIES, Family};
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::Network;
use oneway::methods::{KINDS, Kind};
use oneway::problems::{Quadratic, QuadraticShape};

use crate::common::{EXPERIMENT, Lab, Results, assert_refused, changed};

/// Quadratics on 16 agents; topology and method as given.
fn quadratic(topology: &str, method: &str) -> String {
    format!(
        "[problem]\nkind = \"quadratic\"\ndim = 3\ncurvature = [0.5, 2]\nheterogeneity = 0.5\nnoise = 0.1\n\
         [run]\nagents = 16\niterations = 64\nseed = 3\n[[topology]]\n{topology}\n[[method]]\n{method}\n"
    )
}

fn smtpp(step: &str) -> String {
    quadratic("kind = \"ring\"", &format!("kind = \"smtpp\"\nstep = {step}"))
}

fn loss_went_down(results: &Results) -> bool {
    let rows = results.rows();
    let loss = |row: &[&str]| row[4].parse::<f64>().unwrap();
    loss(rows.last().unwrap()) < loss(&rows[0])
}

/// A problem that every method can work on: rows of data where SAGA wants samples.
fn problem_for(kind: &Kind, quadratic: String) -> String {
    if !kind.name.ends_with("saga") {
        return quadratic;
    }
    let run = quadratic.find("[run]").unwrap();
    let problem = "[problem]\nkind = \"logistic\"\ndataset = \"many.txt\"\nfeatures = 3\nbatch = 1\n";
    format!("{problem}{}", &quadratic[run..])
}

/// An effective step that a method bears on 16 agents.
fn small_step(kind: &Kind) -> f64 {
    if kind.network() == Network::PullOnly {
        return 1e-4; // FROST divides by what is small at first, the smaller the longer the way round
    }
    let local = kind.parameters.iter().find(|parameter| parameter.name == "local_steps");
    0.02 / local.and_then(|steps| steps.default).unwrap_or(1.0)
}

/// Five rows for each of 16 agents.
fn many_rows() -> String {
    (0..80).map(|r| format!("{} {}:{} 3:{}\n", [1, -1][r % 2], 1 + r % 2, 1 + r % 3, r % 5)).collect()
}

/// The weights that a method gets on a family of 16 agents, and why it cannot run there even so. Where links
/// go both ways, those that need one symmetric matrix get it.
fn how_it_fits(family: &Family, kind: &Kind, graph: Subgraph) -> (&'static str, Option<String>) {
    let digraphs = family.digraphs(16, [], 3).unwrap();
    let both_ways = |digraph: &Digraph| {
        let edges: Vec<_> = digraph.edges().collect();
        edges.iter().all(|&(from, to)| edges.contains(&(to, from)))
    };
    let one_matrix = matches!(kind.network(), Network::Balanced | Network::Undirected);
    let (name, weights) = match one_matrix && digraphs.iter().all(both_ways) {
        true => ("metropolis", Weights::Metropolis),
        false => ("uniform", Weights::Uniform),
    };
    let topology = match kind.network() {
        Network::Central => Topology::complete(16).unwrap(),
        _ => Topology::from_digraphs(&digraphs, graph, weights, 0).unwrap(),
    };
    let shape = QuadraticShape { dim: 3, curvature: [0.5, 2.0], heterogeneity: 0.5, noise: 0.1 };
    let (method, problem) = (kind.method([]).unwrap(), Quadratic::new(shape, 16, 3).unwrap());
    let schedule = Schedule::constant(0.02).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 3 };
    let fits = match setup.check() {
        Err(Error::Unfit(_)) => None, // it gets another problem
        other => other.err().map(|error| error.to_string()),
    };
    (name, fits)
}

/// Methods for one matrix meet links without a way back, and links that have one.
#[test]
fn methods_for_one_matrix_are_refused_where_there_is_none() {
    let families = |names: &[&str]| FAMILIES.iter().filter(|f| names.contains(&f.name)).collect::<Vec<_>>();
    for kind in KINDS.iter().filter(|kind| kind.network() == Network::Balanced) {
        for family in families(&["flower", "k-out"]) {
            let (weights, unfit) = how_it_fits(family, kind, Subgraph::Full);
            assert_eq!(weights, "uniform");
            assert!(unfit.unwrap().contains("doubly stochastic"), "{} on {}", kind.name, family.name);
        }
        for family in families(&["grid", "star", "tree", "ring", "exponential", "complete"]) {
            let (_, unfit) = how_it_fits(family, kind, Subgraph::Full);
            assert_eq!(unfit, None, "{} on {}", kind.name, family.name);
        }
    }
    for kind in KINDS.iter().filter(|kind| kind.network() == Network::Undirected) {
        for family in families(&["ring", "flower", "exponential"]) {
            let (_, unfit) = how_it_fits(family, kind, Subgraph::Full);
            assert!(unfit.is_some(), "{} on {}", kind.name, family.name);
        }
    }
}

#[test]
fn every_method_runs_on_every_topology_it_can() {
    let lab = Lab::new();
    lab.write("many.txt", many_rows());
    for family in FAMILIES {
        for kind in KINDS {
            for graph in kind.graphs {
                // trees are cut from fixed digraphs only; random digraphs of the default size are connected
                // for this seed
                if family.time_varying && graph.name() != "full" {
                    continue;
                }
                let place = format!("{} on {}", kind.name, family.name);
                let method = format!(
                    "kind = {:?}\ngraph = {:?}\nstep = {{ size = {}, scaling = \"effective\" }}",
                    kind.name,
                    graph.name(),
                    small_step(kind),
                );
                let (weights, unfit) = how_it_fits(family, kind, *graph);
                let topology = format!("kind = {:?}\nweights = {weights:?}", family.name);
                let text = problem_for(kind, quadratic(&topology, &method));
                if let Some(reason) = unfit {
                    lab.write("experiment.toml", &text);
                    let before = lab.listing();
                    assert_refused(&lab, &before, &lab.run(&text, &["--out", "never"]), &[&reason]);
                    continue;
                }
                let results = lab.results(&text, &[]);
                assert_eq!(results.statuses(), ["completed"], "{place}");
                let central = kind.network() == Network::Central;
                let expected = if central { "complete" } else { graph.name() };
                assert_eq!(results.summary["entries"][0]["graph"], expected);
                assert!(loss_went_down(&results), "{place}: {}", results.csv);
                assert_eq!(results.rows()[1][11].is_empty(), central, "bytes_sent of {}", kind.name);
            }
        }
    }
}

#[test]
fn effective_steps_are_divided_by_c_pi() {
    let lab = Lab::new();
    // trees: c_π = n = 16, and division by 16 is exact
    for kind in ["smtpp\"\ngraph = \"trees", "stpp", "push-pull\"\ngraph = \"lazy-trees"] {
        let run = |step: &str| {
            lab.results(&quadratic("kind = \"flower\"", &format!("kind = \"{kind}\"\nstep = {step}")), &[])
        };
        let effective = run("{ size = 0.3, scaling = \"effective\" }");
        assert_eq!(effective.hashes(), run("{ size = 0.01875, scaling = \"raw\" }").hashes(), "{kind}");
        assert_eq!(effective.hashes(), run("0.01875").hashes(), "raw is the default: {kind}");
        assert_eq!(effective.summary["entries"][0]["step_divided_by"], 16.0);
        assert_ne!(effective.hashes(), run("0.3").hashes());
    }
    for kind in ["sgp", "push-diging", "csgdm"] {
        let run = |step: &str| {
            lab.results(&quadratic("kind = \"flower\"", &format!("kind = \"{kind}\"\nstep = {step}")), &[])
        };
        let effective = run("{ size = 0.03, scaling = \"effective\" }");
        assert_eq!(effective.hashes(), run("0.03").hashes(), "nothing to divide by: {kind}");
    }
}

#[test]
fn step_schedules_follow_their_formulas() {
    let lab = Lab::new();
    let run = |step: &str, rounds: &str| lab.results(&smtpp(step), &["--set", rounds]).hashes().join("");
    let all = "run.iterations=64";
    let constant = run("0.02", all);
    for same in [
        "{ size = 0.02 }",
        "{ size = 0.02, schedule = \"constant\" }",
        "{ size = 0.02, decay = 0.5, every = 64 }",
        "{ size = 0.02, decay = 1, every = 1 }",
        "{ size = 0.02, warmup = 1 }",
        "{ size = 0.04, schedule = \"corollary\" }", // √(16/64) = ½
    ] {
        assert_eq!(run(same, all), constant, "{same}");
    }
    let mut seen = vec![constant];
    for other in [
        "{ size = 0.02, decay = 0.5, every = 32 }",
        "{ size = 0.02, schedule = \"inverse-sqrt\" }",
        "{ size = 0.02, schedule = \"cosine\" }",
        "{ size = 0.02, warmup = 10 }",
        "{ size = 0.02, schedule = \"cosine\", warmup = 10 }",
    ] {
        let hash = run(other, all);
        assert!(!seen.contains(&hash), "{other}");
        seen.push(hash);
    }
    // in the first round all are at their size; a warm-up over two rounds at half of it
    let first = "run.iterations=1";
    for same in ["inverse-sqrt", "cosine", "constant"] {
        assert_eq!(
            run(&format!("{{ size = 0.02, schedule = {same:?} }}"), first),
            run("0.02", first),
            "{same}"
        );
    }
    assert_eq!(run("{ size = 0.02, warmup = 2 }", first), run("0.01", first));
}

#[test]
fn the_corollary_chooses_momentum_from_agents_and_iterations() {
    let lab = Lab::new();
    let run = |momentum: &str, iterations: &str| {
        let text =
            smtpp("0.02").replace("kind = \"smtpp\"", &format!("kind = \"smtpp\"\nmomentum = {momentum}"));
        lab.results(&text, &["--set", iterations]).hashes().join("")
    };
    // (16/256)^¼ = ½
    assert_eq!(run("\"corollary\"", "run.iterations=256"), run("0.5", "run.iterations=256"));
    assert_eq!(run("\"corollary\"", "run.iterations=16"), run("1", "run.iterations=16"));
}

#[test]
fn partitions_and_batches_give_different_runs() {
    let lab = Lab::new();
    let mut seen: Vec<String> = vec![];
    for partition in ["\"even\"", "\"shuffled\"", "\"by-label\"", "{ dirichlet = 0.1 }"] {
        for batch in ["1", "2", "\"full\""] {
            let text = changed(EXPERIMENT, "\"even\"", partition);
            let results = lab.results(&changed(&text, "batch = 1", &format!("batch = {batch}")), &[]);
            assert_eq!(results.statuses(), ["completed"; 2]);
            let full_batch_repeats = results.hashes()[0] == results.hashes()[1];
            assert_eq!(full_batch_repeats, batch == "\"full\"", "{partition} {batch}");
            assert!(!seen.contains(&results.hashes()[0].to_owned()), "{partition} {batch}");
            seen.push(results.hashes()[0].to_owned());
        }
    }
    let even = lab.results(&changed(EXPERIMENT, "partition = \"even\"\nbatch = 1\n", ""), &[]);
    assert_eq!(even.hashes()[0], seen[0], "the default is even, one row at a time");
}

/// Three rows an agent: after three rounds of one row, or one of three, each has come once.
#[test]
fn rows_may_be_drawn_without_replacement() {
    let lab = Lab::new();
    let run = |batch: &str| {
        let results = lab.results(&changed(EXPERIMENT, "batch = 1", batch), &[]);
        results.hashes().iter().map(|hash| (*hash).to_owned()).collect::<Vec<_>>()
    };
    let plain = run("batch = 1");
    assert_eq!(run("batch = 1\nsampling = \"with-replacement\""), plain);
    let [one, two, all] =
        [1, 2, 3].map(|size| run(&format!("batch = {size}\nsampling = \"without-replacement\"")));
    assert!(one != plain && one != two && one[0] != one[1]);
    // all rows in another order: the exact gradient, but for rounding
    let full = lab.results(&changed(EXPERIMENT, "batch = 1", "batch = \"full\""), &[]);
    let last = |results: &Results| results.rows().last().unwrap()[4].parse::<f64>().unwrap();
    let text = changed(EXPERIMENT, "batch = 1", "batch = 3\nsampling = \"without-replacement\"");
    let by_passes = lab.results(&text, &[]);
    assert_eq!(by_passes.hashes()[0], all[0]);
    assert!((last(&by_passes) / last(&full) - 1.0).abs() < 1e-12);
}

#[test]
fn test_data_gives_an_accuracy() {
    let lab = Lab::new();
    assert!(lab.results(EXPERIMENT, &[]).rows().iter().all(|row| row[10].is_empty()));
    lab.write("test.txt", "+1 1:1\n-1 2:1\n-1 2:2\n+1 1:3\n"); // feature 3 is not in it
    let text = changed(EXPERIMENT, "features = 3", "test = \"test.txt\"");
    let text = changed(&text, "iterations = 25", "iterations = 400");
    let results = lab.results(&changed(&text, "batch = 1", "batch = \"full\""), &[]);
    assert_eq!(results.rows().last().unwrap()[10], "1.0");
    // a9a's own test split is its default: to name it changes nothing
    let a9a = changed(&changed(EXPERIMENT, "rows.txt", "a9a"), "features = 3\n", "");
    let named = changed(&a9a, "dataset = \"a9a\"", "dataset = \"a9a\"\ntest = \"a9a\"\nfeatures = 123");
    let results = lab.results(&named, &[]);
    assert_eq!(results.csv, lab.results(&a9a, &[]).csv);
    assert!(results.rows().last().unwrap()[10].parse::<f64>().unwrap() > 0.5);
}

#[test]
fn edge_lists_say_the_same_as_families() {
    let lab = Lab::new();
    let ring: String = (0..16).map(|i| format!("{i} {}\n", (i + 1) % 16)).collect();
    let half = |weight: &str| -> String {
        (0..16).map(|i| format!("{i} {i} {weight}\n{i} {} {weight}\n", (i + 1) % 16)).collect()
    };
    lab.write("ring.txt", format!("# a ring\n{ring}"));
    lab.write("weighted.txt", half("0.5"));
    let run = |topology: &str, kind: &str| {
        let method = format!("kind = {kind:?}\nstep = {{ size = 0.05, scaling = \"effective\" }}");
        lab.results(&quadratic(&format!("name = \"ring\"\n{topology}"), &method), &[]).csv
    };
    for kind in ["smtpp", "push-pull", "stpp", "sgp", "push-diging"] {
        let expected = run("kind = \"ring\"", kind);
        assert_eq!(run("file = \"ring.txt\"", kind), expected, "{kind}");
        if kind != "stpp" {
            assert_eq!(run("file = \"weighted.txt\"", kind), expected, "{kind}");
            assert_eq!(run("pull = \"weighted.txt\"\npush = \"weighted.txt\"", kind), expected, "{kind}");
        }
    }
    // R from a tree below agent 0 and C into agent 0: weight-1 trees, written out by hand
    let down: String = (1..16).map(|i| format!("{} {i} 1\n", i - 1)).collect();
    let up: String = (1..16).map(|i| format!("{i} {} 1\n", (i + 1) % 16)).collect();
    lab.write("down.txt", format!("0 0 1\n{down}"));
    lab.write("up.txt", format!("0 0 1\n{up}"));
    let by_hand = run("pull = \"down.txt\"\npush = \"up.txt\"", "push-pull");
    let cut = run("kind = \"ring\"", "stpp").replace("stpp", "push-pull");
    assert_eq!(by_hand, cut);
}

#[test]
fn metropolis_weights_and_seeds_matter_where_they_should() {
    let lab = Lab::new();
    let run = |topology: &str| {
        let results = lab
            .results(&quadratic(&format!("name = \"t\"\n{topology}"), "kind = \"smtpp\"\nstep = 0.02"), &[]);
        assert_eq!(results.statuses(), ["completed"]);
        results.csv
    };
    for kind in ["grid", "star", "tree"] {
        let uniform = run(&format!("kind = {kind:?}\nweights = \"uniform\""));
        assert_eq!(uniform, run(&format!("kind = {kind:?}")), "uniform is the default");
        assert_ne!(uniform, run(&format!("kind = {kind:?}\nweights = \"metropolis\"")));
    }
    for kind in ["erdos-renyi", "k-out", "geometric"] {
        let seeded = run(&format!("kind = {kind:?}\nseed = 5"));
        assert_ne!(seeded, run(&format!("kind = {kind:?}")), "{kind}");
        assert_eq!(
            run(&format!("kind = {kind:?}\nseed = 3")),
            run(&format!("kind = {kind:?}")),
            "run.seed by default"
        );
    }
}

#[test]
fn a_lone_agent_runs() {
    let lab = Lab::new();
    lab.write("many.txt", many_rows());
    for family in FAMILIES {
        for kind in KINDS.iter().filter(|kind| kind.graphs[0].name() == "full") {
            let text = quadratic(
                &format!("kind = {:?}", family.name),
                &format!("kind = {:?}\nstep = 0.1", kind.name),
            );
            let text = problem_for(kind, text);
            let results = lab.results(&text, &["--set", "run.agents=1"]);
            assert!(loss_went_down(&results), "{} on {}", kind.name, family.name);
        }
    }
}
