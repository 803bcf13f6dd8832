//! Strongly connected components, and the facts of a digraph that a reader asks for first.

use rayon::prelude::*;

use super::Digraph;
use super::lists::Lists;

/// The strongly connected components of a digraph: agents of one component reach each other.
///
/// They are numbered by their smallest agent, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Components {
    /// The component of each agent.
    of: Vec<u32>,
    members: Lists,
}

impl Components {
    /// Number of components, 1 or more.
    pub fn count(&self) -> usize {
        self.members.owners()
    }

    /// The component of agent `i`.
    ///
    /// # Panics
    /// If there is no agent `i`, as a slice would.
    pub fn of(&self, i: usize) -> usize {
        self.of[i] as usize
    }

    /// The agents of a component, ascending; at least one.
    ///
    /// # Panics
    /// If there is no such component, as a slice would.
    pub fn members(&self, component: usize) -> &[u32] {
        self.members.of(component)
    }

    /// The smallest agent of a component.
    pub(super) fn first(&self, component: usize) -> usize {
        self.members(component)[0] as usize
    }

    /// The condensation: components for agents, with the links between them. It has no cycles. O(n + m).
    pub(super) fn condensed(&self, graph: &Digraph) -> Digraph {
        let between = graph.edges().map(|(from, to)| (self.of[from], self.of[to]));
        let between: Vec<(u32, u32)> = between.filter(|(from, to)| from != to).collect();
        let mut hears = Lists::deal(self.count(), between.into_iter()).transposed();
        hears.dedup();
        Digraph::from_heard_by(hears.transposed())
    }
}

/// The least, the mean and the largest of the degrees of all agents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Degrees {
    /// The least.
    pub least: usize,
    /// The mean, m/n.
    pub mean: f64,
    /// The largest.
    pub most: usize,
}

impl Degrees {
    fn new(degree: impl Fn(usize) -> usize, graph: &Digraph) -> Self {
        let degrees = (0..graph.agents()).map(degree);
        let (least, most) = degrees.fold((usize::MAX, 0), |(least, most), d| (least.min(d), most.max(d)));
        Self { least, mean: graph.edge_count() as f64 / graph.agents() as f64, most }
    }
}

impl Digraph {
    /// How many others an agent hears.
    ///
    /// ```
    /// use oneway::graph::families;
    /// let degrees = families::flower(20, 4).unwrap().in_degrees();
    /// assert_eq!((degrees.least, degrees.mean, degrees.most), (1, 23.0 / 20.0, 4));
    /// ```
    pub fn in_degrees(&self) -> Degrees {
        Degrees::new(|i| self.in_neighbours(i).len(), self)
    }

    /// How many others hear an agent.
    pub fn out_degrees(&self) -> Degrees {
        Degrees::new(|i| self.out_neighbours(i).len(), self)
    }

    /// The strongly connected components.
    ///
    /// # Complexity
    /// O(n + m): one search in depth, without recursion (Tarjan 1972).
    ///
    /// ```
    /// use oneway::graph::Digraph;
    /// let graph = Digraph::from_edges(4, [(0, 2), (2, 0), (2, 1), (1, 3)]).unwrap();
    /// let components = graph.components();
    /// assert_eq!((0..4).map(|i| components.of(i)).collect::<Vec<_>>(), [0, 1, 0, 2]);
    /// assert_eq!(components.members(0), [0, 2]);
    /// ```
    pub fn components(&self) -> Components {
        let found = tarjan(self);
        // numbered anew, by the smallest agent of each
        let mut number = vec![u32::MAX; self.agents()];
        let mut count = 0;
        let renumber = |component: &u32| {
            let number = &mut number[*component as usize];
            if *number == u32::MAX {
                *number = count;
                count += 1;
            }
            *number
        };
        let of: Vec<u32> = found.iter().map(renumber).collect();
        let members = Lists::deal(count as usize, of.iter().copied().zip(0..));
        Components { of, members }
    }

    /// The longest of all shortest paths: how many rounds news from anyone takes to everyone. `None` if some
    /// agent cannot reach another.
    ///
    /// # Complexity
    /// O(n(n + m)), a breadth-first search from every agent, shared among threads.
    ///
    /// ```
    /// use oneway::graph::{Digraph, families};
    /// assert_eq!(families::ring(5).unwrap().diameter(), Some(4));
    /// assert_eq!(families::complete(5).unwrap().diameter(), Some(1));
    /// assert_eq!(Digraph::from_edges(2, [(0, 1)]).unwrap().diameter(), None);
    /// ```
    pub fn diameter(&self) -> Option<usize> {
        if !self.is_strongly_connected() {
            return None;
        }
        let agents = (0..self.agents()).into_par_iter();
        agents.map_init(|| Search::new(self), Search::depth_from).max()
    }
}

/// Memory for breadth-first searches in one digraph, one after another.
struct Search<'a> {
    graph: &'a Digraph,
    /// The last root whose search came by each agent.
    reached_from: Vec<usize>,
    queue: Vec<u32>,
}

impl<'a> Search<'a> {
    fn new(graph: &'a Digraph) -> Self {
        Self { graph, reached_from: vec![usize::MAX; graph.agents()], queue: vec![] }
    }

