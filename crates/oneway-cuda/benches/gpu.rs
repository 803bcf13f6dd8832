//! The whole suite on a GPU: bits against the simulator, then speed. `just gpu`.
//!
//! Arguments: any of `bits`, `wide`, `cells`, `together` and `scale` keeps only these; `small` is a part of `bits`
//! that a checker of memory and of races has the time for. Without a GPU it says so, and fails.
#![allow(clippy::unwrap_used, clippy::panic, clippy::type_complexity)]

#[path = "../tests/common/mod.rs"]
mod common;

use std::process::ExitCode;
use std::time::Instant;

use common::measured::{methods_are_measured, problems_are_measured};
use common::{
    cells_agree, large_networks_agree, networks_agree, problems, problems_agree, repeated_problems_agree,
    repeated_rules_agree, rules_agree, same_bits,
};
use oneway::data::a9a::{Split, a9a};
use oneway::engine::metrics::Extras;
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families, weights};
use oneway::methods::{Smtpp, kind};
use oneway::numeric::Precision;
use oneway::numeric::sample::derive_seed;
use oneway::problem::Problem;
use oneway::problems::{Batch, Logistic, Quadratic, QuadraticShape, Sharing};
use oneway::testing::{Subject, quadratic};
use oneway_cuda::cuda::{self, Cuda};
use oneway_cuda::device::Device;
use oneway_cuda::{Cells, Together, Wide};

/// A part of the suite.
type Part = fn(&Cuda);

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let device = match cuda::open() {
        Ok(device) => device,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    println!("{}", device.name());
    let parts: [(&str, Part); 6] = [
        ("bits", bits),
        ("wide", wide),
        ("cells", cells),
        ("together", together),
        ("scale", scale),
        ("small", small),
    ];
    for (name, part) in parts {
        if (arguments.is_empty() && name != "small") || arguments.iter().any(|argument| argument == name) {
            println!("== {name}");
            part(&device);
        }
    }
    ExitCode::SUCCESS
}

fn lap<R>(what: &str, work: impl FnOnce() -> R) -> R {
    let began = Instant::now();
    let made = work();
    println!("{what}: {:.2} s", began.elapsed().as_secs_f64());
    made
}

fn exponential(n: usize) -> Topology {
    let digraph = families::exponential(n).unwrap();
    Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
}

/// An agent pulls from the four that it picked and pushes to them: R and C have different links.
fn k_out(n: usize) -> Topology {
    let graph = families::k_out(n, 4, 1).unwrap();
    let pull = weights::uniform_rows(&graph.reversed()).unwrap();
    Topology::fixed(pull, weights::uniform_columns(&graph).unwrap()).unwrap()
}

/// The simulator's bits: every rule with every estimator, every network, every problem, and a9a.
fn bits(device: &Cuda) {
    let rules = lap("every rule with every estimator, noisy quadratic, 67 rounds: the same bits", || {
        rules_agree(device, 67, |name| {
            let precisions = &[Precision::F64, Precision::F32];
            if name.contains(" with ") { &precisions[..1] } else { precisions }
        })
    });
    let networks = lap("every method on every network that it is made for, 9 rounds: the same bits", || {
        networks_agree(device)
    });
    println!("({rules} rules; {networks} methods)");
    lap("5 methods on every problem, measured with the same bits", || problems_are_measured(device));
    let cases =
        lap("every method on every network, measured with the same bits", || methods_are_measured(device));
    println!("({cases} cases)");
    lap("6 methods on every problem with rows, 67 rounds: the same bits", || {
        problems_agree(
            device,
            67,
            &[Batch::Sampled(1), Batch::Sampled(7), Batch::Reshuffled(3), Batch::Full],
        );
    });
    let repeated =
        lap("several exchanges and local steps around every rule, 67 rounds: the same bits", || {
            repeated_rules_agree(device, 67)
        });
    println!("({repeated} cases)");
    lap("the same on every problem with rows, also side by side: the same bits", || {
        repeated_problems_agree(device, 67);
    });
    lap("runs side by side, 31 rounds: the same bits", || cells_agree(device, 30));
    lap("many agents, and many coordinates, 20 rounds: the same bits", || large_networks_agree(device, 20));
    lap("SMTPP on a9a, n = 20, batch 1 and full, 900 rounds: the same bits", || {
        for batch in [Batch::Sampled(1), Batch::Full] {
            let problem = Logistic::new(&a9a(Split::Train), Sharing::among(20).batch(batch), 0.01).unwrap();
            let (topology, method) = (exponential(20), Smtpp::new(0.1).unwrap());
            let schedule = Schedule::constant(0.1 / topology.c_pi().unwrap()).unwrap();
            let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
            same_bits(device, setup, Precision::F64, 900, "a9a");
        }
    });
}

