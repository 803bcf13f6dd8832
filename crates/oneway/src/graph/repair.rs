//! The fewest links that repair a network on which no method could run.
//!
//! [`shared`] is for one set of links that carries both graphs, [`separate`] for a pull graph and a push
//! graph of their own. New links run between distinct agents that had none. Their weights are the user's
//! choice: whoever hears one more (pull), or is heard by one more (push), shares out its weights anew.

use super::assumption::{check_aperiodic, self_weighted};
use super::{Components, Digraph};
use crate::graph::mixing::Mixing;
use crate::{Error, Result};

/// What to add so that Assumption 1 holds ([`check_common_root`](super::check_common_root)).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repair {
    /// A common root, once it is done.
    pub root: usize,
    /// Links to add to the pull graph, (from, to).
    pub pull: Vec<(usize, usize)>,
    /// Links to add to the push graph, (from, to).
    pub push: Vec<(usize, usize)>,
    /// Whether the root needs a self-weight in R: without one, values would still go round.
    pub pull_self_weight: bool,
    /// Whether the root needs a self-weight in C.
    pub push_self_weight: bool,
}

impl Repair {
    /// Whether there is nothing to repair.
    pub fn is_empty(&self) -> bool {
        self.pull.is_empty() && self.push.is_empty() && !self.pull_self_weight && !self.push_self_weight
    }
}

/// The fewest links that make a digraph strongly connected: max(sources, sinks) of its condensation, where a
/// component without links to others is both; none if there is but one component.
///
/// Fewer cannot do: every source needs a link in, every sink a link out. That this number suffices is a
/// theorem of Eswaran and Tarjan (1976), whose construction this is: a cycle through sources and the sinks
/// below them, with what is left over hung into it.
///
/// # Complexity
/// O(n + m).
///
/// ```
/// use oneway::graph::{Digraph, repair};
/// let path = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
/// assert_eq!(repair::strongly_connecting(&path), [(2, 0)]);
/// let apart = Digraph::from_edges(3, []).unwrap();
/// assert_eq!(repair::strongly_connecting(&apart), [(0, 1), (1, 2), (2, 0)]);
/// ```
pub fn strongly_connecting(graph: &Digraph) -> Vec<(usize, usize)> {
    let components = graph.components();
    let links = connect(&components.condensed(graph)).into_iter();
    links.map(|(from, to)| (components.first(from), components.first(to))).collect()
}

/// The fewest links to add where one set of links carries both graphs, as it does for all families and edge
/// lists.
///
/// A common root r must reach everyone on the links (pull) and be reached by everyone on the same links
/// (push): they must be strongly connected, and then every agent is a root. O(n + m).
///
/// # Arguments
/// * `pull`, `push`: R and C; links of either count for both.
///
/// # Returns
/// The repair, with the same links for both graphs; an error if sizes differ.
pub fn shared(pull: &Mixing, push: &Mixing) -> Result<Repair> {
    check_sizes(pull, push)?;
    let [r, c] = [pull, push].map(Digraph::from_mixing);
    let (r, c) = (r?, c?);
    let both = if r == c { r.clone() } else { Digraph::from_edges(r.agents(), r.edges().chain(c.edges()))? };
    let links = strongly_connecting(&both);
    Ok(Repair {
        root: 0,
        pull_self_weight: stays_periodic(&r, &links, 0, pull)?,
        push_self_weight: stays_periodic(&c.into_reversed(), &turned(&links), 0, push)?,
        push: links.clone(),
        pull: links,
    })
}

/// The fewest links to add to a pull graph G_R and a push graph G_C of their own, so that they have a common
/// root; a link added to both counts twice.
///
/// For r to reach everyone in G_R, each source component of it that does not hold r needs a link in, and a
/// link from r is enough: as many links as there are sources, less one if r is in a source. The same holds
/// for the sinks of G_C. Where r is matters only through these two ones, so the best root is an agent in a
/// source of G_R and in a sink of G_C; failing that, in either; failing that, anyone. O(n + m).
///
/// ```
/// use oneway::graph::{Digraph, repair, weights};
/// // models flow 0 → 1 → 2; trackers flow the same way, and never come back to the root
/// let path = Digraph::from_edges(3, [(0, 1), (1, 2)]).unwrap();
/// let (r, c) = (weights::uniform_rows(&path).unwrap(), weights::uniform_columns(&path).unwrap());
/// let repair = repair::separate(&r, &c).unwrap();
/// assert_eq!((repair.root, repair.pull, repair.push), (0, vec![], vec![(2, 0)]));
/// ```
pub fn separate(pull: &Mixing, push: &Mixing) -> Result<Repair> {
    check_sizes(pull, push)?;
    let r = Digraph::from_mixing(pull)?;
    let c = Digraph::from_mixing(push)?.into_reversed();
    let (sources, sinks) = (Sources::new(&r), Sources::new(&c));
    let saved = |agent: usize| u8::from(sources.holds(agent)) + u8::from(sinks.holds(agent));
    // the first of the best: agents count down, and the last of equals wins
    let root = (0..r.agents()).rev().max_by_key(|&agent| saved(agent)).unwrap_or(0);
    let (down, up) = (sources.links_from(root), sinks.links_from(root));
    Ok(Repair {
        root,
        pull_self_weight: stays_periodic(&r, &down, root, pull)?,
        push_self_weight: stays_periodic(&c, &up, root, push)?,
        push: turned(&up),
        pull: down,
    })
}

