//! `oneway audit`: what it finds, that it is the same on any threads, and what it refuses.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{EXPERIMENT, Lab, assert_refused, changed, stderr};

const QUADRATIC: &str = r#"
[problem]
kind = "quadratic"
dim = 3
curvature = [0.5, 1.0]
heterogeneity = 1.0
noise = 0.5

[run]
agents = 6
iterations = 30
repetitions = 10
seed = 1

[[topology]]
name = "flower"
kind = "flower"
petals = 2

[[method]]
name = "SMTPP"
kind = "smtpp"
momentum = 0.2
step = { size = 0.05, scaling = "effective" }

[[method]]
name = "SMTPP (trees)"
kind = "smtpp"
momentum = 0.2
graph = "trees"
step = { size = 0.05, scaling = "effective" }

[[method]]
name = "decaying"
kind = "smtpp"
step = { size = 0.05, decay = 0.1, every = 10 }

[[method]]
name = "SGP"
kind = "sgp"
step = 0.05
"#;

/// Audits a study of the repository, with further arguments; the entries of its `audit.json`.
fn study(name: &str, arguments: &[&str]) -> Vec<Value> {
    let lab = Lab::new();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/studies").join(name);
    let file = file.display().to_string();
    let output = lab.oneway(&[&["audit", &*file, "--out", "results"], arguments].concat());
    assert!(output.status.success(), "{}", stderr(&output));
    let audit = fs::read_to_string(lab.path("results/audit.json")).unwrap();
    serde_json::from_str::<Value>(&audit).unwrap()["entries"].as_array().unwrap().clone()
}

fn verdict<'a>(entry: &'a Value, lemma: &str, form: &str) -> &'a str {
    let checks = entry["checks"].as_array().unwrap();
    let check = checks.iter().find(|check| check["lemma"] == lemma && check["form"] == form);
    check.unwrap()["verdict"].as_str().unwrap()
}

/// No entry violates an inequality that is not a misprint.
fn assert_sound(entries: &[Value]) {
    for entry in entries {
        for check in entry["checks"].as_array().unwrap() {
            assert!(
                check["form"] == "printed" || check["verdict"] != "violated",
                "{}: {check}",
                entry["topology"]
            );
        }
    }
}

