//! How long the steps of some agents take on this machine, without messages.

use std::ops::Range;
use std::time::{Duration, Instant};

use anyhow::{Result, anyhow};
use oneway::engine::Setup;
use oneway::engine::part::{Carrier, Meanwhile, Moment, Part, Slab};
use oneway::engine::simulator::Number;
use oneway::numeric::Precision;

/// How long a measurement may take, beside the first rounds.
const BUDGET: Duration = Duration::from_millis(300);

/// The most rounds of it: agents that hear nothing new for longer may come to numbers that are slow.
const ROUNDS: u32 = 400;

/// Nobody sends anything: rows of others are ones, which have been written once, since memory that nobody has
/// written costs nothing to read.
#[derive(Debug)]
pub struct Silence {
    own: Range<usize>,
    begun: bool,
}

impl Silence {
    /// For a process with these agents.
    pub fn around(own: Range<usize>) -> Self {
        Self { own, begun: false }
    }
}

impl<T: Number> Carrier<T> for Silence {
    fn carry(&mut self, _: Moment, graphs: [Slab<'_, T>; 2], _: Meanwhile<'_, T>) -> oneway::Result<()> {
        if !std::mem::replace(&mut self.begun, true) {
            for Slab { numbers, stride } in graphs {
                numbers[..self.own.start * stride].fill(T::from_f64(1.0));
                numbers[self.own.end * stride..].fill(T::from_f64(1.0));
            }
        }
        Ok(())
    }
}

/// Seconds of a round of the first `agents` agents, on each of some threads that all do the same at once: the
/// fastest part of a short run.
pub fn measure(setup: Setup<'_>, precision: Precision, agents: usize, threads: usize) -> Result<f64> {
    match precision {
        Precision::F64 => on_threads::<f64>(setup, agents, threads),
        Precision::F32 => on_threads::<f32>(setup, agents, threads),
    }
}

fn on_threads<T: Number>(setup: Setup<'_>, agents: usize, threads: usize) -> Result<f64> {
    let slowest =
        |times: Vec<Result<f64>>| times.into_iter().try_fold(0.0, |most, time| Ok(f64::max(most, time?)));
    std::thread::scope(|scope| {
        let one = || {
            let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
            alone.install(|| fastest::<T>(setup, agents))
        };
        let all: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(one)).collect();
        slowest(
            all.into_iter()
                .map(|time| time.join().unwrap_or_else(|_| Err(anyhow!("a round failed"))))
                .collect(),
        )
    })
}

/// The mean time of a round in the fastest of many batches.
fn fastest<T: Number>(setup: Setup<'_>, agents: usize) -> Result<f64> {
    let mut part = Part::<T>::new(setup, 0..agents)?;
    let mut silence = Silence::around(part.own());
    let mut round = || part.round(&mut silence);
    round()?;
    let began = Instant::now();
    round()?;
    let batch = (2e-5 / began.elapsed().as_secs_f64().max(1e-9)).clamp(1.0, 50.0) as u32;
    let (began, mut best, mut done) = (Instant::now(), f64::INFINITY, 0);
    while best.is_infinite() || (done < ROUNDS && began.elapsed() < BUDGET) {
        let lap = Instant::now();
        (0..batch).try_for_each(|_| round())?;
        best = best.min(lap.elapsed().as_secs_f64() / f64::from(batch));
        done += batch;
    }
    Ok(best)
}
