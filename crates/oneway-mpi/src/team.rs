//! The processes of a job, as they make sums over all agents.

use std::ops::Range;

use oneway::engine::part::Team;

use crate::blocks::block;
use crate::world::{Message, World};

/// The kind of messages with sums.
const SUMS: i32 = 3;

/// All of them, seen by one; ranks ascend as agents do.
pub(crate) struct Ranks<'w, W>(pub(crate) &'w W);

impl<W: World> Team for Ranks<'_, W> {
    fn own(&self, agents: usize) -> Range<usize> {
        block(agents, self.0.size(), self.0.rank())
    }

    fn take(&mut self, numbers: &mut [f64]) {
        self.0.exchange(vec![], vec![Message { peer: self.0.rank() - 1, kind: SUMS, items: numbers }]);
    }

    fn hand_on(&mut self, numbers: &[f64]) {
        self.0.exchange(vec![Message { peer: self.0.rank() + 1, kind: SUMS, items: numbers }], vec![]);
    }

    fn share_last(&mut self, numbers: &mut [f64]) {
        let last = self.0.size() - 1;
        if self.0.rank() == last {
            let numbers: &[f64] = numbers;
            let to = |peer| Message { peer, kind: SUMS, items: numbers };
            self.0.exchange((0..last).map(to).collect(), vec![]);
        } else {
            self.0.exchange(vec![], vec![Message { peer: last, kind: SUMS, items: numbers }]);
        }
    }
}
