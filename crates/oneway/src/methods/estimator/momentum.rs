//! Momentum: an exponential mean of the gradients.

use super::{Estimator, EstimatorKind};
use crate::Result;
use crate::method::Local;
use crate::methods::{MOMENTUM, momentum_coefficient};

/// m⁺ = (1−λ)m + λ∇F_i(x⁺; ξ⁺), from m₀ = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Momentum {
    λ: f64,
}

impl Momentum {
    /// Momentum with coefficient λ ∈ (0, 1], for the method called `owner`.
    pub fn new(owner: &str, λ: f64) -> Result<Self> {
        Ok(Self { λ: momentum_coefficient(owner, λ)? })
    }
}

impl Estimator for Momentum {
    fn first(&self, _x: &[f64], m: &mut [f64], _memory: &mut [f64], _local: &mut Local<'_>) {
        m.fill(0.0);
    }

    #[inline(always)]
    fn next<'l>(
        &self,
        _x: &[f64],
        x_next: &[f64],
        m: &[f64],
        _memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        let λ = self.λ;
        let g = local.gradient(x_next);
        for (g, m) in g.iter_mut().zip(m) {
            *g = (1.0 - λ) * m + λ * *g; //   m⁺ = (1−λ) m + λ g⁺
        }
        g
    }
}

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "momentum",
    about: "an exponential mean of the gradients, from zero",
    rule: "m⁺ = (1−λ)m + λ∇F_i(x⁺; ξ⁺)",
    parameters: &[MOMENTUM],
    build: |parameters| Ok(Box::new(Momentum::new("momentum", parameters.real("momentum")?)?)),
};
