//! The commands, a file each.

pub(crate) mod audit;
pub(crate) mod certify;
pub(crate) mod compare;
pub(crate) mod data;
pub(crate) mod inspect;
pub(crate) mod list;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod run;
pub(crate) mod sweep_stability;
pub(crate) mod tune;
pub(crate) mod verify;

use std::io::Write;
use std::process::ExitCode;

use clap::CommandFactory;

/// `oneway completions SHELL`.
pub(crate) fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = vec![];
    clap_complete::generate(shell, &mut crate::args::Args::command(), "oneway", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}
