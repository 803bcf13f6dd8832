//! Programs of one's own as agents: their rows travel, also when one of them is killed and started again. The
//! program is this file's test `program`, which does nothing unless `oneway-agent carry` has started it.
#![allow(clippy::unwrap_used)]

mod crew;

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, Command};

use crew::{agent, complaint, output};
use oneway_agent::plan::hosts::free_addresses;
use serde_json::json;

const AGENTS: usize = 3;
const ROUNDS: u64 = 12;
/// Where a program that is to die does so, and from where it goes on: by more rounds than one agent can be
/// ahead of another.
const DIES: u64 = 8;
const GOES_ON: u64 = 4;

/// This file as a program, with words for it in variables.
fn program_in(folder: &Path, dies: bool) -> [String; 4] {
    let own = std::env::current_exe().unwrap();
    let how = if dies { "dies" } else { "lives" };
    let start = format!("FOLDER={} HOW={how}", folder.display());
    [
        "sh".into(),
        "-c".into(),
        format!("{start} exec {} --exact program --nocapture", own.display()),
        "sh".into(),
    ]
}

fn number(name: &str) -> usize {
    std::env::var(name).unwrap().parse().unwrap()
}

/// Reads four bytes that say that all is well, then these numbers.
fn read(stream: &mut UnixStream, numbers: usize) -> Result<Vec<f64>, String> {
    let mut said = [0; 4];
    stream.read_exact(&mut said).unwrap();
    let length = u32::from_ne_bytes(said) as usize;
    if length > 0 {
        let mut text = vec![0; length];
        stream.read_exact(&mut text).unwrap();
        return Err(String::from_utf8(text).unwrap());
    }
    let mut bytes = vec![0; 8 * numbers];
    stream.read_exact(&mut bytes).unwrap();
    Ok(bytes.as_chunks().0.iter().map(|number| f64::from_ne_bytes(*number)).collect())
}

/// A directed ring, a pull row of one number and a push row of two; and what must come of them.
#[test]
fn program() {
    let Ok(link) = std::env::var("ONEWAY_LINK") else { return };
    let (me, n) = (number("ONEWAY_AGENT"), number("ONEWAY_AGENTS"));
    let (before, after) = ((me + n - 1) % n, (me + 1) % n);
    let folder = std::path::PathBuf::from(std::env::var("FOLDER").unwrap());
    let pair = |other: usize| [me.min(other), me.max(other)];
    let links = json!({
        "pulls": pair(before).map(|j| (j, 0.5)), "pulled_by": pair(after),
        "pushes": pair(after).map(|j| (j, 0.5)), "pushed_by": pair(before),
    });
    let hello = json!({
        "version": 1, "run": "a", "topology": "ring", "method": "mine", "precision": "f64",
        "widths": [1, 2], "exchanges": 2, "links": [links],
    })
    .to_string();
    let mut stream = UnixStream::connect(link).unwrap();
    stream.write_all(&[&(hello.len() as u32).to_ne_bytes()[..], hello.as_bytes()].concat()).unwrap();
    read(&mut stream, 0).unwrap();

    let marker = folder.join("died");
    let dies = std::env::var("HOW").unwrap() == "dies" && me == 1;
    let first = if dies && marker.exists() { GOES_ON } else { 0 };
    for k in first..ROUNDS {
        if dies && k == DIES && first == 0 {
            std::fs::write(&marker, "").unwrap();
            std::process::exit(9);
        }
        let pull = |agent: usize| (100 * k + agent as u64) as f64;
        let push = |agent: usize| [agent as f64 + 0.25, k as f64];
        for phase in 0..2u32 {
            // in the second exchange of a round nothing is pulled
            let graphs = if phase == 0 { 3 } else { 2u32 };
            let head = [&k.to_ne_bytes()[..], &phase.to_ne_bytes(), &graphs.to_ne_bytes()].concat();
            let rows: Vec<f64> =
                if phase == 0 { [&[pull(me)][..], &push(me)].concat() } else { push(me).to_vec() };
            let bytes = rows.iter().flat_map(|x| x.to_ne_bytes());
            stream.write_all(&head.into_iter().chain(bytes).collect::<Vec<u8>>()).unwrap();
            let heard = read(&mut stream, rows.len()).unwrap();
            let half = |a: f64, b: f64| 0.5 * a + 0.5 * b;
            let [mine, theirs] = [push(me), push(before)];
            let mut expected = vec![half(mine[0], theirs[0]), half(mine[1], theirs[1])];
            if phase == 0 {
                expected.insert(0, half(pull(me), pull(before)));
            }
            assert_eq!(heard, expected, "round {k} of agent {me}");
        }
    }
    std::fs::write(folder.join(format!("done-{me}")), "").unwrap();
}

