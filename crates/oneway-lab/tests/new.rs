//! `oneway new`: what it writes runs as it is; what it cannot write it refuses; what it asks it asks on a
//! terminal.
#![allow(clippy::unwrap_used)]

use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::common::{self, Lab, assert_refused, stderr, stdout};

/// A table with classes that a line tells apart, some features far larger than others.
fn table() -> String {
    let row = |r: usize| {
        let (a, b) = ((r * 37 % 101) as f64, (r * 53 % 97) as f64);
        format!("{},{},{}\n", a * 1000.0, b / 100.0, if a > b { "up" } else { "down" })
    };
    format!("mass,share,label\n{}", (0..200).map(row).collect::<String>())
}

#[track_caller]
fn runs(lab: &Lab, arguments: &[&str]) {
    let file = "made.toml";
    let made = lab.oneway(&[&["new", file], arguments].concat());
    assert!(made.status.success(), "{arguments:?}: {}", stderr(&made));
    assert!(stdout(&made).contains("oneway run made.toml"), "{}", stdout(&made));
    let text = std::fs::read_to_string(lab.path(file)).unwrap();
    let bare = |line: &str| !line.is_empty() && !line.starts_with('[') && !line.contains('#');
    assert_eq!(text.lines().find(|line| bare(line)), None, "a key without a comment");
    let ran = lab.oneway(&[
        "run",
        file,
        "--no-report",
        "--out",
        "results",
        "--set",
        "run.iterations=60",
        "--set",
        "run.repetitions=1",
    ]);
    assert!(ran.status.success(), "{arguments:?}: {}\n{text}", stderr(&ran));
    for cell in common::Results::read(&lab.path("results")).cells() {
        assert_eq!(cell["status"], "completed", "{arguments:?}\n{text}");
    }
    std::fs::remove_file(lab.path(file)).unwrap();
    std::fs::remove_dir_all(lab.path("results")).unwrap();
}

#[test]
fn what_is_written_runs() {
    let lab = Lab::new();
    lab.write("own.csv", table());
    lab.write("links.csv", "from,to\nann,bob\nbob,cid\ncid,ann\nann,cid\n");
    lab.write("one.txt", "1 2 3\n2 3 1\n3 1 2\n1 1 1\n2 2 1\n3 3 1\n");
    let data: [&[&str]; 7] = [
        &["--dataset", "a9a"],
        &["--dataset", "digits"],
        &["--problem", "quadratic"],
        &["--problem", "least-squares"],
        &["--problem", "two-layer"],
        &["--dataset", "rows.txt", "--agents", "4"],
        &["--dataset", "own.csv"],
    ];
    let networks: [&[&str]; 3] = [
        &["--topology", "ring"],
        &["--topology", "exponential", "--methods", "smtpp,stpp,csgdm"],
        &["--topology", "flower"],
    ];
    for data in data {
        for network in networks {
            let few = data.contains(&"--agents") && network.contains(&"flower");
            let network = if few { &["--topology", "complete"] } else { network };
            let agents: &[&str] = if data.contains(&"--agents") { &[] } else { &["--agents", "6"] };
            runs(&lab, &[data, network, agents].concat());
        }
    }
    for links in ["links.csv", "one.txt"] {
        runs(&lab, &["--dataset", "own.csv", "--topology", links]);
    }
    runs(&lab, &["--yes"]);
}

#[test]
fn nothing_is_overwritten_and_what_would_not_run_is_not_written() {
    let lab = Lab::new();
    lab.write("there.toml", "mine");
    lab.write("bare.csv", "1,2\n3,4\n");
    let before = lab.listing();
    for (arguments, words) in [
        (&["there.toml", "--yes"][..], "there.toml: it is there already, and is not overwritten"),
        (&["--out", "there.toml", "--yes"], "there.toml: it is there already"),
        (
            &[],
            "there is no terminal to ask on: say what the experiment is, as in `oneway new experiment.toml --dataset a9a",
        ),
        (&["--dataset", "nowhere.csv"], "nowhere.csv: No such file"),
        (&["--dataset", "bare.csv"], "which of its 2 columns is the label?"),
        (&["--problem", "quadratik"], "unknown problem `quadratik`: did you mean `quadratic`?"),
        (&["--topology", "rings"], "unknown topology `rings`: did you mean `ring`?"),
        (&["--methods", "smtp"], "unknown method `smtp`: did you mean `smtpp`?"),
        (&["--topology", "ring", "--agents", "0"], "experiment.toml would not run, and is not written"),
        (
            &["--topology", "flower", "--agents", "6", "--methods", "dsgd"],
            "experiment.toml would not run, and is not written",
        ),
        (&["--dataset", "rows.txt", "--agents", "13"], "experiment.toml would not run, and is not written"),
    ] {
        let output = lab.command(&[&["new"], arguments].concat()).stdin(Stdio::null()).output().unwrap();
        assert_refused(&lab, &before, &output, &[words]);
    }
    assert_eq!(std::fs::read_to_string(lab.path("there.toml")).unwrap(), "mine");
}

/// Types these lines on a pseudo-terminal, by util-linux's `script`; without it the test fails.
fn typed(lab: &Lab, arguments: &str, lines: &str) -> (i32, String) {
    let command = format!("{} new {arguments}", env!("CARGO_BIN_EXE_oneway"));
    let mut child = Command::new("script")
        .args(["--quiet", "--return", "--command", &command, "/dev/null"])
        .current_dir(lab.path(""))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("`script` of util-linux is needed for this test");
    child.stdin.take().unwrap().write_all(lines.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.code().unwrap(), String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn three_questions_are_asked_on_a_terminal() {
    let lab = Lab::new();
    lab.write("own.csv", table().replace("label", "kind"));
    // defaults
    let (code, shown) = typed(&lab, "", "\n\n\n");
    assert_eq!(code, 0, "{shown}");
    for question in [
        "Which data?",
        "[a9a]:",
        "Which network",
        "[exponential 20]:",
        "Which methods?",
        "[smtpp push-pull sgp]:",
    ] {
        assert_eq!(shown.matches(question).count(), 1, "{question}: {shown}");
    }
    let text = std::fs::read_to_string(lab.path("experiment.toml")).unwrap();
    assert!(text.contains("dataset = \"a9a\"") && text.contains("agents = 20"), "{text}");
    // a wrong answer is asked again; a table without a clear label asks for its column
    let (code, shown) = typed(&lab, "own.toml", "nothing.csv\nown.csv\nkind\nrang\nring 5\nsmtpp, sgp\n");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("No such file") && shown.contains("did you mean `ring`?"), "{shown}");
    let text = std::fs::read_to_string(lab.path("own.toml")).unwrap();
    for words in
        ["dataset = \"own.csv\"", "label = \"kind\"", "agents = 5", "kind = \"ring\"", "kind = \"sgp\""]
    {
        assert!(text.contains(words), "{words} is not in {text}");
    }
    // what flags say is not asked; answers that stay wrong end it
    let (code, shown) = typed(&lab, "third.toml --dataset a9a --methods smtpp", "ring 7\n");
    assert_eq!(code, 0, "{shown}");
    assert!(!shown.contains("Which data?") && !shown.contains("Which methods?"), "{shown}");
    let (code, shown) = typed(&lab, "fourth.toml", "x\nx\nx\nx\nx\n");
    assert_eq!(code, 2, "{shown}");
    assert!(shown.contains("nothing is written") && !lab.path("fourth.toml").exists(), "{shown}");
}
