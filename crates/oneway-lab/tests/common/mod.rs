//! Runs the binary in a folder of its own and reads what it leaves there.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)] // each test file uses a part of it

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// A small experiment on data from a file: the tests change a line of it.
pub const EXPERIMENT: &str = r#"
[problem]
kind = "logistic"
dataset = "rows.txt"
features = 3
alpha = 0.01
partition = "even"
batch = 1

[run]
agents = 4
iterations = 25
repetitions = 2
seed = 1
record_every = 10

[[topology]]
name = "loop"
kind = "ring"
root = 0

[[method]]
name = "SMTPP"
kind = "smtpp"
momentum = 0.1
graph = "full"
step = { size = 0.1 }
"#;

/// The data of [`EXPERIMENT`]: three rows for each of its four agents.
pub const ROWS: &str = "\
+1 1:1 3:0.5\n-1 2:1\n+1 1:0.5\n-1 2:1 3:1\n+1 1:1\n-1 2:2\n+1 1:1 2:0.5\n-1 3:1\n+1 1:2\n-1 2:0.25\n+1 3:-1\n-1 1:-1\n";

/// A folder to run in.
pub struct Lab {
    folder: TempDir,
}

impl Lab {
    /// An empty folder except for `rows.txt`.
    pub fn new() -> Self {
        let lab = Self { folder: tempfile::tempdir().unwrap() };
        lab.write("rows.txt", ROWS);
        lab
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.path(name), content).unwrap();
    }

    /// `oneway` with these arguments, in the folder, not yet started.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_oneway"));
        command.current_dir(self.folder.path()).args(arguments);
        command
    }

    pub fn oneway(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// The same, which must be done within seconds: refusals do not wait for anything.
    #[track_caller]
    pub fn soon(&self, arguments: &[&str]) -> Output {
        let mut command = self.command(arguments);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let (mut child, began) = (command.spawn().unwrap(), Instant::now());
        while child.try_wait().unwrap().is_none() {
            let in_time = began.elapsed() < Duration::from_secs(5);
            if !in_time {
                child.kill().unwrap();
            }
            assert!(in_time, "not done after five seconds: {arguments:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
        child.wait_with_output().unwrap()
    }

    /// Runs an experiment with further arguments; results go to `results` unless they say otherwise.
    pub fn run(&self, experiment: &str, arguments: &[&str]) -> Output {
        self.write("experiment.toml", experiment);
        let mut all = vec!["run", "experiment.toml", "--no-report"];
        if !arguments.contains(&"--out") {
            all.extend(["--out", "results"]);
        }
        all.extend(arguments);
        self.oneway(&all)
    }

    /// Runs an experiment that must succeed, without a word on standard error, and reads its results.
    pub fn results(&self, experiment: &str, arguments: &[&str]) -> Results {
        let output = self.run(experiment, arguments);
        assert!(output.status.success(), "{experiment}\n{arguments:?}: {}", stderr(&output));
        assert_eq!(stderr(&output), "", "standard error must stay empty when it is no terminal");
        Results::read(&self.path("results"))
    }

    /// The names in the folder, sorted.
    pub fn listing(&self) -> Vec<String> {
        names_in(self.folder.path())
    }
}

/// `curves.csv` and `summary.json` of a run.
pub struct Results {
    pub csv: String,
    pub summary: Value,
}

impl Results {
    pub fn read(folder: &Path) -> Self {
        assert_eq!(
            names_in(folder),
            ["cells", "curves.csv", "summary.json"],
            "nothing half-written stays behind"
        );
        Self::read_shown(folder)
    }

    /// The same of a run that has shown itself, or was drawn.
    pub fn read_shown(folder: &Path) -> Self {
        let summary = fs::read_to_string(folder.join("summary.json")).unwrap();
        Self {
            csv: fs::read_to_string(folder.join("curves.csv")).unwrap(),
            summary: serde_json::from_str(&summary).unwrap(),
        }
    }

    /// The lines of the curves below the header, cut into cells.
    pub fn rows(&self) -> Vec<Vec<&str>> {
        self.csv.lines().skip(1).map(|line| line.split(',').collect()).collect()
    }

    /// The rows of one method.
    pub fn rows_of(&self, method: &str) -> Vec<Vec<&str>> {
        self.rows().into_iter().filter(|row| row[1] == method).collect()
    }

    pub fn cells(&self) -> &[Value] {
        self.summary["cells"].as_array().unwrap()
    }

    /// The state hash of each cell.
    pub fn hashes(&self) -> Vec<&str> {
        self.cells().iter().map(|cell| cell["state_hash"].as_str().unwrap()).collect()
    }

    pub fn statuses(&self) -> Vec<&str> {
        self.cells().iter().map(|cell| cell["status"].as_str().unwrap()).collect()
    }
}

pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// `text` with `from`, which must be in it, replaced by `to`.
pub fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "`{from}` is not in the experiment");
    text.replacen(from, to, 1)
}

/// Checks that the run was refused: these words on standard error, each place named once, nothing written.
#[track_caller]
pub fn assert_refused(lab: &Lab, before: &[String], output: &Output, words: &[&str]) {
    let message = stderr(output);
    print!("{message}"); // shown by `cargo test -- --nocapture`
    assert_eq!(output.status.code(), Some(2), "{words:?}\n{message}");
    assert!(output.stdout.is_empty(), "{message}");
    assert!(message.starts_with("oneway: "), "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    let parts: Vec<&str> = message.trim().split(": ").collect();
    let twice = parts.iter().enumerate().find(|(i, part)| parts[..*i].contains(part));
    assert_eq!(twice, None, "said twice: {message}");
    assert_eq!(lab.listing(), before, "something was written: {message}");
}

pub fn names_in(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}
