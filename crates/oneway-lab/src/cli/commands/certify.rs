//! `oneway certify`: what theory says of each method on each topology of an experiment, beside what is
//! measured.

use std::io::Write;
use std::process::ExitCode;

use anyhow::{Context, Result};
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::cells::CellStore;
use oneway_experiment::results::folder::OutputFolder;

use super::default_folder;
use crate::cli::args::CertifyArgs;
use crate::studies::certify::{Problems, Region, Ways, show};

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
    let ran = runner.run(&cells, &store, false)?;
    let ways = Ways { runner: &runner, store: &store, rounds: args.rounds };
    let regions = Region::all(&plan, &problems, ways)?;
    if runner.is_interrupted() {
        eprintln!("oneway: interrupted; what is finished is kept for the next run");
        return Ok(ExitCode::from(130));
    }
    let findings = runner.install(|| problems.findings(&plan, &ran, regions))?;

    let json = serde_json::to_string_pretty(&findings)? + "\n";
    let mut written = vec![folder.write("certify.json", &json)?];
    written.push(runner.install(|| show::page(&folder, &args.file, &plan, &findings))?);
    folder.settle("certify")?;
    let mut out = std::io::stdout();
    if args.json {
        write!(out, "{json}")?;
    } else {
        let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
        writeln!(out, "{}\n{}", show::text(&findings), files.join("\n"))?;
    }
    Ok(ExitCode::SUCCESS)
}
