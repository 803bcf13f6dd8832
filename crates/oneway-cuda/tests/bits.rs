//! Kernels have the simulator's bits: the very text that a GPU gets, compiled for the host.
#![allow(clippy::unwrap_used)]

mod common;

use common::{host, networks_agree, problems_agree, rules_agree, same_bits};
use oneway::data::{Dataset, SparseRows};
use oneway::engine::observe::View;
use oneway::engine::schedule::Shape;
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families};
use oneway::method::Method;
use oneway::methods::kind;
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic, Sharing};
use oneway::testing::{logistic, quadratic};
use oneway_cuda::Cells;

/// More rounds than are begun at a time, and not a multiple.
const ROUNDS: u64 = 67;

#[test]
fn every_rule_has_the_bits_of_the_simulator() {
    let rules = rules_agree(&host(1), ROUNDS, |_| &[Precision::F64, Precision::F32]);
    assert!(rules > 80, "{rules}");
}

#[test]
fn every_network_has_the_bits_of_the_simulator() {
    assert_eq!(networks_agree(&host(1)), 29);
}

#[test]
fn every_problem_has_the_bits_of_the_simulator() {
    let batches = [Batch::Sampled(1), Batch::Sampled(3), Batch::Sampled(7), Batch::Full];
    problems_agree(&host(1), ROUNDS, &batches);
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
    type Case<'c> = (&'c [Box<dyn Method>; 2], &'c dyn Problem);
    let cases: [Case<'_>; 3] = [(&methods, &problem), (&methods, &noisy), (&sgp, &problem)];
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
