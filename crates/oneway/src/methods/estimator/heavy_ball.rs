//! The heavy ball: gradients add up and fade.

use super::{Estimator, EstimatorKind};
use crate::Result;
use crate::methods::{HEAVY_BALL, heavy_ball_coefficient};
use crate::numeric::Real;

/// m⁺ = βm + ∇F_i(x⁺; ξ⁺), from m₀ = ∇F_i(x₀; ξ₀). It is 1/(1−β) times as long as the mean that momentum
/// keeps.
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
    type Memory<S: Real> = ();

    fn averages(&self) -> bool {
        false // m is not near ∇f_i, but near its multiple
    }

    #[inline(always)]
    fn first<S: Real>(&self, _x: S, [g, _]: [S; 2]) -> (S, ()) {
        (g, ())
    }

    #[inline(always)]
    fn next<S: Real>(&self, _x: S, m: S, _memory: (), [g, _]: [S; 2]) -> (S, ()) {
        (g + S::parameter("β", self.β) * m, ()) // m⁺ = β m + g⁺
    }
}

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "heavy-ball",
    about: "the newest gradient and a fading sum of the old ones",
    rule: "m⁺ = βm + ∇F_i(x⁺; ξ⁺)",
    parameters: &[HEAVY_BALL],
    build: |parameters| Ok(HeavyBall::new("heavy-ball", parameters.real("heavy_ball")?)?.into()),
};
