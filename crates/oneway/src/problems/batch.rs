//! How many rows a stochastic gradient looks at.

use std::ops::Range;

use crate::numeric::sample::{Draws, Passes};
use crate::{Error, Result};

/// How many rows a stochastic gradient looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// A number of the agent's own rows, drawn uniformly with replacement.
    Sampled(usize),
    /// A number of the agent's own rows, drawn without replacement: they go by in a random order, all of them
    /// before any comes again, and then in another order (random reshuffling). Round k begins where k batches
    /// end, so what an agent draws depends on no round before. A second gradient of a round goes through the
    /// rows in an order of its own, and so does each exchange.
    Reshuffled(usize),
    /// All of the agent's rows: the exact gradient.
    Full,
}

impl Batch {
    /// How many rows are drawn; none where all are taken.
    pub(super) fn drawn(self) -> Option<usize> {
        match self {
            Batch::Sampled(size) | Batch::Reshuffled(size) => Some(size),
            Batch::Full => None,
        }
    }

    /// Draws from the `m` rows of an agent.
    #[inline(always)]
    pub(super) fn drawing(self, m: usize, draws: &mut Draws) -> Drawing<'_> {
        match self {
            Batch::Reshuffled(size) => Drawing::InPasses(draws.passes(m, size)),
            _ => Drawing::Below(m, draws),
        }
    }

    /// Whether an agent with that many rows can draw it.
    pub(super) fn check(self, rows_per_agent: usize) -> Result<()> {
        match self {
            Batch::Sampled(size) | Batch::Reshuffled(size) if !(1..=rows_per_agent).contains(&size) => {
                let expected =
                    format!("a batch has 1 to {rows_per_agent} rows (an agent's share), or is \"full\"");
                Err(Error::parameter("problem", "batch", size, expected))
            }
            _ => Ok(()),
        }
    }
}

/// A batch that is being drawn, a row after another, as numbers among those of the agent.
#[allow(clippy::large_enum_variant)] // it stays where it is made, and nothing is allocated for a gradient
pub(super) enum Drawing<'d> {
    /// With replacement, below a number.
    Below(usize, &'d mut Draws),
    /// Without.
    InPasses(Passes),
}

impl Drawing<'_> {
    #[inline(always)]
    pub(super) fn next(&mut self) -> usize {
        match self {
            Drawing::Below(m, draws) => draws.below(*m),
            Drawing::InPasses(passes) => passes.next(),
        }
    }
}

/// Numbers of rows. One type for both, so that loops over rows are compiled once.
pub(super) enum RowNumbers<'r, 'd> {
    /// All of these.
    All(Range<usize>),
    /// A number of those from this one on that are drawn.
    Drawn(usize, usize, &'r mut Drawing<'d>),
}

impl Iterator for RowNumbers<'_, '_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        match self {
            RowNumbers::All(rows) => rows.next(),
            RowNumbers::Drawn(0, ..) => None,
            RowNumbers::Drawn(left, first, drawing) => {
                *left -= 1;
                Some(*first + drawing.next())
            }
        }
    }
}
