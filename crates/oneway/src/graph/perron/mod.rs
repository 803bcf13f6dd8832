//! Perron vectors: the weights with which a network averages.
//!
//! Both are the stationary vector of a Markov chain: πᵀP = πᵀ with P = R for π_R, and P = Cᵀ for π_C. The
//! work goes, from exact to approximate:
//! 1. the one closed class of the chain, by graph search; π is exactly 0 off it, and exactly e_root on a
//!    tree;
//! 2. chains whose flow balances exactly: equal weights on an Eulerian digraph (π_u ∝ 1/weight_u, so ∝ 1 +
//!    degree on a symmetric graph), and doubly stochastic matrices (π uniform);
//! 3. state reduction without subtractions, cheapest nodes first: relative accuracy in every component, for
//!    periodic and slowly mixing chains as well;
//! 4. a core that has filled in: dense state reduction if small, lazy power iteration if large (an error of
//!    1e-13 in the 1-norm on the core; large chains that fill in mix fast, as a rule), more elimination if
//!    that is slow.
//!
//! Self-weights do not enter: P_uu is taken as 1 − Σ_{w≠u} P_uw, which differs from what is stored by
//! rounding only.

mod censor;
mod condensed;
mod exact;
pub(crate) mod period;
mod wide;

use self::censor::Censored;
use self::wide::Wide;
use crate::graph::mixing::Mixing;
use crate::{Error, Result};

/// Elimination stops to look for another way when arcs have grown this many times.
const FILL_LIMIT: usize = 6;
/// A core is dense when it has more than one in this many of all possible arcs.
const DENSE_ONE_IN: usize = 6;
/// Largest core that is solved as a dense matrix at once.
const DENSE_NODES: usize = 1500;
/// Largest core that is solved as a dense matrix when iteration is too slow.
const LAST_DENSE_NODES: usize = 4000;
/// Most arcs to hold when iteration is too slow: two gigabytes.
const LAST_ARCS: usize = 60_000_000;
/// Most products to form when iteration is too slow: a few minutes' worth.
const LAST_WORK: u64 = 10_000_000_000;

/// π_R of a row-stochastic matrix: π_Rᵀ R = π_Rᵀ, π_Rᵀ 1 = 1.
///
/// `mixing` must have rows that sum to one. The vector is non-negative, and zero outside the one group of
/// agents that hears no one else; [`Error::PerronNotUnique`] if there are two such groups,
/// [`Error::PerronNotConverged`] if the chain is both too large to eliminate and too slow to iterate.
///
/// O(n + m) for trees and for balanced chains, O(m log n) where elimination does not fill in (rings, flowers,
/// paths), O(n^1.5) on planar graphs; never an n×n matrix for n > 4000.
///
/// ```
/// use oneway::graph::mixing::{Link, Mixing, Stochastic};
/// use oneway::graph::perron;
/// let links = [(0, 0, 0.75), (1, 0, 0.25), (0, 1, 0.5), (1, 1, 0.5)];
/// let r = Mixing::new(2, Stochastic::Rows, links.map(|(from, to, weight)| Link { from, to, weight }))?;
/// let pi = perron::left(&r)?;
/// assert!((pi[0] - 2.0 / 3.0).abs() < 1e-15 && (pi[1] - 1.0 / 3.0).abs() < 1e-15);
/// # Ok::<(), oneway::Error>(())
/// ```
pub fn left(mixing: &Mixing) -> Result<Vec<f64>> {
    // the chain steps from a receiver to one of those it hears
    let transitions = mixing.iter().map(|link| (link.to, link.from, link.weight));
    stationary(&Chain::new(mixing.agents(), transitions), "hear no one outside")
}

/// π_C of a column-stochastic matrix: C π_C = π_C, 1ᵀ π_C = 1.
///
/// As [`left`], for columns that sum to one: zero outside the one group of agents that sends to no one else.
///
/// ```
/// use oneway::graph::mixing::{Link, Mixing, Stochastic};
/// use oneway::graph::perron;
/// // a weight-1 tree: everyone sends to the root, which keeps what it has
/// let links = [(0, 0, 1.0), (1, 0, 1.0), (2, 1, 1.0)];
/// let c = Mixing::new(3, Stochastic::Columns, links.map(|(from, to, weight)| Link { from, to, weight }))?;
/// assert_eq!(perron::right(&c)?, [1.0, 0.0, 0.0]);
/// # Ok::<(), oneway::Error>(())
/// ```
pub fn right(mixing: &Mixing) -> Result<Vec<f64>> {
    // the chain steps from a sender to one of those it sends to
    let transitions = mixing.iter().map(|link| (link.from, link.to, link.weight));
    stationary(&Chain::new(mixing.agents(), transitions), "send to no one outside")
}

