//! `oneway run --shard` and `oneway merge`: shares put together are one run, and what does not belong together
//! is refused.
#![allow(clippy::unwrap_used)]

use std::fs;

use serde_json::Value;

use crate::common::{Lab, assert_refused, stderr};

/// Two networks, three methods, three repetitions. The centralised method is the same run on both networks.
const SWEPT: &str = r#"
[problem]
kind = "quadratic"
dim = 3
noise = 0.1
[run]
agents = 5
iterations = 30
repetitions = 3
record_every = 10
[[topology]]
kind = "ring"
[[topology]]
kind = "star"
[[method]]
kind = "smtpp"
step = 0.05
[[method]]
kind = "sgp"
step = 0.05
[[method]]
kind = "csgdm"
step = 0.05
[sweep]
problem.noise = [0.1, 0.2]
"#;

/// The summary without times, which are no two runs' the same.
fn timeless(lab: &Lab, folder: &str) -> String {
    let text = fs::read_to_string(lab.path(folder).join("summary.json")).unwrap();
    text.lines().filter(|line| !line.contains("\"seconds_")).collect::<Vec<_>>().join("\n")
}

fn shares(lab: &Lab, count: usize, also: &[&str]) -> Vec<String> {
    let share = |index: usize| {
        let (shard, out) = (format!("{index}/{count}"), format!("part-{index}-{count}"));
        let mut arguments = vec!["--shard", &shard, "--out", &out];
        arguments.extend(also);
        let output = lab.run(SWEPT, &arguments);
        assert!(output.status.success(), "{}", stderr(&output));
        out
    };
    (1..=count).map(share).collect()
}

fn merge<'a>(lab: &Lab, parts: impl IntoIterator<Item = &'a String>, out: &'a str) -> std::process::Output {
    let mut arguments: Vec<&str> = vec!["merge"];
    arguments.extend(parts.into_iter().map(String::as_str));
    arguments.extend(["--out", out, "--no-report"]);
    lab.soon(&arguments)
}

#[test]
fn shares_put_together_are_the_bytes_of_one_run() {
    let lab = Lab::new();
    let whole = lab.results(SWEPT, &[]);
    for count in [1, 2, 5, 40] {
        let parts = shares(&lab, count, &[]);
        let ran = |part: &String| -> Vec<(Value, Value, Value)> {
            let text = fs::read_to_string(lab.path(part).join("summary.json")).unwrap();
            let summary: Value = serde_json::from_str(&text).unwrap();
            let cells = summary["cells"].as_array().unwrap();
            let names =
                |cell: &Value| [&cell["topology"], &cell["method"], &cell["repetition"]].map(Clone::clone);
            cells.iter().map(|cell| names(cell).into()).collect()
        };
        let total: usize = parts.iter().map(|part| ran(part).len()).sum();
        assert_eq!(total, whole.cells().len(), "every cell is in one of {count} shares");
        if count == 2 {
            assert!(parts.iter().all(|part| ran(part).len() >= whole.cells().len() / 3), "shares are alike");
        }
        // in any order
        let out = format!("merged-{count}");
        let output = merge(&lab, parts.iter().rev(), &out);
        assert!(output.status.success(), "{}", stderr(&output));
        assert_eq!(fs::read_to_string(lab.path(&out).join("curves.csv")).unwrap(), whole.csv);
        assert_eq!(timeless(&lab, &out), timeless(&lab, "results"));
        // and what was computed need not be computed again
        let kept = |folder: &str| fs::read_dir(lab.path(folder).join("cells")).unwrap().count();
        assert_eq!(kept(&out), kept("results"));
    }
    let again = merge(&lab, &["merged-2".to_owned()], "merged-again");
    assert!(again.status.success(), "{}", stderr(&again));
    assert_eq!(timeless(&lab, "merged-again"), timeless(&lab, "results"));
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let lab = Lab::new();
    let parts = shares(&lab, 3, &[]);
    let refused = |parts: &[&String], why: &str| {
        let before = lab.listing();
        let output = merge(&lab, parts.iter().copied(), "out");
        assert_refused(&lab, &before, &output, &[why]);
    };
    refused(&[&parts[0], &parts[2]], "in none of these folders");
    refused(&[&parts[0], &parts[1], &parts[2], &parts[1]], "must not overlap");
    let other = shares(&lab, 2, &[]);
    refused(&[&parts[0], &other[0]], "must not overlap");
    let changed = shares(&lab, 4, &["--set", "run.seed=7"]);
    refused(&[&parts[0], &changed[1]], "their settings differ");
    refused(&[&"nowhere".to_owned()], "summary.json");

    let curves = lab.path(&parts[1]).join("curves.csv");
    let text = fs::read_to_string(&curves).unwrap();
    fs::write(&curves, text + "\n").unwrap();
    refused(&[&parts[0], &parts[1], &parts[2]], "was changed since it was written");

    for wrong in ["0/2", "3/2", "1", "x/2", "1/0"] {
        lab.write("experiment.toml", SWEPT);
        let output = lab.soon(&["run", "experiment.toml", "--shard", wrong]);
        assert_eq!(output.status.code(), Some(2), "{wrong}: {}", stderr(&output));
        assert!(stderr(&output).contains("i from 1 to k"), "{}", stderr(&output));
        assert!(!lab.path("out").exists());
    }
}
