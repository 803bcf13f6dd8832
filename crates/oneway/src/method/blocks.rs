//! The rows of a block of agents as a rule's loops take them: checked once, for all agents, so that the loops
//! need no checks.
//!
//! Nothing here depends on the rule: it would be compiled for each.

use super::{Hearing, Points, Sending};
use crate::numeric::row::{Agents, Rows, RowsMut, Vectors, VectorsMut};
use crate::numeric::{Float, Vector};

/// The most lanes of a vector.
pub(super) const MOST_LANES: usize = 8;

/// The vectors of what a block of agents keeps and sends, checked for all of them.
pub(super) struct Sent<'a, T> {
    pub(super) agents: Agents<'a>,
    pub(super) states: Vectors<'a, T>,
    pub(super) pulls: VectorsMut<'a, T>,
    pub(super) pushes: VectorsMut<'a, T>,
}

impl<'a, T: Float> Sent<'a, T> {
    #[inline(never)]
    pub(super) fn new(block: &'a mut Sending<'_, T>, [state, pull, push]: [usize; 3], d: usize) -> Self {
        let n = block.agents.len();
        Self {
            agents: block.agents,
            states: block.states.as_rows().vectors(n, state, d),
            pulls: block.pulls.vectors(n, pull, d),
            pushes: block.pushes.vectors(n, push, d),
        }
    }
}

/// The vectors of what a block of agents keeps and has heard, checked for all of them. State rows are counted
/// from the block's first.
pub(super) struct Known<'a, T> {
    pub(super) agents: Agents<'a>,
    pub(super) first: usize,
    pub(super) heard: [Rows<'a, T>; 2],
    pub(super) states: VectorsMut<'a, T>,
    pub(super) pulled: Vectors<'a, T>,
    pub(super) pushed: Vectors<'a, T>,
}

impl<'a, T: Float> Known<'a, T> {
    #[inline(never)]
    pub(super) fn new(block: &'a mut Hearing<'_, T>, [state, pull, push]: [usize; 3], d: usize) -> Self {
        let Hearing { agents, first, states, pulled, pushed } = block;
        Self {
            agents: *agents,
            first: *first,
            heard: [*pulled, *pushed],
            states: states.vectors(agents.rows_from(*first), state, d),
            pulled: pulled.vectors(agents.len(), pull, d),
            pushed: pushed.vectors(agents.len(), push, d),
        }
    }
}

/// The vectors of the points of a block of agents. Where only one is asked for, the other goes where nobody
/// looks.
pub(super) struct Asked<'a, T> {
    pub(super) next: VectorsMut<'a, T>,
    pub(super) last: VectorsMut<'a, T>,
    pub(super) mask: usize, // no branch, see `Given`
}

impl<'a, T: Float> Asked<'a, T> {
    #[inline(never)]
    pub(super) fn new(
        points: &'a mut Points<'_, T>,
        unused: &'a mut RowsMut<'_, T>,
        agents: usize,
        d: usize,
    ) -> Self {
        let two = points.last.width() > 0;
        Self {
            next: points.next.vectors(agents, 1, d),
            last: if two { points.last.vectors(agents, 1, d) } else { unused.vectors(1, 1, MOST_LANES) },
            mask: if two { usize::MAX } else { 0 },
        }
    }
}

/// One vector of each row, or as many zeros as are looked at.
pub(super) struct Given<'a, T> {
    rows: Vectors<'a, T>,
    is_there: bool,
}

impl<'a, T: Float> Given<'a, T> {
    #[inline(never)]
    pub(super) fn new(rows: Rows<'a, T>, agents: usize, d: usize, zeros: &'a [T; MOST_LANES]) -> Self {
        let is_there = rows.width() > 0;
        let rows =
            if is_there { rows.vectors(agents, 1, d) } else { Rows::one(zeros).vectors(1, 1, MOST_LANES) };
        Self { rows, is_there }
    }

    /// # Safety
    ///
    /// q and c are within what it was made for, and the machine has such vectors.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(super) unsafe fn load<V: Vector<T>>(&self, q: usize, c: usize) -> V {
        // no branch: a loop with two choices would be compiled four times
        let mask = if self.is_there { usize::MAX } else { 0 };
        // SAFETY: the caller's promise, or the first of the zeros
        unsafe { V::load(self.rows.place(q & mask, c & mask)) }
    }
}
