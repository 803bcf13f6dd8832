//! The rows of some agents, side by side, as engines hand them to a method.

use crate::numeric::row::{Agents, Rows, RowsMut};

/// Agents that are about to send. Row q of each belongs to the q-th agent.
#[derive(Debug)]
pub struct Sending<'a, T> {
    /// Who.
    pub agents: Agents<'a>,
    /// What they keep. A method may note what it has sent.
    pub states: RowsMut<'a, T>,
    /// What they offer on the pull graph.
    pub pulls: RowsMut<'a, T>,
    /// What they send on the push graph.
    pub pushes: RowsMut<'a, T>,
}

/// Agents that have heard. Message rows are those of the q-th agent; its state row is found by its number.
#[derive(Debug)]
pub struct Hearing<'a, T> {
    /// Who.
    pub agents: Agents<'a>,
    /// The agent whose state row is the first.
    pub first: usize,
    /// What they keep.
    pub states: RowsMut<'a, T>,
    /// Σ_j R_ij pull_j.
    pub pulled: Rows<'a, T>,
    /// Σ_j C_ij push_j.
    pub pushed: Rows<'a, T>,
}

/// What one agent has when it has heard.
#[derive(Debug)]
pub struct Heard<'a, T> {
    /// What it keeps.
    pub state: &'a mut [T],
    /// Σ_j R_ij pull_j.
    pub pulled: &'a [T],
    /// Σ_j C_ij push_j.
    pub pushed: &'a [T],
}

impl<T> Hearing<'_, T> {
    /// What the q-th agent has.
    #[inline(always)]
    pub fn row(&mut self, q: usize) -> Heard<'_, T> {
        let (pulled, pushed) = (self.pulled.row(q), self.pushed.row(q));
        Heard { state: self.states.row(self.agents.get(q) - self.first), pulled, pushed }
    }
}

impl<'a, T> Hearing<'a, T> {
    /// One agent.
    pub fn one(agent: usize, Heard { state, pulled, pushed }: Heard<'a, T>) -> Self {
        let (pulled, pushed) = (Rows::one(pulled), Rows::one(pushed));
        Self { agents: Agents::one(agent), first: agent, states: RowsMut::one(state), pulled, pushed }
    }
}

/// Where an agent asks for gradients.
#[derive(Debug)]
pub struct Point<'a, T> {
    /// x⁺, where the gradient is taken; empty where nothing is asked.
    pub next: &'a mut [T],
    /// x, where the last one was; empty unless [`Ask::BothPoints`](super::Ask::BothPoints) is asked.
    pub last: &'a mut [T],
}

/// Where agents ask for gradients. Row q belongs to the q-th.
#[derive(Debug)]
pub struct Points<'a, T> {
    /// x⁺ of each.
    pub next: RowsMut<'a, T>,
    /// x of each.
    pub last: RowsMut<'a, T>,
}

impl<T> Points<'_, T> {
    /// The q-th agent's.
    #[inline(always)]
    pub fn row(&mut self, q: usize) -> Point<'_, T> {
        Point { next: self.next.row(q), last: self.last.row(q) }
    }
}

/// The gradients that an agent has asked for.
#[derive(Debug)]
pub struct Gradient<'a, T> {
    /// At x⁺, of the last sample if there are several; empty where nothing was asked.
    pub next: &'a mut [T],
    /// At x, with the same sample; or the sum over the samples before the last; empty if neither was asked.
    pub other: &'a mut [T],
    /// The component that was drawn, where [`Ask::Component`](super::Ask::Component) was asked.
    pub sample: usize,
}

/// The gradients that agents have asked for. Row q belongs to the q-th.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// At x⁺ of each.
    pub next: RowsMut<'a, T>,
    /// The other of each.
    pub other: RowsMut<'a, T>,
    /// The component drawn by each, where one was asked.
    pub samples: &'a [usize],
}

impl<T> Gradients<'_, T> {
    /// The q-th agent's.
    #[inline(always)]
    pub fn row(&mut self, q: usize) -> Gradient<'_, T> {
        let sample = self.samples.get(q).copied().unwrap_or(0);
        Gradient { next: self.next.row(q), other: self.other.row(q), sample }
    }
}
