//! Rounds per second on a ring of processes: agents, bare Zenoh, and plain TCP, with messages of the same size and number.
//!
//! `cargo bench -p oneway-agent --bench links` measures 8 agents with d = 123; `-- agents=3 dim=1000000 rounds=50` something else.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use zenoh::Wait;
use zenoh::qos::CongestionControl;

/// Messages that an agent sends in a round of SMTPP on a ring: one on each graph.
const MESSAGES: usize = 2;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    if let Some(("member", rest)) = arguments.first().map(String::as_str).zip(arguments.get(1..)) {
        return member(rest);
    }
    let number = |name: &str, default: usize| {
        let given = arguments.iter().find_map(|argument| argument.strip_prefix(&format!("{name}=")));
        given.map_or(default, |value| value.parse().unwrap())
    };
    let (agents, dim) = (number("agents", 8), number("dim", 123));
    let rounds = number("rounds", 10_000);
    let bytes = oneway_agent::frame::size(dim);
    println!(
        "{agents} processes in a ring, {MESSAGES} messages of {bytes} bytes each a round, {rounds} rounds"
    );
    println!("{:<12} {:>10} {:>12} {:>9}", "", "rounds/s", "MB/s a link", "waiting");
    for times in 0..number("times", 3) {
        if times > 0 {
            println!();
        }
        let [tcp, zenoh] = ["tcp", "zenoh"].map(|kind| bare(kind, agents, bytes, rounds));
        let (own, waiting) = launch(agents, dim, rounds);
        let line = |name: &str, rate: f64, waiting: &str| {
            let moved = rate * (MESSAGES * bytes) as f64 / 1e6;
            println!("{name:<12} {rate:>10.0} {moved:>12.1} {waiting:>9}");
        };
        line("plain TCP", tcp, "");
        line("bare Zenoh", zenoh, "");
        line("agents", own, &format!("{:.0} %", 100.0 * waiting));
        println!("agents have {:.2} of bare Zenoh", own / zenoh);
    }
}

/// A ring of processes that do nothing but send and receive; rounds per second.
fn bare(kind: &str, agents: usize, bytes: usize, rounds: usize) -> f64 {
    let ports: Vec<String> = {
        let held: Vec<_> = (0..agents).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        held.iter().map(|listener| listener.local_addr().unwrap().port().to_string()).collect()
    };
    let children: Vec<_> = (0..agents)
        .map(|me| {
            Command::new(std::env::current_exe().unwrap())
                .args(["member", kind, &me.to_string(), &bytes.to_string(), &rounds.to_string()])
                .args(&ports)
                .stdout(Stdio::piped())
                .spawn()
                .unwrap()
        })
        .collect();
    let seconds = children.into_iter().map(|child| {
        let output = child.wait_with_output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().parse::<f64>().unwrap()
    });
    rounds as f64 / seconds.fold(0.0, f64::max)
}

/// One process of a bare ring; prints the seconds that its rounds took.
fn member(arguments: &[String]) {
    let number = |at: usize| arguments[at].parse::<usize>().unwrap();
    let (me, bytes, rounds) = (number(1), number(2), number(3));
    let ports: Vec<u16> = arguments[4..].iter().map(|port| port.parse().unwrap()).collect();
    let seconds = match arguments[0].as_str() {
        "tcp" => tcp(me, bytes, rounds, &ports),
        _ => zenoh(me, bytes, rounds, &ports),
    };
    println!("{seconds}");
}

