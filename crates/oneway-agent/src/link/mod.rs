//! Links: how rows get from one agent to another, in memory or over Zenoh.

pub mod inbox;
pub mod memory;
pub mod zenoh;

use std::time::Duration;

use oneway::graph::Graph;

use crate::wire::frame::Moment;

/// One agent's end of all its links.
///
/// A `put` that returns does not promise delivery: rows are numbered, receivers request what they miss, and
/// senders keep what they sent. A `get` returns with the row, or says why it cannot be had.
pub trait Link<T> {
    /// Sends the row of this moment, which is in the [history](crate::wire::history::History), to a
    /// neighbour.
    fn put(&mut self, to: usize, graph: Graph, at: Moment) -> Result<(), LinkError>;

    /// Waits for a neighbour's row and writes it into `row`, which has its length.
    fn get(&mut self, from: usize, graph: Graph, at: Moment, row: &mut Vec<T>) -> Result<(), LinkError>;
}

/// Why a row cannot be had.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LinkError {
    /// A neighbour sent nothing for longer than the limit.
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
        /// Whether its process is there.
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
    /// A neighbour ended before its last round: its state diverged, for example.
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
    /// The agent's own problem failed to compute a gradient.
    #[error("{0}")]
    Gradient(String),
    /// Somebody asked this agent to stop.
    #[error("stopped")]
    Stopped,
}

impl LinkError {
    /// An error of the network.
    pub(crate) fn network(error: impl ToString) -> Self {
        Self::Network(error.to_string())
    }
}
