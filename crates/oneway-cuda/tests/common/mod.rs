//! What tests of kernels share.
#![allow(dead_code, unreachable_pub, clippy::panic)] // each test file takes what it needs

pub mod measured;

use std::io::Write;
use std::sync::Mutex;

use oneway::data::partition::Partition;
use oneway::engine::observe::View;
use oneway::engine::schedule::Shape;
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families, weights};
use oneway::method::Method;
use oneway::methods::combine::{LocalUpdates, MultiGossip};
use oneway::methods::estimator::ESTIMATORS;
use oneway::methods::{KINDS, Kind, kind};
use oneway::numeric::Precision;
use oneway::parameters::Parameters;
use oneway::problem::Problem;
use oneway::problems::{
    Batch, FiniteSum, LeastSquares, Logistic, Quadratic, QuadraticShape, Regulariser, Robust, RobustLoss,
    Sharing, Softmax, TwoLayer,
};
use oneway::testing::{Subject, dataset, quadratic};
use oneway_cuda::device::Device;
use oneway_cuda::host::Host;
use oneway_cuda::{Cells, Source, Wide};

/// A host with this number of threads in a block.
pub fn host(threads: u32) -> Host {
    Host::new(threads).unwrap()
}

/// All rules of the registry: as they are, and with every estimator that they take.
pub fn rules() -> Vec<(String, &'static Kind, Box<dyn Method>)> {
    let mut rules = vec![];
    for kind in KINDS {
        let own = Parameters::new(kind.name, kind.parameters, []).unwrap();
        rules.push((kind.name.to_owned(), kind, kind.method([]).unwrap()));
        let with = kind.with_estimator.iter();
        for (with, estimator) in with.flat_map(|with| ESTIMATORS.iter().map(move |e| (with, e))) {
            // three samples for the mean of several gradients
            let given = estimator.parameters.iter().filter(|p| p.name == "samples");
            let given = given.map(|p| (p.name.to_owned(), 3.0));
            let given = Parameters::new(estimator.name, estimator.parameters, given).unwrap();
            let method = with(&own, (estimator.build)(&given).unwrap()).unwrap();
            rules.push((format!("{} with {}", kind.name, estimator.name), kind, method));
        }
    }
    rules.retain(|(_, _, method)| method.trace().is_some());
    rules
}

/// Every problem on rows that has kernels, with seven rows an agent.
pub fn problems(n: usize, batch: Batch) -> Vec<(&'static str, Box<dyn Problem>)> {
    let mut data = dataset(7 * n);
    data.labels = (0..7 * n).map(|r| (r * r % 7) as f64 - 2.0).collect();
    let sharing = Sharing::among(n).partition(Partition::Shuffled).batch(batch);
    let [cauchy, welsch] = [(RobustLoss::Cauchy, 0.7), (RobustLoss::Welsch, 1.5)]
        .map(|(loss, scale)| Robust::new(6, loss, scale).unwrap());
    let two_layer = TwoLayer::new(&data, 3, 1).unwrap();
    let (paper, ridge) = (Regulariser::NonConvex(0.01), Regulariser::Ridge(0.02));
    vec![
        ("logistic", Box::new(Logistic::new(&dataset(7 * n), sharing, 0.01).unwrap())),
        ("least squares", Box::new(FiniteSum::new(LeastSquares::new(6), &data, ridge, sharing).unwrap())),
        ("softmax", Box::new(FiniteSum::new(Softmax::new(&data).unwrap(), &data, paper, sharing).unwrap())),
        ("cauchy", Box::new(FiniteSum::new(cauchy, &data, paper, sharing).unwrap())),
        ("two-layer", Box::new(FiniteSum::new(two_layer, &data, ridge, sharing).unwrap())),
        ("welsch", Box::new(FiniteSum::new(welsch, &data, paper, sharing).unwrap())),
    ]
}

