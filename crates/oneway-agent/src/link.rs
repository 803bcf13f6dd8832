//! Links: how rows get from one agent to another. The rounds between `put` and `get` are the library's.

use std::time::{Duration, Instant};

use crate::frame::{Graph, Moment};
use crate::inbox::Inbox;

/// One agent's end of all its links.
///
/// A `put` that returns promises nothing: rows are numbered, receivers ask again for what they miss, and senders keep what
/// they sent. A `get` returns with the row, or says why there will be none.
pub trait Link {
    /// Carries the row of this moment, which is in the [history](crate::history::History), to a neighbour.
    fn put(&mut self, to: usize, graph: Graph, at: Moment) -> Result<(), LinkError>;

    /// Waits for a neighbour's row and puts it into the place of `row`, which has its length.
    fn get(&mut self, from: usize, graph: Graph, at: Moment, row: &mut Vec<f64>) -> Result<(), LinkError>;
}

/// Why a row cannot be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// A neighbour sent nothing for longer than an agent is to wait.
    #[error(
        "agent {from} {}: waited for its {graph} row of {at} for {:.1} s",
        if *.there { "is there, but sends nothing (who is it waiting for?)" } else { "is away" },
        .waited.as_secs_f64()
    )]
    Away {
        /// Who.
        from: usize,
        /// On which graph.
        graph: Graph,
        /// For which row.
        at: Moment,
        /// For how long.
        waited: Duration,
        /// Whether it is there all the same.
        there: bool,
    },
    /// A neighbour no longer has what it once sent.
    #[error(
        "agent {from} no longer has its {graph} row of {at}, only those from round {oldest} on: start the run again from its beginning, or from checkpoints of one time"
    )]
    Gone {
        /// Who.
        from: usize,
        /// On which graph.
        graph: Graph,
        /// Which row.
        at: Moment,
        /// The first round that it has.
        oldest: u64,
    },
    /// A row that failed validation.
    #[error("refused the {graph} row of {at} from agent {from}: {why}")]
    Refused {
        /// Who.
        from: usize,
        /// On which graph.
        graph: Graph,
        /// Which row.
        at: Moment,
        /// What is wrong with it.
        why: String,
    },
    /// A neighbour has come to its end before its time: its state went beyond all bounds, say.
    #[error("agent {from} ended at round {round}")]
    Ended {
        /// Who.
        from: usize,
        /// Rounds that it has done.
        round: u64,
    },
    /// The network cannot be used.
    #[error("network: {0}")]
    Network(String),
    /// The agent's own problem could not make a gradient.
    #[error("{0}")]
    Gradient(String),
    /// Somebody asked this agent to stop.
    #[error("stopped")]
    Stopped,
}

/// How long to wait before asking, and before giving up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Before a row is first asked for again; each time is twice as long as the one before.
    pub first: Duration,
    /// The longest time between two askings.
    pub most: Duration,
    /// A neighbour that sends nothing for so long is away.
    pub limit: Duration,
}

impl Default for Patience {
    fn default() -> Self {
        Self {
            first: Duration::from_millis(200),
            most: Duration::from_secs(2),
            limit: Duration::from_secs(600),
        }
    }
}

impl Patience {
    /// A row that later ones have overtaken was probably lost, but it may be on its way.
    const OVERTAKEN: Duration = Duration::from_millis(5);

    /// Waits until a row is in the inbox and takes it out, asking for it again and again. `ask` gets the time waited so far.
    pub fn wait(
        &self,
        inbox: &Inbox,
        (from, graph, at): (usize, Graph, Moment),
        row: &mut Vec<f64>,
        mut ask: impl FnMut(Duration),
    ) -> Result<(), LinkError> {
        if inbox.take(from, graph, at, Duration::ZERO, row)? {
            return Ok(());
        }
        let began = Instant::now();
        let overtaken = inbox.is_overtaken(from, graph, at);
        let mut patience = if overtaken { Self::OVERTAKEN.min(self.first) } else { self.first };
        loop {
            let waited = began.elapsed();
            if waited >= self.limit {
                return Err(LinkError::Away { from, graph, at, waited, there: false });
            }
            if inbox.take(from, graph, at, patience.min(self.limit - waited), row)? {
                return Ok(());
            }
            ask(began.elapsed());
            patience = (patience * 2).clamp(self.first.min(self.most), self.most);
        }
    }
}
