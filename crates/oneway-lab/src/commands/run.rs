//! `oneway run`: an experiment file → `curves.csv`, `summary.json` and a table.

use std::io::Write;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result};
use comfy_table::{Table, presets};
use indicatif::{ProgressBar, ProgressStyle};
use oneway::metrics::{self, Measurement};
use oneway::observe::{Observer, View};
use oneway::simulator::{Outcome, Simulator, Status, worth_threads};
use rayon::prelude::*;
use serde::Serialize;

use crate::args::RunArgs;
use crate::experiment::plan::{Cell, Plan};
use crate::experiment::spec::{RunSpec, Spec};
use crate::results::curves::{self, Curve};
use crate::results::folder::OutputFolder;

/// A cell that ran, at least for a while.
struct Finished<'a> {
    cell: Cell<'a>,
    curve: Curve,
    outcome: Outcome,
    state_hash: String,
}

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let plan = Plan::new(Spec::read(&args.file, &args.overrides)?)
        .with_context(|| args.file.display().to_string())?;
    let threads = args.threads.map_or(0, usize::from); // 0: one for each core
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let default_out = Path::new("out").join(args.file.file_stem().unwrap_or_default());
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(&default_out))?;

    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(130); // asked twice: no more waiting
        }
    })
    .context("cannot listen for Ctrl-C")?;

    let cells = plan.cells();
    let bar = progress_bar(cells.len() as u64 * plan.run.iterations);
    let finished = pool.install(|| run_cells(&plan, &cells, &bar, &interrupted))?;
    bar.finish_and_clear();

    let curves = folder.write("curves.csv", &curves::to_csv(finished.iter().map(|cell| &cell.curve)))?;
    let summary = folder.write("summary.json", &summary_json(&plan, &finished, cells.len())?)?;
    let interrupted = interrupted.load(Ordering::Relaxed);
    if interrupted {
        eprintln!("oneway: interrupted; {} of {} cells are complete", complete(&finished), cells.len());
    }
    let table = table(&plan, &finished);
    writeln!(std::io::stdout(), "{table}\n{}\n{}", curves.display(), summary.display())?;
    Ok(if interrupted { ExitCode::from(130) } else { ExitCode::SUCCESS })
}

fn progress_bar(rounds: u64) -> ProgressBar {
    let style =
        ProgressStyle::with_template("{bar:30} {percent:>3}%  {human_pos}/{human_len} rounds  {eta} left");
    ProgressBar::new(rounds).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Small cells side by side, each on one thread; large ones in turn, each on all threads.
fn run_cells<'a>(
    plan: &'a Plan,
    cells: &[Cell<'a>],
    bar: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Vec<Finished<'a>>> {
    let run = |cell: &Cell<'a>| {
        (!interrupted.load(Ordering::Relaxed)).then(|| run_cell(plan, *cell, bar, interrupted))
    };
    let problem = &plan.problem;
    if worth_threads(problem.agents(), problem.dim()) {
        cells.iter().filter_map(run).collect()
    } else {
        cells.par_iter().filter_map(run).collect()
    }
}

fn run_cell<'a>(
    plan: &'a Plan,
    cell: Cell<'a>,
    bar: &ProgressBar,
    interrupted: &AtomicBool,
) -> Result<Finished<'a>> {
    let mut recorder = Recorder { run: plan.run, curve: vec![], bar, interrupted, shown: 0 };
    let mut simulator = Simulator::new(plan.setup(&cell))?;
    let look_every = look_every(plan.run.record_every);
    let outcome = simulator.run(plan.run.iterations, look_every, &mut recorder)?;
    bar.inc(plan.run.iterations - recorder.shown); // rounds that a diverged cell will not do
    let curve = Curve {
        topology: cell.entry.topology_name.clone(),
        method: cell.entry.method_name.clone(),
        repetition: cell.repetition,
        points: recorder.curve,
    };
    Ok(Finished { cell, curve, outcome, state_hash: simulator.state_hash() })
}

/// How often to look up from the rounds: a divisor of `record_every`, small enough that Ctrl-C need not wait for long.
fn look_every(record_every: u64) -> u64 {
    const SOON: u64 = 100;
    (1..=SOON.min(record_every)).rev().find(|every| record_every.is_multiple_of(*every)).unwrap_or(1)
}

/// Measures what is to be recorded, moves the bar, and stops when the user asks to.
struct Recorder<'a> {
    run: RunSpec,
    curve: Vec<Measurement>,
    bar: &'a ProgressBar,
    interrupted: &'a AtomicBool,
    shown: u64,
}

