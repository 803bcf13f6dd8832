//! The rows that an agent sent in the last rounds: neighbours that missed them, or were restarted, request
//! them again.
//!
//! How much to keep: a checkpoint is complete at the latest when the next one is due, c rounds later. So a neighbour that is restarted
//! resumes from at most 2c rounds back or, if that checkpoint is damaged, from the one before: 3c. This agent may be ahead of it by the
//! [lag](crate::plan::ties::Ties::lag) L. So 3c + L + 1 rounds are enough. They are written to this agent's disk too: both agents may be
//! killed, and rows sent before the checkpoint could not be computed again.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use oneway::codec::{Carried, Wire};
use oneway::graph::Graph;

use crate::plan::ties::Ties;
use crate::wire::Number;
use crate::wire::frame::{self, Head, Moment};

/// The rows of one exchange, as the method filled them.
#[derive(Debug, Clone, PartialEq)]
pub struct Sent<T = f64> {
    /// When.
    pub at: Moment,
    /// The pull row.
    pub pull: Arc<Vec<T>>,
    /// The push row, before it was multiplied by a weight.
    pub push: Arc<Vec<T>>,
}

/// The last exchanges of an agent.
#[derive(Debug)]
pub struct History<T = f64> {
    run: u64,
    ties: Ties,
    exchanges: usize,
    wire: Option<Wire>,
    sent: Mutex<VecDeque<Sent<T>>>,
}

/// A row, as the library names it.
pub(crate) fn carried(graph: Graph, Moment { round: k, phase }: Moment) -> Carried {
    Carried { push: graph == Graph::Push, k, phase }
}

/// How many rounds are enough to keep: 3c + L + 1, where c = `checkpoint_every` and L = `lag`.
pub fn rounds_needed(checkpoint_every: u64, lag: u64) -> u64 {
    checkpoint_every.saturating_mul(3).saturating_add(lag).saturating_add(1)
}

/// What has become of a row that is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// It is kept.
    Here,
    /// It was not sent yet.
    Ahead,
    /// It is no longer kept; this is the first round that is.
    Gone(u64),
    /// It was never sent to that agent.
    NoLink,
}

impl<T: Number> History<T> {
    /// An empty history that keeps this many rounds, each of `phases` exchanges.
    pub fn new(run: u64, ties: Ties, rounds: u64, phases: u32) -> Self {
        let exchanges = usize::try_from(rounds.saturating_mul(u64::from(phases))).unwrap_or(usize::MAX);
        Self { run, ties, exchanges: exchanges.max(1), wire: None, sent: Mutex::default() }
    }

    /// The same, for a method whose rows are [encoded](oneway::method::Profile::wire).
    pub fn coded_by(self, wire: Option<Wire>) -> Self {
        Self { wire, ..self }
    }

    /// Keeps the rows of an exchange, without a copy. An exchange that is repeated after a restart is kept
    /// already.
    pub fn keep(&self, sent: Sent<T>) {
        let mut kept = self.lock();
        if kept.back().is_none_or(|last| last.at < sent.at) {
            kept.push_back(sent);
        }
    }

    /// Two buffers of these widths for the rows of an exchange: those of the oldest exchange, if that is
    /// dropped now.
    pub fn buffers(&self, at: Moment, [pull, push]: [usize; 2]) -> [Vec<T>; 2] {
        let mut kept = self.lock();
        let is_new = kept.back().is_none_or(|last| last.at < at);
        let oldest = (is_new && kept.len() >= self.exchanges).then(|| kept.pop_front()).flatten();
        let [mut old_pull, mut old_push] = oldest.map_or([vec![], vec![]], |oldest| {
            [oldest.pull, oldest.push].map(|row| Arc::try_unwrap(row).unwrap_or_default())
        });
        old_pull.resize(pull, T::default());
        old_push.resize(push, T::default());
        [old_pull, old_push]
    }

    /// Writes the frame that a neighbour was sent into `out`, if it is still kept.
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
        match (&self.wire, T::as_f64(&row), weight) {
            (Some(wire), Some(row), weight) => {
                let code = |out: &mut Vec<u8>| wire.encode(carried(graph, at), row, out);
                frame::encode_coded(&head, weight.unwrap_or(1.0), code, out);
            }
            (_, _, None) => frame::encode(&head, row.iter().copied(), out),
            (_, _, Some(weight)) => {
                let weight = T::from_f64(weight);
                frame::encode(&head, row.iter().map(|x| weight * *x), out); // C_ji·v_i
            }
        }
        Found::Here
    }

    /// A copy of all of it, for a checkpoint.
    pub fn snapshot(&self) -> Vec<Sent<T>> {
        self.lock().iter().cloned().collect()
    }

    /// Restores the rows of a checkpoint, in ascending order. All of them, though checkpoints may be more
    /// frequent now: neighbours may resume from older ones.
    pub fn restore(&self, kept: Vec<Sent<T>>) {
        *self.lock() = kept.into();
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, VecDeque<Sent<T>>> {
        self.sent.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::families;
    use oneway::graph::topology::{Subgraph, Topology, Weights};

    fn at(round: u64) -> Moment {
        Moment { round, phase: 0 }
    }

    #[test]
    fn it_serves_what_it_keeps_and_says_what_it_let_go() {
        let topology =
            Topology::from_digraphs(&[families::ring(3).unwrap()], Subgraph::Full, Weights::Uniform, 0)
                .unwrap();
        let history = History::new(7, Ties::from_topology(&topology, 1), 3, 1);
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
        assert_eq!(frame.content.to_f64().unwrap(), [0.5, 1.5], "multiplied by C_21 = ½");
        assert_eq!((frame.head.run, frame.head.from, frame.head.to), (7, 1, 2));
        assert_eq!(history.frame(2, Graph::Pull, at(3), &mut bytes), Found::Here);
        assert_eq!(frame::decode(&bytes).unwrap().content.to_f64().unwrap(), [3.0], "raw");

        let other = History::new(7, Ties::from_topology(&topology, 1), 2, 1);
        other.restore(history.snapshot());
        assert_eq!(other.snapshot(), history.snapshot());
    }
}
