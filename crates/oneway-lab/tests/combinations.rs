//! `estimator`, `gossip`, `local_steps` and `compress` in experiment files: what they change, what they
//! refuse.
#![allow(clippy::unwrap_used)]

use serde_json::Value;

use crate::common::{self, EXPERIMENT, Lab, assert_refused, changed, stderr, stdout};

const PUSH_PULL: &str = "kind = \"push-pull\"";

/// The experiment with Push-Pull and further lines for it.
fn with(lines: &str) -> String {
    let plain = changed(EXPERIMENT, "kind = \"smtpp\"\nmomentum = 0.1", PUSH_PULL);
    changed(&plain, PUSH_PULL, &format!("{PUSH_PULL}\n{lines}"))
}

/// Bytes that the last recorded state of each repetition has cost.
fn bytes_sent(results: &common::Results) -> Vec<u64> {
    let column =
        results.csv.lines().next().unwrap().split(',').position(|name| name == "bytes_sent").unwrap();
    let rows = results.rows();
    let last = rows.iter().filter(|row| row[3] == "25");
    last.map(|row| row[column].parse().unwrap()).collect()
}

/// Each key makes another run of it; what says the same in another way makes the same run.
#[test]
fn combinations_run_and_have_keys_of_their_own() {
    let lab = Lab::new();
    let mut seen: Vec<(String, String)> = vec![];
    for lines in [
        "",
        "estimator = \"storm\"",
        "estimator = { kind = \"storm\", momentum = 0.5 }",
        "estimator = \"momentum\"",
        "gossip = 2",
        "local_steps = 5",
        "compress = \"sign\"",
        "compress = { codec = \"sign\", gamma = 0.1 }",
        "compress = { codec = \"sign\", alpha = 0.1 }",
        "compress = { codec = \"top-k\", k = 2 }",
        "compress = { codec = \"top-k\", k = 1 }",
        "compress = \"sign\"\nlocal_steps = 2\ngossip = 2\nestimator = \"momentum\"",
    ] {
        let results = lab.results(&with(lines), &["--fresh"]);
        assert_eq!(results.statuses(), ["completed"; 2], "{lines}");
        let key = results.cells()[0]["key"].as_str().unwrap().to_owned();
        let hash = results.hashes()[0].to_owned();
        assert!(
            seen.iter().all(|(k, h)| (k, h) != (&key, &hash) && *k != key),
            "{lines} is a run of its own"
        );
        seen.push((key, hash));
        let method = &results.summary["settings"]["method"][0];
        for key in lines.lines().filter_map(|line| line.split(" = ").next()).filter(|key| !key.is_empty()) {
            assert!(!method[key].is_null(), "summary.json keeps `{key}`");
        }
    }
    for (short, long) in [
        ("estimator = \"storm\"", "estimator = { kind = \"storm\" }"),
        ("compress = \"sign\"", "compress = { codec = \"sign\" }"),
        ("", "gossip = 1\nlocal_steps = 1"),
        // a flag is true or false, and 1 or 0 mean the same
        (
            "compress = { codec = \"random-k\", k = 1, unbiased = false }",
            "compress = { codec = \"random-k\", k = 1, unbiased = 0 }",
        ),
    ] {
        let [short, long] = [short, long].map(|lines| lab.results(&with(lines), &["--fresh"]));
        assert_eq!(
            (short.csv, &short.summary["cells"][0]["key"]),
            (long.csv, &long.summary["cells"][0]["key"])
        );
    }
}

/// A ring of four: four links on each graph, three numbers in each vector, 25 rounds.
#[test]
fn bytes_are_counted_by_exchange_and_by_code() {
    let lab = Lab::new();
    for (lines, each) in [
        ("", 24),
        ("local_steps = 5", 24),
        ("gossip = 3", 3 * 24),
        ("compress = \"sign\"", 8 + 1),
        ("compress = { codec = \"top-k\", k = 2 }", 1 + 16),
        ("compress = \"sign\"\ngossip = 3\nlocal_steps = 2", 3 * 9),
    ] {
        let results = lab.results(&with(lines), &["--fresh"]);
        assert_eq!(bytes_sent(&results), [25 * 2 * 4 * each; 2], "{lines}");
    }
}

