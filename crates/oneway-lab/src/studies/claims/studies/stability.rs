//! The largest stable effective step η·c_π·h, from the eigenvalues of a round.

use anyhow::Result;
use oneway::methods::{PUSH_PULL, Smtpp};
use oneway::theory::stability;
use rayon::prelude::*;

use super::quadratic::{paper_graphs, topology};
use super::{LINKS, MOMENTUM};

/// The limit of a method on a graph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Limit {
    pub(crate) graph: &'static str,
    pub(crate) trees: bool,
    /// Largest stable η·c_π·h of SMTPP, λ = 0.1.
    pub(crate) smtpp: f64,
    /// The same of Push-Pull, which tracks gradients.
    pub(crate) push_pull: f64,
}

/// Both methods on both graphs, on trees and on the full digraph.
pub(super) fn run() -> Result<Vec<Limit>> {
    let [full, trees] = LINKS;
    let cases = paper_graphs()?
        .into_iter()
        .flat_map(|(graph, digraph)| [trees, full].map(|(subgraph, _)| (graph, subgraph, digraph.clone())));
    let limit = |(graph, subgraph, digraph)| {
        let topology = topology(digraph, subgraph)?;
        let smtpp = stability::limit(&Smtpp::new(MOMENTUM)?, &topology)?.effective;
        let push_pull = stability::limit(&PUSH_PULL, &topology)?.effective;
        Ok(Limit { graph, trees: subgraph == trees.0, smtpp, push_pull })
    };
    cases.collect::<Vec<_>>().into_par_iter().map(limit).collect()
}
