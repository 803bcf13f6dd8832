//! `oneway watch`, and runs that show themselves: what is served, what is refused, and that results do not
//! change. The page itself is used in a browser by `scripts/check-watch`.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{EXPERIMENT, Lab, Results, assert_refused, changed, names_in, stderr};

/// A run that takes hours.
const LONG: &str = r#"
[problem]
kind = "quadratic"
dim = 4
[run]
agents = 8
iterations = 4_000_000_000
record_every = 1000
[[topology]]
kind = "ring"
[[method]]
name = "SMTPP"
kind = "smtpp"
step = 0.01
"#;

/// A process that ends with the test.
struct Running(Child);

impl Running {
    fn new(mut command: Command) -> Self {
        Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
    }

    /// Presses Ctrl-C; the exit code.
    fn interrupt(&mut self) -> Option<i32> {
        assert!(Command::new("kill").args(["-INT", &self.0.id().to_string()]).status().unwrap().success());
        let until = Instant::now() + Duration::from_secs(20);
        while self.0.try_wait().unwrap().is_none() {
            assert!(Instant::now() < until, "Ctrl-C does not end it");
            std::thread::sleep(Duration::from_millis(20));
        }
        self.0.wait().unwrap().code()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The port in a line such as `http://127.0.0.1:4000/`.
fn port_in(line: &str) -> u16 {
    let address = line.split("http://127.0.0.1:").nth(1).unwrap_or_else(|| panic!("no address in {line:?}"));
    address.split('/').next().unwrap().parse().unwrap()
}

/// `oneway watch`, and its port.
fn watch(lab: &Lab, arguments: &[&str]) -> (Running, u16) {
    let mut watch = Running::new(lab.command(&[&["watch"], arguments].concat()));
    let mut line = String::new();
    BufReader::new(watch.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let port = port_in(&line);
    (watch, port)
}

/// Documents as they come, until one is what is wanted.
fn wait_for(port: u16, what: &str, wanted: impl Fn(&str, &Value) -> bool) -> Value {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    stream.write_all(b"GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        let Some(text) = line.strip_prefix("data: ") else { continue };
        let document: Value = serde_json::from_str(text).unwrap();
        if wanted(document["name"].as_str().unwrap(), &document["value"]) {
            return document["value"].clone();
        }
    }
    panic!("no document says: {what}")
}

/// With `--live` or without: the same curves, the same hashes; nothing else looks at what it shows.
#[test]
fn results_do_not_depend_on_whether_a_run_shows_itself() {
    let lab = Lab::new();
    let quiet = lab.results(EXPERIMENT, &["--fresh"]);
    let shown = lab.run(EXPERIMENT, &["--fresh", "--live"]);
    assert!(shown.status.success() && stderr(&shown).is_empty(), "{}", stderr(&shown));
    let folder = lab.path("results");
    assert_eq!(names_in(&folder), ["cells", "curves.csv", "live", "summary.json"]);
    assert_eq!(names_in(&folder.join("live")).len(), 2 + 2, "two cells, the run, and its lock");
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("curves.csv"), quiet.csv);
    let verified = lab.oneway(&["verify", "results"]);
    assert!(verified.status.success(), "{}", stderr(&verified));

    let (mut watch, port) = watch(&lab, &["results"]);
    let head = wait_for(port, "done", |name, value| name == "head" && value["state"] == "ended");
    assert_eq!((&head["title"], &head["about"]), (&"results".into(), &"done".into()));
    let agents = wait_for(port, "agents", |name, _| name == "agents/0-0");
    assert_eq!(agents["values"]["distance"].as_array().unwrap().len(), 4);
    assert_eq!(watch.interrupt(), Some(0));

    let again = lab.results(EXPERIMENT, &[]);
    assert_eq!(again.csv, quiet.csv, "and a run that does not show itself leaves nothing of it behind");
}

/// What was never shown live is shown from its results.
#[test]
fn finished_results_are_shown_too() {
    let lab = Lab::new();
    let results = lab.results(EXPERIMENT, &[]);
    let (_watch, port) = watch(&lab, &["results"]);
    let head = wait_for(port, "finished", |name, value| name == "head" && value["state"] == "ended");
    assert!(head["notes"][0].as_str().unwrap().contains("--live"), "{head}");
    let curve = wait_for(port, "a curve", |name, _| name == "curve/0-1");
    let last = curve["y"]["loss"]["values"].as_array().unwrap().last().unwrap().as_f64().unwrap();
    let rows = results.rows();
    let measured: f64 = rows[7][4].parse().unwrap();
    assert!((last - measured).abs() < 1e-6 * measured, "{last} {measured}");
    let network = wait_for(port, "a network", |name, _| name == "network/0-0");
    assert_eq!(network["links"].as_array().unwrap().len(), 4, "a ring of four");
    let cell = wait_for(port, "a cell", |name, _| name == "cell/0-1");
    assert_eq!((&cell["status"], &cell["round"]), (&"completed".into(), &25.into()));
    assert!(cell["laws"].as_array().unwrap().iter().all(|law| law["holds"] == true), "{cell}");

    // two folders side by side, and a folder of folders
    let other = lab.run(EXPERIMENT, &["--out", "other", "--set", "run.seed=2"]);
    assert!(other.status.success(), "{}", stderr(&other));
    for folders in [&["results", "other"][..], &["."]] {
        let (_watch, port) = watch(&lab, folders);
        let cell = wait_for(port, "the other's", |name, _| name == "cell/1-0");
        assert!(["results", "other"].contains(&cell["group"].as_str().unwrap()), "{cell}");
    }
}

#[test]
#[cfg(unix)]
fn the_page_outlives_the_run_and_follows_the_next() {
    let lab = Lab::new();
    lab.write("long.toml", LONG);
    let begin = || {
        let run =
            Running::new(lab.command(&["run", "long.toml", "--out", "results", "--no-report", "--live"]));
        let until = Instant::now() + Duration::from_secs(60);
        while !lab.path("results/live/run.json").exists() {
            assert!(Instant::now() < until, "it does not begin");
            std::thread::sleep(Duration::from_millis(10));
        }
        run
    };
    let run = begin();
    let (mut watch, port) = watch(&lab, &["results"]);
    let moving = |name: &str, value: &Value| name == "cell/0-0" && value["round"].as_u64() > Some(0);
    let cell = wait_for(port, "it runs", moving);
    assert_eq!(cell["status"], "running");
    wait_for(port, "a curve", |name, value| {
        name == "curve/0-0" && value["y"]["loss"]["values"][1].is_number()
    });
    wait_for(port, "agents", |name, value| {
        name == "agents/0-0" && value["values"]["distance"][7].is_number()
    });

    // another one into the same folder is refused while this one shows itself
    let second = lab.oneway(&["run", "long.toml", "--out", "results", "--no-report", "--live"]);
    assert_eq!(second.status.code(), Some(2));
    assert!(stderr(&second).contains("another run shows itself there"), "{}", stderr(&second));

    drop(run); // SIGKILL
    let is = |state: &'static str| move |name: &str, value: &Value| name == "head" && value["state"] == state;
    wait_for(port, "it died", is("died"));
    wait_for(port, "it was cut", |name, value| name == "cell/0-0" && value["status"] == "cut");
    let mut run = begin();
    wait_for(port, "it runs again", is("running"));
    wait_for(port, "it goes on", |name, value| moving(name, value) && value["status"] == "running");
    assert_eq!(run.interrupt(), Some(130));
    let head = wait_for(port, "it was interrupted", is("died"));
    assert!(head["about"].as_str().unwrap().contains("interrupted"), "{head}");
    fs::remove_dir_all(lab.path("results")).unwrap();
    std::thread::sleep(Duration::from_millis(600));
    wait_for(port, "the page is still there", |name, _| name == "head");
    assert_eq!(watch.interrupt(), Some(0));
}

#[test]
#[cfg(unix)]
fn a_run_serves_its_own_page_and_at_the_same_place_the_next_time() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    let mut ports = vec![];
    for arguments in [&["--fresh"][..], &[]] {
        let all =
            [&["run", "experiment.toml", "--out", "results", "--no-report", "--watch"], arguments].concat();
        let mut run = Running::new(lab.command(&all));
        let mut lines = BufReader::new(run.0.stderr.take().unwrap()).lines();
        let port = port_in(&lines.next().unwrap().unwrap());
        assert!(lines.next().unwrap().unwrap().contains("done"), "it stays when the run is done");
        wait_for(port, "done", |name, value| name == "head" && value["state"] == "ended");
        wait_for(port, "cells", |name, value| name == "cell/0-1" && value["status"] == "completed");
        assert_eq!(run.interrupt(), Some(0));
        ports.push(port);
    }
    assert_eq!(ports[0], ports[1]);
    assert_eq!(Results::read_shown(&lab.path("results")).rows().len(), 8);
}

#[test]
fn what_cannot_be_shown_is_refused_and_nothing_is_written() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    fs::create_dir(lab.path("empty")).unwrap();
    fs::create_dir(lab.path("broken")).unwrap();
    fs::create_dir(lab.path("broken/live")).unwrap();
    lab.write("broken/live/run.json", "{\"format\":1,");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let before = lab.listing();
    let refused = |arguments: &[&str], words: &[&str]| {
        assert_refused(&lab, &before, &lab.soon(arguments), words);
    };
    refused(&["watch", "nowhere"], &["nowhere", "No such file"]);
    refused(&["watch", "experiment.toml"], &["experiment.toml"]);
    refused(&["watch", "empty"], &["empty has no results", "summary.json", "--live"]);
    refused(&["watch", "broken"], &["broken has no results"]);
    refused(
        &["run", "experiment.toml", "--out", "new", "--watch", "--port", &port],
        &[&port, "in use", "--port"],
    );
    let (run, far) = (["run", "experiment.toml", "--port", "4000"], ["watch", "empty", "--port", "70000"]);
    for (arguments, word) in [(&run[..], "--watch"), (&far, "70000"), (&["watch"], "DIR")] {
        let output = lab.soon(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(word), "{}", stderr(&output));
        assert_eq!(lab.listing(), before, "{arguments:?}");
    }
    let results = lab.run(&changed(EXPERIMENT, "iterations = 25", "iterations = 5"), &[]);
    assert!(results.status.success(), "{}", stderr(&results));
    let before = lab.listing();
    assert_refused(&lab, &before, &lab.soon(&["watch", "results", "--port", &port]), &[&port, "in use"]);
}
