//! One cell, on all processes.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use anyhow::{Context, Result};
use oneway::engine::metrics::Measurement;
use oneway::engine::part::Part;
use oneway::engine::record::Recorder;
use oneway::engine::{hash_states, is_sound};
use oneway::numeric::Precision;
use oneway_experiment::networked::{Ended, NetworkedCell};

use crate::blocks::block;
use crate::checkpoint::{self, Checkpoint};
use crate::links::Links;
use crate::states;
use crate::team::Ranks;
use crate::world::{Row, World};

/// Seconds between two moments at which processes look whether one of them was asked to stop.
const AGREE_EVERY: f64 = 0.1;

/// What the outside asks of a run: signals set these, in any process.
#[derive(Debug, Default)]
pub struct Asked {
    /// Write a checkpoint, and stop.
    pub stop: Arc<AtomicBool>,
    /// Write a checkpoint, and go on.
    pub save: Arc<AtomicBool>,
}

/// How to run a cell.
#[derive(Debug, Clone, Copy)]
pub struct How<'a> {
    /// The checkpoint's file.
    pub checkpoint: &'a Path,
    /// Rounds between two checkpoints; 0 for those only that are asked for.
    pub every: u64,
    /// Whether to go on from the file.
    pub resume: bool,
    /// Signals.
    pub asked: &'a Asked,
}

/// What rank 0 knows at the end.
#[derive(Debug)]
pub enum Reached {
    /// The end of the run.
    End {
        /// What came of it; nothing on other ranks.
        ended: Option<Box<Ended>>,
        /// The share of the rounds' time that went into messages, waiting included, where it was largest.
        messages: f64,
    },
    /// A round in which it was asked to stop. There is a checkpoint of it.
    Stopped(u64),
}

/// Runs a cell.
///
/// # Errors
/// A checkpoint that cannot be gone on from, said by rank 0 only. Errors of the run itself end all processes.
pub fn run<W: World>(world: &W, cell: &NetworkedCell<'_>, how: How<'_>) -> Result<Reached> {
    match cell.precision() {
        Precision::F64 => Cell::<W, f64>::begin(world, cell, how)?.finish(),
        Precision::F32 => Cell::<W, f32>::begin(world, cell, how)?.finish(),
    }
}

struct Cell<'a, 'w, W, T: Row> {
    world: &'w W,
    cell: &'w NetworkedCell<'a>,
    how: How<'w>,
    part: Part<'a, T>,
    links: Links<'w, W, T>,
    /// Numbers in a state.
    width: usize,
    recorder: Recorder,
    /// What was measured before the run went on.
    before: Vec<Measurement>,
    /// Rounds that were done, and their seconds, when it did.
    first: u64,
    seconds_before: f64,
    /// Whether it went on from a checkpoint.
    resumed: bool,
}

impl<'a, 'w, W: World, T: Row> Cell<'a, 'w, W, T> {
    fn begin(world: &'w W, cell: &'w NetworkedCell<'a>, how: How<'w>) -> Result<Self> {
        let setup = cell.setup();
        let n = setup.problem.agents();
        let width = setup.method.profile_on(setup.problem).state.len(setup.problem.dim());
        let extras = if world.rank() == 0 { cell.extras() } else { cell.shared_extras() };
        let own = block(n, world.size(), world.rank());
        let part = Part::new(setup, own.clone());
        let mut begun = Self {
            world,
            cell,
            how,
            part: or_abort(world, &own, 0, part.map_err(Into::into)),
            links: Links::new(world, setup),
            width,
            recorder: Recorder::new(extras),
            before: vec![],
            first: 0,
            seconds_before: 0.0,
            resumed: false,
        };
        begun.resume(n)?;
        Ok(begun)
    }

    /// Goes on from the checkpoint, if rank 0 has one.
    fn resume(&mut self, n: usize) -> Result<()> {
        let mut found = Ok(None);
        if self.world.rank() == 0 && self.how.resume {
            found = Checkpoint::open(self.how.checkpoint, self.cell.key(), n * self.width);
        }
        let k = found.as_ref().ok().and_then(Option::as_ref).map_or(-1.0, |found| found.k as f64);
        let [k, wrong] = self.world.max([k, if found.is_err() { 1.0 } else { 0.0 }]);
        let found = found?;
        anyhow::ensure!(wrong == 0.0, "rank 0 cannot go on");
        if k < 0.0 {
            return Ok(());
        }
        let mut states = self.part.states();
        self.first = k as u64;
        if let Some(mut found) = found {
            let handed = states::hand_out(self.world, &mut states, self.width, found.states());
            self.or_abort(handed.with_context(|| self.how.checkpoint.display().to_string()));
            (self.before, self.seconds_before) = (found.points, found.seconds);
        } else {
            states::receive(self.world, &mut states);
        }
        self.part.resume(self.first);
        self.resumed = true;
        Ok(())
    }

