//! Chains and references for the tests of Perron vectors.
#![allow(clippy::unwrap_used)]

use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::numeric::sample::{Draws, Purpose};

/// A Markov chain as arcs (from, to, chance).
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) nodes: usize,
    pub(crate) arcs: Vec<(usize, usize, f64)>,
}

pub(crate) fn draws(seed: u64) -> Draws {
    Draws::new(seed, Purpose::Graph, 0, 0)
}

/// Σ values, compensated (Neumaier 1974): plain sums of 100,000 terms are off by more than what is tested.
pub(crate) fn total(values: &[f64]) -> f64 {
    let (mut sum, mut lost) = (0.0_f64, 0.0);
    for &value in values {
        let next = sum + value;
        lost += if sum.abs() >= value.abs() { (sum - next) + value } else { (value - next) + sum };
        sum = next;
    }
    sum + lost
}

impl Chain {
    /// A chain that stays where it is with what the arcs leave.
    pub(crate) fn lazy(nodes: usize, arcs: impl IntoIterator<Item = (usize, usize, f64)>) -> Chain {
        let mut arcs: Vec<_> = arcs.into_iter().collect();
        let mut stay = vec![1.0; nodes];
        for &(from, _, chance) in &arcs {
            stay[from] -= chance;
        }
        arcs.extend(stay.iter().enumerate().filter(|(_, stay)| **stay > 0.0).map(|(v, &stay)| (v, v, stay)));
        Chain { nodes, arcs }
    }

    /// As R, whose receivers step to those they hear.
    pub(crate) fn rows(&self) -> Mixing {
        self.mixing(Stochastic::Rows)
    }

    /// As C, whose senders step to those they send to.
    pub(crate) fn columns(&self) -> Mixing {
        self.mixing(Stochastic::Columns)
    }

    pub(crate) fn mixing(&self, stochastic: Stochastic) -> Mixing {
        let links = self.arcs.iter().map(|&(u, w, weight)| match stochastic {
            Stochastic::Rows => Link { from: w, to: u, weight },
            Stochastic::Columns => Link { from: u, to: w, weight },
        });
        Mixing::new(self.nodes, stochastic, links).unwrap()
    }

    /// ‖πᵀP − πᵀ‖₁
    pub(crate) fn residual(&self, pi: &[f64]) -> f64 {
        let mut rest: Vec<f64> = pi.iter().map(|p| -p).collect();
        for &(from, to, chance) in &self.arcs {
            rest[to] += pi[from] * chance;
        }
        rest.iter().map(|r| r.abs()).sum()
    }

    pub(crate) fn out_degrees(&self) -> Vec<usize> {
        let mut degrees = vec![0; self.nodes];
        for &(from, to, _) in &self.arcs {
            degrees[from] += usize::from(from != to);
        }
        degrees
    }

    fn dense(&self) -> Vec<Vec<f64>> {
        let mut matrix = vec![vec![0.0; self.nodes]; self.nodes];
        for &(from, to, chance) in &self.arcs {
            if from != to {
                matrix[from][to] += chance;
            }
        }
        matrix
    }

    /// π of an irreducible chain, by adjugates: π_v = det of the Laplacian D − P without row and column v.
    ///
    /// Each determinant by Gaussian elimination on a diagonally dominant M-matrix that keeps its row sums
    /// beside it, so that pivots are sums of non-negative numbers (Alfa, Xue and Ye 2002): no cancellation,
    /// no use of π's own recursion.
    pub(crate) fn dense_reference(&self) -> Vec<f64> {
        let matrix = self.dense();
        let n = self.nodes;
        let logs: Vec<f64> = (0..n)
            .map(|v| {
                let kept: Vec<usize> = (0..n).filter(|&u| u != v).collect();
                let mut off: Vec<Vec<f64>> =
                    kept.iter().map(|&u| kept.iter().map(|&w| matrix[u][w]).collect()).collect();
                let mut excess: Vec<f64> = kept.iter().map(|&u| matrix[u][v]).collect();
                let mut log_det = 0.0;
                for k in 0..kept.len() {
                    let (pivot_row, pivot_excess) = (off[k].clone(), excess[k]);
                    let pivot = pivot_excess + pivot_row[k + 1..].iter().sum::<f64>();
                    log_det += pivot.ln();
                    for (row, excess) in off.iter_mut().zip(&mut excess).skip(k + 1) {
                        let factor = row[k] / pivot;
                        *excess += factor * pivot_excess;
                        for (entry, above) in row.iter_mut().zip(&pivot_row).skip(k + 1) {
                            *entry += factor * above;
                        }
                    }
                }
                log_det
            })
            .collect();
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        weights.iter().map(|weight| weight / total(&weights)).collect()
    }

