//! Experiments made of an experiment: with trials as its methods, shorter, with other seeds, with what was
//! found.

use std::path::Path;

use anyhow::{Context, Result};
use oneway::numeric::sample::derive_seed;
use oneway_experiment::problem::dataset::is_name;
use oneway_experiment::set::{assign, name_of};
use oneway_experiment::sweep::is_called;
use toml::{Table, Value};

use super::trial::Trial;

/// The settings with the seeds of problem and topologies written out, and the sampling's seed changed.
pub(super) fn with_seeds_fixed(mut settings: Table, seed: u64) -> Result<Table> {
    let written = i64::try_from(seed).context("run.seed is too large to tune with")?;
    let fix = |table: &mut Table| {
        table.entry("seed").or_insert(Value::Integer(written));
    };
    settings.get_mut("problem").and_then(Value::as_table_mut).map(fix);
    let topologies = settings.get_mut("topology").and_then(Value::as_array_mut);
    topologies.into_iter().flatten().filter_map(Value::as_table_mut).for_each(fix);
    let other = (derive_seed(seed, u64::MAX) >> 1) as i64; // TOML's whole numbers have a sign
    assign(&mut settings, &["run", "seed"], Value::Integer(other))?;
    Ok(settings)
}

/// The settings of all trials on one topology, each a method of its own, for `rounds` of all `iterations`.
pub(super) fn of_trials(
    settings: &Table,
    topology: &str,
    trials: &[Trial],
    (rounds, iterations): (u64, u64),
) -> Result<Table> {
    let mut settings = only_topology(settings.clone(), topology);
    let mut methods = vec![];
    for (number, trial) in trials.iter().enumerate().filter(|(_, trial)| trial.topology == topology) {
        let mut method = method_mut(&mut settings, &trial.method)?.clone();
        trial.apply(&mut method)?;
        method.insert("name".to_owned(), Value::String(name_of_trial(number)));
        methods.push(Value::Table(method));
    }
    settings.insert("method".to_owned(), Value::Array(methods));
    shorten(&mut settings, rounds, iterations);
    assign(&mut settings, &["run", "iterations"], Value::Integer(rounds as i64))?;
    assign(&mut settings, &["run", "record_every"], Value::Integer((rounds / 20).max(1) as i64))?;
    assign(&mut settings, &["run", "measure"], Value::Array(vec![]))?; // scores need none of it
    Ok(settings)
}

pub(super) fn name_of_trial(number: usize) -> String {
    format!("trial {number}")
}

/// Shortens the decay and the warm-up of every method as the run is shortened.
fn shorten(settings: &mut Table, rounds: u64, iterations: u64) {
    let methods = settings.get_mut("method").and_then(Value::as_array_mut);
    let steps = methods.into_iter().flatten().filter_map(|method| method.get_mut("step")?.as_table_mut());
    for step in steps {
        for key in ["every", "warmup"] {
            if let Some(Value::Integer(length)) = step.get_mut(key) {
                let shorter = i128::from(*length) * i128::from(rounds) / i128::from(iterations);
                *length = i64::try_from(shorter).unwrap_or(i64::MAX).max(i64::from(*length > 0));
            }
        }
    }
}

/// The whole experiment on one topology, with the best values of each method.
pub(super) fn tuned(settings: &Table, topology: &str, best: &[Trial]) -> Result<Table> {
    let mut settings = only_topology(settings.clone(), topology);
    for trial in best.iter().filter(|trial| trial.topology == topology && trial.score.is_some()) {
        trial.apply(method_mut(&mut settings, &trial.method)?)?;
    }
    Ok(settings)
}

/// The same settings for a file in another folder: paths are written out in full.
pub(super) fn moved(mut settings: Table, folder: &Path) -> Result<Table> {
    if let Some(problem) = settings.get_mut("problem") {
        write_out(problem, &["dataset", "test"], folder)?;
    }
    let topologies = settings.get_mut("topology").and_then(Value::as_array_mut);
    for table in topologies.into_iter().flatten() {
        write_out(table, &["file", "files", "pull", "push"], folder)?;
    }
    Ok(settings)
}

/// Makes the paths under these keys absolute.
fn write_out(table: &mut Value, keys: &[&str], folder: &Path) -> Result<()> {
    for key in keys {
        let paths = match table.get_mut(*key) {
            Some(Value::Array(paths)) => paths.iter_mut().collect(),
            path => Vec::from_iter(path),
        };
        for path in paths {
            if let Value::String(path) = path
                && !is_name(path)
            {
                *path = std::path::absolute(folder.join(&*path))?.display().to_string();
            }
        }
    }
    Ok(())
}

/// The settings of one topology and of the methods that run on it.
fn only_topology(mut settings: Table, topology: &str) -> Table {
    if let Some(items) = settings.get_mut("topology").and_then(Value::as_array_mut) {
        items.retain(|item| name_of(item) == topology);
    }
    if let Some(methods) = settings.get_mut("method").and_then(Value::as_array_mut) {
        methods.retain_mut(|method| {
            let only = method.as_table_mut().and_then(|method| method.remove("only"));
            let names = only.as_ref().and_then(Value::as_array);
            let is_it = |name: &Value| name.as_str().is_some_and(|name| is_called(topology, name));
            names.is_none_or(|names| names.iter().any(is_it))
        });
    }
    settings
}

fn method_mut<'s>(settings: &'s mut Table, name: &str) -> Result<&'s mut Table> {
    let methods = settings.get_mut("method").and_then(Value::as_array_mut);
    let method = methods.into_iter().flatten().find(|item| name_of(item) == name);
    method.and_then(Value::as_table_mut).with_context(|| format!("there is no method called \"{name}\""))
}