/// c_π = n π_Rᵀ π_C: by how much a step of the agents moves the average, against a centralised one. O(n).
///
/// 1 on doubly stochastic graphs, n on two spanning trees with one root, 0 without a common root.
///
/// ```
/// use oneway::graph::perron::c_pi;
/// assert_eq!(c_pi(&[0.5, 0.5], &[0.5, 0.5]), 1.0);
/// assert_eq!(c_pi(&[1.0, 0.0], &[1.0, 0.0]), 2.0);
/// ```
pub fn c_pi(left: &[f64], right: &[f64]) -> f64 {
    let n = left.len() as f64;
    exact::sum(left.iter().zip(right).map(|(l, r)| n * l * r)) // so that 20 agents of weight 1/20 make 1, not 1 + 7e-16
}

/// One direction of a chain's arcs, by node.
#[derive(Debug)]
pub(super) struct Adjacency {
    offsets: Vec<usize>,
    others: Vec<u32>,
    weights: Vec<f64>,
}

impl Adjacency {
    /// Groups arcs (node, other end, weight) by node, keeping their order.
    fn new(nodes: usize, arcs: impl Iterator<Item = (usize, usize, f64)> + Clone) -> Self {
        let mut offsets = vec![0; nodes + 1];
        for (node, _, _) in arcs.clone() {
            offsets[node + 1] += 1;
        }
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut free = offsets.clone();
        let mut others = vec![0; offsets[nodes]];
        let mut weights = vec![0.0; offsets[nodes]];
        for (node, other, weight) in arcs {
            others[free[node]] = other as u32;
            weights[free[node]] = weight;
            free[node] += 1;
        }
        Self { offsets, others, weights }
    }

    /// The other ends and weights of a node's arcs.
    pub(super) fn of(&self, node: usize) -> (&[u32], &[f64]) {
        let range = self.offsets[node]..self.offsets[node + 1];
        (&self.others[range.clone()], &self.weights[range])
    }

    /// Marks all that can be reached from `start` without passing nodes already marked. O(n + m), no
    /// recursion.
    fn mark_reachable(&self, start: usize, marked: &mut [bool]) {
        marked[start] = true;
        let mut open = vec![start];
        while let Some(node) = open.pop() {
            for &other in self.of(node).0 {
                if !std::mem::replace(&mut marked[other as usize], true) {
                    open.push(other as usize);
                }
            }
        }
    }
}

/// A Markov chain without its self-loops.
#[derive(Debug)]
pub(super) struct Chain {
    /// P_uw by u.
    pub(super) out: Adjacency,
    /// P_uw by w.
    pub(super) into: Adjacency,
}

impl Chain {
    /// The chain with transitions (from, to, chance); self-loops are left out.
    pub(super) fn new(nodes: usize, transitions: impl Iterator<Item = (usize, usize, f64)>) -> Self {
        let arcs: Vec<_> = transitions.filter(|(from, to, _)| from != to).collect();
        let reversed = arcs.iter().map(|&(from, to, chance)| (to, from, chance));
        Self { out: Adjacency::new(nodes, arcs.iter().copied()), into: Adjacency::new(nodes, reversed) }
    }

    /// Number of nodes.
    pub(super) fn nodes(&self) -> usize {
        self.out.offsets.len() - 1
    }

    /// A node of a closed class, marking all nodes from which it is reached; `None` if all are marked
    /// already.
    ///
    /// Searches backwards from each node not yet marked; the last start lies in a closed class, because a
    /// successor of it that an earlier search had marked would have brought that search to it. The marks
    /// given must be closed under predecessors.
    fn closed_node(&self, marked: &mut [bool]) -> Option<usize> {
        let mut last = None;
        for node in 0..self.nodes() {
            if !marked[node] {
                last = Some(node);
                self.into.mark_reachable(node, marked);
            }
        }
        last
    }

    /// The nodes, ascending, of the one closed class, or a node each of two classes. O(n + m).
    fn closed_class(&self) -> std::result::Result<Vec<u32>, (usize, usize)> {
        let Some(root) = self.closed_node(&mut vec![false; self.nodes()]) else { return Ok(vec![]) };
        let mut marked = vec![false; self.nodes()];
        self.into.mark_reachable(root, &mut marked);
        if let Some(other) = self.closed_node(&mut marked) {
            return Err((root.min(other), root.max(other)));
        }
        marked.fill(false);
        self.out.mark_reachable(root, &mut marked);
        Ok((0..self.nodes() as u32).filter(|&node| marked[node as usize]).collect())
    }

