//! `oneway tune`: step size and parameters for each method on each topology, and the tuned methods compared.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;

use super::{default_folder, device};
use crate::cli::args::TuneArgs;
use crate::cli::progress::Bars;
use crate::draw::figure::gallery;
use crate::studies::tune::Search;

/// Runs the command.
pub(crate) fn tune(args: &TuneArgs) -> Result<ExitCode> {
    let experiment = Experiment::read(&args.file, &args.overrides)?;
    let mut search = Search::new(&experiment, args.by).with_context(|| args.file.display().to_string())?;
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, "tune"), Ok)?;
    let runner = super::runner_on(args.device, args.threads)?;
    let folder = OutputFolder::prepare(&out)?;
    let store = CellStore::new(folder.path());
    let progress = Bars::new(search.rounds());
    search.run(&runner, &store, &progress)?;
    let comparison = match runner.is_interrupted() {
        false => search.compare(&runner, &store, &progress)?,
        true => return Ok(interrupted()),
    };
    if runner.is_interrupted() {
        return Ok(interrupted());
    }
    drop(progress);
    device::say_what_stayed(&runner);
    let tuned = search.write(&folder)?;
    folder.write("comparison.csv", comparison.csv())?;
    runner.install(|| gallery::write(&[comparison.picture()], &folder))?;
    folder.settle("tune")?;
    let mut text = std::io::stdout();
    writeln!(text, "{}\n{}\n", search.table(), search.budget())?;
    writeln!(text, "{}", comparison.table())?;
    writeln!(text, "on samples that tuning has not seen, with the seeds of the file\n")?;
    for (path, topology) in tuned {
        writeln!(text, "{}  ({topology})", path.display())?;
    }
    writeln!(text, "{}", folder.path().join("comparison.svg").display())?;
    Ok(ExitCode::SUCCESS)
}

fn interrupted() -> ExitCode {
    eprintln!("oneway: interrupted; what is finished is kept for the next run");
    ExitCode::from(130)
}
