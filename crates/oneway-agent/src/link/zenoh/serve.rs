//! Answers to requests: rows that were missed, and the agent's identity.
//!
//! Answers are sent from separate threads. Zenoh calls back on the threads that receive, and an answer may
//! have to wait until the other side receives: two agents that answer each other on those threads would wait
//! for ever. Each neighbour has its own thread, so that a slow one delays no other.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use oneway::graph::Graph;
use zenoh::query::Query;
use zenoh::{Session, Wait};

use super::ends::Ends;
use crate::link::LinkError;
use crate::plan::identity::Identity;
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::frame::Moment;
use crate::wire::history::{Found, History};
use crate::wire::message::Message;

/// The most requests of a neighbour that wait. More are dropped; the neighbour will repeat them.
const QUESTIONS: usize = 32;

/// The most rows in an answer: a receiver has room for these, and then requests more.
pub(super) const ROWS: usize = 8;

/// A request.
#[derive(Debug)]
pub(super) enum Question {
    /// Under `again`, on this graph, by this neighbour.
    Again(Graph, usize, Query),
    /// For the identity.
    Hello(Query),
}

/// Answers one kind of question under a key.
pub(super) fn answer(
    session: &Session,
    key: String,
    ask: &SyncSender<Question>,
    question: impl Fn(Query) -> Question + Send + Sync + 'static,
) -> Result<(), LinkError> {
    let ask = ask.clone();
    let declared = session.declare_queryable(key).callback(move |query| drop(ask.try_send(question(query))));
    declared.background().wait().map_err(LinkError::network)
}

/// What is needed to answer.
#[derive(Debug)]
pub(super) struct Answers<T> {
    pub(super) history: Arc<History<T>>,
    pub(super) status: Arc<Status>,
    pub(super) identity: Identity,
    pub(super) phases: u32,
    pub(super) ends: Arc<Ends>,
}

impl<T: Number> Answers<T> {
    /// Starts a thread that answers the requests sent to the returned channel. It ends when the channel is
    /// closed.
    pub(super) fn start(self: &Arc<Self>) -> std::io::Result<SyncSender<Question>> {
        let (ask, asked) = sync_channel(QUESTIONS);
        let answers = Arc::clone(self);
        std::thread::Builder::new().name("answers".to_owned()).spawn(move || answers.answer_all(asked))?;
        Ok(ask)
    }

    fn answer_all(&self, asked: Receiver<Question>) {
        for question in asked {
            let answered = match question {
                Question::Again(graph, to, query) => self.again(graph, to, &query),
                Question::Hello(query) => self.hello(&query),
            };
            if let Err(error) = answered {
                tracing::debug!("an answer was not sent: {error}");
            }
        }
    }

    /// Answers a request of a neighbour; what is not one is counted and dropped.
    fn again(&self, graph: Graph, to: usize, query: &Query) -> zenoh::Result<()> {
        let payload = query.payload().map(|payload| payload.to_bytes()).unwrap_or_default();
        let refused = match Message::decode(&payload) {
            Ok(Message::Rows(at)) if at.phase < self.phases => return self.rows(graph, to, at, query),
            Ok(Message::Done(round)) if round <= self.identity.rounds => return self.done(to, round, query),
            Ok(other) => format!("{other:?} is not a request that fits this run"),
            Err(fault) => fault.to_string(),
        };
        if self.status.refused(to).is_power_of_two() {
            tracing::error!(neighbour = to, "refused a request from agent {to}: {refused}");
        }
        Ok(())
    }

    /// Notes on disk that a neighbour is done, and answers so.
    fn done(&self, who: usize, round: u64, query: &Query) -> zenoh::Result<()> {
        match self.ends.note(who, round) {
            Ok(()) => query.reply(query.key_expr().clone(), &Message::Noted(round).encode()[..]).wait(),
            Err(error) => {
                tracing::error!("the end of agent {who} is not on disk yet: {error}");
                Ok(()) // it will ask again
            }
        }
    }

    fn rows(&self, graph: Graph, to: usize, at: Moment, query: &Query) -> zenoh::Result<()> {
        let given = self.each_row(graph, to, at, |frame| {
            query.reply(query.key_expr().clone(), frame).express(true).wait()
        })?;
        match given {
            Ok(_) => Ok(()),
            Err(oldest) => {
                let gone = Message::Gone(oldest).encode();
                query.reply(query.key_expr().clone(), &gone[..]).wait()
            }
        }
    }

    /// Gives the rows from this moment on, a few at a time; says how many, or the oldest round that is kept if
    /// they are gone.
    pub(super) fn each_row(
        &self,
        graph: Graph,
        to: usize,
        mut at: Moment,
        mut give: impl FnMut(Vec<u8>) -> zenoh::Result<()>,
    ) -> zenoh::Result<Result<usize, u64>> {
        let mut found = 0;
        // a link may exist in some rounds only; the others are skipped
        for _ in 0..ROWS * 16 {
            let mut bytes = vec![];
            match self.history.frame(to, graph, at, &mut bytes) {
                Found::Here => {
                    found += 1;
                    self.status.sent(to, bytes.len());
                    give(bytes)?;
                }
                Found::NoLink => {}
                Found::Ahead => break,
                Found::Gone(oldest) => return Ok(Err(oldest)),
            }
            if found == ROWS {
                break;
            }
            at = match at.phase.saturating_add(1) < self.phases {
                true => Moment { phase: at.phase + 1, ..at },
                false => Moment { round: at.round.saturating_add(1), phase: 0 },
            };
        }
        Ok(Ok(found))
    }

    /// Answers with this agent's identity, and logs how the other's differs.
    fn hello(&self, query: &Query) -> zenoh::Result<()> {
        let payload = query.payload().map(|payload| payload.to_bytes());
        let peer = payload.and_then(|bytes| Identity::from_json(&bytes));
        if let Some(peer) = peer
            && let Some(difference) = self.identity.difference(&peer, peer.agent)
        {
            tracing::warn!(peer = peer.agent, "refused agent {}: {difference}", peer.agent);
        }
        match self.identity.to_json() {
            Some(identity) => query.reply(query.key_expr().clone(), identity).wait(),
            None => Ok(()),
        }
    }
}
