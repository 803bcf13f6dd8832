//! Estimates for observers: agents publish them from time to time, and an observer subscribes. No agent waits
//! for it: what it cannot receive in time is dropped.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use oneway::graph::Graph;
use zenoh::pubsub::Publisher;
use zenoh::qos::{CongestionControl, Priority};
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

use super::ZenohLink;
use super::config;
use super::keys::Keys;
use super::secure::Tunnels;
use super::secure::id;
use crate::link::LinkError;
use crate::plan::endpoints::{Dial, Tls};
use crate::plan::identity::Identity;
use crate::watch::observe::{Estimate, Source};
use crate::wire::Number;
use crate::wire::frame::{self, Content, Head, Moment};

/// The most estimates that wait to be read, for each agent; more are dropped.
const ROOM: usize = 64;

/// Publishes an agent's estimates.
#[derive(Debug)]
pub struct Estimates {
    publisher: Publisher<'static>,
    run: u64,
    agent: u32,
}

impl Estimates {
    /// For an agent with this link.
    pub fn new<T: Number>(link: &ZenohLink<T>, identity: &Identity) -> Result<Self, LinkError> {
        let key = Keys::new(identity.key()).estimate(identity.agent);
        let publisher = link
            .session()
            .declare_publisher(key)
            .congestion_control(CongestionControl::Drop)
            .priority(Priority::DataLow) // rows first
            .wait()
            .map_err(LinkError::network)?;
        Ok(Self { publisher, run: identity.run_id(), agent: identity.agent as u32 })
    }

    /// Publishes an estimate. Costs nothing if there is no subscriber, and never waits.
    pub fn say<T: Number>(&self, round: u64, estimate: &[T]) {
        if !self.publisher.matching_status().wait().is_ok_and(|status| status.matching()) {
            return;
        }
        let mut bytes = vec![];
        frame::encode(&self.head(round), estimate.iter().copied(), &mut bytes);
        if let Err(error) = self.publisher.put(bytes).wait() {
            tracing::debug!("an estimate was not sent: {error}");
        }
    }

    /// An estimate travels as a row from an agent to itself.
    fn head(&self, round: u64) -> Head {
        let (from, to) = (self.agent, self.agent);
        Head { run: self.run, graph: Graph::Pull, at: Moment { round, phase: 0 }, from, to }
    }
}

/// Reads an estimate from bytes that may be anything.
fn read(bytes: &[u8], agent: usize, run: u64, dim: usize) -> Option<Estimate> {
    let frame = frame::decode(bytes).ok()?;
    let Head { run: found, at, from, to, .. } = frame.head;
    match frame.content {
        Content::Numbers(precision, x)
            if found == run
                && x.len() == dim * precision.bytes()
                && [from, to].iter().all(|who| *who as usize == agent) =>
        {
            Some(Estimate { agent, round: at.round, x: frame.content.to_f64()? })
        }
        _ => None,
    }
}

/// A session that subscribes to the estimates of all agents.
#[derive(Debug)]
pub struct Observer {
    session: Session,
    heard: Receiver<Estimate>,
    present: Arc<Mutex<Vec<Presence>>>,
    _tunnels: Option<Tunnels>,
}

/// What an observer knows of an agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Presence {
    seen: bool,
    there: bool,
    done: bool,
}

impl Observer {
    /// Dials all agents of a run, at their endpoints, and listens. They need not be there yet.
    pub fn open(
        agents: &[String],
        identity: &Identity,
        dim: usize,
        tls: Option<&Tls>,
    ) -> Result<Self, LinkError> {
        let dial = |(agent, address): (usize, &String)| Dial { agent, address: address.clone() };
        let dials: Vec<Dial> = agents.iter().enumerate().map(dial).collect();
        let tunnels = tls.map(|tls| Tunnels::open(tls, &dials, None)).transpose()?;
        let places: BTreeSet<&String> = agents.iter().collect(); // agents of one process are at one
        let own = config::Session {
            listen: vec![],
            connect: match &tunnels {
                Some(tunnels) => tunnels.connect.clone(),
                None => places.into_iter().cloned().collect(),
            },
            id: tunnels.is_some().then(id::observer),
        };
        let settings = own.settings(frame::size(dim, identity.precision));
        let config = zenoh::Config::from_json5(&settings.to_string()).map_err(LinkError::network)?;
        let session = zenoh::open(config).wait().map_err(LinkError::network)?;
        let (tell, heard) = sync_channel(ROOM * agents.len());
        let (keys, run) = (Keys::new(identity.key()), identity.run_id());
        let present = Arc::new(Mutex::new(vec![Presence::default(); agents.len()]));
        for agent in 0..agents.len() {
            let tell = tell.clone();
            let listen = session.declare_subscriber(keys.estimate(agent)).callback(move |sample| {
                if let Some(estimate) = read(&sample.payload().to_bytes(), agent, run, dim) {
                    drop(tell.try_send(estimate));
                }
            });
            listen.background().wait().map_err(LinkError::network)?;
            let (alive, done) = (keys.alive(agent), keys.any_done(agent));
            follow(&session, alive, agent, &present, |of, there| {
                *of = Presence { seen: true, there, ..*of };
            })?;
            follow(&session, done, agent, &present, |of, there| of.done |= there)?;
        }
        Ok(Self { session, heard, present, _tunnels: tunnels })
    }

    /// Leaves the network.
    pub fn close(self) {
        if let Err(error) = self.session.close().wait() {
            tracing::debug!("leaving the network: {error}");
        }
    }
}

impl Source for Observer {
    fn estimates(&self) -> &Receiver<Estimate> {
        &self.heard
    }

    fn is_left_alone(&self) -> bool {
        let present = self.present.lock().unwrap_or_else(PoisonError::into_inner);
        present.iter().any(|of| of.seen) && !present.iter().any(|of| of.there && !of.done)
    }
}

/// Follows the tokens of an agent under a key.
fn follow(
    session: &Session,
    key: String,
    agent: usize,
    present: &Arc<Mutex<Vec<Presence>>>,
    note: impl Fn(&mut Presence, bool) + Send + Sync + 'static,
) -> Result<(), LinkError> {
    let present = Arc::clone(present);
    let tokens = session.liveliness().declare_subscriber(key).history(true).callback(move |sample| {
        let mut present = present.lock().unwrap_or_else(PoisonError::into_inner);
        note(&mut present[agent], sample.kind() == SampleKind::Put);
    });
    tokens.background().wait().map_err(LinkError::network)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_of_other_runs_agents_and_lengths_are_not_believed() {
        let head =
            |run, from, to| Head { run, graph: Graph::Pull, at: Moment { round: 7, phase: 0 }, from, to };
        let frame = |head: Head, x: &[f64]| {
            let mut bytes = vec![];
            frame::encode(&head, x.iter().copied(), &mut bytes);
            bytes
        };
        let good = frame(head(5, 2, 2), &[1.0, -0.0]);
        assert_eq!(read(&good, 2, 5, 2).unwrap(), Estimate { agent: 2, round: 7, x: vec![1.0, -0.0] });
        assert_eq!(read(&good, 1, 5, 2), None, "another agent");
        assert_eq!(read(&good, 2, 6, 2), None, "another run");
        assert_eq!(read(&good, 2, 5, 3), None, "another length");
        assert_eq!(read(&good[1..], 2, 5, 2), None, "no frame");
        assert_eq!(read(&frame(head(5, 2, 1), &[1.0, 2.0]), 2, 5, 2), None, "a row for somebody else");
    }
}
