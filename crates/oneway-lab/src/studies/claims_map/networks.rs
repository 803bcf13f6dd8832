//! Networks that no family has: petals of unequal length, spanning trees that go deep, other weights.

use anyhow::{Result, ensure};
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::Pair;
use oneway::graph::{Digraph, Tree, weights};

use super::setting::Weights;

/// Cycles through agent 0 with these numbers of other agents.
pub(super) fn flower_of(agents: usize, cycles: &[usize]) -> Result<Digraph> {
    ensure!(
        cycles.iter().sum::<usize>() + 1 == agents && cycles.iter().all(|&length| length > 0),
        "`cycles` = {cycles:?}: with agent 0 in the middle they must hold {} agents together",
        agents.saturating_sub(1)
    );
    let (mut edges, mut first) = (vec![], 1);
    for &length in cycles {
        let cycle = std::iter::once(0).chain(first..first + length);
        let next = (first..first + length).chain([0]);
        edges.extend(cycle.zip(next));
        first += length;
    }
    Ok(Digraph::from_edges(agents, edges)?)
}

/// ½I + ½W.
fn lazy(mixing: &Mixing, stochastic: Stochastic) -> Result<Mixing> {
    let half = |link: Link| {
        let own = if link.from == link.to { 0.5 } else { 0.0 };
        Link { weight: own + 0.5 * link.weight, ..link }
    };
    Ok(Mixing::new(mixing.agents(), stochastic, mixing.iter().map(half))?)
}

/// All links, weighted so.
pub(super) fn weighted(digraph: &Digraph, how: Weights) -> Result<Pair> {
    let [pull, push] = [weights::uniform_rows(digraph)?, weights::uniform_columns(digraph)?];
    Ok(match how {
        Weights::Uniform => Pair { pull, push },
        Weights::Lazy => {
            Pair { pull: lazy(&pull, Stochastic::Rows)?, push: lazy(&push, Stochastic::Columns)? }
        }
        Weights::Metropolis => Pair {
            pull: metropolis(&pull, |i| digraph.in_neighbours(i).len(), Stochastic::Rows)?,
            push: metropolis(&push, |i| digraph.out_neighbours(i).len(), Stochastic::Columns)?,
        },
    })
}

/// On the links of a matrix 1/(1 + max(deg i, deg j)), and for oneself what is left of one: on links that go both
/// ways Metropolis' weights, elsewhere the nearest that is stochastic.
fn metropolis(mixing: &Mixing, degree: impl Fn(usize) -> usize, stochastic: Stochastic) -> Result<Mixing> {
    let n = mixing.agents();
    let others = mixing.iter().filter(|link| link.from != link.to);
    let mut links: Vec<Link> = others
        .map(|link| Link { weight: 1.0 / (1 + degree(link.from).max(degree(link.to))) as f64, ..link })
        .collect();
    let mut left = vec![1.0; n];
    for link in &links {
        let whose = if stochastic == Stochastic::Rows { link.to } else { link.from };
        left[whose] -= link.weight;
    }
    links.extend(left.into_iter().enumerate().map(|(i, weight)| Link { from: i, to: i, weight }));
    Ok(Mixing::new(n, stochastic, links)?)
}

/// Spanning trees found depth first, one to pull along and one to push along.
pub(super) fn chains(digraph: &Digraph, root: usize, lazy: bool) -> Result<Pair> {
    let n = digraph.agents();
    ensure!(root < n, "`root` = {root} is not possible: with {n} agents the ids are 0 to {}", n - 1);
    let down = Digraph::from_edges(n, depth_first(digraph, root))?;
    let back = depth_first(&digraph.reversed(), root).into_iter().map(|(parent, child)| (child, parent));
    let up = Digraph::from_edges(n, back)?;
    // of a digraph that is a tree the breadth-first one is the tree itself
    let pull = weights::pull_tree(&Tree::pull(&down, root)?, lazy)?;
    let push = weights::push_tree(&Tree::push(&up, root)?, lazy)?;
    Ok(Pair { pull, push })
}

/// Parents and children of the tree that goes on from the agent reached last, neighbours in ascending id.
fn depth_first(digraph: &Digraph, root: usize) -> Vec<(usize, usize)> {
    let mut reached = vec![false; digraph.agents()];
    reached[root] = true;
    let (mut path, mut edges) = (vec![root], vec![]);
    while let Some(&last) = path.last() {
        let next = digraph.out_neighbours(last).iter().map(|&i| i as usize).find(|&i| !reached[i]);
        match next {
            Some(child) => {
                reached[child] = true;
                edges.push((last, child));
                path.push(child);
            }
            None => {
                path.pop();
            }
        }
    }
    edges
}
