//! `oneway verify`: a results folder is its own proof. Everything is run again and compared by hash.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::VerifyArgs;
use crate::experiment::Experiment;
use crate::experiment::plan::Plan;
use crate::results::cells::{CellStatus, CellStore};
use crate::results::manifest::{CellRecord, EntryRecord, Manifest};
use crate::results::{curves, sha256};
use crate::runner::Runner;

/// Runs the command: exit code 0 if all agrees, 1 if something does not.
pub(crate) fn verify(args: &VerifyArgs) -> Result<ExitCode> {
    let manifest = Manifest::read(&args.dir)?;
    let csv_path = args.dir.join(curves::FILE);
    let csv = std::fs::read(&csv_path).with_context(|| csv_path.display().to_string())?;
    let folder = args.folder.as_deref().unwrap_or(Path::new(&manifest.folder));
    let plan =
        Experiment::new(manifest.settings.clone(), folder).and_then(|experiment| Plan::new(&experiment));
    let plan = plan.with_context(|| format!("the settings in {}", args.dir.display()))?;

    let mut differences = vec![];
    if sha256(&csv) != manifest.curves_sha256 {
        differences.push(format!("{}: changed since it was written", curves::FILE));
    }
    let entries: Vec<EntryRecord> = plan.entries.iter().map(EntryRecord::new).collect();
    differences.extend(compare_entries(&manifest.entries, &entries));

    // only what the manifest says was finished; from scratch, in a store of its own
    let cells = plan.cells();
    let wanted = |record: &CellRecord| record.end.status != CellStatus::Stopped;
    let claimed: Vec<&CellRecord> = manifest.cells.iter().filter(|record| wanted(record)).collect();
    let again: Vec<_> =
        cells.into_iter().filter(|cell| claimed.iter().any(|record| record.is_of(cell))).collect();
    let scratch = CellStore::scratch()?;
    let runner = Runner::new(args.threads)?;
    let ran = runner.run(&again, &scratch.store(), true)?;
    if runner.is_interrupted() {
        eprintln!("oneway: interrupted before all cells were run again");
        return Ok(ExitCode::from(130));
    }
    for record in &claimed {
        let place = format!("{} · {} · {}", record.topology, record.method, record.repetition + 1);
        match ran.iter().find(|ran| record.is_of(&ran.cell)).map(CellRecord::new) {
            None => differences.push(format!("{place}: the settings do not ask for it")),
            Some(now) if now.end.state_hash != record.end.state_hash => {
                differences.push(format!("{place}: another final state"));
            }
            Some(now) if now.curve_sha256 != record.curve_sha256 => {
                differences.push(format!("{place}: another curve"));
            }
            Some(_) => {}
        }
    }

    let mut out = std::io::stdout();
    if differences.is_empty() {
        writeln!(out, "{}: {} cells run again, all bits agree", args.dir.display(), claimed.len())?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "{}: {} differences", args.dir.display(), differences.len())?;
    differences.iter().try_for_each(|difference| writeln!(out, "  {difference}"))?;
    Ok(ExitCode::FAILURE)
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
