//! Rounds per second of processes that hear each other: agents, bare Zenoh, and plain TCP, with messages of
//! the same size and number.
//!
//! `cargo bench -p oneway-agent --bench links` measures a ring of 8 agents with d = 123;
//! `-- links=3 dim=1000000 rounds=50` something else: with three links each sends to those 1, 2 and 4
//! further, the exponential graph of 8.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use oneway::numeric::Precision;
use oneway_agent::disk::finished::Finished;
use zenoh::Wait;
use zenoh::qos::CongestionControl;

/// Messages that an agent sends over a link in a round of SMTPP: one on each graph.
const MESSAGES: usize = 2;

/// How much further those are that an agent sends to.
fn offsets(links: usize) -> impl Iterator<Item = usize> {
    (0..links).map(|link| 1 << link)
}

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
    let (bytes, links) = (oneway_agent::wire::frame::size(dim, Precision::F64), number("links", 1));
    let messages = MESSAGES * links;
    println!(
        "{agents} processes, {messages} messages of {bytes} bytes sent by each a round, {rounds} rounds"
    );
    println!("{:<12} {:>10} {:>12} {:>9}", "", "rounds/s", "MB/s by each", "waiting");
    for times in 0..number("times", 3) {
        if times > 0 {
            println!();
        }
        let [tcp, zenoh] = ["tcp", "zenoh"].map(|kind| bare(kind, agents, links, bytes, rounds));
        let (own, waiting) = launch(agents, links, dim, rounds);
        let line = |name: &str, rate: f64, waiting: &str| {
            let moved = rate * (messages * bytes) as f64 / 1e6;
            println!("{name:<12} {rate:>10.0} {moved:>12.1} {waiting:>9}");
        };
        line("plain TCP", tcp, "");
        line("bare Zenoh", zenoh, "");
        line("agents", own, &format!("{:.0} %", 100.0 * waiting));
        println!("agents have {:.2} of bare Zenoh", own / zenoh);
    }
}