/// Runs on the device and in the simulator; states must be the same after the first rounds and at the end.
pub fn same_bits(device: &dyn Device, setup: Setup<'_>, precision: Precision, rounds: u64, what: &str) {
    let mut there = Wide::new(device, setup, precision).unwrap_or_else(|error| panic!("{what}: {error}"));
    match precision {
        Precision::F64 => compare(&mut there, &mut Simulator::new(setup).unwrap(), rounds, what),
        Precision::F32 => {
            let mut here = Simulator::<f32>::with_precision(setup).unwrap();
            compare(&mut there, &mut here, rounds, what);
        }
    }
}

fn compare<'a>(there: &mut impl Engine<'a>, here: &mut impl Engine<'a>, rounds: u64, what: &str) {
    assert_eq!(there.state_hash(), here.state_hash(), "{what}: state 0 of {rounds}");
    for k in 1..=rounds {
        there.round().unwrap();
        here.round().unwrap();
        if k == 1 || k == 2 || k == rounds {
            assert_eq!(there.view().k, k);
            assert_eq!(there.state_hash(), here.state_hash(), "{what}: state {k} of {rounds}");
        }
    }
}

/// What `work` makes of each item, on as many threads as there are cores.
pub fn at_once<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let queue = Mutex::new(items.into_iter());
    let next = || queue.lock().unwrap().next();
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(item) = next() {
                    work(item);
                }
            });
        }
    });
}

/// Something that this machine does not have, so that a test cannot be done here: said, and noted in the file
/// that `ONEWAY_LEFT_OUT` names. Where `ONEWAY_REQUIRES` lists it the test fails.
pub fn leave_out(what: &str, why: &str) {
    let required = std::env::var("ONEWAY_REQUIRES").unwrap_or_default();
    assert!(!required.split_whitespace().any(|name| name == what), "{what} must be had here: {why}");
    let line = format!("left out for want of {what}: {why}");
    eprintln!("{line}");
    if let Some(path) = std::env::var_os("ONEWAY_LEFT_OUT") {
        let mut file = std::fs::File::options().create(true).append(true).open(path).unwrap();
        writeln!(file, "{line}").unwrap();
    }
}

/// A quadratic of this many agents, with noise.
pub fn noisy(agents: usize) -> Box<dyn Problem> {
    Box::new(quadratic(agents, 0.3).unwrap())
}

/// Every rule with every estimator that it takes, on the last network that it is made for, with noise.
pub fn rules_agree(device: &dyn Device, rounds: u64, precisions: fn(&str) -> &'static [Precision]) -> usize {
    rules_agree_on(noisy, device, rounds, precisions)
}

/// The same on a problem of as many agents.
pub fn rules_agree_on(
    problem: fn(usize) -> Box<dyn Problem>,
    device: &dyn Device,
    rounds: u64,
    precisions: fn(&str) -> &'static [Precision],
) -> usize {
    let rules = rules();
    let count = rules.len();
    at_once(rules, |(name, kind, method)| {
        let subject = Subject::builtin(kind);
        let (graph, network, digraphs) = subject.networks().unwrap().into_iter().next_back().unwrap();
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let problem = problem(topology.agents());
        let schedule = Schedule::constant(subject.raw_step(&topology, 0.02).unwrap()).unwrap();
        let setup = Setup { method: &*method, problem: &*problem, topology: &topology, schedule, seed: 11 };
        for precision in precisions(&name) {
            same_bits(device, setup, *precision, rounds, &format!("{name} on {network}"));
        }
    });
    count
}

/// This many exchanges in place of each, and steps for each, around a method; none where they do not fit it.
pub fn around(method: Box<dyn Method>, (exchanges, steps): (usize, usize)) -> Option<Box<dyn Method>> {
    let method = MultiGossip::new("test", method, exchanges).ok()?;
    Some(Box::new(LocalUpdates::new("test", Box::new(method), steps).ok()?))
}

