//! The link: rows are published and subscribed to, and requested again by queries.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oneway::graph::Graph;
use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::query::{ConsolidationMode, Reply};
use zenoh::{Session, Wait};

use super::block::{Block, Inside, open_session};
use super::ends::Ends;
use super::hear::{Answers, Hearing, watch};
use super::keys::Keys;
use super::questions::Questions;
use super::secure::Tunnels;
use super::serve::{self, Question, answer};
use crate::disk::owner::Owner;
use crate::link::inbox::Inbox;
use crate::link::{Link, LinkError};
use crate::plan::endpoints::Endpoints;
use crate::plan::identity::Identity;
use crate::plan::limits::{Guard, Patience};
use crate::plan::ties::Ties;
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::frame::Moment;
use crate::wire::history::{Found, History};
use crate::wire::message::Message;
use crate::wire::rows::Rows;

/// How long an agent that no receiver needs any more waits for its senders to note that it is done.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long it stays after that, so that its last answers are sent.
const PARTING: Duration = Duration::from_millis(200);

/// What a link is made of.
#[derive(Debug)]
pub struct ZenohOptions<'a, T = f64> {
    /// Addresses and keys.
    pub endpoints: &'a Endpoints,
    /// What neighbours compare.
    pub identity: Identity,
    /// Its senders and receivers.
    pub ties: &'a Ties,
    /// The form of its rows.
    pub rows: Rows,
    /// What it has sent.
    pub history: Arc<History<T>>,
    /// Where it counts what happens.
    pub status: Arc<Status>,
    /// How long it waits.
    pub patience: Patience,
    /// What it refuses.
    pub guard: Guard,
    /// The file in which it notes which neighbours are done, and its owner. `None` keeps them in memory.
    pub ends_file: Option<(PathBuf, Owner)>,
}

/// One agent's end of its links on a network.
#[derive(Debug)]
pub struct ZenohLink<T = f64> {
    block: Arc<Block<T>>,
    hearing: Arc<Hearing<T>>,
    history: Arc<History<T>>,
    publishers: BTreeMap<(Graph, usize), Publisher<'static>>,
    token: Option<LivelinessToken>,
    patience: Patience,
    guard: Guard,
    /// Whether no other agent has the session.
    alone: bool,
    /// TLS below the session, where links have keys. Dropped after the session.
    _tunnels: Option<Tunnels>,
}

impl<T: Number> ZenohLink<T> {
    /// Listens, dials, and declares what the agent publishes, subscribes to and answers. Neighbours need not
    /// be there yet.
    pub fn open(options: ZenohOptions<'_, T>) -> Result<Self, LinkError> {
        let ZenohOptions { endpoints, identity, ties, rows, status, .. } = &options;
        let (me, keys) = (ties.agent, Keys::new(identity.key()));
        let (session, tunnels) =
            open_session(endpoints, ties, &keys, rows.longest_frame::<T>(), Arc::clone(status))?;
        Ok(Self { alone: true, _tunnels: tunnels, ..Self::join(&Block::new(session), me..me + 1, options)? })
    }

    /// The same on the session of a process that has the agents `own`. They hand rows to each other.
    pub fn join(
        block: &Arc<Block<T>>,
        own: Range<usize>,
        options: ZenohOptions<'_, T>,
    ) -> Result<Self, LinkError> {
        let ZenohOptions { identity, ties, rows, history, status, patience, guard, ends_file, .. } = options;
        let (me, session) = (ties.agent, block.session());
        let keys = Keys::new(identity.key());
        let ends = Arc::new(Ends::open(ends_file));
        let hearing = Arc::new(Hearing {
            inbox: Inbox::new(ties, &rows),
            status: Arc::clone(&status),
            run: identity.run_id(),
            identity: identity.clone(),
            keys: keys.clone(),
            rows: rows.clone(),
            ends: Arc::clone(&ends),
            questions: Questions::default(),
        });
        let answers =
            serve::Answers { history: Arc::clone(&history), status, identity, phases: rows.phases, ends };
        let answers = Arc::new(answers);
        block.take_in(ties, Inside { hearing: Arc::clone(&hearing), answers: Arc::clone(&answers) });
        let is_outside = |who: &usize| !own.contains(who);
        let mut ask = BTreeMap::new();
        for who in ties.all_hearers().into_iter().filter(is_outside) {
            ask.insert(who, answers.start().map_err(LinkError::network)?);
        }
        let mut publishers = BTreeMap::new();
        for graph in Graph::BOTH {
            for from in ties.heard(graph).into_iter().filter(is_outside) {
                let hearing = Arc::clone(&hearing);
                session
                    .declare_subscriber(keys.rows(graph, from, me))
                    .callback(move |sample| {
                        hearing.take_in(from, graph, sample.payload());
                    })
                    .background()
                    .wait()
                    .map_err(LinkError::network)?;
            }
            for to in ties.hearers(graph).into_iter().filter(is_outside) {
                let publisher = session
                    .declare_publisher(keys.rows(graph, me, to))
                    .congestion_control(CongestionControl::Block)
                    .express(true)
                    .wait()
                    .map_err(LinkError::network)?;
                publishers.insert((graph, to), publisher);
                answer(session, keys.again(graph, me, to), &ask[&to], move |query| {
                    Question::Again(graph, to, query)
                })?;
            }
        }
        answer(session, Keys::hello(me), &answers.start().map_err(LinkError::network)?, Question::Hello)?;
        let token = session.liveliness().declare_token(keys.alive(me)).wait().map_err(LinkError::network)?;
        for who in ties.neighbours().into_iter().filter(is_outside) {
            watch(session, &hearing, who)?;
        }
        Ok(Self {
            block: Arc::clone(block),
            hearing,
            history,
            publishers,
            token: Some(token),
            patience,
            guard,
            alone: false,
            _tunnels: None,
        })
    }

