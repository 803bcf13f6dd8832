//! From a digraph or a tree to mixing weights.
//!
//! `W[i][j]` is the weight that agent i applies to what it gets from j. Pull matrices R are row-stochastic,
//! push matrices C column-stochastic. All functions take O(n + m), those of trees O(n log n).

use super::{Digraph, Tree};
use crate::graph::mixing::{Link, Mixing, Stochastic};
use crate::{Error, Result};

/// R\[i\]\[j\] = 1/(1 + indeg i) for every j that i hears and for itself: each agent averages what it hears.
///
/// ```
/// use oneway::graph::{families, weights};
/// let pull = weights::uniform_rows(&families::ring(3).unwrap()).unwrap();
/// assert_eq!(pull.row(1).collect::<Vec<_>>(), [(0, 0.5), (1, 0.5)]);
/// ```
pub fn uniform_rows(graph: &Digraph) -> Result<Mixing> {
    with_selves(graph, Stochastic::Rows, |to| {
        let weight = 1.0 / (1 + graph.in_neighbours(to).len()) as f64;
        move |_| weight
    })
}

/// C\[i\]\[j\] = 1/(1 + outdeg j) for every i that hears j and for itself: each agent shares out what it has.
///
/// ```
/// use oneway::graph::{Digraph, weights};
/// let path = Digraph::from_edges(2, [(0, 1)]).unwrap();
/// let push = weights::uniform_columns(&path).unwrap();
/// assert_eq!(push.row(1).collect::<Vec<_>>(), [(0, 0.5), (1, 1.0)]);
/// ```
pub fn uniform_columns(graph: &Digraph) -> Result<Mixing> {
    let share = |from: usize| 1.0 / (1 + graph.out_neighbours(from).len()) as f64;
    let shares: Vec<f64> = (0..graph.agents()).map(share).collect();
    with_selves(graph, Stochastic::Columns, |_| |from| shares[from])
}

/// W\[i\]\[j\] = 1/(1 + max(deg i, deg j)), and W\[i\]\[i\] the rest: symmetric and doubly stochastic.
///
/// # Returns
/// The weights, or [`Error::NotSymmetric`] with the first edge that has no edge back.
///
/// ```
/// use oneway::graph::{families, weights};
/// let weights = weights::metropolis(&families::star(4).unwrap()).unwrap();
/// assert_eq!(weights.row(3).collect::<Vec<_>>(), [(0, 0.25), (3, 0.75)]);
/// ```
pub fn metropolis(graph: &Digraph) -> Result<Mixing> {
    if let Some((from, to)) = graph.one_way_edge() {
        return Err(Error::NotSymmetric { from, to });
    }
    let degree = |i: usize| graph.in_neighbours(i).len();
    let between = |i: usize, j: usize| 1.0 / (1 + degree(i).max(degree(j))) as f64;
    let weight = |to: usize, from: usize| {
        if to != from {
            return between(to, from);
        }
        1.0 - graph.in_neighbours(to).iter().map(|&j| between(to, j as usize)).sum::<f64>()
    };
    let mixing = with_selves(graph, Stochastic::Rows, |to| move |from| weight(to, from))?;
    mixing.check(Stochastic::Columns)?;
    Ok(mixing)
}

/// The pull matrix of a tree, R\[r\]\[r\] = 1 and R\[i\]\[parent i\] = 1; if `lazy`, ½I + ½ of that.
///
/// With weight 1, R^depth = 1e_rᵀ exactly: after as many rounds as the tree is deep, all have what the root
/// had.
///
/// ```
/// use oneway::graph::{Tree, families, weights};
/// let tree = Tree::pull(&families::ring(3).unwrap(), 0).unwrap();
/// assert_eq!(weights::pull_tree(&tree, false).unwrap().row(2).collect::<Vec<_>>(), [(1, 1.0)]);
/// assert_eq!(weights::pull_tree(&tree, true).unwrap().row(2).collect::<Vec<_>>(), [(1, 0.5), (2, 0.5)]);
/// ```
pub fn pull_tree(tree: &Tree, lazy: bool) -> Result<Mixing> {
    let links = tree_links(tree, lazy, |child, parent| (parent, child));
    Mixing::new(tree.agents(), Stochastic::Rows, links)
}

/// The push matrix of a tree, C\[r\]\[r\] = 1 and C\[parent j\]\[j\] = 1; if `lazy`, ½I + ½ of that.
///
/// With weight 1, C^depth = e_r1ᵀ exactly: after as many rounds as the tree is deep, the root has the sum of
/// all.
///
/// ```
/// use oneway::graph::{Tree, families, weights};
/// let tree = Tree::push(&families::ring(3).unwrap(), 0).unwrap();
/// let push = weights::push_tree(&tree, false).unwrap();
/// assert_eq!(push.row(0).collect::<Vec<_>>(), [(0, 1.0), (2, 1.0)]);
/// assert_eq!(push.row(1).collect::<Vec<_>>(), []); // agent 1 hears no one, not even itself
/// ```
pub fn push_tree(tree: &Tree, lazy: bool) -> Result<Mixing> {
    let links = tree_links(tree, lazy, |child, parent| (child, parent));
    Mixing::new(tree.agents(), Stochastic::Columns, links)
}