/// Every rule with several exchanges in place of one and local steps, and those without another estimator with either.
pub fn repeated_rules_agree(device: &dyn Device, rounds: u64) -> usize {
    repeated_rules_agree_on(noisy, device, rounds)
}

/// The same on a problem of as many agents.
pub fn repeated_rules_agree_on(
    problem: fn(usize) -> Box<dyn Problem>,
    device: &dyn Device,
    rounds: u64,
) -> usize {
    const F64: &[Precision] = &[Precision::F64];
    let both: &[Precision] = &[Precision::F64, Precision::F32];
    let of = |(name, kind, method): (String, &'static Kind, Box<dyn Method>), counts, precisions| {
        Some((format!("{name}, {counts:?}"), kind, around(method, counts)?, precisions))
    };
    let mut cases: Vec<_> = rules().into_iter().filter_map(|rule| of(rule, (2, 2), F64)).collect();
    for (counts, precisions) in [((3, 1), F64), ((1, 3), both)] {
        let plain = rules().into_iter().filter(|(name, kind, _)| name == kind.name);
        cases.extend(plain.filter_map(|rule| of(rule, counts, precisions)));
    }
    let count = cases.len();
    at_once(cases, |(name, kind, method, precisions)| {
        let subject = Subject::builtin(kind);
        let (graph, network, digraphs) = subject.networks().unwrap().into_iter().next_back().unwrap();
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let schedule = Schedule::constant(subject.raw_step(&topology, 0.02).unwrap()).unwrap();
        let problem = problem(topology.agents());
        let setup = Setup { method: &*method, problem: &*problem, topology: &topology, schedule, seed: 11 };
        for precision in precisions {
            same_bits(device, setup, *precision, rounds, &format!("{name} on {network}, {precision}"));
        }
    });
    count
}

/// Rows of data in rounds with oneself: their samples go on from those of the exchange. One network, and runs side
/// by side that have different numbers of exchanges and of steps.
pub fn repeated_problems_agree(device: &dyn Device, rounds: u64) {
    let methods = ["smtpp", "sgp", "frost", "storm-tracking", "dsmt"]; // as in `problems_agree`
    let batches = [Batch::Sampled(1), Batch::Sampled(3), Batch::Full];
    let cases = methods.iter().zip(batches.iter().cycle());
    at_once(cases.collect(), |(name, &batch)| {
        let subject = Subject::builtin(kind(name).unwrap());
        let (graph, _, digraphs) = subject.networks().unwrap().remove(0);
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let schedule = Schedule::constant(subject.raw_step(&topology, 0.2).unwrap()).unwrap();
        let with = |counts| around(subject.method().unwrap(), counts).unwrap();
        for (problem_name, problem) in problems(topology.agents(), batch).into_iter().step_by(2) {
            for (few, many) in [((3, 1), (4, 1)), ((1, 3), (1, 2)), ((2, 2), (3, 4))] {
                let what = format!("{name} {few:?} {many:?} on {problem_name}, {batch:?}");
                let methods = [few, many].map(with);
                let setup = |at: usize| {
                    let method = &*methods[at % 2];
                    Setup { method, problem: &*problem, topology: &topology, schedule, seed: 5 + at as u64 }
                };
                same_bits(device, setup(0), Precision::F64, rounds, &what);
                let setups = [0, 1, 2].map(setup);
                let mut cells = Cells::new(device, &setups, Precision::F64).unwrap();
                let simulator = |setup| Simulator::new(setup).unwrap();
                cells_same_bits(&mut cells, &setups, rounds, simulator, &what);
            }
        }
    });
}

