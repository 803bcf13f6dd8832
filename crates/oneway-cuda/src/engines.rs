//! A device for whoever runs experiments: one run by the wide engine, many small ones side by side.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use oneway::engine::Setup;
use oneway::engine::metrics::Measurement;
use oneway::engine::observe::Snapshot;
use oneway::numeric::Precision;
use oneway_experiment::engines::{Engines, Made, SideBySide, Task, Together};
use sha2::{Digest, Sha256};

use crate::device::Device;
use crate::error::Error;
use crate::source::Source;
use crate::{together, wide};

/// Runs in a group, at most: many times what a device does at once, and not more than it has memory for.
const MOST: usize = 4096;

/// Engines on a device.
#[derive(Debug)]
pub struct OnDevice<D>(pub D);

impl<D: Device> Engines for OnDevice<D> {
    fn engine<'a>(&self, setup: Setup<'a>, precision: Precision) -> oneway::Result<Made<'a>> {
        match wide::Wide::new(&self.0, setup, precision) {
            Ok(engine) => Ok(Made::There(Box::new(engine))),
            Err(Error::Unsupported(why)) => Ok(Made::Stays(why)),
            Err(error) => Err(error.into()),
        }
    }

    fn groups(&self, tasks: &[Task<'_>]) -> Vec<Vec<usize>> {
        let (different, which) = distinct(tasks);
        let kinds = at_once(&different, |at| self.kind(&tasks[*at]));
        let mut groups: Vec<Vec<usize>> = vec![];
        let mut known = HashMap::new();
        for (at, which) in which.into_iter().enumerate() {
            let Task { rounds, record_every, .. } = tasks[at];
            let Some(kind) = kinds[which] else { continue };
            let group = known.entry((rounds, record_every, kind)).or_insert_with(|| {
                groups.push(vec![]);
                groups.len() - 1
            });
            groups[*group].push(at);
        }
        groups.retain(|group| group.len() > 1); // one alone is the wide engine's
        groups.iter().flat_map(|group| group.chunks(MOST).map(<[usize]>::to_vec)).collect()
    }

    fn together<'a>(&self, tasks: &[Task<'a>]) -> oneway::Result<Together<'a>> {
        let Some(&Task { precision, rounds, .. }) = tasks.first() else {
            return Ok(Together::TooMany);
        };
        let (different, which) = distinct(tasks);
        let printed = at_once(&different, |at| {
            let Setup { method, problem, .. } = tasks[*at].setup;
            Source::new(method, problem, precision).map(Arc::new)
        });
        let printed = printed.into_iter().collect::<Result<Vec<_>, _>>()?;
        let sources = tasks.iter().zip(which).map(|(task, which)| (task.setup, Arc::clone(&printed[which])));
        let runs: Vec<_> = tasks.iter().map(|task| (task.setup, task.extras.clone())).collect();
        match together::Together::of(&self.0, &runs, sources.collect(), precision, rounds) {
            Ok(runs) => Ok(Together::Made(Box::new(runs))),
            Err(Error::NoMemory(_)) => Ok(Together::TooMany),
            Err(error) => Err(error.into()),
        }
    }
}

impl<D: Device> OnDevice<D> {
    /// The hash of what runs that go side by side have in common; none for a run that goes alone.
    fn kind(&self, task: &Task<'_>) -> Option<[u8; 32]> {
        let Task { setup, precision, ref extras, .. } = *task;
        if extras.minimiser.is_some() {
            return None; // how far x̄ is from x* is measured on the processors
        }
        let source = Source::new(setup.method, setup.problem, precision).ok()?;
        let kind = together::kind(&self.0, setup, &source, precision)?;
        Some(Sha256::digest(kind).into())
    }
}

/// The first task of each method on a problem, and which of these each task is like.
fn distinct(tasks: &[Task<'_>]) -> (Vec<usize>, Vec<usize>) {
    let (mut different, mut known) = (vec![], HashMap::new());
    let like = |(at, Task { setup, precision, .. }): (usize, &Task<'_>)| {
        let [method, problem] =
            [std::ptr::from_ref(setup.method).addr(), std::ptr::from_ref(setup.problem).addr()];
        *known.entry((method, problem, precision.bytes())).or_insert_with(|| {
            different.push(at);
            different.len() - 1
        })
    };
    let which = tasks.iter().enumerate().map(like).collect();
    (different, which)
}

impl<'a> SideBySide<'a> for together::Together<'a> {
    fn are_sound(&mut self) -> oneway::Result<Vec<bool>> {
        Ok(self.are_sound()?)
    }

    fn measure(&mut self) -> oneway::Result<Vec<Measurement>> {
        Ok(self.measure()?)
    }

    fn advance(&mut self, rounds: u64) -> oneway::Result<()> {
        Ok(self.advance(rounds)?)
    }

    fn keep(&mut self, going: &[bool]) -> oneway::Result<()> {
        Ok(self.keep(going)?)
    }

    fn state_hashes(&mut self) -> oneway::Result<Vec<String>> {
        Ok(self.hashes()?)
    }

    fn state(&mut self, run: usize) -> oneway::Result<Snapshot<'a>> {
        Ok(self.state(run)?)
    }
}

/// What `work` makes of each item, on as many threads as there are cores.
fn at_once<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    /// Fewer are not worth a thread.
    const FEW: usize = 64;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let share = items.len().div_ceil(cores).max(FEW);
    let found = Mutex::new(vec![]);
    let one = &|(at, items): (usize, &[T])| {
        let made: Vec<R> = items.iter().map(&work).collect();
        found.lock().unwrap_or_else(PoisonError::into_inner).push((at, made));
    };
    std::thread::scope(|scope| {
        for part in items.chunks(share).enumerate().skip(1) {
            scope.spawn(move || one(part));
        }
        items.chunks(share).enumerate().take(1).for_each(one);
    });
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().flat_map(|(_, made)| made).collect()
}
