//! What an agent answers: rows that were missed, and who it is.
//!
//! Answers go out from threads of their own. Zenoh calls back on the threads that receive, and an answer may have to wait until the
//! asker receives: two that answer each other on those threads would wait for ever. Each neighbour has a thread, so that one that does not
//! listen holds up nobody else's answers.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use zenoh::Wait;
use zenoh::query::Query;

use super::ends::Ends;
use crate::frame::{Graph, Moment};
use crate::history::{Found, History};
use crate::identity::Identity;
use crate::status::Status;

/// Questions of a neighbour that wait, at most. One too many is forgotten; who asked it will ask again.
const QUESTIONS: usize = 32;

/// Rows in an answer, at most: whoever asks has room for these, and asks again.
pub(super) const ROWS: usize = 8;

/// The answer to a neighbour that says that it is done.
pub(super) const NOTED: &str = "noted";

/// What is asked.
#[derive(Debug)]
pub(super) enum Question {
    /// Rows on a graph, by this neighbour.
    Again(Graph, usize, Query),
    /// Who is there?
    Hello(Query),
}

/// What answers are made of.
#[derive(Debug)]
pub(super) struct Answers {
    pub(super) history: Arc<History>,
    pub(super) status: Arc<Status>,
    pub(super) identity: Identity,
    pub(super) phases: u32,
    pub(super) ends: Arc<Ends>,
}

impl Answers {
    /// Starts to answer those who will have what it returns; ends when they can ask no more.
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

    /// The rows from the one that is asked for on, a few at a time.
    fn again(&self, graph: Graph, to: usize, query: &Query) -> zenoh::Result<()> {
        let number = |name: &str| query.parameters().get(name).and_then(|value| value.parse::<u64>().ok());
        if let Some(round) = number("done") {
            return match self.ends.note(to, round) {
                Ok(()) => query.reply_err(NOTED).wait(),
                Err(error) => {
                    tracing::error!("the end of agent {to} is not noted yet: {error}");
                    Ok(()) // it will ask again
                }
            };
        }
        let (Some(round), Some(phase)) = (number("round"), number("phase")) else { return Ok(()) };
        let mut at = Moment { round, phase: u32::try_from(phase).unwrap_or(u32::MAX) };
        let mut found = 0;
        // on links that are there in some rounds only, rounds without a row are passed over
        for _ in 0..ROWS * 16 {
            let mut bytes = vec![];
            match self.history.frame(to, graph, at, &mut bytes) {
                Found::Here => {
                    found += 1;
                    self.status.sent(to, bytes.len());
                    query.reply(query.key_expr().clone(), bytes).express(true).wait()?;
                }
                Found::NoLink => {}
                Found::Ahead => break,
                Found::Gone(oldest) => return query.reply_err(format!("gone {oldest}")).wait(),
            }
            if found == ROWS {
                break;
            }
            at = match at.phase.saturating_add(1) < self.phases {
                true => Moment { phase: at.phase + 1, ..at },
                false => Moment { round: at.round.saturating_add(1), phase: 0 },
            };
        }
        Ok(())
    }

    /// Who this agent is; a stranger that asks is named in the log.
    fn hello(&self, query: &Query) -> zenoh::Result<()> {
        let payload = query.payload().map(|payload| payload.to_bytes());
        let peer = payload.and_then(|bytes| serde_json::from_slice::<Identity>(&bytes).ok());
        if let Some(peer) = peer
            && let Some(difference) = self.identity.difference(&peer, peer.agent)
        {
            tracing::warn!(peer = peer.agent, "refused agent {}: {difference}", peer.agent);
        }
        match serde_json::to_string(&self.identity) {
            Ok(identity) => query.reply(query.key_expr().clone(), identity).wait(),
            Err(_) => Ok(()),
        }
    }
}
