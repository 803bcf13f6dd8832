//! The simulator: all agents' states in one matrix, two passes per round.
//!
//! Pass 1: every row `send`s. Pass 2: per row, the in-neighbours' messages are mixed into a scratch that stays in cache,
//! then the row `step`s. Rows are disjoint, so that threads share nothing and change no bit.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

use crate::matrix::{Matrix, stride};
use crate::method::{Block, Layout, Local, Mail, Method, Round};
use crate::observe::{Observer, View};
use crate::problem::Problem;
use crate::schedule::Schedule;
use crate::topology::Topology;
use crate::{Error, Result};

/// Below so many numbers in the models, handing rows to threads costs more than it brings.
const PARALLEL_FROM: usize = 1 << 15;

/// From so many numbers on, messages are too many for a core's own cache (half a megabyte).
const FAR_FROM: usize = 1 << 16;

/// Whether a run of n agents in dimension d is large enough to share its rows among threads. Smaller ones are better
/// run side by side, each on one thread.
pub fn worth_threads(n: usize, d: usize) -> bool {
    n.saturating_mul(d) >= PARALLEL_FROM
}

/// A state with a number beyond this (or not finite) has diverged: its square is about to overflow.
const DIVERGED_BEYOND: f64 = 1e150;

/// What to run: the pure function's arguments.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The method.
    pub method: &'a dyn Method,
    /// The problem.
    pub problem: &'a dyn Problem,
    /// The network.
    pub topology: &'a Topology,
    /// Step sizes, already divided by c_π where they were given as effective.
    pub schedule: Schedule,
    /// Seed of the sampling.
    pub seed: u64,
}

impl<'a> Setup<'a> {
    /// What observers see of a state.
    pub(crate) fn view<'v>(&self, k: u64, states: &'v [f64]) -> View<'v>
    where
        'a: 'v,
    {
        let Setup { method, problem, topology, .. } = *self;
        View { k, method, problem, topology, states, layout: method.layout(), d: problem.dim() }
    }
}

/// How a run ended. Divergence is an outcome, not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// All rounds were done.
    Completed,
    /// The state was found beyond all bounds when it was next looked at, after so many rounds.
    Diverged {
        /// Rounds done when it was noticed.
        round: u64,
    },
    /// An observer asked to stop.
    Stopped {
        /// Rounds done.
        round: u64,
    },
}

/// How a run ended and what it took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Time in rounds; the clock stops while observers look.
    pub stepping: Duration,
    /// Time in observers.
    pub observing: Duration,
}

/// All agents of one run.
///
/// ```
/// use oneway::{methods::PushPull, problems::{Quadratic, QuadraticShape}, schedule::Schedule};
/// use oneway::{simulator::{Setup, Simulator}, topology::Topology};
///
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
/// let problem = Quadratic::new(shape, 4, 1).unwrap();
/// let topology = Topology::complete(4).unwrap();
/// let schedule = Schedule::constant(0.5).unwrap();
/// let setup = Setup { method: &PushPull, problem: &problem, topology: &topology, schedule, seed: 1 };
/// let mut simulator = Simulator::new(setup).unwrap();
/// (0..60).for_each(|_| simulator.round());
/// let far = simulator.view().estimate(2).iter().zip(problem.minimiser()).any(|(x, y)| (x - y).abs() > 1e-12);
/// assert!(!far);
/// ```
#[derive(Debug)]
pub struct Simulator<'a> {
    setup: Setup<'a>,
    layout: Layout,
    d: usize,
    /// Rounds done: the state is state k.
    k: u64,
    /// One row an agent.
    states: Matrix,
    /// What each agent offers on the pull graph.
    pull: Matrix,
    /// What each agent sends on the push graph.
    push: Matrix,
    /// For each block of rows: a mixed pull row, a mixed push row, a gradient.
    scratch: Matrix,
    /// Rows that one thread takes at a time.
    block: usize,
}

impl<'a> Simulator<'a> {
    /// Sets up all agents at state 0, with rows handed to the threads of the current rayon pool when they are many.
    pub fn new(setup: Setup<'a>) -> Result<Self> {
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        if setup.topology.agents() != n {
            return Err(Error::Mismatch {
                left: "problem",
                left_size: n,
                right: "topology",
                right_size: setup.topology.agents(),
                unit: "agents",
            });
        }
        setup.topology.check(setup.method.network())?;
        let numbers = n.checked_mul(setup.method.layout().state.len(d)).filter(|numbers| *numbers < 1 << 40);
        if numbers.is_none() {
            let expected = "the states of all agents would not fit into any memory";
            return Err(Error::parameter("run", "agents × dim", format!("{n} × {d}"), expected));
        }
        let threads = rayon::current_num_threads();
        let block = if worth_threads(n, d) && threads > 1 { n.div_ceil(4 * threads) } else { n };
        let layout = setup.method.layout();
        let [state, pull, push] = [layout.state, layout.pull, layout.push].map(|width| width.len(d));
        let mut simulator = Self {
            setup,
            layout,
            d,
            k: 0,
            states: Matrix::new(n, state),
            pull: Matrix::new(n, pull),
            push: Matrix::new(n, push),
            scratch: Matrix::new(n.div_ceil(block), stride(pull) + stride(push) + d),
            block,
        };
        simulator.init();
        Ok(simulator)
    }

    fn init(&mut self) {
        let Setup { method, problem, seed, .. } = self.setup;
        let width = self.layout.state.len(self.d);
        let (block, scratch, d) = (self.block, self.scratch_stride(), self.d);
        let buffers = [self.states.rows_mut(), self.scratch.rows_mut()];
        by_blocks(0, buffers, [block * stride(width), scratch], &|b, [states, scratch]| {
            for (i, row) in states.chunks_exact_mut(stride(width)).enumerate() {
                let mut local = Local::new(problem, seed, b * block + i, 0, 0, &mut scratch[..d]);
                method.init(&mut row[..width], &mut local);
            }
        });
    }

