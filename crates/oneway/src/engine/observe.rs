//! Observers see a run; they may ask it to stop and never touch it.

use std::ops::ControlFlow;

use crate::Result;
use crate::graph::Topology;
use crate::method::{Method, Profile};
use crate::numeric::Precision;
use crate::numeric::matrix::stride;
use crate::numeric::row;
use crate::problem::Problem;

/// Looks at the state every so many rounds.
pub trait Observer {
    /// Looks; `Break` asks to stop.
    fn observe(&mut self, view: &View<'_>) -> Result<ControlFlow<()>>;
}

/// A closure looks.
impl<F: FnMut(&View<'_>) -> Result<ControlFlow<()>>> Observer for F {
    fn observe(&mut self, view: &View<'_>) -> Result<ControlFlow<()>> {
        self(view)
    }
}

/// Nobody looks.
impl Observer for () {
    fn observe(&mut self, _view: &View<'_>) -> Result<ControlFlow<()>> {
        Ok(ControlFlow::Continue(()))
    }
}

/// A run as observers see it: state k of all agents.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// Rounds done.
    pub k: u64,
    /// The method.
    pub method: &'a dyn Method,
    /// The problem.
    pub problem: &'a dyn Problem,
    /// The network.
    pub topology: &'a Topology,
    /// All state rows, one agent after another, as the engine keeps them; see [`state`](Self::state).
    pub(crate) states: &'a [f64],
    /// What the method is on this problem.
    pub profile: &'a Profile,
    pub(crate) d: usize,
    /// Σ of the push rows that are on their way over links that lose or delay; empty where nothing can be.
    pub(crate) in_flight: &'a [f64],
    /// Bytes sent so far, where the engine has counted them: those of every round are not the same.
    pub(crate) bytes_sent: Option<u64>,
    /// Virtual time, where there is a clock.
    pub time: Option<f64>,
    /// What the states are made of; they are shown in double precision.
    pub precision: Precision,
}

impl<'a> View<'a> {
    /// Number of agents, n.
    pub fn agents(&self) -> usize {
        self.problem.agents()
    }

    /// The state row of agent i.
    pub fn state(&self, i: usize) -> &'a [f64] {
        let width = self.profile.state.len(self.d);
        &self.states[i * stride(width)..][..width]
    }

    /// Agent i's estimate of the minimiser: the first vector of its state.
    pub fn estimate(&self, i: usize) -> &'a [f64] {
        &self.state(i)[..self.d]
    }

    /// Vector number `index` of agent i's state.
    pub fn vector(&self, i: usize, index: usize) -> &'a [f64] {
        row::vector(self.state(i), index, self.d)
    }

    /// Vector number `index` of Σ of the push rows on their way; nothing where there are none.
    pub(crate) fn on_its_way(&self, index: Option<usize>) -> &'a [f64] {
        let found = index.and_then(|index| self.in_flight.get(index * self.d..(index + 1) * self.d));
        found.unwrap_or_default()
    }

    /// Push-sum weight on its way: the first scalar of the push row.
    pub(crate) fn weight_on_its_way(&self) -> f64 {
        self.in_flight.get(self.profile.push.vectors * self.d).copied().unwrap_or(0.0)
    }

    /// Scalar number `index` of agent i's state.
    pub fn scalar(&self, i: usize, index: usize) -> f64 {
        self.state(i)[self.profile.state.vectors * self.d + index]
    }
}
