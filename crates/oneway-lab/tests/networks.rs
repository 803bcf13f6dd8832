//! Networks that change and fail, as an experiment file describes them.
#![allow(clippy::unwrap_used)]

/// The experiment with further keys for its topology.
use crate::common::{EXPERIMENT, Lab, Results, assert_refused, changed, stderr, stdout};

fn with(keys: &str) -> String {
    changed(EXPERIMENT, "root = 0", keys)
}

fn column(results: &Results, index: usize) -> Vec<&str> {
    results.rows().into_iter().map(|row| row[index]).collect()
}

#[test]
fn every_fault_changes_the_run_and_none_the_law() {
    let lab = Lab::new();
    let sound = lab.results(EXPERIMENT, &[]);
    let mut hashes = vec![sound.hashes().concat()];
    for keys in [
        "loss = 0.3",
        "loss = 0.3\npull_loss = \"latest\"",
        "delay = 3",
        "churn = { up = 5, down = 3 }",
        "churn = [{ agent = 1, from = 3, to = 8 }, { agent = 3, from = 0, to = 2 }]",
        "loss = 0.2\ndelay = 2\nchurn = { up = 5, down = 3.5 }\npull_loss = \"renormalise\"",
        "redraw = { probability = 0.8, period = 7 }",
        "redraw = { probability = 0.8 }\nloss = 0.1",
    ] {
        let results = lab.results(&with(keys), &[]);
        assert_eq!(results.statuses(), ["completed"; 2], "{keys}");
        hashes.push(results.hashes().concat());
        for error in column(&results, 9) {
            assert!(error.parse::<f64>().unwrap() < 1e-15, "{keys}: conservation error {error}");
        }
        assert_eq!(lab.results(&with(keys), &["--threads", "1", "--fresh"]).csv, results.csv, "{keys}");
    }
    let all = hashes.len();
    hashes.sort();
    hashes.dedup();
    assert_eq!(hashes.len(), all, "two of them are the same run");
    // faults that are none
    for keys in ["loss = 0", "delay = 0\npull_loss = \"latest\"", "loss = 0.0\nroot = 0"] {
        assert_eq!(lab.results(&with(keys), &[]).csv, sound.csv, "{keys}");
    }
}

/// Agent 2 hears 1 alone: while 1 is away, SGP's weight there is halved in every round, and it divides by
/// that.
#[test]
fn push_sum_weights_that_run_dry_are_said() {
    let lab = Lab::new();
    let sgp = |to: u64| {
        let away = with(&format!("churn = [{{ agent = 1, from = 2, to = {to} }}]"));
        lab.results(
            &changed(&changed(&away, "kind = \"smtpp\"", "kind = \"sgp\""), "momentum = 0.1", ""),
            &[],
        )
    };
    assert_eq!(sgp(6).statuses(), ["completed"; 2]);
    assert_eq!(sgp(20).statuses(), ["starved"; 2]);
    let said = stdout(&lab.oneway(&["run", "experiment.toml", "--no-report", "--out", "results"]));
    assert!(said.contains("2 starved"), "{said}");
    assert!(said.contains("SMTPP on loop: in 2 of 2 runs an agent that heard too little"), "{said}");
    assert!(lab.oneway(&["verify", "results"]).status.success());
}

/// What was sent counts, whether it arrives or not; who is away sends nothing.
#[test]
fn lost_messages_were_sent_and_absent_agents_send_none() {
    let lab = Lab::new();
    let bytes = |keys: &str| {
        let results = lab.results(&with(keys), &[]);
        column(&results, 11).iter().map(|bytes| bytes.parse::<u64>().unwrap()).collect::<Vec<_>>()
    };
    let sound = bytes("root = 0");
    assert_eq!(bytes("loss = 0.5"), sound);
    assert_eq!(bytes("delay = 4"), sound);
    // a ring of four: each agent sends 2 × 3 numbers a round; one is away for ten rounds of twenty-five
    let away = bytes("churn = [{ agent = 2, from = 0, to = 10 }]");
    let a_round = 6 * 8;
    assert_eq!(sound[..4], [0, 40 * a_round, 80 * a_round, 100 * a_round]);
    assert_eq!(away[..4], [0, 30 * a_round, 70 * a_round, 90 * a_round]);
}

/// Files in turn are one topology; a method that is centralised knows nothing of faults.
#[test]
fn files_take_turns_and_centralised_methods_do_not_fail() {
    let lab = Lab::new();
    lab.write("odd.txt", "0 1\n1 2\n");
    lab.write("even.txt", "2 3\n3 0\n");
    lab.write("odd-weighted.txt", "0 0 .5\n0 1 .5\n1 1 .5\n1 0 .5\n2 2 1\n3 3 1\n");
    lab.write("even-weighted.txt", "1 1 .5\n1 2 .5\n2 2 .5\n2 1 .5\n0 3 .5\n3 0 .5\n0 0 .5\n3 3 .5\n");
    let kind = "kind = \"ring\"\nroot = 0";
    for files in ["[\"odd.txt\", \"even.txt\"]", "[\"odd-weighted.txt\", \"even-weighted.txt\"]"] {
        let varying = changed(EXPERIMENT, kind, &format!("files = {files}\nloss = 0.1"));
        let results = lab.results(&varying, &[]);
        assert_eq!(results.statuses(), ["completed"; 2]);
        // what tuning writes in another folder finds them too
        let tuned = lab.oneway(&["tune", "experiment.toml", "--out", "deep/tuned"]);
        assert!(tuned.status.success(), "{}", stderr(&tuned));
        let again = lab.oneway(&["run", "deep/tuned/tuned-1.toml", "--no-report", "--out", "again"]);
        assert!(again.status.success(), "{}", stderr(&again));
    }
    let [one, of_one] = ["file = \"even-weighted.txt\"", "files = [\"even-weighted.txt\"]"]
        .map(|file| lab.run(&changed(EXPERIMENT, kind, file), &[]).status.code());
    assert_eq!((one, of_one), (Some(2), Some(2))); // alone it is not connected

    let csgdm = |keys: &str| changed(&with(keys), "kind = \"smtpp\"", "kind = \"csgdm\"");
    assert_eq!(lab.results(&csgdm("loss = 0.5"), &[]).csv, lab.results(&csgdm("root = 0"), &[]).csv);
}