    /// Announces that this agent is done, and continues to answer until all its receivers are done, at most
    /// for `at_most`; whether they are.
    pub fn linger(&self, ties: &Ties, round: u64, at_most: Duration) -> Result<bool, LinkError> {
        let Hearing { ends, keys, inbox, status, .. } = &*self.hearing;
        let key = keys.done(ties.agent, round);
        let _done =
            self.block.session().liveliness().declare_token(key).wait().map_err(LinkError::network)?;
        let until = Instant::now() + at_most;
        let heard = Graph::BOTH
            .into_iter()
            .flat_map(|graph| ties.heard(graph).into_iter().map(move |who| (who, graph)));
        let heard: BTreeMap<usize, Graph> = heard.collect();
        let hearers = ties.all_hearers();
        for inside in ties.neighbours().into_iter().filter_map(|who| self.block.get(who)) {
            inside.hearing.see_end(ties.agent, round);
        }
        let is_there = |who: usize| status.away(who) == (None, true);
        let mut last_words = None;
        loop {
            let untold: Vec<usize> = heard.keys().copied().filter(|who| !ends.is_told(*who)).collect();
            for &who in untold.iter().filter(|who| is_there(**who)) {
                self.say_done(who, heard[&who], ties.agent, round);
            }
            if hearers.iter().all(|who| ends.of(*who).is_some()) {
                let since = last_words.get_or_insert_with(Instant::now).elapsed();
                // one that is there will answer, or ask; one that was killed will be restarted, and must be
                // told, unless it was never seen: then it was this agent that was restarted
                let settled = |who: usize| match (is_there(who), ends.of(who), status.away(who)) {
                    (true, ..) => since >= LAST_WORDS,
                    (false, Some(_), _) | (false, None, (_, false)) => since >= 2 * LAST_WORDS,
                    (false, None, (_, true)) => false,
                };
                let has_said = |who: &usize| ends.is_noted(*who) || settled(*who);
                if untold.into_iter().all(settled) && hearers.iter().all(has_said) {
                    std::thread::sleep(PARTING);
                    return Ok(true);
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || inbox.is_stopped() {
                return Ok(false);
            }
            ends.wait(left.min(Duration::from_millis(200)));
        }
    }

    /// Asks a sender to note that this agent is done.
    fn say_done(&self, from: usize, graph: Graph, me: usize, round: u64) {
        let hearing = Arc::clone(&self.hearing);
        if let Some(inside) = self.block.get(from) {
            let noted = inside.hearing.ends.note(me, round).and_then(|()| hearing.ends.told(from));
            if let Err(error) = noted {
                tracing::error!("the end of agent {me} is not on disk yet: {error}");
            }
            return;
        }
        let asked = self
            .block
            .session()
            .get(self.hearing.keys.again(graph, from, me))
            .payload(&Message::Done(round).encode()[..])
            .timeout(LAST_WORDS)
            .callback(move |reply: Reply| {
                let answer = reply.result().ok().map(|sample| sample.payload().to_bytes());
                if answer.is_some_and(|answer| Message::decode(&answer) == Ok(Message::Noted(round)))
                    && let Err(error) = hearing.ends.told(from)
                {
                    tracing::error!("the answer of agent {from}, that it knows of this agent's end, is not on disk yet: {error}");
                }
            })
            .wait();
        if let Err(error) = asked {
            tracing::debug!("telling agent {from}: {error}");
        }
    }

    /// The session, for other publications of this agent.
    pub(super) fn session(&self) -> &Session {
        self.block.session()
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.hearing.inbox.is_stopped()
    }

    /// A function by which another thread can stop this agent.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let hearing = Arc::clone(&self.hearing);
        move || hearing.inbox.stop()
    }

    /// Leaves the network, or the others of its process.
    pub fn close(mut self) {
        drop(self.token.take());
        if self.alone {
            self.block.close();
        }
    }

    /// Requests the rows of a neighbour from this moment on. The answers arrive in the inbox like all rows.
    fn ask(&self, from: usize, graph: Graph, at: Moment, to: usize) {
        if let Some(inside) = self.block.get(from) {
            self.hearing.status.asked(from);
            return inside.repeat(&self.hearing, graph, at);
        }
        let Some(question) = self.hearing.questions.ask(from, graph) else { return };
        let answers = Answers::new(Arc::clone(&self.hearing), question, (from, graph, at));
        self.hearing.status.asked(from);
        let asked = self
            .block
            .session()
            .get(self.hearing.keys.again(graph, from, to))
            .payload(&Message::Rows(at).encode()[..])
            .consolidation(ConsolidationMode::None)
            .congestion_control(CongestionControl::Block) // for the answers too
            .timeout(Duration::from_secs(10))
            .callback(move |reply: Reply| answers.take(&reply))
            .wait();
        if let Err(error) = asked {
            tracing::debug!("asking agent {from}: {error}");
        }
    }

    /// Asks a neighbour for its identity, and logs how it differs.
    fn greet(&self, from: usize) {
        let Some(identity) = self.hearing.identity.to_json().filter(|_| self.block.get(from).is_none())
        else {
            return; // or it is of this process
        };
        let hearing = Arc::clone(&self.hearing);
        let asked = self
            .block
            .session()
            .get(Keys::hello(from))
            .payload(identity)
            .timeout(Duration::from_secs(10))
            .callback(move |reply: Reply| {
                let Ok(sample) = reply.result() else { return };
                match Identity::from_json(&sample.payload().to_bytes()) {
                    Some(peer) => {
                        if let Some(difference) = hearing.identity.difference(&peer, from) {
                            tracing::error!(neighbour = from, "refused agent {from}: {difference}");
                        }
                    }
                    None => {
                        tracing::error!(neighbour = from, "refused agent {from}: it does not say who it is");
                    }
                }
            })
            .wait();
        if let Err(error) = asked {
            tracing::debug!("greeting agent {from}: {error}");
        }
    }
}

impl<T: Number> Link<T> for ZenohLink<T> {
    fn put(&mut self, to: usize, graph: Graph, at: Moment) -> Result<(), LinkError> {
        let mut bytes = vec![];
        if self.history.frame(to, graph, at, &mut bytes) != Found::Here {
            return Err(LinkError::Network(format!("there is no {graph} row of {at} for agent {to}")));
        }
        let status = &self.hearing.status;
        status.sent(to, bytes.len());
        let Some(publisher) = self.publishers.get(&(graph, to)) else {
            let inside = self.block.get(to);
            let nowhere = || LinkError::Network(format!("there is no {graph} link to agent {to}"));
            inside.ok_or_else(nowhere)?.hear(self.hearing.identity.agent, graph, bytes);
            return Ok(());
        };
        status.wait(to, graph, at); // a receiver that is slow to take rows is waited for too
        let put = publisher.put(bytes).wait();
        status.sent_off();
        put.map_err(LinkError::network)
    }

