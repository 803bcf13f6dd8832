//! Drawings of what was inspected: one for each topology and one for its trees.

use anyhow::Result;
use oneway::graph::Digraph;
use oneway::graph::topology::{Stationary, Subgraph};

use super::Inspection;
use super::facts::Network;
use crate::draw::figure::gallery::{self, Drawing, MOST_AGENTS, Picture};
use crate::draw::figure::places;

/// The pictures of a network; what cannot be drawn is noted with what was not computed.
pub(crate) fn pictures(network: &Network, facts: &mut Inspection) -> Result<Vec<Picture>> {
    if facts.agents > MOST_AGENTS {
        facts.skipped.push(format!("a drawing: there are more than {MOST_AGENTS} agents"));
        return Ok(vec![]);
    }
    let digraphs = network.digraphs()?;
    let there = digraphs.iter().flat_map(|(_, digraph)| digraph.edges());
    // where the graphs were given apart, grey is what only the other one has
    let repair = facts.assumption_1.repair.as_ref().filter(|repair| repair.shared);
    let missing = repair.map_or(&[][..], |repair| &repair.pull).iter().copied();
    let links = match (missing.len(), facts.period) {
        (1.., _) => "all links, and in grey the fewest that repair it",
        (0, 1) => "all links",
        (0, _) => "the links of round 0, and in grey those of others",
    };
    let full = Digraph::from_edges(facts.agents, there.chain(missing))?;
    let places = gallery::map(&network.spec, facts.agents).unwrap_or_else(|| places::tidy(&full));
    // without a common root π need not be one vector; the links can be drawn all the same
    let nowhere = Stationary { pull: vec![], push: vec![], c_pi: 0.0 };
    let mut pictures = vec![];
    // lazy trees differ from trees in the weights only
    let all = network.subgraphs(facts.assumption_1.holds)?.into_iter();
    for (graph, topology) in all.filter(|(graph, _)| *graph != Subgraph::LazyTrees) {
        let links = if graph == Subgraph::Full { links } else { "spanning trees, or lazy-trees," };
        let (name, places) = (&facts.topology, places.clone());
        let drawing = Drawing { name, graph: graph.name(), links, full: &full, places };
        let stationary = if facts.assumption_1.holds { topology.stationary(0)? } else { &nowhere };
        pictures.push(drawing.picture(topology.at(0), stationary));
    }
    Ok(pictures)
}