#[test]
fn what_is_wrong_is_named_and_nothing_is_written() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    lab.write("three.txt", "0 1\n1 2\n2 3\n3 0\n");
    lab.write("weighted.txt", "0 0 1\n1 1 1\n2 2 1\n3 3 1\n");
    lab.write("five.txt", "0 4\n");
    let before = lab.listing();
    let refused = |experiment: &str, words: &[&str]| {
        let output = lab.run(experiment, &[]);
        assert_refused(&lab, &before, &output, &[&["experiment.toml: "], words].concat());
    };
    for (keys, words) in [
        (
            "loss = 1",
            "topology \"loop\": network: `loss` = 1 is not possible: it must be from 0 to less than 1",
        ),
        ("loss = -0.1", "`loss` = -0.1 is not possible"),
        ("loss = nan", "`loss` = NaN is not possible"),
        ("loss = \"5 %\"", "`loss` = \"5 %\" is a string: it must be a number"),
        ("los = 0.1", "unknown key `los`: did you mean `loss`?"),
        ("delay = 1.5", "`delay` = 1.5 is not possible: it must be a whole number, 0 or more"),
        ("delay = 99999999999", "`delay` = 4294967295 is not possible: it must be at most 1000 rounds"),
        ("pull_loss = \"latests\"", "unknown pull_loss `latests`: did you mean `latest`?"),
        ("pull_loss = 1", "`pull_loss` = 1 is not possible: it must be \"renormalise\" or \"latest\""),
        ("churn = 0.1", "`churn` = 0.1 is not possible: it must be { up = 200, down = 20 }"),
        ("churn = { up = 5 }", "topology \"loop\".churn: `down` is missing"),
        ("churn = { up = 5, dwon = 5 }", "unknown key `dwon`: did you mean `down`?"),
        ("churn = { up = 0.5, down = 5 }", "`churn.up` = 0.5 is not possible"),
        ("churn = [5]", "`churn` = 5 is not possible: it must be { up = 200, down = 20 }, or absences"),
        ("churn = [{ agent = 4, from = 0, to = 9 }]", "with 4 agents the ids are 0 to 3"),
        ("churn = [{ agent = 1, from = 9, to = 9 }]", "agent 1 leaves in round 9 and must come back"),
        ("churn = [{ agent = 1, from = 9 }]", "topology \"loop\".churn 1: `to` is missing"),
        ("churn = [{ agent = -1, from = 0, to = 9 }]", "`agent` = -1 is not possible"),
        ("redraw = 0.5", "`redraw` = 0.5 is not possible: it must be a table"),
        ("redraw = { period = 5 }", "topology \"loop\".redraw: `probability` is missing"),
        ("redraw = { probability = 2 }", "`probability` = 2 is not possible: it must be from 0 to 1"),
        ("redraw = { probability = 0.5, period = 0 }", "`period` = 0 is not possible"),
        ("redraw = { probability = 0.01, period = 2 }", "over the period of 2 rounds"),
        ("files = [\"three.txt\"]", "give one of `kind`, `file`, `files`, or `pull` and `push` together"),
    ] {
        refused(&with(keys), &[words]);
    }
    let kind = "kind = \"ring\"\nroot = 0";
    for (keys, words) in [
        (
            "files = \"three.txt\"",
            "`files` = \"three.txt\" is a string: it must be a list of one or more strings",
        ),
        ("files = []", "it must be a list of one or more strings"),
        ("files = [1]", "`files` = 1 is not possible: it must be a list"),
        ("files = [\"three.txt\", \"none.txt\"]", "none.txt: No such file"),
        ("files = [\"three.txt\", \"five.txt\"]", "five.txt:1:3"),
        (
            "files = [\"three.txt\", \"weighted.txt\"]",
            "three.txt: its links have no weights, those of other files do",
        ),
        ("file = \"three.txt\"\nfiles = [\"three.txt\"]", "give `file` or `files`, not both"),
        ("file = \"weighted.txt\"\nredraw = { probability = 0.5 }", "given link by link"),
        (
            "files = [\"three.txt\", \"three.txt\"]\nredraw = { probability = 0.5 }",
            "changes with the round already",
        ),
    ] {
        refused(&changed(EXPERIMENT, kind, keys), &[words]);
    }
}

#[test]
fn theory_does_not_speak_of_links_that_fail() {
    let lab = Lab::new();
    lab.write("experiment.toml", with("loss = 0.3"));
    let before = lab.listing();
    let output = lab.oneway(&["certify", "experiment.toml"]);
    assert_refused(&lab, &before, &output, &["the links of topology \"loop\" fail"]);
    let output = lab.oneway(&["audit", "experiment.toml"]);
    assert_refused(&lab, &before, &output, &["nothing to audit", "runs on links that fail"]);
}
