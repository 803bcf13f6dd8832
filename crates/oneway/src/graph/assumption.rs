//! What a method needs of its two graphs: the paper's Assumption 1, and strong connectivity.

use super::{Digraph, named_agents};
use crate::error::some_agents;
use crate::graph::mixing::Mixing;
use crate::{Error, Result};

/// Checks Assumption 1: the pull graph and the reversed push graph each have a spanning tree, and the two
/// share a root.
///
/// Positive diagonals, which the paper asks for too, are more than is needed, and weight-1 trees do without
/// most of them. What is needed in their place is checked: the roots' cycles must not all have lengths with a
/// common divisor, or values circulate for ever.
///
/// # Arguments
/// * `pull`: R, links `from → to`.
/// * `push`: C; its links are walked from receiver to sender, for the root is where all messages end.
///
/// # Returns
/// All common roots, ascending, or [`Error::NoCommonRoot`], which says which of the three conditions fails
/// and between which agents.
///
/// # Complexity
/// O(n + m).
///
/// ```
/// use oneway::graph::{Digraph, check_common_root, weights};
/// let line = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
/// let pull = weights::uniform_rows(&line).unwrap();
/// let push = weights::uniform_columns(&line.reversed()).unwrap();
/// assert_eq!(check_common_root(&pull, &push).unwrap(), [0]);
///
/// let push = weights::uniform_columns(&line).unwrap();
/// assert_eq!(
///     check_common_root(&pull, &push).unwrap_err().to_string(),
///     "no common root: the roots of the pull graph are 0, those of the reversed push graph 2: none is in both"
/// );
/// ```
pub fn check_common_root(pull: &Mixing, push: &Mixing) -> Result<Vec<usize>> {
    common_roots(pull, push, 1)
}

/// The same for the unrolled period of a time-varying pair, whose cycles all have lengths divisible by
/// `period`.
pub(crate) fn common_roots(pull: &Mixing, push: &Mixing, period: usize) -> Result<Vec<usize>> {
    if pull.agents() != push.agents() {
        return Err(Error::Mismatch {
            left: "pull graph",
            left_size: pull.agents(),
            right: "push graph",
            right_size: push.agents(),
            unit: "agents",
        });
    }
    let self_weights = [pull, push].map(self_weighted);
    let with_roots = |graph: Digraph| (graph.roots(), graph);
    let (pull, push) = rayon::join(
        || Digraph::from_mixing(pull).map(with_roots),
        || Digraph::from_mixing(push).map(Digraph::into_reversed).map(with_roots),
    );
    let ((pull_roots, pull), (push_roots, push)) = (pull?, push?);
    let treeless: Vec<String> =
        [("pull graph", &pull, &pull_roots), ("reversed push graph", &push, &push_roots)]
            .into_iter()
            .filter(|(_, _, roots)| roots.is_empty())
            .filter_map(|(name, graph, _)| why_no_tree(name, graph))
            .collect();
    if !treeless.is_empty() {
        return Err(Error::NoCommonRoot(treeless.join("; and ")));
    }

    let mut others = push_roots.iter().copied().peekable();
    let mut in_both = |root: usize| {
        while others.next_if(|&other| other < root).is_some() {}
        others.next_if_eq(&root).is_some()
    };
    let common: Vec<usize> = pull_roots.iter().copied().filter(|&root| in_both(root)).collect();
    if common.is_empty() {
        return Err(Error::NoCommonRoot(format!(
            "the roots of the pull graph are {}, those of the reversed push graph {}: none is in both",
            some_agents(&pull_roots),
            some_agents(&push_roots)
        )));
    }
    check_aperiodic("pull", &pull, &pull_roots, &self_weights[0], period)?;
    check_aperiodic("push", &push, &push_roots, &self_weights[1], period)?;
    Ok(common)
}

/// Who keeps a share of its own.
pub(super) fn self_weighted(mixing: &Mixing) -> Vec<bool> {
    (0..mixing.agents()).map(|i| mixing.senders(i).binary_search(&(i as u32)).is_ok()).collect()
}

/// Checks that the lengths of the cycles among `roots`, a strongly connected class, have no common divisor
/// but `period`.
///
/// Levels from a breadth-first search differ by one along each link, up to a multiple of the period, so the
/// period is the greatest common divisor of level(u) + 1 − level(v) over all links u → v. O(n + m).
pub(super) fn check_aperiodic(
    graph_name: &'static str,
    graph: &Digraph,
    roots: &[usize],
    has_self: &[bool],
    period: usize,
) -> Result<()> {
    let (Some(&start), false) = (roots.first(), roots.iter().any(|&root| has_self[root])) else {
        return Ok(()); // a self-weight is a cycle of length one
    };
    let mut level = vec![usize::MAX; graph.agents()];
    level[start] = 0;
    let mut queue = vec![start];
    let mut divisor = 0;
    let mut next = 0;
    while let Some(&from) = queue.get(next) {
        next += 1;
        for &to in graph.out_neighbours(from) {
            let to = to as usize;
            if roots.binary_search(&to).is_err() {
                continue;
            }
            if level[to] == usize::MAX {
                level[to] = level[from] + 1;
                queue.push(to);
            }
            divisor = greatest_common_divisor(divisor, (level[from] + 1).abs_diff(level[to]));
        }
    }
    match divisor == period {
        true => Ok(()),
        false => Err(Error::Periodic { graph: graph_name, period: divisor / period }),
    }
}

fn greatest_common_divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { greatest_common_divisor(b, a % b) }
}

