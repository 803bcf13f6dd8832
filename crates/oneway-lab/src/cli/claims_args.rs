//! What the user typed after `claims`.

use std::path::PathBuf;

use clap::Subcommand;

use super::args::DeviceKind;
use super::values::output;

#[derive(Debug, clap::Args)]
pub(crate) struct ClaimsArgs {
    #[command(subcommand)]
    pub(crate) command: ClaimsCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum ClaimsCommand {
    /// Run all methods under many readings, and say under which of them each claim holds; writes map.json,
    /// map.csv, summary.json and figures
    Map(MapArgs),
}

#[derive(Debug, clap::Args)]
pub(crate) struct MapArgs {
    /// Run on fresh samples, with a seed made from the hashes of the rules and the readings: these runs decide
    #[arg(long)]
    pub(crate) confirm: bool,
    /// Folder for the results [default: out/claims; with --confirm out/claims-confirm]
    #[arg(long, value_name = "DIR", value_parser = output())]
    pub(crate) out: Option<PathBuf>,
    /// Readings in place of experiments/claims/readings.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) readings: Option<PathBuf>,
    /// Rules in place of experiments/claims/rules.toml
    #[arg(long, value_name = "FILE")]
    pub(crate) rules: Option<PathBuf>,
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
