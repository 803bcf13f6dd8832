//! STORM (Cutkosky & Orabona 2019): momentum that corrects itself as the point moves.

use super::{Estimator, EstimatorKind};
use crate::Result;
use crate::method::Local;
use crate::methods::{MOMENTUM, momentum_coefficient};
use crate::parameters::Parameter;
use crate::problem::Problem;

/// d⁺ = ∇F_i(x⁺; ξ⁺) + (1−a)(d − ∇F_i(x; ξ⁺)), from d₀ = ∇F_i(x₀; ξ₀).
///
/// The two gradients have *one* sample: what the old estimate lacks because x has moved is made good by their difference. Its
/// memory is the gradient at the old point.
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
    fn memory(&self, _problem: &dyn Problem) -> usize {
        1
    }

    fn first(&self, x: &[f64], d: &mut [f64], memory: &mut [f64], local: &mut Local<'_>) {
        d.copy_from_slice(local.gradient(x));
        memory.copy_from_slice(d);
    }

    #[inline(always)]
    fn next<'l>(
        &self,
        x: &[f64],
        x_next: &[f64],
        d: &[f64],
        g_old: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        let keep = 1.0 - self.a;
        let g = local.gradients(x_next, x, g_old);
        for ((g, d), g_old) in g.iter_mut().zip(d).zip(g_old) {
            *g += keep * (d - *g_old); //   d⁺ = g(x⁺; ξ⁺) + (1−a)(d − g(x; ξ⁺))
        }
        g
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
    build: |parameters| Ok(Box::new(Storm::new("storm", parameters.real("momentum")?)?)),
};
