//! `oneway sweep-stability`: limits over a parameter of a topology and over λ.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::common::{Lab, assert_refused, stderr, stdout};

#[track_caller]
fn limits(lab: &Lab, out: &str, arguments: &[&str]) -> String {
    let output = lab.oneway(&[&["sweep-stability", "--out", out], arguments].concat());
    assert!(output.status.success(), "{arguments:?}: {}", stderr(&output));
    assert!(stdout(&output).contains("limits.csv"));
    fs::read_to_string(lab.path(out).join("limits.csv")).unwrap()
}

#[test]
fn limits_over_petals_are_those_of_each_flower_and_do_not_depend_on_threads() {
    let lab = Lab::new();
    let arguments = ["flower", "--over", "petals=2..4:2", "--agents", "12", "--momentum", "1,0.1"];
    let one = limits(&lab, "one", &[&arguments[..], &["--threads", "1"]].concat());
    let two = limits(&lab, "two", &[&arguments[..], &["--threads", "2"]].concat());
    assert_eq!(one, two);
    let rows: Vec<Vec<&str>> = one.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0], ["petals", "graph", "method", "momentum", "c_pi", "limit_effective", "limit_raw"]);
    // two values, two graphs; Push-Pull and two momenta, ascending
    assert_eq!(rows.len(), 1 + 2 * 2 * 3);
    assert_eq!(rows[1][..4], ["2", "full", "push-pull", ""]);
    assert_eq!(rows[5][..4], ["2", "trees", "smtpp", "0.1"]);
    assert_eq!(rows[5][4], "12");
    // λ = 1 tracks gradients, one round late
    let number = |row: usize| rows[row][5].parse::<f64>().unwrap();
    for first in [1, 4, 7, 10] {
        assert!((number(first + 2) / number(first) - 1.0).abs() < 1e-4, "{:?}", rows[first]);
    }
    for file in ["limits", "gain-full", "gain-trees"] {
        for ending in ["svg", "png", "pdf"] {
            let [a, b] = ["one", "two"].map(|out| fs::read(lab.path(out).join(format!("{file}.{ending}"))));
            assert_eq!(a.unwrap(), b.unwrap(), "{file}.{ending}");
        }
    }
}

#[test]
fn agents_can_be_swept_too() {
    let csv = limits(&Lab::new(), "out", &["ring", "--over", "agents=3,5", "--graph", "lazy-trees"]);
    let c_π: Vec<&str> =
        csv.lines().filter(|l| l.contains("push-pull")).map(|l| l.split(',').nth(4).unwrap()).collect();
    assert_eq!(c_π, ["3", "5"]);
}

#[test]
fn a_value_that_falls_apart_leaves_gaps() {
    let lab = Lab::new();
    let arguments =
        ["erdos-renyi", "--over", "probability=0,0.9", "--agents", "6", "--momentum", "0.1", "--out", "out"];
    let output = lab.oneway(&[&["sweep-stability"], &arguments[..]].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let text = stdout(&output);
    assert_eq!(text.matches("no limits with probability = 0: no common root").count(), 1, "{text}");
    let csv = fs::read_to_string(lab.path("out/limits.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows[1..=2], ["0,full,push-pull,,,,", "0,full,smtpp,0.1,,,"]);
    assert!(rows[5].starts_with("0.9,full,push-pull,,") && !rows[5].ends_with(','), "{csv}");
    let map = fs::read_to_string(lab.path("out/gain-trees.svg")).unwrap();
    assert_eq!(map.matches(">–<").count(), 1);
}

#[test]
fn links_that_change_can_be_swept_in_full() {
    let csv =
        limits(&Lab::new(), "out", &["one-peer-exponential", "--over", "agents=4,8", "--graph", "full"]);
    assert_eq!(csv.lines().filter(|line| line.contains("push-pull")).count(), 2);
}

#[test]
fn what_cannot_be_swept_is_refused() {
    for (arguments, fragment) in [
        (&["flowr", "--over", "petals=1..3", "--agents", "8"][..], "did you mean `flower`"),
        (&["flower", "--over", "petal=1..3", "--agents", "8"], "petals"),
        (&["flower", "--over", "petals=3..1", "--agents", "8"], "a range goes up"),
        (&["flower", "--over", "petals=1..3"], "--agents"),
        (&["flower", "--over", "petals=1..30", "--agents", "8"], "petals"),
        (&["flower", "--over", "petals=1..3", "--agents", "8", "--momentum", "0"], "momentum"),
        (&["flower", "--over", "petals=1..3", "--agents", "8", "--momentum", "nan"], "momentum"),
        (&["flower:petals=2", "--over", "petals=1..3", "--agents", "8"], "given twice"),
        (&["ring", "--over", "agents=10,100000"], "more than 2000"),
        (&["one-peer-exponential", "--over", "agents=4,8"], "give --graph full"),
        (&["ring", "--petals", "3", "--over", "agents=4,5"], "unknown parameter of ring:agents=4 `--petals`"),
        (&["flower", "--petals", "3", "--over", "petals=1,2", "--agents", "8"], "leave out --petals"),
        (&["ring", "--agents", "8", "--over", "agents=4,5"], "leave out --agents"),
        (&["flower", "--over", "p", "--agents", "8"], "probability=0.1,0.2,0.4"),
        (
            &["erdos-renyi", "--over", "probability=0,0.01", "--agents", "20"],
            "no value of `probability` gives a network that methods work on: no common root",
        ),
    ] {
        let lab = Lab::new();
        let before = lab.listing();
        let output = lab.oneway(&[&["sweep-stability", "--out", "out"], arguments].concat());
        assert_refused(&lab, &before, &output, &[fragment]);
    }
    let output = Lab::new().oneway(&["sweep-stability", "ring", "--over", "agents=3..5", "--graph", "tree"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("did you mean `trees`"), "{}", stderr(&output));
}
