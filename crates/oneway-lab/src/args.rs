//! What the user typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// Decentralised optimisation over directed networks: run experiments, look at methods, topologies and data.
#[derive(Debug, Parser)]
#[command(name = "oneway", version, arg_required_else_help = true)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Reproduce the paper: both experiments, a verdict on every claim, figures and a page
    Reproduce(ReproduceArgs),
    /// Run an experiment file; writes curves.csv, summary.json, figures and report.html
    Run(RunArgs),
    /// Find a good step size and momentum for each method on each topology of an experiment
    Tune(TuneArgs),
    /// Run a results folder again and compare every bit with what it claims
    Verify(VerifyArgs),
    /// Draw the figures and the page of a results folder again, without running anything
    Report(ReportArgs),
    /// Put two results folders side by side
    Compare(CompareArgs),
    /// List the methods, with their rules and parameters
    Methods(ListArgs),
    /// List the topologies, with their parameters
    Topologies(ListArgs),
    /// Export or describe a dataset
    Data(DataArgs),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceArgs {
    /// Folder for the results [default: out/reproduce; with --quick out/reproduce-quick]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Two repetitions and few recorded states: a look, not a verdict
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also run the study of what the paper leaves open
    #[arg(long)]
    pub(crate) sensitivity: bool,
    /// Compute every cell again, also those that an earlier run has finished
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// A results folder, or a folder of them
    pub(crate) dir: PathBuf,
    /// Draw every column of curves.csv, not only loss and gradient
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The experiment, a TOML file
    pub(crate) file: PathBuf,
    /// Folder for the results [default: out/ and the file's name]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Compute every cell again, also those that an earlier run into the same folder has finished
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Write curves.csv and summary.json only: no figures, no page
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Change a setting: run.iterations=100, method.SMTPP.step.size=0.2; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TuneArgs {
    /// The experiment, a TOML file
    pub(crate) file: PathBuf,
    /// Folder for the results [default: out/, the file's name, tune/]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// What to make small
    #[arg(long, value_enum, default_value_t = Criterion::Loss)]
    pub(crate) by: Criterion,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Change a setting, as for `run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Criterion {
    /// F(x̄)
    Loss,
    /// ‖∇F(x̄)‖²
    Gradient,
}

impl std::fmt::Display for Criterion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Criterion::Loss => "loss",
            Criterion::Gradient => "gradient",
        })
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The results folder, or a folder of them
    pub(crate) dir: PathBuf,
    /// Accept that some cells were not finished
    #[arg(long)]
    pub(crate) partial: bool,
    /// Folder that paths in its settings are relative to [default: the one it was run with]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Threads to use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// One results folder
    pub(crate) left: PathBuf,
    /// Another
    pub(crate) right: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DataArgs {
    #[command(subcommand)]
    pub(crate) command: DataCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DataCommand {
    /// Write an embedded dataset as LIBSVM text to standard output
    Export {
        /// Which one
        dataset: Embedded,
        /// Which part
        #[arg(long, value_enum, default_value_t = SplitArg::Train)]
        split: SplitArg,
    },
    /// Describe a dataset: rows, features, labels, non-zeros
    Info {
        /// `a9a`, or the path of a LIBSVM file
        dataset: String,
        /// Number of features of a file [default: its largest index]
        #[arg(long)]
        features: Option<usize>,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Embedded {
    /// UCI Adult in 123 binary features
    A9a,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SplitArg {
    Train,
    Test,
}
