//! `oneway replay`: asynchronous cells run again from their logs of arrivals, to the same bits.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use oneway::engine::asynchronous::Log;
use oneway_experiment::Experiment;
use oneway_experiment::arrivals;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::results::manifest::Manifest;

use crate::cli::args::ReplayArgs;
use crate::cli::progress::Bar;
use crate::terminal::Screen;

/// Runs the command: exit code 0 if every final state is what it was, 1 if one is not.
pub(crate) fn replay(args: &ReplayArgs) -> Result<ExitCode> {
    let mut problems = Problems::default();
    // all are read before anything runs
    let logs = args.logs.iter().map(|path| Ok((path, arrivals::read(path)?)));
    let logs = logs.collect::<Result<Vec<_>>>()?;
    let mut screen = Screen::stdout();
    let bar = Bar::new(&[("replaying", 1)]);
    let part = bar.part(0, logs.len() as u64);
    let mut others = 0;
    for (path, (log, folder)) in &logs {
        let (said, same) =
            one(log, folder, args, &mut problems).with_context(|| path.display().to_string())?;
        others += usize::from(!same);
        part.advance(1);
        screen.text(&said);
        bar.aside(|| screen.show())?;
    }
    drop(bar);
    let sound = others == 0;
    if logs.len() > 1 {
        screen.summary(&match others {
            0 => format!("{} logs, all final states agree", logs.len()),
            some => format!("{} logs, {some} with another final state", logs.len()),
        });
        screen.show()?;
    }
    Ok(if sound { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Replays one log: what to say of it, and whether the state is what both the log and the folder claim.
fn one(log: &Log, folder: &Path, args: &ReplayArgs, problems: &mut Problems) -> Result<(String, bool)> {
    let manifest = Manifest::read(folder)?;
    let paths = args.folder.as_deref().unwrap_or(Path::new(&manifest.folder));
    let record = manifest.cells.iter().find(|record| record.key == log.label());
    let record = record.with_context(|| format!("{} has no cell of this log", folder.display()))?;
    let plan = Experiment::new(manifest.settings.clone(), paths)
        .and_then(|experiment| Plan::sharing(&experiment, problems));
    let plan = plan.with_context(|| format!("the settings in {}", folder.display()))?;
    let cells = plan.cells();
    let cell =
        cells.iter().find(|cell| record.is_of(cell)).context("the settings do not ask for its cell")?;
    if log.units() != record.end.rounds {
        bail!("the log has {} units of time, and its cell {}", log.units(), record.end.rounds);
    }
    let hash = arrivals::replay(cell, log)?;
    let same = hash == log.state_hash() && hash == record.end.state_hash;
    let found = if same { "the same final state" } else { "another final state" };
    Ok((format!("{cell}: {} wakes in {} units of time, {found}", log.wakes(), log.units()), same))
}
