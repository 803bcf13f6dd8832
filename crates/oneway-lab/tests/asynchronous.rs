//! Experiments with a clock: one time axis for methods that wait and methods that do not, logs of arrivals
//! that replay, and bad input.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::common::{EXPERIMENT, Lab, Results, assert_refused, changed, stderr, stdout};

/// The experiment of all tests with a clock, and its method once in rounds and once without.
fn timed() -> String {
    let clock = r#"
[clock]
step = "exponential"
spread = 0.2
slow = { share = 0.25, factor = 4.0 }
latency = { mean = 0.5, times = { log-normal = 1.0 } }
loss = 0.2

[[method]]
name = "alone"
kind = "push-pull"
asynchronous = true
step = 0.05
"#;
    format!("{EXPERIMENT}{clock}")
}

/// Results with a folder of logs beside them.
fn results(lab: &Lab) -> Results {
    let beside =
        ["arrivals", "files.json"].map(|name| (lab.path(&format!("results/{name}")), lab.path(name)));
    beside.iter().for_each(|(place, aside)| fs::rename(place, aside).unwrap());
    let results = Results::read(&lab.path("results"));
    beside.iter().for_each(|(place, aside)| fs::rename(aside, place).unwrap());
    results
}

fn logs(lab: &Lab) -> Vec<String> {
    let names = fs::read_dir(lab.path("results/arrivals")).unwrap();
    let mut names: Vec<String> = names
        .map(|name| format!("results/arrivals/{}", name.unwrap().file_name().to_str().unwrap()))
        .collect();
    names.sort();
    names
}

