//! `oneway tune`: step size and momentum for each method on each topology, by successive halving.
//!
//! Every method gets the same number of candidates on each topology: a grid of steps × momenta for those that have
//! momentum, a finer grid of steps for those that do not. All run a ninth of the iterations, the best third of them a
//! third, the best third of those all; a decay or a warm-up is shortened with the run, so that a short run is a small
//! picture of the whole. The file's own setting stays in to the end: what is found is never worse on these samples.
//! Tuning draws samples of its own, so that what is reported later is not what was tuned on.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use comfy_table::{Table as Lines, presets};
use oneway::sample::derive_seed;
use serde::Serialize;
use toml::{Table, Value};

use crate::args::{Criterion, TuneArgs};
use crate::experiment::Experiment;
use crate::experiment::plan::Plan;
use crate::experiment::problem::dataset::is_name;
use crate::experiment::set::{assign, name_of};
use crate::experiment::spec::MethodSpec;
use crate::experiment::sweep;
use crate::results::cells::{CellResult, CellStatus, CellStore};
use crate::results::folder::OutputFolder;
use crate::runner::Runner;

/// Candidates for each method on each topology.
const CANDIDATES: usize = 27;
const MOMENTA: [f64; 3] = [0.05, 0.1, 0.3];
/// Candidates' steps reach from 1/SPAN of the step in the file to SPAN times it.
const SPAN: f64 = 16.0;
/// A rung keeps one in so many, and runs so many times longer.
const KEEP: usize = 3;
const RUNGS: u32 = 3;

/// One setting of one method on one topology, and how it did.
#[derive(Debug, Clone, Serialize)]
struct Trial {
    topology: String,
    method: String,
    step: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    momentum: Option<f64>,
    /// Whether it is the file's own setting.
    own: bool,
    /// Whether its step or momentum is at the edge of the grid.
    edge: bool,
    /// How far it was run, and its score there; none if it diverged.
    iterations: u64,
    score: Option<f64>,
}

