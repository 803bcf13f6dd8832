//! Where agents stand on the page: where the report's drawings of networks have them.

use oneway::graph::Digraph;
use oneway_experiment::plan::Entry;
use oneway_experiment::spec::Spec;

use crate::draw::figure::gallery;
use crate::draw::figure::places::{self, Place};

/// The places of an experiment's agents, by entry: the same for all methods on a topology.
pub(crate) fn places<'a>(variants: &'a [Spec], entries: &'a [Entry]) -> impl Fn(&Entry) -> Vec<Place> + 'a {
    let mapped = |entry: &Entry| {
        let topologies = variants.iter().flat_map(|spec| &spec.topologies);
        let mut own = topologies.filter(|topology| topology.name == entry.topology_name);
        own.find_map(|topology| gallery::map(topology, entry.run.agents))
    };
    // of several sets of links, that with most: trees stand where the digraph does that they are cut from
    let full = move |entry: &Entry| {
        let same = entries
            .iter()
            .filter(|other| other.topology_name == entry.topology_name && other.graph != "complete");
        let digraphs = same.filter_map(|other| Digraph::from_mixing(&other.topology.at(0).pull).ok());
        digraphs.max_by_key(Digraph::edge_count)
    };
    move |entry| {
        let circle = || places::circle(entry.topology.agents());
        mapped(entry).unwrap_or_else(|| full(entry).map_or_else(circle, |full| places::tidy(&full)))
    }
}