/// Every kernel once: rules with one exchange and with two, with what is carried and without, on both kinds
/// of problems, wide and side by side; and what measures every problem.
fn small(device: &Cuda) {
    let schedule = Schedule::constant(0.05).unwrap();
    for name in ["smtpp", "sgp", "frost", "dsmt"] {
        let subject = Subject::builtin(kind(name).unwrap());
        let method = subject.method().unwrap();
        let (graph, _, digraphs) = subject.networks().unwrap().remove(0);
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let noisy = quadratic(9, 0.3).unwrap();
        let (noisy, method, topology): (&dyn Problem, _, _) = (&noisy, &*method, &topology);
        let setup = Setup { method, problem: noisy, topology, schedule, seed: 5 };
        same_bits(device, setup, Precision::F64, 3, name);
        for batch in [Batch::Sampled(3), Batch::Full] {
            let problem = &*problems(9, batch).remove(0).1;
            same_bits(device, Setup { problem, ..setup }, Precision::F64, 3, name);
        }
    }
    repeated_problems_agree(device, 1);
    cells_agree(device, 2);
    large_networks_agree(device, 1);
    problems_are_measured(device);
    println!("the same bits");
}

/// A quadratic for `n` agents, on a graph of that size.
fn sized(n: usize, dim: usize, noise: f64) -> (Quadratic, Topology) {
    let shape = QuadraticShape { dim, curvature: [0.5, 1.0], heterogeneity: 1.0, noise };
    let topology = if n < 100 { exponential(n) } else { k_out(n) };
    (Quadratic::new(shape, n, 1).unwrap(), topology)
}

/// The best of four times that `rounds` rounds take; the first of the four finds nothing warm.
fn seconds_of<'a>(engine: &mut impl Engine<'a>, rounds: u64) -> f64 {
    let mut seconds = f64::INFINITY;
    for _ in 0..4 {
        engine.settle().unwrap();
        let began = Instant::now();
        (0..rounds).for_each(|_| engine.round().unwrap());
        engine.settle().unwrap();
        seconds = seconds.min(began.elapsed().as_secs_f64());
    }
    seconds
}

/// Rounds a second of this machine's CPU, all cores, and of the GPU, as lines for `benches/gpu/scale.csv`; and
/// the bytes a second that the CPU copies.
fn scale(device: &Cuda) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("device,n,d,rounds_per_second");
    for n in [100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000] {
        let (problem, topology) = sized(n, 10, 0.0);
        let (method, schedule) = (Smtpp::new(0.1).unwrap(), Schedule::constant(0.01).unwrap());
        let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
        let mut here = Simulator::new(setup).unwrap();
        let rounds = (3_000_000 / n).clamp(3, 6400) as u64;
        println!("cpu,{n},10,{:.1}", rounds as f64 / seconds_of(&mut here, rounds));
        let mut there = Wide::new(device, setup, Precision::F64).unwrap();
        let rounds = (20_000_000 / n).clamp(128, 6400) as u64 / 64 * 64;
        println!("gpu,{n},10,{:.1}", rounds as f64 / seconds_of(&mut there, rounds));
    }
    let (from, mut to) = (vec![1u64; 1 << 27], vec![0u64; 1 << 27]);
    let mut seconds = f64::INFINITY;
    for _ in 0..5 {
        let began = Instant::now();
        std::thread::scope(|scope| {
            let part = from.len().div_ceil(cores);
            for (from, to) in from.chunks(part).zip(to.chunks_mut(part)) {
                scope.spawn(|| to.copy_from_slice(from));
            }
        });
        seconds = seconds.min(began.elapsed().as_secs_f64());
    }
    println!(
        "# {cores} cores copy {:.1} GB/s, read and written",
        2.0 * 8.0 * from.len() as f64 / seconds / 1e9
    );
}

