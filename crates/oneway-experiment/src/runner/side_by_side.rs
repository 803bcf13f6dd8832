//! Cells that run side by side on a device, in the steps of [`run`](oneway::engine::Engine::run): each has the
//! result that it has alone.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;
use oneway::engine::metrics::Measurement;

use crate::engines::{Engines, SideBySide, Task, Together};
use crate::experiment::plan::Cell;
use crate::experiment::spec::RunSpec;
use crate::progress::{CellProgress, Progress, look_every};
use crate::results::cells::{CellResult, CellStatus, End, Estimates};

/// What is asked of the cells of a group besides their rounds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wishes<'a> {
    pub(super) progress: &'a dyn Progress,
    pub(super) interrupted: &'a AtomicBool,
    pub(super) estimates: bool,
}

/// A cell as a device sees it.
pub(super) fn task<'a>(cell: &Cell<'a>) -> Task<'a> {
    let RunSpec { precision, iterations: rounds, record_every, .. } = cell.entry.run;
    Task { setup: cell.setup(), precision, rounds, record_every, extras: cell.extras() }
}

/// Runs the cells of a group. None where the device has no memory for all of them.
pub(super) fn run<'a>(
    engines: &dyn Engines,
    cells: &[&Cell<'a>],
    wishes: Wishes<'_>,
) -> Result<Option<Vec<CellResult>>> {
    let Some(first) = cells.first() else { return Ok(Some(vec![])) };
    let tasks: Vec<Task<'a>> = cells.iter().map(|cell| task(cell)).collect();
    let runs = match engines.together(&tasks)? {
        Together::Made(runs) => runs,
        Together::TooMany => return Ok(None),
    };
    let ways =
        cells.iter().map(|cell| Way { bar: Some(wishes.progress.begin(cell)), points: vec![], end: None });
    let run = first.entry.run;
    let mut group =
        Group { runs, run, ways: ways.collect(), k: 0, stepping: Duration::ZERO, observing: Duration::ZERO };
    let failed = group.go(wishes.interrupted).err();
    group.results(failed, wishes).map(Some)
}

/// A cell on its way.
#[derive(Debug)]
struct Way {
    /// Gone when the cell has ended.
    bar: Option<Box<dyn CellProgress>>,
    points: Vec<Measurement>,
    end: Option<(CellStatus, u64)>,
}

/// Cells side by side.
#[derive(Debug)]
struct Group<'a> {
    runs: Box<dyn SideBySide<'a> + 'a>,
    run: RunSpec,
    ways: Vec<Way>,
    k: u64,
    stepping: Duration,
    observing: Duration,
}

impl Group<'_> {
    /// Makes all rounds, as [`Engine::run`](oneway::engine::Engine::run) does.
    fn go(&mut self, interrupted: &AtomicBool) -> oneway::Result<()> {
        let RunSpec { iterations, record_every, .. } = self.run;
        let every = look_every(record_every);
        loop {
            let began = Instant::now();
            let sound = self.runs.are_sound()?;
            self.leave(&sound, CellStatus::Diverged)?;
            if self.going() == 0 {
                return Ok(());
            }
            if self.k.is_multiple_of(record_every) || self.k == iterations {
                let measured = self.runs.measure()?;
                let going = self.ways.iter_mut().filter(|way| way.end.is_none());
                going.zip(measured).for_each(|(way, point)| way.points.push(point));
            }
            let (k, going) = (self.k, self.ways.iter_mut().filter(|way| way.end.is_none()));
            going.filter_map(|way| way.bar.as_mut()).for_each(|bar| bar.reach(k));
            self.observing += began.elapsed();
            let flow = match interrupted.load(Ordering::Relaxed) {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            };
            let end = match flow {
                _ if self.k >= iterations => Some(CellStatus::Completed),
                ControlFlow::Break(()) => Some(CellStatus::Stopped),
                ControlFlow::Continue(()) => None,
            };
            if let Some(end) = end {
                return self.leave(&vec![false; self.going()], end);
            }
            let began = Instant::now();
            let next = (self.k - self.k % every).saturating_add(every).min(iterations);
            self.runs.advance(next - self.k)?;
            self.k = next;
            self.stepping += began.elapsed(); // what is begun is waited for when somebody looks
        }
    }

    fn going(&self) -> usize {
        self.ways.iter().filter(|way| way.end.is_none()).count()
    }

    /// Ends those cells that do not go on.
    fn leave(&mut self, going: &[bool], status: CellStatus) -> oneway::Result<()> {
        if going.iter().all(|goes_on| *goes_on) {
            return Ok(());
        }
        self.runs.keep(going)?;
        let ways = self.ways.iter_mut().filter(|way| way.end.is_none());
        for (way, _) in ways.zip(going).filter(|(_, goes_on)| !**goes_on) {
            way.end = Some((status, self.k));
            way.bar = None;
        }
        Ok(())
    }

    /// What came of each cell. Where the device failed, those that had not ended have failed.
    fn results(mut self, failed: Option<oneway::Error>, wishes: Wishes<'_>) -> Result<Vec<CellResult>> {
        let hashes = match &failed {
            None => self.runs.state_hashes()?,
            Some(_) => vec![String::new(); self.ways.len()],
        };
        let share = |time: Duration| time.as_secs_f64() / self.ways.len().max(1) as f64;
        let (seconds_stepping, seconds_observing) = (share(self.stepping), share(self.observing));
        let mut results = vec![];
        for (at, (way, state_hash)) in std::mem::take(&mut self.ways).into_iter().zip(hashes).enumerate() {
            let (status, rounds) = way.end.unwrap_or((CellStatus::Failed, self.k));
            let (status, reason) = match &failed {
                Some(_) if wishes.interrupted.load(Ordering::Relaxed) => (CellStatus::Stopped, None),
                Some(error) => (CellStatus::Failed, Some(error.to_string())),
                None => (status.judged_by(&way.points), None),
            };
            let end = End { status, rounds, state_hash, seconds_stepping, seconds_observing, reason };
            let estimates = match (wishes.estimates, &failed) {
                (true, None) => Some(Arc::new(Estimates::of(&self.runs.state(at)?.view())?)),
                _ => None,
            };
            results.push(CellResult { end, points: way.points.into(), estimates });
        }
        Ok(results)
    }
}
