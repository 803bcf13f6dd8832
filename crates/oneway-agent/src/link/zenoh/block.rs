//! The agents of one process: they have one session, and hand rows to each other in memory.
//!
//! Inside a process rows are framed, checked and asked for as between processes, so that an agent does not know
//! who is where; only they do not go through a network.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use oneway::graph::Graph;
use zenoh::bytes::ZBytes;
use zenoh::{Session, Wait};

use super::config::{self, access};
use super::hear::Hearing;
use super::keys::Keys;
use super::secure::id::{self, Peer};
use super::secure::{Door, Tunnels, address_of};
use super::serve::{Answers, ROWS};
use crate::link::LinkError;
use crate::plan::endpoints::Endpoints;
use crate::plan::ties::Ties;
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::frame::Moment;

/// What the agents of a process share.
#[derive(Debug)]
pub struct Block<T> {
    session: Session,
    inside: Mutex<BTreeMap<usize, Arc<Inside<T>>>>,
}

/// One of them, as the others see it.
#[derive(Debug)]
pub(super) struct Inside<T> {
    pub(super) hearing: Arc<Hearing<T>>,
    pub(super) answers: Arc<Answers<T>>,
}

impl<T: Number> Block<T> {
    /// Listens and dials for several agents of one process, with frames of at most this many bytes. Their links
    /// have no keys.
    pub fn open(endpoints: &Endpoints, longest_frame: usize) -> Result<Arc<Self>, LinkError> {
        let connect = endpoints.connect.iter().map(|dial| dial.address.clone()).collect();
        let session = config::Session { listen: vec![endpoints.listens_at()], connect, id: None };
        let settings = session.settings(longest_frame).to_string();
        let config = zenoh::Config::from_json5(&settings).map_err(LinkError::network)?;
        Ok(Self::new(zenoh::open(config).wait().map_err(LinkError::network)?))
    }

    pub(super) fn new(session: Session) -> Arc<Self> {
        Arc::new(Self { session, inside: Mutex::default() })
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    /// Takes in an agent: it and its neighbours that are inside already see each other.
    pub(super) fn take_in(&self, ties: &Ties, new: Inside<T>) {
        for who in ties.neighbours() {
            if let Some(there) = self.get(who) {
                there.hearing.status.is_there(ties.agent, true);
                new.hearing.status.is_there(who, true);
            }
        }
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.insert(ties.agent, Arc::new(new));
    }

    /// An agent, if it is inside.
    pub(super) fn get(&self, agent: usize) -> Option<Arc<Inside<T>>> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner).get(&agent).map(Arc::clone)
    }

    /// Leaves the network.
    pub fn close(&self) {
        if let Err(error) = self.session.close().wait() {
            tracing::debug!("leaving the network: {error}");
        }
    }
}

/// Opens a session, behind tunnels where links have keys.
pub(super) fn open_session(
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
    let config = zenoh::Config::from_json5(&settings.to_string()).map_err(LinkError::network)?;
    Ok((zenoh::open(config).wait().map_err(LinkError::network)?, tunnels))
}

impl<T: Number> Inside<T> {
    /// Takes a row from an agent of the same process.
    pub(super) fn hear(&self, from: usize, graph: Graph, frame: Vec<u8>) {
        self.hearing.take_in(from, graph, &ZBytes::from(frame));
    }

    /// Gives another agent of the process the rows from this moment on that it misses, a few at a time.
    pub(super) fn repeat(&self, to: &Hearing<T>, graph: Graph, at: Moment) {
        let (from, receiver) = (self.answers.identity.agent, to.identity.agent);
        let given = self.answers.each_row(graph, receiver, at, |frame| {
            to.take_in(from, graph, &ZBytes::from(frame));
            Ok(())
        });
        match given {
            Ok(Err(oldest)) if to.inbox.is_wanted(from, graph, at) => {
                to.inbox.close(LinkError::Gone { from, graph, at, oldest });
            }
            Ok(Ok(ROWS..)) => to.inbox.expect_more(from, graph),
            _ => {}
        }
    }
}
