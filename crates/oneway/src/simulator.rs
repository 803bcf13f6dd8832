//! The simulator: all agents' states in one matrix, two passes per round.
//!
//! Pass 1: every row `send`s. Pass 2: per row, the in-neighbours' messages are mixed into a scratch that stays in cache,
//! then the row `step`s. Rows are disjoint, so that threads share nothing and change no bit.

use crate::Result;
use crate::engine::{Engine, Setup};
use crate::matrix::{Matrix, stride};
use crate::method::{Layout, Local, Round};
use crate::observe::View;
use crate::passes::{self, Block, Mail};

/// Below so many numbers in the models, handing rows to threads costs more than it brings.
const PARALLEL_FROM: usize = 1 << 15;

/// From so many numbers on, messages are too many for a core's own cache (half a megabyte).
const FAR_FROM: usize = 1 << 16;

/// Whether a run of n agents in dimension d is large enough to share its rows among threads. Smaller ones are better
/// run side by side, each on one thread.
pub fn worth_threads(n: usize, d: usize) -> bool {
    n.saturating_mul(d) >= PARALLEL_FROM
}

/// All agents of one run.
///
/// ```
/// use oneway::{methods::PUSH_PULL, problems::{Quadratic, QuadraticShape}, schedule::Schedule};
/// use oneway::{engine::{Engine, Setup}, simulator::Simulator, topology::Topology};
///
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
/// let problem = Quadratic::new(shape, 4, 1).unwrap();
/// let topology = Topology::complete(4).unwrap();
/// let schedule = Schedule::constant(0.5).unwrap();
/// let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
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
        let layout = setup.check()?;
        let threads = rayon::current_num_threads();
        let block = if worth_threads(n, d) && threads > 1 { n.div_ceil(4 * threads) } else { n };
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
        let Setup { method, problem, topology, .. } = self.setup;
        let (at, pair) = (self.setup.round(0, 0), topology.at(0));
        let width = self.layout.state.len(self.d);
        let (block, scratch, d) = (self.block, self.scratch_stride(), self.d);
        let buffers = [self.states.rows_mut(), self.scratch.rows_mut()];
        by_blocks(0, buffers, [block * stride(width), scratch], &|b, [states, scratch]| {
            for (i, row) in states.chunks_exact_mut(stride(width)).enumerate() {
                let at = Round { agent: b * block + i, ..at };
                let mut local = Local::new(problem, at, 0, pair, &mut scratch[..d]);
                method.init(&mut row[..width], &mut local);
            }
        });
    }

    /// Pass 1: every agent fills its two messages.
    fn send(&mut self, at: Round) {
        let Setup { method, problem, .. } = self.setup;
        let (layout, d, rows) = (self.layout, self.d, self.block);
        let lengths = [layout.state, layout.pull, layout.push].map(|width| rows * stride(width.len(d)));
        let buffers = [self.states.rows_mut(), self.pull.rows_mut(), self.push.rows_mut()];
        by_blocks(0, buffers, lengths, &|b, [states, pulls, pushes]| {
            let block = Block { first: b * rows, states, layout, d, problem };
            passes::send(method, at, block, pulls, pushes);
        });
    }

    /// Pass 2: every agent mixes what it hears and steps.
    fn step(&mut self, at: Round) {
        let Setup { method, problem, topology, .. } = self.setup;
        let (layout, d, rows) = (self.layout, self.d, self.block);
        let lengths = [rows * stride(layout.state.len(d)), self.scratch_stride()];
        let (pulls, pushes) = (self.pull.rows(), self.push.rows());
        let mail =
            Mail { pair: topology.at(at.k), pulls, pushes, far: pulls.len() + pushes.len() >= FAR_FROM };
        let buffers = [self.states.rows_mut(), self.scratch.rows_mut()];
        by_blocks(0, buffers, lengths, &|b, [states, scratch]| {
            let block = Block { first: b * rows, states, layout, d, problem };
            passes::step(method, at, block, &mail, scratch);
        });
    }

    fn scratch_stride(&self) -> usize {
        let [pull, push] = [self.layout.pull, self.layout.push].map(|width| stride(width.len(self.d)));
        stride(pull + push + self.d)
    }

    /// Puts every agent into a state of one's own: `fill(agent, row)` writes its row. The rounds done stay as they are.
    pub fn fill_states(&mut self, mut fill: impl FnMut(usize, &mut [f64])) {
        let width = self.layout.state.len(self.d);
        let rows = self.states.rows_mut().chunks_exact_mut(stride(width).max(1));
        rows.enumerate().for_each(|(agent, row)| fill(agent, &mut row[..width]));
    }

    /// Goes on from state k, which was reached elsewhere: `fill(agent, row)` writes its rows.
    pub fn resume(&mut self, k: u64, fill: impl FnMut(usize, &mut [f64])) {
        self.k = k;
        self.fill_states(fill);
    }
}

impl<'a> Engine<'a> for Simulator<'a> {
    fn setup(&self) -> Setup<'a> {
        self.setup
    }

    /// One round: state k becomes state k + 1. Allocates nothing.
    fn round(&mut self) {
        for phase in 0..self.setup.method.phases() {
            let at = self.setup.round(self.k, phase);
            self.send(at);
            self.step(at);
        }
        self.k += 1;
    }

    fn view(&self) -> View<'_> {
        self.setup.view(self.k, self.states.rows())
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