#[test]
fn combinations_can_be_set_swept_tuned_and_verified() {
    let lab = Lab::new();
    let named = changed(&with("compress = \"top-k\""), "name = \"SMTPP\"", "name = \"A\"");
    let all: Vec<String> =
        ["method.A.compress.gamma=0.2", "method.A.estimator.kind=storm", "method.A.local_steps=2"]
            .iter()
            .flat_map(|set| ["--set".to_owned(), (*set).to_owned()])
            .collect();
    let arguments: Vec<&str> = all.iter().map(String::as_str).collect();
    let results = lab.results(&named, &arguments);
    let method = &results.summary["settings"]["method"][0];
    assert_eq!((&method["compress"]["codec"], &method["compress"]["gamma"]), (&"top-k".into(), &0.2.into()));

    let sweep = "[sweep]\nmethod.A.compress = [\"sign\", { codec = \"top-k\", k = 2 }]\nmethod.A.local_steps = [1, 3]\n";
    let results = lab.results(&format!("{named}\n{sweep}"), &["--fresh"]);
    let mut names: Vec<&str> = results.rows().iter().map(|row| row[1]).collect::<Vec<_>>();
    names.dedup();
    assert_eq!(
        names,
        [
            "A [compress=sign; local_steps=1]",
            "A [compress=sign; local_steps=3]",
            "A [compress=codec top-k k 2; local_steps=1]",
            "A [compress=codec top-k k 2; local_steps=3]"
        ]
    );
    let output = lab.oneway(&["verify", "results"]);
    assert!(output.status.success(), "{}{}", stdout(&output), stderr(&output));

    lab.write("experiment.toml", changed(&named, "iterations = 25", "iterations = 9"));
    let output = lab.oneway(&["tune", "experiment.toml", "--out", "tuned"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let tuned = std::fs::read_to_string(lab.path("tuned/tuned-1.toml")).unwrap();
    assert!(tuned.contains("compress = \"top-k\""), "{tuned}");
}

/// What a method puts around its messages is no longer what the theory is about.
#[test]
fn theory_is_not_asked_about_combinations() {
    let lab = Lab::new();
    lab.write(
        "experiment.toml",
        changed(EXPERIMENT, "graph = \"full\"", "graph = \"full\"\ncompress = \"sign\""),
    );
    let output = lab.oneway(&["audit", "experiment.toml"]);
    assert!(
        !output.status.success() && stderr(&output).contains("something put around it"),
        "{}",
        stderr(&output)
    );
    let output = lab.oneway(&["certify", "experiment.toml", "--rounds", "0", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let text = json.to_string();
    assert!(text.contains("theory has no answer here"), "{text}");
}

#[test]
fn combinations_that_are_wrong_are_refused_by_name() {
    let lab = Lab::new();
    lab.write("experiment.toml", "");
    let before = lab.listing();
    for (lines, words) in [
        ("estimator = \"strom\"", ["method \"SMTPP\"", "unknown estimator `strom`: did you mean `storm`?"]),
        ("estimator = 3", ["method \"SMTPP\": `estimator` = 3", "a name, or { kind = \"…\", … }"]),
        ("estimator = { momentum = 0.5 }", ["method \"SMTPP\".estimator", "`kind` is missing"]),
        (
            "estimator = { kind = \"storm\", momentun = 1 }",
            ["method \"SMTPP\".estimator", "did you mean `momentum`?"],
        ),
        ("estimator = { kind = \"storm\", momentum = 7 }", ["method \"SMTPP\"", "storm: `momentum` = 7"]),
        ("compress = \"topk\"", ["method \"SMTPP\"", "unknown codec `topk`: did you mean `top-k`?"]),
        ("compress = 3", ["`compress` = 3", "a name, or { codec = \"…\", … }"]),
        ("compress = { codec = \"top-k\", keep = 2 }", ["method \"SMTPP\".compress", "unknown key `keep`"]),
        ("compress = { codec = \"top-k\", k = 2.5 }", ["method \"SMTPP\"", "`k` = 2.5"]),
        (
            "compress = { codec = \"random-k\", unbiased = \"no\" }",
            ["method \"SMTPP\".compress: `unbiased` = \"no\" is a string", "it must be true or false"],
        ),
        ("compress = { codec = \"random-k\", unbiased = 2 }", ["random-k: `unbiased` = 2", "true or false"]),
        ("compress = { codec = \"top-k\", fraction = true }", ["`fraction` = true is a boolean", "a number"]),
        ("compress = { k = 2 }", ["method \"SMTPP\".compress", "`codec` is missing"]),
        ("compress = { codec = \"sign\", gamma = 2 }", ["push-pull: `gamma` = 2", "must be in (0, 1]"]),
        ("compress = { codec = \"sign\", alpha = -1 }", ["push-pull: `alpha` = -1", "must be in [0, 1]"]),
        ("compress = { codec = \"random-k\", k = 1, alpha = 1 }", ["`alpha` = 1", "copies follow only if"]),
        ("gossip = 0", ["push-pull: `gossip` = 0", "1 to 1000 exchanges"]),
        ("gossip = \"two\"", ["`gossip` = \"two\"", "a whole number"]),
        ("local_steps = 0", ["push-pull: `local_steps` = 0", "1 to 100000 steps"]),
        ("local_step = 2", ["unknown key `local_step`", "did you mean `local_steps`?"]),
    ] {
        assert_refused(&lab, &before, &lab.run(&with(lines), &[]), &words);
    }
    for (kind, lines, words) in [
        ("smtpp", "estimator = \"storm\"", ["smtpp: `estimator` = storm", "those that have: push-pull"]),
        ("csgdm", "compress = \"sign\"", ["csgdm: `compress`", "sends nothing over links"]),
        ("csgdm", "local_steps = 2", ["csgdm: `local_steps` = 2", "mean of all gradients"]),
        ("cpp", "compress = \"sign\"", ["cpp: `compress` = Sign", "right in the mean"]),
        ("cpp", "local_steps = 2", ["cpp: `local_steps` = 2", "compressed by definition"]),
        (
            "rcpp",
            "compress = { codec = \"sign\", gamma = 0.1 }",
            ["rcpp: `compress`", "give them beside `kind`"],
        ),
    ] {
        let experiment = changed(&with(lines), PUSH_PULL, &format!("kind = \"{kind}\""));
        assert_refused(&lab, &before, &lab.run(&experiment, &[]), &words);
    }
    let changing =
        changed(&with("compress = \"sign\""), "kind = \"ring\"", "kind = \"one-peer-exponential\"");
    assert_refused(&lab, &before, &lab.run(&changing, &[]), &["keeps copies", "period of 2 rounds"]);
}
