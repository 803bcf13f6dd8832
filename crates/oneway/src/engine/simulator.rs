//! The simulator: all agents' states in one matrix, two passes per round.
//!
//! Pass 1: every row is sent. Pass 2, a few agents at a time so that all stays in a near cache: what they
//! hear is mixed, points are made, gradients asked for in one call, states updated. Rows are disjoint, so
//! that threads share nothing and change no bit.

use std::cell::OnceCell;
use std::ops::Range;

use crate::engine::inner::{Inner, inner_of};
use crate::engine::observe::View;
use crate::engine::part::{Carrier, Moment, Slab};
use crate::engine::step::{FAR_FROM, Sources, Step, Worker, by_blocks};
use crate::engine::sums::Alone;
use crate::engine::{Engine, Resumable, Setup, Turns};
use crate::method::{Agents, InPrecision, Kernel, Profile, Round, RowsMut, Sending};
use crate::numeric::matrix::{Matrix, stride_of};
use crate::{Error, Result};

/// With fewer numbers in the models than this, threads cost more than they bring.
const PARALLEL_FROM: usize = 1 << 15;

/// The most agents of a chunk, and the most numbers in their points: what a chunk needs stays in a near
/// cache.
const CHUNK: usize = 32;
const CHUNK_NUMBERS: usize = 1 << 11;

/// Whether a run of n agents in dimension d is large enough to share its rows among threads. Smaller ones are
/// better run side by side, each on one thread.
pub fn worth_threads(n: usize, d: usize) -> bool {
    n.saturating_mul(d) >= PARALLEL_FROM
}

/// All agents of one run.
///
/// ```
/// use oneway::{methods::PUSH_PULL, problems::{Quadratic, QuadraticShape}, engine::Schedule};
/// use oneway::{engine::{Engine, Setup}, engine::Simulator, graph::Topology};
///
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
/// let problem = Quadratic::new(shape, 4, 1).unwrap();
/// let topology = Topology::complete(4).unwrap();
/// let schedule = Schedule::constant(0.5).unwrap();
/// let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
/// let mut simulator = Simulator::new(setup).unwrap();
/// (0..60).try_for_each(|_| simulator.round()).unwrap();
/// let far = simulator.view().estimate(2).iter().zip(problem.minimiser()).any(|(x, y)| (x - y).abs() > 1e-12);
/// assert!(!far);
/// ```
#[derive(Debug)]
pub struct Simulator<'a, T: Number = f64> {
    setup: Setup<'a>,
    kernel: &'a dyn Kernel<T>,
    profile: Profile,
    d: usize,
    /// The agents that are run here: all, unless others are elsewhere. Every agent has its place in the
    /// matrices; memory that nobody touches is none.
    own: Range<usize>,
    /// Rounds done: the state is state k.
    pub(super) k: u64,
    /// One row an agent.
    states: Matrix<T>,
    /// The same in double precision, once somebody has looked, where T is not.
    shown: OnceCell<Matrix>,
    /// What each agent offers on the pull graph.
    pull: Matrix<T>,
    /// What each agent sends on the push graph.
    push: Matrix<T>,
    /// Rows that one thread takes at a time, and what each has for that.
    block: usize,
    workers: Vec<Worker<T>>,
    /// For each round of the period, own agents that need not wait for rows of others.
    inner: Vec<Option<Inner>>,
}

