//! Kernels have the simulator's bits: the very text that a GPU gets, compiled for the host.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    cells_agree, cells_same_bits, host, large_networks_agree, networks_agree, problems, problems_agree,
    rules_agree, same_bits,
};
use oneway::data::{Dataset, SparseRows};
use oneway::engine::{Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families};
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
    let drawn = [1, 3, 7].map(Batch::Sampled).into_iter().chain([1, 3, 7].map(Batch::Reshuffled));
    let batches: Vec<Batch> = drawn.chain([Batch::Full]).collect();
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
    for threads in [1, 4] {
        assert_eq!(cells_agree(&host(threads), 30), 18);
    }
}

/// Points beyond what is divided quickly, and zeros of both signs: the penalty's quotient is made anew there.
#[test]
fn cells_divide_far_from_one_as_the_simulator_does() {
    let n = 4;
    let topology = Topology::complete(n).unwrap();
    let method = kind("push-pull").unwrap().method([]).unwrap();
    let problem = problems(n, Batch::Sampled(1)).remove(3).1;
    // steps that take x to 10^30 and, by the penalty that vanishes there, let it stay
    for step in [1e15, 1e30, 1e-250] {
        let schedule = Schedule::constant(step).unwrap();
        let setup = Setup { method: &*method, problem: &*problem, topology: &topology, schedule, seed: 9 };
        let mut cells = Cells::new(&host(1), &[setup], Precision::F64).unwrap();
        assert!(cells.by_columns());
        cells_same_bits(
            &mut cells,
            &[setup],
            30,
            |setup| Simulator::new(setup).unwrap(),
            &format!("step {step}"),
        );
    }
}

#[test]
fn large_networks_have_the_bits_of_the_simulator() {
    large_networks_agree(&host(1), 3);
}
