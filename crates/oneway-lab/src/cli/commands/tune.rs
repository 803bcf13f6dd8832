//! `oneway tune`: step size and parameters for each method on each topology, and the tuned methods compared.

use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;

use super::{default_folder, device};
use crate::cli::args::TuneArgs;
use crate::cli::progress::Bar;
use crate::draw::figure::gallery;
use crate::studies::tune::Search;
use crate::terminal::{Screen, warn};

/// Runs the command.
pub(crate) fn tune(args: &TuneArgs) -> Result<ExitCode> {
    let experiment = Experiment::read(&args.file, &args.overrides)?;
    let mut search = Search::new(&experiment, args.by).with_context(|| args.file.display().to_string())?;
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, "tune"), Ok)?;
    let runner = super::runner_on(args.device, args.threads)?;
    let folder = OutputFolder::prepare(&out)?;
    let store = CellStore::new(folder.path());
    let bar = Bar::new(&[("tuning", 19), ("drawing", 1)]);
    let progress = bar.part(0, search.rounds());
    search.run(&runner, &store, &progress)?;
    let comparison = match runner.is_interrupted() {
        false => search.compare(&runner, &store, &progress)?,
        true => return Ok(interrupted(bar)),
    };
    if runner.is_interrupted() {
        return Ok(interrupted(bar));
    }
    device::say_what_stayed(&runner);
    bar.part(1, 0);
    let tuned = search.write(&folder)?;
    folder.write("comparison.csv", comparison.csv())?;
    runner.install(|| gallery::write(&[comparison.picture()], &folder))?;
    folder.settle("tune")?;
    drop(bar);
    let mut screen = Screen::stdout();
    screen.table(&search.table());
    screen.text(&search.budget());
    screen.gap();
    comparison.show(&mut screen);
    screen.text("compared on samples that were not used for tuning, with the seeds of the file");
    screen.gap();
    for (path, topology) in tuned {
        screen.text(&format!("{}  ({topology})", path.display()));
    }
    screen.file(&folder.path().join("comparison.svg"));
    screen.summary(&search.summary());
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}

fn interrupted(bar: Bar) -> ExitCode {
    drop(bar);
    warn("interrupted; what is finished is kept for the next run");
    ExitCode::from(130)
}
