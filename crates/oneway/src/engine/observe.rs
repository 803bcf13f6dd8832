//! Observers see a run; they may ask it to stop and never touch it.

use std::ops::ControlFlow;

use crate::engine::Setup;
use crate::graph::Topology;
use crate::method::{Method, Profile};
use crate::numeric::Precision;
use crate::numeric::matrix::{Matrix, stride};
use crate::numeric::row;
use crate::problem::Problem;
use crate::{Error, Result};

/// Looks at the state at regular rounds.
pub trait Observer {
    /// Looks; `Break` asks to stop.
    fn observe(&mut self, view: &View<'_>) -> Result<ControlFlow<()>>;

    /// Whether it wants to see state k. An engine whose states are far away need not fetch those that nobody
    /// wants to see.
    fn looks_at(&self, _k: u64) -> bool {
        true
    }

    /// State k was reached, at which it does not look; `Break` asks to stop.
    fn reached(&mut self, _k: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
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
    /// Steps that each agent has done, where each has a count of its own; empty where all have done k.
    pub(crate) steps: &'a [u64],
}

/// A state that comes from elsewhere, such as a file or another program, to be shown to observers and
/// metrics.
///
/// ```
/// use oneway::engine::observe::Snapshot;
/// use oneway::prelude::*;
///
/// # fn main() -> oneway::Result<()> {
/// // f_i(x) = ½(x − i)²
/// let problem = FromFn::new(3, 1, |agent, x, g| {
///     g[0] = x[0] - agent as f64;
///     0.5 * g[0] * g[0]
/// });
/// let (topology, schedule) = (Topology::complete(3)?, Schedule::constant(0.1)?);
/// let method = methods::PUSH_PULL; // its state is (x, v, g)
/// let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
/// let mut snapshot = Snapshot::new(setup, 7)?;
/// for agent in 0..3 {
///     snapshot.state_mut(agent)?.copy_from_slice(&[1.0, 0.0, 1.0 - agent as f64]);
/// }
/// let measured = measure(&snapshot.view())?;
/// assert_eq!((measured.iteration, measured.grad_norm_sq, measured.consensus_error), (7, 0.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Snapshot<'a> {
    setup: Setup<'a>,
    profile: Profile,
    k: u64,
    precision: Precision,
    states: Matrix,
}

impl<'a> Snapshot<'a> {
    /// State k of all agents: zero, until it is written. Refused where method, problem and network do not go
    /// together.
    pub fn new(setup: Setup<'a>, k: u64) -> Result<Self> {
        let profile = setup.check()?;
        let width = profile.state.len(setup.problem.dim());
        let states = Matrix::new(setup.problem.agents(), width);
        Ok(Self { setup, k, precision: Precision::F64, states, profile })
    }

    /// The same of a run in this precision; its numbers are shown in double precision.
    pub fn in_precision(self, precision: Precision) -> Self {
        Self { precision, ..self }
    }

    /// Agent i's state row, to write into: vectors one after another, then scalars.
    pub fn state_mut(&mut self, i: usize) -> Result<&mut [f64]> {
        let n = self.setup.problem.agents();
        if i >= n {
            return Err(Error::parameter("snapshot", "agent", i, format!("there are {n}, from 0 on")));
        }
        let width = self.profile.state.len(self.setup.problem.dim());
        Ok(self.states.row_mut(i, width))
    }

    /// Whether all numbers are within all bounds; see [`is_sound`](crate::engine::is_sound).
    pub fn is_sound(&self) -> bool {
        crate::engine::is_sound(self.states.rows())
    }

    /// The state, as observers see it.
    pub fn view(&self) -> View<'_> {
        View { precision: self.precision, ..self.setup.view(self.k, &self.profile, self.states.rows()) }
    }
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

    /// How many steps each agent is behind the one that has done most; nothing where all keep step.
    pub fn lags(&self) -> Option<Vec<u64>> {
        let most = *self.steps.iter().max()?;
        Some(self.steps.iter().map(|steps| most - steps).collect())
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
