//! `oneway run`: an experiment file → a results folder and a table.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::arrivals;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::Problems;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::results::manifest::Purpose;
use oneway_experiment::results::save;

use super::{default_folder, device, report};
use crate::cli::args::RunArgs;
use crate::cli::commands::table;

/// Runs the command.
pub(crate) fn run(args: &RunArgs) -> Result<ExitCode> {
    let mut problems = Problems::default();
    let plan = Plan::sharing(&Experiment::read(&args.file, &args.overrides)?, &mut problems)
        .with_context(|| args.file.display().to_string())?;
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, ""), Ok)?;
    let runner = super::runner_on(args.device, args.threads)?;
    let folder = OutputFolder::prepare(&out)?;

    let cells = plan.cells();
    let store = CellStore::new(folder.path());
    let ran = runner.run(&cells, &store, args.fresh)?;
    device::say_what_stayed(&runner);
    let mut written = save(&folder, &plan, Purpose::Figures, &ran)?;
    if args.log_arrivals {
        match arrivals::write(&folder, &ran)? {
            Some(logs) => written.push(logs),
            None => eprintln!("oneway: no method is asynchronous, so there are no arrivals to log"),
        }
    }
    if !args.no_report {
        written.push(runner.install(|| report::write(folder.path(), false, &mut problems))?);
    }
    if runner.is_interrupted() {
        let complete = ran.iter().filter(|ran| ran.result.end.status.is_final()).count();
        eprintln!(
            "oneway: interrupted; {complete} of {} cells are complete, and kept for the next run",
            cells.len()
        );
    }
    let mut lines = table::starved(&plan.entries, &ran);
    lines.extend(written.iter().map(|path| path.display().to_string()));
    writeln!(std::io::stdout(), "{}\n{}", table::of(&plan.entries, &ran), lines.join("\n"))?;
    Ok(if runner.is_interrupted() { ExitCode::from(130) } else { ExitCode::SUCCESS })
}
