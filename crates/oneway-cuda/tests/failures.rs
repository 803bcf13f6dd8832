//! A device that fails: what was asked ends with a message, and nothing is shown that was not computed.
#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use common::host;
use oneway::engine::{Engine, Schedule, Setup, Status};
use oneway::graph::Topology;
use oneway::methods::{PUSH_PULL, kind};
use oneway::numeric::Precision;
use oneway::problems::FromFn;
use oneway::testing::quadratic;
use oneway_cuda::device::{Buffer, Device, Launch, Program, Recording};
use oneway_cuda::host::Host;
use oneway_cuda::{Error, Result, Wide};

/// A host that does so many allocations, or launches, and then no more.
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

fn spend(left: &AtomicI64, why: &str) -> Result<()> {
    if left.fetch_sub(1, Ordering::Relaxed) > 0 { Ok(()) } else { Err(Error::Failed(why.to_owned())) }
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
    fn load(&self, source: &str) -> Result<Box<dyn Program>> {
        let (allocations, launches) = (Arc::clone(&self.allocations), Arc::clone(&self.launches));
        Ok(Box::new(FailingProgram { inner: self.host.load(source)?, allocations, launches }))
    }
}

impl Program for FailingProgram {
    fn allocate(&mut self, bytes: usize) -> Result<Buffer> {
        spend(&self.allocations, "the memory is full")?;
        self.inner.allocate(bytes)
    }
    fn address(&self, buffer: Buffer) -> u64 {
        self.inner.address(buffer)
    }
    fn write(&mut self, buffer: Buffer, bytes: &[u8]) -> Result<()> {
        self.inner.write(buffer, bytes)
    }
    fn read(&mut self, buffer: Buffer, bytes: &mut [u8]) -> Result<()> {
        self.inner.read(buffer, bytes)
    }
    fn launch(&mut self, launch: &Launch) -> Result<()> {
        spend(&self.launches, "the device is lost")?;
        self.inner.launch(launch)
    }
    fn record(&mut self, launches: &[Launch]) -> Result<Recording> {
        self.inner.record(launches)
    }
    fn replay(&mut self, recording: Recording) -> Result<()> {
        spend(&self.launches, "the device is lost")?;
        self.inner.replay(recording)
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
    let mut engine = Wide::new(&failing(1000, 9), setup, Precision::F64).unwrap();
    let outcome = engine.run(500, 5, &mut ()).unwrap();
    let Status::Failed { reason, .. } = outcome.status else { panic!("{:?}", outcome.status) };
    assert_eq!(reason, "the device is lost");

    // whoever looks without asking to be told finds no numbers, and is told at the next call
    let mut engine = Wide::new(&failing(1000, 4), setup, Precision::F64).unwrap();
    engine.round().unwrap();
    assert!(engine.view().estimate(0).iter().all(|x| x.is_nan()));
    assert_eq!(engine.round().unwrap_err().to_string(), "the device is lost");
    assert!(engine.settle().is_err());
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
    assert!(refused("local-smtpp", &quadratic).contains("local steps"));
    assert!(refused("compressed-smtpp", &quadratic).contains("encoded"));
}