/// The numbers of a run: `f64` or `f32`.
///
/// Its functions stand between the simulator and its passes. They are compiled once, with this library: a
/// crate that uses a simulator need not compile the passes again.
pub trait Number: InPrecision {
    #[doc(hidden)]
    fn set_up(setup: Setup<'_>, own: Range<usize>) -> Result<Simulator<'_, Self>>;

    #[doc(hidden)]
    fn round(simulator: &mut Simulator<'_, Self>, carrier: &mut dyn Carrier<Self>) -> Result<()>;
}

macro_rules! number {
    ($float:ty) => {
        impl Number for $float {
            fn set_up(setup: Setup<'_>, own: Range<usize>) -> Result<Simulator<'_, $float>> {
                Simulator::set_up(setup, own)
            }

            fn round(simulator: &mut Simulator<'_, $float>, carrier: &mut dyn Carrier<$float>) -> Result<()> {
                simulator.advance(carrier)
            }
        }
    };
}

number!(f64);
number!(f32);

impl<'a> Simulator<'a> {
    /// Sets up all agents at state 0, with rows handed to the threads of the current rayon pool when they are
    /// many.
    pub fn new(setup: Setup<'a>) -> Result<Self> {
        Self::with_precision(setup)
    }
}

impl<'a, T: Number> Simulator<'a, T> {
    /// The same in the precision of T.
    ///
    /// ```
    /// # use oneway::{methods::PUSH_PULL, problems::{Quadratic, QuadraticShape}, engine::Schedule};
    /// # use oneway::{engine::{Engine, Setup}, engine::Simulator, graph::Topology};
    /// # let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
    /// # let problem = Quadratic::new(shape, 4, 1).unwrap();
    /// # let (topology, schedule) = (Topology::complete(4).unwrap(), Schedule::constant(0.5).unwrap());
    /// let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
    /// let single = Simulator::<f32>::with_precision(setup).unwrap();
    /// assert!(single.state_hash().starts_with("f32:"));
    /// ```
    pub fn with_precision(setup: Setup<'a>) -> Result<Self> {
        T::set_up(setup, 0..setup.problem.agents())
    }

    fn set_up(setup: Setup<'a>, own: Range<usize>) -> Result<Self> {
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        let profile = setup.check()?;
        let kernel = T::kernel(setup.method).ok_or(Error::NoSinglePrecision)?;
        let threads = rayon::current_num_threads();
        let at_once = setup.problem.at_once();
        let here = own.len();
        let alone = at_once || threads == 1 || !worth_threads(here, d);
        let block = if alone { here } else { here.div_ceil(4 * threads) }.max(1);
        let chunk = if at_once { here } else { (CHUNK_NUMBERS / d.max(1)).clamp(1, CHUNK).min(block) };
        let [state, pull, push] = profile.widths(d);
        let one_row =
            setup.topology.period().iter().all(|pair| pair.pull.has_one_row() && pair.push.has_one_row());
        let mixed = if one_row { 1 } else { chunk };
        let worker = || Worker {
            chunk,
            pulled: Matrix::new(mixed, pull),
            pushed: Matrix::new(mixed, push),
            turns: Turns::new(&profile, chunk, d),
        };
        let mut simulator = Self {
            kernel,
            d,
            k: 0,
            states: Matrix::new(n, state),
            shown: OnceCell::new(),
            pull: Matrix::new(n, pull),
            push: Matrix::new(n, push),
            workers: std::iter::repeat_with(worker).take(here.div_ceil(block)).collect(),
            block,
            inner: if at_once { vec![] } else { inner_of(setup.topology, &own, d) },
            own,
            setup,
            profile,
        };
        simulator.init()?;
        Ok(simulator)
    }

    fn init(&mut self) -> Result<()> {
        let (problem, at) = (self.setup.problem, self.setup.round(0, 0));
        let (kernel, ask, rows) = (self.kernel, self.profile.start, self.block);
        let width = self.profile.state.len(self.d);
        let length = stride_of::<T>(width);
        let (own, all) = (self.own.clone(), self.states.rows_mut());
        let here = &mut all[own.start * length..own.end * length];
        by_blocks(0, here, rows * length, &mut self.workers, &|b, states, worker| {
            for (c, states) in states.chunks_mut((worker.chunk * length).max(1)).enumerate() {
                let agents = Agents::Range {
                    first: own.start + b * rows + c * worker.chunk,
                    len: states.len() / length.max(1),
                };
                worker.turns.start(kernel, problem, ask, at, agents, RowsMut::new(states, width, length))?;
            }
            Ok(())
        })
    }

    fn advance(&mut self, carrier: &mut dyn Carrier<T>) -> Result<()> {
        self.shown.take();
        for phase in 0..self.profile.phases() {
            let at = self.setup.round(self.k, phase);
            self.send(at);
            self.hear(at, carrier)?;
        }
        self.k += 1;
        Ok(())
    }

    /// Rows go to others and come from them; meanwhile agents that need not wait for that take their steps.
    fn hear(&mut self, at: Round<'_>, carrier: &mut dyn Carrier<T>) -> Result<()> {
        let Self { setup, kernel, ref profile, d, ref own, block, .. } = *self;
        let [state, pull, push] = profile.widths(d).map(stride_of::<T>);
        let step = Step { setup, kernel, profile, d, block, at };
        let inner = self.inner.get((at.k % self.inner.len().max(1) as u64) as usize).and_then(Option::as_ref);
        let inner_agents = inner.map_or(own.end..own.end, |inner| inner.agents.clone());
        let at_once = if self.workers.len() > 1 { own.len() } else { (FAR_FROM / d.max(1)).max(1) };
        let (states, workers) = (self.states.rows_mut(), &mut self.workers);
        let (mut next, mut stepped) = (inner_agents.start, Ok(()));
        let mut meanwhile = |rows: [&[T]; 2]| {
            let Some(inner) = inner.filter(|_| next < inner_agents.end && stepped.is_ok()) else {
                return false;
            };
            let agents = next..(next + at_once).min(inner_agents.end);
            next = agents.end;
            let here = &mut states[agents.start * state..agents.end * state];
            let sources = Sources { mixing: inner.mixing.each_ref(), rows, first: inner_agents.start };
            stepped = step.run(agents, sources, here, workers);
            next < inner_agents.end
        };
        let graphs = [(&mut self.pull, pull), (&mut self.push, push)];
        let graphs = graphs.map(|(rows, stride)| Slab { numbers: rows.rows_mut(), stride });
        carrier.carry(Moment { k: at.k, phase: at.phase }, graphs, &mut meanwhile)?;
        stepped?;
        let pair = setup.topology.at(at.k);
        for agents in [own.start..inner_agents.start, next..own.end] {
            let here = &mut states[agents.start * state..agents.end * state];
            let rows = [self.pull.rows(), self.push.rows()];
            step.run(agents, Sources { mixing: [&pair.pull, &pair.push], rows, first: 0 }, here, workers)?;
        }
        Ok(())
    }

    /// Pass 1: every agent fills its two messages.
    fn send(&mut self, at: Round<'_>) {
        let (kernel, rows) = (self.kernel, self.block);
        let widths = self.profile.widths(self.d);
        let strides = widths.map(stride_of::<T>);
        let own = self.own.clone();
        let [mut states, mut pulls, mut pushes] =
            [&mut self.states, &mut self.pull, &mut self.push].map(Matrix::rows_mut);
        for (rows, stride) in [&mut states, &mut pulls, &mut pushes].into_iter().zip(strides) {
            *rows = &mut std::mem::take(rows)[own.start * stride..own.end * stride];
        }
        let buffers = [states, pulls, pushes];
        in_pieces(0, self.workers.len(), buffers, strides.map(|stride| rows * stride), &|b,
                                                                                         [
            states,
            pulls,
            pushes,
        ]| {
            let len = states.len().checked_div(strides[0]).unwrap_or(0);
            let mut block = Sending {
                agents: Agents::Range { first: own.start + b * rows, len },
                states: RowsMut::new(states, widths[0], strides[0]),
                pulls: RowsMut::new(pulls, widths[1], strides[1]),
                pushes: RowsMut::new(pushes, widths[2], strides[2]),
            };
            kernel.send_block(at, &mut block);
        });
    }

    /// The states of all agents, which have been looked at by nobody yet.
    pub(super) fn state_rows(&mut self) -> Slab<'_, T> {
        self.shown.take();
        let stride = stride_of::<T>(self.profile.state.len(self.d));
        Slab { numbers: self.states.rows_mut(), stride }
    }

    /// Overwrites every agent's state row: `fill(agent, row)` writes it. The rounds done stay as they are.
    pub fn fill_states(&mut self, mut fill: impl FnMut(usize, &mut [T])) {
        self.shown.take();
        let width = self.profile.state.len(self.d);
        let rows = self.states.rows_mut().chunks_exact_mut(stride_of::<T>(width).max(1));
        rows.enumerate().for_each(|(agent, row)| fill(agent, &mut row[..width]));
    }

    /// Goes on from state k, which was reached elsewhere: `fill(agent, row)` writes its rows.
    pub fn resume(&mut self, k: u64, fill: impl FnMut(usize, &mut [T])) {
        self.k = k;
        self.fill_states(fill);
    }
}

impl<'a, T: Number> Engine<'a> for Simulator<'a, T> {
    fn setup(&self) -> Setup<'a> {
        self.setup
    }

