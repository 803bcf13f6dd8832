//! Runs that take long are kept on the way, and go on where they were after an interruption.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use oneway::engine::Engine;
use oneway::engine::metrics::Measurement;
use oneway::engine::observe::View;

use crate::results::checkpoint::{self, Checkpoint};

/// A run that was interrupted before it took this long begins again.
const WORTH_IT: Duration = Duration::from_secs(1);

/// Keeps one run from time to time.
#[derive(Debug)]
pub(crate) struct Keeper<'k> {
    key: &'k str,
    /// The file; nothing for a run that cannot be kept.
    path: Option<PathBuf>,
    every: Duration,
    began: Instant,
    last: Instant,
    /// Rounds done when it was gone on with, if it was.
    pub(crate) resumed_at: Option<u64>,
    /// What was measured before that.
    pub(crate) before: Vec<Measurement>,
    /// Seconds that it had taken.
    pub(crate) seconds: f64,
}

impl<'k> Keeper<'k> {
    /// Keeps the run of an engine in this file whenever so much time has gone by. If the run is there, and need
    /// not be `fresh`, the engine goes on with it.
    pub(crate) fn open<'e>(
        (path, key): (Option<PathBuf>, &'k str),
        every: Duration,
        fresh: bool,
        engine: &mut (dyn Engine<'e> + Send + 'e),
    ) -> Self {
        let now = Instant::now();
        let path = path.filter(|_| !every.is_zero() && engine.resumable().is_some());
        let mut keeper =
            Self { key, path, every, began: now, last: now, resumed_at: None, before: vec![], seconds: 0.0 };
        if !fresh {
            keeper.resume(engine);
        }
        keeper
    }

    fn resume<'e>(&mut self, engine: &mut (dyn Engine<'e> + Send + 'e)) {
        let Some(path) = &self.path else { return };
        let view = engine.view();
        let (agents, width) = (view.agents(), view.profile.state.len(view.problem.dim()));
        let found = Checkpoint::open(path, self.key, agents * width).and_then(|found| {
            let Some(mut found) = found else { return Ok(None) };
            let states: Vec<f64> = found.states().collect::<std::io::Result<_>>()?;
            Ok(Some((found, states)))
        });
        let (found, states) = match found {
            Ok(Some(found)) => found,
            Ok(None) => return,
            Err(_) => {
                eprintln!("oneway: {} is damaged: its run begins again", path.display());
                return;
            }
        };
        let Some(engine) = engine.resumable() else { return };
        engine.resume_at(found.k, &mut |agent, row| row.copy_from_slice(&states[agent * width..][..width]));
        (self.resumed_at, self.before, self.seconds) = (Some(found.k), found.points, found.seconds);
    }

    /// Whether it is time to keep the run.
    pub(crate) fn is_due(&self) -> bool {
        self.path.is_some() && self.last.elapsed() >= self.every
    }

    /// Keeps a state, and what was measured since the run was gone on with. If that fails, the run goes on.
    pub(crate) fn keep(&mut self, view: &View<'_>, measured: &[Measurement]) {
        let Some(path) = &self.path else { return };
        let points = [&self.before[..], measured].concat();
        let states = (0..view.agents()).flat_map(|agent| view.state(agent)).copied();
        let seconds = self.seconds + self.began.elapsed().as_secs_f64();
        if let Err(error) = checkpoint::write(path, self.key, (view.k, seconds), &points, states) {
            eprintln!("oneway: {error:#}: the run goes on, and is not kept");
        }
        self.last = Instant::now();
    }

    /// Keeps the last state of a run that was stopped.
    pub(crate) fn stop(&mut self, view: &View<'_>, measured: &[Measurement]) {
        if self.began.elapsed() >= WORTH_IT {
            self.keep(view, measured);
        }
    }

    /// Removes what was kept of a run whose result is kept now.
    pub(crate) fn forget(path: Option<PathBuf>) {
        if let Some(path) = path {
            checkpoint::remove(&path);
        }
    }
}
