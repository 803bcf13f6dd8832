//! A program with entries of its own has the whole command line: `examples/own_command.rs`.
#![allow(clippy::unwrap_used)]

use std::process::{Command, Output};

use crate::common::{Lab, stderr, stdout};

const FILE: &str = r#"
[problem]
kind = "posts"
spacing = 2.0

[run]
agents = 6
iterations = 300

[[topology]]
kind = "ladder"
rungs = false

[[topology]]
kind = "complete"
weights = "metropolis"

[[method]]
kind = "descent"
step = 0.05
only = ["complete"]

[[method]]
kind = "push-pull"
step = 0.05
compress = "powers-of-two"
"#;

/// Runs the example in the laboratory's folder. `cargo test` builds the examples beside the tests; a single
/// test target does not.
fn own_command(lab: &Lab, arguments: &[&str]) -> Output {
    let tests = std::env::current_exe().unwrap();
    let target = tests.parent().and_then(|deps| deps.parent()).unwrap();
    let example = target.join("examples/own_command").with_extension(std::env::consts::EXE_EXTENSION);
    assert!(
        example.exists(),
        "{} is not built: run `cargo build -p oneway-lab --examples`",
        example.display()
    );
    Command::new(example).args(arguments).current_dir(lab.path("")).output().unwrap()
}

#[test]
fn files_name_what_the_program_has() {
    let lab = Lab::new();
    lab.write("own.toml", FILE);
    let run = own_command(&lab, &["run", "own.toml", "--no-report", "--out", "results"]);
    assert!(run.status.success(), "{}", stderr(&run));
    let verify = own_command(&lab, &["verify", "results"]);
    assert!(verify.status.success(), "{}{}", stdout(&verify), stderr(&verify));
    // the command without these entries does not know them
    let plain = lab.oneway(&["run", "own.toml"]);
    assert_eq!(plain.status.code(), Some(2), "{}", stderr(&plain));
    assert!(stderr(&plain).contains("unknown kind `posts`"), "{}", stderr(&plain));
}

#[test]
fn listings_and_inspect_know_them_too() {
    let lab = Lab::new();
    let lists = [
        ("methods", "descent"),
        ("codecs", "powers-of-two"),
        ("problems", "posts"),
        ("topologies", "ladder"),
    ];
    for (list, name) in lists {
        let output = own_command(&lab, &[list]);
        assert!(stdout(&output).lines().any(|line| line == name), "{}", stdout(&output));
    }
    let output = own_command(&lab, &["methods", "--page", "page"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = std::fs::read_to_string(lab.path("page/methods.md")).unwrap();
    assert!(page.contains("### `descent`") && page.contains("| `powers-of-two` |"));
    assert!(lab.path("page/images/methods/descent.svg").exists());
    let output = own_command(&lab, &["topologies"]);
    assert!(stdout(&output).contains("(true or false, default true)"), "{}", stdout(&output));
    let inspected = own_command(&lab, &["inspect", "ladder:agents=8,rungs=false", "--methods", "all"]);
    assert!(inspected.status.success(), "{}", stderr(&inspected));
    let refused = own_command(&lab, &["inspect", "ladder:agents=8,rungs=maybe"]);
    assert!(
        stderr(&refused).contains("`rungs` = \"maybe\" is a string: it must be true or false"),
        "{}",
        stderr(&refused)
    );
}