    /// Does all rounds that are left.
    fn finish(mut self) -> Result<Reached> {
        let (rounds, every) = (self.cell.rounds(), self.cell.record_every());
        let (mut stepping, mut observing) = (self.seconds_before, 0.0);
        let mut agree_at = self.first;
        let mut lap = Instant::now();
        loop {
            let k = self.part.rounds_done();
            let looks = k.is_multiple_of(self.cell.look_every()) || k == rounds;
            let [mut unsound, mut stop, mut save] = [false; 3];
            if looks || k == agree_at {
                let asked = |flag: &AtomicBool| f64::from(u8::from(flag.swap(false, Ordering::Relaxed)));
                let own = looks && !self.is_sound();
                let pace = (stepping - self.seconds_before) / (k - self.first).max(1) as f64;
                let asks = [asked(&self.how.asked.stop), asked(&self.how.asked.save)];
                let agreed = self.world.max([f64::from(u8::from(own)), asks[0], asks[1], pace]);
                [unsound, stop, save] = [0, 1, 2].map(|i| agreed[i] > 0.0);
                agree_at = k + ((AGREE_EVERY / agreed[3].max(1e-9)) as u64).max(1);
            }
            let is_new = k > self.first || !self.resumed; // a checkpoint has what was measured of its state
            let recorded = !unsound && is_new && (k.is_multiple_of(every) || k == rounds);
            let ends = unsound || k >= rounds;
            let due = self.how.every > 0 && k.is_multiple_of(self.how.every) && k > self.first;
            let saves = !ends && (due || stop || save);
            if recorded {
                let done = self.recorder.record_in(&mut Ranks(self.world), &self.part.view());
                self.or_abort(done.context("it cannot be measured"));
            }
            if ends {
                observing += lap.elapsed().as_secs_f64();
                let here = (stepping - self.seconds_before).max(1e-9);
                let [messages] = self.world.max([self.links.seconds() / here]);
                let ended = self.ended(unsound, stepping, observing);
                return Ok(Reached::End { ended, messages });
            }
            if saves {
                let saved = self.save(stepping);
                if stop {
                    self.or_abort(saved);
                } else if let Err(error) = saved {
                    eprintln!("oneway-mpi: no checkpoint at round {k}: {error:#}");
                }
            }
            if stop {
                return Ok(Reached::Stopped(k));
            }
            observing += lap.elapsed().as_secs_f64();
            lap = Instant::now();
            let next =
                [(k / self.cell.look_every() + 1) * self.cell.look_every(), agree_at.max(k + 1), rounds];
            let checkpoint = k.checked_div(self.how.every).map_or(rounds, |done| (done + 1) * self.how.every);
            let next = next.into_iter().fold(checkpoint, u64::min);
            for _ in k..next {
                let done = self.part.round(&mut self.links);
                self.or_abort(done.map_err(Into::into));
            }
            stepping += lap.elapsed().as_secs_f64();
            lap = Instant::now();
        }
    }

    fn is_sound(&mut self) -> bool {
        let own = self.part.own();
        let states = self.part.states();
        let rows = &states.numbers[own.start * states.stride..own.end * states.stride];
        match T::as_f64(rows) {
            Some(rows) => is_sound(rows),
            None => {
                rows.chunks(1024).all(|some| is_sound(&some.iter().map(|x| x.to_f64()).collect::<Vec<_>>()))
            }
        }
    }

    /// What was measured by now, whole on rank 0.
    fn points(&mut self) -> Vec<Measurement> {
        let done = self.recorder.measure_in(&mut Ranks(self.world), &self.part.view());
        self.or_abort(done.context("it cannot be measured"));
        [&self.before[..], self.recorder.measured()].concat()
    }

    /// Rank 0 writes a checkpoint; the error is there.
    fn save(&mut self, seconds: f64) -> Result<()> {
        let (k, points) = (self.part.rounds_done(), self.points());
        let states = self.part.states();
        if self.world.rank() > 0 {
            states::send(self.world, &states);
            return Ok(());
        }
        let mut numbers = states::all(self.world, &states, self.width).map(T::to_f64);
        let place = self.how.checkpoint;
        let written = checkpoint::write(place, self.cell.key(), (k, seconds), &points, &mut numbers);
        numbers.for_each(drop); // others send to the end, whatever came of the file
        written
    }

    fn ended(&mut self, diverged: bool, seconds: f64, seconds_observing: f64) -> Option<Box<Ended>> {
        let (rounds, points) = (self.part.rounds_done(), self.points());
        let states = self.part.states();
        if self.world.rank() > 0 {
            states::send(self.world, &states);
            return None;
        }
        let numbers = states::all(self.world, &states, self.width).map(T::to_f64);
        let state_hash = hash_states(T::PRECISION, numbers);
        Some(Box::new(Ended { diverged, rounds, state_hash, seconds, seconds_observing, points }))
    }

    fn or_abort<R>(&self, done: Result<R>) -> R {
        or_abort(self.world, &self.part.own(), self.part.rounds_done(), done)
    }
}

/// What is wrong in one process only would have the others wait: it ends all, and says which it is.
fn or_abort<W: World, R>(world: &W, own: &Range<usize>, k: u64, done: Result<R>) -> R {
    done.unwrap_or_else(|error| {
        let (rank, last) = (world.rank(), own.end - 1);
        eprintln!("oneway-mpi: rank {rank} (agents {} to {last}): round {k}: {error:#}", own.start);
        world.abort(1)
    })
}