/// Checks that every agent reaches every other, as push-sum methods need.
///
/// # Returns
/// Nothing, or [`Error::NotStronglyConnected`] with an agent and whom it cannot reach.
///
/// # Complexity
/// O(n + m).
///
/// ```
/// use oneway::graph::{Digraph, check_strongly_connected, weights};
/// let line = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
/// let error = check_strongly_connected(&weights::uniform_columns(&line).unwrap()).unwrap_err();
/// assert!(error.to_string().ends_with("from agent 1 there is no path to agent 0"));
/// ```
pub fn check_strongly_connected(mixing: &Mixing) -> Result<()> {
    strongly_connected(mixing, 1)
}

/// The same for the unrolled period of a time-varying matrix.
pub(crate) fn strongly_connected(mixing: &Mixing, period: usize) -> Result<()> {
    let graph = Digraph::from_mixing(mixing)?;
    let from = if graph.unreachable_from(0).is_empty() {
        // Agent 0 reaches all; is there one that does not reach agent 0?
        match graph.reaching(0).iter().position(|&reaches| !reaches) {
            None => {
                let everyone: Vec<usize> = (0..graph.agents()).collect();
                return check_aperiodic("push", &graph, &everyone, &self_weighted(mixing), period);
            }
            Some(from) => from,
        }
    } else {
        0
    };
    Err(Error::NotStronglyConnected { from, unreachable: named_agents(&graph.unreachable_from(from)) })
}

/// Two agents that cannot be below one root, and whom each does not reach.
fn why_no_tree(name: &str, graph: &Digraph) -> Option<String> {
    let reasons = graph.rival_starts()?.map(|start| {
        format!("from agent {start}, {} cannot be reached", named_agents(&graph.unreachable_from(start)))
    });
    Some(format!("the {name} has no spanning tree: {}", reasons.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::mixing::{Link, Stochastic};
    use crate::graph::{Tree, families, weights};

    #[test]
    fn periodic_weights_are_refused_and_one_self_weight_mends_them() {
        let cycle = |own: f64| {
            let links = (0..6).map(|i| Link { from: i, to: (i + 1) % 6, weight: 1.0 });
            let halved =
                links.map(move |link| if link.to == 0 { Link { weight: 1.0 - own, ..link } } else { link });
            let own = (own > 0.0).then_some(Link { from: 0, to: 0, weight: own });
            Mixing::new(6, Stochastic::Rows, halved.chain(own)).unwrap()
        };
        let complete = Mixing::complete(6);
        let error = check_common_root(&cycle(0.0), &complete).unwrap_err().to_string();
        assert!(error.contains("pull weights") && error.contains("divisible by 6"), "{error}");
        assert_eq!(check_common_root(&cycle(0.5), &complete).unwrap().len(), 6);
        // cycles of lengths 6 and 3 have the divisor 3; of 6 and 5, none
        for (chord, refused) in [(2, true), (4, false)] {
            let links = cycle(0.0)
                .iter()
                .map(|link| Link { weight: 0.5 + 0.5 * f64::from(link.to != 0), ..link })
                .collect::<Vec<_>>();
            let chord = Link { from: chord, to: 0, weight: 0.5 };
            let mixing = Mixing::new(6, Stochastic::Rows, links.into_iter().chain([chord])).unwrap();
            assert_eq!(check_common_root(&mixing, &complete).is_err(), refused, "chord from {}", chord.from);
        }
        assert!(
            check_strongly_connected(
                &Mixing::new(
                    2,
                    Stochastic::Columns,
                    [(0, 1), (1, 0)].map(|(from, to)| Link { from, to, weight: 1.0 })
                )
                .unwrap()
            )
            .is_err()
        );
    }

    fn complaint(pull: &Digraph, push: &Digraph) -> String {
        let pull = weights::uniform_rows(pull).unwrap();
        let push = weights::uniform_columns(push).unwrap();
        check_common_root(&pull, &push).unwrap_err().to_string()
    }

    #[test]
    fn the_message_says_which_graph_has_no_tree_and_why() {
        let apart = Digraph::from_edges(5, [(0, 1), (1, 2), (2, 0), (3, 4), (4, 3)]).unwrap();
        let ring = families::ring(5).unwrap();
        let why = "has no spanning tree: from agent 0, agents 3, 4 cannot be reached; \
                   from agent 3, agents 0, 1, 2 cannot be reached";
        assert_eq!(complaint(&apart, &ring), format!("no common root: the pull graph {why}"));
        assert_eq!(complaint(&ring, &apart), format!("no common root: the reversed push graph {why}"));
        assert_eq!(
            complaint(&apart, &apart),
            format!("no common root: the pull graph {why}; and the reversed push graph {why}")
        );
    }

    #[test]
    fn two_trees_with_different_roots_share_none() {
        let flower = families::flower(7, 2).unwrap();
        let pull = weights::pull_tree(&Tree::pull(&flower, 1).unwrap(), true).unwrap();
        let push = weights::push_tree(&Tree::push(&flower, 4).unwrap(), true).unwrap();
        let error = check_common_root(&pull, &push).unwrap_err().to_string();
        assert!(
            error.contains("roots of the pull graph are 1, those of the reversed push graph 4"),
            "{error}"
        );
    }

    #[test]
    fn graphs_of_different_size_do_not_match() {
        let error = check_common_root(&Mixing::complete(3), &Mixing::complete(4)).unwrap_err();
        assert_eq!(error.to_string(), "the pull graph has 3 agents, the push graph 4");
    }

    #[test]
    fn strong_connectivity_is_needed_both_ways() {
        assert!(check_strongly_connected(&Mixing::complete(4)).is_ok());
        let inward = Digraph::from_edges(3, [(1, 0), (2, 0)]).unwrap();
        let error = check_strongly_connected(&weights::uniform_columns(&inward).unwrap()).unwrap_err();
        assert!(error.to_string().ends_with("from agent 0 there is no path to agents 1, 2"), "{error}");
    }
}
