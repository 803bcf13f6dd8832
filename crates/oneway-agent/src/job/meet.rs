//! How the processes of a job find each other: all tell the first one where they listen, and it tells all of
//! them where everyone is. After that nobody needs it.
//!
//! Each message is a line of JSON. What is not a message of this protocol is passed over, so that a scan of
//! ports ends no job. If something is wrong with one process, all of them are told to end, and the first one
//! says what it was.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::plan::hosts::host_of;

/// The version of the messages.
const VERSION: u32 = 1;

/// The longest message to the first process, in bytes.
const LONGEST: usize = 8 << 10;

/// How many connections that have said nothing yet may be open at a time.
const SILENT: usize = 64;

/// How long a connection may say nothing, and how long others are waited for once something is wrong.
const SOON: Duration = Duration::from_secs(5);

/// What a process says of itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arrival {
    oneway_meet: u32,
    /// Its number.
    pub(super) process: usize,
    /// How many it believes there are.
    pub(super) processes: usize,
    /// The digest of its plan.
    pub(super) plan: String,
    /// Where it will listen.
    pub(super) port: u16,
    /// Why it cannot begin.
    pub(super) wrong: Option<String>,
}

impl Arrival {
    /// Of a process that will listen at a port, or cannot begin.
    pub(super) fn new(process: usize, processes: usize, plan: String, port: Result<u16, String>) -> Self {
        let (port, wrong) = match port {
            Ok(port) => (port, None),
            Err(wrong) => (0, Some(wrong.chars().take(1000).collect())),
        };
        Self { oneway_meet: VERSION, process, processes, plan, port, wrong }
    }
}

/// What the first process answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
enum Answer {
    /// `host:port` of each process.
    Addresses(Vec<String>),
    /// Something is wrong, and the first process says what.
    End,
}

/// How a meeting ended for a process that is not the first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Met {
    /// Everyone is there.
    Addresses(Vec<String>),
    /// The first process says why not.
    SaidElsewhere,
    /// The first process was not found.
    Nobody(String),
}

/// Where processes meet, and for how long they wait.
#[derive(Debug, Clone)]
pub(super) struct Meeting {
    /// `host:port` at the first process.
    pub(super) place: String,
    pub(super) within: Duration,
}

impl Meeting {
    /// Listens at the place; done by the first process.
    pub(super) fn open(&self) -> std::io::Result<TcpListener> {
        let (host, port) = self.host_and_port();
        let listener = if is_this_machine(&host) {
            TcpListener::bind(&self.place)
        } else {
            // the host's name may stand for one of its addresses only, and for its loopback
            TcpListener::bind(("::", port)).or_else(|_| TcpListener::bind(("0.0.0.0", port)))
        }?;
        listener.set_nonblocking(true)?;
        Ok(listener)
    }

    fn host_and_port(&self) -> (String, u16) {
        let port = self.place.rsplit_once(':').and_then(|(_, port)| port.parse().ok()).unwrap_or_default();
        (host_of(&self.place).unwrap_or_default(), port)
    }

