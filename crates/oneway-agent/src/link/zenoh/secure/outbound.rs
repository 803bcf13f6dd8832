//! Outgoing connections: when Zenoh wants a link to a neighbour, a connection to that neighbour, and no
//! other, is made.

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpStream, UnixListener, UnixStream};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;
use tokio_rustls::rustls::ClientConfig;
use tokio_rustls::rustls::pki_types::ServerName;

use super::id::{self, Peer};
use super::{HANDSHAKE, carry, read_message};

/// Dials an agent each time that Zenoh wants a link. Zenoh repeats that when it fails.
pub(super) async fn dial_forever(
    listener: UnixListener,
    address: String,
    agent: usize,
    client: Arc<ClientConfig>,
) {
    let mut failed = 0u32;
    loop {
        let Ok((mut inside, _)) = listener.accept().await else { continue };
        let connector = TlsConnector::from(Arc::clone(&client));
        match timeout(HANDSHAKE, dial(&mut inside, &address, agent, connector)).await {
            Ok(Ok(outside)) => {
                failed = 0;
                tokio::spawn(carry(outside, inside));
            }
            Ok(Err(error)) => {
                failed = failed.saturating_add(1);
                // an agent that is not there yet is normal; one that answers as another is not
                if !is_absence(&error) && failed.is_power_of_two() {
                    tracing::warn!(neighbour = agent, "no link to agent {agent} at {address}: {error:#}");
                }
            }
            Err(_) => tracing::debug!("agent {agent} at {address} does not answer"),
        }
    }
}

/// Connects, proves who this agent is, and checks that the other is the one expected.
async fn dial(
    inside: &mut UnixStream,
    address: &str,
    agent: usize,
    connector: TlsConnector,
) -> Result<TlsStream<TcpStream>> {
    let peer = Peer::Agent(agent);
    let stream = TcpStream::connect(address).await?;
    stream.set_nodelay(true)?;
    let mut outside = connector.connect(ServerName::try_from(peer.name())?, stream).await?;
    let first = read_message(inside).await?;
    outside.write_all(&first).await?;
    outside.flush().await?;
    let answer = read_message(&mut outside).await.context("it ended the connection")?;
    if !id::read(&answer).is_some_and(|id| peer.may_have(id)) {
        bail!("its certificate is that of {}, and its first message is of another", peer.name());
    }
    inside.write_all(&answer).await?;
    Ok(outside)
}

/// Whether nothing listens there, or the network is cut.
fn is_absence(error: &anyhow::Error) -> bool {
    use std::io::ErrorKind::*;
    error.downcast_ref::<std::io::Error>().is_some_and(|error| {
        matches!(
            error.kind(),
            ConnectionRefused
                | ConnectionReset
                | ConnectionAborted
                | UnexpectedEof
                | HostUnreachable
                | NetworkUnreachable
                | TimedOut
                | BrokenPipe
        )
    })
}
