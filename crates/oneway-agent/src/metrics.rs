//! Two small pages: `/metrics` for Prometheus, and `/status`, the same as JSON, for `top`.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::status::{Report, Status};

/// How long anybody may take to ask, and to listen to the answer.
const PATIENCE: Duration = Duration::from_secs(2);

/// Those who are answered at a time: one who dawdles does not keep the others from their answers.
const CLERKS: usize = 4;

/// Serves both pages at an address from threads of its own. Nobody needs them for progress: if the address is taken, it is tried again
/// until it is free.
pub fn serve(address: String, status: Arc<Status>) -> std::io::Result<()> {
    std::thread::Builder::new().name("metrics".to_owned()).spawn(move || {
        if let Err(error) = serve_at(&listen(&address), &status) {
            tracing::error!("metrics at {address}: {error}");
        }
    })?;
    Ok(())
}

/// Listens as soon as that is possible.
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

fn serve_at(listener: &TcpListener, status: &Status) -> std::io::Result<()> {
    std::thread::scope(|scope| {
        for _ in 0..CLERKS {
            std::thread::Builder::new().name("metrics".to_owned()).spawn_scoped(scope, || {
                for stream in listener.incoming() {
                    if let Err(error) = stream.and_then(|stream| answer(stream, status)) {
                        tracing::debug!("metrics: {error}");
                        std::thread::sleep(Duration::from_millis(100)); // there may be too many open files
                    }
                }
            })?;
        }
        Ok(())
    })
}

fn answer(mut stream: TcpStream, status: &Status) -> std::io::Result<()> {
    let until = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    let (mut request, mut length) = ([0; 4096], 0);
    // requests come in pieces; one that is longer than the buffer is for no page of ours
    while !request[..length].ends_with(b"\r\n\r\n") && length < request.len() {
        let left = until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero());
        stream.set_read_timeout(Some(left.ok_or(std::io::ErrorKind::TimedOut)?))?;
        match stream.read(&mut request[length..])? {
            0 => break,
            read => length += read,
        }
    }
    let first = &request[..length];
    let (code, kind, body) = if first.starts_with(b"GET /metrics ") {
        ("200 OK", "text/plain; version=0.0.4", status.report().to_prometheus())
    } else if first.starts_with(b"GET /status ") {
        ("200 OK", "application/json", serde_json::to_string(&status.report())?)
    } else {
        ("404 Not Found", "text/plain", "there are /metrics and /status\n".to_owned())
    };
    write!(
        stream,
        "HTTP/1.1 {code}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Asks an agent how it is doing; nothing if it does not answer soon.
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
    use crate::ties::Ties;
    use oneway::topology::Topology;

    #[test]
    fn it_answers_with_the_numbers_of_the_moment() {
        let status = Arc::new(Status::new(&Ties::of(&Topology::complete(2).unwrap(), 0), 10));
        let taken = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        serve(address.to_string(), Arc::clone(&status)).unwrap();
        status.reach(4, Duration::ZERO);
        drop(taken);
        while TcpStream::connect(address).is_err() {
            std::thread::sleep(Duration::from_millis(20)); // until it is tried again
        }
        let _dawdlers: Vec<_> = (1..CLERKS).map(|_| TcpStream::connect(address).unwrap()).collect();
        let get = |page: &str| {
            let mut stream = TcpStream::connect(address).unwrap();
            write!(stream, "GET {page} HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            let mut text = String::new();
            stream.read_to_string(&mut text).unwrap();
            text
        };
        assert!(get("/metrics").contains("oneway_rounds_total{agent=\"0\"} 4"));
        assert!(get("/secrets").starts_with("HTTP/1.1 404"));
        assert_eq!(ask(&address.to_string()).unwrap().round, 4);
        assert_eq!(ask("127.0.0.1:1"), None, "nobody there");
    }
}