/// Every method of the registry that has kernels, on every subgraph of every network that it is made for.
pub fn networks_agree(device: &dyn Device) -> usize {
    let any = quadratic(2, 0.1).unwrap();
    let has_kernels =
        |subject: &Subject<'_>| Source::new(&*subject.method().unwrap(), &any, Precision::F64).is_ok();
    let subjects: Vec<_> = KINDS.iter().map(Subject::builtin).filter(has_kernels).collect();
    let count = subjects.len();
    at_once(subjects, |subject| {
        for case in subject.cases().unwrap() {
            let problem = quadratic(case.topology.agents(), 0.1).unwrap();
            let (method, topology) = (&*case.method, &case.topology);
            let schedule = Schedule::constant(case.η).unwrap();
            let setup = Setup { method, problem: &problem, topology, schedule, seed: 3 };
            same_bits(device, setup, Precision::F64, 9, &case.name);
        }
    });
    count
}

/// Rows of data: every problem with these batches, on rules with one point, with two, with what is carried
/// and with two exchanges.
pub fn problems_agree(device: &dyn Device, rounds: u64, batches: &[Batch]) {
    let methods = ["smtpp", "sgp", "frost", "adamdos", "storm-tracking", "dsmt"];
    let cases = methods.iter().flat_map(|method| batches.iter().map(move |batch| (*method, *batch)));
    at_once(cases.collect(), |(name, batch)| {
        let subject = Subject::builtin(kind(name).unwrap());
        let (graph, _, digraphs) = subject.networks().unwrap().remove(0);
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        let (n, method) = (topology.agents(), subject.method().unwrap());
        let schedule = Schedule::constant(subject.raw_step(&topology, 0.5).unwrap()).unwrap();
        for (problem_name, problem) in problems(n, batch) {
            let what = format!("{name} on {problem_name}, {batch:?}");
            let setup =
                Setup { method: &*method, problem: &*problem, topology: &topology, schedule, seed: 5 };
            same_bits(device, setup, Precision::F64, rounds, &what);
            if name == "smtpp" && batch != Batch::Full {
                same_bits(device, setup, Precision::F32, rounds, &what);
            }
        }
    });
}

/// Runs side by side on one network and on two, in both precisions: other seeds, steps and parameters. Of one
/// small network a thread has a coordinate of all agents, if gradients are those of one row or coordinate.
pub fn cells_agree(device: &dyn Device, rounds: u64) -> usize {
    let n = 8;
    let noisy = quadratic(n, 0.2).unwrap();
    let singles = problems(n, Batch::Sampled(1));
    let several = problems(n, Batch::Sampled(3)).remove(0).1;
    let [reshuffled, by_threes] = [1, 3].map(|size| problems(n, Batch::Reshuffled(size)).remove(0).1);
    let topology =
        |digraph| Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let topologies = [topology(families::exponential(n).unwrap()), topology(families::flower(n, 2).unwrap())];
    let mut cases: Vec<(&str, &str, &dyn Problem, bool)> = vec![
        ("smtpp", "quadratic", &noisy, true),
        ("sgp", "quadratic", &noisy, true),
        ("storm-tracking", "quadratic", &noisy, true), // two points
        ("smtpp", "logistic, batch 3", &*several, false),
        ("sgp", "logistic, in passes", &*reshuffled, true),
        ("smtpp", "logistic, in passes by threes", &*by_threes, false),
    ];
    for (name, problem) in &singles {
        cases.extend(["smtpp", "sgp", "push-pull"].map(|method| {
            let one_output = !["softmax", "two-layer"].contains(name);
            (method, *name, &**problem, one_output)
        }));
    }
    let count = cases.len();
    // kernels of one text share the host's memory: what differs only in its networks goes one by one
    at_once(cases, |(method, name, problem, columns)| {
        let parameters = |at: usize| (method == "smtpp").then_some(("momentum", [0.1, 0.3][at]));
        let methods = [0, 1].map(|at| kind(method).unwrap().method(parameters(at)).unwrap());
        let schedule = Schedule::new(0.4, Shape::InverseSqrt, 3).unwrap();
        for (networks, precision) in
            [1, 2].into_iter().flat_map(|n| [(n, Precision::F64), (n, Precision::F32)])
        {
            let what = format!("{method} on {name}, {networks} networks, {precision}");
            let setup = |at: usize| {
                let (method, topology) = (&*methods[at % 2], &topologies[at / 2 % networks]);
                Setup { method, problem, topology, schedule, seed: 100 + at as u64 }
            };
            let setups: Vec<Setup<'_>> = (0..5).map(setup).collect();
            let mut cells = Cells::new(device, &setups, precision).unwrap();
            assert_eq!(cells.by_columns(), columns && networks == 1, "{what}");
            if precision == Precision::F64 {
                cells_same_bits(&mut cells, &setups, rounds, |setup| Simulator::new(setup).unwrap(), &what);
            } else {
                let simulator = |setup| Simulator::<f32>::with_precision(setup).unwrap();
                cells_same_bits(&mut cells, &setups, rounds, simulator, &what);
            }
        }
    });
    count
}

