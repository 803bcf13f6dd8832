//! Sweeps: every combination runs, under its own name and with its values in columns; and methods that leave
//! topologies out.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::fs;

use oneway_experiment::sha256;

use crate::common::{self, EXPERIMENT, Lab, Results, changed, stderr, stdout};

#[test]
fn a_sweep_runs_every_combination_under_its_own_name() {
    let lab = Lab::new();
    let sweep =
        "\n[sweep]\nmethod.SMTPP.step.size = [0.1, 0.2]\nproblem.partition = [\"even\", \"by-label\"]\n";
    let results = lab.results(&format!("{EXPERIMENT}{sweep}"), &["--set", "run.repetitions=1"]);
    let name = |cell: &serde_json::Value| {
        format!("{} / {}", cell["topology"].as_str().unwrap(), cell["method"].as_str().unwrap())
    };
    let names: Vec<String> = results.cells().iter().map(name).collect();
    assert_eq!(
        names,
        [
            "loop [problem.partition=even] / SMTPP [step.size=0.1]",
            "loop [problem.partition=even] / SMTPP [step.size=0.2]",
            "loop [problem.partition=by-label] / SMTPP [step.size=0.1]",
            "loop [problem.partition=by-label] / SMTPP [step.size=0.2]",
        ]
    );
    // a cell of a sweep is what it would be alone
    let alone =
        lab.results(EXPERIMENT, &["--set", "run.repetitions=1", "--set", "method.SMTPP.step.size=0.2"]);
    assert_eq!(alone.hashes()[0], results.hashes()[1]);
}

/// Swept values are columns, empty where a method or topology is not swept; folders of before, without them,
/// are read too.
#[test]
fn swept_values_are_columns_of_the_curves() {
    let lab = Lab::new();
    let other = "[[method]]\nkind = \"csgdm\"\nstep = 0.1\n";
    let sweep =
        "[sweep]\nmethod.SMTPP.step.size = [0.1, 0.2]\nproblem.partition = [\"even\", { dirichlet = 0.5 }]\n";
    let results = lab.results(&format!("{EXPERIMENT}{other}{sweep}"), &["--set", "run.repetitions=1"]);
    let header: Vec<&str> = results.csv.lines().next().unwrap().split(',').collect();
    let column = |name: &str| header.iter().position(|known| *known == name).unwrap();
    let (partition, step) = (column("problem.partition"), column("method.step.size"));
    let mut seen = BTreeMap::new();
    for row in results.rows() {
        assert_eq!(row.len(), header.len());
        assert!(row[0].ends_with(&format!("[problem.partition={}]", row[partition])), "{row:?}");
        match row[1] {
            "csgdm" => assert_eq!(row[step], "", "{row:?}"),
            swept => assert_eq!(swept, format!("SMTPP [step.size={}]", row[step])),
        }
        *seen.entry((row[partition], row[step])).or_insert(0) += 1;
    }
    assert_eq!(seen.len(), 6, "{seen:?}");
    let verifies = |expected: Option<i32>, words: &str| {
        let output = lab.oneway(&["verify", "results"]);
        assert_eq!(output.status.code(), expected, "{}{}", stdout(&output), stderr(&output));
        assert!(stdout(&output).contains(words), "{}", stdout(&output));
    };
    verifies(Some(0), "all bits agree");

    // a folder of an earlier version; and one whose values were moved about, hashes and all
    let write = |csv: &str| {
        let hash = results.summary["curves_sha256"].as_str().unwrap();
        let new = sha256(csv);
        let summary = serde_json::to_string(&results.summary).unwrap().replace(hash, &new);
        lab.write("results/curves.csv", csv);
        lab.write("results/summary.json", summary);
    };
    write(&results.csv.replace(",even,0.1\n", ",even,0.2\n"));
    verifies(Some(1), "curves.csv: the columns of swept settings are not what was swept");
    let cut = |line: &str| line.split(',').take(partition.min(step)).collect::<Vec<_>>().join(",") + "\n";
    write(&results.csv.lines().map(cut).collect::<String>());
    verifies(Some(0), "all bits agree");
    assert!(lab.oneway(&["report", "results"]).status.success());
    fs::rename(lab.path("results"), lab.path("before")).unwrap();
    lab.run(&format!("{EXPERIMENT}{other}{sweep}"), &["--set", "run.repetitions=1"]);
    let table = stdout(&lab.oneway(&["compare", "before", "results"]));
    assert_eq!(table.matches("same bits").count(), 2 * 6, "{table}");
}

