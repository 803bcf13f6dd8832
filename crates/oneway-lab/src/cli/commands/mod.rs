//! The commands, a file each.

pub(crate) mod audit;
pub(crate) mod certify;
pub(crate) mod claims;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod device;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod merge;
pub(crate) mod new;
pub(crate) mod plot;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod sweep_stability;
pub(crate) mod table;
pub(crate) mod tabulate;
pub(crate) mod tune;
pub(crate) mod verify;
pub(crate) mod watch;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use anyhow::{Context, Result, bail};
use clap::CommandFactory;
use oneway_experiment::plan::Cell;
use oneway_experiment::results::manifest::Manifest;
use oneway_experiment::runner::Runner;

use crate::cli::args::DeviceKind;

/// A runner that Ctrl-C stops: once to finish tidily, twice at once.
fn runner(threads: Option<u16>) -> Result<Runner> {
    let runner = Runner::new(threads)?;
    let interrupted = runner.interrupted();
    ctrlc::set_handler(move || {
        if interrupted.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(runner)
}

/// The same, on a device.
fn runner_on(device: DeviceKind, threads: Option<u16>) -> Result<Runner> {
    device::runner_on(device, || runner(threads))
}

/// Rounds that cells ask for.
fn rounds(cells: &[Cell<'_>]) -> u64 {
    cells.iter().map(|cell| cell.entry.run.iterations).sum()
}

/// Where results of an experiment file go unless another folder is given: `out/` and the file's name, and a
/// folder in that for commands other than `run`. Refused where it holds results of another file of the same
/// name.
pub(crate) fn default_folder(file: &Path, inner: &str) -> Result<PathBuf> {
    let folder = Path::new("out").join(file.file_stem().unwrap_or_default());
    if let Ok(before) = Manifest::read(&folder) {
        let whole = |folder: &Path| Path::new(".").join(folder).canonicalize().ok();
        let [then, now] = [Path::new(&before.folder), file.parent().unwrap_or(Path::new(""))].map(whole);
        // a folder that is gone was moved or renamed, and its experiment with it
        if let (Some(then), Some(now)) = (then, now)
            && then != now
        {
            bail!(
                "{}: {} holds the results of a file of the same name in {}: give another folder with --out",
                file.display(),
                folder.display(),
                if before.folder.is_empty() { "." } else { &before.folder }
            );
        }
    }
    Ok(folder.join(inner))
}

/// `oneway man DIR`.
pub(crate) fn man(dir: &Path) -> anyhow::Result<ExitCode> {
    let place = || format!("cannot write to {}", dir.display());
    std::fs::create_dir_all(dir).with_context(place)?;
    clap_mangen::generate_to(crate::cli::args::Args::command(), dir).with_context(place)?;
    Ok(ExitCode::SUCCESS)
}

/// `oneway completions SHELL`.
pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut crate::cli::args::Args::command(), "oneway", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
