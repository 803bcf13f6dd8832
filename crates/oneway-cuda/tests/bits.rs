//! Kernels have the simulator's bits: the very text that a GPU gets, compiled for the host.
#![allow(clippy::unwrap_used)]

mod common;

use common::{at_once, host, problems, rules, same_bits};
use oneway::data::{Dataset, SparseRows};
use oneway::engine::observe::View;
use oneway::engine::schedule::Shape;
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families};
use oneway::method::Method;
use oneway::methods::{KINDS, kind};
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic, Sharing};
use oneway::testing::{Subject, logistic, quadratic};
use oneway_cuda::Cells;

/// More rounds than are begun at a time, and not a multiple.
const ROUNDS: u64 = 67;

/// Every rule with every estimator that it takes, with noise, in both precisions.
#[test]
fn every_rule_has_the_bits_of_the_simulator() {
    let host = host(1);
    let rules = rules();
    assert!(rules.len() > 80, "{}", rules.len());
    at_once(rules, |(name, kind, method)| {
        let subject = Subject::builtin(kind);
        let (graph, network, digraphs) = subject.networks().unwrap().into_iter().next_back().unwrap();
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let problem = quadratic(topology.agents(), 0.3).unwrap();
        let schedule = Schedule::constant(subject.raw_step(&topology, 0.02).unwrap()).unwrap();
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 11 };
        for precision in [Precision::F64, Precision::F32] {
            same_bits(&host, setup, precision, ROUNDS, &format!("{name} on {network}"));
        }
    });
}

/// Every method of the registry that is a rule, on every subgraph of every network that it is made for.
#[test]
fn every_network_has_the_bits_of_the_simulator() {
    let host = host(1);
    let subjects = KINDS.iter().map(Subject::builtin);
    let subjects: Vec<_> = subjects.filter(|subject| subject.method().unwrap().trace().is_some()).collect();
    assert_eq!(subjects.len(), 29);
    at_once(subjects, |subject| {
        for case in subject.cases().unwrap() {
            let problem = quadratic(case.topology.agents(), 0.1).unwrap();
            let (method, topology) = (&*case.method, &case.topology);
            let schedule = Schedule::constant(case.η).unwrap();
            let setup = Setup { method, problem: &problem, topology, schedule, seed: 3 };
            same_bits(&host, setup, Precision::F64, 9, &case.name);
        }
    });
}

/// Rows of data: one of each batch's kinds, on a rule with one point, with two, and with several samples.
#[test]
fn every_problem_has_the_bits_of_the_simulator() {
    let host = host(1);
    let methods = ["smtpp", "sgp", "frost", "adamdos", "storm-tracking", "dsmt"];
    let mut cases = vec![];
    for method in KINDS.iter().filter(|kind| methods.contains(&kind.name)) {
        for batch in [Batch::Sampled(1), Batch::Sampled(3), Batch::Sampled(7), Batch::Full] {
            cases.push((method, batch));
        }
    }
    assert!(cases.len() == 24, "{}", cases.len());
    at_once(cases, |(kind, batch)| {
        let subject = Subject::builtin(kind);
        let (graph, _, digraphs) = subject.networks().unwrap().remove(0);
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let (n, method) = (topology.agents(), subject.method().unwrap());
        let schedule = Schedule::constant(subject.raw_step(&topology, 0.5).unwrap()).unwrap();
        for (name, problem) in problems(n, batch) {
            let what = format!("{} on {name}, {batch:?}", kind.name);
            let setup =
                Setup { method: &*method, problem: &*problem, topology: &topology, schedule, seed: 5 };
            same_bits(&host, setup, Precision::F64, ROUNDS, &what);
            if (kind.name, batch) == ("smtpp", Batch::Sampled(3)) {
                same_bits(&host, setup, Precision::F32, ROUNDS, &what);
            }
        }
    });
}

/// Rows too long for a block go part by part; blocks of several threads do the same as one.
#[test]
fn neither_threads_nor_the_cut_of_the_work_change_a_bit() {
    let mut rows = SparseRows::new();
    (0..40u32).for_each(|r| rows.push((0..9).map(|c| (r * 97 % 50 + 600 * c, 1.0 + f64::from(c) / 8.0))));
    let labels = (0..40).map(|r| if r % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let long = Dataset { features: 5000, labels, rows };
    let long = Logistic::new(&long, Sharing::among(8).batch(Batch::Sampled(2)), 0.01).unwrap();
    let short = logistic(8, Batch::Sampled(2)).unwrap();
    let noisy = quadratic(8, 0.2).unwrap();
    let digraph = families::exponential(8).unwrap();
    let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let problems: [(&str, &dyn Problem); 3] = [("long", &long), ("short", &short), ("noisy", &noisy)];
    for threads in [1, 4] {
        let host = host(threads);
        for method in ["smtpp", "sgp", "frost"] {
            let method = kind(method).unwrap().method([]).unwrap();
            let method = &*method;
            for (name, problem) in problems {
                let schedule = Schedule::constant(0.3).unwrap();
                let setup = Setup { method, problem, topology: &topology, schedule, seed: 7 };
                same_bits(&host, setup, Precision::F64, 5, &format!("{name}, {threads} threads"));
            }
        }
    }
}

/// Runs side by side: other seeds, steps, parameters and networks, each as the simulator has it.
#[test]
fn cells_have_the_bits_of_the_simulator() {
    let n = 8;
    let problem = logistic(n, Batch::Sampled(1)).unwrap();
    let noisy = quadratic(n, 0.2).unwrap();
    let topology =
        |digraph| Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let topologies = [topology(families::exponential(n).unwrap()), topology(families::flower(n, 2).unwrap())];
    let methods = [0.1, 0.3].map(|λ| kind("smtpp").unwrap().method([("momentum", λ)]).unwrap());
    let sgp = [kind("sgp").unwrap().method([]).unwrap(), kind("sgp").unwrap().method([]).unwrap()];
    let cases: [(&[Box<dyn Method>; 2], &dyn Problem); 3] =
        [(&methods, &problem), (&methods, &noisy), (&sgp, &problem)];
    for threads in [1, 4] {
        let host = host(threads);
        for (methods, problem) in cases {
            let schedule = Schedule::new(0.4, Shape::InverseSqrt, 3).unwrap();
            let setup = |at: usize| {
                let (method, topology) = (&*methods[at % 2], &topologies[at / 2 % 2]);
                Setup { method, problem, topology, schedule, seed: 100 + at as u64 }
            };
            let setups: Vec<Setup<'_>> = (0..5).map(setup).collect();
            let mut cells = Cells::new(&host, &setups, Precision::F64).unwrap();
            let mut simulators: Vec<_> = setups.iter().map(|setup| Simulator::new(*setup).unwrap()).collect();
            for rounds in [0, 1, 30] {
                cells.advance(rounds).unwrap();
                for (at, simulator) in simulators.iter_mut().enumerate() {
                    (0..rounds).for_each(|_| simulator.round().unwrap());
                    let (here, there) = (simulator.view(), cells.state(at).unwrap());
                    let bits = |view: &View<'_>| {
                        let rows = (0..n).flat_map(|agent| view.state(agent).to_vec());
                        rows.map(f64::to_bits).collect::<Vec<_>>()
                    };
                    assert_eq!(there.view().k, here.k);
                    assert_eq!(bits(&there.view()), bits(&here), "run {at} after {} rounds", here.k);
                }
            }
        }
    }
}
