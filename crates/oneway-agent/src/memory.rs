//! Links within one process: for tests, and for a look at a run without a network.
//!
//! The protocol is the one of the real links: rows are numbered, dropped when they are too early, asked for again when they are
//! missing. So the links can also do here what networks do: lose rows, hand them over twice, and hold them back.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use oneway::numeric::sample::{Draws, Purpose};

use crate::frame::{self, Graph, Head, Moment};
use crate::history::{Found, History};
use crate::inbox::Inbox;
use crate::link::{Link, LinkError, Patience};
use crate::rows::Rows;
use crate::ties::Ties;

/// All links of one run.
#[derive(Debug)]
pub struct MemoryNetwork {
    ends: Vec<End>,
    rows: Rows,
    mischief: Mischief,
}

#[derive(Debug)]
struct End {
    inbox: Inbox,
    history: OnceLock<Arc<History>>,
    /// Rows on their way to this agent that are held back until the next comes.
    held: Mutex<Vec<Vec<u8>>>,
}

/// What the links do to rows: shares of all, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Mischief {
    /// Lost.
    pub lose: f64,
    /// Delivered twice.
    pub repeat: f64,
    /// Held back until another one comes along.
    pub hold: f64,
    /// What the draws depend on.
    pub seed: u64,
}

impl MemoryNetwork {
    /// Links between agents with these ties; one for each agent, in order.
    pub fn new(ties: &[Ties], rows: Rows, mischief: Mischief) -> Arc<Self> {
        let end =
            |ties| End { inbox: Inbox::new(ties, &rows), history: OnceLock::new(), held: Mutex::default() };
        Arc::new(Self { ends: ties.iter().map(end).collect(), rows, mischief })
    }

    /// An agent's end of its links. What it keeps of what it sent is where others ask.
    pub fn link(self: &Arc<Self>, agent: usize, history: Arc<History>) -> MemoryLink {
        self.ends[agent].history.get_or_init(|| history);
        MemoryLink { network: Arc::clone(self), agent, puts: 0, frame: vec![] }
    }

    /// Ends the run: whoever waits is told to stop.
    pub fn close(&self, why: &LinkError) {
        self.ends.iter().for_each(|end| end.inbox.close(why.clone()));
    }

    /// What `from` keeps for `to`, delivered once more.
    fn again(&self, from: usize, to: usize, graph: Graph, at: Moment, bytes: &mut Vec<u8>) -> Option<Found> {
        let history = self.ends[from].history.get()?;
        let found = history.frame(to, graph, at, bytes);
        if found == Found::Here {
            self.deliver(bytes);
        }
        Some(found)
    }

    /// Takes a frame to whom it is for.
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
pub struct MemoryLink {
    network: Arc<MemoryNetwork>,
    agent: usize,
    puts: u64,
    frame: Vec<u8>,
}

impl Link for MemoryLink {
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

    fn get(&mut self, from: usize, graph: Graph, at: Moment, row: &mut Vec<f64>) -> Result<(), LinkError> {
        let patience = Patience {
            first: Duration::from_millis(2),
            most: Duration::from_millis(50),
            limit: Duration::from_secs(60),
        };
        let Self { network, agent, frame, .. } = self;
        let inbox = &network.ends[*agent].inbox;
        patience.wait(inbox, (from, graph, at), row, |_| {
            if let Some(Found::Gone(oldest)) = network.again(from, *agent, graph, at, frame) {
                inbox.close(LinkError::Gone { from, graph, at, oldest });
            }
        })
    }
}
