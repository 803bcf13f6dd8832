//! Stationary vectors of a long period, by way of the product of its matrices.
//!
//! Unrolled, a period of p rounds is one chain on p·n nodes, which is sparse and exact; but a long one fills
//! in when it is reduced. The product is an n×n matrix whatever p is. All terms are non-negative, so nothing
//! is lost in forming it.

use crate::graph::mixing::{Mixing, Stochastic};
use crate::graph::perron;
use crate::{Result, graph::topology::Pair};

/// Unrolled chains up to this number of nodes are solved as they are.
const UNROLLED_NODES: usize = 1500;
/// Products of more agents' matrices are too large.
const PRODUCT_AGENTS: usize = 2000;

/// Whether the product is the better way: the chain is long and not wide. Where all rounds are doubly
/// stochastic, the unrolled chain balances exactly and needs no reduction.
pub(crate) fn suits(period: &[Pair], agents: usize) -> bool {
    let one = |sums: Vec<f64>| sums.iter().all(|&sum| sum == 1.0);
    let doubly = |mixing: &Mixing| one(mixing.row_sums()) && one(mixing.column_sums());
    period.len() * agents > UNROLLED_NODES
        && agents <= PRODUCT_AGENTS
        && !period.iter().all(|pair| doubly(&pair.pull) && doubly(&pair.push))
}

/// φ_k of every round: φ_0ᵀ = φ_0ᵀR_{p−1}⋯R_0, and φ_kᵀ = φ_{k+1}ᵀR_k. O(p·m·n + n³) for m links.
pub(crate) fn left(period: &[Pair]) -> Result<Vec<Vec<f64>>> {
    let product = product(period.iter().map(|pair| &pair.pull), Stochastic::Rows)?;
    let mut next = perron::left(&product)?;
    let mut all: Vec<Vec<f64>> = period
        .iter()
        .rev()
        .map(|pair| {
            let mut now = vec![0.0; next.len()];
            pair.pull.iter().for_each(|link| now[link.from] += next[link.to] * link.weight);
            next.clone_from(&now);
            now
        })
        .collect();
    all.reverse();
    Ok(all)
}

/// ψ_k of every round: ψ_0 = C_{p−1}⋯C_0ψ_0, and ψ_{k+1} = C_kψ_k.
pub(crate) fn right(period: &[Pair]) -> Result<Vec<Vec<f64>>> {
    let product = product(period.iter().map(|pair| &pair.push), Stochastic::Columns)?;
    let mut all = vec![perron::right(&product)?];
    for (k, pair) in period.iter().take(period.len() - 1).enumerate() {
        let mut next = vec![0.0; pair.push.agents()];
        pair.push.iter().for_each(|link| next[link.to] += link.weight * all[k][link.from]);
        all.push(next);
    }
    Ok(all)
}

/// W_{p−1}⋯W_0.
fn product<'m>(rounds: impl Iterator<Item = &'m Mixing>, stochastic: Stochastic) -> Result<Mixing> {
    let mut product: Vec<f64> = vec![];
    let mut n = 0;
    for mixing in rounds {
        if product.is_empty() {
            n = mixing.agents();
            product = vec![0.0; n * n];
            (0..n).for_each(|i| product[i * n + i] = 1.0);
        }
        let mut next = vec![0.0; n * n];
        for (i, row) in next.chunks_exact_mut(n).enumerate() {
            mixing.mix_row(i, &product, row);
        }
        product = next;
    }
    let rows = |i: usize| {
        let entries = (0..).zip(&product[i * n..(i + 1) * n]);
        entries.filter(|(_, weight)| **weight > 0.0).map(|(from, &weight)| (from, weight))
    };
    let entries = product.iter().filter(|weight| **weight > 0.0).count();
    Mixing::from_rows(n, entries, stochastic, rows)
}
