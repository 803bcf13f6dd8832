//! `oneway sweep-stability`: how the largest stable step changes with a parameter of the topology and with λ.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oneway_experiment::results::folder::OutputFolder;

use crate::cli::args::SweepStabilityArgs;
use crate::cli::progress::Pieces;
use crate::draw::figure::gallery;
use crate::studies::sweep_stability::{Sweep, show};

/// Runs the command.
pub(crate) fn sweep_stability(args: &SweepStabilityArgs) -> Result<ExitCode> {
    let sweep = Sweep::new(&args.question)?;
    let default_out = Path::new("out").join(format!("stability-{}-{}", sweep.family, sweep.axis.key));
    let runner = super::runner(args.threads)?;
    let folder = OutputFolder::prepare(args.out.as_deref().unwrap_or(&default_out))?;
    let progress = Pieces::new(sweep.limits_to_find() as u64, format!("{}: limits", sweep.family));
    let rows = runner.install(|| sweep.run(&|| progress.one_done()))?;
    drop(progress);
    let mut written = vec![folder.write("limits.csv", show::csv(&sweep, &rows))?];
    let pictures = show::pictures(&sweep, &rows);
    runner.install(|| gallery::write(&pictures, &folder))?;
    written.extend(pictures.iter().map(|picture| folder.path().join(format!("{}.svg", picture.file))));
    folder.settle("stability")?;
    let files: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    let (table, gaps) = (show::table(&sweep, &rows), show::gaps(&sweep, &rows));
    writeln!(std::io::stdout(), "{table}\n{gaps}{}", files.join("\n"))?;
    Ok(ExitCode::SUCCESS)
}
