//! What comes in: rows, refusals, and tokens of neighbours. All of it on Zenoh's threads, which must never wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use zenoh::bytes::ZBytes;
use zenoh::query::Reply;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

use super::ends::Ends;
use super::keys::Keys;
use super::link::network;
use super::questions::{Question, Questions};
use super::serve::ROWS;
use crate::frame::{Graph, Head, Moment};
use crate::identity::Identity;
use crate::inbox::{Delivery, Inbox};
use crate::link::LinkError;
use crate::rows::Rows;
use crate::status::Status;

/// What the callbacks see, and the agent too.
#[derive(Debug)]
pub(super) struct Hearing {
    pub(super) inbox: Inbox,
    pub(super) status: Arc<Status>,
    pub(super) identity: Identity,
    pub(super) run: u64,
    pub(super) keys: Keys,
    pub(super) rows: Rows,
    pub(super) ends: Arc<Ends>,
    pub(super) questions: Questions,
}

impl Hearing {
    /// Takes in bytes that came from a neighbour: a row, or something that is refused; whether it was a row.
    pub(super) fn take_in(&self, from: usize, graph: Graph, payload: &ZBytes) -> bool {
        let pieces: Vec<&[u8]> = payload.slices().collect();
        let spare = self.inbox.spare(from, graph);
        let refused = match self.rows.read_pieces(pieces.iter().copied(), spare) {
            Err(why) => why,
            Ok((Head { run, graph: on, at, from: sender, to }, row)) => {
                if run != self.run {
                    "it belongs to another run".to_owned()
                } else if (on, sender as usize, to as usize) != (graph, from, self.identity.agent) {
                    format!("it says that it goes from agent {sender} to agent {to} on the {on} graph")
                } else {
                    if self.inbox.deliver(from, graph, at, row) == Delivery::Kept {
                        self.status.received(from, payload.len());
                    }
                    return true;
                }
            }
        };
        // a neighbour gone mad would fill the disk
        if self.status.refused(from).is_power_of_two() {
            tracing::error!(neighbour = from, "refused a {graph} row from agent {from}: {refused}");
        }
        false
    }

    /// Takes in an answer that is no row. One that was held up, of a row that has come since, says nothing.
    pub(super) fn take_refusal(&self, from: usize, graph: Graph, at: Moment, words: &[u8]) {
        if !self.inbox.is_wanted(from, graph, at) {
            return;
        }
        let words = String::from_utf8_lossy(words);
        if let Some(oldest) = words.strip_prefix("gone ").and_then(|oldest| oldest.parse().ok()) {
            self.inbox.close(LinkError::Gone { from, graph, at, oldest });
        }
    }
}

/// The answers to a question for rows, as they come; over when this is dropped.
#[derive(Debug)]
pub(super) struct Answers {
    hearing: Arc<Hearing>,
    question: Option<Question>,
    asked: (usize, Graph, Moment),
    rows: AtomicUsize,
}

impl Answers {
    pub(super) fn new(hearing: Arc<Hearing>, question: Question, asked: (usize, Graph, Moment)) -> Self {
        Self { hearing, question: Some(question), asked, rows: AtomicUsize::new(0) }
    }

    pub(super) fn take(&self, reply: &Reply) {
        let (from, graph, at) = self.asked;
        match reply.result() {
            Ok(sample) => {
                let is_row = self.hearing.take_in(from, graph, sample.payload());
                self.rows.fetch_add(usize::from(is_row), Ordering::Relaxed);
            }
            Err(error) => self.hearing.take_refusal(from, graph, at, &error.payload().to_bytes()),
        }
    }
}

impl Drop for Answers {
    /// Who is many rounds behind asks for the next ones at once.
    fn drop(&mut self) {
        drop(self.question.take()); // first, so that another can be asked
        let (from, graph, _) = self.asked;
        if self.rows.load(Ordering::Relaxed) >= ROWS {
            self.hearing.inbox.expect_more(from, graph);
        }
    }
}

/// Follows whether a neighbour is there, and whether it has come to its end.
pub(super) fn watch(session: &Session, hearing: &Arc<Hearing>, who: usize) -> Result<(), LinkError> {
    let seen = Arc::clone(hearing);
    let alive = session.liveliness().declare_subscriber(hearing.keys.alive(who)).history(true);
    let alive = alive.callback(move |sample| {
        let there = sample.kind() == SampleKind::Put;
        seen.status.is_there(who, there);
        if there {
            seen.questions.forget(who); // those that its last process had
            seen.inbox.nudge(who); // what is missing can be had now
        }
        tracing::info!(neighbour = who, "agent {who} is {}", if there { "there" } else { "away" });
    });
    alive.background().wait().map_err(network)?;
    let seen = Arc::clone(hearing);
    let done = session.liveliness().declare_subscriber(hearing.keys.any_done(who)).history(true);
    let done = done.callback(move |sample| {
        let round = sample.key_expr().as_str().rsplit('/').next().and_then(|round| round.parse().ok());
        if let (SampleKind::Put, Some(round)) = (sample.kind(), round) {
            seen.ends.see(who, round);
            seen.inbox.nudge(who);
        }
    });
    done.background().wait().map_err(network)
}
