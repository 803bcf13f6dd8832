//! What one agent knows of the network: whom it hears and with which weights, who hears it, round by round.
//!
//! That is row i of R, whose weights multiply what it pulls; column i of C, whose weights multiply what it
//! pushes; and who sends to it on the push graph. An agent knows nothing else of the network.

use std::collections::BTreeSet;

use oneway::graph::Graph;
use oneway::graph::Topology;
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use serde::{Deserialize, Serialize};

/// An agent's links, for every round of the period.
#[derive(Debug, Clone, PartialEq)]
pub struct Ties {
    /// The agent, i.
    pub agent: usize,
    /// How many agents there are, n.
    pub agents: usize,
    /// Round k has the links `period[k mod period]`.
    pub period: Vec<Links>,
    /// By how many rounds an agent can be ahead of a neighbour, at most.
    pub lag: u64,
}

/// An agent's links in one round. All lists are ascending, and include the agent itself.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Links {
    /// (j, R_ij): those that it pulls from, with weights.
    pub pulls: Vec<(usize, f64)>,
    /// Who pulls from it.
    pub pulled_by: Vec<usize>,
    /// (j, C_ji): those that it pushes to, with weights.
    pub pushes: Vec<(usize, f64)>,
    /// Who pushes to it.
    pub pushed_by: Vec<usize>,
}

impl Ties {
    /// The links of one agent of a topology. O(links · period), and a search from every agent for the lag.
    pub fn from_topology(topology: &Topology, agent: usize) -> Self {
        Self::all(topology).swap_remove(agent)
    }

    /// The links of every agent.
    pub fn all(topology: &Topology) -> Vec<Self> {
        let (agents, period) = (topology.agents(), topology.period());
        let lag = lag(topology);
        let of_agent = |agent| Self { agent, agents, period: vec![Links::default(); period.len()], lag };
        let mut all: Vec<Self> = (0..agents).map(of_agent).collect();
        for (round, pair) in period.iter().enumerate() {
            for Link { from, to, weight } in pair.pull.iter() {
                all[to].period[round].pulls.push((from, weight));
                all[from].period[round].pulled_by.push(to);
            }
            for Link { from, to, weight } in pair.push.iter() {
                all[from].period[round].pushes.push((to, weight));
                all[to].period[round].pushed_by.push(from);
            }
        }
        all
    }

    /// Refuses weights that are not stochastic: those that the agent pulls with must sum to one, and so must
    /// those that it pushes with.
    pub fn check(&self) -> oneway::Result<()> {
        let others = || (0..self.agents).filter(|&j| j != self.agent);
        let alone = || others().map(|j| Link { from: j, to: j, weight: 1.0 });
        for links in &self.period {
            let pulls = links.pulls.iter().map(|&(from, weight)| Link { from, to: self.agent, weight });
            let pushes = links.pushes.iter().map(|&(to, weight)| Link { from: self.agent, to, weight });
            Mixing::new(self.agents, Stochastic::Rows, alone().chain(pulls))?;
            Mixing::new(self.agents, Stochastic::Columns, alone().chain(pushes))?;
        }
        Ok(())
    }

    /// The links of round k.
    pub fn at(&self, k: u64) -> &Links {
        &self.period[(k % self.period.len() as u64) as usize]
    }

    /// Everyone that this agent ever hears on a graph, itself not among them.
    pub fn heard(&self, graph: Graph) -> BTreeSet<usize> {
        let all = self.period.iter().flat_map(|links| links.senders(graph));
        all.filter(|&from| from != self.agent).collect()
    }

    /// Everyone that ever hears this agent on a graph, itself not among them.
    pub fn hearers(&self, graph: Graph) -> BTreeSet<usize> {
        let all = self.period.iter().flat_map(|links| links.receivers(graph)).map(|(to, _)| to);
        all.filter(|&to| to != self.agent).collect()
    }

    /// Everyone that ever hears this agent on either graph, itself not among them.
    pub fn all_hearers(&self) -> BTreeSet<usize> {
        Graph::BOTH.into_iter().flat_map(|graph| self.hearers(graph)).collect()
    }

