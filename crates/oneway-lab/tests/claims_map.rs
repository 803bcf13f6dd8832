//! `oneway claims map`: the same bytes on any threads, resumed, and from the cache; bad files are refused.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Lab, stderr, stdout};

/// A small space: short runs, few answers, readings near the paper's words alone.
fn small(lab: &Lab) {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments/claims/readings.toml");
    let text = fs::read_to_string(own).unwrap();
    let text = &text[..text.find("[[look]]").unwrap()];
    let more = "3 |5 |6 |7 |8 |9 |10 |petals of|ring of|ring with|shuffled|Dirichlet|over n|lazy|the old";
    let is_more = |line: &&str| more.split('|').any(|start| line.starts_with(&format!("\"{start}")));
    let text: String =
        text.lines().filter(|line| !is_more(line)).map(|line| line.to_owned() + "\n").collect();
    for (from, to) in [
        ("iterations = 900", "iterations = 40"),
        ("repetitions = 5", "repetitions = 2"),
        ("sampled = 320", "sampled = 6"),
        ("near = 2", "near = 0"),
        ("[0.2, 0.01, 0.05, 0.5, 1.0]", "[0.2, 0.05]"),
        ("levels = [900, 600, 300]", "levels = [40, 20]"),
    ] {
        assert!(text.contains(from), "{from}");
        let before = fs::read_to_string(lab.path("readings.toml")).unwrap_or_else(|_| text.clone());
        lab.write("readings.toml", before.replace(from, to));
    }
}

#[test]
fn a_map_has_the_same_bytes_on_any_threads_and_goes_on_where_it_was() {
    let lab = Lab::new();
    small(&lab);
    let map = |threads: &str, out: &str| {
        let output =
            lab.oneway(&["claims", "map", "--readings", "readings.toml", "--threads", threads, "--out", out]);
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    let said = map("1", "one");
    assert!(said.contains("the paper's words") && said.contains("a look around"), "{said}");
    map("2", "two");
    // what an interrupted run has finished is taken, the rest is run
    fs::create_dir_all(lab.path("three/cells")).unwrap();
    for entry in fs::read_dir(lab.path("one/cells")).unwrap().step_by(2) {
        let from = entry.unwrap().path();
        fs::copy(&from, lab.path("three/cells").join(from.file_name().unwrap())).unwrap();
    }
    map("2", "three");
    for file in
        ["map.json", "map.csv", "summary.json", "pages.md", "map.html", "figures/map.svg", "figures/map.png"]
    {
        let [one, two, three] =
            ["one", "two", "three"].map(|out| fs::read(lab.path(out).join(file)).unwrap());
        assert!(one == two && one == three, "{file}");
    }
    let whole: Value = serde_json::from_slice(&fs::read(lab.path("one/map.json")).unwrap()).unwrap();
    let summary: Value = serde_json::from_slice(&fs::read(lab.path("one/summary.json")).unwrap()).unwrap();
    assert_eq!(summary["rules_sha256"], whole["rules_sha256"]);
    let [readings, claims] = ["readings", "claims"].map(|key| whole[key].as_array().unwrap().len());
    let lines = fs::read_to_string(lab.path("one/map.csv")).unwrap().lines().count();
    assert_eq!(lines, 1 + readings * claims * 8);

    // algebra decides by floors: there is one where errors shrink, and none where they grow
    for reading in whole["readings"].as_array().unwrap() {
        assert_eq!(reading["theory"].as_str().unwrap().chars().count(), claims);
        for exact in
            reading["exact"].as_object().unwrap().values().flat_map(|g| g.as_object().unwrap().values())
        {
            assert_eq!(exact["floor"].is_null(), exact["rate"].as_f64().unwrap() >= 1.0, "{exact}");
        }
    }
    // a rival with several steps is judged at one of them
    let tried =
        whole["readings"].as_array().unwrap().iter().filter(|r| r["tried"]["exponential"].is_object());
    let mut count = 0;
    for reading in tried {
        let steps = reading["tried"]["exponential"].as_object().unwrap();
        let own = steps.iter().filter(|(name, _)| name.starts_with("STPP at "));
        assert!(own.map(|(_, keys)| keys).any(|keys| *keys == reading["cells"]["exponential"]["STPP"]));
        count += 1;
    }
    assert!(count > 0, "no reading has rivals at their best");

    // on other samples, those that decide
    let output =
        lab.oneway(&["claims", "map", "--confirm", "--readings", "readings.toml", "--out", "confirmed"]);
    assert!(stdout(&output).contains("these runs decide"), "{}", stderr(&output));
    let other: Value = serde_json::from_slice(&fs::read(lab.path("confirmed/map.json")).unwrap()).unwrap();
    assert_ne!(other["seed"], whole["seed"]);
    assert_ne!(other["readings"][0]["loss"], whole["readings"][0]["loss"]);
}

#[test]
fn bad_files_are_refused_and_nothing_is_written() {
    let lab = Lab::new();
    lab.write("rules.toml", "level = 0.05");
    for (arguments, expected) in [
        (["--rules", "rules.toml"], "missing field"),
        (["--rules", "nowhere.toml"], "cannot read nowhere.toml"),
        (["--readings", "rules.toml"], "readings"),
    ] {
        let output = lab.oneway(&[&["claims", "map", "--out", "out"][..], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(expected), "{}", stderr(&output));
        assert!(!lab.path("out").exists());
    }
}
