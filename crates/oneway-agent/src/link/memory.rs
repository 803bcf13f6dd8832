//! Links within one process, for tests and for runs without a network.
//!
//! The protocol is that of the real links: rows are numbered, dropped when they are too early, requested when
//! they are missing. So these links can do what networks do: lose rows, deliver them twice, and delay them.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use oneway::graph::Graph;
use oneway::numeric::sample::{Draws, Purpose};

use crate::link::inbox::Inbox;
use crate::link::{Link, LinkError};
use crate::plan::limits::Patience;
use crate::plan::ties::Ties;
use crate::wire::Number;
use crate::wire::frame::{self, Head, Moment};
use crate::wire::history::{Found, History};
use crate::wire::rows::Rows;

/// All links of one run.
#[derive(Debug)]
pub struct MemoryNetwork<T = f64> {
    ends: Vec<End<T>>,
    rows: Rows,
    mischief: Mischief,
}

#[derive(Debug)]
struct End<T> {
    inbox: Inbox<T>,
    history: OnceLock<Arc<History<T>>>,
    /// Rows to this agent that are delayed until the next one is sent.
    held: Mutex<Vec<Vec<u8>>>,
}

/// What the links do to rows: shares of all, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mischief {
    /// Lost.
    pub lose: f64,
    /// Delivered twice.
    pub repeat: f64,
    /// Delayed until the next row is sent.
    pub hold: f64,
    /// Seed of the draws.
    pub seed: u64,
}

impl<T: Number> MemoryNetwork<T> {
    /// Links between agents with these ties, one for each agent, in order.
    pub fn new(ties: &[Ties], rows: Rows, mischief: Mischief) -> Arc<Self> {
        let end =
            |ties| End { inbox: Inbox::new(ties, &rows), history: OnceLock::new(), held: Mutex::default() };
        Arc::new(Self { ends: ties.iter().map(end).collect(), rows, mischief })
    }

    /// An agent's end of its links. Others request missing rows from its history.
    pub fn link(self: &Arc<Self>, agent: usize, history: Arc<History<T>>) -> MemoryLink<T> {
        self.ends[agent].history.get_or_init(|| history);
        MemoryLink { network: Arc::clone(self), agent, puts: 0, frame: vec![] }
    }

    /// Ends the run: threads that wait get this error.
    pub fn close(&self, why: &LinkError) {
        self.ends.iter().for_each(|end| end.inbox.close(why.clone()));
    }

    /// Delivers once more what `from` keeps for `to`.
    fn again(&self, from: usize, to: usize, graph: Graph, at: Moment, bytes: &mut Vec<u8>) -> Option<Found> {
        let history = self.ends[from].history.get()?;
        let found = history.frame(to, graph, at, bytes);
        if found == Found::Here {
            self.deliver(bytes);
        }
        Some(found)
    }

    /// Delivers a frame to its receiver.
    fn deliver(&self, bytes: &[u8]) {
        let Ok(frame) = frame::decode(bytes) else { return };
        let Head { from, to, graph, at, .. } = frame.head;
        let inbox = &self.ends[to as usize].inbox;
        if let Ok(row) = self.rows.read(&frame, inbox.spare(from as usize, graph)) {
            inbox.deliver(from as usize, graph, at, row);
        }
    }
}

/// One agent's end of the links of a [`MemoryNetwork`].
#[derive(Debug)]
pub struct MemoryLink<T = f64> {
    network: Arc<MemoryNetwork<T>>,
    agent: usize,
    puts: u64,
    frame: Vec<u8>,
}

impl<T: Number> Link<T> for MemoryLink<T> {
    fn put(&mut self, to: usize, graph: Graph, at: Moment) -> Result<(), LinkError> {
        let history = self.network.ends[self.agent].history.get();
        if history.map(|history| history.frame(to, graph, at, &mut self.frame)) != Some(Found::Here) {
            return Err(LinkError::Network(format!("there is no {graph} row of {at} for agent {to}")));
        }
        let Mischief { lose, repeat, hold, seed } = self.network.mischief;
        let mut draws = Draws::new(seed, Purpose::PullLink, self.agent, self.puts);
        self.puts += 1;
        let mut held = self.network.ends[to].held.lock().unwrap_or_else(PoisonError::into_inner);
        let overtaken = std::mem::take(&mut *held);
        if draws.unit() < hold {
            held.push(self.frame.clone());
        } else if draws.unit() >= lose {
            let times = if draws.unit() < repeat { 2 } else { 1 };
            (0..times).for_each(|_| self.network.deliver(&self.frame));
        }
        drop(held);
        overtaken.iter().for_each(|frame| self.network.deliver(frame));
        Ok(())
    }

    fn get(&mut self, from: usize, graph: Graph, at: Moment, row: &mut Vec<T>) -> Result<(), LinkError> {
        let patience = Patience {
            first: Duration::from_millis(2),
            most: Duration::from_millis(50),
            limit: Duration::from_secs(60),
        };
        let Self { network, agent, frame, .. } = self;
        let inbox = &network.ends[*agent].inbox;
        inbox.wait(&patience, (from, graph, at), row, |_| {
            if let Some(Found::Gone(oldest)) = network.again(from, *agent, graph, at, frame) {
                inbox.close(LinkError::Gone { from, graph, at, oldest });
            }
        })
    }
}
