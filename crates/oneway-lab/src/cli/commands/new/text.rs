//! The experiment file: every key with a comment of a line.

use std::fmt::Write;
use std::path::Path;

use toml::Value;

use super::{Methods, Network, Task};

/// Where comments begin.
const COLUMN: usize = 34;

/// A file being written.
struct Page(String);

impl Page {
    fn line(&mut self, text: &str) {
        self.0 += text;
        self.0.push('\n');
    }

    /// `key = value`, and what it means.
    fn key(&mut self, key: &str, value: impl Into<Value>, about: &str) {
        let setting = format!("{key} = {}", value.into());
        let _ = writeln!(self.0, "{setting:<COLUMN$} # {about}");
    }

    /// One that is not set, to be tried.
    fn idea(&mut self, setting: &str, about: &str) {
        let _ = writeln!(self.0, "{:<COLUMN$} # {about}", format!("# {setting}"));
    }
}

/// The whole file.
pub(super) fn experiment(file: &Path, task: &Task, network: &Network, methods: &Methods) -> String {
    let mut page = Page(String::new());
    page.line(&format!("# Run it:   oneway run {}", file.display()));
    page.line("# All keys: docs/formats.md, and `oneway problems`, `oneway topologies`, `oneway methods`");
    page.line("");
    problem(&mut page, task);
    page.line("\n[run]");
    page.key("agents", network.agents as i64, "how many share the rows");
    page.key("iterations", 500, "rounds");
    page.key("repetitions", 3, "runs of each method, with samples of their own");
    page.key("record_every", 10, "rounds between two points of a curve");
    page.key("seed", 1, "the same seed gives the same bits");
    topology(&mut page, network);
    for kind in &methods.0 {
        page.line("\n[[method]]");
        page.key("kind", kind.name, kind.about);
        let _ = writeln!(
            page.0,
            "step = {{ size = {}, scaling = \"effective\" }} # the step of the agents' average; `oneway tune` finds better",
            task.step
        );
        if kind.parameters.iter().any(|parameter| parameter.name == "momentum") {
            page.idea("momentum = 0.1", "the weight of the newest gradient");
        }
    }
    page.0
}

fn problem(page: &mut Page, task: &Task) {
    page.line("[problem]");
    page.key("kind", &*task.kind, "what is minimised");
    match task.dataset.as_deref() {
        None => {
            page.key("dim", 10, "d, the length of x");
            page.key("noise", 1.0, "standard deviation of stochastic gradients");
        }
        Some("synthetic") => {
            page.key("dataset", "synthetic", "rows that are drawn");
            page.key("rows", 2000, "of all agents together");
            page.key("features", 10, "d, the length of a row");
        }
        Some(dataset) => {
            page.key(
                "dataset",
                dataset,
                if task.is_file { "relative to the folder of this file" } else { "built in" },
            );
        }
    }
    if let Some(label) = &task.label {
        page.key("label", label.clone(), "where the labels are");
    }
    let classifies = ["logistic", "softmax", "two-layer"].contains(&&*task.kind);
    if task.is_file && classifies {
        page.key("split", 0.2, "share of the rows that is held out, for the test accuracy");
    }
    if let Some(scaling) = task.scaling {
        page.key("scaling", scaling, "of the features, fitted on the rows to learn from");
    }
    if task.dataset.is_some() {
        page.key("partition", "shuffled", "who gets which rows; \"by-label\" makes agents differ");
        page.key("batch", 1, "rows of a stochastic gradient, or \"full\"");
    }
}

fn topology(page: &mut Page, network: &Network) {
    page.line("\n[[topology]]");
    let Some(file) = &network.file else {
        page.key("kind", &*network.name, "who hears whom");
        page.idea("loss = 0.1", "share of messages that are lost");
        return;
    };
    page.key("name", "network", "what it is called in figures");
    page.key("file", &*network.name, "an edge list: agent `from` is heard by agent `to`");
    if file.base == 1 {
        page.key("base", 1, "its agents are numbered from 1");
    }
    if file.names {
        page.key("names", true, "its agents have names, numbered in ascending order");
    }
    if file.weighted {
        page.key("normalise", true, "rows of R and columns of C are divided by their sums");
    }
}
