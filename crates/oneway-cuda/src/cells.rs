//! Many small runs side by side, each on one multiprocessor with all its states: sweeps, repetitions, tuning.

use std::collections::HashSet;
use std::sync::Arc;

use oneway::engine::Setup;
use oneway::engine::observe::Snapshot;
use oneway::method::{Ask, Trace};
use oneway::numeric::Precision;

use crate::arena::Arena;
use crate::columns::Columns;
use crate::device::{Buffer, Device, Launch, Program};
use crate::error::{Error, Result};
use crate::run::{Known, Placed, Room, STEPS_WORD, Step, step};
use crate::source::Source;
use crate::states::read_states;

/// Rounds that are made by one launch, at most.
const ROUNDS: usize = 1024;

/// With fewer rounds of all runs together than this, compiling their network takes longer than it saves.
const WORTH_A_TEXT: u64 = 1_000_000;

/// The kernel of `kernels/columns.cu`.
const BY_COLUMNS: &str = "oneway_columns";

/// Threads of a team, which goes over an agent's coordinates together; see `kernels/cell.cu`.
const TEAM: u32 = 32;

/// Threads that share a run of n agents: a team for every two, so that a multiprocessor has room for two
/// runs.
fn threads_for(n: usize) -> u32 {
    TEAM * u32::try_from(n.div_ceil(2)).unwrap_or(u32::MAX).clamp(2, 16)
}

/// Bytes of the memory that the threads of a run share: its states, what was heard, and a byte for each
/// coordinate.
pub(crate) fn shared_bytes(setup: Setup<'_>, source: &Source, precision: Precision) -> usize {
    let (n, d) = (setup.problem.agents(), setup.problem.dim());
    let heard: usize = source.trace.sends.iter().sum();
    let width = setup.method.profile_on(setup.problem).state.len(d);
    (n * Placed::stride(width, precision) + heard * n * d) * precision.bytes() + n * d
}

/// What is asked for at the start, and after each exchange, as `kernels/apart.cu` has it.
fn asks(trace: &Trace) -> Result<[u64; 2]> {
    let of = |ask: Ask| match ask {
        Ask::Samples(count @ 0..=255) => Ok(count as u64),
        Ask::BothPoints => Ok(1 << 8),
        Ask::Nothing => Ok(0),
        _ => Err(Error::Unsupported("it asks for too many gradients".to_owned())),
    };
    if trace.exchanges.len() > 4 {
        return Err(Error::Unsupported("its rounds have too many exchanges".to_owned()));
    }
    let after = trace.exchanges.iter().map(|exchange| of(exchange.ask)).collect::<Result<Vec<_>>>()?;
    let after = after.into_iter().rev().fold(0, |all, ask| all << 16 | ask);
    Ok([of(trace.start_ask)?, after])
}

/// Runs of one rule on problems of one kind and dimension, side by side. Seeds, steps, hyper-parameters,
/// networks and data may differ.
#[derive(Debug)]
pub struct Cells<'a> {
    runs: Vec<(Setup<'a>, Arc<Source>, Placed)>,
    /// Those that go on.
    going: Vec<usize>,
    /// Of the runs that share a table of steps, the first.
    different: Vec<usize>,
    precision: Precision,
    program: Box<dyn Program>,
    /// The words of a run and of a problem for each that goes on, on the device.
    tables: [Buffer; 2],
    /// The kernel that makes rounds.
    kernel: &'static str,
    /// Threads of a run, and bytes of the memory that they share in rounds.
    threads: u32,
    shared: u32,
    /// What is asked for at the start, and after each exchange.
    asks: [u64; 2],
    k: u64,
    /// Rows of a table of steps, and the round of the first of them.
    rows: usize,
    first: Option<u64>,
}

