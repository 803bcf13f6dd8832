//! Every experiment of the repository runs. What pages show is run by `scripts/check-docs`.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{Lab, stderr};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn experiments(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let found = entries.flat_map(|path| match path.is_dir() {
        true => experiments(&path),
        false => vec![path],
    });
    // hosts of agents are no experiments, nor are the readings and rules of the claims
    let is_one = |name: &str| name.ends_with(".toml") && !name.ends_with("-hosts.toml");
    let is_claims = |path: &PathBuf| path.parent().is_some_and(|folder| folder.ends_with("claims"));
    let found = found.filter(|path| !is_claims(path));
    found.filter(|path| path.file_name().and_then(|name| name.to_str()).is_some_and(is_one)).collect()
}

/// Runs two rounds of an experiment.
fn runs(lab: &Lab, file: &str) {
    let short = ["run.iterations=2", "run.record_every=1", "run.repetitions=1"];
    let short = short.iter().flat_map(|pair| ["--set", pair]);
    let arguments = ["run", file, "--no-report", "--fresh", "--out", "out"].into_iter().chain(short);
    let output = lab.oneway(&arguments.collect::<Vec<_>>());
    assert!(output.status.success(), "{file}: {}", stderr(&output));
}

#[test]
fn every_experiment_of_the_repository_runs() {
    let lab = Lab::new();
    let files =
        [experiments(&root().join("experiments")), experiments(&root().join("benches/loss"))].concat();
    assert!(files.len() > 8, "{files:?}");
    files.iter().for_each(|file| runs(&lab, file.to_str().unwrap()));
}

/// Results go to a folder by the file's name, so names are unique.
#[test]
fn no_two_experiments_of_the_repository_share_a_default_folder() {
    let files = experiments(&root().join("experiments"));
    let mut names: Vec<_> = files.iter().map(|file| file.file_stem().unwrap()).collect();
    names.sort();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
}

/// The number of methods in README is the registry's.
#[test]
fn the_readme_counts_the_methods() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let count = oneway::methods::KINDS.len();
    assert!(readme.contains(&format!("{count} methods")), "there are {count} methods");
}
