//! Adam (Kingma & Ba 2015) on the mean gradient.
//!
//! m⁺ = β₁m + (1−β₁)ḡ; v⁺ = β₂v + (1−β₂)ḡ²; x⁺ = x − η·m̂/(√v̂ + ε), with m̂ = m⁺/(1−β₁^t), v̂ = v⁺/(1−β₂^t)
//! and t the number of the step, from m₀ = v₀ = 0. A step is at most about η in each coordinate, so no η
//! makes it diverge; and with a constant η it does not settle, but stays within about η of the minimiser.

use super::{Central, Descent};
use crate::Result;
use crate::method::{At, OfRound};
use crate::methods::{Kind, Trust};
use crate::numeric::Real;
use crate::parameters::{Parameter, Parameters};

/// Along the mean of the gradients, scaled by the mean of their squares.
#[derive(Debug, Clone, PartialEq)]
pub struct AdamDescent {
    β_1: f64,
    β_2: f64,
    ε: f64,
}

/// Adam on the mean gradient; state is (x, m, v, g).
pub type Adam = Central<AdamDescent>;

impl AdamDescent {
    fn from_parameters(parameters: &Parameters) -> Result<Self> {
        let share = |name| {
            parameters.real_where(name, |β| (0.0..1.0).contains(&β), "the coefficient must be in [0, 1)")
        };
        Ok(Self {
            β_1: share("beta1")?,
            β_2: share("beta2")?,
            ε: parameters.real_where("epsilon", |ε| ε > 0.0, "ε must be positive")?,
        })
    }
}

impl Descent for AdamDescent {
    type Memory<S: Real> = [S; 2];
    const NAMES: &'static [&'static str] = &["x", "m", "v", "g"];

    /// 1 − β^t of the t-th step.
    #[inline(always)]
    fn constants(&self) -> [OfRound; 2] {
        [self.β_1, self.β_2].map(OfRound::OneMinusPower)
    }

    #[inline(always)]
    fn descend<S: Real>(&self, at: At<S>, x: S, [m, v]: [S; 2], g: S) -> (S, [S; 2]) {
        let [β_1, β_2] = [S::parameter("β₁", self.β_1), S::parameter("β₂", self.β_2)];
        let [unbias_m, unbias_v] = at.constants;
        let m = β_1 * m + (S::one() - β_1) * g; //         m⁺ = β₁ m + (1−β₁) ḡ
        let v = β_2 * v + (S::one() - β_2) * (g * g); //   v⁺ = β₂ v + (1−β₂) ḡ²
        // x⁺ = x − η m̂/(√v̂ + ε)
        (x - at.η * (m / unbias_m) / ((v / unbias_v).sqrt() + S::parameter("ε", self.ε)), [m, v])
    }
}

pub(in crate::methods) const KIND: Kind = Kind {
    reference: "Kingma & Ba 2015",
    trust: Trust::A,
    parameters: &[
        Parameter::number("beta1", "β₁ in [0, 1), what is kept of the mean", 0.9),
        Parameter::number("beta2", "β₂ in [0, 1), what is kept of the squares", 0.999),
        Parameter::number("epsilon", "ε > 0, added to the root of the squares", 1e-8),
    ],
    ..Kind::new("adam", "centralised Adam: as if everyone heard everyone", |parameters| {
        Ok(Box::new(Central::from_descent(AdamDescent::from_parameters(parameters)?)))
    })
};