    /// One round: state k becomes state k + 1. Allocates nothing.
    fn round(&mut self) -> Result<()> {
        T::round(self, &mut Alone)
    }

    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        Some(self)
    }

    fn view(&self) -> View<'_> {
        let shown = || {
            let (n, width) = (self.setup.problem.agents(), self.profile.state.len(self.d));
            let mut shown = Matrix::new(n, width);
            for i in self.own.clone() {
                let pairs = shown.row_mut(i, width).iter_mut().zip(self.states.row(i, width));
                pairs.for_each(|(shown, x)| *shown = x.to_f64());
            }
            shown
        };
        let states = T::as_f64(self.states.rows()).unwrap_or_else(|| self.shown.get_or_init(shown).rows());
        View { precision: T::PRECISION, ..self.setup.view(self.k, &self.profile, states) }
    }
}

impl<T: Number> Resumable for Simulator<'_, T> {
    fn resume_at(&mut self, k: u64, fill: &mut dyn FnMut(usize, &mut [f64])) {
        let mut shown = vec![0.0; self.profile.state.len(self.d)];
        self.resume(k, |agent, row| {
            fill(agent, &mut shown);
            row.iter_mut().zip(&shown).for_each(|(x, shown)| *x = T::from_f64(*shown));
        });
    }
}

/// Cuts each buffer into pieces of its own length (the last may be shorter) and calls `work(b, pieces)` for
/// the b-th of each, on as many threads as there are. Splits in halves by `rayon::join`, which allocates
/// nothing.
fn in_pieces<T: Send, const K: usize>(
    first: usize,
    blocks: usize,
    buffers: [&mut [T]; K],
    lengths: [usize; K],
    work: &(impl Fn(usize, [&mut [T]; K]) + Sync),
) {
    if blocks <= 1 {
        return work(first, buffers);
    }
    let half = blocks / 2;
    let mut lengths_left = lengths.iter();
    let halves = buffers.map(|buffer| {
        let middle = half * lengths_left.next().copied().unwrap_or_default();
        buffer.split_at_mut(middle)
    });
    let mut right: [&mut [T]; K] = std::array::from_fn(|_| Default::default());
    let mut place = right.iter_mut();
    let left = halves.map(|(left, rest)| {
        if let Some(place) = place.next() {
            *place = rest;
        }
        left
    });
    rayon::join(
        || in_pieces(first, half, left, lengths, work),
        || in_pieces(first + half, blocks - half, right, lengths, work),
    );
}
