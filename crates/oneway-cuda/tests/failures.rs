//! A device that fails: what was asked ends with a message, and nothing is shown that was not computed.
#![allow(clippy::unwrap_used)]

mod common;

use std::any::Any;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use common::host;
use oneway::engine::metrics::Extras;
use oneway::engine::{Engine, Schedule, Setup, Status};
use oneway::graph::Topology;
use oneway::methods::{PUSH_PULL, kind};
use oneway::numeric::Precision;
use oneway::problem::Memory;
use oneway::problems::FromFn;
use oneway::testing::quadratic;
use oneway_cuda::device::{Buffer, Device, Launch, Program, Recording};
use oneway_cuda::host::Host;
use oneway_cuda::{Error, OnDevice, Result, Together, Wide};
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::cells::{CellStore, Ran};
use oneway_experiment::runner::Runner;

/// A host on which allocations, or launches, fail after a given number of them.
#[derive(Debug)]
struct Failing {
    host: Host,
    allocations: Arc<AtomicI64>,
    launches: Arc<AtomicI64>,
}

#[derive(Debug)]
struct FailingProgram {
    inner: Box<dyn Program>,
    allocations: Arc<AtomicI64>,
    launches: Arc<AtomicI64>,
}

fn spend(left: &AtomicI64, why: Error) -> Result<()> {
    if left.fetch_sub(1, Ordering::Relaxed) > 0 { Ok(()) } else { Err(why) }
}

impl Device for Failing {
    fn name(&self) -> String {
        self.host.name()
    }
    fn threads(&self) -> u64 {
        self.host.threads()
    }
    fn shared(&self) -> usize {
        self.host.shared()
    }
    fn memory(&self) -> Memory {
        self.host.memory()
    }
    fn load(&self, source: &str) -> Result<Box<dyn Program>> {
        let (allocations, launches) = (Arc::clone(&self.allocations), Arc::clone(&self.launches));
        Ok(Box::new(FailingProgram { inner: self.host.load(source)?, allocations, launches }))
    }
}

impl Program for FailingProgram {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        spend(&self.allocations, Error::NoMemory("the memory is full".to_owned()))?;
        self.inner.allocate(bytes)
    }
    fn address(&self, buffer: Buffer) -> u64 {
        self.inner.address(buffer)
    }
    fn write_at(&mut self, buffer: Buffer, from: usize, bytes: &[u8]) -> Result<()> {
        self.inner.write_at(buffer, from, bytes)
    }
    fn read_at(&mut self, buffer: Buffer, from: usize, bytes: &mut [u8]) -> Result<()> {
        self.inner.read_at(buffer, from, bytes)
    }
    fn launch(&mut self, launch: &Launch) -> Result<()> {
        spend(&self.launches, Error::Failed("the device is lost".to_owned()))?;
        self.inner.launch(launch)
    }
    fn record(&mut self, launches: &[Launch]) -> Result<Recording> {
        self.inner.record(launches)
    }
    fn replay(&mut self, recording: Recording) -> Result<()> {
        spend(&self.launches, Error::Failed("the device is lost".to_owned()))?;
        self.inner.replay(recording)
    }
    fn hold(&mut self, kept: Box<dyn Any + Send>) -> Result<()> {
        self.inner.hold(kept)
    }
}

fn failing(allocations: i64, launches: i64) -> Failing {
    Failing { host: host(1), allocations: Arc::new(allocations.into()), launches: Arc::new(launches.into()) }
}

#[test]
fn a_device_without_memory_is_an_error_and_no_panic() {
    let (topology, problem) = (Topology::complete(4).unwrap(), quadratic(4, 0.0).unwrap());
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut refused = 0;
    while let Err(error) = Wide::new(&failing(refused, 1000), setup, Precision::F64) {
        assert_eq!(error.to_string(), "the memory is full");
        refused += 1;
    }
    assert!(refused > 10, "{refused}");
}

