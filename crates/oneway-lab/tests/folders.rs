//! Results folders: what stays in them, whose they are, what is refused as one, and two side by side.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::common::{self, EXPERIMENT, Lab, Results, stderr, stdout};

/// What an earlier run drew goes when it no longer shows the results; what others put there stays.
#[test]
fn no_page_or_figure_of_an_earlier_run_stays_beside_new_results() {
    let lab = Lab::new();
    let run = |arguments: &[&str]| {
        lab.write("experiment.toml", EXPERIMENT);
        let output = lab
            .oneway(&[&["run", "experiment.toml", "--out", "results", "--threads", "1"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
    };
    let figures = || -> Vec<String> {
        let names = fs::read_dir(lab.path("results/figures")).into_iter().flatten();
        let mut names: Vec<String> =
            names.map(|name| name.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    };
    run(&[]);
    assert!(lab.path("results/report.html").exists() && figures().iter().any(|name| name == "loop-loss.svg"));
    run(&["--no-report"]);
    assert!(lab.path("results/report.html").exists(), "the same results: the page shows them still");

    // another name: figures of the old one go
    run(&["--set", "topology.loop.name=round"]);
    let drawn = figures();
    assert!(drawn.iter().all(|name| name.starts_with("round")) && drawn.len() > 6, "{drawn:?}");
    // every column, and then not
    assert!(lab.oneway(&["report", "results", "--all"]).status.success());
    assert!(figures().len() > drawn.len());
    assert!(lab.oneway(&["report", "results"]).status.success());
    assert_eq!(figures(), drawn);

    lab.write("results/figures/mine.svg", "mine");
    run(&["--no-report", "--set", "run.seed=2"]);
    assert!(!lab.path("results/report.html").exists() && figures() == ["mine.svg"], "{:?}", figures());
    fs::remove_dir_all(lab.path("results/figures")).unwrap();
    Results::read(&lab.path("results"));
}

/// `out/NAME` is for one file: another of the same name is refused, and says what to do.
#[test]
fn two_files_of_one_name_do_not_share_a_folder_by_default() {
    let lab = Lab::new();
    for folder in ["one", "other"] {
        fs::create_dir(lab.path(folder)).unwrap();
        lab.write(&format!("{folder}/rows.txt"), common::ROWS);
        lab.write(&format!("{folder}/small.toml"), EXPERIMENT);
    }
    assert!(lab.oneway(&["run", "one/small.toml", "--no-report"]).status.success());
    let before = fs::read(lab.path("out/small/summary.json")).unwrap();
    for command in ["run", "tune", "certify", "audit"] {
        let output = lab.oneway(&[command, "other/small.toml"]);
        let words =
            ["other/small.toml: out/small holds the results of a file of the same name in one", "--out"];
        common::assert_refused(&lab, &lab.listing(), &output, &words);
    }
    assert_eq!(fs::read(lab.path("out/small/summary.json")).unwrap(), before);
    assert!(lab.oneway(&["run", "./one/../one/small.toml", "--no-report"]).status.success(), "the same file");
    assert!(lab.oneway(&["run", "other/small.toml", "--no-report", "--out", "elsewhere"]).status.success());
}

#[test]
fn folders_that_are_not_results_are_refused() {
    let lab = Lab::new();
    fs::create_dir(lab.path("empty")).unwrap();
    lab.write("half.json", "{");
    fs::create_dir(lab.path("broken")).unwrap();
    lab.write("broken/summary.json", "{\"oneway\": 3}");
    lab.write("broken/curves.csv", "a,b\n");
    for (arguments, words) in [
        (&["verify", "nowhere"][..], "nowhere: No such file"),
        (&["verify", "empty"], "summary.json"),
        (&["verify", "broken"], "is not a summary that oneway wrote"),
        (&["compare", "nowhere", "empty"], "nowhere is not a results folder"),
        (&["compare", "empty", "broken"], "a results folder has a curves.csv"),
        (&["compare", "broken", "empty"], "not the header of curves.csv"),
        (&["compare", "empty", "./broken/../empty"], "are the same folder: name two"),
        (
            &["replay", "empty"],
            "empty: it is a folder without logs of arrivals: `oneway run FILE --log-arrivals`",
        ),
    ] {
        let output = lab.oneway(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(stderr(&output).contains(words), "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn folders_are_compared_by_method() {
    let lab = Lab::new();
    lab.results(EXPERIMENT, &[]);
    fs::rename(lab.path("results"), lab.path("a")).unwrap();
    let more = format!("{EXPERIMENT}[[method]]\nkind = \"csgdm\"\nstep = 0.1\n");
    lab.results(&more, &[]);
    let table = stdout(&lab.oneway(&["compare", "a", "results"]));
    assert!(table.lines().any(|line| line.contains("SMTPP") && line.contains("same bits")), "{table}");
    assert!(table.lines().any(|line| line.contains("csgdm") && line.contains("in results only")), "{table}");
    assert!(table.contains("method.csgdm.step.size: not given → 0.1"), "{table}");
    lab.results(EXPERIMENT, &["--set", "run.seed=2"]);
    let table = stdout(&lab.oneway(&["compare", "a", "results"]));
    assert!(table.starts_with("settings that differ, a → results:\n  run.seed: 1 → 2\n"), "{table}");
    let noise = |line: &str| line.contains("SMTPP") && line.contains("within noise") && line.contains(" ± ");
    assert!(table.lines().any(noise), "{table}");
    assert!(!table.contains("iteration"), "{table}");
    // of unequal length, and one that has no repetitions to tell noise by
    lab.results(EXPERIMENT, &["--set", "run.iterations=10", "--set", "run.repetitions=1"]);
    let table = stdout(&lab.oneway(&["compare", "a", "results"]));
    assert!(table.contains("a went to iteration 25, results to 10"), "{table}");
    assert!(table.lines().any(|line| line.contains("SMTPP") && line.contains("noise unknown")), "{table}");
    // folders of one name go by their paths
    fs::create_dir(lab.path("b")).unwrap();
    fs::rename(lab.path("results"), lab.path("b/a")).unwrap();
    assert!(stdout(&lab.oneway(&["compare", "a", "b/a"])).contains("a → b/a:"));
}
