//! How fast a network averages: the spectral radii of R − 1π_Rᵀ and of C − π_C1ᵀ.
//!
//! Mixing matrices fall into blocks, one for each strongly connected component of their links, and their
//! eigenvalues are those of the blocks: where R = (R_S 0; A B) with S the agents whom all hear from, R −
//! 1π_Rᵀ = (R_S − 1π_Sᵀ 0; * B), and so on within B. Lone agents are blocks of one number, their self-weight,
//! so that trees are exact: 0 with weight 1, ½ if lazy. Asked as one matrix, a lazy path of k agents has one
//! eigenvalue with one eigenvector, which rounding moves by as much as the k-th root of what was rounded.

use super::spectrum::{self, LinearMap};
use crate::Result;
use crate::graph::Digraph;
use crate::graph::mixing::Mixing;
use crate::numeric::sample::{Draws, Purpose};

/// ρ(R − 1π_Rᵀ): models come to agree like ρᵏ. `π_r` is π_R, see
/// [`perron::left`](crate::graph::perron::left).
///
/// ```
/// use oneway::graph::{Tree, families, weights};
/// use oneway::{graph::perron, theory::averaging};
/// let ring = families::ring(3).unwrap();
/// let r = weights::uniform_rows(&ring).unwrap();
/// let ρ = averaging::pull_radius(&r, &perron::left(&r).unwrap()).unwrap();
/// assert!((ρ - 0.5).abs() < 1e-12); // |½ + ½e^{2πi/3}|
/// let lazy = weights::pull_tree(&Tree::pull(&ring, 0).unwrap(), true).unwrap();
/// assert_eq!(averaging::pull_radius(&lazy, &perron::left(&lazy).unwrap()).unwrap(), 0.5);
/// ```
pub fn pull_radius(r: &Mixing, π_r: &[f64]) -> Result<f64> {
    radius(r, π_r, |shares| Limit { left: shares.to_vec(), right: vec![1.0; shares.len()] })
}

/// ρ(C − π_C1ᵀ): pushed mass comes to where it stays like ρᵏ. `π_c` is π_C, see
/// [`perron::right`](crate::graph::perron::right).
pub fn push_radius(c: &Mixing, π_c: &[f64]) -> Result<f64> {
    radius(c, π_c, |shares| Limit { left: vec![1.0; shares.len()], right: shares.to_vec() })
}

/// Rounds in which ρᵏ falls by a factor e: −1/ln ρ. `None` for ρ = 0, where a few rounds end it, and where
/// nothing dies out.
///
/// ```
/// use oneway::theory::averaging::mixing_time;
/// assert!((mixing_time(0.99).unwrap() - 99.5).abs() < 0.01);
/// assert_eq!((mixing_time(0.0), mixing_time(1.0)), (None, None));
/// ```
pub fn mixing_time(radius: f64) -> Option<f64> {
    (radius > 0.0 && radius < 1.0).then(|| -1.0 / radius.ln())
}

/// The largest over all blocks; `limit` makes 1π_Rᵀ or π_C1ᵀ of the block that has π.
fn radius(mixing: &Mixing, shares: &[f64], limit: impl Fn(&[f64]) -> Limit) -> Result<f64> {
    let components = Digraph::from_mixing(mixing)?.components();
    let mut place = vec![0; mixing.agents()]; // of each agent in its block
    let mut largest: f64 = 0.0;
    for component in 0..components.count() {
        let members = components.members(component);
        (0..).zip(members).for_each(|(at, &member)| place[member as usize] = at);
        let within = |i: u32| {
            let heard = mixing.row(i as usize).filter(|&(from, _)| components.of(from) == component);
            heard.map(|(from, weight)| (place[from], weight)).collect()
        };
        let rows: Vec<Vec<(usize, f64)>> = members.iter().map(|&i| within(i)).collect();
        let own: Vec<f64> = members.iter().map(|&i| shares.get(i as usize).copied().unwrap_or(0.0)).collect();
        let has_limit = own.iter().any(|&share| share > 0.0);
        let modulus = match &rows[..] {
            [_] if has_limit => 0.0, // 1 − 1
            [row] => row.iter().map(|(_, weight)| weight).sum(),
            _ => {
                let limit = has_limit.then(|| limit(&own));
                let mut block = Block { mixed: vec![0.0; rows.len()], rows, limit };
                if block.vanishes() { 0.0 } else { spectrum::radius(&mut block)? }
            }
        };
        largest = largest.max(modulus);
    }
    Ok(largest)
}