/// A method may leave out topologies that it is not made for, also where they are swept; `tune` respects it.
#[test]
fn a_method_runs_only_where_it_says() {
    let lab = Lab::new();
    let two = changed(
        EXPERIMENT,
        "[[method]]",
        "[[topology]]\nkind = \"star\"\nweights = \"metropolis\"\n[[method]]",
    );
    let other = "[[method]]\nkind = \"exact-diffusion\"\nstep = 0.1\n";
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let output = lab.run(&format!("{two}{other}"), &[]);
    let place = "method \"exact-diffusion\" on topology \"loop\"";
    common::assert_refused(
        &lab,
        &before,
        &output,
        &[place, "; `only = [\"star\"]` in the method keeps it off the others"],
    );

    let only = |list: &str| format!("{two}{other}only = {list}\n");
    let ran = |results: &Results| -> Vec<String> {
        let entries = results.summary["entries"].as_array().unwrap().iter();
        entries.map(|entry| format!("{} {}", entry["topology"], entry["method"]).replace('"', "")).collect()
    };
    let results = lab.results(&only("[\"star\"]"), &[]);
    assert_eq!(ran(&results), ["loop SMTPP", "star SMTPP", "star exact-diffusion"]);
    assert_eq!(results.cells().len(), 6);
    assert!(lab.oneway(&["verify", "results"]).status.success());
    let sweep = "[sweep]\ntopology.star.seed = [1, 2]\nproblem.alpha = [0.01, 0.1]\n";
    let swept = lab.results(&format!("{}{sweep}", only("[\"star\"]")), &[]);
    assert_eq!(
        ran(&swept).iter().filter(|name| name.ends_with("exact-diffusion")).count(),
        4,
        "{:?}",
        ran(&swept)
    );
    assert_eq!(ran(&swept).len(), 6 + 4);
    fs::remove_dir_all(lab.path("results")).unwrap();

    let output = lab.oneway(&["tune", "experiment.toml", "--out", "tuned", "--set", "run.repetitions=1"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let compared = fs::read_to_string(lab.path("tuned/comparison.csv")).unwrap();
    assert!(
        compared.lines().all(|line| !(line.starts_with("loop") && line.contains("exact-diffusion"))),
        "{compared}"
    );
    assert_eq!(compared.lines().count(), 1 + 6 + 4, "{compared}");
    fs::remove_dir_all(lab.path("tuned")).unwrap();

    let before = lab.listing();
    for (list, words) in [
        (
            "[\"sta\"]",
            "method \"exact-diffusion\": `only` names the topology \"sta\", and there is none (there is: loop, star)",
        ),
        ("[]", "`only`"),
        ("\"star\"", "`only`"),
    ] {
        common::assert_refused(&lab, &before, &lab.run(&only(list), &[]), &[words]);
    }
    let nobody = changed(&only("[\"star\"]"), "momentum = 0.1", "momentum = 0.1\nonly = [\"star\"]");
    common::assert_refused(
        &lab,
        &before,
        &lab.run(&nobody, &[]),
        &["topology \"loop\": no method runs on it"],
    );
}

#[test]
fn malformed_sweeps_are_refused_and_leave_nothing() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let values: Vec<String> = (1..=200).map(|value| value.to_string()).collect();
    let many = format!("run.seed = [{0}]\nproblem.alpha = [{0}]", values.join(", "));
    for (sweep, words) in [
        ("method.SMTPP.step.size = 0.1", "sweep.method.SMTPP.step.size = 0.1: give a list of values"),
        ("problem.alpha = [0.1, 0.10]", "sweep.problem.alpha: the value 0.1 occurs twice"),
        ("method.SMTP.step.size = [1]", "there is no method called \"SMTP\""),
        (&many, "40000 combinations are more than 10000"),
    ] {
        let output = lab.run(&format!("{EXPERIMENT}\n[sweep]\n{sweep}\n"), &[]);
        common::assert_refused(&lab, &before, &output, &[words]);
    }
}
