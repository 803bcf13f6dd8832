//! Second derivatives: how curved the loss is at most, and how it is curved at a point.
//!
//! At most: an upper bound on λ_max(AᵀA/m) of an agent's rows A, by products with the sparse rows alone: no
//! d×d matrix.
//!
//! Two bounds, of which the smaller is taken:
//!
//! * **Collatz and Wielandt.** G = |A|ᵀ|A|/m is non-negative, so for every x > 0, λ_max(AᵀA/m) ≤ ρ(G) ≤ max_k
//!   (Gx)_k/x_k. Power iteration drives x to where the second inequality is an equality. For data without
//!   negative values so is the first, and the bound is exact except for the iteration's tolerance. It holds
//!   whatever x is, converged or not.
//! * **Power iteration with a margin**, for data of both signs, where the first inequality may be loose. From
//!   a random direction, k steps find a Rayleigh quotient θ with λ_max ≤ θ/(1 − ε) except for a probability
//!   of at most 0.354/√(ε(k−1))·√d·(1 − ε)^(k−½) (Kuczyński and Woźniakowski 1992, Theorem 4.1). With k =
//!   1,000 and ε = 0.02 that is below 10⁻⁸ for up to 5,000 features. The start is a fixed stream, so that the
//!   answer is always the same.

use std::ops::Range;

use super::kernels::slope;
use crate::data::SparseRows;
use crate::data::rows::{Entries, Kernel};
use crate::numeric::sample::{Draws, Purpose};

/// Collatz and Wielandt's two sides must agree to this.
const TOLERANCE: f64 = 1e-12;
/// …or this many steps must have been done.
const STEPS: usize = 1000;
/// ε of the power iteration.
const MARGIN: f64 = 0.02;
/// Sums of rounded non-negative terms are off by far less than this.
const ROUNDING: f64 = 1e-12;

/// An upper bound on λ_max(AᵀA/m), A the given rows; 0 for rows without entries. O(entries) for each step.
pub(in crate::problems) fn largest_eigenvalue(data: &SparseRows, rows: Range<usize>, features: usize) -> f64 {
    let signed = rows.clone().flat_map(|r| data.row(r)).any(|(_, value)| value < 0.0);
    let bound = collatz_wielandt(data, rows.clone(), features);
    match signed {
        true => bound.min(power_with_margin(data, rows, features)),
        false => bound,
    }
}

/// The smallest of max_k (Gx)_k/x_k over the power iteration from x = 1, G = |A|ᵀ|A|/m.
fn collatz_wielandt(data: &SparseRows, rows: Range<usize>, features: usize) -> f64 {
    let (mut x, mut y) = (vec![1.0; features], vec![0.0; features]);
    let mut bound = f64::INFINITY;
    for _ in 0..STEPS {
        y.fill(0.0);
        data.with(AddGram { rows: rows.clone(), value: f64::abs, x: &x, y: &mut y });
        // columns without entries have y = 0 and no say
        let ratios = || x.iter().zip(&y).map(|(x, y)| y / x).filter(|&ratio| ratio > 0.0);
        let highest = ratios().fold(0.0, f64::max);
        bound = bound.min(highest);
        if ratios().fold(f64::INFINITY, f64::min) >= highest * (1.0 - TOLERANCE) || highest == 0.0 {
            break;
        }
        // any positive x will do: one that would vanish is kept from it
        let largest = y.iter().copied().fold(0.0, f64::max);
        x.iter_mut().zip(&y).for_each(|(x, y)| *x = (y / largest).max(1e-100));
    }
    bound * (1.0 + ROUNDING) / rows.len() as f64
}

/// θ/(1 − ε) after STEPS steps, θ = ‖Ax‖²/‖x‖²/m.
fn power_with_margin(data: &SparseRows, rows: Range<usize>, features: usize) -> f64 {
    let mut draws = Draws::new(0, Purpose::Noise, rows.start, 0);
    let (mut x, mut y) = (vec![0.0; features], vec![0.0; features]);
    draws.normals(&mut x);
    let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
    let mut θ = 0.0;
    for _ in 0..STEPS {
        let length = norm(&x);
        x.iter_mut().for_each(|x| *x /= length);
        y.fill(0.0);
        data.with(AddGram { rows: rows.clone(), value: |a| a, x: &x, y: &mut y });
        θ = x.iter().zip(&y).map(|(x, y)| x * y).sum();
        if norm(&y) == 0.0 {
            return 0.0; // a random direction is orthogonal to no row but one without entries
        }
        std::mem::swap(&mut x, &mut y);
    }
    θ / (1.0 - MARGIN) / rows.len() as f64
}

