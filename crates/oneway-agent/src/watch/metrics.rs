//! Two small pages: `/metrics` for Prometheus, and `/status`, the same as JSON, for `top`.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::watch::status::{Report, Status};

/// The longest time for a request and its answer together.
const TIMEOUT: Duration = Duration::from_secs(2);

/// Concurrent connections; a slow client cannot block others. One more closes the oldest.
const CONNECTIONS: usize = 256;

/// The longest request that is read, in bytes.
const LONGEST: usize = 4096;

/// Serves both pages at an address, in a separate thread. The run does not need them: an address that is in
/// use is tried again until it is free.
pub fn serve(address: String, status: Arc<Status>) -> io::Result<()> {
    std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        let listener = listen(&address);
        let mut connections = VecDeque::new();
        loop {
            if let Err(error) = attend(&listener, &mut connections, &status) {
                tracing::debug!("metrics at {address}: {error}");
                std::thread::sleep(Duration::from_millis(100)); // there may be too many open files
            }
        }
    })?;
    Ok(())
}

/// Listens as soon as the address is free.
fn listen(address: &str) -> TcpListener {
    let mut said = false;
    loop {
        match TcpListener::bind(address) {
            Ok(listener) => return listener,
            Err(error) if !said => tracing::warn!("metrics at {address}: {error}; trying again"),
            Err(_) => {}
        }
        said = true;
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// Accepts new connections and serves all of them as far as possible without waiting. One thread serves all.
fn attend(listener: &TcpListener, connections: &mut VecDeque<Connection>, status: &Status) -> io::Result<()> {
    listener.set_nonblocking(!connections.is_empty())?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                stream.set_nonblocking(true)?;
                listener.set_nonblocking(true)?;
                if connections.len() == CONNECTIONS {
                    connections.pop_front();
                }
                connections.push_back(Connection {
                    stream,
                    until: Instant::now() + TIMEOUT,
                    asked: vec![],
                    answer: None,
                });
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) => return Err(error),
        }
    }
    connections.retain_mut(|connection| {
        connection.until > Instant::now() && !connection.is_served(status).unwrap_or(true)
    });
    if !connections.is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(())
}

/// One client.
struct Connection {
    stream: TcpStream,
    until: Instant,
    asked: Vec<u8>,
    /// What is left to send, once the request is complete.
    answer: Option<Vec<u8>>,
}

impl Connection {
    /// Reads and writes as far as possible without waiting; whether it is done.
    fn is_served(&mut self, status: &Status) -> io::Result<bool> {
        let wait = |error: io::Error| match error.kind() {
            io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => Ok(false),
            _ => Err(error),
        };
        while self.answer.is_none() {
            let mut piece = [0; 1024]; // requests arrive in pieces
            match self.stream.read(&mut piece) {
                Ok(read) => {
                    self.asked.extend_from_slice(&piece[..read]);
                    let is_whole = self.asked.ends_with(b"\r\n\r\n") || self.asked.len() >= LONGEST;
                    self.answer = (read == 0 || is_whole).then(|| page(&self.asked, status));
                }
                Err(error) => return wait(error),
            }
        }
        while let Some(left) = self.answer.as_mut().filter(|left| !left.is_empty()) {
            match self.stream.write(left) {
                Ok(0) => return Ok(true),
                Ok(written) => drop(left.drain(..written)),
                Err(error) => return wait(error),
            }
        }
        Ok(true)
    }
}

/// The answer to a request.
fn page(asked: &[u8], status: &Status) -> Vec<u8> {
    let (code, kind, body) = if asked.starts_with(b"GET /metrics ") {
        ("200 OK", "text/plain; version=0.0.4", status.report().to_prometheus())
    } else if asked.starts_with(b"GET /status ") {
        ("200 OK", "application/json", serde_json::to_string(&status.report()).unwrap_or_default())
    } else {
        ("404 Not Found", "text/plain", "there are /metrics and /status\n".to_owned())
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close");
    format!("{head}\r\n\r\n{body}").into_bytes()
}

/// Asks an agent for its status; nothing if it does not answer soon.
pub fn ask(address: &str) -> Option<Report> {
    let soon = Duration::from_millis(500);
    let address = address.to_socket_addrs().ok()?.next()?;
    let mut stream = TcpStream::connect_timeout(&address, soon).ok()?;
    stream.set_read_timeout(Some(soon)).ok()?;
    write!(stream, "GET /status HTTP/1.1\r\nHost: {address}\r\n\r\n").ok()?;
    let mut text = String::new();
    stream.take(1 << 20).read_to_string(&mut text).ok()?;
    serde_json::from_str(text.split_once("\r\n\r\n")?.1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ties::Ties;
    use oneway::graph::Topology;

    #[test]
    fn it_answers_with_current_numbers_though_clients_are_slow() {
        let status = Arc::new(Status::new(&Ties::from_topology(&Topology::complete(2).unwrap(), 0), 10));
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        serve(address.to_string(), Arc::clone(&status)).unwrap();
        status.reach(4, Duration::ZERO);
        drop(taken);
        while TcpStream::connect(address).is_err() {
            std::thread::sleep(Duration::from_millis(20)); // until it is tried again
        }
        let slow: Vec<_> = (0..100).map(|_| TcpStream::connect(address).unwrap()).collect();
        slow.iter().for_each(|mut stream| stream.write_all(b"GET /").unwrap());
        let get = |page: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "GET {page} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        let began = Instant::now();
        assert!(get("/metrics").contains("oneway_round{agent=\"0\"} 4"));
        assert!(get("/secrets").starts_with("HTTP/1.1 404"));
        assert_eq!(ask(&address.to_string()).unwrap().round, 4);
        assert!(began.elapsed() < TIMEOUT, "a hundred slow clients block no other: {:?}", began.elapsed());
        assert_eq!(ask("127.0.0.1:1"), None, "nobody there");
        // and a client that sends a little from time to time is disconnected too
        let mut slow = TcpStream::connect(address).unwrap();
        slow.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let began = Instant::now();
        while slow.write_all(b"G").is_ok() && !matches!(slow.read(&mut [0; 9]), Ok(0)) {
            assert!(began.elapsed() < 3 * TIMEOUT, "{:?}", began.elapsed());
        }
    }
}
