//! The examples run and print what they promise.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;
use std::process::Command;

/// What an example prints. `cargo test` builds the examples beside the tests; a single test target does not.
fn output(name: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let target: PathBuf = tests.parent().and_then(|deps| deps.parent()).unwrap().to_owned();
    let example = target.join("examples").join(name).with_extension(std::env::consts::EXE_EXTENSION);
    assert!(example.exists(), "{} is not built: run `cargo build -p oneway --examples`", example.display());
    let output = Command::new(example).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    assert!(output.status.success(), "{name}: {}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stdout)
}

/// The last number of a line that holds one.
fn last_number(line: &str) -> f64 {
    line.split_whitespace().rev().find_map(|word| word.parse().ok()).unwrap()
}

#[test]
fn quick_start_finds_the_minimiser_and_conserves() {
    let output = output("quick_start");
    let end: Vec<f64> =
        output.lines().last().unwrap().split_whitespace().map(|n| n.parse().unwrap()).collect();
    assert!(end[0] == 600.0 && end[1] < 1e-20 && end[2] < 1e-20 && end[3] < 1e-14, "{output}");
}

#[test]
fn own_digraph_is_mended_and_averages() {
    let output = output("own_digraph");
    for words in ["roots: [0, 1, 2]; strongly connected: false", "(3, ", "every agent is at [1.5"] {
        assert!(output.contains(words), "{output}");
    }
}

#[test]
fn own_problem_heeds_no_outlier() {
    let output = output("own_problem");
    let lines: Vec<&str> = output.lines().collect();
    assert!(lines[0].contains("mean") && last_number(lines[0]) > 10.0, "{output}");
    for line in &lines[1..] {
        assert!(line.contains("Completed, agent 0 is at 0.") && last_number(line) < 0.1, "{output}");
    }
    assert_eq!(lines.len(), 3, "{output}");
}

#[test]
fn own_method_passes_every_check() {
    let output = output("own_method");
    assert!(output.starts_with("aug-dgm: ok\n"), "{output}");
    for check in oneway::testing::CHECKS {
        assert!(output.contains(check.name), "{output}");
    }
}

/// … and is one file of at most 45 lines of code, its registry entry included.
#[test]
fn own_method_is_short() {
    let text = include_str!("../examples/own_method.rs");
    let (method, _) = text.split_once("fn main()").unwrap();
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim().starts_with("//");
    let lines = method.lines().filter(is_code).count();
    assert!(lines <= 45, "{lines} lines");
}

#[test]
fn observe_and_stop_stops_the_method_that_tracks() {
    let output = output("observe_and_stop");
    assert!(
        output.contains("push-pull: near enough after ") && output.contains("sgp: Completed, and not"),
        "{output}"
    );
}

#[test]
fn ask_the_theory_and_it_is_right() {
    let output = output("ask_the_theory");
    let rows: Vec<&str> = output.lines().filter(|line| line.contains("verges")).collect();
    assert_eq!(rows.len(), 4, "{output}");
    for row in rows {
        assert!(row.trim_end().ends_with("converges    diverges"), "{output}");
    }
}
