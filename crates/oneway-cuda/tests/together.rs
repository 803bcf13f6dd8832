//! Runs side by side are measured on the device: the bits of the processors' measurements, soundness and
//! hashes.
#![allow(clippy::unwrap_used)]

mod common;

use common::host;
use common::measured::{EXTRAS, methods_are_measured, problems_are_measured, same};
use oneway::data::{Dataset, SparseRows};
use oneway::engine::metrics::Extras;
use oneway::engine::{Engine, Schedule, Setup, Simulator};
use oneway::graph::{Subgraph, Topology, Weights, families};
use oneway::method::Method;
use oneway::methods::kind;
use oneway::numeric::Precision;
use oneway::problems::{Logistic, Quadratic, QuadraticShape, Sharing};
use oneway::testing::quadratic;
use oneway_cuda::host::Host;
use oneway_cuda::{Error, Together};

#[test]
fn every_problem_is_measured_with_the_bits_of_the_processors() {
    problems_are_measured(&host(1));
}

#[test]
fn every_method_is_measured_with_the_bits_of_the_processors() {
    assert!(methods_are_measured(&host(1)) > 40);
}

fn exponential(n: usize) -> Topology {
    let digraph = families::exponential(n).unwrap();
    Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap()
}

/// More agents than there are blocks of sums; rows too long for the memory that threads share; blocks of
/// several threads; runs on several problems and networks at once.
#[test]
fn sizes_and_threads_change_no_bit() {
    let mut rows = SparseRows::new();
    (0..210u32).for_each(|r| rows.push((0..5).map(|c| (r * 97 % 90 + 90 * c, 1.0 + f64::from(c) / 8.0))));
    let labels = (0..210).map(|r| if r % 3 == 0 { 1.0 } else { -1.0 }).collect();
    let long = Dataset { features: 450, labels, rows };
    let long = Logistic::new(&long, Sharing::among(3), 0.01).unwrap();
    let shape = QuadraticShape { dim: 3, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.1 };
    let many = [1, 2].map(|seed| Quadratic::new(shape, 70, seed).unwrap());
    let (three, seventy) = (exponential(3), [exponential(70), Topology::complete(70).unwrap()]);
    let method = kind("smtpp").unwrap().method([]).unwrap();
    let schedule = Schedule::constant(0.1).unwrap();
    for threads in [1, 4] {
        let host = Host::new(threads).unwrap();
        let setup = |problem, topology, seed| Setup { method: &*method, problem, topology, schedule, seed };
        let of_many = |at: usize| setup(&many[at % 2], &seventy[at / 2 % 2], at as u64);
        let runs: Vec<_> = (0..5).map(|at| (of_many(at), EXTRAS)).collect();
        same(&host, &runs, Precision::F64, &format!("70 agents, {threads} threads"));
        let runs = [(setup(&long, &three, 1), EXTRAS), (setup(&long, &three, 2), Extras::default())];
        same(&host, &runs, Precision::F64, &format!("long rows, {threads} threads"));
    }
}

/// What is left stays as it is, and what goes on does not notice.
#[test]
fn runs_that_are_left_stay_as_they_are() {
    let (host, topology) = (host(1), exponential(4));
    let problem = quadratic(4, 0.0).unwrap();
    let method: Box<dyn Method> = kind("smtpp").unwrap().method([]).unwrap();
    let setup = |η| {
        let schedule = Schedule::constant(η).unwrap();
        Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 }
    };
    let runs = [0.1, 1e200, 0.2].map(|η| (setup(η), Extras::default()));
    let mut there = Together::new(&host, &runs, Precision::F64, 20).unwrap();
    let mut here = runs.map(|(setup, _)| Simulator::new(setup).unwrap());
    there.advance(3).unwrap();
    here.iter_mut().for_each(|engine| (0..3).for_each(|_| engine.round().unwrap()));
    assert_eq!(there.are_sound().unwrap(), [true, false, true]);
    there.keep(&[true, false, true]).unwrap();
    there.advance(5).unwrap();
    assert_eq!(there.measure().unwrap().len(), 2);
    [0, 2].iter().for_each(|at| (0..5).for_each(|_| here[*at].round().unwrap()));
    let hashes: Vec<String> = here.iter().map(Engine::state_hash).collect();
    assert_eq!(there.hashes().unwrap(), hashes);
    assert_eq!([0, 1, 2].map(|run| there.state(run).unwrap().view().k), [8, 3, 8]);
    assert_eq!(there.state(2).unwrap().view().state(3), here[2].view().state(3));
    there.keep(&[false, false]).unwrap();
    there.advance(1).unwrap();
    assert_eq!(there.are_sound().unwrap(), [] as [bool; 0]);
}

/// Kinds that do not go together are refused, and so is what has no kernels.
#[test]
fn what_does_not_go_together_is_refused() {
    let (host, topology) = (host(1), exponential(4));
    let [one, other] = [quadratic(4, 0.0), quadratic(4, 0.1)].map(Result::unwrap);
    let schedule = Schedule::constant(0.1).unwrap();
    let refused = |names: [&str; 2]| {
        let methods = names.map(|name| kind(name).unwrap().method([]).unwrap());
        let runs: Vec<_> = methods
            .iter()
            .zip([&one, &other])
            .map(|(method, problem)| {
                let method = &**method;
                (Setup { method, problem, topology: &topology, schedule, seed: 1 }, Extras::default())
            })
            .collect();
        match Together::new(&host, &runs, Precision::F64, 9) {
            Err(Error::Unsupported(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused(["smtpp", "sgp"]).contains("one kind"));
    assert!(refused(["local-smtpp", "smtpp"]).contains("one rule"));
    assert!(refused(["compressed-smtpp", "compressed-smtpp"]).contains("encoded"));
    assert!(Together::new(&host, &[], Precision::F64, 9).is_err());
}
