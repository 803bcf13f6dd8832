//! `oneway watch`: results folders on a local page, while they are filled and afterwards.

use std::io::Write;
use std::process::ExitCode;
use std::sync::mpsc;

use anyhow::{Context, Result};

use crate::cli::args::WatchArgs;
use crate::watch::{Folders, Watching};

/// Runs the command, until Ctrl-C.
pub(crate) fn watch(args: &WatchArgs) -> Result<ExitCode> {
    let folders = Folders::open(&args.dirs)?;
    let watching = Watching::listen(args.port, None)?;
    let (interrupt, interrupted) = mpsc::channel();
    let interrupt = move || {
        let _ = interrupt.send(()); // nobody listens any more: it ends already
    };
    ctrlc::set_handler(interrupt).context("cannot listen for Ctrl-C")?;
    watching.show(folders)?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", watching.server().address())?;
    out.flush()?;
    let _ = interrupted.recv();
    Ok(ExitCode::SUCCESS)
}
