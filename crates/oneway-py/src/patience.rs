//! Long work beside Python: other threads go on, Ctrl-C is noticed, progress is told, and a panic stays here.

use std::any::Any;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use oneway::engine::metrics::Measurement;
use oneway_experiment::plan::Cell;
use oneway_experiment::progress::{CellProgress, Progress, Watcher};
use oneway_experiment::runner::Runner;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

use crate::errors::exception;
use crate::problem::Failure;
use crate::result::as_dict;

/// How often Ctrl-C is looked for.
const OFTEN: Duration = Duration::from_millis(50);

/// Rounds done and rounds in all, of everything that runs.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    done: AtomicU64,
    all: AtomicU64,
}

/// A share in a [`Counter`].
#[derive(Debug, Clone)]
pub(crate) struct Counted {
    counter: Arc<Counter>,
    rounds: u64,
    reached: u64,
}

impl Counter {
    /// Begins to count to a number of rounds.
    pub(crate) fn begin(self: &Arc<Self>, rounds: u64) -> Box<dyn Progress> {
        self.done.store(0, Ordering::Relaxed);
        self.all.store(rounds, Ordering::Relaxed);
        Box::new(Counted { counter: Arc::clone(self), rounds, reached: 0 })
    }
}

impl Progress for Counted {
    fn skip(&self, rounds: u64) {
        self.counter.done.fetch_add(rounds, Ordering::Relaxed);
    }

    fn begin(&self, cell: &Cell<'_>) -> Box<dyn CellProgress> {
        Box::new(CountedCell(Counted { rounds: cell.entry.run.iterations, reached: 0, ..self.clone() }))
    }
}

#[derive(Debug)]
struct CountedCell(Counted);

impl CellProgress for CountedCell {
    fn reach(&mut self, k: u64) {
        self.0.counter.done.fetch_add(k.saturating_sub(self.0.reached), Ordering::Relaxed);
        self.0.reached = k;
    }
}

impl Drop for CountedCell {
    fn drop(&mut self) {
        let Counted { counter, rounds, reached } = &self.0;
        counter.done.fetch_add(rounds.saturating_sub(*reached), Ordering::Relaxed); // those that a diverged cell does not do
    }
}

/// Shows measurements to Python. What it raises ends the run.
#[derive(Debug)]
pub(crate) struct PythonWatcher {
    pub(crate) observe: Py<PyAny>,
    pub(crate) failure: Arc<Failure>,
    pub(crate) stop: Arc<AtomicBool>,
}

impl Watcher for PythonWatcher {
    fn measured(&self, cell: &Cell<'_>, point: &Measurement) -> ControlFlow<()> {
        let seen = Python::attach(|py| {
            let entry = cell.entry;
            let place = (&entry.topology_name, &entry.method_name, cell.repetition());
            let said = as_dict(py, point).and_then(|point| {
                let said = self.observe.call1(py, (place.0, place.1, place.2, point))?;
                said.is_truthy(py)
            });
            said.map_err(|error| drop(self.failure.set(py, error)))
        });
        match seen {
            Ok(false) => ControlFlow::Continue(()),
            Ok(true) => ControlFlow::Break(()),
            Err(()) => {
                self.stop.store(true, Ordering::Relaxed);
                ControlFlow::Break(())
            }
        }
    }
}

/// What came of long work, and whether Ctrl-C was pressed meanwhile.
pub(crate) struct Done<R> {
    pub(crate) result: R,
    pub(crate) interrupted: Option<PyErr>,
}

/// Does `work` on a thread of its own. `progress(done, all)` is called now and then. On Ctrl-C, or when
/// `progress` raises, the runner is told to stop and the work's own end is awaited.
pub(crate) fn patiently<R: Send>(
    py: Python<'_>,
    runner: &Runner,
    failures: &[Arc<Failure>],
    counter: &Counter,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce() -> anyhow::Result<R> + Send,
) -> PyResult<Done<R>> {
    let stop = runner.interrupted();
    let (send, receive) = mpsc::sync_channel(1);
    let progress = progress.map(|progress| progress.clone().unbind());
    let (result, interrupted) = py.detach(move || {
        std::thread::scope(|scope| {
            scope.spawn(move || {
                let result = catch_unwind(AssertUnwindSafe(work));
                let _ = send.send(result); // the other end waits for it
            });
            let mut interrupted: Option<PyErr> = None;
            let result = loop {
                match receive.recv_timeout(OFTEN) {
                    Ok(result) => break Some(result),
                    Err(RecvTimeoutError::Disconnected) => break None,
                    Err(RecvTimeoutError::Timeout) if interrupted.is_some() => {}
                    Err(RecvTimeoutError::Timeout) => {
                        let looked = Python::attach(|py| look(py, counter, progress.as_ref()));
                        if let Err(error) = looked {
                            interrupted = Some(error);
                            stop.store(true, Ordering::Relaxed);
                            failures.iter().for_each(|failure| failure.stop());
                        }
                    }
                }
            };
            (result, interrupted)
        })
    });
    let result = match result {
        Some(Ok(result)) => result,
        Some(Err(panic)) => {
            return Err(PyRuntimeError::new_err(format!("a fault in oneway itself: {}", said(&*panic))));
        }
        None => return Err(PyRuntimeError::new_err("a fault in oneway itself: the run has vanished")),
    };
    let raised: Option<PyErr> = failures.iter().fold(None, |first, failure| {
        let raised = failure.take();
        first.or(raised)
    });
    match (result, raised, interrupted) {
        (Ok(result), raised, interrupted) => Ok(Done { result, interrupted: raised.or(interrupted) }),
        (Err(_), Some(raised), _) => Err(raised),
        (Err(_), None, Some(interrupted)) => Err(interrupted),
        (Err(error), None, None) => Err(exception(error)),
    }
}

fn look(py: Python<'_>, counter: &Counter, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress {
        let [done, all] = [&counter.done, &counter.all].map(|count| count.load(Ordering::Relaxed));
        progress.call1(py, (done.min(all), all))?;
    }
    Ok(())
}

/// What a panic has said.
fn said(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("it has not said why")
}
