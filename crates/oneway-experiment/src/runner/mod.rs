//! Runs cells: side by side over the cores, each once however many share it, kept as soon as they are
//! finished.

mod groups;
mod side_by_side;

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use oneway::engine::metrics::Measurement;
use oneway::engine::observe::{Observer, View};
use oneway::engine::record::{self, Recorder};
use oneway::engine::simulator::worth_threads;
use oneway::engine::{Outcome, Setup, Status};
use rayon::iter::Either;
use rayon::prelude::*;

use crate::engines::{AnyEngine, Engines, Made};
use crate::experiment::plan::Cell;
use crate::experiment::spec::RunSpec;
use crate::keeper::Keeper;
use crate::live::{CellLive, Live};
use crate::progress::{CellProgress, Progress, Silent, Watcher, look_every};
use crate::results::cells::{CellResult, CellStatus, CellStore, End, Estimates, Ran};

/// A pool of this number of threads (`None`: one for each core).
pub fn pool(threads: Option<u16>) -> Result<rayon::ThreadPool> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads.map_or(0, usize::from)).build()?)
}

/// How to run.
#[derive(Debug)]
pub struct Runner {
    pool: rayon::ThreadPool,
    interrupted: Arc<AtomicBool>,
    show: fn(u64) -> Box<dyn Progress>,
    keeps_failed: bool,
    keeps_estimates: bool,
    keep_every: Duration,
    watcher: Option<Box<dyn Watcher>>,
    live: Option<Live>,
    around: fn(&mut (dyn FnMut() + Send)),
    engines: Option<Box<dyn Engines>>,
    stayed: Mutex<Vec<(String, String)>>,
}

impl Runner {
    /// A runner on this number of threads (`None`: one for each core).
    pub fn new(threads: Option<u16>) -> Result<Self> {
        let show: fn(u64) -> Box<dyn Progress> = |_rounds| Box::new(Silent);
        Ok(Self {
            pool: pool(threads)?,
            interrupted: Arc::default(),
            show,
            keeps_failed: false,
            keeps_estimates: false,
            keep_every: Duration::from_secs(30),
            watcher: None,
            live: None,
            around: |work| work(),
            engines: None,
            stayed: Mutex::default(),
        })
    }

    /// The same, for which a cell that fails is a result, with what was measured before. To others it is an
    /// error.
    pub fn keeping_failed(self) -> Self {
        Self { keeps_failed: true, ..self }
    }

    /// The same, which makes a progress for a number of rounds whenever it runs cells.
    pub fn showing(self, show: fn(u64) -> Box<dyn Progress>) -> Self {
        Self { show, ..self }
    }

    /// The same, whose results say where each run ended.
    pub fn keeping_estimates(self) -> Self {
        Self { keeps_estimates: true, ..self }
    }

    /// The same, which keeps cells that take longer than this on the way, where they are kept at all, and goes on
    /// with them; 30 seconds if it is not said, never with 0.
    pub fn keeping_every(self, every: Duration) -> Self {
        Self { keep_every: every, ..self }
    }

    /// The same, which shows what it measures. States are then measured one by one, not a few at a time.
    pub fn watched_by(self, watcher: Box<dyn Watcher>) -> Self {
        Self { watcher: Some(watcher), ..self }
    }

    /// The same, whose cells show themselves while they run.
    pub fn showing_live(self, live: Live) -> Self {
        Self { live: Some(live), ..self }
    }

    /// Notes how a run that shows itself has ended: all of it, or up to an interruption.
    pub fn end_live(&self) {
        if let Some(live) = &self.live {
            live.end(if self.is_interrupted() { "interrupted" } else { "completed" });
        }
    }

    /// The same, which runs each cell inside of `around`: where a thread has to be prepared for what a
    /// problem does on it.
    pub fn running_inside(self, around: fn(&mut (dyn FnMut() + Send))) -> Self {
        Self { around, ..self }
    }

    /// The same, whose cells run on another device where they can.
    pub fn on(self, engines: Box<dyn Engines>) -> Self {
        Self { engines: Some(engines), ..self }
    }

