//! Recording a run: states are kept until several can be measured with one pass over the data. Nothing feeds
//! back into a run, so nothing is lost by waiting, or by measuring on other threads while the run goes on.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use rayon::{Scope, Yield};

use crate::Result;
use crate::engine::Setup;
use crate::engine::metrics::{Extras, Measurement, measure_in, measure_on};
use crate::engine::observe::View;
use crate::engine::sums::{Alone, Team};
use crate::numeric::Precision;

/// States that wait to be measured together.
#[derive(Debug, Default)]
struct Batch(Vec<State>);

/// A copy of what a view shows.
#[derive(Debug)]
struct State {
    k: u64,
    states: Vec<f64>,
    in_flight: Vec<f64>,
    bytes_sent: Option<u64>,
    time: Option<f64>,
    precision: Precision,
}

/// Numbers that may wait, at most: copies of large states cost more than a shared pass saves.
const MOST: usize = 1 << 17;

impl Batch {
    /// Takes a copy of a state; whether the batch is full now.
    fn push(&mut self, view: &View<'_>) -> bool {
        let &View { k, states, in_flight, bytes_sent, time, precision, .. } = view;
        let (states, in_flight) = (states.to_vec(), in_flight.to_vec());
        self.0.push(State { k, states, in_flight, bytes_sent, time, precision });
        self.0.len() >= 8 || self.0.len() * view.states.len() > MOST
    }

    /// Measures all by `measure` and leaves none; `view` is any of the same run.
    fn measure(
        &mut self,
        view: &View<'_>,
        measure: impl FnOnce(&[View<'_>]) -> Result<Vec<Measurement>>,
    ) -> Result<Vec<Measurement>> {
        let batch = std::mem::take(&mut self.0);
        let views = batch.iter().map(|State { k, states, in_flight, bytes_sent, time, precision }| View {
            k: *k,
            states,
            in_flight,
            bytes_sent: *bytes_sent,
            time: *time,
            precision: *precision,
            ..*view
        });
        measure(&views.collect::<Vec<_>>())
    }
}

/// Measures batches as they fill up, on the thread of the run, or on all threads where the run itself is on
/// all.
#[derive(Debug, Default)]
pub struct Recorder {
    extras: Extras,
    waiting: Batch,
    measured: Vec<Measurement>,
}

impl Recorder {
    /// A recorder that measures more than the rest; [`Recorder::default`] does not.
    pub fn new(extras: Extras) -> Self {
        Self { extras, ..Self::default() }
    }

    /// Takes a state to be measured.
    pub fn record(&mut self, view: &View<'_>) -> Result<()> {
        self.record_in(&mut Alone, view)
    }

    /// The same where each process of a team has the states of its own agents. All call it; what the process
    /// with agent 0 has measured is whole.
    pub fn record_in(&mut self, team: &mut dyn Team, view: &View<'_>) -> Result<()> {
        if self.waiting.0.is_empty() && view.states.len() > MOST {
            // a batch of its own, of which no copy is needed
            self.measured.extend(measure_in(team, &[*view], &self.extras)?);
        } else if self.waiting.push(view) {
            self.measure_in(team, view)?;
        }
        Ok(())
    }

    /// All measurements, those of the states that still wait among them; `view` is any of the same run.
    pub fn finish(mut self, view: &View<'_>) -> Result<Vec<Measurement>> {
        self.measure(view)?;
        Ok(self.measured)
    }

    /// What was measured last.
    pub fn last(&self) -> Option<&Measurement> {
        self.measured.last()
    }

    /// What has been measured so far, in order.
    pub fn measured(&self) -> &[Measurement] {
        &self.measured
    }

    /// What has been measured so far.
    pub fn into_measured(self) -> Vec<Measurement> {
        self.measured
    }

    /// Measures the states that still wait; if that fails they are lost. `view` is any of the same run.
    pub fn measure(&mut self, view: &View<'_>) -> Result<()> {
        self.measure_in(&mut Alone, view)
    }

    /// The same with all processes of a team.
    pub fn measure_in(&mut self, team: &mut dyn Team, view: &View<'_>) -> Result<()> {
        let extras = &self.extras;
        self.measured.extend(self.waiting.measure(view, |views| measure_in(team, views, extras))?);
        Ok(())
    }
}

/// Runs `run`, whose recorder measures on all threads of the current rayon pool while the run goes on: for a
/// run that is alone and too small to share its rounds. Returns what `run` returns, and all measurements,
/// with the bits of [`Recorder`].
///
/// At most two batches are on their way at a time; a run that is ahead of them helps.
pub fn concurrently<'a, R: Send>(
    setup: Setup<'a>,
    extras: Extras,
    run: impl FnOnce(&mut ConcurrentRecorder<'_, '_>) -> R + Send,
) -> Result<(R, Vec<Measurement>)> {
    let (measured, under_way) = (Mutex::new(vec![]), AtomicUsize::new(0));
    let returned = rayon::scope(|scope| {
        let waiting = Batch::default();
        let mut recorder = ConcurrentRecorder {
            scope,
            setup,
            extras,
            waiting,
            batches: 0,
            measured: &measured,
            under_way: &under_way,
        };
        let returned = run(&mut recorder);
        recorder.send_off().map(|()| returned)
    })?;
    let mut measured = measured.into_inner().unwrap_or_else(PoisonError::into_inner);
    measured.sort_by_key(|(batch, _)| *batch);
    let batches: Result<Vec<_>> = measured.into_iter().map(|(_, batch)| batch).collect();
    Ok((returned, batches?.concat()))
}

/// A batch's place, and what was found in it.
type Numbered = (usize, Result<Vec<Measurement>>);

/// The recorder of [`concurrently`].
#[derive(Debug)]
pub struct ConcurrentRecorder<'s, 'scope> {
    scope: &'s Scope<'scope>,
    setup: Setup<'scope>,
    extras: Extras,
    waiting: Batch,
    batches: usize,
    measured: &'scope Mutex<Vec<Numbered>>,
    under_way: &'scope AtomicUsize,
}

impl ConcurrentRecorder<'_, '_> {
    /// Takes a state to be measured. An error is that of a batch before.
    pub fn record(&mut self, view: &View<'_>) -> Result<()> {
        if self.waiting.push(view) {
            self.send_off()?;
        }
        Ok(())
    }