    /// Waits for all processes and tells them where everyone is; done by the first one, which is itself among
    /// them. The error is what everybody ends for.
    pub(super) fn hold(&self, listener: &TcpListener, own: Arrival) -> Result<Vec<String>, String> {
        let mut crowd = Crowd { meeting: self, here: BTreeMap::new(), turned_away: vec![], wrong: None };
        let all = own.processes;
        crowd.take(None, own.clone(), &own);
        let mut until = Instant::now() + self.within;
        let (silent, (tell, told)) = (Arc::new(AtomicUsize::new(0)), channel());
        while crowd.here.len() < all {
            while let Ok((stream, from)) = listener.accept() {
                if silent.load(Ordering::Relaxed) < SILENT {
                    listen_to(stream, from.ip(), &silent, tell.clone());
                }
            }
            for (stream, from, arrival) in told.try_iter() {
                crowd.take(Some((stream, from)), arrival, &own);
            }
            if crowd.wrong.is_some() {
                until = until.min(Instant::now() + SOON);
            }
            if Instant::now() >= until {
                break;
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        crowd.end(all)
    }

    /// Goes to the place and waits there for the others; done by all processes but the first.
    pub(super) fn attend(&self, own: &Arrival) -> Met {
        let until = Instant::now() + self.within;
        loop {
            // the first process may have begun to wait when this one had waited for long
            let last = match self.visit(own, Instant::now() + self.within + 2 * SOON) {
                Ok(Answer::Addresses(addresses)) if addresses.len() == own.processes => {
                    return Met::Addresses(addresses);
                }
                Ok(Answer::Addresses(_)) => "something else answers".to_owned(),
                Ok(Answer::End) => return Met::SaidElsewhere,
                Err(error) => error.to_string(),
            };
            if Instant::now() >= until {
                let (place, seconds) = (&self.place, self.within.as_secs_f64());
                return Met::Nobody(format!(
                    "the first process was not found at {place} within {seconds:.0} s ({last}): is it there? Say where with --rendezvous host:port"
                ));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn visit(&self, own: &Arrival, until: Instant) -> std::io::Result<Answer> {
        let mut last = std::io::Error::other("the host has no address");
        for address in self.place.to_socket_addrs()? {
            match TcpStream::connect_timeout(&address, SOON) {
                Ok(mut stream) => {
                    writeln!(stream, "{}", serde_json::to_string(own)?)?;
                    let most = LONGEST + 300 * own.processes;
                    return Ok(serde_json::from_str(&read_line(&mut stream, most, until)?)?);
                }
                Err(error) => last = error,
            }
        }
        Err(last)
    }
}

/// Who has come so far.
struct Crowd<'m> {
    meeting: &'m Meeting,
    here: BTreeMap<usize, (Option<TcpStream>, String)>,
    turned_away: Vec<TcpStream>,
    wrong: Option<String>,
}

impl Crowd<'_> {
    /// Takes in a process; the first one comes without a connection.
    fn take(&mut self, from: Option<(TcpStream, IpAddr)>, arrival: Arrival, own: &Arrival) {
        let Arrival { process, processes, plan, port, wrong, .. } = arrival;
        let (stream, ip) = from.unzip();
        let fault = if let Some(wrong) = wrong {
            Some(format!("process {process}: {wrong}"))
        } else if processes != own.processes || process >= processes {
            Some(format!(
                "process {process} says that there are {processes} processes, and process 0 that there are {}",
                own.processes
            ))
        } else if plan != own.plan {
            Some(format!(
                "process {process} has another plan than process 0: give all of them the same files"
            ))
        } else if self.here.get(&process).is_some_and(|(there, _)| there.as_ref().is_none_or(is_open)) {
            Some(format!("two processes say that they are process {process}: each needs a number of its own"))
        } else {
            None
        };
        if let Some(fault) = fault {
            self.wrong.get_or_insert(fault);
            if process >= own.processes || self.here.contains_key(&process) {
                return self.turned_away.extend(stream);
            }
        }
        self.here.insert(process, (stream, self.meeting.address(ip, port)));
    }

    /// Tells everyone how it ended.
    fn end(mut self, all: usize) -> Result<Vec<String>, String> {
        let missing: Vec<usize> = (0..all).filter(|process| !self.here.contains_key(process)).collect();
        if !missing.is_empty() {
            let (place, seconds) = (&self.meeting.place, self.meeting.within.as_secs_f64());
            self.wrong.get_or_insert_with(|| {
                let first: Vec<String> = missing.iter().take(10).map(usize::to_string).collect();
                let more = if missing.len() > first.len() { ", …" } else { "" };
                format!(
                    "{} of {all} processes did not come to {place} within {seconds:.0} s: {}{more}; all must be started at about the same time",
                    missing.len(),
                    first.join(", ")
                )
            });
        }
        let (streams, addresses): (Vec<_>, Vec<_>) = self.here.into_values().unzip();
        let (answer, result) = match self.wrong {
            Some(wrong) => (Answer::End, Err(wrong)),
            None => (Answer::Addresses(addresses.clone()), Ok(addresses)),
        };
        let line = serde_json::to_string(&answer).unwrap_or_default() + "\n";
        for mut stream in streams.into_iter().flatten().chain(self.turned_away) {
            // who is gone by now is missed by its neighbours
            drop(stream.set_write_timeout(Some(SOON)).and_then(|()| stream.write_all(line.as_bytes())));
        }
        result
    }
}

impl Meeting {
    /// Where others find a process that came from this address. One that came from this machine itself is
    /// found where the first one is.
    fn address(&self, ip: Option<IpAddr>, port: u16) -> String {
        match ip.as_ref().map(IpAddr::to_canonical).filter(|ip| !ip.is_loopback()) {
            Some(ip) => SocketAddr::new(ip, port).to_string(),
            None => match self.place.rsplit_once(':') {
                Some((host, _)) => format!("{host}:{port}"), // an IPv6 address has its brackets there
                None => format!("{}:{port}", self.place),
            },
        }
    }
}

/// Whether a host is this machine, as it calls itself.
pub(super) fn is_this_machine(host: &str) -> bool {
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether the other side of a connection that says nothing more is still there.
fn is_open(stream: &TcpStream) -> bool {
    let quiet = stream.set_nonblocking(true).and_then(|()| stream.peek(&mut [0]));
    let open = quiet.is_err_and(|error| error.kind() == std::io::ErrorKind::WouldBlock);
    stream.set_nonblocking(false).is_ok() && open
}

/// Reads an arrival on a thread, which ends soon whatever comes.
fn listen_to(
    mut stream: TcpStream,
    from: IpAddr,
    silent: &Arc<AtomicUsize>,
    tell: Sender<(TcpStream, IpAddr, Arrival)>,
) {
    let count = Arc::clone(silent);
    count.fetch_add(1, Ordering::Relaxed);
    let listen = move || {
        let line = stream
            .set_nonblocking(false)
            .and_then(|()| read_line(&mut stream, LONGEST, Instant::now() + SOON));
        let arrival = line.ok().and_then(|line| serde_json::from_str::<Arrival>(&line).ok());
        if let Some(arrival) = arrival.filter(|arrival| arrival.oneway_meet == VERSION) {
            let _ = tell.send((stream, from, arrival)); // the meeting may be over
        }
        count.fetch_sub(1, Ordering::Relaxed);
    };
    if std::thread::Builder::new().name("arrival".to_owned()).spawn(listen).is_err() {
        silent.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Reads a line of at most this many bytes.
fn read_line(stream: &mut TcpStream, most: usize, until: Instant) -> std::io::Result<String> {
    use std::io::{Error, ErrorKind};
    let mut line = vec![];
    let mut buffer = [0; 4096];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let read = match stream.read(&mut buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            read => read?,
        };
        line.extend_from_slice(&buffer[..read]);
        if let Some(end) = line.iter().position(|byte| *byte == b'\n') {
            line.truncate(end);
            return String::from_utf8(line).map_err(|_| Error::other("something else answers"));
        }
        if read == 0 || line.len() > most {
            return Err(Error::other("the connection ended"));
        }
    }
}

#[cfg(test)]
mod tests;
