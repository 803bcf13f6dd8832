//! What the user typed.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use oneway_experiment::shard::Shard;

use super::claims_args::ClaimsArgs;
use super::paper_args::{PlotArgs, TableArgs};
use super::values::{output, seconds};
use crate::request::{TopologyFlags, whole};
use crate::studies::sweep_stability::Question;
use crate::studies::tune::Criterion;

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
    /// Test the paper's claims under every choice that the paper leaves open
    Claims(ClaimsArgs),
    /// Write a commented experiment file, from three answers or from flags
    New(NewArgs),
    /// Run an experiment file; writes curves.csv, summary.json, figures and report.html
    Run(RunArgs),
    /// Combine the results of shares (`run --shard`) into what one run would have written
    Merge(MergeArgs),
    /// Compute what theory says about an experiment (stable and certified steps, floor, bound), and measure it
    /// in runs
    Certify(CertifyArgs),
    /// Find a good step size and momentum (or heavy ball) for each method on each topology of an experiment,
    /// and compare
    Tune(TuneArgs),
    /// Check every inequality of SMTPP's convergence theory on runs: its slack and its violations, as printed
    /// and as corrected
    Audit(AuditArgs),
    /// Run the experiment of a results folder again, and compare every bit with the stored results
    Verify(VerifyArgs),
    /// Run asynchronous cells again from their logs of arrivals, and compare the final states
    Replay(ReplayArgs),
    /// Show results folders on a local page, during a run and after it
    Watch(WatchArgs),
    /// Draw the figures and the page of a results folder again, without running anything
    Report(ReportArgs),
    /// Draw figures for a paper from results folders: size, methods, axes, bands, SVG, PDF, LaTeX
    Plot(PlotArgs),
    /// Print tables of final values: means, standard errors, the best; as text, Markdown, LaTeX or CSV
    Table(TableArgs),
    /// Compare two results folders: settings that differ, means, and whether noise explains the differences
    Compare(CompareArgs),
    /// Analyse a topology: connectivity, π, c_π, mixing, and the largest stable step of each method
    Inspect(InspectArgs),
    /// Compute the largest stable step for many values of a topology's parameter and of the momentum
    SweepStability(SweepStabilityArgs),
    /// List the methods, estimators and combinators with their equations and parameters; or describe one method
    Methods(MethodsArgs),
    /// List the codecs, with their rules and parameters
    Codecs(ListArgs),
    /// List the problems, with their keys
    Problems(ListArgs),
    /// List the topologies, with their parameters
    Topologies(ListArgs),
    /// Export or describe a dataset
    Data(DataArgs),
    /// Write a manual page for each command into a folder
    #[command(hide = true)] // for those who pack it
    Man {
        /// The folder
        #[arg(value_name = "DIR", value_parser = output())]
        dir: PathBuf,
    },
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// What runs the rounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum DeviceKind {
    /// This computer's processors
    Cpu,
    /// An NVIDIA GPU; runs that are not possible there stay on the processors, and a message names them
    Cuda,
    /// The kernels of a GPU, compiled for this computer's processor by its C++ compiler: slow, for tests
    #[value(hide = true)]
    Host,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReproduceArgs {
    /// Folder for the results [default: out/reproduce; with --quick out/reproduce-quick]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Two repetitions and few recorded states: a quick look, too little for verdicts
    #[arg(long)]
    pub(crate) quick: bool,
    /// Also run the study of settings that the paper does not state
    #[arg(long)]
    pub(crate) sensitivity: bool,
    /// Also print the condition of each verdict, and the numbers behind it
    #[arg(long)]
    pub(crate) evidence: bool,
    /// Compute every cell again, also those that an earlier run has finished
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// What runs the rounds; the results do not depend on it
    #[arg(long, value_enum, default_value_t = DeviceKind::Cpu)]
    pub(crate) device: DeviceKind,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// A results folder, or a folder of them
    pub(crate) dir: PathBuf,
    /// Draw every column of curves.csv, not only losses, gradients and consensus
    #[arg(long)]
    pub(crate) all: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct NewArgs {
    /// The file to write, which must not exist yet [default: experiment.toml]
    #[arg(value_parser = output())]
    pub(crate) file: Option<PathBuf>,
    /// The same as FILE
    #[arg(long, value_name = "FILE", conflicts_with = "file", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Kind of problem, as in `oneway problems` [default: one that suits the data]
    #[arg(long, value_name = "KIND")]
    pub(crate) problem: Option<String>,
    /// Path of a data file, or a9a, digits, fashion-mnist, synthetic [default: a9a]
    #[arg(long, value_name = "DATA")]
    pub(crate) dataset: Option<String>,
    /// The column with the labels, by name or by number from 1; in an NPZ file, the array with the labels
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// A name as in `oneway topologies`, or the path of an edge list [default: exponential]
    #[arg(long, value_name = "NAME")]
    pub(crate) topology: Option<String>,
    /// Number of agents [default: 20, or those of the edge list]
    #[arg(long, value_name = "N", value_parser = whole::<usize>)]
    pub(crate) agents: Option<usize>,
    /// Names as in `oneway methods` [default: smtpp,push-pull,sgp]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) methods: Vec<String>,
    /// Ask no questions: take the default of every option that is not given
    #[arg(long)]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WatchArgs {
    /// Results folders, or folders of results folders; a run with --live can be watched from its start
    #[arg(value_name = "DIR", required = true)]
    pub(crate) dirs: Vec<PathBuf>,
    /// Port of the page on 127.0.0.1 [default: a free one]
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RunArgs {
    /// The experiment, a TOML file
    pub(crate) file: PathBuf,
    /// Folder for the results [default: out/NAME for NAME.toml; with --shard, shard-I-of-K in that folder]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Run only share I of K of the cells, without figures, as one job of an array; see `oneway merge`
    #[arg(long, value_name = "I/K", conflicts_with = "log_arrivals")]
    pub(crate) shard: Option<Shard>,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// What runs the rounds; the results do not depend on it
    #[arg(long, value_enum, default_value_t = DeviceKind::Cpu)]
    pub(crate) device: DeviceKind,
    /// Compute every cell again, also those that an earlier run into the same folder has finished
    #[arg(long)]
    pub(crate) fresh: bool,
    /// Seconds between two checkpoints of a cell that takes long; after an interruption, the same command
    /// continues from the last one; 0 for no checkpoints
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0, value_parser = seconds)]
    pub(crate) checkpoint_every: f64,
    /// Write curves.csv and summary.json only: no figures, no page
    #[arg(long)]
    pub(crate) no_report: bool,
    /// Show the run on a local page; the page stays after the run, until Ctrl-C
    #[arg(long)]
    pub(crate) watch: bool,
    /// Port of that page on 127.0.0.1 [default: the same as before, or a free one]
    #[arg(long, value_name = "PORT", requires = "watch", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,
    /// Write, during the run, what `oneway watch` shows; --watch includes this
    #[arg(long)]
    pub(crate) live: bool,
    /// Also write a log of arrivals for each asynchronous cell, for `replay`
    #[arg(long)]
    pub(crate) log_arrivals: bool,
    /// Change a setting: run.iterations=100, method.SMTPP.step.size=0.2; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// The results folders of all shares
    #[arg(value_name = "DIR", required = true)]
    pub(crate) dirs: Vec<PathBuf>,
    /// Folder for the results
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: PathBuf,
    /// Write curves.csv and summary.json only: no figures, no page
    #[arg(long)]
    pub(crate) no_report: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CertifyArgs {
    /// The experiment, a TOML file
    pub(crate) file: PathBuf,
    /// Folder for the results [default: out/NAME/certify for NAME.toml]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Rounds of each run for the picture of steps that work, at most as many as in the experiment; 0 for no runs
    #[arg(long, value_name = "N", default_value_t = 400)]
    pub(crate) rounds: u64,
    /// Print JSON in place of the table
    #[arg(long)]
    pub(crate) json: bool,
    /// Change a setting, as for `run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct TuneArgs {
    /// The experiment, a TOML file
    pub(crate) file: PathBuf,
    /// Folder for the results [default: out/NAME/tune for NAME.toml]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Quantity to minimise
    #[arg(long, value_enum, default_value_t = Criterion::Loss)]
    pub(crate) by: Criterion,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// What runs the rounds; the results do not depend on it
    #[arg(long, value_enum, default_value_t = DeviceKind::Cpu)]
    pub(crate) device: DeviceKind,
    /// Change a setting, as for `run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// The experiment, a TOML file; its SMTPP methods with a constant step are audited
    pub(crate) file: PathBuf,
    /// Runs to average over, at least 2 [default: the file's repetitions]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..))]
    pub(crate) repetitions: Option<u32>,
    /// Folder for the results [default: out/NAME/audit for NAME.toml]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
    /// Change a setting, as for `run`; may be repeated
    #[arg(long = "set", value_name = "PATH=VALUE")]
    pub(crate) overrides: Vec<String>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// The results folder, or a folder of them
    pub(crate) dir: PathBuf,
    /// Accept that some cells were not finished
    #[arg(long)]
    pub(crate) partial: bool,
    /// Folder that relative paths in its settings start from [default: the one of the first run]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Threads to use
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReplayArgs {
    /// Logs, in the folder arrivals/ of a results folder
    #[arg(required = true, value_name = "LOG")]
    pub(crate) logs: Vec<PathBuf>,
    /// Folder that relative paths in the settings start from [default: the one of the first run]
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompareArgs {
    /// The first results folder
    pub(crate) left: PathBuf,
    /// The second results folder
    pub(crate) right: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct MethodsArgs {
    /// A method to describe in full
    #[arg(value_name = "NAME", conflicts_with = "page")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) list: ListArgs,
    /// Write a page about all methods into this folder, with a picture of each
    #[arg(long, value_name = "DIR", conflicts_with = "json", value_parser = output())]
    pub(crate) page: Option<PathBuf>,
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
        /// The dataset
        dataset: Embedded,
        /// The part of it
        #[arg(long, value_enum, default_value_t = SplitArg::Train)]
        split: SplitArg,
    },
    /// Describe a dataset: rows, features, labels, non-zeros
    Info {
        /// `a9a`, `digits`, `fashion-mnist`, or the path of a file (LIBSVM, CSV, NPY, NPZ, Parquet) or of a
        /// folder of IDX files
        dataset: String,
        /// Number of features of a file [default: its largest index, or its columns]
        #[arg(long, value_parser = whole::<usize>)]
        features: Option<usize>,
        #[command(flatten)]
        layout: LayoutArgs,
    },
}

/// What a file does not say of itself: keys of `[problem]`.
#[derive(Debug, clap::Args)]
pub(crate) struct LayoutArgs {
    /// The column with the labels, by name or by number from 1; in an NPZ file, the array with the labels
    #[arg(long, value_name = "COLUMN")]
    pub(crate) label: Option<String>,
    /// Whether the first line of a table has names [default: detected]
    #[arg(long, value_name = "BOOL")]
    pub(crate) header: Option<bool>,
    /// The character between the cells of a table [default: detected]
    #[arg(long, value_name = "CHARACTER")]
    pub(crate) separator: Option<String>,
    /// Columns of a table to leave out, by name or number from 1
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    pub(crate) drop: Vec<String>,
    /// The array of an NPZ file that has the rows [default: X, data or features]
    #[arg(long, value_name = "NAME")]
    pub(crate) array: Option<String>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Embedded {
    /// UCI Adult in 123 binary features
    A9a,
    /// UCI handwritten digits in 8×8 pixels, ten classes
    Digits,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum SplitArg {
    Train,
    Test,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InspectArgs {
    /// NAME as in `oneway topologies`, NAME:petals=4,agents=20, or the path of an edge list; several are
    /// shown side by side
    #[arg(value_name = "TOPOLOGY")]
    pub(crate) topologies: Vec<String>,
    #[command(flatten)]
    pub(crate) flags: TopologyFlags,
    /// λ of the methods with momentum, in (0, 1]
    #[arg(long, value_name = "LAMBDA", default_value_t = 0.1, allow_negative_numbers = true)]
    pub(crate) momentum: f64,
    /// Methods to compute the largest stable step of: names as in `oneway methods`, or `all`
    #[arg(long, value_name = "NAMES", value_delimiter = ',', default_values = crate::studies::inspect::METHODS)]
    pub(crate) methods: Vec<String>,
    /// R as a weighted edge list; needs --push
    #[arg(long, value_name = "FILE", requires = "push")]
    pub(crate) pull: Option<PathBuf>,
    /// C as a weighted edge list; needs --pull
    #[arg(long, value_name = "FILE", requires = "pull")]
    pub(crate) push: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Folder for drawings of the networks, as SVG, PNG and PDF [default: no drawings]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SweepStabilityArgs {
    #[command(flatten)]
    pub(crate) question: Question,
    /// Folder for limits.csv and the figures [default: out/stability-NAME-KEY]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Threads to use; the results do not depend on it [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(crate) threads: Option<u16>,
}