    /// π_v ∝ Σ over spanning trees into v of the product of their chances, by listing all trees (n ≤ 5).
    pub(crate) fn tree_theorem(&self) -> Vec<f64> {
        let matrix = self.dense();
        let n = self.nodes;
        let mut weights = vec![0.0; n];
        // a choice of one successor for each node, in base n; it is a tree into v when all but v end in v
        for code in 0..n.pow(n as u32) {
            let successor: Vec<usize> = (0..n).map(|u| code / n.pow(u as u32) % n).collect();
            let roots: Vec<usize> = (0..n).filter(|&u| successor[u] == u).collect();
            let [root] = roots[..] else { continue };
            let reaches_root = |u: usize| (0..n).fold(u, |at, _| successor[at]) == root;
            if (0..n).all(reaches_root) {
                let tree = (0..n).filter(|&u| u != root).map(|u| matrix[u][successor[u]]);
                weights[root] += tree.product::<f64>();
            }
        }
        weights
    }
}

/// Directed edges of a simple digraph.
#[derive(Debug, Clone)]
pub(crate) struct Edges {
    nodes: usize,
    list: Vec<(usize, usize)>,
}

impl Edges {
    pub(crate) fn new(nodes: usize) -> Edges {
        Edges { nodes, list: vec![] }
    }

    pub(crate) fn with(mut self, edge: (usize, usize)) -> Edges {
        self.list.push(edge);
        self
    }

    pub(crate) fn both_ways(self, (u, w): (usize, usize)) -> Edges {
        self.with((u, w)).with((w, u))
    }

    pub(crate) fn reversed(&self) -> Edges {
        Edges { nodes: self.nodes, list: self.list.iter().map(|&(u, w)| (w, u)).collect() }
    }

    /// Chance 1/(1 + outdegree) for each edge and for staying.
    pub(crate) fn uniform(mut self) -> Chain {
        self.list.extend((0..self.nodes).map(|v| (v, v)));
        self.list.sort_unstable();
        self.list.dedup();
        let mut degrees = vec![0; self.nodes];
        for &(u, _) in &self.list {
            degrees[u] += 1;
        }
        Chain {
            nodes: self.nodes,
            arcs: self.list.iter().map(|&(u, w)| (u, w, 1.0 / f64::from(degrees[u]))).collect(),
        }
    }
}

/// K directed cycles through node 0, the other nodes split over them as evenly as possible.
pub(crate) fn flower(nodes: usize, petals: usize) -> Edges {
    let mut edges = Edges::new(nodes);
    let mut next = 1;
    for petal in 0..petals {
        let length = (nodes - 1) / petals + usize::from(petal < (nodes - 1) % petals);
        let mut at = 0;
        for v in next..next + length {
            edges = edges.with((at, v));
            at = v;
        }
        edges = edges.with((at, 0));
        next += length;
    }
    edges
}

/// The undirected edges of a grid.
pub(crate) fn grid_edges(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let right = move |v: usize| (v % columns + 1 < columns).then_some((v, v + 1));
    let down = move |v: usize| (v + columns < rows * columns).then_some((v, v + columns));
    (0..rows * columns).flat_map(move |v| right(v).into_iter().chain(down(v)))
}

/// P_uw = c_uw/c_u for random conductances of a few decades, and the sums c_u ∝ π_u.
pub(crate) fn conductances(nodes: usize, edges: &[(usize, usize)], seed: u64) -> (Chain, Vec<f64>) {
    let mut draws = draws(seed);
    let values: Vec<f64> = edges.iter().map(|_| 10f64.powf(3.0 * draws.unit())).collect();
    let mut sums = vec![0.0; nodes];
    for (&(u, w), c) in edges.iter().zip(&values) {
        sums[u] += c;
        sums[w] += c;
    }
    let arcs = edges
        .iter()
        .zip(&values)
        .flat_map(|(&(u, w), c)| [(u, w, c / sums[u]), (w, u, c / sums[w])])
        .collect();
    (Chain { nodes, arcs }, sums)
}

/// A random irreducible chain: a cycle through all nodes in random order and `extra` arcs, with weights over
/// `decades`.
pub(crate) fn random_chain(nodes: usize, extra: usize, decades: f64, lazy: bool, seed: u64) -> Chain {
    let mut draws = draws(seed);
    let mut order: Vec<usize> = (0..nodes).collect();
    draws.shuffle(&mut order);
    let mut pairs: Vec<(usize, usize)> = (0..nodes).map(|k| (order[k], order[(k + 1) % nodes])).collect();
    pairs.extend((0..extra).map(|_| (draws.below(nodes), draws.below(nodes))));
    if lazy {
        pairs.extend((0..nodes).map(|v| (v, v)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    let weights: Vec<f64> = pairs.iter().map(|_| 10f64.powf(-decades * draws.unit())).collect();
    let mut sums = vec![0.0; nodes];
    for (&(u, _), weight) in pairs.iter().zip(&weights) {
        sums[u] += weight;
    }
    let arcs = pairs.iter().zip(&weights).map(|(&(u, w), weight)| (u, w, weight / sums[u])).collect();
    Chain { nodes, arcs }
}
