//! Breadth-first spanning trees.

use super::{Digraph, named_agents};
use crate::{Error, Result};

/// A spanning tree of a digraph, each agent but the root with its parent.
///
/// In a *pull* tree every agent hears its parent, so what the root has flows down to everyone. In a *push*
/// tree every agent is heard by its parent, so what everyone has flows up to the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    root: usize,
    /// The parent of each agent; the root is its own.
    parents: Vec<u32>,
    depth: usize,
}

impl Tree {
    /// The breadth-first tree along the edges: from the root, neighbours in ascending id, first to reach an
    /// agent is its parent.
    ///
    /// # Arguments
    /// * `graph`: where to find it.
    /// * `root`: an agent from which every agent can be reached ([`Digraph::roots`]).
    ///
    /// # Returns
    /// The tree, or an error that says who cannot be reached and who could be root instead.
    ///
    /// # Complexity
    /// O(n + m).
    ///
    /// ```
    /// use oneway::graph::{Tree, families};
    /// let tree = Tree::pull(&families::ring(4).unwrap(), 0).unwrap();
    /// assert_eq!((tree.parent(0), tree.parent(3)), (None, Some(2)));
    /// assert_eq!(tree.depth(), 3);
    /// ```
    pub fn pull(graph: &Digraph, root: usize) -> Result<Self> {
        Self::span(graph, root, "cannot be reached from it")
    }

    /// The breadth-first tree against the edges: [`Tree::pull`] on the reversed digraph.
    ///
    /// # Arguments
    /// * `graph`: where to find it.
    /// * `root`: an agent that every agent can reach.
    ///
    /// # Returns
    /// The tree, or an error that says who cannot reach the root and who could be root instead.
    ///
    /// # Complexity
    /// O(n + m).
    ///
    /// ```
    /// use oneway::graph::{Tree, families};
    /// let tree = Tree::push(&families::ring(4).unwrap(), 0).unwrap();
    /// assert_eq!(tree.parent(1), Some(2)); // 2 hears 1
    /// ```
    pub fn push(graph: &Digraph, root: usize) -> Result<Self> {
        Self::span(&graph.reversed(), root, "cannot reach it")
    }

    fn span(graph: &Digraph, root: usize, cannot: &str) -> Result<Self> {
        const UNREACHED: u32 = u32::MAX; // no agent: ids stay below MAX_AGENTS
        let agents = graph.agents();
        if root >= agents {
            return Err(Error::parameter(
                "tree",
                "root",
                root,
                format!("with {agents} agents the ids are 0 to {}", agents - 1),
            ));
        }
        let mut parents = vec![UNREACHED; agents];
        parents[root] = root as u32;
        let mut depth = 0;
        let mut level = vec![root as u32];
        loop {
            let mut below = Vec::new();
            for &parent in &level {
                for &child in graph.out_neighbours(parent as usize) {
                    if parents[child as usize] == UNREACHED {
                        parents[child as usize] = parent;
                        below.push(child);
                    }
                }
            }
            if below.is_empty() {
                break;
            }
            depth += 1;
            level = below;
        }

        let left_out: Vec<usize> = (0..agents).filter(|&i| parents[i] == UNREACHED).collect();
        if left_out.is_empty() {
            return Ok(Self { root, parents, depth });
        }
        let instead = match graph.roots().as_slice() {
            [] => "and no other agent could be root either".to_owned(),
            roots => format!("but {} could be root", named_agents(roots)),
        };
        Err(Error::NoSpanningTree {
            root,
            reason: format!("{} {cannot}, {instead}", named_agents(&left_out)),
        })
    }

    /// Number of agents, n.
    pub fn agents(&self) -> usize {
        self.parents.len()
    }

    /// The root.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The parent of agent `i`, none for the root.
    ///
    /// # Panics
    /// If there is no agent `i`, as a slice would.
    pub fn parent(&self, i: usize) -> Option<usize> {
        let parent = self.parents[i] as usize;
        (i != self.root).then_some(parent)
    }

    /// The number of links between the root and the farthest agent: after that many rounds all have heard
    /// from the root (pull), or the root from all (push).
    pub fn depth(&self) -> usize {
        self.depth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::families;

    #[test]
    fn first_to_reach_an_agent_is_its_parent() {
        // 3 can be reached from 1 and 2 in the same round: 1 comes first.
        let graph = Digraph::from_edges(4, [(0, 2), (0, 1), (2, 3), (1, 3)]).unwrap();
        let tree = Tree::pull(&graph, 0).unwrap();
        assert_eq!((0..4).map(|i| tree.parent(i)).collect::<Vec<_>>(), [None, Some(0), Some(0), Some(1)]);
        assert_eq!((tree.root(), tree.depth(), tree.agents()), (0, 2, 4));
    }

    #[test]
    fn a_push_tree_climbs_against_the_edges() {
        let graph = Digraph::from_edges(3, [(2, 1), (1, 0)]).unwrap();
        let tree = Tree::push(&graph, 0).unwrap();
        assert_eq!((tree.parent(2), tree.parent(1)), (Some(1), Some(0)));
    }

    #[test]
    fn errors_say_who_is_left_out_and_who_could_be_root() {
        let graph = Digraph::from_edges(4, [(3, 2), (2, 1), (2, 0)]).unwrap();
        let message = |tree: Result<Tree>| tree.unwrap_err().to_string();
        assert_eq!(
            message(Tree::pull(&graph, 2)),
            "no spanning tree from root 2: agent 3 cannot be reached from it, but agent 3 could be root"
        );
        assert_eq!(
            message(Tree::push(&graph, 2)),
            "no spanning tree from root 2: agents 0, 1 cannot reach it, and no other agent could be root either"
        );
        assert_eq!(
            message(Tree::pull(&graph, 4)),
            "tree: `root` = 4 is not possible: with 4 agents the ids are 0 to 3"
        );
    }

    #[test]
    fn a_lone_agent_and_a_ring_of_a_million() {
        assert_eq!(Tree::pull(&families::ring(1).unwrap(), 0).unwrap().depth(), 0);
        let ring = families::ring(1_000_000).unwrap();
        assert_eq!(Tree::push(&ring, 7).unwrap().depth(), 999_999);
    }
}