impl<'a> Cells<'a> {
    /// Sets up all runs at state 0.
    pub fn new(device: &dyn Device, setups: &[Setup<'a>], precision: Precision) -> Result<Self> {
        let source = |setup: &Setup<'a>| Source::new(setup.method, setup.problem, precision).map(Arc::new);
        let sources = setups.iter().map(source).collect::<Result<Vec<_>>>()?;
        let runs = setups.iter().copied().zip(sources).collect();
        Self::of(device, runs, precision, u64::MAX)
    }

    /// The same of runs whose kernels are printed already, and that go on for `rounds` rounds, as far as is
    /// known.
    pub(crate) fn of(
        device: &dyn Device,
        setups: Vec<(Setup<'a>, Arc<Source>)>,
        precision: Precision,
        rounds: u64,
    ) -> Result<Self> {
        let Some((_, first)) = setups.first() else {
            return Err(Error::Unsupported("there are no runs".to_owned()));
        };
        if setups.iter().any(|(_, source)| source.text != first.text) {
            return Err(Error::Unsupported(
                "runs side by side are of one rule and one kind of problem".to_owned(),
            ));
        }
        let work = rounds.saturating_mul(setups.len() as u64);
        let columns = if work < WORTH_A_TEXT { None } else { Columns::new(&setups, first, precision) };
        let columns = columns.filter(|columns| columns.shared as usize <= device.shared());
        let mut program = Arena::new(match &columns {
            Some(columns) => device.load(&first.with_columns(&columns.text))?,
            None => device.load(&first.text)?,
        });
        let rows = rounds.clamp(1, ROUNDS as u64) as usize;
        let (mut known, mut runs) = (Known::default(), vec![]);
        let (mut different, mut seen, mut asks_of) = (vec![], HashSet::new(), None);
        for (setup, source) in setups {
            setup.check().map_err(|error| Error::Failed(error.to_string()))?;
            let asked = asks(&source.trace)?;
            let room = Room { states: 1, messages: usize::from(!source.fuses), steps: rows, lends: false };
            let placed = Placed::new(&mut program, &mut known, (setup, &source, precision), room)?;
            if seen.insert(placed.steps) {
                different.push(runs.len());
                program.write(placed.steps, bytemuck::cast_slice(&[step(setup, &source, 0, 0)]))?;
            }
            asks_of.get_or_insert(asked);
            runs.push((setup, source, placed));
        }
        let words =
            |of: fn(&Placed) -> usize| -> usize { runs.iter().map(|(_, _, placed)| of(placed)).sum() };
        let words = [words(|placed| placed.runs.rounds[0].len()), words(|placed| placed.problem.len())];
        let tables = [program.allocate(8 * words[0])?, program.allocate(8 * words[1])?];
        let bytes = runs.iter().map(|(setup, source, _)| shared_bytes(*setup, source, precision)).max();
        let bytes = bytes.unwrap_or(0);
        let most = runs.iter().map(|(setup, ..)| threads_for(setup.problem.agents())).max().unwrap_or(TEAM);
        let (kernel, threads, shared) = match columns {
            Some(Columns { threads, shared, .. }) => (BY_COLUMNS, threads, shared),
            None if runs.iter().any(|(_, source, _)| !source.fuses) => ("oneway_apart_cells", most, 0),
            None if bytes <= device.shared() => ("oneway_cells", most, u32::try_from(bytes).unwrap_or(0)),
            None => ("oneway_far_cells", most, 0),
        };
        let (going, program) = ((0..runs.len()).collect(), Box::new(program));
        let (k, first, asks) = (0, None, asks_of.unwrap_or_default());
        let mut cells = Self {
            runs,
            going,
            different,
            precision,
            program,
            tables,
            kernel,
            threads,
            shared,
            asks,
            k,
            rows,
            first,
        };
        cells.launch("oneway_start_cells", 0, 0)?;
        Ok(cells)
    }

    /// Whether the runs' network is part of the kernel's text, and a thread has a coordinate of all agents: the
    /// fastest way, for small networks that all runs share.
    pub fn by_columns(&self) -> bool {
        self.kernel == BY_COLUMNS
    }

    /// From here on only these runs go on; the others stay as they are.
    pub(crate) fn keep(&mut self, going: Vec<usize>) {
        self.going = going;
    }

    /// Makes rounds of all runs that go on, and begins them at once: only reading waits.
    pub fn advance(&mut self, rounds: u64) -> Result<()> {
        let mut left = rounds;
        while left > 0 && !self.going.is_empty() {
            let first = self.fill_steps()?;
            let count = left.min(first + self.rows as u64 - self.k);
            self.launch(self.kernel, (self.k - first) * size_of::<Step>() as u64, count)?;
            self.k += count;
            left -= count;
        }
        self.k += left;
        Ok(())
    }

    /// Fills the tables of steps where they have no row for the next round; the round of their first row.
    fn fill_steps(&mut self) -> Result<u64> {
        let rows = self.rows as u64;
        let first = match self.first {
            Some(first) if self.k < first + rows => return Ok(first),
            _ => *self.first.insert(self.k),
        };
        for (setup, source, placed) in self.different.iter().map(|at| &self.runs[*at]) {
            let steps: Vec<Step> = (first..first + rows).map(|k| step(*setup, source, k, k + 1)).collect();
            self.program.write(placed.steps, bytemuck::cast_slice(&steps))?;
        }
        Ok(first)
    }

    /// Begins rounds by the tables' rows from this byte on; none at the start.
    fn launch(&mut self, kernel: &'static str, from: u64, count: u64) -> Result<()> {
        let (mut run, mut problem) = (vec![], vec![]);
        for (_, _, placed) in self.going.iter().map(|at| &self.runs[*at]) {
            let begin = run.len();
            run.extend_from_slice(&placed.runs.rounds[0]);
            run[begin + STEPS_WORD] += from;
            problem.extend_from_slice(&placed.problem);
        }
        for (table, words) in self.tables.into_iter().zip([&run, &problem]) {
            self.program.write(table, bytemuck::cast_slice(words))?;
        }
        let [run, problem] = self.tables.map(|table| self.program.address(table));
        let (_, _, placed) = &self.runs[self.going[0]];
        self.program.launch(&Launch {
            kernel,
            blocks: u32::try_from(self.going.len()).unwrap_or(u32::MAX),
            threads: self.threads,
            shared: if kernel == self.kernel { self.shared } else { 0 },
            run: Arc::clone(&placed.runs.rounds[0]),
            problem: Arc::clone(&placed.problem),
            turn: [0, 0, count, run, problem, self.asks[usize::from(count > 0)]],
        })
    }

    /// Waits until all rounds are done that were begun.
    pub(crate) fn wait(&mut self) -> Result<()> {
        self.program.read(self.tables[0], &mut [0; 8])
    }

    /// Where the states of a run are, and how far one row is from the next.
    pub(crate) fn place(&self, run: usize) -> (u64, usize) {
        let (_, _, placed) = &self.runs[run];
        (self.program.address(placed.states[0]), placed.stride)
    }

    /// The state of one of the runs.
    pub fn state(&mut self, run: usize) -> Result<Snapshot<'a>> {
        self.state_at(run, self.k)
    }

    /// The same of a run that went on up to round k.
    pub(crate) fn state_at(&mut self, run: usize, k: u64) -> Result<Snapshot<'a>> {
        let Some((setup, _, placed)) = self.runs.get(run) else {
            return Err(Error::Failed(format!("there are {} runs, from 0 on", self.runs.len())));
        };
        let mut snapshot = Snapshot::new(*setup, k).map_err(|error| Error::Failed(error.to_string()))?;
        let sizes = [placed.width, placed.stride];
        read_states(&mut *self.program, placed.states[0], self.precision, sizes, &mut snapshot)?;
        Ok(snapshot.in_precision(self.precision))
    }
}
