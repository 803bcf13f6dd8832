//! `oneway sweep-stability`: how the largest stable step changes with a parameter of the topology and with λ.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oneway_experiment::results::folder::OutputFolder;

use crate::cli::args::SweepStabilityArgs;
use crate::cli::progress::Bar;
use crate::draw::figure::gallery;
use crate::studies::sweep_stability::{Sweep, show};
use crate::terminal::Screen;

/// Runs the command.
pub(crate) fn sweep_stability(args: &SweepStabilityArgs) -> Result<ExitCode> {
    let sweep = Sweep::new(&args.question)?;
    let default_out = Path::new("out").join(format!("stability-{}-{}", sweep.family, sweep.axis.key));
    let runner = super::runner(args.threads)?;
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(&default_out))?;
    let bar = Bar::new(&[("finding limits", 9), ("drawing", 1)]);
    let part = bar.part(0, sweep.limits_to_find() as u64);
    let rows = runner.install(|| sweep.run(&|| part.advance(1)))?;
    bar.part(1, 0);
    let mut written = vec![folder.write("limits.csv", show::csv(&sweep, &rows))?];
    let pictures = show::pictures(&sweep, &rows);
    runner.install(|| gallery::write(&pictures, &folder))?;
    written.extend(pictures.iter().map(|picture| folder.path().join(format!("{}.svg", picture.file))));
    folder.settle("stability")?;
    drop(bar);
    let mut screen = Screen::stdout();
    screen.table(&show::table(&sweep, &rows));
    screen.text(&show::gaps(&sweep, &rows));
    written.iter().for_each(|path| screen.file(path));
    screen.summary(&show::summary(&sweep, &rows));
    screen.show()?;
    Ok(ExitCode::SUCCESS)
}
