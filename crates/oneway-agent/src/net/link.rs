//! The link itself: rows out by publishers, in by subscribers, and again by queries.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;
use std::time::{Duration, Instant};

use zenoh::liveliness::LivelinessToken;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::query::{ConsolidationMode, Query, Reply};
use zenoh::{Session, Wait};

use super::config::{self, Endpoints, access};
use super::ends::Ends;
use super::hear::{Answers, Hearing, watch};
use super::keys::Keys;
use super::questions::Questions;
use super::secure::id::{self, Peer};
use super::secure::{Door, Tunnels, address_of};
use super::serve::{self, NOTED, Question};
use crate::frame::{Graph, Moment};
use crate::history::{Found, History};
use crate::identity::Identity;
use crate::inbox::Inbox;
use crate::link::{Link, LinkError, Patience};
use crate::owner::Owner;
use crate::rows::Rows;
use crate::status::Status;
use crate::ties::Ties;

/// Rows that no agent in its right mind would send.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Guard {
    /// Everything is taken, as the simulator does.
    Off,
    /// NaN, ∞ and numbers beyond this are refused.
    Beyond(f64),
}

/// How long an agent that nobody needs any more waits for those that it heard to note that it is done.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long it stays after that: what it has answered last must be on its way.
const PARTING: Duration = Duration::from_millis(200);

/// What a link is made of.
#[derive(Debug)]
pub struct ZenohOptions<'a> {
    /// Where everyone is.
    pub endpoints: &'a Endpoints,
    /// Who the agent is, to its neighbours.
    pub identity: Identity,
    /// Whom it hears, and who hears it.
    pub ties: &'a Ties,
    /// What its rows are like.
    pub rows: Rows,
    /// What it has sent.
    pub history: Arc<History>,
    /// How it is doing.
    pub status: Arc<Status>,
    /// How long it waits.
    pub patience: Patience,
    /// What it refuses.
    pub guard: Guard,
    /// Where it notes which neighbours have come to their end, and whose notes these are; only in memory if that is nowhere.
    pub ends_file: Option<(PathBuf, Owner)>,
}

/// One agent's end of its links on a network.
#[derive(Debug)]
pub struct ZenohLink {
    session: Session,
    hearing: Arc<Hearing>,
    history: Arc<History>,
    publishers: BTreeMap<(Graph, usize), Publisher<'static>>,
    token: Option<LivelinessToken>,
    patience: Patience,
    guard: Guard,
    /// Below the session where links have keys; they go when it has gone.
    _tunnels: Option<Tunnels>,
}

/// A session on its own endpoints, or behind tunnels where there are keys.
fn open_session(
    endpoints: &Endpoints,
    ties: &Ties,
    keys: &Keys,
    longest_frame: usize,
    status: Arc<Status>,
) -> Result<(Session, Option<Tunnels>), LinkError> {
    let listens_at = endpoints.listens_at();
    let (session, tunnels) = match &endpoints.tls {
        None => {
            let connect = endpoints.connect.iter().map(|dial| dial.address.clone()).collect();
            (config::Session { listen: vec![listens_at], connect, id: None }, None)
        }
        Some(tls) => {
            let observer = endpoints.observed.then_some(Peer::Observer);
            let peers = ties.neighbours().into_iter().map(Peer::Agent).chain(observer).collect();
            let door = Door { address: address_of(&listens_at), peers, status };
            let tunnels = Tunnels::open(tls, &endpoints.connect, Some(door))?;
            let (listen, connect) = (vec![tunnels.listen()], tunnels.connect.clone());
            let id = Some(id::agent(ties.agent));
            (config::Session { listen, connect, id }, Some(tunnels))
        }
    };
    let mut settings = session.settings(longest_frame);
    if tunnels.is_some() {
        settings["access_control"] = access(keys, ties, endpoints.observed);
    }
    let config = zenoh::Config::from_json5(&settings.to_string()).map_err(network)?;
    Ok((zenoh::open(config).wait().map_err(network)?, tunnels))
}

pub(super) fn network(error: impl ToString) -> LinkError {
    LinkError::Network(error.to_string())
}