/// No round, one round and some more: the states of all runs are the simulators'.
pub fn cells_same_bits<'a, E: Engine<'a>>(
    cells: &mut Cells<'a>,
    setups: &[Setup<'a>],
    rounds: u64,
    simulator: impl Fn(Setup<'a>) -> E,
    what: &str,
) {
    let mut simulators: Vec<_> = setups.iter().map(|setup| simulator(*setup)).collect();
    for rounds in [0, 1, rounds] {
        cells.advance(rounds).unwrap();
        for (at, simulator) in simulators.iter_mut().enumerate() {
            (0..rounds).for_each(|_| simulator.round().unwrap());
            let (here, there) = (simulator.view(), cells.state(at).unwrap());
            let bits = |view: &View<'_>| {
                let rows = (0..view.agents()).flat_map(|agent| view.state(agent).to_vec());
                rows.map(f64::to_bits).collect::<Vec<_>>()
            };
            assert_eq!(there.view().k, here.k);
            assert!(bits(&there.view()) == bits(&here), "{what}: run {at} after {} rounds", here.k);
        }
    }
}

/// Many agents, and few with many coordinates: kernels that take several coordinates at a time, and one that
/// has a coordinate of all agents.
pub fn large_networks_agree(device: &dyn Device, rounds: u64) {
    let many = families::k_out(30_000, 4, 1).unwrap();
    let pull = weights::uniform_rows(&many.reversed()).unwrap();
    let many = Topology::fixed(pull, weights::uniform_columns(&many).unwrap()).unwrap();
    let (ring, few) = (families::ring(30_000).unwrap(), Topology::complete(4).unwrap());
    let ring = Topology::from_digraphs(&[ring], Subgraph::Full, Weights::Uniform, 0).unwrap();
    let schedule = Schedule::constant(0.1).unwrap();
    let cases = [
        ("smtpp", &many, 10, 0.0, Precision::F64), // two coordinates at a time
        ("storm-tracking", &many, 12, 0.3, Precision::F32), // four
        ("sgp", &ring, 10, 0.3, Precision::F64),
        ("sgp", &ring, 9, 0.0, Precision::F32), // one
        ("smtpp", &few, 1 << 15, 0.0, Precision::F64),
        ("storm-tracking", &few, 1 << 15, 0.3, Precision::F32),
        ("sgp", &few, 1 << 15, 0.0, Precision::F64),
    ];
    for (name, topology, dim, noise, precision) in cases {
        let shape = QuadraticShape { dim, curvature: [0.5, 1.0], heterogeneity: 1.0, noise };
        let problem = Quadratic::new(shape, topology.agents(), 1).unwrap();
        let method = kind(name).unwrap().method([]).unwrap();
        let setup = Setup { method: &*method, problem: &problem, topology, schedule, seed: 2 };
        same_bits(device, setup, precision, rounds, &format!("{name}, d = {dim}, noise {noise}"));
    }
}