/// Processes that do nothing but send and receive; rounds per second.
fn bare(kind: &str, agents: usize, links: usize, bytes: usize, rounds: usize) -> f64 {
    let ports: Vec<String> = {
        let held: Vec<_> = (0..agents).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        held.iter().map(|listener| listener.local_addr().unwrap().port().to_string()).collect()
    };
    let children: Vec<_> = (0..agents)
        .map(|me| {
            Command::new(std::env::current_exe().unwrap())
                .args(["member", kind])
                .args([me, links, bytes, rounds].map(|number| number.to_string()))
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

/// One bare process.
struct Member {
    me: usize,
    /// To how many it sends.
    links: usize,
    bytes: usize,
    rounds: usize,
    ports: Vec<u16>,
}

/// Is one of them; prints the seconds that its rounds took.
fn member(arguments: &[String]) {
    let number = |at: usize| arguments[at].parse::<usize>().unwrap();
    let ports = arguments[5..].iter().map(|port| port.parse().unwrap()).collect();
    let member = Member { me: number(1), links: number(2), bytes: number(3), rounds: number(4), ports };
    let seconds = match arguments[0].as_str() {
        "tcp" => tcp(&member),
        _ => zenoh(&member),
    };
    println!("{seconds}");
}

fn tcp(&Member { me, links, bytes, rounds, ref ports }: &Member) -> f64 {
    let listener = TcpListener::bind(("127.0.0.1", ports[me])).unwrap();
    let dial = |offset: usize| loop {
        match TcpStream::connect(("127.0.0.1", ports[(me + offset) % ports.len()])) {
            Ok(stream) => break stream,
            Err(_) => std::thread::sleep(Duration::from_millis(10)),
        }
    };
    let mut to: Vec<TcpStream> = offsets(links).map(dial).collect();
    to.iter().for_each(|to| to.set_nodelay(true).unwrap());
    let heard: Vec<_> = (0..links)
        .map(|_| {
            let ((mut from, _), (arrived, arrivals)) = (listener.accept().unwrap(), channel());
            std::thread::spawn(move || {
                let mut buffer = vec![0; bytes];
                while from.read_exact(&mut buffer).is_ok() && arrived.send(()).is_ok() {}
            });
            arrivals
        })
        .collect();
    let message = vec![1; bytes];
    let mut round = || {
        to.iter_mut().for_each(|to| (0..MESSAGES).for_each(|_| to.write_all(&message).unwrap()));
        heard.iter().for_each(|heard| (0..MESSAGES).for_each(|_| heard.recv().unwrap()));
    };
    round();
    let began = Instant::now();
    (0..rounds).for_each(|_| round());
    began.elapsed().as_secs_f64()
}

fn zenoh(&Member { me, links, bytes, rounds, ref ports }: &Member) -> f64 {
    let n = ports.len();
    let endpoint = |who: usize| format!("tcp/127.0.0.1:{}", ports[who]);
    let neighbours: BTreeSet<usize> =
        offsets(links).flat_map(|offset| [(me + offset) % n, (me + n - offset) % n]).collect();
    let lower: Vec<String> = neighbours.into_iter().filter(|&who| who < me).map(endpoint).collect();
    let settings = serde_json::json!({
        "mode": "peer",
        "listen": { "endpoints": [endpoint(me)] },
        "connect": { "endpoints": lower, "timeout_ms": -1, "exit_on_failure": false, "retry": { "period_init_ms": 20 } },
        "scouting": { "multicast": { "enabled": false }, "gossip": { "enabled": false } },
        "open": { "return_conditions": { "connect_scouted": false, "declares": false } },
    });
    let session = zenoh::open(zenoh::Config::from_json5(&settings.to_string()).unwrap()).wait().unwrap();
    let hear = |offset: usize| {
        let (arrived, arrivals) = channel();
        session
            .declare_subscriber(format!("ring/{}/{me}", (me + n - offset) % n))
            .callback(move |sample| arrived.send(sample.payload().len()).unwrap_or_default())
            .background()
            .wait()
            .unwrap();
        arrivals
    };
    let heard: Vec<_> = offsets(links).map(hear).collect();
    let publish = |offset: usize| {
        let publisher = session
            .declare_publisher(format!("ring/{me}/{}", (me + offset) % n))
            .congestion_control(CongestionControl::Block)
            .express(true)
            .wait()
            .unwrap();
        // until it is heard to listen: what is put before that is lost
        while !publisher.matching_status().wait().unwrap().matching() {
            std::thread::sleep(Duration::from_millis(5));
        }
        publisher
    };
    let publishers: Vec<_> = offsets(links).map(publish).collect();
    let round = || {
        for publisher in &publishers {
            (0..MESSAGES).for_each(|_| publisher.put(vec![1; bytes]).wait().unwrap());
        }
        for (heard, _) in heard.iter().flat_map(|heard| (0..MESSAGES).map(move |message| (heard, message))) {
            assert_eq!(heard.recv_timeout(Duration::from_secs(60)).unwrap(), bytes);
        }
    };
    round();
    let began = Instant::now();
    (0..rounds).for_each(|_| round());
    let seconds = began.elapsed().as_secs_f64();
    std::thread::sleep(Duration::from_millis(300)); // others may still want what was put last
    seconds
}

/// Agents with these links; rounds per second, and the share of their time that they wait.
fn launch(agents: usize, links: usize, dim: usize, rounds: usize) -> (f64, f64) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("agents.toml");
    let edges =
        (0..agents).flat_map(|from| offsets(links).map(move |offset| (from, (from + offset) % agents)));
    let edges: Vec<String> = edges.map(|(from, to)| format!("{from} {to}\n")).collect();
    std::fs::write(folder.path().join("links.txt"), edges.concat()).unwrap();
    let experiment = format!(
        "[problem]\nkind = \"quadratic\"\ndim = {dim}\n\
[run]\nagents = {agents}\niterations = {rounds}\nrecord_every = {rounds}\n\
[[topology]]\nname = \"links\"\nfile = \"links.txt\"\n\
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
            let finished = cells.join(oneway_agent::plan::layout::state_of(agent)).join(Finished::FILE);
            serde_json::from_slice::<Finished>(&std::fs::read(finished).unwrap()).unwrap()
        })
        .collect();
    // all but the first round, in which everyone waits for everyone to be there; it is all waiting
    let seconds =
        finished.iter().map(|finished| finished.seconds - finished.seconds_first).fold(0.0, f64::max);
    let waited = finished.iter().map(|finished| (finished.waited - finished.seconds_first).max(0.0));
    ((rounds - 1) as f64 / seconds, waited.sum::<f64>() / (seconds * agents as f64))
}