/// right·leftᵀ.
#[derive(Debug)]
struct Limit {
    left: Vec<f64>,
    right: Vec<f64>,
}

/// What a component's agents make of each other's values, less the limit.
#[derive(Debug)]
struct Block {
    rows: Vec<Vec<(usize, f64)>>,
    limit: Option<Limit>,
    mixed: Vec<f64>,
}

impl Block {
    /// Whether it is zero to rounding, as where everyone hears everyone: a random vector is gone in one
    /// round.
    fn vanishes(&mut self) -> bool {
        let mut draws = Draws::new(1, Purpose::Graph, self.dim(), 0);
        let mut x: Vec<f64> = (0..self.dim()).map(|_| draws.normal()).collect();
        self.apply(&mut x, 1);
        x.iter().all(|x| x.abs() < 1e-13)
    }
}

impl LinearMap for Block {
    fn dim(&self) -> usize {
        self.rows.len()
    }

    fn apply(&mut self, x: &mut [f64], times: u64) {
        for _ in 0..times {
            for (mixed, row) in self.mixed.iter_mut().zip(&self.rows) {
                *mixed = row.iter().map(|&(from, weight)| weight * x[from]).sum();
            }
            if let Some(Limit { left, right }) = &self.limit {
                let mean: f64 = left.iter().zip(&*x).map(|(share, x)| share * x).sum();
                self.mixed.iter_mut().zip(right).for_each(|(mixed, share)| *mixed -= share * mean);
            }
            x.copy_from_slice(&self.mixed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::perron;
    use crate::graph::{Tree, families, weights};
    use std::f64::consts::PI;

    fn radii(r: &Mixing, c: &Mixing) -> [f64; 2] {
        [
            pull_radius(r, &perron::left(r).unwrap()).unwrap(),
            push_radius(c, &perron::right(c).unwrap()).unwrap(),
        ]
    }

    #[test]
    fn trees_are_exact_however_deep() {
        let ring = families::ring(300).unwrap();
        for (lazy, ρ) in [(false, 0.0), (true, 0.5)] {
            let r = weights::pull_tree(&Tree::pull(&ring, 7).unwrap(), lazy).unwrap();
            let c = weights::push_tree(&Tree::push(&ring, 7).unwrap(), lazy).unwrap();
            assert_eq!(radii(&r, &c), [ρ, ρ]);
        }
    }

    #[test]
    fn rings_and_complete_graphs_have_the_radii_of_the_book() {
        for n in [2, 3, 20, 200] {
            let ring = families::ring(n).unwrap();
            let both =
                radii(&weights::uniform_rows(&ring).unwrap(), &weights::uniform_columns(&ring).unwrap());
            // ½(1 + e^{2πi/n}) has modulus cos(π/n); two agents are linked both ways, and complete
            let ρ = if n == 2 { 0.0 } else { (PI / n as f64).cos() };
            both.iter().for_each(|found| assert!((found - ρ).abs() < 1e-8, "{n}: {found} for {ρ}"));
            let complete = families::complete(n).unwrap();
            let w = weights::uniform_rows(&complete).unwrap();
            assert_eq!(radii(&w, &w), [0.0, 0.0]);
        }
    }

    #[test]
    fn agents_below_a_root_class_count_with_their_own_blocks() {
        // 0 ⇄ 1 agree in one round; 2 ⇄ 3 below them keep two thirds among themselves
        let graph = Digraph::from_edges(4, [(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (0, 3)]).unwrap();
        let r = weights::uniform_rows(&graph).unwrap();
        let found = pull_radius(&r, &perron::left(&r).unwrap()).unwrap();
        assert!((found - 2.0 / 3.0).abs() < 1e-12, "{found}");
        let c = weights::uniform_columns(&graph.reversed()).unwrap();
        let found = push_radius(&c, &perron::right(&c).unwrap()).unwrap();
        assert!((found - 2.0 / 3.0).abs() < 1e-12, "{found}");
    }

    #[test]
    fn one_agent_agrees_with_itself() {
        assert_eq!(radii(&Mixing::complete(1), &Mixing::complete(1)), [0.0, 0.0]);
    }
}
