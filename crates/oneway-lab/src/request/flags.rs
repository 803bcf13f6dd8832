//! Flags that say more of a command's topologies.

use super::parameters::FamilyParameters;

/// What holds for every topology of a command, unless it says otherwise itself.
#[derive(Debug, clap::Args)]
pub(crate) struct TopologyFlags {
    /// Number of agents [default for a file: one more than its largest id]
    #[arg(long, value_name = "N", value_parser = whole::<u64>)]
    pub(crate) agents: Option<u64>,
    /// Root of spanning trees: an agent [default: 0]
    #[arg(long, value_name = "AGENT", value_parser = whole::<u64>)]
    pub(crate) root: Option<u64>,
    /// Weights of the full digraph: uniform or metropolis [default: uniform]
    #[arg(long, value_name = "KIND")]
    pub(crate) weights: Option<String>,
    /// Seed of random families [default: 1]
    #[arg(long, value_parser = whole::<u64>)]
    pub(crate) seed: Option<u64>,
    /// Divide the weights of files by their sums: the rows of R, the columns of C
    #[arg(long)]
    pub(crate) normalise: bool,
    /// The first id in files: 0 or 1 [default: 0]
    #[arg(long, value_name = "ID", value_parser = whole::<u64>)]
    pub(crate) base: Option<u64>,
    /// Files have names of agents in place of ids; agents are numbered in the order of their names
    #[arg(long)]
    pub(crate) names: bool,
    #[command(flatten)]
    pub(crate) parameters: FamilyParameters,
}

/// A whole number as an experiment file can hold it.
pub(crate) fn whole<N: TryFrom<u64>>(text: &str) -> Result<N, String> {
    const MOST: u64 = i64::MAX.unsigned_abs();
    let number = text.parse::<u64>().map_err(|_| "give a whole number, 0 or more".to_owned())?;
    let held = Some(number).filter(|number| *number <= MOST).and_then(|number| N::try_from(number).ok());
    held.ok_or_else(|| format!("give at most {MOST}"))
}
