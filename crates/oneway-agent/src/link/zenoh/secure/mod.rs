//! TLS below Zenoh: certificates on both ends of every link, whatever Zenoh does above.
//!
//! ```text
//! Zenoh ── to-3 ──▶ tunnel ══ TLS over TCP ══▶ tunnel ── in ──▶ Zenoh
//!        (Unix socket)      agent 5 to agent 3      (Unix socket)
//! ```
//!
//! Zenoh's own TLS link shares one rustls stream between two threads, and its QUIC link admits one stranger
//! at a time ([decision 0014](../../../../../../docs/decisions/0014-tls-below-zenoh.md)). So Zenoh speaks
//! over Unix sockets in a folder that only this user can open, and a tunnel carries the bytes. A neighbour's
//! certificate says who it is, and the tunnel makes sure that Zenoh is told the same: the first message on a
//! link must have the [Zenoh id](id) of that agent, by which access is controlled.

mod certificates;
pub(super) mod id;
mod inbound;
mod outbound;
mod waiting_room;

use std::fs::Permissions;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

use self::certificates::Credentials;
use self::id::Peer;
use self::inbound::Inbound;
use self::outbound::dial_forever;
use crate::link::LinkError;
use crate::plan::endpoints::{Dial, Tls};
use crate::watch::status::Status;

/// A connection must prove who it is, and send its first message, within this time.
const HANDSHAKE: Duration = Duration::from_secs(5);

/// Bytes that are carried at a time: four records of TLS.
const CHUNK: usize = 1 << 16;

/// The first message of a link is shorter than this.
const FIRST_MESSAGE: usize = 4096;

/// One end of the tunnels of an agent or an observer. They close when this is dropped.
#[derive(Debug)]
pub(super) struct Tunnels {
    runtime: Option<Runtime>,
    folder: TempDir,
    /// The endpoints that Zenoh dials.
    pub(super) connect: Vec<String>,
}

/// Where to listen, and for whom.
#[derive(Debug)]
pub(super) struct Door<'a> {
    /// `host:port` to listen at.
    pub(super) address: &'a str,
    /// Who is accepted.
    pub(super) peers: Vec<Peer>,
    /// Counts refused connections.
    pub(super) status: Arc<Status>,
}

impl Tunnels {
    /// Listens, if there is a door, and gets ready to dial.
    pub(super) fn open(tls: &Tls, dials: &[Dial], door: Option<Door<'_>>) -> Result<Self, LinkError> {
        let open = || -> anyhow::Result<Self> {
            let credentials = Credentials::read(tls)?;
            let folder = private_folder()?;
            let runtime = Builder::new_multi_thread()
                .worker_threads(1)
                .thread_name("tls")
                .enable_io()
                .enable_time()
                .build()?;
            let context = runtime.enter();
            if let Some(Door { address, peers, status }) = door {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                let listener = tokio::net::TcpListener::from_std(listener)?;
                let inside = inside(folder.path());
                let inbound = Inbound::new(credentials.server, peers, inside, status);
                runtime.spawn(Arc::new(inbound).accept_forever(listener));
            }
            let mut connect = vec![];
            for Dial { agent, address } in dials {
                let path = folder.path().join(format!("to-{agent}"));
                let listener = UnixListener::bind(&path)?;
                listener.set_nonblocking(true)?;
                let listener = tokio::net::UnixListener::from_std(listener)?;
                runtime.spawn(dial_forever(
                    listener,
                    address_of(address).to_owned(),
                    *agent,
                    Arc::clone(&credentials.client),
                ));
                connect.push(endpoint(&path));
            }
            drop(context);
            Ok(Self { runtime: Some(runtime), folder, connect })
        };
        open().map_err(|error| LinkError::Network(format!("{error:#}")))
    }

    /// Where Zenoh listens, as an endpoint.
    pub(super) fn listen(&self) -> String {
        endpoint(&inside(self.folder.path()))
    }
}

impl Drop for Tunnels {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// `host:port` of an endpoint such as `tls/host:port`.
pub(super) fn address_of(endpoint: &str) -> &str {
    endpoint.split_once('/').map_or(endpoint, |(_, address)| address)
}

/// A folder that only this user can open, removed when it is dropped.
fn private_folder() -> std::io::Result<TempDir> {
    tempfile::Builder::new().prefix("oneway-").permissions(Permissions::from_mode(0o700)).tempdir()
}

fn inside(folder: &Path) -> PathBuf {
    folder.join("in")
}

fn endpoint(path: &Path) -> String {
    format!("unixsock-stream/{}", path.display())
}

/// Reads Zenoh's next message: its length in two bytes, and its bytes.
async fn read_message(from: &mut (impl AsyncRead + Unpin)) -> std::io::Result<Vec<u8>> {
    let mut length = [0; 2];
    from.read_exact(&mut length).await?;
    let bytes = usize::from(u16::from_le_bytes(length));
    if bytes > FIRST_MESSAGE {
        return Err(std::io::Error::other("its first message is too long"));
    }
    let mut message = vec![0; 2 + bytes];
    message[..2].copy_from_slice(&length);
    from.read_exact(&mut message[2..]).await?;
    Ok(message)
}

/// Carries bytes both ways until one side ends.
async fn carry<A, B>(mut outside: A, mut inside: B)
where
    A: AsyncRead + AsyncWrite + Unpin,
    B: AsyncRead + AsyncWrite + Unpin,
{
    let ended = tokio::io::copy_bidirectional_with_sizes(&mut outside, &mut inside, CHUNK, CHUNK).await;
    if let Err(error) = ended {
        tracing::debug!("a secure link ended: {error}");
    }
    let _ = outside.shutdown().await;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_else_reaches_the_sockets() {
        let folder = private_folder().unwrap();
        assert_eq!(std::fs::metadata(folder.path()).unwrap().permissions().mode() & 0o777, 0o700);
    }
}
