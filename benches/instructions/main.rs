//! Does one kernel a given number of times and nothing else, on this thread alone, for
//! `scripts/count-instructions`.
#![allow(clippy::unwrap_used, clippy::panic)]

#[path = "../../crates/oneway/benches/setting/mod.rs"]
mod setting;

use std::hint::black_box;

use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::{Engine, Setup};
use oneway::graph::Topology;
use oneway::graph::{families, weights};
use oneway::method::Method;
use oneway::methods::{Smtpp, kind};
use oneway::problem::Problem;
use oneway::problems::{Quadratic, QuadraticShape};
use setting::work::{Case, cases};
use setting::{AGENTS, evaluate, exponential, problem};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kernel, times] = match &arguments[..] {
        [kernel, times] => [kernel, times],
        [list] if list == "methods" => {
            return cases().iter().for_each(|Case { kind, mixed, gradients, kept, .. }| {
                println!("{},{mixed},{gradients},{kept}", kind.name);
            });
        }
        _ => panic!(
            "usage: instructions KERNEL TIMES, or instructions methods (see scripts/count-instructions)"
        ),
    };
    // other threads would wait for work in loops, and their instructions would be counted
    rayon::ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().unwrap();
    let times = times.parse().unwrap();
    match kernel.as_str() {
        "round" => rounds(times, &smtpp(), &problem(), &exponential()),
        "round-small" => rounds(times, &smtpp(), &quadratic(AGENTS, 8, 1.0), &exponential()),
        // two fifths of this round, in a network large enough for weights in bytes and rows that are asked
        // for ahead; `mix_row` alone would not be compiled for wide vectors
        "mixing" => rounds(times, &smtpp(), &quadratic(20_000, 10, 0.0), &k_out(20_000)),
        "evaluation-1" => evaluations(times, 1),
        "evaluation-8" => evaluations(times, 8),
        "topology" => (0..times).for_each(|_| _ = black_box(k_out(10_000).check_common_root().unwrap())),
        _ => {
            let name = kernel.strip_prefix("round:").expect("a kernel's name, or round: and a method's");
            let (kind, problem) = (kind(name).unwrap(), problem());
            let Case { topology, .. } = Case::new(kind, &problem);
            rounds(times, &*kind.method([]).unwrap(), &problem, &topology);
        }
    }
}

fn smtpp() -> Smtpp {
    Smtpp::new(0.1).unwrap()
}

fn rounds(times: usize, method: &dyn Method, problem: &dyn Problem, topology: &Topology) {
    let schedule = Schedule::constant(0.01).unwrap();
    let setup = Setup { method, problem, topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup).unwrap();
    (0..times).try_for_each(|_| simulator.round()).expect("a round");
}

fn evaluations(times: usize, points: usize) {
    let problem = problem();
    let mut gradients = vec![0.0; points * problem.dim()];
    (0..times).for_each(|_| _ = black_box(evaluate(&problem, points, &mut gradients)));
}

fn quadratic(agents: usize, dim: usize, noise: f64) -> Quadratic {
    let shape = QuadraticShape { dim, curvature: [0.5, 2.0], heterogeneity: 1.0, noise };
    Quadratic::new(shape, agents, 1).unwrap()
}

/// Each agent pulls from four others and pushes to them.
fn k_out(agents: usize) -> Topology {
    let graph = families::k_out(agents, 4, 1).unwrap();
    let pull = weights::uniform_rows(&graph.reversed()).unwrap();
    Topology::fixed(pull, weights::uniform_columns(&graph).unwrap()).unwrap()
}
