//! Incoming connections.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream, UnixStream};
use tokio::task::AbortHandle;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::server::TlsStream;

use super::certificates::is_for;
use super::id::{self, Peer};
use super::waiting_room::{Place, WaitingRoom};
use super::{HANDSHAKE, carry, read_message};
use crate::watch::status::Status;

/// Observers at a time.
const OBSERVERS: usize = 8;

/// What is needed to accept a connection.
#[derive(Debug)]
pub(super) struct Inbound {
    acceptor: Acceptor,
    peers: Vec<Peer>,
    /// Where Zenoh listens.
    inside: PathBuf,
    status: Arc<Status>,
    waiting_room: Arc<WaitingRoom>,
    /// The open links.
    open: Mutex<HashMap<(Peer, usize), AbortHandle>>,
}

/// rustls's acceptor, which says nothing of itself.
struct Acceptor(TlsAcceptor);

impl std::fmt::Debug for Acceptor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Acceptor")
    }
}

impl Inbound {
    pub(super) fn new(
        server: Arc<ServerConfig>,
        peers: Vec<Peer>,
        inside: PathBuf,
        status: Arc<Status>,
    ) -> Self {
        let acceptor = Acceptor(TlsAcceptor::from(server));
        let (waiting_room, open) = (Arc::default(), Mutex::default());
        Self { acceptor, peers, inside, status, waiting_room, open }
    }

    /// Accepts connections, with one task for each.
    pub(super) async fn accept_forever(self: Arc<Self>, listener: TcpListener) {
        loop {
            match listener.accept().await {
                Ok((stream, address)) => {
                    let door = Arc::clone(&self);
                    let pushed_out = self
                        .waiting_room
                        .admit(|place| tokio::spawn(door.meet(stream, address, place)).abort_handle());
                    if pushed_out {
                        self.refuse(&"somebody", "too many connections that do not prove who they are");
                    }
                }
                Err(error) => {
                    tracing::warn!("a connection could not be taken: {error}");
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
        }
    }

    async fn meet(self: Arc<Self>, stream: TcpStream, address: SocketAddr, place: Place) {
        let proof = async {
            let (peer, stream, first) = self.prove(stream).await?;
            let mut inside = UnixStream::connect(&self.inside).await.context("Zenoh is not there")?;
            inside.write_all(&first).await?;
            anyhow::Ok((peer, stream, inside))
        };
        let proof = timeout(HANDSHAKE, proof).await;
        let (peer, stream, inside) = match proof {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => return self.refuse(&address, &format!("{error:#}")),
            Err(_) => return self.refuse(&address, "it did not say in time who it is"),
        };
        drop(place);
        let Some(seat) = self.seat(peer) else {
            return self.refuse(&address, &format!("there are {OBSERVERS} observers already"));
        };
        let link = tokio::spawn(carry(stream, inside));
        let last = self.lock().insert((peer, seat), link.abort_handle());
        if let Some(last) = last {
            last.abort(); // a neighbour has one link: this one is newer
        }
    }

    /// Checks who it is, by its certificate and by the Zenoh id in its first message.
    async fn prove(&self, stream: TcpStream) -> Result<(Peer, TlsStream<TcpStream>, Vec<u8>)> {
        stream.set_nodelay(true)?;
        let mut stream = self.acceptor.0.accept(stream).await?;
        let (_, connection) = stream.get_ref();
        let certificate = connection.peer_certificates().and_then(|chain| chain.first());
        let certificate = certificate.context("it has no certificate")?;
        let Some(&peer) = self.peers.iter().find(|peer| is_for(certificate, &peer.name())) else {
            bail!("its certificate is not of an agent with a link to this one");
        };
        let first = read_message(&mut stream).await?;
        if !id::read(&first).is_some_and(|id| peer.may_have(id)) {
            bail!("its certificate is that of {}, and its first message is of another", peer.name());
        }
        Ok((peer, stream, first))
    }

    /// The number of a peer's link: an agent has one, observers share several.
    fn seat(&self, peer: Peer) -> Option<usize> {
        let open = self.lock();
        match peer {
            Peer::Agent(_) => Some(0),
            Peer::Observer => {
                (0..OBSERVERS).find(|seat| open.get(&(peer, *seat)).is_none_or(AbortHandle::is_finished))
            }
        }
    }

    fn refuse(&self, who: &dyn std::fmt::Display, why: &str) {
        // logged ever more rarely: a port scan would fill the disk
        if self.status.refuse_stranger().is_power_of_two() {
            tracing::warn!("turned away {who}: {why}");
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<(Peer, usize), AbortHandle>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
