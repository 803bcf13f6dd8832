//! `oneway verify`: a results folder is its own proof. Everything is run again and compared, bit by bit.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::plan::{Cell, Plan};
use oneway_experiment::progress::Progress;
use oneway_experiment::results::cells::Ran;
use oneway_experiment::results::cells::{CellStore, body};
use oneway_experiment::results::curves::{self, Curve, SweptColumns};
use oneway_experiment::results::manifest::{self, CellRecord, EntryRecord, Manifest};
use oneway_experiment::runner::Runner;
use oneway_experiment::sha256;

use crate::cli::args::VerifyArgs;
use crate::cli::progress::Bar;
use crate::number::counted;
use crate::terminal::{Screen, warn};

/// Runs the command: exit code 0 if all agrees, 1 if something does not.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let runner = super::runner(args.threads)?;
    let mut screen = Screen::stdout();
    let (mut all_cells, mut unsound) = (0, 0);
    let given = Given { partial: args.partial, folder: args.folder.as_deref(), progress: None };
    let folders = manifest::folders(&args.dir)?;
    let bar = Bar::new(&[("running again", 1)]);
    // of what is not there, nothing is run
    let rounds = |dir: &PathBuf| {
        Manifest::read(dir).map_or(0, |manifest| manifest.cells.iter().map(|cell| cell.end.rounds).sum())
    };
    let part = bar.part(0, folders.iter().map(rounds).sum());
    for dir in &folders {
        let (cells, differences) = verify_folder(dir, Given { progress: Some(&part), ..given }, &runner)?;
        if runner.is_interrupted() {
            drop(bar);
            warn("interrupted before all cells were run again");
            return Ok(ExitCode::from(130));
        }
        all_cells += cells;
        if differences.is_empty() {
            screen.text(&format!("{}: {cells} cells run again, all bits agree", dir.display()));
        } else {
            unsound += 1;
            screen.text(&format!("{}: {} differences", dir.display(), differences.len()));
            differences.iter().for_each(|difference| screen.text(&format!("  {difference}")));
        }
        bar.aside(|| screen.show())?;
    }
    drop(bar);
    if folders.len() > 1 {
        let what = format!("{}, {all_cells} cells run again", counted(folders.len() as u64, "folder"));
        screen.summary(&match unsound {
            0 => format!("{what}: all bits agree"),
            some => format!("{what}: {some} of the folders differ from what they claim"),
        });
        screen.show()?;
    }
    Ok(if unsound == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a folder is verified by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Given<'a> {
    /// Whether some cells may be unfinished.
    pub(crate) partial: bool,
    /// What paths in the settings are relative to, if not what they were.
    pub(crate) folder: Option<&'a Path>,
    /// Who is told of the rounds; else whom the runner tells.
    pub(crate) progress: Option<&'a dyn Progress>,
}

/// Runs one folder again: how many cells, and what is not as it says.
pub(crate) fn verify_folder(dir: &Path, args: Given<'_>, runner: &Runner) -> Result<(usize, Vec<String>)> {
    let manifest = Manifest::read(dir)?;
    let csv_path = dir.join(curves::FILE);
    let csv = std::fs::read_to_string(&csv_path).with_context(|| csv_path.display().to_string())?;
    let folder = args.folder.unwrap_or(Path::new(&manifest.folder));
    let plan =
        Experiment::new(manifest.settings.clone(), folder).and_then(|experiment| Plan::new(&experiment));
    let plan = plan.with_context(|| format!("the settings in {}", dir.display()))?;

    let mut differences = vec![];
    if sha256(&csv) != manifest.curves_sha256 {
        differences.push(format!("{}: changed since it was written", curves::FILE));
    }
    let entries: Vec<EntryRecord> = plan.entries.iter().map(EntryRecord::new).collect();
    differences.extend(compare_entries(&manifest.entries, &entries));

    // what the settings ask for must be there, finished, and nothing else; then all of it from scratch
    let cells = plan.cells();
    let finished = |cell: &Cell<'_>| {
        let record = manifest.cells.iter().find(|record| record.is_of(cell));
        record.filter(|record| record.end.status.is_final())
    };
    let (there, missing): (Vec<Cell<'_>>, Vec<Cell<'_>>) =
        cells.into_iter().partition(|cell| finished(cell).is_some());
    if !args.partial {
        differences
            .extend(missing.iter().map(|cell| format!("{cell}: not finished (--partial allows that)")));
    }
    let known = |record: &&CellRecord| !there.iter().chain(&missing).any(|cell| record.is_of(cell));
    let strangers = manifest.cells.iter().filter(known);
    differences.extend(strangers.map(|record| format!("{}: the settings do not ask for it", record.method)));
    if there.is_empty() {
        differences.push("there is not one finished cell".to_owned());
    }
    let scratch = CellStore::scratch()?;
    let ran = match args.progress {
        Some(progress) => runner.run_within(progress, &there, &scratch.store(), true)?,
        None => runner.run(&there, &scratch.store(), true)?,
    };
    let curves = curves::from_csv(&csv).with_context(|| csv_path.display().to_string())?;
    for ran in &ran {
        let what = finished(&ran.cell).and_then(|record| difference(record, &curves, ran));
        differences.extend(what.map(|what| format!("{}: {what}", ran.cell)));
    }
    // earlier versions had no columns of swept settings
    let as_written = [SweptColumns::new(&plan.entries), SweptColumns::default()]
        .map(|swept| curves::to_csv(&curves, &swept));
    if !as_written.contains(&csv) {
        differences.push(format!("{}: the columns of swept settings are not what was swept", curves::FILE));
    }
    let unasked = curves.iter().filter(|curve| !manifest.cells.iter().any(|record| record.has_curve(curve)));
    differences.extend(unasked.map(|curve| format!("{}: no cell has this curve", curve.method)));
    if !differences.is_empty() && manifest.code != oneway_experiment::code() {
        differences.push(format!(
            "(made by other code: {}, this is {})",
            manifest.code,
            oneway_experiment::code()
        ));
    }
    Ok((ran.len(), differences))
}

/// What about a cell is not as the folder says.
fn difference(record: &CellRecord, curves: &[Curve], ran: &Ran<'_>) -> Option<&'static str> {
    let now = CellRecord::new(ran);
    let written = curves.iter().find(|curve| record.has_curve(curve));
    let written = written.map_or(String::new(), |curve| body(&curve.points));
    [
        (now.seed != record.seed, "another seed"),
        (now.end.status != record.end.status || now.end.rounds != record.end.rounds, "it ended otherwise"),
        (now.end.state_hash != record.end.state_hash, "another final state"),
        (now.curve_sha256 != record.curve_sha256, "another curve"),
        (body(&ran.result.points) != written, "not the curve that stands in curves.csv"),
    ]
    .into_iter()
    .find_map(|(differs, what)| differs.then_some(what))
}

fn compare_entries(then: &[EntryRecord], now: &[EntryRecord]) -> Vec<String> {
    let mut differences = vec![];
    for (then, now) in then.iter().zip(now) {
        let place = format!("{} · {}", then.topology, then.method);
        for (what, same) in [
            ("the problem or its data", then.problem_sha256 == now.problem_sha256),
            ("R", then.pull_sha256 == now.pull_sha256),
            ("C", then.push_sha256 == now.push_sha256),
            ("the step's divisor", then.step_divided_by.to_bits() == now.step_divided_by.to_bits()),
        ] {
            if !same {
                differences.push(format!("{place}: {what} is not what it was"));
            }
        }
    }
    if then.len() != now.len() {
        differences.push(format!("{} methods on topologies then, {} now", then.len(), now.len()));
    }
    differences
}