/// Rounds a second of one network, from small to a million agents.
fn wide(device: &Cuda) {
    println!("|n|d|precision|problem|rounds/s|ms a round|");
    println!("|---|---|---|---|---|---|");
    let kinds = [(Precision::F64, 0.0), (Precision::F64, 1.0), (Precision::F32, 0.0)];
    let sizes = [(1_000, 10), (10_000, 10), (100_000, 10), (1_000_000, 10), (1_000, 1_000), (16, 1_000_000)];
    let sizes = sizes.map(|size| (size, &kinds[..])).into_iter().chain([((16, 11_000_000), &kinds[2..])]);
    for ((n, d), kinds) in sizes {
        for &(precision, noise) in kinds {
            let (problem, topology) = sized(n, d, noise);
            let (method, schedule) = (Smtpp::new(0.1).unwrap(), Schedule::constant(0.01).unwrap());
            let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
            let mut engine = Wide::new(device, setup, precision).unwrap();
            let rounds = (200_000_000 / (n * d)).clamp(128, 6400) as u64 / 64 * 64;
            let seconds = seconds_of(&mut engine, rounds);
            let what = if noise > 0.0 { "quadratic with noise" } else { "quadratic" };
            let (per_second, each) = (rounds as f64 / seconds, 1e3 * seconds / rounds as f64);
            println!("|{n}|{d}|{precision}|{what}|{per_second:.0}|{each:.4}|");
        }
    }
    let problem = Logistic::new(&a9a(Split::Train), Sharing::among(20), 0.01).unwrap();
    let (topology, method) = (exponential(20), Smtpp::new(0.1).unwrap());
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut engine = Wide::new(device, setup, Precision::F64).unwrap();
    for _ in 0..2 {
        let began = Instant::now();
        (0..12_800).for_each(|_| engine.round().unwrap());
        engine.wait().unwrap();
        println!("|20|123|f64|a9a, batch 1|{:.0}||", 12_800.0 / began.elapsed().as_secs_f64());
    }
}

/// Rounds a second of many small runs: a9a, n = 20, batch 1.
fn cells(device: &Cuda) {
    let problem = Logistic::new(&a9a(Split::Train), Sharing::among(20), 0.01).unwrap();
    let (topology, method) = (exponential(20), Smtpp::new(0.1).unwrap());
    let schedule = Schedule::constant(0.1).unwrap();
    println!("|cells|rounds of each|million rounds/s|");
    println!("|---|---|---|");
    for count in [132, 264, 396, 528, 1056, 1584, 3168] {
        let setup = |seed| Setup { method: &method, problem: &problem, topology: &topology, schedule, seed };
        let setups: Vec<Setup<'_>> = (0..count).map(|at| setup(derive_seed(1, at))).collect();
        let mut all = Cells::new(device, &setups, Precision::F64).unwrap();
        let rounds = 4096;
        let mut seconds = f64::INFINITY;
        for _ in 0..3 {
            all.state(0).unwrap();
            let began = Instant::now();
            all.advance(rounds).unwrap();
            all.state(0).unwrap();
            seconds = seconds.min(began.elapsed().as_secs_f64());
        }
        println!("|{count}|{rounds}|{:.2}|", (count * rounds) as f64 / seconds / 1e6);
        if count == 132 {
            let mut simulator = Simulator::new(setups[131]).unwrap();
            (0..3 * rounds).for_each(|_| simulator.round().unwrap());
            let (here, there) = (simulator.view(), all.state(131).unwrap());
            let same = (0..20).all(|agent| here.state(agent) == there.view().state(agent));
            assert!(same, "run 131 of 132 after {} rounds", here.k);
            println!("(the last of 132 has the simulator's bits after {} rounds)", here.k);
        }
    }
}

/// How long measuring on the device takes. a9a, n = 20.
fn together(device: &Cuda) {
    let problem = Logistic::new(&a9a(Split::Train), Sharing::among(20), 0.01).unwrap();
    let problem = problem.with_test(a9a(Split::Test)).unwrap();
    let topology = exponential(20);
    let schedule = Schedule::constant(0.1).unwrap();
    println!("|method|runs|set up, ms|30 rounds, ms|soundness, ms|measuring, ms|hashes, ms|");
    println!("|---|---|---|---|---|---|---|");
    for name in ["smtpp", "push-pull", "frost"] {
        for count in [32, 1024, 4096] {
            let method = kind(name).unwrap().method([]).unwrap();
            let (method, problem) = (&*method, &problem);
            let setup = |seed| Setup { method, problem, topology: &topology, schedule, seed };
            let runs: Vec<_> = (0..count).map(|at| (setup(derive_seed(1, at)), Extras::default())).collect();
            let time = |work: &mut dyn FnMut()| {
                let began = Instant::now();
                work();
                1e3 * began.elapsed().as_secs_f64()
            };
            drop(Together::new(device, &runs[..2], Precision::F64, 60).unwrap()); // kernels are compiled
            let mut made = None;
            let set_up = time(&mut || {
                let all = made.insert(Together::new(device, &runs, Precision::F64, 60).unwrap());
                all.are_sound().unwrap();
            });
            let mut all = made.unwrap();
            all.advance(30).unwrap();
            all.measure().unwrap();
            let rounds = time(&mut || {
                all.advance(30).unwrap();
                all.are_sound().unwrap();
            });
            let sound = time(&mut || drop(all.are_sound().unwrap()));
            let measuring = time(&mut || drop(all.measure().unwrap()));
            let hashes = time(&mut || drop(all.hashes().unwrap()));
            println!("|{name}|{count}|{set_up:.1}|{rounds:.1}|{sound:.2}|{measuring:.2}|{hashes:.2}|");
        }
    }
}