    fn get(&mut self, from: usize, graph: Graph, at: Moment, row: &mut Vec<T>) -> Result<(), LinkError> {
        let Hearing { inbox, status, identity, .. } = &*self.hearing;
        if !inbox.take(from, graph, at, Duration::ZERO, row)? {
            status.wait(from, graph, at);
            let mut said = Duration::from_secs(2);
            let waited = inbox.wait(&self.patience, (from, graph, at), row, |waited| {
                if let Some(end) = self.hearing.ends.of(from).filter(|end| *end <= at.round) {
                    inbox.close(LinkError::Ended { from, round: end });
                    return;
                }
                self.ask(from, graph, at, identity.agent);
                if waited >= said {
                    self.greet(from);
                    say_waiting(status, from, graph, at, waited);
                    said *= 2;
                }
            });
            status.waited();
            waited.map_err(|error| match error {
                LinkError::Away { from, graph, at, waited, .. } => {
                    LinkError::Away { from, graph, at, waited, there: status.away(from) == (None, true) }
                }
                other => other,
            })?;
        }
        match self.guard.refuses(row) {
            Some(why) => {
                status.refused(from);
                Err(LinkError::Refused { from, graph, at, why })
            }
            None => Ok(()),
        }
    }
}

/// Logs which neighbour is waited for, and since when.
fn say_waiting(status: &Status, from: usize, graph: Graph, at: Moment, waited: Duration) {
    let whereabouts = match status.away(from) {
        (Some(away), _) => format!("away for {:.0} s", away.as_secs_f64()),
        (None, true) => "there".to_owned(),
        (None, false) => "not seen yet".to_owned(),
    };
    tracing::warn!(
        neighbour = from,
        round = at.round,
        "waiting for the {graph} row of {at} from agent {from} for {:.0} s; it is {whereabouts}",
        waited.as_secs_f64()
    );
}