impl ZenohLink {
    /// Listens, dials, and declares what the agent says, hears and answers. Neighbours need not be there yet.
    pub fn open(options: ZenohOptions<'_>) -> Result<Self, LinkError> {
        let ZenohOptions { endpoints, identity, ties, rows, history, status, patience, guard, ends_file } =
            options;
        let me = ties.agent;
        let keys = Keys::new(identity.key());
        let (session, tunnels) =
            open_session(endpoints, ties, &keys, rows.longest_frame(), Arc::clone(&status))?;
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
        let mut ask = BTreeMap::new();
        for who in Graph::BOTH.into_iter().flat_map(|graph| ties.hearers(graph)).collect::<BTreeSet<_>>() {
            ask.insert(who, answers.start().map_err(network)?);
        }
        let mut publishers = BTreeMap::new();
        for graph in Graph::BOTH {
            for from in ties.heard(graph) {
                let hearing = Arc::clone(&hearing);
                session
                    .declare_subscriber(keys.rows(graph, from, me))
                    .callback(move |sample| {
                        hearing.take_in(from, graph, sample.payload());
                    })
                    .background()
                    .wait()
                    .map_err(network)?;
            }
            for to in ties.hearers(graph) {
                let publisher = session
                    .declare_publisher(keys.rows(graph, me, to))
                    .congestion_control(CongestionControl::Block)
                    .express(true)
                    .wait()
                    .map_err(network)?;
                publishers.insert((graph, to), publisher);
                answer(&session, keys.again(graph, me, to), &ask[&to], move |query| {
                    Question::Again(graph, to, query)
                })?;
            }
        }
        answer(&session, Keys::hello(me), &answers.start().map_err(network)?, Question::Hello)?;
        let token = session.liveliness().declare_token(keys.alive(me)).wait().map_err(network)?;
        for who in ties.neighbours() {
            watch(&session, &hearing, who)?;
        }
        Ok(Self {
            session,
            hearing,
            history,
            publishers,
            token: Some(token),
            patience,
            guard,
            _tunnels: tunnels,
        })
    }

