//! `[run] precision`: half the bytes, the same curves to single precision, and results that say what they
//! are.
#![allow(clippy::unwrap_used)]

use crate::common::{EXPERIMENT, Lab, assert_refused, changed};

const LINE: &str = "record_every = 10";

/// The experiment in single precision.
fn single() -> String {
    changed(EXPERIMENT, LINE, "record_every = 10\nprecision = \"f32\"")
}

#[test]
fn single_precision_follows_double_with_half_the_bytes_and_says_so() {
    let lab = Lab::new();
    let double = lab.results(EXPERIMENT, &[]);
    let explicit = lab.results(&changed(EXPERIMENT, LINE, "record_every = 10\nprecision = \"f64\""), &[]);
    assert_eq!(double.csv, explicit.csv, "f64 is the default, and its curves have no column more");
    assert_eq!(double.summary["entries"][0]["precision"], "f64");

    let single = lab.results(&single(), &[]);
    assert_eq!(single.summary["entries"][0]["precision"], "f32");
    assert!(single.csv.lines().next().unwrap().ends_with(",run.precision"));
    for cell in single.cells() {
        assert!(cell["state_hash"].as_str().unwrap().starts_with("f32:"), "{cell}");
    }
    let number = |row: &[&str], column: usize| row[column].parse::<f64>().unwrap();
    for (row, other) in single.rows().iter().zip(double.rows()) {
        assert_eq!(*row.last().unwrap(), "f32");
        assert_eq!(2.0 * number(row, 11), number(&other, 11), "bytes");
        let (loss, expected) = (number(row, 4), number(&other, 4));
        assert!((loss - expected).abs() <= 1e-5 * expected, "{loss} for {expected}");
    }
    assert_ne!(single.rows()[2][4], double.rows()[2][4], "it was really computed in single precision");
}

#[test]
fn what_has_no_single_precision_is_refused_with_the_reason() {
    let lab = Lab::new();
    let with = |line: &str, by: &str| changed(&single(), line, by);
    for (experiment, reason) in [
        (with("precision = \"f32\"", "precision = \"f16\""), "f64"),
        (with("precision = \"f32\"", "precision = 32"), "\"f64\" or \"f32\""),
        (with("momentum = 0.1", "momentum = 0.1\ncompress = \"top-k\""), "no single precision"),
        (with("kind = \"ring\"", "kind = \"ring\"\nloss = 0.1"), "links that do not fail"),
    ] {
        lab.write("experiment.toml", experiment);
        let before = lab.listing();
        assert_refused(
            &lab,
            &before,
            &lab.oneway(&["run", "experiment.toml", "--out", "results"]),
            &[reason],
        );
    }
    lab.write("experiment.toml", single());
    let before = lab.listing();
    let refused = lab.oneway(&["certify", "experiment.toml", "--out", "results"]);
    assert_refused(&lab, &before, &refused, &["theory is checked in \"f64\""]);
}