    /// Everyone that it ever hears or is heard by.
    pub fn neighbours(&self) -> BTreeSet<usize> {
        let heard = Graph::BOTH.into_iter().flat_map(|graph| self.heard(graph));
        heard.chain(self.all_hearers()).collect()
    }
}

impl Links {
    /// C_ii, what the agent keeps of what it pushes.
    pub fn kept(&self, agent: usize) -> f64 {
        self.pushes.iter().find(|(to, _)| *to == agent).map_or(0.0, |(_, weight)| *weight)
    }

    /// Whom the agent hears on a graph, ascending.
    pub fn senders(&self, graph: Graph) -> impl Iterator<Item = usize> + '_ {
        let (pulls, pushes) = match graph {
            Graph::Pull => (&self.pulls[..], &[][..]),
            Graph::Push => (&[][..], &self.pushed_by[..]),
        };
        pulls.iter().map(|(from, _)| *from).chain(pushes.iter().copied())
    }

    /// Who hears the agent on a graph, ascending, and what it multiplies its row by before it sends it.
    pub fn receivers(&self, graph: Graph) -> impl Iterator<Item = (usize, Option<f64>)> + '_ {
        let (pulls, pushes) = match graph {
            Graph::Pull => (&self.pulled_by[..], &[][..]),
            Graph::Push => (&[][..], &self.pushes[..]),
        };
        let raw = pulls.iter().map(|&to| (to, None));
        raw.chain(pushes.iter().map(|&(to, weight)| (to, Some(weight))))
    }
}

/// By how many rounds an agent can be ahead of another that it sends to, at most.
///
/// An agent in round k has heard all its senders' rows of the rounds before, so a sender is at most one round
/// behind whom it sends to, and an agent from which there is a path of h links to another at most h. Every
/// link of the union of all graphs is there once in a period of p rounds: p·h then, h at most the longest of
/// all shortest paths.
fn lag(topology: &Topology) -> u64 {
    let n = topology.agents();
    let mut receivers: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n];
    for pair in topology.period() {
        for link in pair.pull.iter().chain(pair.push.iter()) {
            receivers[link.from].insert(link.to);
        }
    }
    let longest = (0..n).map(|from| {
        let mut hops = vec![None; n];
        let mut reached = std::collections::VecDeque::from([from]);
        hops[from] = Some(0u64);
        let mut longest = 0;
        while let Some(next) = reached.pop_front() {
            longest = hops[next].unwrap_or_default();
            for &to in &receivers[next] {
                if hops[to].is_none() {
                    hops[to] = Some(longest + 1);
                    reached.push_back(to);
                }
            }
        }
        longest
    });
    longest.max().unwrap_or(0) * topology.period().len() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway::graph::families;
    use oneway::graph::topology::{Subgraph, Weights};

    #[test]
    fn ties_are_rows_of_r_and_columns_of_c() {
        let digraph = families::exponential(6).unwrap();
        let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
        for (agent, ties) in Ties::all(&topology).into_iter().enumerate() {
            let pair = topology.at(0);
            let links = ties.at(17);
            assert!(links.pulls.iter().copied().eq(pair.pull.row(agent)));
            assert!(links.pushes.iter().all(|&(to, weight)| pair.push.weight(to, agent) == weight));
            assert!(
                links.pushed_by.iter().map(|&from| from as u32).eq(pair.push.senders(agent).iter().copied())
            );
            assert_eq!(ties.lag, 2, "three links lead on: 1, 2 and 4 further");
            assert_eq!(links.kept(agent), pair.push.weight(agent, agent));
            ties.check().unwrap();
            let mut wrong = ties.clone();
            wrong.period[0].pushes[0].1 *= 0.5;
            assert!(wrong.check().unwrap_err().to_string().contains("sums to"));
            assert!(!ties.neighbours().contains(&agent));
        }
    }

    #[test]
    fn a_ring_lets_one_be_ahead_by_all_the_others() {
        let topology =
            Topology::from_digraphs(&[families::ring(5).unwrap()], Subgraph::Full, Weights::Uniform, 0)
                .unwrap();
        let ties = Ties::from_topology(&topology, 2);
        assert_eq!(ties.lag, 4);
        assert_eq!((ties.heard(Graph::Pull), ties.hearers(Graph::Push)), ([1].into(), [3].into()));
    }
}