    /// What stayed on this computer's processors although another device was asked for, and why: each method on
    /// each topology once.
    pub fn stayed(&self) -> Vec<(String, String)> {
        self.stayed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What runs a cell.
    fn engine<'a>(&self, cell: &Cell<'a>, setup: Setup<'a>) -> Result<AnyEngine<'a>> {
        let Some(engines) = &self.engines else { return Ok(cell.entry.engine(setup)?) };
        let why = match cell.entry.stays_here() {
            Some(why) => why.to_owned(),
            None => match engines.engine(setup, cell.entry.run.precision)? {
                Made::There(engine) => return Ok(engine),
                Made::Stays(why) => why,
            },
        };
        let stayed = (format!("{} · {}", cell.entry.topology_name, cell.entry.method_name), why);
        let mut all = self.stayed.lock().unwrap_or_else(PoisonError::into_inner);
        if !all.contains(&stayed) {
            all.push(stayed);
        }
        drop(all);
        Ok(cell.entry.engine(setup)?)
    }

    /// A flag that stops the runner once it is set: cells that run end at their next look, and no other
    /// begins.
    pub fn interrupted(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.interrupted)
    }

    /// Whether the user has asked to stop.
    pub fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }

    /// Does `work` on this runner's threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.pool.install(work)
    }

    /// Runs cells and returns them in their order. What the store has is not computed again, unless it must
    /// be `fresh`; what is finished is kept in it at once. After an interruption cells that never began are
    /// missing.
    pub fn run<'a>(&self, cells: &[Cell<'a>], store: &CellStore, fresh: bool) -> Result<Vec<Ran<'a>>> {
        self.run_within(&*(self.show)(rounds(cells)), cells, store, fresh)
    }

    /// The same as a part of more: progress is told of all rounds of these cells, run or not.
    pub fn run_within<'a, 'c>(
        &self,
        progress: &dyn Progress,
        cells: &'c [Cell<'a>],
        store: &CellStore,
        fresh: bool,
    ) -> Result<Vec<Ran<'a>>> {
        let mut first_with_key = HashMap::new();
        for cell in cells {
            first_with_key.entry(&*cell.key).or_insert(cell);
        }
        // in the order of the file, so that an interruption leaves its first cells
        let jobs: Vec<&'c Cell<'a>> =
            cells.iter().filter(|cell| std::ptr::eq(first_with_key[&*cell.key], *cell)).collect();
        let distinct: u64 = jobs.iter().map(|cell| cell.entry.run.iterations).sum();
        progress.skip(rounds(cells) - distinct);
        let (kept, jobs): (Vec<_>, Vec<_>) = self.pool.install(|| {
            let kept = |cell: &&'c Cell<'a>| if fresh { None } else { store.get(&cell.key) };
            jobs.into_par_iter().partition_map(|cell| match kept(&cell) {
                Some(kept) => Either::Left((cell, kept)),
                None => Either::Right(cell),
            })
        });
        kept.iter().for_each(|(cell, _)| progress.skip(cell.entry.run.iterations));
        let kept = kept.into_iter().map(|(cell, kept)| (cell.key.as_str(), kept));
        let run = |&cell: &&'c Cell<'a>, spare: bool| {
            if self.is_interrupted() {
                return Ok(None);
            }
            let (mut bar, mut result) = (Some(progress.begin(cell)), None);
            let under_way = || (store.under_way(&cell.key), fresh);
            (self.around)(&mut || {
                result = bar.take().map(|bar| self.compute(cell, spare, bar, under_way()));
            });
            let Some(result) = result.transpose()? else { bail!("{cell}: it was not run") };
            Ok(Some((cell.key.as_str(), self.finish(cell, store, result)?)))
        };
        let large = |cell: &&Cell<'a>| {
            let problem = &cell.entry.problem.problem;
            worth_threads(problem.agents(), problem.dim())
        };
        let results: Result<Vec<_>> = self.pool.install(|| {
            // F* on all threads before they have cells to run, each of which would look for it alone
            jobs.iter().for_each(|cell| drop(cell.entry.optimum()));
            let (groups, jobs) = self.grouped(jobs);
            // large cells in turn, each on all threads; small ones side by side, each on one, unless threads
            // would be left over
            let (large, small): (Vec<&'c Cell<'a>>, Vec<&'c Cell<'a>>) =
                jobs.into_iter().partition(|cell| large(cell));
            let spare = small.len() < self.pool.current_num_threads();
            let mut results = large.iter().map(|cell| run(cell, false)).collect::<Result<Vec<_>>>()?;
            let small: Vec<_> = small
                .iter()
                .map(|cell| (cell, spare && self.watcher.is_none() && !cell.entry.problem.problem.at_once()))
                .collect();
            let alone =
                || small.par_iter().map(|(cell, spare)| run(cell, *spare)).collect::<Result<Vec<_>>>();
            let (together, alone) = rayon::join(|| self.run_groups(groups, progress, (store, fresh)), alone);
            results.extend(together?.into_iter().map(Some));
            results.extend(alone?);
            Ok(results)
        });
        let results: HashMap<&str, CellResult> = results?.into_iter().flatten().chain(kept).collect();
        let ran = cells.iter().filter_map(|cell| {
            let result = results.get(&*cell.key)?.clone();
            Some(Ran { cell: cell.clone(), result })
        });
        Ok(ran.collect())
    }

    /// What has failed is an error, unless it is to be a result.
    fn checked(&self, cell: &Cell<'_>, result: CellResult) -> Result<CellResult> {
        match &result.end.reason {
            Some(reason) if !self.keeps_failed => bail!("{cell}: round {}: {reason}", result.end.rounds),
            _ => Ok(result),
        }
    }

    /// The same, and keeps what has come to its end.
    fn finish(&self, cell: &Cell<'_>, store: &CellStore, result: CellResult) -> Result<CellResult> {
        let result = self.checked(cell, result)?;
        if result.end.status.is_final() {
            store.put(&cell.key, &result)?;
            Keeper::forget(store.under_way(&cell.key));
        }
        Ok(result)
    }

    /// Runs one cell; with threads to spare, they measure while it goes on. It goes on with what is kept of it
    /// in a file, unless it must be fresh.
    fn compute(
        &self,
        cell: &Cell<'_>,
        spare: bool,
        bar: Box<dyn CellProgress>,
        (kept_in, fresh): (Option<PathBuf>, bool),
    ) -> Result<CellResult> {
        let (run, setup, extras) = (cell.entry.run, cell.setup(), cell.extras());
        let mut engine = self.engine(cell, setup)?;
        let mut keeper = Keeper::open((kept_in, &cell.key), self.keep_every, fresh, &mut *engine);
        let mut live = self.live.as_ref().map(|live| live.cell(cell));
        live.iter_mut().for_each(|live| live.add(&keeper.before));
        let before = keeper.before.len();
        let watched = |record: &mut Record<'_>, so_far: &mut SoFar<'_>| {
            let (keeper, interrupted) = (&mut keeper, &*self.interrupted);
            let mut watch = Watch { run, record, so_far, keeper, bar, live, interrupted };
            let outcome = engine.run(run.iterations, look_every(run.record_every), &mut watch);
            (outcome, Instant::now(), watch.live)
        };
        let ((outcome, waited, live), points) = match spare {
            true => {
                let run = |recorder: &mut record::ConcurrentRecorder<'_, '_>| {
                    let recorder = RefCell::new(recorder);
                    let record = &mut |view: &View<'_>, live: Option<&mut CellLive<'_>>| {
                        let mut recorder = recorder.borrow_mut();
                        if let Some(live) = live.filter(|live| live.is_due()) {
                            for batch in recorder.measured_from(live.batches) {
                                live.add(&batch);
                                live.batches += 1;
                            }
                        }
                        recorder.record(view).map(ControlFlow::Continue)
                    };
                    watched(record, &mut |_| recorder.borrow_mut().so_far())
                };
                record::concurrently(setup, extras, run)?
            }
            false => {
                let recorder = RefCell::new(Recorder::new(extras));
                // what somebody waits for, and what may fail later, is measured at once
                let soon = self.watcher.is_some() || setup.problem.at_once();
                let record = &mut |view: &View<'_>, live: Option<&mut CellLive<'_>>| {
                    let mut recorder = recorder.borrow_mut();
                    recorder.record(view)?;
                    if soon {
                        recorder.measure(view)?;
                    }
                    if let Some(live) = live {
                        live.add(&recorder.measured()[live.count() - before..]);
                    }
                    Ok(match (&self.watcher, recorder.last()) {
                        (Some(watcher), Some(point)) => watcher.measured(cell, point),
                        _ => ControlFlow::Continue(()),
                    })
                };
                let (outcome, waited, live) = watched(record, &mut |view| {
                    let mut recorder = recorder.borrow_mut();
                    recorder.measure(view)?;
                    Ok(recorder.measured().to_vec())
                });
                let mut recorder = recorder.into_inner();
                let outcome = outcome.and_then(|outcome| {
                    if !soon {
                        recorder.measure(&engine.view())?;
                    }
                    Ok(outcome)
                });
                ((outcome, waited, live), recorder.into_measured())
            }
        };
        if let Ok(Outcome { status: Status::Stopped { .. }, .. }) = &outcome {
            keeper.stop(&engine.view(), &points);
        }
        let points = [keeper.before, points].concat();
        let mut reason = None;
        let (outcome, (stepping, observing)) = match outcome {
            Ok(Outcome { status, stepping, observing }) => (status, (stepping, observing)),
            Err(error) => {
                let failed = Status::Failed { round: engine.view().k, reason: error.to_string() };
                (failed, Default::default()) // a measurement failed, and the clock with it
            }
        };
        let (status, rounds) = match outcome {
            Status::Completed => (CellStatus::Completed, run.iterations),
            Status::Diverged { round } => (CellStatus::Diverged, round),
            Status::Starved { .. } => (CellStatus::Starved, run.iterations),
            Status::Stopped { round } => (CellStatus::Stopped, round),
            Status::Failed { round, reason: why } => {
                reason = Some(why);
                (CellStatus::Failed, round)
            }
        };
        let status = match status {
            CellStatus::Failed if self.is_interrupted() => CellStatus::Stopped, // the reason is that it was asked to stop
            status => status.judged_by(&points),
        };
        if let Some(live) = live {
            live.end(&engine.view(), status, &points);
        }
        let end = End {
            reason: reason.filter(|_| status == CellStatus::Failed),
            status,
            rounds,
            state_hash: engine.state_hash(),
            seconds_stepping: keeper.seconds + stepping.as_secs_f64(),
            seconds_observing: (observing + waited.elapsed()).as_secs_f64(),
        };
        let estimates =
            self.keeps_estimates.then(|| Estimates::of(&engine.view())).transpose()?.map(Arc::new);
        Ok(CellResult { end, points: points.into(), estimates })
    }
}