/// The components of a digraph that hear no other.
struct Sources {
    components: Components,
    is_source: Vec<bool>,
}

impl Sources {
    fn new(graph: &Digraph) -> Self {
        let components = graph.components();
        let condensed = components.condensed(graph);
        let is_source = (0..condensed.agents()).map(|c| condensed.in_neighbours(c).is_empty()).collect();
        Self { components, is_source }
    }

    fn holds(&self, agent: usize) -> bool {
        self.is_source[self.components.of(agent)]
    }

    /// A link from `root` to each source that does not hold it.
    fn links_from(&self, root: usize) -> Vec<(usize, usize)> {
        let own = self.components.of(root);
        let others = (0..self.is_source.len()).filter(|&c| self.is_source[c] && c != own);
        others.map(|component| (root, self.components.first(component))).collect()
    }
}

/// Whether, with `links` added, all cycles among the agents that reach `root` still have a common divisor.
/// `mixing` says who has a self-weight.
fn stays_periodic(graph: &Digraph, links: &[(usize, usize)], root: usize, mixing: &Mixing) -> Result<bool> {
    let repaired = Digraph::from_edges(graph.agents(), graph.edges().chain(links.iter().copied()))?;
    let roots = repaired.reaching(root);
    let roots: Vec<usize> = (0..repaired.agents()).filter(|&i| roots[i]).collect();
    match check_aperiodic("repaired", &repaired, &roots, &self_weighted(mixing), 1) {
        Err(Error::Periodic { .. }) => Ok(true),
        other => other.map(|()| false),
    }
}

fn check_sizes(pull: &Mixing, push: &Mixing) -> Result<()> {
    let (left_size, right_size) = (pull.agents(), push.agents());
    match left_size == right_size {
        true => Ok(()),
        false => Err(Error::Mismatch {
            left: "pull graph",
            left_size,
            right: "push graph",
            right_size,
            unit: "agents",
        }),
    }
}

fn turned(links: &[(usize, usize)]) -> Vec<(usize, usize)> {
    links.iter().map(|&(from, to)| (to, from)).collect()
}

/// The links for a digraph without cycles.
fn connect(dag: &Digraph) -> Vec<(usize, usize)> {
    if dag.agents() == 1 {
        return vec![];
    }
    let (mut sources, mut sinks, mut isolated) = (vec![], vec![], vec![]);
    for node in 0..dag.agents() {
        match (dag.in_neighbours(node), dag.out_neighbours(node)) {
            ([], []) => isolated.push(node),
            ([], _) => sources.push(node),
            (_, []) => sinks.push(node),
            _ => {}
        }
    }
    if sources.len() > sinks.len() {
        return turned(&connect(&dag.reversed()));
    }
    let Pairs { pairs, sources, sinks } = Pairs::new(dag, &sources, &sinks);
    // A source and a sink that are left over make a way from the cycle back to it: some paired source leads
    // to the sink, and the source leads to some paired sink. There are at least as many sinks; the rest are
    // stations of the cycle.
    let beside = sinks.iter().copied().zip(sources.iter().copied());
    let rest = sinks.iter().skip(sources.len()).chain(&isolated).map(|&node| (node, node));
    let stations: Vec<(usize, usize)> = pairs.into_iter().chain(rest).collect();
    let onward = stations.iter().cycle().skip(1);
    let cycle = stations.iter().zip(onward).map(|(&(_, leave), &(enter, _))| (leave, enter));
    cycle.chain(beside).collect()
}

/// Sources with sinks that they lead to, and those left over: each source left over leads to some paired
/// sink, and to each sink left over leads some paired source.
struct Pairs {
    pairs: Vec<(usize, usize)>,
    sources: Vec<usize>,
    sinks: Vec<usize>,
}

impl Pairs {
    /// Searches from each source through what no search has been to, up to the first sink.
    ///
    /// From what a search gave up all ways lead to where others have been, and so to a paired sink; what it
    /// left undone is on its way to its own sink, and so below its source. O(n + m) for all together.
    fn new(dag: &Digraph, sources: &[usize], sinks: &[usize]) -> Self {
        let mut been = vec![false; dag.agents()];
        let mut pairs = vec![];
        let mut left_over = vec![];
        for &source in sources {
            match first_sink(dag, source, &mut been) {
                Some(sink) => pairs.push((source, sink)),
                None => left_over.push(source),
            }
        }
        let sinks = sinks.iter().copied().filter(|&sink| !been[sink]).collect();
        Self { pairs, sources: left_over, sinks }
    }
}

/// In depth from `start`, the first sink that has not been visited.
fn first_sink(dag: &Digraph, start: usize, been: &mut [bool]) -> Option<usize> {
    been[start] = true;
    let mut path = vec![(start, dag.out_neighbours(start).iter())];
    while let Some((node, ahead)) = path.last_mut() {
        if dag.out_neighbours(*node).is_empty() {
            return Some(*node);
        }
        match ahead.find(|&&next| !been[next as usize]) {
            Some(&next) => {
                been[next as usize] = true;
                path.push((next as usize, dag.out_neighbours(next as usize).iter()));
            }
            None => drop(path.pop()),
        }
    }
    None
}

#[cfg(test)]
mod tests;