    /// What has been measured of batches from number `from` on, in their order, up to the first that is still
    /// under way: one vector a batch, so that the next call can go on behind them.
    pub fn measured_from(&self, from: usize) -> Vec<Vec<Measurement>> {
        let measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        let new = measured.iter().filter(|(number, _)| *number >= from);
        let mut new: Vec<(usize, Vec<Measurement>)> =
            new.filter_map(|(number, found)| Some((*number, found.as_ref().ok()?.clone()))).collect();
        drop(measured);
        new.sort_by_key(|(number, _)| *number);
        let in_order = (from..).zip(new).take_while(|(wanted, (number, _))| wanted == number);
        in_order.map(|(_, (_, batch))| batch).collect()
    }

    /// All measurements so far, once those that are under way are done. An error is that of a batch.
    pub fn so_far(&mut self) -> Result<Vec<Measurement>> {
        if !self.waiting.0.is_empty() {
            self.send_off()?;
        }
        self.wait(1);
        let found = self.measured_from(0);
        if found.len() < self.batches {
            self.send_off()?; // which has the error of the batch that failed
        }
        Ok(found.concat())
    }

    /// Helps until fewer batches than that are under way.
    fn wait(&self, fewer: usize) {
        while self.under_way.load(Ordering::Acquire) >= fewer {
            if rayon::yield_now() != Some(Yield::Executed) {
                std::thread::yield_now();
            }
        }
    }

    /// Has the batch measured by whoever is free.
    fn send_off(&mut self) -> Result<()> {
        const AT_MOST: usize = 2;
        self.wait(AT_MOST);
        let mut measured = self.measured.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = measured.iter().position(|(_, batch)| batch.is_err()) {
            measured.swap_remove(failed).1?;
        }
        drop(measured);

        let (mut batch, number) = (std::mem::take(&mut self.waiting), self.batches);
        let (setup, extras, measured) = (self.setup, self.extras.clone(), self.measured);
        let under_way = UnderWay::new(self.under_way);
        self.batches += 1;
        self.scope.spawn(move |_| {
            let profile = setup.method.profile_on(setup.problem);
            let found = batch
                .measure(&setup.view(0, &profile, &[]), |views| measure_on(true, &mut Alone, views, &extras));
            measured.lock().unwrap_or_else(PoisonError::into_inner).push((number, found));
            drop(under_way);
        });
        Ok(())
    }
}

/// Counts a batch as under way for as long as it lives, also if measuring it panics.
struct UnderWay<'a>(&'a AtomicUsize);

impl<'a> UnderWay<'a> {
    fn new(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use crate::engine::Schedule;
    use crate::engine::Simulator;
    use crate::graph::Topology;
    use crate::methods::PUSH_PULL;
    use crate::numeric::sample::Draws;
    use crate::problem::Problem;

    /// Cannot be measured.
    #[derive(Debug)]
    struct Broken;

    impl Problem for Broken {
        fn agents(&self) -> usize {
            2
        }

        fn dim(&self) -> usize {
            1
        }

        fn gradient(&self, _agent: usize, _x: &[f64], _draws: &mut Draws, g: &mut [f64]) {
            g.fill(0.0);
        }

        fn exact(&self, _agent: usize, _x: &[f64], _g: &mut [f64]) -> f64 {
            panic!("no such thing")
        }
    }

    #[test]
    #[should_panic(expected = "no such thing")]
    fn a_panic_in_measuring_reaches_the_caller() {
        let topology = Topology::complete(2).unwrap();
        let schedule = Schedule::constant(0.1).unwrap();
        let setup = Setup { method: &PUSH_PULL, problem: &Broken, topology: &topology, schedule, seed: 1 };
        let run = |recorder: &mut ConcurrentRecorder<'_, '_>| {
            let mut simulator = Simulator::new(setup).unwrap();
            for _ in 0..100 {
                recorder.record(&simulator.view()).unwrap();
                simulator.round().unwrap();
            }
        };
        let _ = concurrently(setup, Extras::default(), run);
    }
}
