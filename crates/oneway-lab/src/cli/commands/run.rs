//! `oneway run`: an experiment file → a results folder and a table.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::arrivals;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::results::manifest::Purpose;
use oneway_experiment::results::save;

use super::{default_folder, report, rounds};
use crate::cli::args::RunArgs;
use crate::cli::commands::table;
use crate::cli::progress::Bar;
use crate::terminal::{Screen, warn};

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let started = Instant::now();
    let mut problems = Problems::default();
    let plan = Plan::sharing(&Experiment::read(&args.file, &args.overrides)?, &mut problems)
        .with_context(|| args.file.display().to_string())?;
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, ""), Ok)?;
    let runner = super::runner(args.threads)?;
    let folder = OutputFolder::prepare(&out)?;

    let cells = plan.cells();
    let store = CellStore::new(folder.path());
    let bar = Bar::new(&[("running", 9), ("drawing", 1)]);
    let ran = runner.run_within(&bar.part(0, rounds(&cells)), &cells, &store, args.fresh)?;
    bar.part(1, 0);
    let mut written = save(&folder, &plan, Purpose::Figures, &ran)?;
    if args.log_arrivals {
        match arrivals::write(&folder, &ran)? {
            Some(logs) => written.push(logs),
            None => bar.aside(|| warn("no method is asynchronous, so there are no arrivals to log")),
        }
    }
    if !args.no_report {
        written.push(runner.install(|| report::write(folder.path(), false, &mut problems))?);
    }
    drop(bar);
    if runner.is_interrupted() {
        let complete = ran.iter().filter(|ran| ran.result.end.status.is_final()).count();
        let of = cells.len();
        warn(&format!("interrupted; {complete} of {of} cells are complete, and kept for the next run"));
    }
    let mut screen = Screen::stdout();
    table::show(&mut screen, &plan.entries, &ran);
    table::starved(&plan.entries, &ran).iter().for_each(|line| screen.text(line));
    written.iter().for_each(|path| screen.file(path));
    let ended = table::ended(&ran, cells.len());
    screen.summary(&format!("{ended}; {:.1} s", started.elapsed().as_secs_f64()));
    screen.show()?;
    Ok(if runner.is_interrupted() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}
