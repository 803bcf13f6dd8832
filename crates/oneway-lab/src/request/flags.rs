//! Flags that say more of a command's topologies.

use clap::builder::TypedValueParser;

use super::parameters::FamilyParameters;

/// What holds for every topology of a command, unless it says otherwise itself.
#[derive(Debug, clap::Args)]
pub(crate) struct TopologyFlags {
    /// Number of agents [default for a file: one more than its largest id]
    #[arg(long, value_name = "N", value_parser = whole())]
    pub(crate) agents: Option<u64>,
    /// Root of spanning trees: an agent [default: 0]
    #[arg(long, value_name = "AGENT", value_parser = whole())]
    pub(crate) root: Option<u64>,
    /// Weights of the full digraph: uniform or metropolis [default: uniform]
    #[arg(long, value_name = "KIND")]
    pub(crate) weights: Option<String>,
    /// Seed of random families [default: 1]
    #[arg(long, value_parser = whole())]
    pub(crate) seed: Option<u64>,
    /// Divide the weights of files by their sums: the rows of R, the columns of C
    #[arg(long)]
    pub(crate) normalise: bool,
    /// The first id in files: 0 or 1 [default: 0]
    #[arg(long, value_name = "ID", value_parser = whole())]
    pub(crate) base: Option<u64>,
    /// Files have names of agents in place of ids; agents are numbered in the order of their names
    #[arg(long)]
    pub(crate) names: bool,
    #[command(flatten)]
    pub(crate) parameters: FamilyParameters,
}

/// Whole numbers as an experiment file can hold them.
fn whole() -> impl TypedValueParser<Value = u64> {
    clap::value_parser!(u64).range(..=i64::MAX.unsigned_abs())
}