fn assert_all_done(folder: &Path) {
    (0..AGENTS).for_each(|agent| assert!(folder.join(format!("done-{agent}")).exists(), "agent {agent}"));
}

#[test]
fn rows_of_programs_travel_between_them() {
    let folder = tempfile::tempdir().unwrap();
    let done = agent()
        .args(["carry", "--agents", "3", "--patience", "300", "--"])
        .args(program_in(folder.path(), false))
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{}", complaint(&done));
    assert!(!complaint(&done).contains("refused"), "{}", complaint(&done));
    assert_all_done(folder.path());
}

/// The others wait; it makes the rows since then again, and is given those that it heard.
#[test]
fn a_program_that_was_killed_goes_on_alone() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts.toml");
    let entries: String = free_addresses(AGENTS)
        .unwrap()
        .into_iter()
        .map(|address| format!("[[agent]]\naddress = \"{address}\"\n"))
        .collect();
    std::fs::write(&hosts, entries).unwrap();
    let start = |number: usize| -> Child {
        Command::new(env!("CARGO_BIN_EXE_oneway-agent"))
            .args(["carry", "--patience", "300", "--agent", &number.to_string(), "--hosts"])
            .arg(&hosts)
            .arg("--")
            .args(program_in(folder.path(), true))
            .spawn()
            .unwrap()
    };
    let mut all: Vec<Child> = (0..AGENTS).map(start).collect();
    assert_eq!(all[1].wait().unwrap().code(), Some(9), "the code is the program's");
    all[1] = start(1);
    for (number, child) in all.iter_mut().enumerate() {
        assert!(child.wait().unwrap().success(), "agent {number}");
    }
    assert_all_done(folder.path());
}

#[test]
fn what_cannot_be_carried_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = folder.path().join("hosts.toml");
    std::fs::write(&hosts, "[[agent]]\naddress = \"127.0.0.1:7\"\n").unwrap();
    let hosts = hosts.to_str().unwrap();
    for (words, said) in [
        (&["--hosts", hosts, "--agent", "1", "--", "true"][..], "there is no agent 1: it has 1, from 0"),
        (&["--hosts", "nowhere.toml", "--agent", "0", "--", "true"], "nowhere.toml"),
        (&["--hosts", hosts, "--", "true"], "which agent is this?"),
        (&["--hosts", hosts, "--agent", "0", "--", "no such program"], "cannot start no such program"),
        (&["--hosts", hosts, "--agent", "0", "--patience", "0", "--", "true"], "must be above 0 seconds"),
        (&["--agents", "0", "--", "true"], "--agents"),
        (&["--agents", "2"], "<PROGRAM>"),
        (&["--", "true"], "--hosts"),
    ] {
        let found = Command::new(env!("CARGO_BIN_EXE_oneway-agent"))
            .arg("carry")
            .args(words)
            .env_remove("RANK")
            .output()
            .unwrap();
        assert_eq!(found.status.code(), Some(2), "{words:?}: {}", complaint(&found));
        assert!(complaint(&found).contains(said), "{words:?}: {}", complaint(&found));
    }
    // what a program says with its code is what is said
    let failed = output(&["carry", "--hosts", hosts, "--agent", "0", "--", "sh", "-c", "exit 7"]);
    assert_eq!(failed.status.code(), Some(7), "{}", complaint(&failed));
    assert_eq!(output(&["carry", "--agents", "2", "--", "sh", "-c", "exit 7"]).status.code(), Some(7));
}
