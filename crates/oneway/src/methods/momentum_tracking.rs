//! Momentum Tracking (Takezawa, Bao, Niwa, Sato & Yamada 2023).
//!
//! U⁺ = βU + G; X⁺ = WX − η(U⁺ − C); C⁺ = W(C − U⁺) + U⁺, from U₀ = C₀ = 0. The correction C makes up for the
//! difference of data. With V = U⁺ − C it needs no code of its own:
//!
//! V⁺ = U⁺⁺ − C⁺ = U⁺⁺ − U⁺ + W(U⁺ − C) = WV + U⁺⁺ − U⁺, from V₀ = U₁ = G₀,
//!
//! and X⁺ = WX − ηV: gradient tracking that combines first, with a heavy ball for the gradient. (1/n)ΣV =
//! (1/n)ΣU⁺, which is the authors' (1/n)ΣC = 0. β = 0 is gradient tracking itself. A doubly stochastic W is
//! all that the rule asks for.

use crate::methods::estimator::HeavyBall;
use crate::methods::{Ab, HEAVY_BALL, Kind, ab};

pub(super) const KIND: Kind = Kind {
    name: "momentum-tracking",
    about: "Momentum Tracking: gradient tracking of a heavy ball",
    reference: "Takezawa, Bao, Niwa, Sato & Yamada 2023",
    parameters: &[HEAVY_BALL],
    build: |parameters| {
        let heavy_ball = HeavyBall::new("Momentum Tracking", parameters.real("heavy_ball")?)?;
        Ok(Box::new(Ab::new(heavy_ball, 0.0)?.balanced()))
    },
    with_estimator: None,
    ..ab::GT
};
