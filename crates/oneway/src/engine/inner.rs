//! Agents of a part that hear nobody elsewhere: their steps need not wait for the rows of others.

use std::ops::Range;

use crate::graph::Topology;
use crate::graph::mixing::Mixing;
use crate::graph::topology::Pair;

/// Neighbouring agents of a part that hear agents of the part only.
#[derive(Debug)]
pub(super) struct Inner {
    /// Who they are.
    pub(super) agents: Range<usize>,
    /// Their rows of R and of C, over the rows of the part's agents.
    pub(super) mixing: [Mixing; 2],
}

/// With fewer numbers in their models than this, a pass for these agents alone costs more than it hides.
const WORTH_A_PASS: usize = 1 << 12;

/// The longest run of agents of a part, `own`, who hear agents of the part only. It may be empty, and is where
/// in dimension d so few are not worth a pass.
pub fn inner_agents(pair: &Pair, own: &Range<usize>, d: usize) -> Range<usize> {
    let longest = longest_run(pair, own);
    if longest.len() * d < WORTH_A_PASS { own.start..own.start } else { longest }
}

fn longest_run(Pair { pull, push }: &Pair, own: &Range<usize>) -> Range<usize> {
    let is_own = |sender: &u32| own.contains(&(*sender as usize));
    let is_inner = |agent: usize| [pull, push].iter().all(|graph| graph.senders(agent).iter().all(is_own));
    let (mut longest, mut start) = (own.start..own.start, own.start);
    if pull.has_one_row() || push.has_one_row() {
        return longest; // nobody, unless all are here, who then have nobody to wait for
    }
    for agent in own.clone() {
        if !is_inner(agent) {
            start = agent + 1;
        } else if agent + 1 - start > longest.len() {
            longest = start..agent + 1;
        }
    }
    longest
}

/// Those of each round of the period; nothing where all agents are own.
pub(super) fn inner_of(topology: &Topology, own: &Range<usize>, d: usize) -> Vec<Option<Inner>> {
    if own.len() == topology.agents() {
        return vec![];
    }
    topology.period().iter().map(|pair| Inner::new(pair, own, d)).collect()
}

impl Inner {
    fn new(pair: &Pair, own: &Range<usize>, d: usize) -> Option<Self> {
        let agents = inner_agents(pair, own, d);
        let rows = |graph: &Mixing| graph.rows_within(agents.clone(), own.start as u32);
        (!agents.is_empty())
            .then(|| Self { mixing: [rows(&pair.pull), rows(&pair.push)], agents: agents.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::families;
    use crate::graph::topology::{Subgraph, Weights};

    #[test]
    fn only_those_who_hear_nobody_elsewhere_need_not_wait() {
        let topology =
            |digraph| Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
        let ring = topology(families::ring(10).unwrap());
        assert!(inner_of(&ring, &(0..10), 5000).is_empty(), "all are here: nobody waits");
        for own in [0..4, 3..7, 6..10, 5..6] {
            let found = inner_of(&ring, &own, 5000).remove(0);
            let hears_elsewhere = |agent: usize| !own.contains(&((agent + 9) % 10));
            let expected: Vec<usize> = own.clone().filter(|agent| !hears_elsewhere(*agent)).collect();
            let agents = found.as_ref().map_or(vec![], |inner| inner.agents.clone().collect());
            assert_eq!(agents, expected, "{own:?}");
            let Some(Inner { agents, mixing }) = found else { continue };
            for (graph, all) in mixing.iter().zip([&ring.at(0).pull, &ring.at(0).push]) {
                for agent in agents.clone() {
                    let found =
                        graph.row(agent - agents.start).map(|(from, weight)| (from + own.start, weight));
                    assert!(found.eq(all.row(agent)), "agent {agent} of {own:?}");
                }
            }
        }
        assert!(inner_of(&ring, &(0..4), 1000)[0].is_none(), "3000 numbers are not worth a pass");
        let complete = Topology::complete(6).unwrap();
        assert!(inner_of(&complete, &(0..3), 5000)[0].is_none(), "everyone hears everyone");
    }
}