/// Rounds that cells ask for.
fn rounds(cells: &[Cell<'_>]) -> u64 {
    cells.iter().map(|cell| cell.entry.run.iterations).sum()
}

/// Records a state; whoever shows the cell is given what has been measured by then.
type Record<'a> = dyn FnMut(&View<'_>, Option<&mut CellLive<'_>>) -> oneway::Result<ControlFlow<()>> + 'a;

/// Measures the states that wait to be measured; returns all measurements so far.
type SoFar<'a> = dyn FnMut(&View<'_>) -> oneway::Result<Vec<Measurement>> + 'a;

/// Records what is to be recorded, keeps the run, moves the bar, shows the cell, and stops when the user asks to.
struct Watch<'a, 'l> {
    run: RunSpec,
    record: &'a mut Record<'a>,
    so_far: &'a mut SoFar<'a>,
    keeper: &'a mut Keeper<'l>,
    bar: Box<dyn CellProgress>,
    live: Option<CellLive<'l>>,
    interrupted: &'a AtomicBool,
}

impl Watch<'_, '_> {
    /// Whether state k is measured, and was not before the run was gone on with.
    fn records(&self, k: u64) -> bool {
        let is_due = k.is_multiple_of(self.run.record_every) || k == self.run.iterations;
        is_due && self.keeper.resumed_at != Some(k)
    }
}

impl Observer for Watch<'_, '_> {
    fn observe(&mut self, view: &View<'_>) -> oneway::Result<ControlFlow<()>> {
        let mut flow = ControlFlow::Continue(());
        if self.records(view.k) {
            flow = (self.record)(view, self.live.as_mut())?;
        }
        if let Some(live) = self.live.as_mut().filter(|live| live.is_due()) {
            live.look(view);
        }
        if self.keeper.is_due() {
            let measured = (self.so_far)(view)?;
            self.keeper.keep(view, &measured);
        }
        Ok(if self.reached(view.k).is_break() { ControlFlow::Break(()) } else { flow })
    }

    fn looks_at(&self, k: u64) -> bool {
        self.records(k) || self.keeper.is_due() || self.live.as_ref().is_some_and(CellLive::is_due)
    }

    fn reached(&mut self, k: u64) -> ControlFlow<()> {
        self.bar.reach(k);
        if self.interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }
}
