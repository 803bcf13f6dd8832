//! Robust regression: losses that grow slowly, or not at all, with a residual that is large already.

use super::regression::{Regression, ResidualLoss};
use crate::problem::RowLoss;
use crate::{Error, Result};

/// How a residual r = aᵀx − b counts. Both are ½r² near zero, and neither is convex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RobustLoss {
    /// ρ(r) = (c²/2)(1 − exp(−r²/c²)), bounded; ρ′(r) = r·exp(−r²/c²), |ρ′| ≤ c/√(2e), −2e^{−3/2} ≤ ρ″ ≤ 1.
    Welsch,
    /// ρ(r) = (c²/2) ln(1 + r²/c²); ρ′(r) = r/(1 + r²/c²), |ρ′| ≤ c/2, −⅛ ≤ ρ″ ≤ 1.
    Cauchy,
}

/// A robust loss with its scale c: residuals far beyond c count as outliers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledLoss {
    loss: RobustLoss,
    c_squared: f64,
}

/// ℓ(x; a, b) = ρ(aᵀx − b) with a robust loss ρ of scale c.
pub type Robust = Regression<ScaledLoss>;

impl Robust {
    /// A model of rows with this many features; c must be positive, with a square that is neither 0 nor
    /// infinite.
    pub fn new(features: usize, loss: RobustLoss, c: f64) -> Result<Self> {
        let c_squared = c * c;
        if !(c > 0.0 && c_squared.is_normal()) {
            let expected = "the residual beyond which a row counts as an outlier must be positive";
            return Err(Error::parameter("problem", "scale", c, expected));
        }
        Ok(Self { features, loss: ScaledLoss { loss, c_squared } })
    }
}

impl ResidualLoss for ScaledLoss {
    #[inline(always)]
    fn at(&self, r: f64) -> (f64, f64) {
        let q = r * r / self.c_squared; // (r/c)²
        let (loss, weight) = match self.loss {
            RobustLoss::Welsch => {
                let below = -libm::expm1(-q); // 1 − e^−q without cancellation
                (below, 1.0 - below)
            }
            RobustLoss::Cauchy => (libm::log1p(q), 1.0 / (1.0 + q)),
        };
        (0.5 * self.c_squared * loss, r * weight) // ρ(r), ρ′(r)
    }

    #[inline(always)]
    fn slope(&self, r: f64) -> f64 {
        match self.loss {
            RobustLoss::Welsch => self.at(r).1,
            RobustLoss::Cauchy => r * (1.0 / (1.0 + r * r / self.c_squared)), // no logarithm
        }
    }

    fn describe(&self) -> Option<RowLoss> {
        let scale_sq = self.c_squared;
        Some(match self.loss {
            RobustLoss::Welsch => RowLoss::Welsch { scale_sq },
            RobustLoss::Cauchy => RowLoss::Cauchy { scale_sq },
        })
    }

    fn slope_sq(&self) -> Option<f64> {
        Some(match self.loss {
            RobustLoss::Welsch => self.c_squared / (2.0 * std::f64::consts::E),
            RobustLoss::Cauchy => self.c_squared / 4.0,
        })
    }
}
