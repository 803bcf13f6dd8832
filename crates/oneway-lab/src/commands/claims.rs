//! `oneway claims`: two folders of results → a verdict on every claim of the paper.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};

use crate::args::ClaimsArgs;
use crate::claims::{Studies, judge, table, to_json};
use crate::results::curves;
use crate::results::folder::OutputFolder;

/// Runs the command.
pub(crate) fn claims(args: &ClaimsArgs) -> Result<ExitCode> {
    let multi_sub_ring = curves::read(&args.multi_sub_ring.join("curves.csv"))?;
    let exponential = curves::read(&args.exponential.join("curves.csv"))?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.exponential));
    let name = out.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| format!("{} does not name a file", out.display()))?;
    let folder = match out.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let folder = OutputFolder::prepare(folder)?;

    let claims = judge(&multi_sub_ring, &exponential, &Studies::run()?);
    let written = folder.write(name, to_json(&claims))?;
    writeln!(std::io::stdout(), "{}\n{}", table(&claims), written.display())?;
    Ok(ExitCode::SUCCESS)
}

/// `claims.json` in the folder that holds this one.
fn beside(folder: &Path) -> PathBuf {
    match folder.canonicalize().ok().as_deref().and_then(Path::parent) {
        Some(parent) => parent.join("claims.json"),
        None => folder.join("claims.json"),
    }
}
