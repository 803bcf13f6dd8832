//! Where in the run we are, and who.

use crate::graph::mixing::Mixing;
use crate::numeric::sample::{Draws, Purpose};

/// Where in the run we are, and who.
#[derive(Debug, Clone, Copy)]
pub struct Round<'a> {
    /// The round that turns state k into state k + 1.
    pub k: u64,
    /// The exchange within the round, for methods with several.
    pub phase: u32,
    /// The update within the exchange, for methods that take several gradients after one.
    pub turn: u32,
    /// The step size η_k; the schedule belongs to the experiment, not to the method.
    pub η: f64,
    /// The agent whose row this is; the first of them, for a block of rows.
    pub agent: usize,
    /// How many agents there are, n.
    pub agents: usize,
    /// The problem's dimension, d.
    pub d: usize,
    /// The seed of the run.
    pub seed: u64,
    /// What agents keep of what they push.
    pub kept: Kept<'a>,
}

impl Round<'_> {
    /// The agent's draws for this exchange, other than its samples: those of a random codec, say.
    pub fn draws(&self, purpose: Purpose) -> Draws {
        Draws::new(self.seed, purpose, self.agent, self.k).in_phase(self.phase)
    }
}

/// C_ii, the share of what it pushes that an agent keeps.
#[derive(Debug, Clone, Copy)]
pub enum Kept<'a> {
    /// Of every agent: the diagonal of C.
    Diagonal(&'a Mixing),
    /// Of the one agent that this is about.
    Share(f64),
}

impl Kept<'_> {
    /// Agent i's. O(in-degree).
    pub fn share(self, i: usize) -> f64 {
        match self {
            Kept::Diagonal(push) => push.weight(i, i),
            Kept::Share(share) => share,
        }
    }
}
