//! Kernels have the simulator's bits: the very text that a GPU gets, compiled for the host.
#![allow(clippy::unwrap_used)]

mod common;

use common::{
    around, cells_agree, cells_same_bits, host, large_networks_agree, measured, networks_agree, problems,
    problems_agree, repeated_problems_agree, repeated_rules_agree, rules_agree, same_bits,
};
use oneway::data::{Dataset, SparseRows};
use oneway::engine::{Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families};
use oneway::methods::kind;
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::{Batch, FiniteSum, Logistic, Regulariser, Robust, RobustLoss, Sharing};
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
    assert_eq!(networks_agree(&host(1)), 33);
}

#[test]
fn repeated_rules_have_the_bits_of_the_simulator() {
    let cases = repeated_rules_agree(&host(1), 5);
    assert!(cases > 120, "{cases}");
    for threads in [1, 4] {
        repeated_problems_agree(&host(threads), 3);
    }
}

/// Rounds that are recorded, and rounds of so many launches that they are not.
#[test]
fn rounds_of_many_steps_have_the_bits_of_the_simulator() {
    let (problem, topology) = (quadratic(4, 0.2).unwrap(), Topology::complete(4).unwrap());
    let schedule = Schedule::constant(0.001).unwrap();
    for counts in [(1, 2), (2, 1), (1, 100), (100, 1)] {
        let method = around(kind("smtpp").unwrap().method([]).unwrap(), counts).unwrap();
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 7 };
        same_bits(&host(1), setup, Precision::F64, ROUNDS, &format!("{counts:?}"));
    }
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
        assert_eq!(cells_agree(&host(threads), 30), 24);
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

/// Residuals from far below the scale to far beyond it, one an agent: e^−q − 1 in each of its ranges.
#[test]
fn welschs_loss_has_the_bits_of_the_simulator_at_any_distance() {
    let labels: Vec<f64> = (-60..60).map(|step| f64::powf(1.4, f64::from(step)).min(1e3)).collect();
    let mut rows = SparseRows::new();
    labels.iter().for_each(|_| rows.push([(0, 1.0)]));
    let n = labels.len();
    let data = Dataset { features: 1, labels, rows };
    let model = Robust::new(1, RobustLoss::Welsch, 1.0).unwrap();
    let sharing = Sharing::among(n).batch(Batch::Full);
    let problem = FiniteSum::new(model, &data, Regulariser::Ridge(0.0), sharing).unwrap();
    let topology = Topology::complete(n).unwrap();
    let method = kind("smtpp").unwrap().method([]).unwrap();
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 9 };
    same_bits(&host(1), setup, Precision::F64, 9, "welsch");
    measured::same(&host(1), &[(setup, measured::EXTRAS)], Precision::F64, "welsch");
}

#[test]
fn large_networks_have_the_bits_of_the_simulator() {
    large_networks_agree(&host(1), 3);
}
