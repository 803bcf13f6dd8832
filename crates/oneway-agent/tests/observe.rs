//! Somebody looks on: the numbers are those of the curves, and the run does not care.
#![allow(clippy::unwrap_used)]

mod crew;

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crew::{Crew, Place, RING, a9a, agent, complaint, output, soon};
use oneway_agent::plan::hosts::free_addresses;

const ROUNDS: u64 = 3000;

/// A process that looks on, and ends with the test.
struct Observer(Child);

impl Observer {
    fn new(crew: &Crew, options: &[&str]) -> Self {
        let mut command = agent();
        command.arg("observe").arg(&crew.folder).args(options);
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// All that it printed, when it has come to its own end.
    fn said(&mut self) -> String {
        let until = Instant::now() + soon();
        let status = loop {
            if let Some(status) = self.0.try_wait().unwrap() {
                break status;
            }
            assert!(Instant::now() < until, "the observer goes on for ever");
            std::thread::sleep(Duration::from_millis(20));
        };
        let (mut said, mut complaint) = (String::new(), String::new());
        self.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        self.0.stderr.take().unwrap().read_to_string(&mut complaint).unwrap();
        assert!(status.success(), "{complaint}");
        said
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Round, loss and consensus error, a line each.
fn lines(mut observer: Observer) -> Vec<(u64, f64, f64)> {
    let text = observer.said();
    let line = |line: &str| {
        let mut words = line.split_whitespace();
        let round = words.next().unwrap().parse().unwrap();
        let [loss, consensus] = [(); 2].map(|()| words.next().unwrap().parse().unwrap());
        (round, loss, consensus)
    };
    text.lines().skip(1).map(line).collect()
}

/// The same columns of `curves.csv`. On a ring all agents count alike, so that x̄ is the mean.
fn curves(place: &Place) -> Vec<(u64, f64, f64)> {
    let text = String::from_utf8(place.simulated().0).unwrap();
    let mut lines =
        text.lines().filter(|line| !line.starts_with('#')).map(|line| line.split(',').collect::<Vec<_>>());
    let head = lines.next().unwrap();
    let column = |name: &str| head.iter().position(|found| *found == name).unwrap();
    let [round, loss, consensus] = ["iteration", "loss", "consensus_error"].map(column);
    lines
        .map(|line| {
            (line[round].parse().unwrap(), line[loss].parse().unwrap(), line[consensus].parse().unwrap())
        })
        .collect()
}

fn assert_near(found: f64, expected: f64, round: u64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1e-9),
        "round {round}: {found} and not {expected}"
    );
}

fn assert_of_curves(seen: &[(u64, f64, f64)], place: &Place) {
    let curves = curves(place);
    assert!(seen.is_sorted_by_key(|(round, ..)| *round), "{seen:?}");
    for &(round, loss, consensus) in seen {
        let expected = curves.iter().find(|(other, ..)| *other == round).unwrap();
        assert_near(loss, expected.1, round);
        assert_near(consensus, expected.2, round);
    }
}

#[test]
fn an_observer_sees_the_curves_through_a_restart() {
    let place = Place::new(&a9a(3, ROUNDS, RING));
    let mut crew = Crew::plan(&place, 3, &["--observe", "--checkpoint-every", "50"]);
    let observer = Observer::new(&crew, &[]); // before anybody is there
    crew.start_all();
    crew.wait_for_states(1, 20_000, soon());
    crew.kill(1);
    crew.start(1);
    crew.assert_simulated(&place, soon());
    let seen = lines(observer);
    assert!(seen.len() > 10, "{seen:?}");
    assert_of_curves(&seen, &place);
}

/// Several agents of one process are dialled once, and say their estimates each.
#[test]
fn agents_of_one_process_can_be_looked_at() {
    let place = Place::new(&a9a(5, 4 * ROUNDS, RING));
    let plan = place.path("plan");
    let [file, folder] = [&place.file, &plan].map(|path| path.to_str().unwrap());
    assert!(output(&["plan", file, "--out", folder, "--observe"]).status.success());
    let rendezvous = free_addresses(1).unwrap().remove(0);
    let start = |rank: usize| {
        let mut process = agent();
        process.envs([("RANK", rank.to_string()), ("WORLD_SIZE", "2".to_owned())]);
        process.env_remove("SLURM_PROCID").env_remove("OMPI_COMM_WORLD_RANK").env_remove("PMI_RANK");
        process.arg("run").arg(plan.join("plan.toml")).args(["--rendezvous", &rendezvous]);
        process.stderr(Stdio::null()).spawn().unwrap()
    };
    let mut crew = Crew { folder: plan.clone(), children: (0..2).map(|rank| Some(start(rank))).collect() };
    crew.wait_for_states(4, 5_000, soon());
    let observer = Observer::new(&crew, &[]);
    crew.assert_simulated(&place, soon());
    let seen = lines(observer);
    assert!(seen.len() > 2, "{seen:?}");
    assert_of_curves(&seen, &place);
}

/// One that does not read, and is killed: nobody waits for it.
#[test]
fn an_observer_that_stalls_and_dies_changes_nothing() {
    let place = Place::new(&a9a(3, ROUNDS, RING));
    let mut crew = Crew::plan(&place, 3, &["--observe"]);
    let observer = Observer::new(&crew, &[]);
    crew.start_all();
    crew.wait_for_states(1, 20_000, soon());
    let stop = format!("kill -STOP {}", observer.0.id());
    assert!(Command::new("sh").arg("-c").arg(stop).status().unwrap().success());
    crew.assert_simulated(&place, soon());
}

/// One that comes when there is little left to see, or whom agents leave behind, comes to an end all the
/// same.
#[test]
fn an_observer_that_is_left_alone_ends() {
    let place = Place::new(&a9a(3, 1_000_000, RING));
    let mut crew = Crew::plan(&place, 3, &["--observe"]);
    crew.start_all();
    crew.wait_for_words(0, "agent 1 is there", soon());
    let mut observer = Observer::new(&crew, &[]);
    let mut first = BufReader::new(observer.0.stdout.take().unwrap()).lines().skip(1);
    assert!(first.next().unwrap().is_ok(), "it has seen a round");
    (0..3).for_each(|agent| crew.kill(agent));
    std::thread::spawn(move || first.count()); // so that it can go on printing
    let until = Instant::now() + soon();
    while observer.0.try_wait().unwrap().is_none() {
        assert!(Instant::now() < until, "it waits for those who are gone");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_observer_needs_a_certificate_where_agents_have_them() {
    let place = Place::new(&a9a(3, ROUNDS, RING));
    let keys = crew::keys(&place, 3, "keys");
    let mut crew = Crew::plan(&place, 3, &["--observe", "--keys", keys.to_str().unwrap()]);
    // one with the certificate of an agent hears nothing
    let foreign = place.path("foreign");
    std::fs::create_dir(&foreign).unwrap();
    for (from, to) in
        [("authority.pem", "authority.pem"), ("agent-1.pem", "observer.pem"), ("agent-1.key", "observer.key")]
    {
        std::fs::copy(keys.join(from), foreign.join(to)).unwrap();
    }
    let mut impostor = Observer::new(&crew, &["--keys", foreign.to_str().unwrap()]);
    let observer = Observer::new(&crew, &["--keys", keys.to_str().unwrap()]);
    crew.start_all();
    crew.assert_simulated(&place, soon());
    let seen = lines(observer);
    assert!(seen.len() > 10, "{seen:?}");
    assert_of_curves(&seen, &place);
    let _ = impostor.0.kill();
    let mut said = String::new();
    impostor.0.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(said.lines().count(), 1, "its heading: {said}");
}

#[test]
fn those_who_may_not_be_observed_are_named() {
    let place = Place::new(&a9a(3, ROUNDS, RING));
    let crew = Crew::plan(&place, 3, &[]);
    let refused = output(&["observe", crew.folder.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(complaint(&refused).contains("plan them with --observe"), "{}", complaint(&refused));
}
