//! What is asked, as the command line says it.

use oneway::graph::Subgraph;

use super::EXAMPLES;
use crate::request::TopologyFlags;

/// A topology, what of it changes, and the λ and the links that limits are asked for.
#[derive(Debug, clap::Args)]
pub(crate) struct Question {
    /// NAME as in `oneway topologies`, or NAME:petals=4,agents=20
    pub(crate) topology: String,
    #[arg(long, value_name = "KEY=VALUES", help = over())]
    pub(crate) over: String,
    #[command(flatten)]
    pub(crate) flags: TopologyFlags,
    /// Values of SMTPP's λ, with commas between them
    #[arg(long, value_name = "LAMBDAS", value_delimiter = ',', default_value = "0.02,0.05,0.1,0.2,0.5,1")]
    pub(crate) momentum: Vec<f64>,
    /// Links to use: full, trees, lazy-trees, with commas between them
    #[arg(long, value_name = "GRAPHS", value_delimiter = ',', default_value = "full,trees", value_parser = subgraph)]
    pub(crate) graph: Vec<Subgraph>,
}

fn over() -> String {
    format!("The parameter of the family to vary, or `agents`, with its values: {}", EXAMPLES)
}

fn subgraph(name: &str) -> Result<Subgraph, oneway::Error> {
    let found = Subgraph::NAMED.iter().find(|(known, _)| *known == name);
    let known = || Subgraph::NAMED.iter().map(|(known, _)| *known);
    found.map(|(_, subgraph)| *subgraph).ok_or_else(|| oneway::Error::unknown("graph", name, known()))
}
