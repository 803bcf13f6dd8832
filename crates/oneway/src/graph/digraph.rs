//! A directed graph, stored both ways, and what can be reached in it.

use super::lists::Lists;
use crate::graph::mixing::Mixing;
use crate::{Error, Result};

/// The most agents a graph may have. A stray number in a file must not allocate the machine away.
pub const MAX_AGENTS: usize = 10_000_000;

/// The most edges a graph may have: those of the complete graph of 10,000 agents fit. With mixing weights
/// that is several gigabytes already.
pub const MAX_EDGES: usize = 100_000_000;

/// A directed graph on agents 0 to n − 1, n ≥ 1; an edge `from → to` means that `to` hears `from`.
///
/// Neighbours are ascending, without self-loops (every agent hears itself anyway) and without duplicates.
///
/// ```
/// use oneway::graph::Digraph;
/// let path = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
/// assert_eq!(path.out_neighbours(0), [1]); // agent 1 hears agent 0
/// assert_eq!(path.in_neighbours(2), [1]); // agent 2 hears agent 1
/// assert_eq!(path.roots(), [0]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digraph {
    heard_by: Lists,
    hears: Lists,
}

impl Digraph {
    /// Builds a digraph from its edges.
    ///
    /// # Arguments
    /// * `agents`: n, from 1 to [`MAX_AGENTS`].
    /// * `edges`: pairs (from, to) in any order. Self-loops are dropped, since every agent hears itself; an
    ///   edge given twice is one edge.
    ///
    /// # Returns
    /// The digraph, or an error that names an edge beyond the last agent, or says that there are too many
    /// edges ([`MAX_EDGES`]).
    ///
    /// # Complexity
    /// O(n + m) for m edges: two counting sorts.
    ///
    /// ```
    /// use oneway::graph::Digraph;
    /// let graph = Digraph::from_edges(2, [(1, 0), (0, 0), (1, 0)]).unwrap();
    /// assert_eq!(graph.edges().collect::<Vec<_>>(), [(1, 0)]);
    /// assert!(Digraph::from_edges(2, [(1, 2)]).unwrap_err().to_string().contains("the ids are 0 to 1"));
    /// ```
    pub fn from_edges(agents: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Result<Self> {
        check_agents("graph", agents)?;
        let mut given: Vec<(u32, u32)> = Vec::new();
        for (from, to) in edges {
            if from >= agents || to >= agents {
                return Err(Error::Edge { from, to, agents });
            }
            if from == to {
                continue;
            }
            if given.len() == MAX_EDGES {
                return Err(too_many_edges());
            }
            given.push((from as u32, to as u32));
        }
        let unsorted = Lists::deal(agents, given.iter().copied());
        drop(given); // up to a gigabyte
        let mut hears = unsorted.transposed();
        hears.dedup();
        Ok(Self { heard_by: hears.transposed(), hears })
    }

    /// The links of a mixing matrix, self-links left out.
    ///
    /// # Complexity
    /// O(n + m).
    ///
    /// ```
    /// use oneway::{graph::Digraph, graph::mixing::Mixing};
    /// assert_eq!(Digraph::from_mixing(&Mixing::complete(3)).unwrap().edge_count(), 6);
    /// ```
    pub fn from_mixing(mixing: &Mixing) -> Result<Self> {
        let agents = mixing.agents();
        check_agents("graph", agents)?;
        // at most one entry of a row is a self-link
        if mixing.entries() - agents.min(mixing.entries()) > MAX_EDGES {
            return Err(too_many_edges());
        }
        let mut hears = Lists::with_capacity(agents, mixing.entries());
        for to in 0..agents {
            hears.push(mixing.senders(to).iter().copied().filter(|&from| from as usize != to));
        }
        Ok(Self { heard_by: hears.transposed(), hears })
    }

    /// From the lists of who hears each agent: ascending, without the agent itself and without duplicates.
    pub(super) fn from_heard_by(heard_by: Lists) -> Self {
        Self { hears: heard_by.transposed(), heard_by }
    }

    /// Number of agents, n.
    pub fn agents(&self) -> usize {
        self.hears.owners()
    }

    /// Number of edges, self-loops not counted.
    pub fn edge_count(&self) -> usize {
        self.hears.total()
    }

    /// Who hears agent `i`, ascending, without `i` itself.
    ///
    /// # Panics
    /// If there is no agent `i`, as a slice would.
    #[inline]
    pub fn out_neighbours(&self, i: usize) -> &[u32] {
        self.heard_by.of(i)
    }

    /// Whom agent `i` hears, ascending, without `i` itself.
    ///
    /// # Panics
    /// If there is no agent `i`, as a slice would.
    #[inline]
    pub fn in_neighbours(&self, i: usize) -> &[u32] {
        self.hears.of(i)
    }

    /// All edges (from, to), ascending.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.heard_by.pairs().map(|(from, to)| (from as usize, to as usize))
    }

