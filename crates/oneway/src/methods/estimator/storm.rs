//! STORM (Cutkosky & Orabona 2019): momentum that corrects itself as the point moves.

use super::{Estimator, EstimatorKind};
use crate::Result;
use crate::method::Ask;
use crate::methods::{MOMENTUM, momentum_coefficient};
use crate::numeric::Real;
use crate::parameters::Parameter;

/// d⁺ = ∇F_i(x⁺; ξ⁺) + (1−a)(d − ∇F_i(x; ξ⁺)), from d₀ = ∇F_i(x₀; ξ₀).
///
/// The two gradients have *one* sample: what the old estimate lacks because x has moved is made good by their
/// difference. Its memory is the gradient at the old point.
#[derive(Debug, Clone, PartialEq)]
pub struct Storm {
    a: f64,
}

impl Storm {
    /// STORM with a ∈ (0, 1], for the method called `owner`; a = 1 is the gradient itself.
    pub fn new(owner: &str, a: f64) -> Result<Self> {
        Ok(Self { a: momentum_coefficient(owner, a)? })
    }
}

impl Estimator for Storm {
    type Memory<S: Real> = S;

    fn asks(&self) -> [Ask; 2] {
        [Ask::ONE, Ask::BothPoints]
    }

    #[inline(always)]
    fn first<S: Real>(&self, _x: S, [g, _]: [S; 2]) -> (S, S) {
        (g, g)
    }

    #[inline(always)]
    fn next<S: Real>(&self, _x: S, m: S, _memory: S, [g, g_old]: [S; 2]) -> (S, S) {
        let a = S::parameter("a", self.a);
        (g + (S::one() - a) * (m - g_old), g_old) // d⁺ = g(x⁺; ξ⁺) + (1−a)(d − g(x; ξ⁺))
    }
}

/// a, which is to STORM what λ is to momentum.
pub(in crate::methods) const STORM: Parameter =
    Parameter { about: "a in (0, 1], the share of the old estimate that is dropped in a round", ..MOMENTUM };

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "storm",
    about: "STORM: momentum with a correction for how the point has moved",
    rule: "m⁺ = ∇F_i(x⁺; ξ⁺) + (1−a)(m − ∇F_i(x; ξ⁺))",
    parameters: &[STORM],
    build: |parameters| Ok(Storm::new("storm", parameters.real("momentum")?)?.into()),
};
