//! Momentum: an exponential mean of the gradients.

use super::{Estimator, EstimatorKind};
use crate::Result;
use crate::method::Ask;
use crate::methods::{MOMENTUM, momentum_coefficient};
use crate::numeric::Real;

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
    type Memory<S: Real> = ();

    fn asks(&self) -> [Ask; 2] {
        [Ask::Nothing, Ask::ONE]
    }

    #[inline(always)]
    fn first<S: Real>(&self, _x: S, _g: [S; 2]) -> (S, ()) {
        (S::zero(), ())
    }

    #[inline(always)]
    fn next<S: Real>(&self, _x: S, m: S, _memory: (), [g, _]: [S; 2]) -> (S, ()) {
        let λ = S::parameter("λ", self.λ);
        ((S::one() - λ) * m + λ * g, ()) // m⁺ = (1−λ) m + λ g⁺
    }
}

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "momentum",
    about: "an exponential mean of the gradients, from zero",
    rule: "m⁺ = (1−λ)m + λ∇F_i(x⁺; ξ⁺)",
    parameters: &[MOMENTUM],
    build: |parameters| Ok(Momentum::new("momentum", parameters.real("momentum")?)?.into()),
};