#[test]
fn rounds_with_a_clock_take_their_time_and_without_one_none() {
    let lab = Lab::new();
    let without = lab.results(EXPERIMENT, &[]);
    assert!(without.rows().iter().all(|row| row[12].is_empty()));
    let with = lab.results(&timed(), &[]);
    for (row, plain) in with.rows_of("SMTPP").iter().zip(without.rows()) {
        assert_eq!(row[..12], plain[..12], "a clock changes no round");
        let (k, time): (f64, f64) = (row[3].parse().unwrap(), row[12].parse().unwrap());
        assert!(
            k == 0.0 && time == 0.0 || time > 4.0 * 0.8 * k,
            "everyone waits for the slow one: {time} at {k}"
        );
    }
    for row in with.rows_of("alone") {
        assert_eq!(row[12].parse::<f64>().unwrap(), row[3].parse::<f64>().unwrap());
        assert!(row[9].parse::<f64>().unwrap() < 1e-14, "conservation: {row:?}");
    }
    let timings: Vec<&str> = with.summary["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| entry["timing"].as_str().unwrap())
        .collect();
    assert_eq!(timings, ["synchronous", "asynchronous"]);
    assert_eq!(without.summary["entries"][0]["timing"], "rounds");
}

#[test]
fn with_a_clock_figures_and_the_page_open_on_time() {
    let lab = Lab::new();
    lab.write("experiment.toml", timed());
    let page = |arguments: &[&str]| {
        let output = lab.oneway(&[&["run", "experiment.toml", "--out", "results"], arguments].concat());
        assert!(output.status.success(), "{}", stderr(&output));
        fs::read_to_string(lab.path("results/report.html")).unwrap()
    };
    let checked = |page: &str| {
        let choice = page.split("<input type=\"radio\"").find(|choice| choice.contains(" checked>")).unwrap();
        choice.split("value=\"").nth(1).unwrap().split('"').next().unwrap().to_owned()
    };
    assert!(checked(&page(&[])).starts_with("virtual time"));
    for (figure, axis) in [("", "virtual time"), ("-by-iteration", "iteration"), ("-by-bytes", "bytes sent")]
    {
        let svg = fs::read_to_string(lab.path(&format!("results/figures/loop-loss{figure}.svg"))).unwrap();
        assert!(svg.contains(&format!(">{axis}")), "{figure}: {svg}");
    }
    lab.write("experiment.toml", EXPERIMENT);
    assert_eq!(checked(&page(&[])), "iteration");
}

#[test]
fn the_clock_is_part_of_what_a_result_depends_on_and_can_be_swept() {
    let lab = Lab::new();
    let first = lab.results(&timed(), &[]);
    let other = lab.results(&timed(), &["--set", "clock.loss=0.3"]);
    assert_ne!(first.rows_of("alone"), other.rows_of("alone"));
    let again = lab.results(&timed(), &[]);
    assert_eq!(first.csv, again.csv);
    let threads = lab.results(&timed(), &["--threads", "3", "--fresh"]);
    assert_eq!(first.csv, threads.csv);
    let swept = lab.results(&format!("{}\n[sweep]\nclock.loss = [0.0, 0.5]\n", timed()), &[]);
    let names: Vec<&str> = swept.rows_of("alone").iter().map(|row| row[0]).collect();
    assert!(
        names.contains(&"loop [clock.loss=0.0]") && names.contains(&"loop [clock.loss=0.5]"),
        "{names:?}"
    );
    assert!(lab.oneway(&["verify", "results"]).status.success());
}

#[test]
fn logs_of_arrivals_replay_to_the_same_state() {
    let lab = Lab::new();
    let output = lab.run(&timed(), &["--log-arrivals"]);
    assert!(output.status.success() && stdout(&output).contains("arrivals"), "{}", stderr(&output));
    let logs = logs(&lab);
    assert_eq!(logs.len(), 2, "one for each repetition of the one method");
    let output = lab.oneway(&["replay", &logs[0], &logs[1]]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = stdout(&output);
    assert_eq!(said.matches("the same final state").count(), 2, "{said}");
    assert!(said.contains("loop · alone · 1: ") && said.contains("in 25 units of time"), "{said}");

    // results that claim another state are found out
    let hash = results(&lab).hashes()[2].to_owned();
    let summary = fs::read_to_string(lab.path("results/summary.json")).unwrap();
    lab.write("results/summary.json", summary.replace(&hash, &"0".repeat(64)));
    let output = lab.oneway(&["replay", &logs[0], &logs[1]]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("another final state"), "{}", stdout(&output));

    // and so are those that claim another length, before a long one runs
    let longer = summary.replace("\"rounds\": 25", "\"rounds\": 26");
    assert_ne!(longer, summary);
    lab.write("results/summary.json", longer);
    let output = lab.oneway(&["replay", &logs[0]]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("the log has 25 units of time, and its cell 26"), "{}", stderr(&output));

    // without an asynchronous method there is nothing to log
    let plain = Lab::new();
    let output = plain.run(EXPERIMENT, &["--log-arrivals"]);
    assert!(output.status.success() && stderr(&output).contains("no method is asynchronous"));
    Results::read(&plain.path("results"));
}

#[test]
fn logs_that_are_damaged_or_not_ours_are_refused() {
    let lab = Lab::new();
    assert!(lab.run(&timed(), &["--log-arrivals"]).status.success());
    let logs = logs(&lab);
    let whole = fs::read(lab.path(&logs[0])).unwrap();
    let before = lab.listing();
    let refused = |content: &[u8], words: &[&str]| {
        lab.write(&logs[0], content);
        let output = lab.oneway(&["replay", &logs[1], &logs[0]]);
        assert_refused(&lab, &before, &output, &[&[&*logs[0]], words].concat());
    };
    refused(b"", &["log of arrivals: it does not begin with"]);
    refused(b"oneway arrivals 7\nand so on", &["another version"]);
    refused(&whole[..whole.len() / 2], &["it is damaged: its checksum does not fit"]);
    let mut tampered = whole.clone();
    tampered[whole.len() / 2] ^= 4;
    refused(&tampered, &["its checksum does not fit"]);
    lab.write(&logs[0], &whole);

    let refused = |arguments: &[&str], words: &[&str]| {
        assert_refused(&lab, &before, &lab.oneway(&[&["replay"], arguments].concat()), words);
    };
    refused(&["no-such.log"], &["no-such.log"]);
    refused(&["results"], &["results: it is a folder: give its logs, results/arrivals/*.log"]);
    refused(&["results/cells"], &["results/cells: it is a folder without logs of arrivals"]);
    fs::copy(lab.path(&logs[0]), lab.path("results/cells/a.log")).unwrap();
    assert!(lab.oneway(&["replay", "results/cells/a.log"]).status.success(), "its folder has the results");
    // another run in the same folder: the logs are no longer of any of its cells, and are gone except for the
    // copy
    assert!(lab.run(&timed(), &["--set", "run.seed=2"]).status.success());
    assert!(!lab.path("results/arrivals").exists());
    refused(&["results/cells/a.log"], &["a.log", "has no cell of this log"]);
}

#[test]
fn theory_of_rounds_does_not_speak_of_asynchronous_methods() {
    let lab = Lab::new();
    lab.write("experiment.toml", timed());
    let before = lab.listing();
    let output = lab.oneway(&["certify", "experiment.toml"]);
    assert_refused(&lab, &before, &output, &["experiment.toml: method \"alone\" is asynchronous"]);
    let unaudited = changed(&timed(), "kind = \"push-pull\"", "kind = \"smtpp\"");
    lab.write("experiment.toml", unaudited);
    let output = lab.oneway(&["audit", "experiment.toml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let said = format!("{}{}", stdout(&output), stderr(&output));
    assert!(said.contains("runs asynchronously"), "{said}");
}

#[test]
fn methods_that_presume_one_round_for_all_are_refused() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (kind, reason) in [
        ("exact-diffusion", "it takes what one round of W did to everyone's messages for a correction"),
        ("d2", "it takes what one round of W did to everyone's messages for a correction"),
        ("frost", "a pull-only method needs one π_R for all steps"),
    ] {
        let on_a_complete_graph = changed(&timed(), "kind = \"ring\"", "kind = \"complete\"");
        let kind = format!("kind = \"{kind}\"");
        let output = lab.run(&changed(&on_a_complete_graph, "kind = \"push-pull\"", &kind), &[]);
        let place = "experiment.toml: method \"alone\" on topology \"loop\": cannot run asynchronously: ";
        assert_refused(&lab, &before, &output, &[place, reason]);
    }
}

#[test]
fn bad_clocks_are_refused_by_name() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    let cases: &[(&str, &str, &[&str])] = &[
        ("loss = 0.2", "loss = 1", &["clock: `loss` = 1 is not possible: it is from 0 to 0.99"]),
        ("loss = 0.2", "loss = nan", &["clock: `loss` = NaN is not possible"]),
        ("loss = 0.2", "loss = \"much\"", &["clock: `loss` = \"much\" is a string: it must be a number"]),
        ("loss = 0.2", "los = 0.2", &["clock: unknown key `los`: did you mean `loss`?"]),
        ("[clock]", "[clocks]", &["the experiment: unknown key `clocks`: did you mean `clock`?"]),
        ("spread = 0.2", "spread = 1", &["clock: `spread` = 1 is not possible"]),
        ("\"exponential\"", "\"exponentially\"", &["clock: unknown step", "did you mean `exponential`?"]),
        ("\"exponential\"", "3", &["clock: `step` = 3", "{ uniform = … } or { log-normal = … }"]),
        ("\"exponential\"", "{ uniform = 2 }", &["clock.step: `spread` = 2 is not possible"]),
        ("\"exponential\"", "{ uniform = 0.5, log-normal = 1 }", &["clock.step", "give one of `uniform`"]),
        ("\"exponential\"", "{ unifrom = 0.5 }", &["clock.step: unknown key `unifrom`", "`uniform`?"]),
        ("log-normal = 1.0", "log-normal = 9", &["clock.latency: `sigma` = 9 is not possible"]),
        ("mean = 0.5, ", "", &["clock.latency: `mean` is missing"]),
        ("mean = 0.5", "mean = -1", &["clock: `latency` = -1 is not possible"]),
        ("latency = {", "latency = \"long\" #", &["clock: `latency` = \"long\"", "a number, or { mean"]),
        ("share = 0.25, ", "", &["clock.slow: `share` is missing"]),
        ("share = 0.25", "share = 25", &["clock: `slow.share` = 25 is not possible: it is from 0 to 1"]),
        ("factor = 4.0", "factor = 0.5", &["clock: `slow.factor` = 0.5 is not possible"]),
        (
            "slow = { share = 0.25, factor = 4.0 }",
            "slow = 4",
            &["clock: `slow` = 4", "{ share = …, factor = … }"],
        ),
        (
            "asynchronous = true",
            "asynchronous = 1",
            &["method \"alone\": `asynchronous` = 1", "true or false"],
        ),
        ("asynchronous", "asynchronos", &["method \"alone\": unknown key `asynchronos`", "`asynchronous`?"]),
        (
            "kind = \"push-pull\"",
            "kind = \"csgdm\"",
            &["method \"alone\" on topology \"loop\": cannot run asynchronously: a centralised method"],
        ),
        (
            "kind = \"ring\"",
            "kind = \"one-peer-exponential\"",
            &["method \"alone\" on topology \"loop\": cannot run asynchronously: the network changes"],
        ),
    ];
    for (line, instead, words) in cases {
        let output = lab.run(&changed(&timed(), line, instead), &[]);
        assert_refused(&lab, &before, &output, &[&["experiment.toml: "], *words].concat());
    }
    let without_clock = changed(EXPERIMENT, "momentum = 0.1", "asynchronous = true");
    let output = lab.run(&without_clock, &[]);
    assert_refused(&lab, &before, &output, &["method \"SMTPP\": `asynchronous` = true needs a [clock]"]);
}
