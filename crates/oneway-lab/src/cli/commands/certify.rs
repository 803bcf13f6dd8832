//! `oneway certify`: what theory says of each method on each topology of an experiment, beside what is
//! measured.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;

use super::{default_folder, rounds};
use crate::cli::args::CertifyArgs;
use crate::cli::progress::Bar;
use crate::studies::certify::{Problems, Region, Ways, show};
use crate::terminal::{Screen, warn};

/// Runs the command.
pub(crate) fn certify(args: &CertifyArgs) -> Result<ExitCode> {
    let plan = Plan::for_theory(&Experiment::read(&args.file, &args.overrides)?)
        .with_context(|| args.file.display().to_string())?;
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, "certify"), Ok)?;
    let runner = super::runner(args.threads)?;
    let problems =
        runner.install(|| Problems::new(&plan)).with_context(|| args.file.display().to_string())?;
    let folder = OutputFolder::prepare(&out)?;

    let store = CellStore::new(folder.path());
    let cells = plan.cells();
    let bar = Bar::new(&[("running", 4), ("mapping", 5), ("drawing", 1)]);
    let ran = runner.run_within(&bar.part(0, rounds(&cells)), &cells, &store, false)?;
    let mapping = bar.part(1, Region::most_rounds(&plan, args.rounds));
    let ways = Ways { runner: &runner, store: &store, rounds: args.rounds, progress: Some(&mapping) };
    let regions = Region::all(&plan, &problems, ways)?;
    if runner.is_interrupted() {
        drop(bar);
        warn("interrupted; what is finished is kept for the next run");
        return Ok(ExitCode::from(130));
    }
    bar.part(2, 0);
    let findings = runner.install(|| problems.findings(&plan, &ran, regions))?;

    let json = serde_json::to_string_pretty(&findings)? + "\n";
    let mut written = vec![folder.write("certify.json", &json)?];
    written.push(runner.install(|| show::page(&folder, &args.file, &plan, &findings))?);
    folder.settle("certify")?;
    drop(bar);
    if args.json {
        write!(std::io::stdout(), "{json}")?;
    } else {
        let mut screen = Screen::stdout();
        show::text(&mut screen, &findings);
        written.iter().for_each(|path| screen.file(path));
        screen.summary(&show::summary(&findings));
        screen.show()?;
    }
    Ok(ExitCode::SUCCESS)
}
