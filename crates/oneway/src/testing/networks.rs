//! The networks of the table.

use crate::graph::mixing::{Link, Mixing, Stochastic};
use crate::graph::topology::{Pair, Subgraph, Topology, Weights};
use crate::graph::{Digraph, families};
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

const THERE_AND_BACK: &str = "there and back";

/// Agents of every network of the table.
pub(super) const AGENTS: usize = 9;

/// Every family with n = 9 agents (random ones with the first seed that makes them strongly connected), and a
/// period whose matrices do not commute, so that the order of rounds matters. Digraphs of one network are
/// those of its period.
pub fn networks() -> Result<Vec<(&'static str, Vec<Digraph>)>> {
    const SEEDS: u64 = 100;
    let connected = |graphs: &Vec<Digraph>| graphs.len() > 1 || graphs[0].is_strongly_connected();
    let mut all = vec![];
    for family in families::FAMILIES {
        let mut tried = (0..SEEDS).map(|seed| family.digraphs(AGENTS, [], seed));
        let found = tried.find(|graphs| graphs.as_ref().map_or(true, connected));
        let unconnected = || Error::parameter(family.name, "seed", SEEDS, "no seed below makes it connected");
        all.push((family.name, found.ok_or_else(unconnected)??));
    }
    let odd = (0..8).map(|i| (i, i + 1)).chain([(0, 2), (3, 7)]);
    let even = (0..8).map(|i| (i + 1, i)).chain([(8, 0), (5, 1), (2, 6)]);
    let alternating = vec![Digraph::from_edges(AGENTS, odd)?, Digraph::from_edges(AGENTS, even)?];
    all.push((THERE_AND_BACK, alternating));
    Ok(all)
}

/// Whether π_R is another in another round of this network of the table: where the rounds' weights are not
/// doubly stochastic.
pub fn π_moves(name: &str) -> bool {
    [THERE_AND_BACK, "random-links"].contains(&name)
}

/// The same links both ways, with Metropolis weights: one symmetric, doubly stochastic matrix.
pub fn balanced(digraphs: &[Digraph]) -> Result<Topology> {
    let both_ways = |digraph: &Digraph| {
        let links: Vec<_> = digraph.edges().flat_map(|(from, to)| [(from, to), (to, from)]).collect();
        Digraph::from_edges(digraph.agents(), links)
    };
    let graphs = digraphs.iter().map(both_ways).collect::<Result<Vec<_>>>()?;
    Topology::from_digraphs(&graphs, Subgraph::Full, Weights::Metropolis, 0)
}

/// The same with half of all weight kept: (I + W)/2.
pub fn lazy(topology: &Topology) -> Result<Topology> {
    let half = |mixing: &Mixing| {
        let own =
            (0..mixing.agents()).map(|i| Link { from: i, to: i, weight: 0.5 * mixing.weight(i, i) + 0.5 });
        let others = mixing.iter().filter(|link| link.from != link.to);
        let others = others.map(|link| Link { weight: 0.5 * link.weight, ..link });
        Mixing::new(mixing.agents(), Stochastic::Rows, own.chain(others))
    };
    let pair = |pair: &Pair| Ok(Pair { pull: half(&pair.pull)?, push: half(&pair.push)? });
    Topology::cyclic(topology.period().iter().map(pair).collect::<Result<_>>()?)
}

/// A random strongly connected digraph: a cycle through all agents in random order, and n random links.
pub fn random_digraph(agents: usize, seed: u64) -> Result<Digraph> {
    let mut draws = Draws::new(seed, Purpose::Graph, 0, 0);
    let mut below = |n: usize| ((draws.unit() * n as f64) as usize).min(n.saturating_sub(1));
    let mut order: Vec<usize> = (0..agents).collect();
    for i in (1..agents).rev() {
        order.swap(i, below(i + 1));
    }
    let links: Vec<_> = (0..agents).map(|_| (below(agents), below(agents))).collect();
    let cycle = (0..agents).map(|i| (order[i], order[(i + 1) % agents]));
    Digraph::from_edges(agents, cycle.chain(links))
}
