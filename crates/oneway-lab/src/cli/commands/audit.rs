//! `oneway audit`: an experiment file → every inequality of the theory, put to its runs.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::runner::pool;

use super::default_folder;
use crate::cli::args::AuditArgs;
use crate::cli::progress::Bar;
use crate::draw::figure::gallery;
use crate::draw::report::page;
use crate::studies::audit::{Audited, Candidates, pictures, written};
use crate::terminal::Screen;

/// Runs the command.
pub(crate) fn audit(args: &AuditArgs) -> Result<ExitCode> {
    let repetitions = args.repetitions.map(|repetitions| format!("run.repetitions={repetitions}"));
    let overrides: Vec<String> = args.overrides.iter().cloned().chain(repetitions).collect();
    let plan = Plan::new(&Experiment::read(&args.file, &overrides)?)
        .with_context(|| args.file.display().to_string())?;
    let out = args.out.clone().map_or_else(|| default_folder(&args.file, "audit"), Ok)?;
    // Ctrl-C ends it at once: there is nothing to keep before all is done
    let pool = pool(args.threads)?;

    let candidates = Candidates::new(&plan);
    candidates.check_size().with_context(|| args.file.display().to_string())?;
    let Candidates { chosen, skipped } = candidates;
    if chosen.is_empty() {
        let reasons: Vec<String> = skipped.iter().map(ToString::to_string).collect();
        bail!("{}: nothing to audit: {}", args.file.display(), reasons.join("; "));
    }
    // nothing is written before all that can be wrong has been found
    let bar = Bar::new(&[("auditing", 9), ("drawing", 1)]);
    let part = bar.part(0, chosen.len() as u64);
    let audit = |candidate| Audited::new(candidate).inspect(|_| part.advance(1));
    let audited = pool.install(|| chosen.iter().map(audit).collect::<Result<Vec<_>>>());
    let audited = audited.with_context(|| args.file.display().to_string())?;
    bar.part(1, 0);

    let folder = OutputFolder::prepare(&out)?;
    let figures = folder.inside("figures")?;
    let pictures = pictures::slack(&audited);
    pool.install(|| gallery::write(&pictures, &figures))?;
    let files = [
        folder.write("audit.json", written::json(&audited, &skipped)?)?,
        folder.write("slack.csv", written::csv(&audited))?,
        folder.write("report.html", page(&written::report(&plan, &audited, &skipped, pictures)?))?,
    ];
    folder.settle("audit")?;
    drop(bar);
    let mut screen = Screen::stdout();
    screen.table(&written::table(&audited));
    screen.text(&written::notes(&audited, &skipped));
    files.iter().for_each(|path| screen.file(path));
    screen.summary(&written::summary(&audited));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}
