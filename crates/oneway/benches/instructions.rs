//! The same two costs for `scripts/count-instructions`: does `round` or `evaluation` so many times and nothing else.
#![allow(clippy::unwrap_used)]

mod setting;

use oneway::methods::Smtpp;
use oneway::problem::Problem;
use oneway::schedule::Schedule;
use oneway::simulator::{Setup, Simulator};
use setting::{evaluate, exponential, problem};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (kernel, times) = match &arguments[..] {
        [kernel, times] => (kernel.as_str(), times.parse::<u64>().unwrap()),
        _ => return println!("usage: round|evaluation TIMES (see scripts/count-instructions)"),
    };
    let (problem, topology, method) = (problem(), exponential(), Smtpp::new(0.1).unwrap());
    let schedule = Schedule::constant(0.01).unwrap();
    let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup).unwrap();
    let mut g = vec![0.0; 8 * problem.dim()];
    for _ in 0..times {
        match kernel {
            "round" => simulator.round(),
            _ => drop(std::hint::black_box(evaluate(&problem, 8, &mut g))),
        }
    }
}
