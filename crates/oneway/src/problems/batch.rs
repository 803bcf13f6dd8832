//! How many rows a stochastic gradient looks at.

use std::ops::Range;

use crate::numeric::sample::Draws;
use crate::{Error, Result};

/// How many rows a stochastic gradient looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// A number of the agent's own rows, drawn uniformly with replacement.
    Sampled(usize),
    /// All of the agent's rows: the exact gradient.
    Full,
}

impl Batch {
    /// How many rows are drawn; none where all are taken.
    pub(super) fn drawn(self) -> Option<usize> {
        match self {
            Batch::Sampled(size) => Some(size),
            Batch::Full => None,
        }
    }

    /// Whether an agent with that many rows can draw it.
    pub(super) fn check(self, rows_per_agent: usize) -> Result<()> {
        match self {
            Batch::Sampled(size) if !(1..=rows_per_agent).contains(&size) => {
                let expected =
                    format!("a batch has 1 to {rows_per_agent} rows (an agent's share), or is \"full\"");
                Err(Error::parameter("problem", "batch", size, expected))
            }
            _ => Ok(()),
        }
    }
}

/// Numbers of rows. One type for both, so that loops over rows are compiled once.
pub(super) enum RowNumbers<'d> {
    /// All of these.
    All(Range<usize>),
    /// A number of them, drawn with replacement.
    Drawn(usize, Range<usize>, &'d mut Draws),
}

impl Iterator for RowNumbers<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        match self {
            RowNumbers::All(rows) => rows.next(),
            RowNumbers::Drawn(0, ..) => None,
            RowNumbers::Drawn(left, rows, draws) => {
                *left -= 1;
                Some(rows.start + draws.below(rows.len()))
            }
        }
    }
}
