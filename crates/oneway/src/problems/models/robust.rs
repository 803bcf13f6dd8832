//! Robust regression: losses that grow slowly, or not at all, with a residual that is large already.

use super::{Model, Row};
use crate::{Error, Result};

/// How a residual r = aᵀx − b counts. Both are ½r² near zero, and neither is convex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobustLoss {
    /// ρ(r) = (c²/2)(1 − exp(−r²/c²)), bounded; ρ′(r) = r·exp(−r²/c²), |ρ′| ≤ c/√(2e), −2e^{−3/2} ≤ ρ″ ≤ 1.
    Welsch,
    /// ρ(r) = (c²/2) ln(1 + r²/c²); ρ′(r) = r/(1 + r²/c²), |ρ′| ≤ c/2, −⅛ ≤ ρ″ ≤ 1.
    Cauchy,
}

/// ℓ(x; a, b) = ρ(aᵀx − b) with scale c: residuals far beyond c count as outliers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Robust {
    features: usize,
    loss: RobustLoss,
    c_squared: f64,
}

impl Robust {
    /// A model of rows with so many features; c must be positive, with a square that is neither 0 nor infinite.
    pub fn new(features: usize, loss: RobustLoss, c: f64) -> Result<Self> {
        let c_squared = c * c;
        if !(c > 0.0 && c_squared.is_normal()) {
            let expected = "the residual beyond which a row counts as an outlier must be positive";
            return Err(Error::parameter("problem", "scale", c, expected));
        }
        Ok(Self { features, loss, c_squared })
    }
}

impl Model for Robust {
    fn features(&self) -> usize {
        self.features
    }

    fn dim(&self) -> usize {
        self.features
    }

    fn target(&self, label: f64) -> Result<f64> {
        Ok(label)
    }

    #[inline(always)]
    fn add_gradient(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) -> f64 {
        let residual = row.product(x) - target;
        let q = residual * residual / self.c_squared; // (r/c)²
        let (loss, weight) = match self.loss {
            RobustLoss::Welsch => {
                let below = -libm::expm1(-q); // 1 − e^−q without cancellation
                (below, 1.0 - below)
            }
            RobustLoss::Cauchy => (libm::log1p(q), 1.0 / (1.0 + q)),
        };
        let slope = residual * weight; // ρ′(r)
        row.entries().for_each(|(column, a)| g[column] += slope * a);
        0.5 * self.c_squared * loss
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }

    fn slope_sq(&self) -> Option<f64> {
        Some(match self.loss {
            RobustLoss::Welsch => self.c_squared / (2.0 * std::f64::consts::E),
            RobustLoss::Cauchy => self.c_squared / 4.0,
        })
    }
}