impl Observer for Recorder<'_> {
    fn observe(&mut self, view: &View<'_>) -> oneway::Result<ControlFlow<()>> {
        if view.k.is_multiple_of(self.run.record_every) || view.k == self.run.iterations {
            self.curve.push(metrics::measure(view)?);
        }
        self.bar.inc(view.k - self.shown);
        self.shown = view.k;
        Ok(match self.interrupted.load(Ordering::Relaxed) {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        })
    }
}

fn complete(finished: &[Finished<'_>]) -> usize {
    finished.iter().filter(|cell| !matches!(cell.outcome.status, Status::Stopped { .. })).count()
}

/// `summary.json`.
#[derive(Serialize)]
struct Summary<'a> {
    oneway: &'static str,
    settings: &'a toml::Table,
    cells_planned: usize,
    cells_complete: usize,
    cells: Vec<CellSummary<'a>>,
}

/// One cell of `summary.json`.
#[derive(Serialize)]
struct CellSummary<'a> {
    topology: &'a str,
    method: &'a str,
    repetition: u64,
    seed: u64,
    graph: &'static str,
    /// The step sizes of the file were divided by this.
    step_divided_by: f64,
    status: &'static str,
    rounds: u64,
    state_hash: &'a str,
    seconds_stepping: f64,
    seconds_observing: f64,
}

fn summary_json(plan: &Plan, finished: &[Finished<'_>], planned: usize) -> Result<String> {
    let cells = finished.iter().map(|Finished { cell, outcome, state_hash, .. }| {
        let (status, rounds) = status(outcome.status, plan.run.iterations);
        CellSummary {
            topology: &cell.entry.topology_name,
            method: &cell.entry.method_name,
            repetition: cell.repetition,
            seed: cell.seed,
            graph: cell.entry.graph.name(),
            step_divided_by: cell.entry.divided_by,
            status,
            rounds,
            state_hash,
            seconds_stepping: outcome.stepping.as_secs_f64(),
            seconds_observing: outcome.observing.as_secs_f64(),
        }
    });
    let summary = Summary {
        oneway: env!("CARGO_PKG_VERSION"),
        settings: &plan.settings,
        cells_planned: planned,
        cells_complete: complete(finished),
        cells: cells.collect(),
    };
    Ok(serde_json::to_string_pretty(&summary)? + "\n")
}

fn status(status: Status, iterations: u64) -> (&'static str, u64) {
    match status {
        Status::Completed => ("completed", iterations),
        Status::Diverged { round } => ("diverged", round),
        Status::Stopped { round } => ("stopped", round),
    }
}

/// One line for each method on each topology: means over its repetitions at the last recorded iteration.
fn table(plan: &Plan, finished: &[Finished<'_>]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header(["topology", "method", "status", "loss", "‖∇F‖²", "consensus", "accuracy", "µs/round"]);
    for entry in &plan.entries {
        let cells: Vec<&Finished<'_>> =
            finished.iter().filter(|f| std::ptr::eq(f.cell.entry, entry)).collect();
        let last: Vec<&Measurement> = cells.iter().filter_map(|f| f.curve.points.last()).collect();
        let mean = |of: &dyn Fn(&Measurement) -> Option<f64>| {
            let values: Vec<f64> = last.iter().filter_map(|m| of(m)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let show =
            |value: Option<f64>, digits: usize| value.map_or("–".to_owned(), |v| format!("{v:.digits$}"));
        let small = |value: Option<f64>| value.map_or("–".to_owned(), |v| format!("{v:.2e}"));
        let rounds: u64 = cells.iter().map(|f| status(f.outcome.status, plan.run.iterations).1).sum();
        let seconds: f64 = cells.iter().map(|f| f.outcome.stepping.as_secs_f64()).sum();
        table.add_row([
            entry.topology_name.clone(),
            entry.method_name.clone(),
            statuses(&cells),
            show(mean(&|m| Some(m.loss)), 4),
            small(mean(&|m| Some(m.grad_norm_sq))),
            small(mean(&|m| Some(m.consensus_error))),
            show(mean(&|m| m.test_accuracy), 4),
            show((rounds > 0).then(|| 1e6 * seconds / rounds as f64), 1),
        ]);
    }
    table
}

/// "5 completed", or what else became of them.
fn statuses(cells: &[&Finished<'_>]) -> String {
    let mut counts: Vec<(String, usize)> = vec![];
    for cell in cells {
        let label = match cell.outcome.status {
            Status::Completed => "completed".to_owned(),
            Status::Diverged { round } => format!("diverged by {round}"),
            Status::Stopped { round } => format!("stopped at {round}"),
        };
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let parts: Vec<String> = counts.iter().map(|(label, count)| format!("{count} {label}")).collect();
    if parts.is_empty() { "not run".to_owned() } else { parts.join(", ") }
}
