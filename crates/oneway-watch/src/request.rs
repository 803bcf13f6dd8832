//! What a browser asks for: read with bounds, and believed in nothing.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// The longest time for a request to arrive.
const TIMEOUT: Duration = Duration::from_secs(2);

/// The longest request, in bytes.
const LONGEST: usize = 8192;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asked {
    Page,
    Events,
}

/// Why it is not given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    TooLong,
    NotHttp,
    OtherMethod,
    OtherHost,
    NotThere,
}

impl Refused {
    /// Status and reason.
    pub(crate) fn status(self) -> &'static str {
        match self {
            Refused::TooLong => "431 Request Header Fields Too Large",
            Refused::NotHttp => "400 Bad Request",
            Refused::OtherMethod => "405 Method Not Allowed",
            Refused::OtherHost => "421 Misdirected Request",
            Refused::NotThere => "404 Not Found",
        }
    }

    /// What to do about it.
    pub(crate) fn about(self) -> &'static str {
        match self {
            Refused::TooLong => "this is a page for browsers, whose requests are short\n",
            Refused::NotHttp => "this is a page for browsers\n",
            Refused::OtherMethod => "this page can only be looked at: GET\n",
            Refused::OtherHost => "this page is for this machine only: 127.0.0.1 or localhost\n",
            Refused::NotThere => "there is only /\n",
        }
    }
}

/// Reads a request. An error is a client that went away or took too long.
pub(crate) fn read(stream: &mut TcpStream) -> io::Result<Result<Asked, Refused>> {
    let until = Instant::now() + TIMEOUT;
    let mut text = vec![];
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        let mut piece = [0; 1024];
        match stream.read(&mut piece)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => text.extend_from_slice(&piece[..read]),
        }
        // the end may lie across two pieces
        if text.windows(4).rev().take(1024 + 3).any(|end| end == b"\r\n\r\n") {
            return Ok(parse(&text));
        }
        if text.len() > LONGEST {
            return Ok(Err(Refused::TooLong));
        }
    }
}

/// What a whole request asks for.
fn parse(text: &[u8]) -> Result<Asked, Refused> {
    let text = std::str::from_utf8(text).map_err(|_| Refused::NotHttp)?;
    let (head, _) = text.split_once("\r\n\r\n").ok_or(Refused::NotHttp)?;
    let mut lines = head.split("\r\n");
    let first: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
    let &[method, path, version] = &first[..] else { return Err(Refused::NotHttp) };
    if !["HTTP/1.1", "HTTP/1.0"].contains(&version) {
        return Err(Refused::NotHttp);
    }
    let fields = lines.map(|line| line.split_once(':').ok_or(Refused::NotHttp));
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    let mut hosts = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host"));
    // a page of somebody else, whose name was made to point here, says its own name
    match (hosts.next(), hosts.next()) {
        (Some((_, host)), None) if is_this_machine(host.trim()) => {}
        _ => return Err(Refused::OtherHost),
    }
    if method != "GET" {
        return Err(Refused::OtherMethod);
    }
    match path {
        "/" => Ok(Asked::Page),
        "/events" => Ok(Asked::Events),
        _ => Err(Refused::NotThere),
    }
}

/// Any port: a tunnel may have another one at its near end.
fn is_this_machine(host: &str) -> bool {
    let name = match host.rsplit_once(':') {
        Some((name, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    ["127.0.0.1", "localhost", "[::1]"].iter().any(|known| name.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(line: &str, host: &str) -> Result<Asked, Refused> {
        parse(format!("{line}\r\nAccept: */*\r\nHost: {host}\r\n\r\n").as_bytes())
    }

    #[test]
    fn only_two_things_are_given_and_only_to_this_machine() {
        assert_eq!(ask("GET / HTTP/1.1", "127.0.0.1:4000"), Ok(Asked::Page));
        assert_eq!(ask("GET /events HTTP/1.1", "LocalHost:1"), Ok(Asked::Events));
        assert_eq!(ask("GET / HTTP/1.0", "[::1]:4000"), Ok(Asked::Page));
        assert_eq!(ask("GET / HTTP/1.1", "localhost"), Ok(Asked::Page));
        for host in
            ["evil.example", "evil.example:4000", "127.0.0.1.evil.example", "localhost:x", "", "127.0.0.1:"]
        {
            assert_eq!(ask("GET / HTTP/1.1", host), Err(Refused::OtherHost), "{host}");
        }
        for path in ["/../etc/passwd", "/%2e%2e/x", "//", "/events?x", "/Events", "*", "http://127.0.0.1/"] {
            assert_eq!(ask(&format!("GET {path} HTTP/1.1"), "localhost"), Err(Refused::NotThere), "{path}");
        }
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "get"] {
            assert_eq!(ask(&format!("{method} / HTTP/1.1"), "localhost"), Err(Refused::OtherMethod));
        }
        for line in ["", "GET", "GET /", "GET  / HTTP/1.1", "GET / HTTP/2", "GET / HTTP/1.1 x", "\u{0}"] {
            assert_eq!(ask(line, "localhost"), Err(Refused::NotHttp), "{line:?}");
        }
    }

    #[test]
    fn strange_heads_are_refused() {
        assert_eq!(parse(b"GET / HTTP/1.1\r\n\r\n"), Err(Refused::OtherHost), "who is meant?");
        let twice = b"GET / HTTP/1.1\r\nHost: localhost\r\nhost: evil.example\r\n\r\n";
        assert_eq!(parse(twice), Err(Refused::OtherHost));
        assert_eq!(parse(b"GET / HTTP/1.1\r\nno field\r\n\r\n"), Err(Refused::NotHttp));
        assert_eq!(parse(b"\xff\xfe\r\n\r\n"), Err(Refused::NotHttp));
    }
}