    /// The chain on a closed class, its nodes renumbered.
    fn restricted(&self, class: &[u32]) -> Chain {
        let mut position = vec![0; self.nodes()];
        for (at, &node) in class.iter().enumerate() {
            position[node as usize] = at;
        }
        let position = &position;
        let transitions = class.iter().flat_map(move |&from| {
            let (others, chances) = self.out.of(from as usize);
            let arcs = others.iter().zip(chances);
            arcs.map(move |(&to, &chance)| (position[from as usize], position[to as usize], chance))
        });
        Chain::new(class.len(), transitions)
    }

    /// π, up to scale, if the flow π_u P_uw balances exactly for a π that can be guessed. O(m).
    ///
    /// No tolerance: where mixing is slow, sums that are off by one rounding error can move π far.
    fn balanced(&self) -> Option<Vec<f64>> {
        let nodes = || 0..self.nodes();
        // doubly stochastic, Σ_w P_wu = Σ_w P_uw: uniform
        let conserved = |u: usize| {
            let out = self.out.of(u).1.iter().map(|chance| -chance);
            exact::sum(self.into.of(u).1.iter().copied().chain(out)) == 0.0
        };
        if nodes().all(conserved) {
            return Some(vec![1.0; self.nodes()]);
        }
        // all chances out of u are a_u, and as many arcs come in as go out: with π_u = 1/a_u each arc carries
        // 1
        let even = |u: usize| {
            let chances = self.out.of(u).1;
            chances.windows(2).all(|pair| pair[0] == pair[1]) && chances.len() == self.into.of(u).0.len()
        };
        if !nodes().all(even) {
            return None;
        }
        nodes().map(|u| self.out.of(u).1.first().map(|chance| chance.recip())).collect()
    }
}

/// πᵀP = πᵀ, πᵀ1 = 1; `closed` says what a closed class is, for the error.
fn stationary(chain: &Chain, closed: &'static str) -> Result<Vec<f64>> {
    let class =
        chain.closed_class().map_err(|(first, second)| Error::PerronNotUnique { first, second, closed })?;
    let mut stationary = vec![0.0; chain.nodes()];
    if let [root] = class[..] {
        stationary[root as usize] = 1.0;
        return Ok(stationary);
    }
    let inner = chain.restricted(&class);
    let weights = match inner.balanced() {
        Some(weights) => weights,
        None => doubles(&reduced(&inner)?),
    };
    let sum = exact::sum(weights.iter().copied());
    for (&node, weight) in class.iter().zip(weights) {
        stationary[node as usize] = weight / sum;
    }
    Ok(stationary)
}

/// π of an irreducible chain, up to scale, by state reduction as far as that is cheap.
fn reduced(chain: &Chain) -> Result<Vec<Wide>> {
    let mut censored = Censored::new(chain);
    let most_arcs = FILL_LIMIT * censored.arcs();
    let dense = |left: &Censored| DENSE_ONE_IN * left.arcs() > left.nodes() * left.nodes();
    censored.eliminate_until(|left| left.arcs() > most_arcs || dense(left));
    if censored.nodes() > DENSE_NODES {
        let core = censored.core();
        match condensed::iterate(&core) {
            Ok(solution) => return Ok(censored.extend(&core.nodes, &solution)),
            Err(slow) => {
                let small = |left: &Censored| left.nodes() <= LAST_DENSE_NODES;
                let hopeless = |left: &Censored| left.arcs() > LAST_ARCS || left.work() > LAST_WORK;
                censored.eliminate_until(|left| small(left) && dense(left) || hopeless(left));
                if !small(&censored) {
                    return Err(Error::PerronNotConverged { iterations: slow.sweeps, change: slow.change });
                }
            }
        }
    }
    let core = censored.core();
    if let Some(solution) = condensed::eliminate(&core) {
        return Ok(censored.extend(&core.nodes, &solution));
    }
    censored.eliminate_until(|_| false);
    let last = censored.core().nodes;
    Ok(censored.extend(&last, &[Wide::ONE]))
}

/// Weights as doubles, the largest 1.
fn doubles(weights: &[Wide]) -> Vec<f64> {
    let largest =
        weights.iter().fold(Wide::ZERO, |most, &weight| if weight.exceeds(most) { weight } else { most });
    weights.iter().map(|&weight| (weight / largest).to_f64()).collect()
}
