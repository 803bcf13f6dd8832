//! What the user typed.

use std::path::PathBuf;

use clap::Parser;

/// Run an experiment on all processes of an MPI job, with the simulator's bits.
#[derive(Debug, Parser)]
#[command(name = "oneway-mpi", version)]
pub(crate) struct Args {
    /// The experiment
    pub(crate) file: PathBuf,
    /// Where results go [default: out/<name of the file>-mpi]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Go on where an earlier job stopped, with any number of processes
    #[arg(long)]
    pub(crate) resume: bool,
    /// Rounds between two checkpoints, 0 for none but those that signals ask for
    #[arg(long, value_name = "ROUNDS", default_value_t = 1000)]
    pub(crate) checkpoint_every: u64,
    /// Threads of each process; the results do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: u16,
    /// A setting in place of the file's, as `path=value`
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}
