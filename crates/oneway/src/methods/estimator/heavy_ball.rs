//! The heavy ball: gradients add up and fade.

use super::{Estimator, EstimatorKind};
use crate::Result;
use crate::method::Local;
use crate::methods::{HEAVY_BALL, heavy_ball_coefficient};

/// m⁺ = βm + ∇F_i(x⁺; ξ⁺), from m₀ = ∇F_i(x₀; ξ₀). It is 1/(1−β) times as long as the mean that momentum keeps.
#[derive(Debug, Clone, PartialEq)]
pub struct HeavyBall {
    β: f64,
}

impl HeavyBall {
    /// A heavy ball with β ∈ [0, 1), for the method called `owner`; β = 0 is the gradient itself.
    pub fn new(owner: &str, β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient(owner, β)? })
    }
}

impl Estimator for HeavyBall {
    fn averages(&self) -> bool {
        false // m is not near ∇f_i, but near its multiple
    }

    fn first(&self, x: &[f64], m: &mut [f64], _memory: &mut [f64], local: &mut Local<'_>) {
        m.copy_from_slice(local.gradient(x));
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
        let g = local.gradient(x_next);
        g.iter_mut().zip(m).for_each(|(g, m)| *g += self.β * m); //   m⁺ = β m + g⁺
        g
    }
}

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "heavy-ball",
    about: "the newest gradient and a fading sum of the old ones",
    rule: "m⁺ = βm + ∇F_i(x⁺; ξ⁺)",
    parameters: &[HEAVY_BALL],
    build: |parameters| Ok(Box::new(HeavyBall::new("heavy-ball", parameters.real("heavy_ball")?)?)),
};