    /// How many links away from `root` the farthest agent is that it reaches.
    fn depth_from(&mut self, root: usize) -> usize {
        self.queue.clear();
        self.queue.push(root as u32);
        self.reached_from[root] = root;
        let (mut at, mut depth) = (0, 0);
        while self.queue.len() < self.graph.agents() {
            let level_end = self.queue.len();
            for place in at..level_end {
                for &to in self.graph.out_neighbours(self.queue[place] as usize) {
                    let mark = &mut self.reached_from[to as usize];
                    if *mark != root {
                        *mark = root;
                        self.queue.push(to);
                    }
                }
            }
            if self.queue.len() == level_end {
                break;
            }
            (at, depth) = (level_end, depth + 1);
        }
        depth
    }
}

/// A number for each agent, equal within a component and less than n.
fn tarjan(graph: &Digraph) -> Vec<u32> {
    const NONE: u32 = u32::MAX;
    let agents = graph.agents();
    let mut component = vec![NONE; agents];
    // when each agent was first seen, and the first seen among those that it is known to reach and that are
    // still open
    let mut seen = vec![NONE; agents];
    let mut lowest = vec![NONE; agents];
    let (mut clock, mut components) = (0, 0);
    let mut open: Vec<u32> = vec![];
    let mut path: Vec<(u32, u32)> = vec![]; // an agent, and how many of its neighbours have been looked at
    for start in 0..agents {
        if seen[start] != NONE {
            continue;
        }
        path.push((start as u32, 0));
        while let Some((agent, looked_at)) = path.last_mut() {
            let i = *agent as usize;
            if *looked_at == 0 {
                (seen[i], lowest[i]) = (clock, clock);
                clock += 1;
                open.push(*agent);
            }
            let neighbour = graph.out_neighbours(i).get(*looked_at as usize);
            *looked_at += 1;
            match neighbour.map(|&to| to as usize) {
                Some(to) if seen[to] == NONE => path.push((to as u32, 0)),
                Some(to) if component[to] == NONE => lowest[i] = lowest[i].min(seen[to]),
                Some(_) => {}
                None => {
                    path.pop();
                    if let Some(&(parent, _)) = path.last() {
                        let parent = parent as usize;
                        lowest[parent] = lowest[parent].min(lowest[i]);
                    }
                    if lowest[i] == seen[i] {
                        while let Some(member) = open.pop() {
                            component[member as usize] = components;
                            if member as usize == i {
                                break;
                            }
                        }
                        components += 1;
                    }
                }
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::families;
    use proptest::prelude::*;

    fn digraphs() -> impl Strategy<Value = Digraph> {
        (1..12_usize).prop_flat_map(|agents| {
            let edges = proptest::collection::vec((0..agents, 0..agents), 0..3 * agents);
            edges.prop_map(move |edges| Digraph::from_edges(agents, edges).unwrap())
        })
    }

    proptest! {
        #[test]
        fn agents_share_a_component_exactly_when_they_reach_each_other(graph in digraphs()) {
            let components = graph.components();
            let reach: Vec<Vec<bool>> = (0..graph.agents()).map(|i| graph.reachable_from(i)).collect();
            for (i, reaches) in reach.iter().enumerate() {
                for (j, &reached) in reaches.iter().enumerate() {
                    let together = components.of(i) == components.of(j);
                    prop_assert_eq!(together, reached && reach[j][i]);
                }
                prop_assert!(components.members(components.of(i)).contains(&(i as u32)));
            }
            prop_assert_eq!(components.count() == 1, graph.is_strongly_connected());
            let first: Vec<usize> = (0..components.count()).map(|c| components.first(c)).collect();
            prop_assert!(first.is_sorted());
            let condensed = components.condensed(&graph);
            prop_assert_eq!(condensed.components().count(), components.count(), "no cycles are left");
            let spanned = condensed.edges().all(|(from, to)| {
                let members = components.members(from).iter();
                members.clone().flat_map(|&i| graph.out_neighbours(i as usize)).any(|&j| components.of(j as usize) == to)
            });
            prop_assert!(spanned);
        }

        #[test]
        fn the_diameter_is_the_longest_entry_of_the_table_of_distances(graph in digraphs()) {
            // Floyd and Warshall's table
            let n = graph.agents();
            let mut distance = vec![vec![usize::MAX / 2; n]; n];
            (0..n).for_each(|i| distance[i][i] = 0);
            graph.edges().for_each(|(from, to)| distance[from][to] = 1);
            for k in 0..n {
                for i in 0..n {
                    for j in 0..n {
                        distance[i][j] = distance[i][j].min(distance[i][k] + distance[k][j]);
                    }
                }
            }
            let longest = distance.into_iter().flatten().max().unwrap();
            prop_assert_eq!(graph.diameter(), (longest < n).then_some(longest));
        }
    }

    #[test]
    fn a_lone_agent_has_one_component_and_no_way_to_go() {
        let alone = families::ring(1).unwrap();
        assert_eq!((alone.components().count(), alone.diameter()), (1, Some(0)));
        assert_eq!(alone.in_degrees(), Degrees { least: 0, mean: 0.0, most: 0 });
    }

    #[test]
    fn a_million_agents_in_a_row_are_no_trouble() {
        let agents = 1_000_000;
        let path = Digraph::from_edges(agents, (1..agents).map(|i| (i - 1, i))).unwrap();
        assert_eq!(path.components().count(), agents);
        assert_eq!(families::ring(agents).unwrap().components().count(), 1);
    }

    #[test]
    fn degrees_are_counted_both_ways() {
        let star = Digraph::from_edges(4, [(0, 1), (0, 2), (0, 3)]).unwrap();
        assert_eq!(star.in_degrees(), Degrees { least: 0, mean: 0.75, most: 1 });
        assert_eq!(star.out_degrees(), Degrees { least: 0, mean: 0.75, most: 3 });
    }
}
