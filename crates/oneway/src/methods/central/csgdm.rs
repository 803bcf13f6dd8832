//! CSGDM, centralised SGD with momentum.
//!
//! m⁺ = (1−λ)m + λḡ; x⁺ = x − ηm⁺, from m₀ = 0. In Sutskever's scaling μ = 1−λ and ε = ηλ.

use super::{Central, Descent};
use crate::Result;
use crate::method::At;
use crate::methods::{Kind, MOMENTUM, Trust, momentum_coefficient};
use crate::numeric::Real;

/// Along an exponential mean of the mean gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct MomentumDescent {
    λ: f64,
}

/// SGD with momentum on the mean gradient; state is (x, m, g).
pub type Csgdm = Central<MomentumDescent>;

impl Csgdm {
    /// CSGDM with momentum coefficient λ ∈ (0, 1]; λ = 1 is plain SGD.
    pub fn new(λ: f64) -> Result<Self> {
        Ok(Central::from_descent(MomentumDescent { λ: momentum_coefficient("CSGDM", λ)? }))
    }
}

impl Descent for MomentumDescent {
    type Memory<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "m", "g"];

    #[inline(always)]
    fn descend<S: Real>(&self, at: At<S>, x: S, m: S, mean: S) -> (S, S) {
        let λ = S::parameter("λ", self.λ);
        let m = (S::one() - λ) * m + λ * mean; //   m⁺ = (1−λ) m + λ ḡ
        (x - at.η * m, m) //                        x⁺ = x − η m⁺
    }
}

pub(in crate::methods) const KIND: Kind = Kind {
    reference: "Sutskever, Martens, Dahl & Hinton 2013",
    trust: Trust::A,
    parameters: &[MOMENTUM],
    ..Kind::new(
        "csgdm",
        "centralised SGD with momentum: the bound, as if everyone heard everyone",
        |parameters| Ok(Box::new(Csgdm::new(parameters.real("momentum")?)?)),
    )
};
