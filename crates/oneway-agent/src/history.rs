//! What an agent has sent lately: neighbours that missed it, or were restarted, ask for it again.
//!
//! How much to keep: a checkpoint is there at the latest when the next one is due, c rounds later. So a neighbour that is restarted goes on
//! from at most 2c rounds back or, if that checkpoint is damaged, from the one before: 3c. This agent itself may be ahead of it by
//! the [lag](crate::ties::Ties::lag) L. So 3c + L + 1 rounds are enough. They go to this agent's own disk too: both may be killed, and
//! what was sent before the checkpoint could not be computed again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use oneway::codec::{Carried, Wire};

use crate::frame::{self, Graph, Head, Moment};
use crate::ties::Ties;

/// The rows of one exchange, as the method filled them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent {
    /// When.
    pub at: Moment,
    /// What was offered on the pull graph.
    pub pull: Arc<Vec<f64>>,
    /// What was sent on the push graph, before it was multiplied.
    pub push: Arc<Vec<f64>>,
}

/// The last exchanges of an agent.
#[derive(Debug)]
pub struct History {
    run: u64,
    ties: Ties,
    exchanges: usize,
    wire: Option<Wire>,
    sent: Mutex<VecDeque<Sent>>,
}

/// A row, in the library's words.
pub(crate) fn carried(graph: Graph, Moment { round: k, phase }: Moment) -> Carried {
    Carried { push: graph == Graph::Push, k, phase }
}

/// What has become of a row that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is there.
    Here,
    /// It was not sent yet.
    Ahead,
    /// It is no longer kept; this is the first round that is.
    Gone(u64),
    /// It was never meant for that agent.
    NoLink,
}

impl History {
    /// A history of so many rounds, of so many phases each.
    pub fn new(run: u64, ties: Ties, rounds: u64, phases: u32) -> Self {
        let exchanges = usize::try_from(rounds.saturating_mul(u64::from(phases))).unwrap_or(usize::MAX);
        Self { run, ties, exchanges: exchanges.max(1), wire: None, sent: Mutex::default() }
    }

    /// The same for a method whose rows are [encoded](oneway::method::Profile::wire).
    pub fn coded_by(self, wire: Option<Wire>) -> Self {
        Self { wire, ..self }
    }

    /// The rounds that are enough, for checkpoints every so many rounds.
    pub fn enough(checkpoint_every: u64, lag: u64) -> u64 {
        checkpoint_every.saturating_mul(3).saturating_add(lag).saturating_add(1)
    }

    /// Keeps the rows of an exchange, which are not copied, and lets go of the oldest. An exchange that is done again, after a restart,
    /// is in it already.
    pub fn keep(&self, sent: Sent) {
        let mut kept = self.lock();
        if kept.back().is_none_or(|last| last.at < sent.at) {
            kept.push_back(sent);
        }
    }

    /// Two buffers of these widths for the rows of an exchange: those of the oldest, if it makes room for a new one.
    pub fn buffers(&self, at: Moment, [pull, push]: [usize; 2]) -> [Vec<f64>; 2] {
        let mut kept = self.lock();
        let is_new = kept.back().is_none_or(|last| last.at < at);
        let oldest = (is_new && kept.len() >= self.exchanges).then(|| kept.pop_front()).flatten();
        let [mut old_pull, mut old_push] = oldest.map_or([vec![], vec![]], |oldest| {
            [oldest.pull, oldest.push].map(|row| Arc::try_unwrap(row).unwrap_or_default())
        });
        old_pull.resize(pull, 0.0);
        old_push.resize(push, 0.0);
        [old_pull, old_push]
    }

    /// Writes the frame that a neighbour was sent into `out`, if it is still there.
    pub fn frame(&self, to: usize, graph: Graph, at: Moment, out: &mut Vec<u8>) -> Found {
        let Some((_, weight)) = self.ties.at(at.round).receivers(graph).find(|(receiver, _)| *receiver == to)
        else {
            return Found::NoLink;
        };
        let sent = self.lock();
        let Ok(found) = sent.binary_search_by_key(&at, |kept| kept.at) else {
            return match (sent.front(), sent.back()) {
                (Some(first), Some(_)) if at < first.at => Found::Gone(first.at.round),
                _ => Found::Ahead,
            };
        };
        let Some(Sent { pull, push, .. }) = sent.get(found) else { return Found::Ahead };
        let row = Arc::clone(if graph == Graph::Pull { pull } else { push });
        drop(sent);
        let head = Head { run: self.run, graph, at, from: self.ties.agent as u32, to: to as u32 };
        match (&self.wire, weight) {
            (Some(wire), weight) => {
                let code = |out: &mut Vec<u8>| wire.encode(carried(graph, at), &row, out);
                frame::encode_coded(&head, weight.unwrap_or(1.0), code, out);
            }
            (None, None) => frame::encode(&head, row.iter().copied(), out),
            (None, Some(weight)) => frame::encode(&head, row.iter().map(|x| weight * x), out), // C_ji·v_i
        }
        Found::Here
    }

    /// A copy of all of it, for a checkpoint.
    pub fn snapshot(&self) -> Vec<Sent> {
        self.lock().iter().cloned().collect()
    }

    /// Takes up what a checkpoint had, in ascending order. All of it, though checkpoints may be more frequent now: neighbours go on from
    /// theirs of before.
    pub fn restore(&self, kept: Vec<Sent>) {
        *self.lock() = kept.into();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Sent>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Content;
    use oneway::graph::families;
    use oneway::graph::topology::{Subgraph, Topology, Weights};

    fn at(round: u64) -> Moment {
        Moment { round, phase: 0 }
    }

    #[test]
    fn it_serves_what_it_keeps_and_says_what_it_let_go() {
        let topology =
            Topology::of(&[families::ring(3).unwrap()], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let history = History::new(7, Ties::of(&topology, 1), 3, 1);
        let mut bytes = vec![];
        assert_eq!(history.frame(2, Graph::Push, at(0), &mut bytes), Found::Ahead);
        let keep = |k: u64, pull: f64, push: [f64; 2]| {
            history.buffers(at(k), [1, 2]);
            history.keep(Sent { at: at(k), pull: vec![pull].into(), push: push.to_vec().into() });
        };
        (0..5).for_each(|k| keep(k, k as f64, [1.0, k as f64]));
        keep(3, 9.0, [9.0, 9.0]); // done again after a restart
        assert_eq!(history.frame(2, Graph::Push, at(1), &mut bytes), Found::Gone(2));
        assert_eq!(history.frame(2, Graph::Push, at(5), &mut bytes), Found::Ahead);
        assert_eq!(history.frame(0, Graph::Push, at(3), &mut bytes), Found::NoLink, "against the arrow");
        assert_eq!(history.frame(2, Graph::Push, at(3), &mut bytes), Found::Here);
        let frame = frame::decode(&bytes).unwrap();
        let numbers = |numbers: &[f64]| numbers.iter().map(|x| x.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(frame.content, Content::Numbers(&numbers(&[0.5, 1.5])), "multiplied by C_21 = ½");
        assert_eq!((frame.head.run, frame.head.from, frame.head.to), (7, 1, 2));
        assert_eq!(history.frame(2, Graph::Pull, at(3), &mut bytes), Found::Here);
        assert_eq!(frame::decode(&bytes).unwrap().content, Content::Numbers(&numbers(&[3.0])), "raw");

        let other = History::new(7, Ties::of(&topology, 1), 2, 1);
        other.restore(history.snapshot());
        assert_eq!(other.snapshot(), history.snapshot());
    }
}
