//! The second pass of an exchange over rows of agents: they mix what they hear and update their states.

use std::ops::Range;

use crate::Result;
use crate::engine::simulator::Number;
use crate::engine::{Setup, Turns};
use crate::graph::mixing::Mixing;
use crate::method::{Agents, Hearing, Kernel, Profile, Round, Rows, RowsMut};
use crate::numeric::Float;
use crate::numeric::matrix::{Matrix, stride_of};

/// From this many numbers on, messages do not fit into a core's own cache (half a megabyte).
pub(super) const FAR_FROM: usize = 1 << 16;

/// What a thread needs for its agents, a chunk of them at a time.
#[derive(Debug)]
pub(super) struct Worker<T> {
    pub(super) chunk: usize,
    /// Mixed rows.
    pub(super) pulled: Matrix<T>,
    pub(super) pushed: Matrix<T>,
    pub(super) turns: Turns<T>,
}

/// Pass 2 of an exchange: agents mix what they hear and update their states.
#[derive(Clone, Copy)]
pub(super) struct Step<'s, 'a, T: Number> {
    pub(super) setup: Setup<'a>,
    pub(super) kernel: &'a dyn Kernel<T>,
    pub(super) profile: &'s Profile,
    pub(super) d: usize,
    /// Rows that one thread takes at a time.
    pub(super) block: usize,
    pub(super) at: Round<'s>,
}

/// What agents hear.
#[derive(Clone, Copy)]
pub(super) struct Sources<'r, T> {
    /// R and C, or rows of them.
    pub(super) mixing: [&'r Mixing; 2],
    /// The rows that these mix.
    pub(super) rows: [&'r [T]; 2],
    /// Whose row is the first of the matrices.
    pub(super) first: usize,
}

impl<T: Number> Step<'_, '_, T> {
    /// The step of some agents, whose states these are.
    pub(super) fn run(
        &self,
        agents: Range<usize>,
        sources: Sources<'_, T>,
        states: &mut [T],
        workers: &mut [Worker<T>],
    ) -> Result<()> {
        let Self { kernel, at, block: rows, .. } = *self;
        let (problem, exchange) = (self.setup.problem, &self.profile.exchanges[at.phase as usize]);
        let [state, pull_width, push_width] = self.profile.widths(self.d);
        let length = stride_of::<T>(state);
        let [pulls, pushes] = sources.rows;
        let far = pulls.len() + pushes.len() >= FAR_FROM;
        let blocks = agents.len().div_ceil(rows.max(1));
        by_blocks(0, states, rows * length, &mut workers[..blocks], &|b, states, worker| {
            let Worker { chunk, pulled, pushed, turns } = worker;
            for (c, states) in states.chunks_mut((*chunk * length).max(1)).enumerate() {
                let (first, len) = (agents.start + b * rows + c * *chunk, states.len() / length.max(1));
                let agents = Agents::Range { first, len };
                turns.prepare(problem, at, at.k + 1, agents); // state k + 1 takes the samples ξ_{k+1}
                let heard = first - sources.first..first - sources.first + len;
                let strides = [
                    mix(sources.mixing[0], pulls, pull_width, heard.clone(), far, pulled),
                    mix(sources.mixing[1], pushes, push_width, heard, far, pushed),
                ];
                let mut block = Hearing {
                    agents,
                    first,
                    states: RowsMut::new(states, state, length),
                    pulled: Rows::new(pulled.rows(), pull_width, strides[0]),
                    pushed: Rows::new(pushed.rows(), push_width, strides[1]),
                };
                turns.finish(kernel, problem, exchange, at, &mut block)?;
            }
            Ok(())
        })
    }
}

/// Mixes the rows of some agents; returns how far one is from the next, which is not at all where all hear
/// the same.
fn mix<T: Float>(
    mixing: &Mixing,
    rows: &[T],
    width: usize,
    agents: Range<usize>,
    far: bool,
    out: &mut Matrix<T>,
) -> usize {
    let stride = stride_of::<T>(width);
    if width == 0 {
        return 0;
    }
    let agents = if mixing.has_one_row() { agents.start..agents.start + 1 } else { agents };
    mixing.mix_rows(agents, far, rows, stride, out.rows_mut());
    if mixing.has_one_row() { 0 } else { stride }
}

/// Hands each worker its piece of `rows`, all of one length except for the last, on as many threads as there
/// are. Splits in halves by `rayon::join`, which allocates nothing. The error is that of the first piece that
/// has one.
pub(super) fn by_blocks<T: Send, W: Send>(
    first: usize,
    rows: &mut [T],
    length: usize,
    workers: &mut [W],
    work: &(impl Fn(usize, &mut [T], &mut W) -> Result<()> + Sync),
) -> Result<()> {
    match workers {
        [] => Ok(()),
        [worker] => work(first, rows, worker),
        _ => {
            let half = workers.len() / 2;
            let (rows, rest) = rows.split_at_mut(half * length);
            let (left, right) = workers.split_at_mut(half);
            let (left, right) = rayon::join(
                || by_blocks(first, rows, length, left, work),
                || by_blocks(first + half, rest, length, right, work),
            );
            left.and(right)
        }
    }
}
