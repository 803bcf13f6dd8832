//! Cells that take long are kept on the way: whatever interrupts them, they go on within themselves, to the same
//! bytes.
#![allow(clippy::unwrap_used)]
#![cfg(unix)]

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Lab, Results, stderr};

/// One cell of some seconds.
fn experiment(rounds: u64, rest: &str) -> String {
    format!(
        "[problem]\nkind = \"quadratic\"\ndim = 20\nnoise = 0.1\n\
         [run]\nagents = 8\niterations = {rounds}\nrepetitions = 1\nrecord_every = 700\n{rest}\n\
         [[topology]]\nkind = \"ring\"\n\
         [[method]]\nkind = \"smtpp\"\nstep = 0.01\n"
    )
}

/// The files of runs on their way.
fn under_way(lab: &Lab, folder: &str) -> Vec<PathBuf> {
    let cells = fs::read_dir(lab.path(folder).join("cells")).into_iter().flatten();
    let files = cells.map(|entry| entry.unwrap().path());
    files.filter(|path| path.extension().is_some_and(|end| end == "state")).collect()
}

/// The round in the only one of them; it may be replaced at any moment.
fn kept(lab: &Lab, folder: &str) -> Option<u64> {
    let files = under_way(lab, folder);
    assert!(files.len() <= 1, "{files:?}");
    let whole = fs::read(files.first()?).ok()?;
    let head = whole.split(|byte| *byte == b'\n').next().unwrap();
    serde_json::from_slice::<Value>(head).unwrap()["k"].as_u64()
}

/// Starts a run, and waits until it has kept a round beyond `round` or has ended.
fn start(lab: &Lab, options: &[&str], round: u64) -> Child {
    let words = ["run", "experiment.toml", "--no-report", "--out", "results", "--checkpoint-every", "0.1"];
    let mut command = lab.command(&[&words[..], options].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() && kept(lab, "results").is_none_or(|kept| kept <= round) {
        let in_time = began.elapsed() < Duration::from_secs(120);
        if !in_time {
            child.kill().unwrap();
        }
        assert!(in_time, "nothing is kept");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// Interrupts a run by these signals in turn, each time when it has gone further; then lets it end.
fn survives(text: &str, options: &[&str], signals: &[&str]) {
    let lab = Lab::new();
    let whole = lab.run(text, &[options, &["--checkpoint-every", "0"]].concat());
    assert!(whole.status.success(), "{}", stderr(&whole));
    let undisturbed = Results::read_shown(&lab.path("results"));
    assert!(under_way(&lab, "results").is_empty());
    fs::rename(lab.path("results"), lab.path("undisturbed")).unwrap();
    let mut reached = 0;
    for signal in signals {
        let mut child = start(&lab, options, reached);
        let process = child.id().to_string();
        Command::new("kill").args([*signal, &process]).stderr(Stdio::null()).status().unwrap();
        assert!(
            !child.wait().unwrap().success(),
            "it ended before it was interrupted: the test shows nothing"
        );
        let now = kept(&lab, "results").unwrap();
        assert!(now > reached, "from {reached} to {now}");
        reached = now;
    }
    let done = lab.run(text, options);
    assert!(done.status.success(), "{}", stderr(&done));
    let resumed = Results::read_shown(&lab.path("results"));
    assert!(resumed.csv == undisturbed.csv, "the curves differ after {reached} rounds");
    assert_eq!(resumed.hashes(), undisturbed.hashes());
    assert!(under_way(&lab, "results").is_empty(), "nothing is left of it");
}

#[test]
fn a_cell_goes_on_within_itself_after_kills_and_interruptions() {
    survives(&experiment(400_000, ""), &["--threads", "1"], &["-KILL", "-KILL", "-INT", "-KILL"]);
}

/// With a thread to spare states are measured while rounds go on; what was measured is kept all the same.
#[test]
fn so_does_one_that_is_measured_on_the_side_and_one_of_a_share() {
    survives(&experiment(300_000, ""), &["--threads", "2"], &["-KILL", "-INT"]);
    survives(&experiment(300_000, ""), &["--threads", "2", "--shard", "1/1"], &["-KILL"]);
}

#[test]
fn so_does_one_in_single_precision_that_shows_itself() {
    let text = experiment(400_000, "precision = \"f32\"");
    survives(&text, &["--threads", "1", "--live"], &["-KILL", "-INT"]);
}

#[test]
fn what_was_kept_is_not_trusted_blindly() {
    let lab = Lab::new();
    let text = experiment(300_000, "");
    let undisturbed = lab.results(&text, &[]);
    fs::remove_dir_all(lab.path("results")).unwrap();
    lab.write("experiment.toml", &text);
    let stop = || {
        let mut child = start(&lab, &["--threads", "1"], 0);
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        under_way(&lab, "results").remove(0)
    };
    let file = stop();
    let whole = fs::read(&file).unwrap();
    let mut flipped = whole.clone();
    *flipped.last_mut().unwrap() ^= 1;
    for damaged in [&whole[..whole.len() / 2], &flipped, b"", b"{}\n"] {
        fs::write(&file, damaged).unwrap();
        let again = lab.run(&text, &[]);
        assert!(again.status.success());
        assert!(stderr(&again).contains(".state is damaged: its run begins again"), "{}", stderr(&again));
        assert!(Results::read(&lab.path("results")).csv == undisturbed.csv);
        assert!(!file.exists());
        fs::remove_dir_all(lab.path("results")).unwrap();
        fs::create_dir_all(file.parent().unwrap()).unwrap();
    }
    // a whole one of another run is not found, and one that must be fresh begins again
    let file = stop();
    let fresh = lab.run(&text, &["--fresh"]);
    assert!(fresh.status.success() && !stderr(&fresh).contains("damaged"), "{}", stderr(&fresh));
    assert!(Results::read(&lab.path("results")).csv == undisturbed.csv);
    assert!(!file.exists());
}

/// Where more than the states is on its way, nothing is kept: the cell begins again.
#[test]
fn cells_with_rows_on_their_way_and_short_ones_keep_nothing() {
    let lab = Lab::new();
    let lossy = experiment(3000, "").replace("kind = \"ring\"", "kind = \"ring\"\nloss = 0.1");
    let output = lab.run(&lossy, &["--checkpoint-every", "0.000001"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let output = lab.run(&experiment(3000, ""), &["--out", "short"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for folder in ["results", "short"] {
        assert!(under_way(&lab, folder).is_empty());
    }
    for (given, words) in [("-1", "--checkpoint-every"), ("x", "give seconds, from 0 to 1000000")] {
        let option = format!("--checkpoint-every={given}");
        let refused = lab.run(&lossy, &[&option, "--out", "none"]);
        assert_eq!(refused.status.code(), Some(2));
        assert!(stderr(&refused).contains(words) && !lab.path("none").exists(), "{}", stderr(&refused));
    }
}
