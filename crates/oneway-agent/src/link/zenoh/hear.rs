//! What arrives: rows, answers, and tokens of neighbours. These callbacks run on Zenoh's threads, which must
//! never wait.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oneway::graph::Graph;
use zenoh::bytes::ZBytes;
use zenoh::query::Reply;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

use super::ends::Ends;
use super::keys::Keys;
use super::questions::{Question, Questions};
use super::serve::ROWS;
use crate::link::LinkError;
use crate::link::inbox::{Delivery, Inbox};
use crate::plan::identity::Identity;
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::frame::{Head, Moment};
use crate::wire::message::{self, Message};
use crate::wire::rows::Rows;

/// What the callbacks and the agent share.
#[derive(Debug)]
pub(super) struct Hearing<T> {
    pub(super) inbox: Inbox<T>,
    pub(super) status: Arc<Status>,
    pub(super) identity: Identity,
    pub(super) run: u64,
    pub(super) keys: Keys,
    pub(super) rows: Rows,
    pub(super) ends: Arc<Ends>,
    pub(super) questions: Questions,
}

impl<T: Number> Hearing<T> {
    /// Takes in bytes from a neighbour; whether they were a row. Anything else is refused.
    pub(super) fn take_in(&self, from: usize, graph: Graph, payload: &ZBytes) -> bool {
        let pieces: Vec<&[u8]> = payload.slices().collect();
        let spare = self.inbox.spare(from, graph);
        let refused = match self.rows.read_pieces(pieces.iter().copied(), spare) {
            Err(why) => why,
            Ok((Head { run, graph: on, at, from: sender, to }, row)) => {
                if run != self.run {
                    "it belongs to another run".to_owned()
                } else if (on, sender as usize, to as usize) != (graph, from, self.identity.agent) {
                    format!("its head says: from agent {sender} to agent {to} on the {on} graph")
                } else {
                    if self.inbox.deliver(from, graph, at, row) == Delivery::Kept {
                        self.status.received(from, payload.len());
                    }
                    return true;
                }
            }
        };
        self.refuse(from, &format!("{graph} row"), &refused);
        false
    }

    /// A neighbour has done its last round.
    pub(super) fn see_end(&self, who: usize, round: u64) {
        self.ends.see(who, round);
        self.inbox.nudge(who);
    }

    /// Takes in an answer that is not a row. One that was delayed, for a row that has arrived since, says
    /// nothing.
    fn take_message(&self, (from, graph, at): (usize, Graph, Moment), bytes: &[u8]) {
        match Message::decode(bytes) {
            Ok(Message::Gone(oldest)) => {
                if self.inbox.is_wanted(from, graph, at) {
                    self.inbox.close(LinkError::Gone { from, graph, at, oldest });
                }
            }
            Ok(other) => {
                self.refuse(from, "answer", &format!("{other:?} does not answer a request for rows"));
            }
            Err(fault) => self.refuse(from, "answer", &fault.to_string()),
        }
    }

    /// Counts what is refused, and logs it ever more rarely: a neighbour that repeats it would fill the disk.
    fn refuse(&self, from: usize, what: &str, why: &str) {
        if self.status.refused(from).is_power_of_two() {
            tracing::error!(neighbour = from, "refused a {what} from agent {from}: {why}");
        }
    }
}

/// Takes the answers to a request for rows. The request is over when this is dropped.
#[derive(Debug)]
pub(super) struct Answers<T: Number> {
    hearing: Arc<Hearing<T>>,
    question: Option<Question>,
    asked: (usize, Graph, Moment),
    rows: AtomicUsize,
}

impl<T: Number> Answers<T> {
    pub(super) fn new(hearing: Arc<Hearing<T>>, question: Question, asked: (usize, Graph, Moment)) -> Self {
        Self { hearing, question: Some(question), asked, rows: AtomicUsize::new(0) }
    }

    pub(super) fn take(&self, reply: &Reply) {
        let (from, graph, _) = self.asked;
        match reply.result() {
            Ok(sample) if sample.payload().len() == message::SIZE => {
                self.hearing.take_message(self.asked, &sample.payload().to_bytes());
            }
            Ok(sample) => {
                let is_row = self.hearing.take_in(from, graph, sample.payload());
                self.rows.fetch_add(usize::from(is_row), Ordering::Relaxed);
            }
            // for example a timeout; the row is requested again while it is needed
            Err(error) => tracing::debug!("asking agent {from}: {error:?}"),
        }
    }
}

impl<T: Number> Drop for Answers<T> {
    /// After a full answer, the agent is many rounds behind, and requests the next rows at once.
    fn drop(&mut self) {
        drop(self.question.take()); // first, so that the next request is possible
        let (from, graph, _) = self.asked;
        if self.rows.load(Ordering::Relaxed) >= ROWS {
            self.hearing.inbox.expect_more(from, graph);
        }
    }
}

/// Follows the tokens of a neighbour: whether it is there, and whether it is done.
pub(super) fn watch<T: Number>(
    session: &Session,
    hearing: &Arc<Hearing<T>>,
    who: usize,
) -> Result<(), LinkError> {
    let seen = Arc::clone(hearing);
    let alive = session.liveliness().declare_subscriber(hearing.keys.alive(who)).history(true);
    let alive = alive.callback(move |sample| {
        let there = sample.kind() == SampleKind::Put;
        seen.status.is_there(who, there);
        if there {
            seen.questions.forget(who); // its last process will not answer them
            seen.inbox.nudge(who); // missing rows can be requested now
        }
        tracing::info!(neighbour = who, "agent {who} is {}", if there { "there" } else { "away" });
    });
    alive.background().wait().map_err(LinkError::network)?;
    let seen = Arc::clone(hearing);
    let done = session.liveliness().declare_subscriber(hearing.keys.any_done(who)).history(true);
    let done = done.callback(move |sample| {
        let round = seen.keys.done_round(who, sample.key_expr().as_str());
        if let (SampleKind::Put, Some(round)) = (sample.kind(), round) {
            seen.see_end(who, round);
        }
    });
    done.background().wait().map_err(LinkError::network)
}