    /// One round: state k becomes state k + 1. Allocates nothing.
    pub fn round(&mut self) {
        for phase in 0..self.setup.method.phases() {
            let at = Round { k: self.k, phase, η: self.setup.schedule.at(self.k) };
            self.send(at);
            self.step(at);
        }
        self.k += 1;
    }

    /// Pass 1: every agent fills its two messages.
    fn send(&mut self, at: Round) {
        let Setup { method, problem, seed, .. } = self.setup;
        let (layout, d, rows) = (self.layout, self.d, self.block);
        let lengths = [layout.state, layout.pull, layout.push].map(|width| rows * stride(width.len(d)));
        let buffers = [self.states.rows_mut(), self.pull.rows_mut(), self.push.rows_mut()];
        by_blocks(0, buffers, lengths, &|b, [states, pulls, pushes]| {
            let block = Block { first: b * rows, states, layout, d, problem, seed };
            method.send_block(at, block, pulls, pushes);
        });
    }

    /// Pass 2: every agent mixes what it hears and steps.
    fn step(&mut self, at: Round) {
        let Setup { method, problem, topology, seed, .. } = self.setup;
        let (layout, d, rows) = (self.layout, self.d, self.block);
        let lengths = [rows * stride(layout.state.len(d)), self.scratch_stride()];
        let (pulls, pushes) = (self.pull.rows(), self.push.rows());
        let mail =
            Mail { pair: topology.at(at.k), pulls, pushes, far: pulls.len() + pushes.len() >= FAR_FROM };
        let buffers = [self.states.rows_mut(), self.scratch.rows_mut()];
        by_blocks(0, buffers, lengths, &|b, [states, scratch]| {
            let block = Block { first: b * rows, states, layout, d, problem, seed };
            method.step_block(at, block, &mail, scratch);
        });
    }

    fn scratch_stride(&self) -> usize {
        let [pull, push] = [self.layout.pull, self.layout.push].map(|width| stride(width.len(self.d)));
        stride(pull + push + self.d)
    }

    /// Runs until `rounds` rounds are done, showing the observer state 0, every `every`-th and the last.
    pub fn run(&mut self, rounds: u64, every: u64, observer: &mut dyn Observer) -> Result<Outcome> {
        let every = every.max(1);
        let (mut stepping, mut observing) = (Duration::ZERO, Duration::ZERO);
        let mut began = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut began, now)
        };
        let status = loop {
            if self.has_diverged() {
                break Status::Diverged { round: self.k };
            }
            let flow = observer.observe(&self.view())?;
            observing += lap();
            if self.k >= rounds {
                break Status::Completed;
            }
            if flow == ControlFlow::Break(()) {
                break Status::Stopped { round: self.k };
            }
            let next = (self.k - self.k % every).saturating_add(every).min(rounds);
            while self.k < next {
                self.round();
            }
            stepping += lap();
        };
        Ok(Outcome { status, stepping, observing })
    }

    fn has_diverged(&self) -> bool {
        // whole blocks rather than number by number, so that vectors look; NaN is not ≤ anything
        let sound = |block: &[f64]| block.iter().fold(true, |sound, x| sound & (x.abs() <= DIVERGED_BEYOND));
        !self.states.rows().chunks(1024).all(sound)
    }

    /// Puts every agent into a state of one's own: `fill(agent, row)` writes its row. The rounds done stay as they are.
    pub fn fill_states(&mut self, mut fill: impl FnMut(usize, &mut [f64])) {
        let width = self.layout.state.len(self.d);
        let rows = self.states.rows_mut().chunks_exact_mut(stride(width).max(1));
        rows.enumerate().for_each(|(agent, row)| fill(agent, &mut row[..width]));
    }

    /// The state as it is now.
    pub fn view(&self) -> View<'_> {
        self.setup.view(self.k, self.states.rows())
    }

    /// SHA-256 of all agents' states, agents ascending, as little-endian f64 bits. All NaNs count as one.
    pub fn state_hash(&self) -> String {
        let mut hasher = Sha256::new();
        let view = self.view();
        for &x in (0..view.agents()).flat_map(|i| view.state(i)) {
            let canonical = if x.is_nan() { f64::NAN } else { x };
            hasher.update(canonical.to_bits().to_le_bytes());
        }
        hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// Cuts each buffer into pieces of its own length (the last may be shorter) and calls `work(b, pieces)` for the b-th of
/// each, on as many threads as there are. Splits in halves by `rayon::join`, which allocates nothing.
fn by_blocks<const K: usize>(
    first: usize,
    buffers: [&mut [f64]; K],
    lengths: [usize; K],
    work: &(impl Fn(usize, [&mut [f64]; K]) + Sync),
) {
    let blocks = buffers[0].len().div_ceil(lengths[0].max(1));
    if blocks <= 1 {
        return work(first, buffers);
    }
    let half = blocks / 2;
    let mut lengths_left = lengths.iter();
    let halves = buffers.map(|buffer| {
        let middle = half * lengths_left.next().copied().unwrap_or_default();
        buffer.split_at_mut(middle)
    });
    let mut right: [&mut [f64]; K] = std::array::from_fn(|_| Default::default());
    let mut place = right.iter_mut();
    let left = halves.map(|(left, rest)| {
        if let Some(place) = place.next() {
            *place = rest;
        }
        left
    });
    rayon::join(|| by_blocks(first, left, lengths, work), || by_blocks(first + half, right, lengths, work));
}