    /// Says that this agent has come to its end, and goes on answering until all that hear it have come to theirs, at most so
    /// long; whether they have.
    pub fn linger(&self, ties: &Ties, round: u64, at_most: Duration) -> Result<bool, LinkError> {
        let Hearing { ends, keys, inbox, status, .. } = &*self.hearing;
        let key = keys.done(ties.agent, round);
        let _done = self.session.liveliness().declare_token(key).wait().map_err(network)?;
        let until = Instant::now() + at_most;
        let heard = Graph::BOTH
            .into_iter()
            .flat_map(|graph| ties.heard(graph).into_iter().map(move |who| (who, graph)));
        let heard: BTreeMap<usize, Graph> = heard.collect();
        let hearers: BTreeSet<usize> =
            Graph::BOTH.into_iter().flat_map(|graph| ties.hearers(graph)).collect();
        let is_there = |who: usize| status.away(who) == (None, true);
        let mut last_words = None;
        loop {
            let untold: Vec<usize> = heard.keys().copied().filter(|who| !ends.is_told(*who)).collect();
            for &who in untold.iter().filter(|who| is_there(**who)) {
                self.say_done(who, heard[&who], ties.agent, round);
            }
            if hearers.iter().all(|who| ends.of(*who).is_some()) {
                let since = last_words.get_or_insert_with(Instant::now).elapsed();
                // who is there will answer, or ask; who was killed will come back, and must be told, unless it was never seen:
                // then it was this agent that came back
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

    /// Asks a neighbour that this agent hears to note that it is done.
    fn say_done(&self, from: usize, graph: Graph, me: usize, round: u64) {
        let hearing = Arc::clone(&self.hearing);
        let asked = self
            .session
            .get(format!("{}?done={round}", self.hearing.keys.again(graph, from, me)))
            .timeout(LAST_WORDS)
            .callback(move |reply: Reply| {
                if reply.result().is_err_and(|error| error.payload().to_bytes() == NOTED.as_bytes())
                    && let Err(error) = hearing.ends.told(from)
                {
                    tracing::error!("that agent {from} knows of the end is not noted yet: {error}");
                }
            })
            .wait();
        if let Err(error) = asked {
            tracing::debug!("telling agent {from}: {error}");
        }
    }

    /// What it is on, for what else an agent says.
    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Whether it was stopped.
    pub fn is_stopped(&self) -> bool {
        self.hearing.inbox.is_stopped()
    }

    /// A handle by which others can stop whoever waits here.
    pub fn stopper(&self) -> impl Fn() + Send + Sync + 'static {
        let hearing = Arc::clone(&self.hearing);
        move || hearing.inbox.stop()
    }

    /// Leaves the network.
    pub fn close(mut self) {
        drop(self.token.take());
        if let Err(error) = self.session.close().wait() {
            tracing::debug!("leaving the network: {error}");
        }
    }

    /// Asks a neighbour for the rows from this one on; the answers come into the inbox like all others.
    fn ask(&self, from: usize, graph: Graph, at: Moment, to: usize) {
        let Moment { round, phase } = at;
        let selector = format!("{}?round={round};phase={phase}", self.hearing.keys.again(graph, from, to));
        let Some(question) = self.hearing.questions.ask(from, graph) else { return };
        let answers = Answers::new(Arc::clone(&self.hearing), question, (from, graph, at));
        self.hearing.status.asked(from);
        let asked = self
            .session
            .get(&selector)
            .consolidation(ConsolidationMode::None)
            .congestion_control(CongestionControl::Block) // of the answers too
            .timeout(Duration::from_secs(10))
            .callback(move |reply: Reply| answers.take(&reply))
            .wait();
        if let Err(error) = asked {
            tracing::debug!("asking agent {from}: {error}");
        }
    }

    /// Asks a neighbour who it is; if it belongs to another run, says so in the log.
    fn greet(&self, from: usize) {
        let Ok(identity) = serde_json::to_string(&self.hearing.identity) else { return };
        let hearing = Arc::clone(&self.hearing);
        let asked = self
            .session
            .get(Keys::hello(from))
            .payload(identity)
            .timeout(Duration::from_secs(10))
            .callback(move |reply: Reply| {
                let Ok(sample) = reply.result() else { return };
                match serde_json::from_slice::<Identity>(&sample.payload().to_bytes()) {
                    Ok(peer) => {
                        if let Some(difference) = hearing.identity.difference(&peer, from) {
                            tracing::error!(neighbour = from, "refused agent {from}: {difference}");
                        }
                    }
                    Err(_) => {
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

/// Lets a kind of question be asked under a key.
fn answer(
    session: &Session,
    key: String,
    ask: &SyncSender<Question>,
    question: impl Fn(Query) -> Question + Send + Sync + 'static,
) -> Result<(), LinkError> {
    let ask = ask.clone();
    let declared = session.declare_queryable(key).callback(move |query| drop(ask.try_send(question(query))));
    declared.background().wait().map_err(network)
}

impl Link for ZenohLink {
    fn put(&mut self, to: usize, graph: Graph, at: Moment) -> Result<(), LinkError> {
        let Some(publisher) = self.publishers.get(&(graph, to)) else {
            return Err(LinkError::Network(format!("there is no {graph} link to agent {to}")));
        };
        let mut bytes = vec![];
        if self.history.frame(to, graph, at, &mut bytes) != Found::Here {
            return Err(LinkError::Network(format!("there is no {graph} row of {at} for agent {to}")));
        }
        let status = &self.hearing.status;
        status.sent(to, bytes.len());
        status.wait(to, graph, at); // one that does not take what it is sent is waited for too
        let put = publisher.put(bytes).wait();
        status.sent_off();
        put.map_err(network)
    }

    fn get(&mut self, from: usize, graph: Graph, at: Moment, row: &mut Vec<f64>) -> Result<(), LinkError> {
        let Hearing { inbox, status, identity, .. } = &*self.hearing;
        if !inbox.take(from, graph, at, Duration::ZERO, row)? {
            status.wait(from, graph, at);
            let mut said = Duration::from_secs(2);
            let waited = self.patience.wait(inbox, (from, graph, at), row, |waited| {
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
        match self.guard {
            Guard::Beyond(most) if !row.iter().all(|x| x.abs() <= most) => {
                status.refused(from);
                let worst = row.iter().find(|x| x.is_nan()).or_else(|| row.iter().find(|x| x.abs() > most));
                let why = format!("it holds {}, beyond the guard's {most:e}", worst.unwrap_or(&f64::NAN));
                Err(LinkError::Refused { from, graph, at, why })
            }
            _ => Ok(()),
        }
    }
}

/// Whom we are waiting for, since when.
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
