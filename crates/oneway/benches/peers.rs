//! oneway's side of `just bench-peers`: its timings, or its curves, as JSON for `benches/peers/run.py`.
//!
//! `smtpp`: SMTPP on the exponential graph. `push-pull`: Push-Pull on the same graph with links both ways and
//! Metropolis weights, where R = C = W makes it ATC gradient tracking, X⁺ = W(X − ηY), Y⁺ = WY + G⁺ − G.
#![allow(clippy::unwrap_used)]

mod setting;

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use oneway::data::a9a::{Split, a9a};
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::metrics::{Extras, Measurement};
use oneway::engine::observe::View;
use oneway::engine::record::{self, Recorder};
use oneway::engine::{Engine, Setup};
use oneway::graph::topology::Topology;
use oneway::method::Method;
use oneway::methods::{PUSH_PULL, Smtpp};
use oneway::problems::{Batch, Logistic, Sharing};
use setting::{AGENTS, both_ways, exponential};

const ROUNDS: u64 = 1000;
const RECORD_EVERY: u64 = 10;
const STEP: f64 = 0.1;
const SEED: u64 = 1;
const USAGE: &str = "usage: time|curves smtpp|push-pull, then TIMES or ROUNDS (see benches/peers)";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let [task, name, number] = &arguments[..] else { return println!("{USAGE}") };
    let case = match name.as_str() {
        "smtpp" => Case { method: Box::new(Smtpp::new(0.1).unwrap()), topology: exponential() },
        "push-pull" => Case { method: Box::new(PUSH_PULL), topology: both_ways() },
        _ => return println!("{USAGE}"),
    };
    match task.as_str() {
        "time" => time(&case, number.parse().unwrap()),
        "curves" => curves(&case, number.parse().unwrap()),
        _ => println!("{USAGE}"),
    }
}

struct Case {
    method: Box<dyn Method>,
    topology: Topology,
}

impl Case {
    fn setup<'a>(&'a self, problem: &'a Logistic) -> Setup<'a> {
        let schedule = Schedule::constant(STEP).unwrap();
        let Case { method, topology } = self;
        Setup { method: &**method, problem, topology, schedule, seed: SEED }
    }

    fn simulator<'a>(&'a self, problem: &'a Logistic) -> Simulator<'a> {
        Simulator::new(self.setup(problem)).unwrap()
    }
}

/// Prints seconds a round, of several runs with metrics off, with metrics every 10 and with those on one
/// thread; a run is 1000 rounds, batch 1. Rounds are always on one thread: with 20 agents there is nothing to
/// share.
fn time(case: &Case, times: u64) {
    let problem = problem(Batch::Sampled(1));
    let (mut off, mut on, mut on_one) = (vec![], vec![], vec![]);
    for _ in 0..times {
        let mut simulator = case.simulator(&problem);
        off.push(seconds_a_round(|| {
            (0..ROUNDS).try_for_each(|_| simulator.round()).unwrap();
            black_box(simulator.view());
        }));
        on.push(seconds_a_round(|| drop(black_box(measured_beside(case, &problem)))));
        let simulator = case.simulator(&problem);
        on_one.push(seconds_a_round(|| drop(black_box(measured(simulator, ROUNDS)))));
    }
    println!("{{\"off\": {}, \"on\": {}, \"on_one_thread\": {}}}", list(&off), list(&on), list(&on_one));
}

/// Prints the curves of one run of `rounds` rounds, with full batches and with batch 1.
fn curves(case: &Case, rounds: u64) {
    let of = |batch| {
        let points = measured(case.simulator(&problem(batch)), rounds);
        let column = |name, of: fn(&Measurement) -> f64| {
            let values: Vec<f64> = points.iter().map(of).collect();
            format!("\"{name}\": {}", list(&values))
        };
        let columns = [
            column("loss", |point| point.loss),
            column("grad_norm_sq", |point| point.grad_norm_sq),
            column("consensus_error", |point| point.consensus_error),
            column("tracking_error", |point| point.tracking_error.unwrap_or_default()),
            column("momentum_error", |point| point.momentum_error.unwrap_or_default()),
            column("conservation_error", |point| point.conservation_error.unwrap_or_default()),
            column("test_accuracy", |point| point.test_accuracy.unwrap_or_default()),
            column("bytes_sent", |point| point.bytes_sent.unwrap_or_default() as f64),
        ];
        format!("{{{}}}", columns.join(", "))
    };
    println!("{{\"full\": {}, \"sampled\": {}}}", of(Batch::Full), of(Batch::Sampled(1)));
}

/// Runs and records as the lab does: the real recorder, all metrics, test accuracy among them.
fn measured(mut simulator: Simulator<'_>, rounds: u64) -> Vec<Measurement> {
    let mut recorder = Recorder::default();
    let mut record = |view: &View<'_>| recorder.record(view).map(ControlFlow::Continue);
    simulator.run(rounds, RECORD_EVERY, &mut record).unwrap();
    recorder.finish(&simulator.view()).unwrap()
}

/// The same with all threads, as the lab runs a cell that is alone.
fn measured_beside(case: &Case, problem: &Logistic) -> Vec<Measurement> {
    let run = |recorder: &mut record::ConcurrentRecorder<'_, '_>| {
        let mut record = |view: &View<'_>| recorder.record(view).map(ControlFlow::Continue);
        case.simulator(problem).run(ROUNDS, RECORD_EVERY, &mut record).unwrap()
    };
    record::concurrently(case.setup(problem), Extras::default(), run).unwrap().1
}

fn problem(batch: Batch) -> Logistic {
    let problem =
        Logistic::new(&a9a(Split::Train), Sharing::among(AGENTS).batch(batch).seed(SEED), 0.01).unwrap();
    problem.with_test(a9a(Split::Test)).unwrap()
}

fn seconds_a_round(work: impl FnOnce()) -> f64 {
    let started = Instant::now();
    work();
    started.elapsed().as_secs_f64() / ROUNDS as f64
}

/// A JSON list; `{:e}` is the shortest form that reads back to the same number.
fn list(values: &[f64]) -> String {
    let values: Vec<String> = values.iter().map(|value| format!("{value:e}")).collect();
    format!("[{}]", values.join(", "))
}
