//! What tests of measurements on a device share.

use std::sync::atomic::{AtomicUsize, Ordering};

use oneway::data::Dataset;
use oneway::data::partition::Partition;
use oneway::engine::metrics::{Extras, measure_many};
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::methods::{KINDS, kind};
use oneway::numeric::Precision;
use oneway::problem::Problem;
use oneway::problems::{
    Batch, FiniteSum, LeastSquares, Logistic, Regulariser, Robust, RobustLoss, Sharing, Softmax, TwoLayer,
};
use oneway::testing::{Subject, dataset, quadratic};
use oneway_cuda::device::Device;
use oneway_cuda::{Error, Together};

use super::at_once;

/// Side by side and one by one: what is measured at first, after some rounds, and at the end.
pub fn same(device: &dyn Device, runs: &[(Setup<'_>, Extras)], precision: Precision, what: &str) {
    match precision {
        Precision::F64 => compare(device, runs, |setup| Simulator::new(setup).unwrap(), precision, what),
        Precision::F32 => {
            let make = |setup| Simulator::<f32>::with_precision(setup).unwrap();
            compare(device, runs, make, precision, what);
        }
    }
}

fn compare<'a, E: Engine<'a>>(
    device: &dyn Device,
    runs: &[(Setup<'a>, Extras)],
    make: impl Fn(Setup<'a>) -> E,
    precision: Precision,
    what: &str,
) {
    let mut there = Together::new(device, runs, precision, 9).unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut here: Vec<E> = runs.iter().map(|(setup, _)| make(*setup)).collect();
    for rounds in [0, 2, 7] {
        there.advance(rounds).unwrap();
        here.iter_mut().for_each(|engine| (0..rounds).for_each(|_| engine.round().unwrap()));
        let measured = there.measure().unwrap();
        for ((engine, (_, extras)), found) in here.iter().zip(runs).zip(measured) {
            let expected = measure_many(&[engine.view()], extras).unwrap().remove(0);
            // numbers are printed with all their digits
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{what}");
        }
        assert!(there.are_sound().unwrap().iter().all(|sound| *sound), "{what}");
    }
    let hashes: Vec<String> = here.iter().map(Engine::state_hash).collect();
    assert_eq!(there.hashes().unwrap(), hashes, "{what}");
}

/// Every problem that has kernels, with 70 rows an agent, more than are summed at a time, and held-out rows.
fn problems(n: usize) -> Vec<(&'static str, Box<dyn Problem>)> {
    let (mut data, mut test) = (dataset(70 * n), dataset(90));
    let labels = |data: &mut Dataset| {
        data.labels = (0..data.labels.len()).map(|r| (r * r % 7) as f64 - 2.0).collect();
    };
    let (signs, sign_tests) = (data.clone(), test.clone());
    labels(&mut data);
    labels(&mut test);
    let sharing = Sharing::among(n).partition(Partition::Shuffled).batch(Batch::Sampled(2));
    let [cauchy, welsch] = [(RobustLoss::Cauchy, 0.7), (RobustLoss::Welsch, 1.5)]
        .map(|(loss, scale)| Robust::new(6, loss, scale).unwrap());
    let softmax = FiniteSum::new(Softmax::new(&data).unwrap(), &data, Regulariser::Ridge(0.02), sharing);
    let two_layer =
        FiniteSum::new(TwoLayer::new(&data, 3, 1).unwrap(), &data, Regulariser::Ridge(0.02), sharing);
    let logistic = Logistic::new(&signs, sharing, 0.01).unwrap();
    let (paper, ridge) = (Regulariser::NonConvex(0.01), Regulariser::Ridge(0.02));
    let squares = FiniteSum::new(LeastSquares::new(6), &data, ridge, sharing).unwrap();
    vec![
        ("logistic", Box::new(logistic.with_test(sign_tests).unwrap())),
        ("softmax", Box::new(softmax.unwrap().with_test(test.clone()).unwrap())),
        ("least squares", Box::new(squares.with_test(test.clone()).unwrap())), // of which no share is right
        ("cauchy", Box::new(FiniteSum::new(cauchy, &data, paper, sharing).unwrap())),
        ("two-layer", Box::new(two_layer.unwrap().with_test(test).unwrap())),
        ("welsch", Box::new(FiniteSum::new(welsch, &data, paper, sharing).unwrap())),
        ("quadratic", Box::new(quadratic(n, 0.3).unwrap())),
    ]
}

/// All that can be asked for.
pub const EXTRAS: Extras = Extras { optimum: Some(0.25), agents: true, minimiser: None };

/// Every problem with five kinds of methods, 35 runs: more than share a pass over the data.
pub fn problems_are_measured(device: &dyn Device) {
    at_once(vec!["smtpp", "sgp", "csgdm", "frost", "storm-tracking"], |name| {
        let subject = Subject::builtin(kind(name).unwrap());
        let (graph, _, digraphs) = subject.networks().unwrap().remove(0);
        let topology = subject.topology(graph, &digraphs, 4).unwrap();
        for (of, problem) in problems(topology.agents()) {
            let problem = &*problem;
            let method = subject.method().unwrap();
            let schedule = Schedule::constant(subject.raw_step(&topology, 0.3).unwrap()).unwrap();
            let setup = |seed| Setup { method: &*method, problem, topology: &topology, schedule, seed };
            let runs: Vec<_> = (0..35).map(|seed| (setup(seed), EXTRAS)).collect();
            for precision in [Precision::F64, Precision::F32] {
                let few = if precision == Precision::F64 { &runs[..] } else { &runs[..3] };
                same(device, few, precision, &format!("{name} on {of}, {precision}"));
            }
        }
    });
}

/// Every method that can go side by side, on every network that it is made for: laws, x̄, bytes. Returns how many cases
/// there were.
pub fn methods_are_measured(device: &dyn Device) -> usize {
    let subjects: Vec<Subject<'_>> = KINDS.iter().map(Subject::builtin).collect();
    let count = AtomicUsize::new(0);
    at_once(subjects, |subject| {
        for case in subject.cases().unwrap() {
            let problem = quadratic(case.topology.agents(), 0.1).unwrap();
            let (method, topology) = (&*case.method, &case.topology);
            let schedule = Schedule::constant(case.η).unwrap();
            let setup = Setup { method, problem: &problem, topology, schedule, seed: 3 };
            match Together::new(device, &[(setup, EXTRAS)], Precision::F64, 9) {
                Ok(_) => same(device, &[(setup, EXTRAS)], Precision::F64, &case.name),
                Err(Error::Unsupported(_)) => continue,
                Err(error) => panic!("{}: {error}", case.name),
            }
            count.fetch_add(1, Ordering::Relaxed);
        }
    });
    count.into_inner()
}
