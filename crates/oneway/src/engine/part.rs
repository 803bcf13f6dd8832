//! A part of a run: some of its agents here, the others in other processes.
//!
//! What a part does to its own agents is what the [`Simulator`] does to all: the same passes over the same
//! rows. Between sending and hearing, a [`Carrier`] brings the rows that others have sent; own agents that hear
//! nobody elsewhere take their steps meanwhile. So the bits are the simulator's, whoever runs which agent.

use std::ops::Range;

use crate::engine::observe::View;
use crate::engine::simulator::Number;
use crate::engine::sums::Alone;
use crate::engine::{Engine, Setup, Simulator};
use crate::numeric::matrix::stride_of;
use crate::{Error, Result};

pub use crate::engine::inner::inner_agents;
pub use crate::engine::sums::Team;

/// One row for each agent of a run, here or elsewhere: agent i's begins at i · `stride`.
#[derive(Debug)]
pub struct Slab<'a, T> {
    /// The numbers; between the end of a row and the start of the next there may be zeros.
    pub numbers: &'a mut [T],
    /// From the start of one row to the start of the next.
    pub stride: usize,
}

/// An exchange of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// It belongs to the round that turns state k into state k + 1.
    pub k: u64,
    /// Which exchange of that round it is.
    pub phase: u32,
}

/// Work for the time in which rows travel: the steps of own agents that hear own agents only. Each call, with
/// the rows of own agents for both graphs, does a piece of it, and says whether there is more. What is not
/// done by the end of the exchange is done after it: nobody has to call it.
pub type Meanwhile<'m, T> = &'m mut (dyn FnMut([&[T]; 2]) -> bool + 'm);

/// Brings the rows of agents that are elsewhere to those that hear them here, and the other way round.
pub trait Carrier<T> {
    /// Called once an exchange, when all own agents have filled their rows for the pull graph and for the push
    /// graph. Afterwards the rows of all agents that own ones hear must be there. An error ends the run.
    fn carry(&mut self, at: Moment, graphs: [Slab<'_, T>; 2], meanwhile: Meanwhile<'_, T>) -> Result<()>;
}

/// From the start of one agent's row of `width` numbers to the start of the next, in a [`Slab`].
pub const fn stride<T>(width: usize) -> usize {
    stride_of::<T>(width)
}

impl<T> Carrier<T> for Alone {
    fn carry(&mut self, _: Moment, _: [Slab<'_, T>; 2], _: Meanwhile<'_, T>) -> Result<()> {
        Ok(())
    }
}

/// Some agents of a run.
#[derive(Debug)]
pub struct Part<'a, T: Number = f64> {
    simulator: Simulator<'a, T>,
    own: Range<usize>,
}

impl<'a, T: Number> Part<'a, T> {
    /// Sets up the agents `own` at state 0. Memory is taken for these, and for those of others as far as their
    /// rows are used.
    pub fn new(setup: Setup<'a>, own: Range<usize>) -> Result<Self> {
        let n = setup.problem.agents();
        if own.start >= own.end || own.end > n {
            let expected = "some of the agents that there are";
            return Err(Error::parameter("part", "agents", format!("{own:?} of {n}"), expected));
        }
        Ok(Self { simulator: T::set_up(setup, own.clone())?, own })
    }

    /// Who is here.
    pub fn own(&self) -> Range<usize> {
        self.own.clone()
    }

    /// Rounds done: the state is state k.
    pub fn rounds_done(&self) -> u64 {
        self.simulator.k
    }

    /// One round of the own agents. An error is a gradient that could not be made.
    pub fn round(&mut self, carrier: &mut dyn Carrier<T>) -> Result<()> {
        T::round(&mut self.simulator, carrier)
    }

    /// Rows for the states of all agents. Those of others are not used here.
    pub fn states(&mut self) -> Slab<'_, T> {
        self.simulator.state_rows()
    }

    /// Goes on from state k: the rows of own agents have been written into [`Self::states`].
    pub fn resume(&mut self, k: u64) {
        self.simulator.k = k;
    }

    /// What observers see: the states of own agents. Together with the other processes of a [`Team`] they are
    /// [measured](crate::engine::record::Recorder::record_in).
    pub fn view(&self) -> View<'_> {
        self.simulator.view()
    }
}
