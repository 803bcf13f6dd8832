//! The key space: who says what where. The table is in [`wire`](crate::wire).

use oneway::graph::Graph;

/// The keys of one run.
#[derive(Debug, Clone)]
pub struct Keys {
    run: String,
}

impl Keys {
    /// The keys of the run of this name.
    pub fn new(run: impl Into<String>) -> Self {
        Self { run: run.into() }
    }

    /// Rows of `from` for `to`: only `from` publishes here, only `to` subscribes.
    pub fn rows(&self, graph: Graph, from: usize, to: usize) -> String {
        format!("oneway/{}/{graph}/{from}/{to}", self.run)
    }

    /// Where `to` requests from `from` rows that it missed.
    pub fn again(&self, graph: Graph, from: usize, to: usize) -> String {
        format!("{}/again", self.rows(graph, from, to))
    }

    /// The token of an agent that is there.
    pub fn alive(&self, agent: usize) -> String {
        format!("oneway/{}/alive/{agent}", self.run)
    }

    /// The token of an agent that is done, with its last round.
    pub fn done(&self, agent: usize, round: u64) -> String {
        format!("oneway/{}/done/{agent}/{round}", self.run)
    }

    /// The round in a [token](Self::done) of this agent; nothing for any other key.
    pub fn done_round(&self, agent: usize, key: &str) -> Option<u64> {
        let round = key.strip_prefix(&format!("oneway/{}/done/{agent}/", self.run))?;
        round.bytes().all(|byte| byte.is_ascii_digit()).then(|| round.parse().ok())?
    }

    /// All such tokens of an agent.
    pub fn any_done(&self, agent: usize) -> String {
        format!("oneway/{}/done/{agent}/*", self.run)
    }

    /// Where an agent publishes its estimate.
    pub fn estimate(&self, agent: usize) -> String {
        format!("oneway/{}/estimate/{agent}", self.run)
    }

    /// Where an agent of any run says who it is.
    pub fn hello(agent: usize) -> String {
        format!("oneway/hello/{agent}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_says_its_round_and_no_other_key_does() {
        let keys = Keys::new("ab");
        assert_eq!(keys.done_round(3, &keys.done(3, 500)), Some(500));
        for key in [
            keys.done(4, 500),
            keys.any_done(3),
            keys.alive(3),
            Keys::new("cd").done(3, 500),
            "oneway/ab/done/3/".to_owned(),
            "oneway/ab/done/3/-1".to_owned(),
            "oneway/ab/done/3/+5".to_owned(),
            "oneway/ab/done/3/99999999999999999999".to_owned(),
        ] {
            assert_eq!(keys.done_round(3, &key), None, "{key}");
        }
    }
}
