//! The key space: who says what where. A key names the link, so that who may use which key is who may send to whom.

use crate::frame::Graph;

/// The keys of one run.
#[derive(Debug, Clone)]
pub struct Keys {
    run: String,
}

impl Keys {
    /// Of the run of this name.
    pub fn new(run: impl Into<String>) -> Self {
        Self { run: run.into() }
    }

    /// Rows of `from` for `to`: only `from` publishes here, only `to` subscribes.
    pub fn rows(&self, graph: Graph, from: usize, to: usize) -> String {
        format!("oneway/{}/{graph}/{from}/{to}", self.run)
    }

    /// Where `to` asks `from` for rows that it missed.
    pub fn again(&self, graph: Graph, from: usize, to: usize) -> String {
        format!("{}/again", self.rows(graph, from, to))
    }

    /// The token of an agent that is there.
    pub fn alive(&self, agent: usize) -> String {
        format!("oneway/{}/alive/{agent}", self.run)
    }

    /// The token of an agent that has come to its end, at this round.
    pub fn done(&self, agent: usize, round: u64) -> String {
        format!("oneway/{}/done/{agent}/{round}", self.run)
    }

    /// All tokens that an agent may ever have of that kind.
    pub fn any_done(&self, agent: usize) -> String {
        format!("oneway/{}/done/{agent}/*", self.run)
    }

    /// Where an agent says what its estimate is, to whoever looks on.
    pub fn estimate(&self, agent: usize) -> String {
        format!("oneway/{}/estimate/{agent}", self.run)
    }

    /// Where an agent of any run says who it is.
    pub fn hello(agent: usize) -> String {
        format!("oneway/hello/{agent}")
    }
}
