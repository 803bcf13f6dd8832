//! Links with certificates: the same bits, nobody speaks in another's name, and strangers keep nobody out.
#![allow(clippy::unwrap_used)]

mod crew;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crew::{Crew, Place, RING, SMTPP, a9a, keys, quadratic, soon};

fn plan(place: &Place, agents: usize, options: &[&str]) -> Crew {
    let keys = keys(place, agents, "keys");
    Crew::plan(place, agents, &[&["--keys", keys.to_str().unwrap()], options].concat())
}

/// Rows go both ways on every link, thousands of times: a link that is not sound for a reader and a writer at
/// once falls apart within seconds.
fn both_ways(agents: usize, rounds: u64, topology: &str, kills: &[usize]) {
    let place = Place::new(&a9a(agents, rounds, topology));
    let mut crew = plan(&place, agents, &["--checkpoint-every", "20"]);
    crew.start_all();
    for (number, &agent) in (1..).zip(kills) {
        crew.wait_for_states(agent, number * 30_000, soon());
        crew.kill(agent);
        crew.start(agent);
    }
    crew.assert_simulated(&place, soon());
    for agent in 0..agents {
        let log = crew.log(agent);
        // whoever was away was killed, or has come to its end
        let lost = log.split("all rounds are done").next().unwrap().matches(" is away").count();
        assert!(lost <= kills.len(), "agent {agent} lost {lost} links:\n{log}");
    }
}

#[test]
fn two_agents_that_hear_each_other_lose_no_link() {
    both_ways(2, 10_000, RING, &[]);
}

#[test]
fn eight_agents_lose_no_link_but_those_that_are_killed() {
    let topology = "[[topology]]\nname = \"exponential\"\nkind = \"exponential\"\n";
    both_ways(8, 1500, topology, &[3, 0, 7]);
}

/// Agent 2 with the certificate of agent 1, with one of another authority, and with none: agent 0 hears
/// nothing.
#[test]
fn nobody_speaks_in_anothers_name() {
    let place = Place::new(&quadratic(3, 200, &format!("{RING}{SMTPP}")));
    let foreign = keys(&place, 3, "foreign");
    let mut crew = plan(&place, 3, &["--patience", "6.5"]);
    let whole = std::fs::read_to_string(crew.config(2)).unwrap();
    let own = place.path("keys");
    for (from, to) in
        [("agent-2.pem", "agent-1.pem"), (own.to_str().unwrap(), foreign.to_str().unwrap()), ("tls/", "tcp/")]
    {
        let mut changed = whole.replace(from, to);
        if from == "agent-2.pem" {
            changed = changed.replace("agent-2.key", "agent-1.key");
        }
        if from == "tls/" {
            let (before, keys) = changed.split_once("[network.tls]").unwrap();
            let (_, after) = keys.split_once("\n[").unwrap();
            changed = format!("{before}[{after}"); // plain TCP
        }
        std::fs::write(crew.config(2), changed).unwrap();
        (0..3).for_each(|agent| crew.start(agent));
        let before = crew.log(0).len();
        let status = crew.wait(0, Duration::from_secs(60));
        assert_eq!(status.code(), Some(75), "{to}: {}", crew.log(0));
        let said = &crew.log(0)[before..];
        assert!(said.contains("agent 2 is away: waited for its pull row of round 0"), "{to}: {said}");
        (0..3).for_each(|agent| crew.kill(agent));
    }
    std::fs::write(crew.config(2), whole).unwrap();
    (0..3).for_each(|agent| crew.edit(agent, "patience = 6.5", "patience = 300.0"));
    crew.start_all();
    crew.assert_simulated(&place, Duration::from_secs(300));
}

/// Idle and garbage connections, a thousand each, to agents with 1,024 descriptors: who starts late and who
/// is killed get in all the same.
#[test]
fn strangers_in_crowds_keep_nobody_out() {
    let place = Place::new(&a9a(3, 4000, RING));
    let mut crew = plan(&place, 3, &["--checkpoint-every", "20"]);
    let few_descriptors = || {
        let mut command = Command::new("sh");
        let script = "ulimit -n 1024; exec \"$0\" \"$@\"";
        command.args(["-c", script, env!("CARGO_BIN_EXE_oneway-agent")]);
        command
    };
    [0, 1].into_iter().for_each(|agent| crew.start_by(agent, few_descriptors(), &[]));
    crew.wait_for_words(0, "agent 1 is there", soon());
    let crowds: Vec<Crowd> = [0, 1].map(|agent| Crowd::around(&crew.address(agent))).into();
    let in_time = Duration::from_secs(20); // a loaded machine; it takes less than one second
    crew.start_by(2, few_descriptors(), &[]);
    crew.wait_for_words(0, "agent 2 is there", in_time);
    crew.wait_for_words(1, "agent 2 is there", in_time);
    crew.wait_for_states(1, 30_000, soon());
    crew.kill(1);
    let again = Crowd::around(&crew.address(0));
    let before = crew.log(0).len();
    crew.start_by(1, few_descriptors(), &[]);
    let started = Instant::now();
    while !crew.log(0)[before..].contains("agent 1 is there") {
        assert!(started.elapsed() < in_time, "{}", crew.log(0));
        std::thread::sleep(Duration::from_millis(20));
    }
    println!("a killed agent was back after {:?}", started.elapsed()); // shown by `cargo test -- --nocapture`
    crew.assert_simulated(&place, soon());
    drop((crowds, again));
    for agent in 0..3 {
        assert!(!crew.log(agent).contains("no checkpoint"), "{}", crew.log(agent));
    }
    assert!(crew.log(0).contains("turned away"), "{}", crew.log(0));
}

/// A process with a thousand connections that say nothing and a thousand that say nonsense, kept open for as
/// long as this lives.
struct Crowd(Child);

impl Crowd {
    fn around(address: &str) -> Self {
        let place = address.replace(':', "/");
        let script = format!(
            "ulimit -n $(ulimit -Hn); \
             for i in $(seq 1000); do exec {{fd}}<>/dev/tcp/{place}; done; \
             for i in $(seq 1000); do exec {{fd}}<>/dev/tcp/{place}; echo nonsense $i >&$fd; done; \
             echo here; read"
        );
        let mut crowd = Command::new("bash");
        let crowd = crowd.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut crowd = Self(crowd.spawn().unwrap());
        let mut said = String::new();
        BufReader::new(crowd.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
        assert_eq!(said, "here\n", "all connections were made");
        crowd
    }
}

impl Drop for Crowd {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