    /// The digraph with every edge turned round.
    ///
    /// ```
    /// use oneway::graph::families;
    /// let ring = families::ring(5).unwrap();
    /// assert_eq!(ring.reversed().out_neighbours(3), [2]);
    /// ```
    pub fn reversed(&self) -> Self {
        self.clone().into_reversed()
    }

    /// The same without a copy.
    pub(super) fn into_reversed(self) -> Self {
        Self { heard_by: self.hears, hears: self.heard_by }
    }

    /// Whether every edge has an edge back: whether all links are two-way.
    pub fn is_symmetric(&self) -> bool {
        self.heard_by == self.hears
    }

    /// The first edge that has no edge back, if there is one.
    ///
    /// # Complexity
    /// O(n + m).
    ///
    /// ```
    /// use oneway::graph::Digraph;
    /// let graph = Digraph::from_edges(3, [(0, 1), (1, 0), (1, 2)]).unwrap();
    /// assert_eq!(graph.one_way_edge(), Some((1, 2)));
    /// assert!(!graph.is_symmetric());
    /// ```
    pub fn one_way_edge(&self) -> Option<(usize, usize)> {
        (0..self.agents()).find_map(|i| {
            let mut back = self.in_neighbours(i).iter().peekable();
            let one_way = self.out_neighbours(i).iter().find(|to| {
                while back.next_if(|from| from < to).is_some() {}
                back.next_if_eq(to).is_none()
            });
            one_way.map(|&to| (i, to as usize))
        })
    }

    /// Which agents a message from `root` gets to, `root` itself included; no one, if there is no such agent.
    ///
    /// # Complexity
    /// O(n + m), breadth first.
    ///
    /// ```
    /// use oneway::graph::Digraph;
    /// let path = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
    /// assert_eq!(path.reachable_from(1), [false, true, true]);
    /// ```
    pub fn reachable_from(&self, root: usize) -> Vec<bool> {
        let mut reached = vec![false; self.agents()];
        if root < self.agents() {
            reach(&self.heard_by, root, &mut reached, &mut Vec::new());
        }
        reached
    }

    /// Whose messages get to `root`, `root` itself included.
    pub(super) fn reaching(&self, root: usize) -> Vec<bool> {
        let mut reached = vec![false; self.agents()];
        reach(&self.hears, root, &mut reached, &mut Vec::new());
        reached
    }

    /// Which agents a message from `root` does not get to, ascending.
    ///
    /// # Complexity
    /// O(n + m).
    ///
    /// ```
    /// use oneway::graph::Digraph;
    /// let path = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
    /// assert_eq!(path.unreachable_from(1), [0]);
    /// ```
    pub fn unreachable_from(&self, root: usize) -> Vec<usize> {
        let reached = self.reachable_from(root);
        (0..self.agents()).filter(|&i| !reached[i]).collect()
    }

    /// All agents from which every agent can be reached, ascending: the possible roots of a spanning tree.
    ///
    /// # Complexity
    /// O(n + m): two searches if agent 0 is a root, three if it is not.
    ///
    /// ```
    /// use oneway::graph::Digraph;
    /// let graph = Digraph::from_edges(4, [(0, 1), (1, 0), (1, 2), (1, 3)]).unwrap();
    /// assert_eq!(graph.roots(), [0, 1]);
    /// let apart = Digraph::from_edges(2, []).unwrap();
    /// assert_eq!(apart.roots(), []);
    /// ```
    pub fn roots(&self) -> Vec<usize> {
        // If there is a root, no search started before it reached it, and its own leaves nobody out: the last
        // search to start, starts at a root. All other roots are those that reach this one.
        let Some(candidate) = self.last_start(vec![false; self.agents()]) else { return Vec::new() };
        // If that is agent 0, its search was the only one, and reached everyone.
        if candidate != 0 && !self.reachable_from(candidate).iter().all(|&reached| reached) {
            return Vec::new();
        }
        let reaches = self.reaching(candidate);
        (0..self.agents()).filter(|&i| reaches[i]).collect()
    }