/// y ← y + Σ_r a_r(a_rᵀx), with every entry of a_r passed through `value`.
struct AddGram<'a, V> {
    rows: Range<usize>,
    value: V,
    x: &'a [f64],
    y: &'a mut [f64],
}

impl<V: Fn(f64) -> f64> Kernel for AddGram<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        for r in self.rows {
            let product: f64 = entries.row(r).map(|(column, a)| (self.value)(a) * self.x[column]).sum();
            for (column, a) in entries.row(r) {
                self.y[column] += product * (self.value)(a);
            }
        }
    }
}

/// Σ_r s(1 − s)·aaᵀ, Σ_r s²·aaᵀ and Σ_r −y·s·a, with s = σ(−z), z = y aᵀx, of the given rows.
pub(super) struct AddOuterProducts<'a> {
    pub(super) labels: &'a [i8],
    pub(super) rows: Range<usize>,
    pub(super) x: &'a [f64],
    /// d×d, d×d and d numbers.
    pub(super) sums: [&'a mut [f64]; 3],
}

impl Kernel for AddOuterProducts<'_> {
    type Output = ();

    fn run<E: Entries>(self, entries: E) {
        let ([hessian, squares, mean], d) = (self.sums, self.x.len());
        for r in self.rows {
            let c = slope(entries, self.labels, r, self.x); // −y·s
            let s = c.abs();
            for (j, a_j) in entries.row(r) {
                mean[j] += c * a_j;
                for (k, a_k) in entries.row(r) {
                    let product = a_j * a_k;
                    hessian[j * d + k] += s * (1.0 - s) * product;
                    squares[j * d + k] += s * s * product;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(dense: &[&[f64]]) -> SparseRows {
        let mut rows = SparseRows::new();
        for row in dense {
            let entries = (0..).zip(row.iter().copied()).filter(|(_, value)| *value != 0.0);
            rows.push(entries);
        }
        rows
    }

    fn λ_max(dense: &[&[f64]]) -> f64 {
        largest_eigenvalue(&rows(dense), 0..dense.len(), dense[0].len())
    }

    #[test]
    fn small_matrices_by_hand() {
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 1e-9, "{found} is not {expected}");
        };
        near(λ_max(&[&[3.0, 4.0]]), 25.0); // ‖a‖²
        near(λ_max(&[&[2.0, 0.0, 0.0], &[0.0, 3.0, 0.0]]), 4.5); // two blocks, and a column without entries
        near(λ_max(&[&[1.0, 1.0], &[1.0, 0.0]]), (3.0 + 5f64.sqrt()) / 4.0); // [[2, 1], [1, 1]]/2
        near(λ_max(&[&[1.0, -1.0]]), 2.0); // a change of signs makes it non-negative: |A| loses nothing
        assert_eq!(λ_max(&[&[0.0, 0.0]]), 0.0);
    }

    #[test]
    fn signs_that_cancel_are_not_counted_as_if_they_did_not() {
        // AᵀA/2 = I, |A|ᵀ|A|/2 = 11ᵀ with the eigenvalue 2
        let found = λ_max(&[&[1.0, 1.0], &[1.0, -1.0]]);
        assert!((1.0..=1.0 / (1.0 - MARGIN) + 1e-12).contains(&found), "{found}");
    }

    #[test]
    fn the_bound_holds_on_random_data_of_both_signs() {
        for seed in 0..20 {
            let mut draws = Draws::new(seed, Purpose::Problem, 0, 0);
            let dense: Vec<Vec<f64>> = (0..30).map(|_| (0..8).map(|_| draws.normal()).collect()).collect();
            let dense: Vec<&[f64]> = dense.iter().map(Vec::as_slice).collect();
            // trace((AᵀA/m)⁶⁴)^(1/64) ≥ λ_max, within 8^(1/64), by squaring six times
            let mut gram = vec![vec![0.0; 8]; 8];
            for (j, k) in (0..64).map(|jk| (jk / 8, jk % 8)) {
                gram[j][k] = dense.iter().map(|row| row[j] * row[k]).sum::<f64>() / 30.0;
            }
            for _ in 0..6 {
                let square = |j: usize, k: usize| (0..8).map(|l| gram[j][l] * gram[l][k]).sum();
                gram = (0..8).map(|j| (0..8).map(|k| square(j, k)).collect()).collect();
            }
            let above = (0..8).map(|k| gram[k][k]).sum::<f64>().powf(1.0 / 64.0);
            let below = above * 8f64.powf(-1.0 / 64.0);
            let found = λ_max(&dense);
            assert!(
                found >= below && found <= above * (1.0 + 1e-12) / (1.0 - MARGIN),
                "{below} {found} {above}"
            );
        }
    }
}