/// Runs the command.
pub(crate) fn tune(args: &TuneArgs) -> Result<ExitCode> {
    let experiment = Experiment::read(&args.file, &args.overrides)?;
    let [spec] = &experiment.variants[..] else {
        bail!("{}: tune an experiment without a sweep of run or problem", args.file.display());
    };
    let iterations = spec.run.iterations;
    let expanded = sweep::expand(experiment.settings.clone())?.remove(0);
    let settings = with_seeds_fixed(expanded.clone(), spec.run.seed)?;
    let mut trials: Vec<Trial> = vec![];
    for topology in &spec.topologies {
        for method in &spec.methods {
            trials.extend(candidates(&topology.name, method));
        }
    }

    let runner = Runner::new(args.threads)?;
    let default_out = Path::new("out").join(args.file.file_stem().unwrap_or_default()).join("tune");
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(&default_out))?;
    let store = CellStore::of(folder.path());
    let mut all = vec![];
    for rung in 0..RUNGS {
        let rounds = (iterations / (KEEP as u64).pow(RUNGS - 1 - rung)).max(1);
        let length = (rounds, iterations);
        score(&mut trials, &settings, &experiment.folder, length, args.by, &runner, &store)?;
        if runner.is_interrupted() {
            eprintln!("oneway: interrupted; what is finished is kept for the next run");
            return Ok(ExitCode::from(130));
        }
        all.extend(trials.iter().cloned());
        trials = best(trials, if rung + 1 == RUNGS { usize::MAX } else { KEEP });
    }

    folder.write("trials.json", serde_json::to_string_pretty(&all)? + "\n")?;
    let mut lines = Lines::new();
    lines.load_style(presets::UTF8_BORDERS_ONLY);
    lines.set_header(["topology", "method", "step", "momentum", "score", ""]);
    for trial in &trials {
        let note = match trial {
            Trial { score: None, .. } => "every candidate diverged: left as it was",
            Trial { own: true, .. } => "the file's own",
            Trial { edge: true, .. } => "at the edge of the grid: look further",
            _ => "",
        };
        lines.add_row([
            trial.topology.clone(),
            trial.method.clone(),
            format!("{:.4}", trial.step),
            trial.momentum.map_or("–".to_owned(), |momentum| momentum.to_string()),
            trial.score.map_or("–".to_owned(), |score| format!("{score:.5e}")),
            note.to_owned(),
        ]);
    }
    let mut out = std::io::stdout();
    writeln!(out, "{lines}")?;
    writeln!(
        out,
        "{CANDIDATES} candidates for each method on each topology, score: mean {} over the last quarter of the run",
        args.by
    )?;
    for (number, topology) in spec.topologies.iter().enumerate() {
        let tuned = tuned_settings(expanded.clone(), &experiment.folder, &topology.name, &trials)?;
        let path = folder.write(&format!("tuned-{}.toml", number + 1), toml::to_string(&tuned)?)?;
        writeln!(out, "{}  ({})", path.display(), topology.name)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The settings with the seeds of problem and topologies written out, and the sampling's seed changed.
fn with_seeds_fixed(mut settings: Table, seed: u64) -> Result<Table> {
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

/// The grid, and the file's own setting behind it.
fn candidates(topology: &str, method: &MethodSpec) -> Vec<Trial> {
    let declared = method.kind.parameters.iter().find(|parameter| parameter.name == "momentum");
    let given = method.parameters.iter().find(|(name, _)| name == "momentum").map(|(_, value)| *value);
    let own_momentum = declared.and_then(|declared| given.or(declared.default));
    let momenta: Vec<Option<f64>> = if declared.is_some() { MOMENTA.map(Some).to_vec() } else { vec![None] };
    let steps = CANDIDATES / momenta.len();
    let step = |i: usize| method.step.size * SPAN.powf(2.0 * i as f64 / (steps - 1) as f64 - 1.0);
    let own = Trial {
        topology: topology.to_owned(),
        method: method.name.clone(),
        step: method.step.size,
        momentum: own_momentum,
        own: true,
        edge: false,
        iterations: 0,
        score: None,
    };
    let mut trials = vec![];
    for i in 0..steps {
        for (j, momentum) in momenta.iter().enumerate() {
            let edge = i == 0 || i + 1 == steps || (momenta.len() > 1 && (j == 0 || j + 1 == momenta.len()));
            trials.push(Trial { step: step(i), momentum: *momentum, own: false, edge, ..own.clone() });
        }
    }
    trials.push(own);
    trials
}

/// Runs every trial for so many rounds and scores it.
fn score(
    trials: &mut [Trial],
    settings: &Table,
    folder: &Path,
    (rounds, iterations): (u64, u64),
    by: Criterion,
    runner: &Runner,
    store: &CellStore,
) -> Result<()> {
    let mut topologies: Vec<&str> = trials.iter().map(|trial| &*trial.topology).collect();
    topologies.dedup();
    let plans = topologies.iter().map(|topology| {
        let mut settings = trial_settings(settings, topology, trials)?;
        shorten(&mut settings, rounds, iterations);
        assign(&mut settings, &["run", "iterations"], Value::Integer(rounds as i64))?;
        assign(&mut settings, &["run", "record_every"], Value::Integer((rounds / 20).max(1) as i64))?;
        Plan::new(&Experiment::new(settings, folder)?)
    });
    let plans = plans.collect::<Result<Vec<Plan>>>()?;
    let cells: Vec<_> = plans.iter().flat_map(Plan::cells).collect();
    let ran = runner.run(&cells, store, false)?;
    for (number, trial) in trials.iter_mut().enumerate() {
        let own = ran.iter().filter(|ran| ran.cell.entry.method_name == name_of_trial(number));
        let scores: Option<Vec<f64>> = own.map(|ran| score_of(&ran.result, by)).collect();
        trial.iterations = rounds;
        trial.score = scores.map(|scores| scores.iter().sum::<f64>() / scores.len() as f64);
    }
    Ok(())
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

fn name_of_trial(number: usize) -> String {
    format!("trial {number}")
}

/// The mean over the last quarter of a curve; none if it diverged.
fn score_of(result: &CellResult, by: Criterion) -> Option<f64> {
    let points = &result.points;
    let last = &points[points.len() - points.len().div_ceil(4)..];
    let of = |m: &oneway::metrics::Measurement| match by {
        Criterion::Loss => m.loss,
        Criterion::Gradient => m.grad_norm_sq,
    };
    (result.end.status == CellStatus::Completed && !last.is_empty())
        .then(|| last.iter().map(of).sum::<f64>() / last.len() as f64)
}

/// One in `keep` of the trials of each method on each topology, at least one, best first.
fn best(trials: Vec<Trial>, keep: usize) -> Vec<Trial> {
    let mut groups: Vec<Vec<Trial>> = vec![];
    for trial in trials {
        match groups
            .iter_mut()
            .find(|group| (&group[0].topology, &group[0].method) == (&trial.topology, &trial.method))
        {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    let kept = groups.into_iter().flat_map(|mut group| {
        group.sort_by(|a, b| a.score.unwrap_or(f64::INFINITY).total_cmp(&b.score.unwrap_or(f64::INFINITY)));
        let own = group.iter().position(|trial| trial.own);
        let kept = if keep == usize::MAX { 1 } else { group.len() / keep };
        match own {
            // the file's own stays in until the last choice
            Some(place) if place >= kept && kept > 1 => {
                let own = group.remove(place);
                group.truncate(kept);
                group.push(own);
            }
            _ => group.truncate(kept.max(1)),
        }
        if group.iter().all(|trial| trial.score.is_none()) {
            group.retain(|trial| trial.own); // nothing converged: nothing is better than what there was
        }
        group
    });
    kept.collect()
}

/// The settings of all trials on one topology, each a method of its own.
fn trial_settings(settings: &Table, topology: &str, trials: &[Trial]) -> Result<Table> {
    let mut settings = only_topology(settings.clone(), topology);
    let mut methods = vec![];
    for (number, trial) in trials.iter().enumerate().filter(|(_, trial)| trial.topology == topology) {
        let mut method = method_mut(&mut settings.clone(), &trial.method)?.clone();
        trial.apply(&mut method)?;
        method.insert("name".to_owned(), Value::String(name_of_trial(number)));
        methods.push(Value::Table(method));
    }
    settings.insert("method".to_owned(), Value::Array(methods));
    Ok(settings)
}

/// The whole experiment on one topology, with the best step and momentum of each method. It stands in another folder than
/// the file did, so its paths are written out in full.
fn tuned_settings(settings: Table, folder: &Path, topology: &str, best: &[Trial]) -> Result<Table> {
    let mut settings = only_topology(settings, topology);
    for trial in best.iter().filter(|trial| trial.topology == topology && trial.score.is_some()) {
        trial.apply(method_mut(&mut settings, &trial.method)?)?;
    }
    if let Some(problem) = settings.get_mut("problem") {
        write_out(problem, &["dataset", "test"], folder)?;
    }
    let topologies = settings.get_mut("topology").and_then(Value::as_array_mut);
    for table in topologies.into_iter().flatten() {
        write_out(table, &["file", "pull", "push"], folder)?;
    }
    Ok(settings)
}

/// Makes the paths under these keys absolute.
fn write_out(table: &mut Value, keys: &[&str], folder: &Path) -> Result<()> {
    for key in keys {
        if let Some(Value::String(path)) = table.get_mut(*key)
            && !is_name(path)
        {
            *path = std::path::absolute(folder.join(&*path))?.display().to_string();
        }
    }
    Ok(())
}

fn only_topology(mut settings: Table, topology: &str) -> Table {
    if let Some(items) = settings.get_mut("topology").and_then(Value::as_array_mut) {
        items.retain(|item| name_of(item) == topology);
    }
    settings
}

fn method_mut<'s>(settings: &'s mut Table, name: &str) -> Result<&'s mut Table> {
    let methods = settings.get_mut("method").and_then(Value::as_array_mut);
    let method = methods.into_iter().flatten().find(|item| name_of(item) == name);
    method.and_then(Value::as_table_mut).with_context(|| format!("there is no method called \"{name}\""))
}

impl Trial {
    /// Writes the trial's step and momentum into a method.
    fn apply(&self, method: &mut Table) -> Result<()> {
        assign(method, &["step", "size"], Value::Float(self.step))?;
        self.momentum.map_or(Ok(()), |momentum| assign(method, &["momentum"], Value::Float(momentum)))
    }
}
