//! Many small runs side by side, each on one multiprocessor with all its states: sweeps, repetitions, tuning.

use std::collections::HashSet;
use std::sync::Arc;

use oneway::engine::Setup;
use oneway::engine::observe::Snapshot;
use oneway::numeric::Precision;

use crate::device::{Device, Launch, Program, put};
use crate::error::{Error, Result};
use crate::rounds::{Kernels, Rounds};
use crate::run::{Known, Placed, Room, Step, step};
use crate::source::Source;
use crate::states::read_states;

/// Rounds that are made by one launch, at most.
const ROUNDS: usize = 1024;

/// Threads of a team, which goes over an agent's coordinates together; see `kernels/cell.cu`.
const TEAM: u32 = 32;

/// Threads that share a run of n agents: a team for every two, so that a multiprocessor has room for two
/// runs.
fn threads_for(n: usize) -> u32 {
    TEAM * u32::try_from(n.div_ceil(2)).unwrap_or(u32::MAX).clamp(2, 16)
}

/// Runs of one rule on problems of one kind and dimension, side by side. Seeds, steps, hyper-parameters,
/// networks and data may differ.
#[derive(Debug)]
pub struct Cells<'a> {
    runs: Vec<(Setup<'a>, Source, Placed)>,
    /// Of the runs that share a table of steps, the first.
    different: Vec<usize>,
    precision: Precision,
    program: Box<dyn Program>,
    /// The words of a run and of a problem for each, on the device.
    tables: [u64; 2],
    /// Bytes of the memory that a run's threads share; 0 where states do not fit into it.
    shared: u32,
    threads: u32,
    k: u64,
}

impl<'a> Cells<'a> {
    /// Sets up all runs at state 0.
    pub fn new(device: &dyn Device, setups: &[Setup<'a>], precision: Precision) -> Result<Self> {
        let sources = setups.iter().map(|setup| Source::new(setup.method, setup.problem, precision));
        let sources = sources.collect::<Result<Vec<_>>>()?;
        let Some(first) = sources.first() else {
            return Err(Error::Unsupported("there are no runs".to_owned()));
        };
        if sources.iter().any(|source| source.text != first.text) {
            return Err(Error::Unsupported(
                "runs side by side are of one rule and one kind of problem".to_owned(),
            ));
        }
        if !first.fuses {
            return Err(Error::Unsupported("its rounds are more than one kernel".to_owned()));
        }
        let mut program = device.load(&first.text)?;
        let (mut known, mut runs, mut bytes) = (Known::default(), vec![], 0);
        for (setup, source) in setups.iter().zip(sources) {
            let profile = setup.check().map_err(|error| Error::Failed(error.to_string()))?;
            let what = (*setup, &source, precision);
            let room = Room { twice: false, messages: false, steps: ROUNDS };
            let placed = Placed::new(&mut *program, &mut known, what, room)?;
            let (n, d) = (setup.problem.agents(), setup.problem.dim());
            let sizes = (n, d, device.threads());
            let rounds =
                Rounds::new(&profile, placed.runs.clone(), placed.problem.clone(), Kernels::Apart, sizes);
            program.write(placed.steps, bytemuck::cast_slice(&[step(*setup, &source, 0, 0)]))?;
            rounds.start().iter().try_for_each(|launch| program.launch(launch))?;
            let heard: usize = source.trace.sends.iter().sum();
            // states, what was heard, and a byte for each coordinate
            bytes = bytes.max((n * placed.stride + heard * n * d) * precision.bytes() + n * d);
            runs.push((*setup, source, placed));
        }
        let (mut different, mut seen) = (vec![], HashSet::new());
        for (at, (_, _, placed)) in runs.iter().enumerate() {
            if seen.insert(placed.steps) {
                different.push(at);
            }
        }
        let words = |of: fn(&Placed) -> &Arc<[u64]>| -> Vec<u64> {
            runs.iter().flat_map(|(_, _, placed)| of(placed).to_vec()).collect()
        };
        let (run, problem) = (words(|placed| &placed.runs.rounds[0]), words(|placed| &placed.problem));
        let tables = [put(&mut *program, &run)?, put(&mut *program, &problem)?];
        let shared = if bytes <= device.shared() { u32::try_from(bytes).unwrap_or(0) } else { 0 };
        let threads =
            runs.iter().map(|(setup, ..)| threads_for(setup.problem.agents())).max().unwrap_or(TEAM);
        Ok(Self { runs, different, precision, program, tables, shared, threads, k: 0 })
    }

    /// The same with so many threads for each run, rounded to whole teams of 32. It changes no bit.
    pub fn with_threads(self, threads: u32) -> Self {
        Self { threads: threads.clamp(TEAM, 1024) / TEAM * TEAM, ..self }
    }

    /// Makes rounds of all runs, and begins them at once: only reading waits.
    pub fn advance(&mut self, rounds: u64) -> Result<()> {
        let mut left = rounds;
        while left > 0 {
            let count = left.min(ROUNDS as u64);
            for (setup, source, placed) in self.different.iter().map(|at| &self.runs[*at]) {
                let steps: Vec<Step> =
                    (self.k..self.k + count).map(|k| step(*setup, source, k, k + 1)).collect();
                self.program.write(placed.steps, bytemuck::cast_slice(&steps))?;
            }
            let Some((_, _, placed)) = self.runs.first() else { return Ok(()) };
            let [run, problem] = self.tables;
            self.program.launch(&Launch {
                kernel: if self.shared > 0 { "oneway_cells" } else { "oneway_far_cells" },
                blocks: u32::try_from(self.runs.len()).unwrap_or(u32::MAX),
                threads: self.threads,
                shared: self.shared,
                run: Arc::clone(&placed.runs.rounds[0]),
                problem: Arc::clone(&placed.problem),
                turn: [0, 0, count, run, problem, 0],
            })?;
            self.k += count;
            left -= count;
        }
        Ok(())
    }

    /// The state of one of the runs.
    pub fn state(&mut self, run: usize) -> Result<Snapshot<'a>> {
        let Some((setup, _, placed)) = self.runs.get(run) else {
            return Err(Error::Failed(format!("there are {} runs, from 0 on", self.runs.len())));
        };
        let mut snapshot = Snapshot::new(*setup, self.k).map_err(|error| Error::Failed(error.to_string()))?;
        let sizes = [placed.width, placed.stride];
        read_states(&mut *self.program, placed.states[0], self.precision, sizes, &mut snapshot)?;
        Ok(snapshot.in_precision(self.precision))
    }
}