#[test]
fn the_table_the_files_and_what_is_skipped() {
    let lab = Lab::new();
    lab.write("experiment.toml", QUADRATIC);
    let output = lab.oneway(&["audit", "experiment.toml"]);
    assert!(output.status.success() && stderr(&output).is_empty(), "{}", stderr(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    for words in [
        "smallest slack",
        "VIOLATED on 2 of 2", // Lemma 3 as printed, at k = 0
        "skipped: method \"decaying\" on topology \"flower\" has a step that changes",
        "skipped: method \"SGP\" on topology \"flower\" is sgp: the theory is SMTPP's",
        "flower, SMTPP (trees): η = ",
        "audit.json",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("SMTPP trees") && !said.contains("diverge"), "{said}");
    let out = lab.path("out/experiment/audit");
    let csv = fs::read_to_string(out.join("slack.csv")).unwrap();
    assert!(csv.starts_with("topology,method,lemma,form,k,left,right,half_interval,slack,violated\n"));
    assert!(csv.lines().skip(1).all(|line| line.split(',').count() == 10));
    assert!(csv.contains("flower,SMTPP (trees),7 row 3,corrected,29,"));
    let page = fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("flower, SMTPP (trees) (printed)") && !page.contains("SMTPP trees"));
    assert!(page.contains("The theory of SMTPP, audited") && page.contains("as printed, it fails at k = 0"));
    for file in ["slack-3.svg", "slack-6.png", "slack-7-row-2.pdf"] {
        assert!(out.join("figures").join(file).exists(), "{file}");
    }
}

/// With such a step all numbers overflow, and the corrected lemmas are none the worse for it.
#[test]
fn a_step_beyond_all_bounds_violates_nothing() {
    let lab = Lab::new();
    let experiment = QUADRATIC.replace("step = { size = 0.05, scaling = \"effective\" }", "step = 1e300");
    lab.write("experiment.toml", &experiment);
    let output = lab.oneway(&["audit", "experiment.toml", "--out", "results"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("flower, SMTPP: the runs diverge with this step: 10 of 10"), "{said}");
    assert!(said.contains("not checked: its sides overflow in every round"), "{said}");
    assert!(said.contains("10 runs of 1 round\n"), "{said}");
    let audit = fs::read_to_string(lab.path("results/audit.json")).unwrap();
    let audit: Value = serde_json::from_str(&audit).unwrap();
    let entries = audit["entries"].as_array().unwrap();
    assert_sound(entries);
    assert_eq!(
        (verdict(&entries[0], "7, row 1", "corrected"), &entries[0]["runs_diverged"]),
        ("not checked", &10.into())
    );
}

#[test]
fn same_bytes_on_any_threads() {
    let lab = Lab::new();
    lab.write("experiment.toml", QUADRATIC);
    let read = |folder: &str, threads: &str| {
        let output = lab.oneway(&["audit", "experiment.toml", "--out", folder, "--threads", threads]);
        assert!(output.status.success(), "{}", stderr(&output));
        ["audit.json", "slack.csv", "report.html", "figures/slack-5.svg"]
            .map(|file| fs::read(lab.path(folder).join(file)).unwrap())
    };
    assert!(read("one", "1") == read("two", "2"), "results depend on threads");
}

#[test]
fn the_study_of_all_lemmas_finds_the_theory_sound() {
    let entries = study("audit.toml", &["--repetitions", "40", "--set", "run.iterations=60"]);
    assert_eq!(entries.len(), 6);
    assert_sound(&entries);
    for entry in &entries {
        assert_eq!(verdict(entry, "3", "printed"), "violated");
        let trees = entry["graph"] == "trees";
        assert_eq!(verdict(entry, "6, ‖V‖²", "printed") == "violated", trees, "{}", entry["topology"]);
    }
}

#[test]
fn the_study_of_certified_steps_meets_the_theorem() {
    let entries = study("audit-certified.toml", &["--repetitions", "5", "--set", "run.iterations=200"]);
    assert_sound(&entries);
    for entry in &entries {
        assert_eq!(
            (&entry["step_is_certified"], verdict(entry, "theorem", "corrected")),
            (&Value::Bool(true), "holds")
        );
    }
}

#[test]
fn the_studies_of_misprints_find_them() {
    let six = study("lemma-6.toml", &[]);
    assert_sound(&six);
    assert_eq!((verdict(&six[0], "6", "printed"), verdict(&six[0], "6", "corrected")), ("violated", "holds"));
    let five = study("lemma-5.toml", &[]);
    assert_sound(&five);
    for entry in &five {
        assert_eq!((verdict(entry, "5", "printed"), verdict(entry, "5", "corrected")), ("violated", "holds"));
        let constant = |name: &str| entry[name].as_f64().unwrap();
        assert!(constant("lemma_5_constant_needed") > 10.0 * constant("lemma_5_constant_of_appendix"));
    }
}

#[test]
fn data_are_audited_too() {
    let lab = Lab::new();
    lab.write("experiment.toml", EXPERIMENT);
    let output = lab.oneway(&["audit", "experiment.toml", "--out", "results", "--repetitions", "5"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let audit: Value =
        serde_json::from_str(&fs::read_to_string(lab.path("results/audit.json")).unwrap()).unwrap();
    assert_eq!(audit["entries"][0]["variance_is"], "a bound for all x");
    assert_sound(audit["entries"].as_array().unwrap());
}

#[test]
fn what_cannot_be_audited_is_refused() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let refused = |experiment: &str, arguments: &[&str], words: &[&str]| {
        lab.write("experiment.toml", experiment);
        let output = lab.oneway(&[&["audit", "experiment.toml"], arguments].concat());
        assert_refused(&lab, &before, &output, words);
    };
    let decaying = changed(EXPERIMENT, "size = 0.1", "size = 0.1, decay = 0.5, every = 10");
    refused(
        &decaying,
        &[],
        &["experiment.toml: nothing to audit", "\"SMTPP\" on topology \"loop\"", "constant"],
    );
    let other = changed(EXPERIMENT, "kind = \"smtpp\"", "kind = \"push-pull\"");
    let other = changed(&other, "momentum = 0.1", "");
    refused(&other, &[], &["nothing to audit", "is push-pull: the theory is SMTPP's"]);
    let varying = changed(EXPERIMENT, "kind = \"ring\"", "kind = \"one-peer-exponential\"");
    refused(&varying, &[], &["nothing to audit", "links that change over 2 rounds"]);
    let in_passes = changed(EXPERIMENT, "batch = 1", "sampling = \"without-replacement\"");
    refused(&in_passes, &[], &["nothing to audit", "\"SMTPP\"", "draws rows without replacement"]);
    let once = changed(EXPERIMENT, "repetitions = 2", "repetitions = 1");
    refused(&once, &[], &["method \"SMTPP\" on topology \"loop\"", "`repetitions` = 1", "two runs at least"]);
    let one = lab.oneway(&["audit", "experiment.toml", "--repetitions", "1"]);
    assert!(one.status.code() == Some(2) && stderr(&one).contains("'--repetitions <N>'"), "{}", stderr(&one));
    let most = "about 1 GB has room for";
    refused(
        EXPERIMENT,
        &["--set", "run.iterations=100000000"],
        &["`run.iterations` = 100000000", most, "× 2 ="],
    );
    refused(
        EXPERIMENT,
        &["--set", "run.repetitions=1000000", "--set", "run.iterations=1000"],
        &["`run.repetitions` = 1000000", most],
    );
    refused(EXPERIMENT, &["--set", "run.agent=3"], &["unknown key `agent`"]);
    let output = lab.oneway(&["audit", "nothing.toml"]);
    assert_refused(&lab, &before, &output, &["nothing.toml"]);
}