fn tcp(me: usize, bytes: usize, rounds: usize, ports: &[u16]) -> f64 {
    let listener = TcpListener::bind(("127.0.0.1", ports[me])).unwrap();
    let next = ports[(me + 1) % ports.len()];
    let mut to = loop {
        match TcpStream::connect(("127.0.0.1", next)) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let (mut from, _) = listener.accept().unwrap();
    to.set_nodelay(true).unwrap();
    let (arrived, arrivals) = channel();
    std::thread::spawn(move || {
        let mut buffer = vec![0; bytes];
        while from.read_exact(&mut buffer).is_ok() && arrived.send(()).is_ok() {}
    });
    let message = vec![1; bytes];
    let mut round = || {
        (0..MESSAGES).for_each(|_| to.write_all(&message).unwrap());
        (0..MESSAGES).for_each(|_| arrivals.recv().unwrap());
    };
    round();
    let began = Instant::now();
    (0..rounds).for_each(|_| round());
    began.elapsed().as_secs_f64()
}

fn zenoh(me: usize, bytes: usize, rounds: usize, ports: &[u16]) -> f64 {
    let n = ports.len();
    let endpoint = |who: usize| format!("tcp/127.0.0.1:{}", ports[who]);
    let neighbours = [(me + 1) % n, (me + n - 1) % n];
    let lower: Vec<String> = neighbours.into_iter().filter(|&who| who < me).map(endpoint).collect();
    let settings = serde_json::json!({
        "mode": "peer",
        "listen": { "endpoints": [endpoint(me)] },
        "connect": { "endpoints": lower, "timeout_ms": -1, "exit_on_failure": false, "retry": { "period_init_ms": 20 } },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
        "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
    });
    let session = zenoh::open(zenoh::Config::from_json5(&settings.to_string()).unwrap()).wait().unwrap();
    let (arrived, arrivals) = channel();
    session
        .declare_subscriber(format!("ring/{me}"))
        .callback(move |sample| arrived.send(sample.payload().len()).unwrap_or_default())
        .background()
        .wait()
        .unwrap();
    let publisher = session
        .declare_publisher(format!("ring/{}", neighbours[0]))
        .congestion_control(CongestionControl::Block)
        .express(true)
        .wait()
        .unwrap();
    // until the next is heard to listen: what is put before that is lost
    while !publisher.matching_status().wait().unwrap().matching() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let round = || {
        (0..MESSAGES).for_each(|_| publisher.put(vec![1; bytes]).wait().unwrap());
        (0..MESSAGES)
            .for_each(|_| assert_eq!(arrivals.recv_timeout(Duration::from_secs(60)).unwrap(), bytes));
    };
    round();
    let began = Instant::now();
    (0..rounds).for_each(|_| round());
    let seconds = began.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(300)); // others may still want what was put last
    seconds
}

/// Agents in a ring; rounds per second, and the share of their time that they wait.
fn launch(agents: usize, dim: usize, rounds: usize) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("ring.toml");
    let experiment = format!(
        "[problem]\nkind = \"quadratic\"\ndim = {dim}\n\
[run]\nagents = {agents}\niterations = {rounds}\nrecord_every = {rounds}\n\
[[topology]]\nname = \"ring\"\nkind = \"ring\"\n\
[[method]]\nname = \"SMTPP\"\nkind = \"smtpp\"\nstep = {{ size = 0.001 }}\n"
    );
    std::fs::write(&file, experiment).unwrap();
    let out = folder.path().join("out");
    let done = Command::new(env!("CARGO_BIN_EXE_oneway-agent"))
        .args(["launch", file.to_str().unwrap(), "--out", out.to_str().unwrap()])
        .args(["--checkpoint-every", "0"]) // rounds are measured, not disks
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let cells = std::fs::read_dir(out.join("agents")).unwrap().next().unwrap().unwrap().path();
    let finished: Vec<_> = (0..agents)
        .map(|agent| {
            oneway_agent::run::Finished::read(&cells.join(oneway_agent::layout::state_of(agent))).unwrap()
        })
        .collect();
    // all but the first round, in which everyone waits for everyone to be there; it is all waiting
    let seconds =
        finished.iter().map(|finished| finished.seconds - finished.seconds_first).fold(0.0, f64::max);
    let waited = finished.iter().map(|finished| (finished.waited - finished.seconds_first).max(0.0));
    ((rounds - 1) as f64 / seconds, waited.sum::<f64>() / (seconds * agents as f64))
}
