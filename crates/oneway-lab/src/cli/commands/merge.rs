//! `oneway merge`: the results of shares → a results folder, as one run would have written it.

use std::process::ExitCode;

use anyhow::Result;
use oneway_experiment::problem::Problems;
use oneway_experiment::results::merge::merge as merge_results;

use super::report;
use crate::cli::args::MergeArgs;
use crate::terminal::Screen;

/// Runs the command.
pub(crate) fn merge(args: &MergeArgs) -> Result<ExitCode> {
    let mut written = merge_results(&args.dirs, &args.out)?;
    if !args.no_report {
        written.push(report::write(&args.out, false, &mut Problems::default())?);
    }
    let mut screen = Screen::stdout();
    written.iter().for_each(|path| screen.file(path));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}
