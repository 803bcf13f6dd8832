//! What the command `oneway-mpi` does.
//!
//! Exit codes: 0 done; 1 a process failed, and ended the others; 2 the input is wrong, and nothing was
//! written; 75 stopped by a signal, with a checkpoint: start it again with `--resume`.

use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use oneway::registry::Registry;
use signal_hook::consts::{SIGINT, SIGTERM, SIGUSR1};

use crate::args::Args;
use crate::job::{Ending, job, one_says};
use crate::run::Asked;
use crate::world::job::Job;

/// Runs the command.
pub fn main(registry: Registry) -> ExitCode {
    // first of all: a signal that comes while processes find each other is not lost
    let asked = match listen() {
        Ok(asked) => asked,
        Err(error) => {
            eprintln!("oneway-mpi: cannot listen for signals: {error}");
            return ExitCode::from(2);
        }
    };
    let Some(world) = Job::join() else {
        eprintln!("oneway-mpi: MPI has begun already");
        return ExitCode::from(2);
    };
    let parsed = Args::try_parse();
    let code = |wrong: &clap::Error| ExitCode::from(u8::try_from(wrong.exit_code()).unwrap_or(2));
    let own = parsed.as_ref().err().map(code);
    let args = match one_says(&world, parsed) {
        Ok(Some(args)) => args,
        Ok(None) => return own.unwrap_or(ExitCode::from(2)),
        Err(wrong) => {
            let _ = wrong.print(); // nobody to tell of errors
            return code(&wrong);
        }
    };
    match registry.install().map_err(Into::into).and_then(|()| job(&world, &args, &asked)) {
        Ok(Ending::Done) => ExitCode::SUCCESS,
        Ok(Ending::Stopped) => ExitCode::from(75),
        Ok(Ending::SaidElsewhere) => ExitCode::from(2),
        Err(error) => {
            eprintln!("oneway-mpi: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// SIGTERM and SIGINT ask for a checkpoint and the end, SIGUSR1 for a checkpoint.
fn listen() -> std::io::Result<Asked> {
    let asked = Asked::default();
    for (signal, flag) in [(SIGTERM, &asked.stop), (SIGINT, &asked.stop), (SIGUSR1, &asked.save)] {
        signal_hook::flag::register(signal, Arc::clone(flag))?;
    }
    Ok(asked)
}
