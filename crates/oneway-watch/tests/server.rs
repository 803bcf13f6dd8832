//! The server, as browsers and others meet it.
#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use oneway_watch::hub::Hub;
use oneway_watch::server::Server;

fn start() -> (Arc<Hub>, Server) {
    let hub = Arc::new(Hub::default());
    let server = Server::start(None, Arc::clone(&hub)).unwrap();
    (hub, server)
}

fn connect(server: &Server) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", server.port())).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// The answer to a request, as far as it comes.
fn ask(server: &Server, request: &[u8]) -> String {
    let mut stream = connect(server);
    let _ = stream.write_all(request); // it may be closed before all is said
    let mut answer = vec![];
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

fn get(server: &Server, path: &str, host: &str) -> String {
    ask(server, format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())
}

/// Events from now on, line by line.
fn events(server: &Server) -> impl Iterator<Item = String> + use<> {
    let mut stream = connect(server);
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    BufReader::new(stream).lines().map_while(Result::ok).filter(|line| !line.is_empty())
}

#[test]
fn the_page_is_given_to_this_machine_and_nothing_else_to_anybody() {
    let (_, server) = start();
    let page = get(&server, "/", &format!("127.0.0.1:{}", server.port()));
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n") && page.ends_with("</html>\n"), "{page:.200}");
    for said in ["Content-Security-Policy: default-src 'none'", "nosniff", "no-store", "same-origin"] {
        assert!(page.contains(said), "{said}");
    }
    let status = |answer: String| answer.get(9..12).unwrap_or_default().to_owned();
    assert_eq!(status(get(&server, "/", "evil.example")), "421", "a name that was made to point here");
    assert_eq!(status(get(&server, "/events", "evil.example")), "421");
    for path in ["/../../etc/passwd", "/..%2f..%2fetc/passwd", "/page.js", "/events/", "/?x=1"] {
        assert_eq!(status(get(&server, path, "localhost")), "404", "{path}");
    }
    let post = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\nx=1";
    assert_eq!(status(ask(&server, post)), "405");
    let long = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX: {}", "x".repeat(9000));
    let answer = ask(&server, long.as_bytes());
    assert!(answer.is_empty() || status(answer) == "431", "the rest may be cut off");
    let endless = vec![b'x'; 1 << 22];
    assert!(ask(&server, &endless).len() < 1000);
    assert_eq!(status(ask(&server, b"\x16\x03\x01\r\n\r\n")), "400", "not HTTP");
    assert_eq!(status(get(&server, "/", "localhost")), "200", "and it goes on");
}

#[test]
fn a_page_is_told_all_there_is_and_then_what_changes() {
    let (hub, server) = start();
    hub.publish("head", &"one");
    hub.publish("gone", &1);
    hub.retain(|name| name != "gone");
    let mut events = events(&server).skip_while(|line| line != "event: begin");
    let expected =
        ["event: begin", "data:", "data: {\"name\":\"head\",\"value\":\"one\"}", "event: ready", "data:"];
    assert_eq!(events.by_ref().take(5).collect::<Vec<_>>(), expected);
    assert!(hub.is_watched());
    hub.publish("head", &"two\n\ndata: not yours");
    let next: Vec<String> = events.by_ref().take(3).collect();
    assert_eq!(next[0], "data: {\"name\":\"head\",\"value\":\"two\\n\\ndata: not yours\"}");
    assert_eq!(next[1..], ["event: beat", "data:"]);
    drop(server);
    let began = Instant::now();
    assert!(events.all(|line| line.starts_with("event: beat") || line == "data:"), "nothing more");
    assert!(began.elapsed() < Duration::from_secs(5), "it ends with the server");
}

#[test]
fn who_is_slow_is_not_waited_for() {
    let (hub, server) = start();
    // requests that never end
    let slow: Vec<TcpStream> = (0..20).map(|_| connect(&server)).collect();
    slow.iter().for_each(|mut stream| stream.write_all(b"GET / HT").unwrap());
    // pages that take nothing of what they are sent, and it is more than the system keeps for them
    hub.publish("head", &"x".repeat(1 << 23));
    let deaf: Vec<TcpStream> = (0..20).map(|_| connect(&server)).collect();
    deaf.iter().for_each(|mut s| s.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap());
    let began = Instant::now();
    assert!(get(&server, "/", "localhost").starts_with("HTTP/1.1 200"));
    assert!(events(&server).any(|line| line == "event: ready"), "another page is told all of it");
    assert!(began.elapsed() < Duration::from_secs(2), "{:?}", began.elapsed());
    for mut stream in slow {
        assert!(matches!(stream.read(&mut [0; 64]), Ok(0) | Err(_)), "no answer to half a request");
    }
    assert!(began.elapsed() < Duration::from_secs(10), "they are disconnected: {:?}", began.elapsed());
    let until = Instant::now() + Duration::from_secs(20);
    while hub.is_watched() {
        assert!(Instant::now() < until, "deaf pages are disconnected");
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(deaf);
}

#[test]
fn many_come_and_no_more_than_some_are_let_in() {
    let (hub, server) = start();
    hub.publish("head", &1);
    let pages: Vec<_> = (0..60).map(|_| events(&server)).collect();
    let told = pages.into_iter().map(|mut page| (page.any(|line| line == "event: ready"), page));
    let told: Vec<_> = told.collect();
    assert!(told.iter().all(|(told, _)| *told), "sixty at a time");
    let more: Vec<TcpStream> = (0..40).map(|_| connect(&server)).collect();
    let turned_away = more.into_iter().filter_map(|mut stream| stream.read(&mut [0; 8]).ok()).count();
    assert!(turned_away >= 36, "{turned_away} are turned away at once, four may wait their two seconds");
    drop(told);
    let until = Instant::now() + Duration::from_secs(10);
    while !get(&server, "/", "localhost").starts_with("HTTP/1.1 200") {
        assert!(Instant::now() < until, "there is room again when they are gone");
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn a_port_in_use_is_refused() {
    let (hub, server) = start();
    let error = Server::start(Some(server.port()), hub).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::AddrInUse);
}
