//! A small server for pages on this machine: bound to 127.0.0.1, GET only, with a limit on everything.
//!
//! Every connection has a thread, and there are few of them. A page that does not take what it is sent is
//! disconnected; nobody waits for it.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::hub::{Document, Hub};
use crate::page::Page;
use crate::request::{self, Asked};

/// The most connections at a time; one more is turned away.
const CONNECTIONS: usize = 64;

/// How long a page may take to accept what it is sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// The shortest time between two messages to a page.
const PAUSE: Duration = Duration::from_millis(150);

/// A page is told this often that we are still here, so that one that has gone is noticed.
const BEAT: Duration = Duration::from_secs(2);

/// Serves the page and its events until it is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
    accepting: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    hub: Arc<Hub>,
    page: Page,
    stopped: AtomicBool,
    connections: AtomicUsize,
}

impl Server {
    /// Listens on a port of 127.0.0.1, or on any that is free, and serves what is in `hub`.
    ///
    /// # Errors
    /// If the port is in use.
    pub fn start(port: Option<u16>, hub: Arc<Hub>) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port.unwrap_or(0)))?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared {
            hub,
            page: Page::new(),
            stopped: AtomicBool::new(false),
            connections: AtomicUsize::new(0),
        });
        let ours = Arc::clone(&shared);
        let accept = move || {
            for stream in listener.incoming() {
                if ours.is_stopped() {
                    break;
                }
                match stream {
                    Ok(stream) => ours.attend(stream),
                    Err(_) => std::thread::sleep(Duration::from_millis(50)), // too many open files, say
                }
            }
        };
        let accepting = std::thread::Builder::new().name("watch".to_owned()).spawn(accept)?;
        Ok(Self { address, shared, accepting: Some(accepting) })
    }

    /// Where the page is.
    pub fn address(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// The port.
    pub fn port(&self) -> u16 {
        self.address.port()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.stopped.store(true, Ordering::Relaxed);
        self.shared.hub.wake();
        let _ = TcpStream::connect_timeout(&self.address, Duration::from_millis(500)); // wakes who accepts
        if let Some(accepting) = self.accepting.take() {
            let _ = accepting.join();
        }
    }
}

impl Shared {
    fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Gives a connection a thread, or turns it away.
    fn attend(self: &Arc<Self>, stream: TcpStream) {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        let seat = Seat(Arc::clone(self));
        if before >= CONNECTIONS {
            return; // and it is closed
        }
        let serve = move || {
            let mut stream = stream;
            // who goes away, or does not listen, is not an error of ours
            let _ = seat.0.serve(&mut stream);
            let _ = stream.shutdown(Shutdown::Both);
        };
        let _ = std::thread::Builder::new().name("page".to_owned()).spawn(serve);
    }

    fn serve(&self, stream: &mut TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        match request::read(stream)? {
            Ok(Asked::Page) => {
                let head = format!("Content-Security-Policy: {}\r\n", self.page.policy);
                let page = answer("200 OK", "text/html; charset=utf-8", &head, &self.page.html);
                send(stream, page.as_bytes())
            }
            Ok(Asked::Events) => self.tell(stream),
            Err(refused) => {
                let text =
                    answer(refused.status(), "text/plain; charset=utf-8", "Allow: GET\r\n", refused.about());
                send(stream, text.as_bytes())
            }
        }
    }

    /// Sends all documents, and then what changes.
    fn tell(&self, stream: &mut TcpStream) -> io::Result<()> {
        let _watched = self.hub.watched();
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n";
        send(stream, format!("{head}{COMMON}\r\nretry: 500\n\n").as_bytes())?;
        let mut seen = 0;
        let mut wait = Duration::ZERO; // a page that comes is told at once, also that there is nothing yet
        while !self.is_stopped() {
            let (version, documents) = self.hub.newer_than(seen, wait);
            send(stream, messages(&documents, seen == 0 && wait.is_zero()).as_bytes())?;
            (seen, wait) = (version, BEAT);
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// A connection's place among those that are allowed.
struct Seat(Arc<Shared>);

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Documents as server-sent events; the first ones come between `begin` and `ready`, so that the page puts
/// them in the place of all that it knew. None are a beat.
fn messages(documents: &[Document], first: bool) -> String {
    let mut text = String::new();
    if first {
        text += "event: begin\ndata:\n\n";
    }
    for (name, value) in documents.iter().filter(|(_, value)| !(first && **value == *"null")) {
        let name = serde_json::Value::from(name.as_str());
        let _ = write!(text, "data: {{\"name\":{name},\"value\":{value}}}\n\n");
    }
    text += if first { "event: ready\ndata:\n\n" } else { "event: beat\ndata:\n\n" };
    text
}

/// What every answer says: it is ours, for now, and for nobody else's pages.
const COMMON: &str = "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n\
                      Cross-Origin-Resource-Policy: same-origin\r\n";

fn answer(status: &str, kind: &str, head: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\
         {head}{COMMON}\r\n{body}"
    )
}

/// Sends all of it, or gives up after a while.
fn send(stream: &mut TcpStream, mut text: &[u8]) -> io::Result<()> {
    let until = Instant::now() + PATIENCE;
    while !text.is_empty() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_write_timeout(Some(left))?;
        match stream.write(text)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => text = &text[written..],
        }
    }
    Ok(())
}