#[test]
fn a_device_that_is_lost_ends_the_run_with_its_words() {
    let (topology, problem) = (Topology::complete(4).unwrap(), quadratic(4, 0.0).unwrap());
    let schedule = Schedule::constant(0.1).unwrap();
    let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut engine = Wide::new(&failing(1000, 10), setup, Precision::F64).unwrap();
    let outcome = engine.run(500, 5, &mut ()).unwrap();
    let Status::Failed { reason, .. } = outcome.status else { panic!("{:?}", outcome.status) };
    assert_eq!(reason, "the device is lost");

    // whoever looks without asking to be told finds no numbers, and is told at the next call
    let mut engine = Wide::new(&failing(1000, 5), setup, Precision::F64).unwrap();
    engine.round().unwrap();
    assert!(engine.view().estimate(0).iter().all(|x| x.is_nan()));
    assert_eq!(engine.round().unwrap_err().to_string(), "the device is lost");
    assert!(engine.settle().is_err());
}

#[test]
fn runs_side_by_side_say_that_the_memory_is_full_or_the_device_lost() {
    let (topology, problem) = (Topology::complete(4).unwrap(), quadratic(4, 0.0).unwrap());
    let setup = |η| {
        let schedule = Schedule::constant(η).unwrap();
        Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 }
    };
    let runs = [0.1, 0.2, 0.3].map(|η| (setup(η), Extras::default()));
    let make =
        |allocations, launches| Together::new(&failing(allocations, launches), &runs, Precision::F64, 9);
    let mut refused = 0;
    while let Err(error) = make(refused, 1000) {
        assert_eq!(error, Error::NoMemory("the memory is full".to_owned()));
        refused += 1;
    }
    assert!(refused > 5, "{refused}");
    let work = |launches| {
        let mut runs = make(1000, launches)?;
        runs.are_sound()?;
        runs.measure()?;
        runs.advance(9)?;
        runs.measure()?;
        runs.hashes()
    };
    let mut lost = 0;
    while let Err(error) = work(lost) {
        assert_eq!(error, Error::Failed("the device is lost".to_owned()));
        lost += 1;
    }
    assert!(lost > 5, "{lost}");
}

/// Memory for a few runs only: they go a few at a time, and have the results that they would have had.
#[test]
fn what_memory_is_too_small_for_goes_in_parts() {
    let text = "[problem]\nkind = \"quadratic\"\ndim = 2\n[run]\nagents = 3\niterations = 20\nrepetitions = 4\n\
                [[topology]]\nkind = \"ring\"\n[[method]]\nkind = \"smtpp\"\nstep = 0.1\n";
    let plan = Plan::new(&Experiment::parse(text, Path::new(""), &[]).unwrap()).unwrap();
    let run = |runner: Runner| {
        let ran = runner.run(&plan.cells(), &CellStore::none(), false).map_err(|error| error.to_string())?;
        let told = |ran: &Ran<'_>| (ran.result.end.state_hash.clone(), ran.result.points.to_vec());
        Ok::<Vec<_>, String>(ran.iter().map(told).collect())
    };
    let here = run(Runner::new(Some(1)).unwrap()).unwrap();
    let device =
        |allocations| Runner::new(Some(1)).unwrap().on(Box::new(OnDevice(failing(allocations, 1000))));
    // the first tries find no memory, whoever comes last does
    let mut works = 0;
    for allocations in (20..400).step_by(20) {
        match run(device(allocations)) {
            Ok(there) => {
                assert_eq!(there, here, "{allocations}");
                works += 1;
            }
            Err(error) => assert!(error.contains("the memory is full"), "{error}"),
        }
    }
    assert!(works > 0);
}

#[test]
fn what_has_no_kernels_says_why() {
    let topology = Topology::complete(4).unwrap();
    let schedule = Schedule::constant(0.1).unwrap();
    let own = FromFn::new(4, 1, |agent, x, g| {
        g[0] = x[0] - agent as f64;
        0.5 * g[0] * g[0]
    });
    let quadratic = quadratic(4, 0.0).unwrap();
    let host = host(1);
    let refused = |method: &str, problem: &dyn oneway::problem::Problem| {
        let method = kind(method).unwrap().method([]).unwrap();
        let setup = Setup { method: &*method, problem, topology: &topology, schedule, seed: 1 };
        match Wide::new(&host, setup, Precision::F64) {
            Err(Error::Unsupported(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    assert!(refused("push-pull", &own).contains("runs on the CPU"));
    assert!(refused("compressed-smtpp", &quadratic).contains("encoded"));
}
