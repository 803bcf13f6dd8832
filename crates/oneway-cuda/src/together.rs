//! Many small runs side by side that are measured where they are: states stay on the device.

use std::sync::Arc;

use oneway::engine::Setup;
use oneway::engine::metrics::{Extras, Measurement};
use oneway::engine::observe::Snapshot;
use oneway::numeric::Precision;

use crate::cells::{Cells, shared_bytes};
use crate::device::Device;
use crate::error::{Error, Result};
use crate::meter::{self, Meter, Subject};
use crate::source::Source;

/// Runs side by side, with what is measured of them.
///
/// A run that is not kept stays as it is; the others go on.
#[derive(Debug)]
pub struct Together<'a> {
    cells: Cells<'a>,
    meter: Meter<'a>,
    /// Runs that go on, and the round that each of the others was left at.
    going: Vec<usize>,
    left_at: Vec<Option<u64>>,
    k: u64,
}

impl<'a> Together<'a> {
    /// Sets up all runs at state 0. They go on for `rounds` rounds, as far as is known.
    pub fn new(
        device: &dyn Device,
        runs: &[(Setup<'a>, Extras)],
        precision: Precision,
        rounds: u64,
    ) -> Result<Self> {
        let source = |(setup, _): &(Setup<'a>, Extras)| {
            Ok((*setup, Arc::new(Source::new(setup.method, setup.problem, precision)?)))
        };
        let sources = runs.iter().map(source).collect::<Result<Vec<_>>>()?;
        Self::of(device, runs, sources, precision, rounds)
    }

    pub(crate) fn of(
        device: &dyn Device,
        runs: &[(Setup<'a>, Extras)],
        sources: Vec<(Setup<'a>, Arc<Source>)>,
        precision: Precision,
        rounds: u64,
    ) -> Result<Self> {
        if let Some(((first, _), others)) = runs.split_first() {
            let kind = meter::kind(*first)?;
            for (setup, _) in others {
                if meter::kind(*setup)? != kind {
                    let why = "runs that are measured together have one kind of problem and of method";
                    return Err(Error::Unsupported(why.to_owned()));
                }
            }
        }
        let cells = Cells::of(device, sources, precision, rounds)?;
        let subject = |(at, (setup, extras)): (usize, &(Setup<'a>, Extras))| {
            let (states, stride) = cells.place(at);
            Subject { setup: *setup, extras: extras.clone(), states, stride }
        };
        let subjects = runs.iter().enumerate().map(subject).collect();
        let meter = Meter::new(device, subjects, precision)?;
        let (going, left_at) = ((0..runs.len()).collect(), vec![None; runs.len()]);
        Ok(Self { cells, meter, going, left_at, k: 0 })
    }

    /// Of the runs that go on, in order, whether their states are within all bounds.
    pub fn are_sound(&mut self) -> Result<Vec<bool>> {
        self.cells.wait()?;
        let sound = self.meter.are_sound(self.k)?;
        Ok(self.going.iter().map(|run| sound[*run]).collect())
    }

    /// What there is to say of the runs that go on, in order.
    pub fn measure(&mut self) -> Result<Vec<Measurement>> {
        self.cells.wait()?;
        let found = self.meter.measure(self.k)?;
        let measured = self.going.iter().map(|run| found[*run]).collect::<Option<_>>();
        measured.ok_or_else(|| Error::Failed("a run was not measured".to_owned()))
    }

    /// Makes rounds of all runs that go on.
    pub fn advance(&mut self, rounds: u64) -> Result<()> {
        self.k += rounds;
        self.cells.advance(rounds)
    }

    /// Of the runs that go on, in order, those that do from here on.
    pub fn keep(&mut self, going: &[bool]) -> Result<()> {
        let before = std::mem::take(&mut self.going);
        for (run, goes_on) in before.into_iter().zip(going) {
            if *goes_on {
                self.going.push(run);
            } else {
                self.left_at[run] = Some(self.k);
            }
        }
        self.cells.keep(self.going.clone());
        self.meter.keep(&self.going)
    }

    /// The hashes of all runs' states, of those that go on and of those that were left.
    pub fn hashes(&mut self) -> Result<Vec<String>> {
        self.cells.wait()?;
        let all: Vec<usize> = (0..self.left_at.len()).collect();
        self.meter.keep(&all)?;
        let hashes = self.meter.hashes()?;
        self.meter.keep(&self.going)?;
        Ok(hashes)
    }

    /// The state of any of the runs.
    pub fn state(&mut self, run: usize) -> Result<Snapshot<'a>> {
        let k = self.left_at.get(run).copied().flatten().unwrap_or(self.k);
        self.cells.state_at(run, k)
    }
}

/// What runs that can go side by side have in common; none for a run that cannot, or is too large.
pub(crate) fn kind(
    device: &dyn Device,
    setup: Setup<'_>,
    source: &Source,
    precision: Precision,
) -> Option<String> {
    let fits = shared_bytes(setup, source, precision) <= device.shared();
    let kind = fits.then(|| meter::kind(setup).ok())??;
    Some(format!("{precision} {kind} {}", source.text))
}
