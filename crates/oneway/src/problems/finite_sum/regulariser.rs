//! What is added to the loss to keep x small.

use crate::numeric::vectors::widest;
use crate::problem::Penalty;
use crate::{Error, Result};

/// φ(x), with weight α ≥ 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Regulariser {
    /// φ(x) = (α/2) Σ_k x_k².
    Ridge(f64),
    /// φ(x) = α Σ_k x_k²/(1 + x_k²), the paper's: not convex, and never above α for a coordinate.
    NonConvex(f64),
}

impl Regulariser {
    pub(super) fn check(self) -> Result<()> {
        let (Self::Ridge(α) | Self::NonConvex(α)) = self;
        match α >= 0.0 && α.is_finite() {
            true => Ok(()),
            false => {
                Err(Error::parameter("problem", "alpha", α, "the regulariser's weight must be 0 or more"))
            }
        }
    }

    pub(super) fn describe(self) -> Penalty {
        match self {
            Self::Ridge(α) => Penalty::Ridge(α),
            Self::NonConvex(α) => Penalty::NonConvex(α),
        }
    }

    /// φ(x).
    #[inline(always)]
    pub(super) fn value(self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        match self {
            Self::Ridge(α) => x.iter().for_each(|x| sum += 0.5 * α * (x * x)),
            Self::NonConvex(α) => x.iter().for_each(|x| sum += α * (x * x) / (1.0 + x * x)),
        }
        sum
    }

    /// From a sum over `rows` rows to the gradient: g ← g/rows + ∇φ(x).
    pub(super) fn finish_gradient(self, x: &[f64], rows: usize, g: &mut [f64]) {
        widest(
            #[inline(always)]
            || self.finish_gradient_here(x, rows, g),
        );
    }

    /// The same, compiled into its caller, for the vectors that the caller is compiled for.
    #[inline(always)]
    pub(super) fn finish_gradient_here(self, x: &[f64], rows: usize, g: &mut [f64]) {
        let per_row = 1.0 / rows as f64;
        self.with_slopes(x, g, |g, slope| g * per_row + slope);
    }

    /// g ← 0 + ∇φ(x): the gradient of a row that enters no column. Adding a row's own then gives the bits of
    /// [`finish_gradient`](Self::finish_gradient) with one row, since a + b = b + a and a·1 = a.
    #[inline(always)]
    pub(super) fn put_gradient(self, x: &[f64], g: &mut [f64]) {
        self.with_slopes(x, g, |_, slope| 0.0 + slope);
    }

    /// g_k ← of(g_k, ∂φ/∂x_k).
    #[inline(always)]
    fn with_slopes(self, x: &[f64], g: &mut [f64], of: impl Fn(f64, f64) -> f64) {
        match self {
            Self::Ridge(α) => {
                for (g, x) in g.iter_mut().zip(x) {
                    *g = of(*g, α * x);
                }
            }
            Self::NonConvex(α) => {
                for (g, x) in g.iter_mut().zip(x) {
                    let q = 1.0 + x * x;
                    *g = of(*g, 2.0 * α * x / (q * q)); // (x²/(1+x²))′ = 2x/(1+x²)²
                }
            }
        }
    }

    /// The largest |φ″| of a coordinate, which is that at 0; 2α(1 − 3x²)/(1 + x²)³ is at least −α/2.
    pub(super) fn curvature(self) -> f64 {
        match self {
            Self::Ridge(α) => α,
            Self::NonConvex(α) => 2.0 * α,
        }
    }
}