/// The edges and the self-loops, with `weight(to)(from)`, written row by row as the matrix keeps them.
fn with_selves<W: Fn(usize) -> f64>(
    graph: &Digraph,
    stochastic: Stochastic,
    weight: impl Fn(usize) -> W,
) -> Result<Mixing> {
    let (agents, entries) = (graph.agents(), graph.agents() + graph.edge_count());
    Mixing::from_rows(agents, entries, stochastic, |to| {
        let senders = graph.in_neighbours(to);
        let (before, after) = senders.split_at(senders.partition_point(|&from| (from as usize) < to));
        let heard = before.iter().copied().chain([to as u32]).chain(after.iter().copied());
        let weight = weight(to);
        heard.map(move |from| (from, weight(from as usize)))
    })
}

/// One link for each agent and its parent, turned by `from_and_to(child, parent)`, and the self-links.
fn tree_links(tree: &Tree, lazy: bool, from_and_to: impl Fn(usize, usize) -> (usize, usize)) -> Vec<Link> {
    let mut links = Vec::with_capacity(2 * tree.agents());
    for i in 0..tree.agents() {
        let kept = match tree.parent(i) {
            None => 1.0,
            Some(parent) => {
                let kept = if lazy { 0.5 } else { 0.0 };
                let (from, to) = from_and_to(i, parent);
                links.push(Link { from, to, weight: 1.0 - kept });
                kept
            }
        };
        if kept > 0.0 {
            links.push(Link { from: i, to: i, weight: kept });
        }
    }
    links
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::families;

    #[test]
    fn uniform_weights_are_one_over_degree_plus_one() {
        // 0 → 1, 0 → 2, 1 → 2
        let graph = Digraph::from_edges(3, [(0, 1), (0, 2), (1, 2)]).unwrap();
        let (third, half) = (1.0 / 3.0, 0.5);
        let rows = uniform_rows(&graph).unwrap();
        assert_eq!(rows.row(0).collect::<Vec<_>>(), [(0, 1.0)]);
        assert_eq!(rows.row(2).collect::<Vec<_>>(), [(0, third), (1, third), (2, third)]);
        let columns = uniform_columns(&graph).unwrap();
        assert_eq!(columns.row(0).collect::<Vec<_>>(), [(0, third)]);
        assert_eq!(columns.row(2).collect::<Vec<_>>(), [(0, third), (1, half), (2, 1.0)]);
    }

    #[test]
    fn the_exponential_graph_is_doubly_stochastic_with_equal_weights() {
        let graph = families::exponential(20).unwrap();
        let pull = uniform_rows(&graph).unwrap();
        assert_eq!(pull, uniform_columns(&graph).unwrap());
        assert!(pull.iter().all(|link| link.weight == 1.0 / 6.0)); // 1/(1 + ⌈log₂ 20⌉)
    }

    #[test]
    fn rows_written_in_order_are_the_matrix_that_sorting_would_give() {
        for graph in [families::k_out(60, 3, 5).unwrap(), families::star(9).unwrap()] {
            let both = [uniform_rows(&graph).unwrap(), uniform_columns(&graph).unwrap()];
            for (mixing, stochastic) in both.iter().zip([Stochastic::Rows, Stochastic::Columns]) {
                let links: Vec<Link> = mixing.iter().collect();
                assert_eq!(links.len(), graph.agents() + graph.edge_count());
                let sorted = Mixing::new(graph.agents(), stochastic, links.into_iter().rev()).unwrap();
                assert_eq!(*mixing, sorted);
                assert_eq!(Digraph::from_mixing(mixing).unwrap(), graph);
            }
        }
    }

    #[test]
    fn metropolis_refuses_one_way_links() {
        let error = metropolis(&families::ring(3).unwrap()).unwrap_err();
        assert!(matches!(error, Error::NotSymmetric { from: 0, to: 1 }), "{error}");
    }

    #[test]
    fn metropolis_stays_positive_and_stochastic_at_a_large_hub() {
        let weights = metropolis(&families::star(1_000_000).unwrap()).unwrap();
        assert!((weights.row(0).next().unwrap().1 - 1e-6).abs() < 1e-9);
    }

    #[test]
    fn lazy_trees_keep_half() {
        let ring = families::ring(3).unwrap();
        let lazy = push_tree(&Tree::push(&ring, 1).unwrap(), true).unwrap();
        assert_eq!(lazy.row(1).collect::<Vec<_>>(), [(0, 0.5), (1, 1.0)]);
        assert_eq!(lazy.row(2).collect::<Vec<_>>(), [(2, 0.5)]);
        assert_eq!(lazy.row(0).collect::<Vec<_>>(), [(0, 0.5), (2, 0.5)]);
    }
}