    /// Whether every agent reaches every other.
    ///
    /// # Complexity
    /// O(n + m).
    ///
    /// ```
    /// use oneway::graph::families;
    /// assert!(families::flower(20, 4).unwrap().is_strongly_connected());
    /// ```
    pub fn is_strongly_connected(&self) -> bool {
        self.unreachable_from(0).is_empty() && self.reaching(0).iter().all(|&reaches| reaches)
    }

    /// Two agents, ascending, that no one agent reaches both of: why there is no root. `None` if there is
    /// one.
    pub(super) fn rival_starts(&self) -> Option<[usize; 2]> {
        // Whoever reaches the last start of a sweep is reached from it. Sweeping only what the first one
        // leaves out keeps that true of the second: its ancestors are left out too.
        let first = self.last_start(vec![false; self.agents()])?;
        let second = self.last_start(self.reachable_from(first))?;
        Some([first.min(second), first.max(second)])
    }

    /// Sweeps over the agents, searching from each that is not reached yet; where the last search started.
    fn last_start(&self, mut reached: Vec<bool>) -> Option<usize> {
        let mut queue = Vec::new();
        let mut last = None;
        for i in 0..self.agents() {
            if !reached[i] {
                reach(&self.heard_by, i, &mut reached, &mut queue);
                last = Some(i);
            }
        }
        last
    }
}

/// Marks what can be reached from `root` along `next`, through agents not marked before; `queue` is scratch.
fn reach(next: &Lists, root: usize, reached: &mut [bool], queue: &mut Vec<u32>) {
    queue.clear();
    queue.push(root as u32);
    reached[root] = true;
    let mut at = 0;
    while let Some(&from) = queue.get(at) {
        at += 1;
        for &to in next.of(from as usize) {
            if !reached[to as usize] {
                reached[to as usize] = true;
                queue.push(to);
            }
        }
    }
}

fn too_many_edges() -> Error {
    let expected = "choose fewer agents or a sparser graph";
    Error::parameter("graph", "edges", format!("more than {MAX_EDGES}"), expected)
}

/// Whether a graph may have this many agents; `owner` is named in the error.
pub(super) fn check_agents(owner: &str, agents: usize) -> Result<()> {
    if (1..=MAX_AGENTS).contains(&agents) {
        Ok(())
    } else {
        Err(Error::parameter(owner, "agents", agents, format!("there must be from 1 to {MAX_AGENTS}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_agents_too_many_agents_and_stray_ids_are_errors() {
        for agents in [0, MAX_AGENTS + 1] {
            let error = Digraph::from_edges(agents, []).unwrap_err().to_string();
            assert!(error.contains("from 1 to 10000000"), "{error}");
        }
        assert!(matches!(
            Digraph::from_edges(3, [(0, 1), (3, 1)]),
            Err(Error::Edge { from: 3, to: 1, agents: 3 })
        ));
    }

    #[test]
    fn too_many_edges_stop_before_they_are_all_read() {
        let endless = std::iter::repeat((0, 1));
        assert!(Digraph::from_edges(2, endless).unwrap_err().to_string().contains("more than 100000000"));
    }

    #[test]
    fn one_agent_is_its_own_root() {
        let alone = Digraph::from_edges(1, [(0, 0)]).unwrap();
        assert_eq!((alone.edge_count(), alone.roots()), (0, vec![0]));
        assert!(alone.is_strongly_connected() && alone.is_symmetric());
    }

    #[test]
    fn an_agent_that_does_not_exist_reaches_no_one() {
        let ring = Digraph::from_edges(2, [(0, 1), (1, 0)]).unwrap();
        assert_eq!(ring.reachable_from(2), [false, false]);
        assert_eq!(ring.unreachable_from(usize::MAX), [0, 1]);
    }

    #[test]
    fn rivals_are_there_exactly_when_there_is_no_root() {
        let apart = Digraph::from_edges(5, [(0, 1), (1, 2), (2, 0), (3, 4)]).unwrap();
        assert_eq!(apart.rival_starts(), Some([0, 3]));
        let joined = Digraph::from_edges(5, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 1)]).unwrap();
        assert_eq!((joined.rival_starts(), joined.roots()), (None, vec![3]));
    }
}
