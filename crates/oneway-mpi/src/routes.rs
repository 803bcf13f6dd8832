//! Which rows go from which process to which: made from the digraph, along its arrows.

use std::ops::Range;

use oneway::graph::mixing::Mixing;

use crate::blocks::{block, rank_of};

/// The rows of some agents, to or from one process.
#[derive(Debug)]
pub(crate) struct Route {
    pub(crate) peer: usize,
    /// Who they are, ascending; neighbouring ones are one run.
    pub(crate) runs: Vec<Range<usize>>,
}

impl Route {
    fn new(peer: usize, agents: &[usize]) -> Self {
        let mut runs: Vec<Range<usize>> = vec![];
        for &agent in agents {
            match runs.last_mut() {
                Some(last) if last.end == agent => last.end += 1,
                _ => runs.push(agent..agent + 1),
            }
        }
        Self { peer, runs }
    }

    /// The run, if there is only one.
    pub(crate) fn whole(&self) -> Option<&Range<usize>> {
        if let [run] = &self.runs[..] { Some(run) } else { None }
    }

    /// How many rows.
    pub(crate) fn rows(&self) -> usize {
        self.runs.iter().map(ExactSizeIterator::len).sum()
    }

    /// Who they are, one by one.
    pub(crate) fn agents(&self) -> impl Iterator<Item = usize> + '_ {
        self.runs.iter().cloned().flatten()
    }
}

/// Those that agents `hearers` hear on a graph and that are `among` the agents, ascending. O(m log m) for the
/// m links of the hearers.
pub(crate) fn heard(mixing: &Mixing, hearers: Range<usize>, among: impl Fn(usize) -> bool) -> Vec<usize> {
    let hearers = if mixing.has_one_row() { hearers.start..hearers.start + 1 } else { hearers };
    let senders = hearers.flat_map(|hearer| mixing.senders(hearer)).map(|sender| *sender as usize);
    let mut heard: Vec<usize> = senders.filter(|sender| among(*sender)).collect();
    heard.sort_unstable();
    heard.dedup();
    heard
}

/// What process `rank` of `ranks` sends on a graph. O(links of the network).
pub(crate) fn sends(mixing: &Mixing, ranks: usize, rank: usize) -> Vec<Route> {
    let n = mixing.agents();
    let own = block(n, ranks, rank);
    let others = (0..ranks).filter(|peer| *peer != rank);
    let to = |peer| Route::new(peer, &heard(mixing, block(n, ranks, peer), |agent| own.contains(&agent)));
    others.map(to).filter(|route| !route.runs.is_empty()).collect()
}

/// What it receives. O(its links).
pub(crate) fn receives(mixing: &Mixing, ranks: usize, rank: usize) -> Vec<Route> {
    let n = mixing.agents();
    let own = block(n, ranks, rank);
    let agents = heard(mixing, own.clone(), |agent| !own.contains(&agent));
    let from = |agents: &[usize]| Route::new(rank_of(n, ranks, agents[0]), agents);
    agents.chunk_by(|a, b| rank_of(n, ranks, *a) == rank_of(n, ranks, *b)).map(from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::Topology;
    use oneway::graph::families;
    use oneway::graph::topology::{Subgraph, Weights};

    #[test]
    fn what_one_process_sends_another_receives_and_nothing_goes_against_an_arrow() {
        let digraphs = [families::ring(12).unwrap(), families::exponential(12).unwrap()];
        let topologies = digraphs
            .map(|digraph| Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap());
        for topology in topologies.iter().chain([&Topology::complete(12).unwrap()]) {
            for mixing in [&topology.at(0).pull, &topology.at(0).push] {
                for ranks in [1, 2, 3, 5, 12] {
                    let mut sent = vec![];
                    let mut received = vec![];
                    for rank in 0..ranks {
                        let own = block(12, ranks, rank);
                        sent.extend(sends(mixing, ranks, rank).into_iter().map(|r| (rank, r.peer, r.runs)));
                        for Route { peer, runs } in receives(mixing, ranks, rank) {
                            let is_heard = |from: usize| own.clone().any(|to| mixing.weight(to, from) > 0.0);
                            assert!(runs.iter().cloned().flatten().all(is_heard));
                            received.push((peer, rank, runs));
                        }
                    }
                    received.sort_by_key(|(from, to, _)| (*from, *to));
                    assert_eq!(sent, received, "{ranks} processes");
                    let rows: usize =
                        received.iter().flat_map(|(.., runs)| runs.iter().map(Range::len)).sum();
                    assert!(ranks > 1 || rows == 0, "one process sends nothing");
                }
            }
        }
    }
}
