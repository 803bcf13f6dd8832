//! AdaMDOS (Huang & Zhao 2024): steps scaled by the size of past gradients, along a tracked STORM estimate.
//!
//! In state k an agent has x_k, u_k, w_k and a_k. A round makes of them
//!
//! - x̃ = Wx − γw/(√a + ρ), coordinate by coordinate; x⁺ = x + ι(x̃ − x)
//! - u⁺ = ∇F(x⁺; ξ⁺) + (1−β)(u − ∇F(x; ξ⁺)), two gradients with one sample
//! - a⁺ = ϱa + (1−ϱ)∇F(x⁺; ξ⁺)²
//! - w⁺ = Ww + u⁺ − u
//!
//! from u₀ = w₀ = ∇F(x₀; ξ₀) and a₀ = (1−ϱ)∇F(x₀; ξ₀)², as if a were zero before. γ is the schedule's step;
//! the authors' η is ι here. (1/n)Σw = (1/n)Σu always, as W is doubly stochastic, which is all that the rule
//! asks of it.
//!
//! Written from memory of the paper. Tested: with ϱ = 1, β = 1 and ι = 1 it is gradient tracking (Qu & Li)
//! with the step γ/ρ; with ϱ = 1 and ι = 1 it is the same with the STORM estimator; all agents come to rest
//! only where w = 0 and all x are equal, hence at ∇F = 0, whatever the scales of the agents are. Not
//! verified: the start, whether the authors use a⁺ in place of a in the same round, and whether trackers are
//! mixed before u⁺ − u is added, as here, or after, W(w + u⁺ − u), which would take a second exchange a
//! round: of the paper no more than the abstract could be had, and there is no public code.

use crate::Result;
use crate::method::{Ask, At, Mail, Network, Profile, Roles, Rule};
use crate::methods::estimator::STORM;
use crate::methods::{Kind, Trust, momentum_coefficient};
use crate::numeric::Real;
use crate::parameters::{Parameter, Parameters};

/// Adaptive steps along a tracked STORM estimate; state is (x, w, u, a), x⁺ while it is worked out, and the
/// gradient at x with the new sample.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaMdos {
    β: f64,
    /// ϱ.
    keep: f64,
    ρ: f64,
    ι: f64,
}

impl AdaMdos {
    fn from_parameters(parameters: &Parameters) -> Result<Self> {
        Ok(Self {
            β: momentum_coefficient("AdaMDOS", parameters.real("momentum")?)?,
            keep: parameters.real_where(
                "decay",
                |keep| (0.0..=1.0).contains(&keep),
                "ϱ must be in [0, 1]",
            )?,
            ρ: parameters.real_where(
                "offset",
                |ρ| ρ > 0.0,
                "ρ must be positive: no step is divided by less",
            )?,
            ι: parameters.real_where("mixing", |ι| ι > 0.0 && ι <= 1.0, "ι must be in (0, 1]")?,
        })
    }

    /// x⁺ = x + ι (x̃ − x), x̃ = Σ_j W_ij x_j − γ w/(√a + ρ).
    #[inline(always)]
    fn moved<S: Real>(&self, at: At<S>, [x, w, a]: [S; 3], w_x: S) -> S {
        let goal = w_x - at.η * w / (a.sqrt() + S::parameter("ρ", self.ρ));
        x + S::parameter("ι", self.ι) * (goal - x)
    }

    /// (1−ϱ) g².
    #[inline(always)]
    fn square<S: Real>(&self, g: S) -> S {
        (S::one() - S::parameter("ϱ", self.keep)) * (g * g)
    }
}

impl Rule for AdaMdos {
    type State<S: Real> = [S; 6];
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "w", "u", "a"];

    fn profile(&self) -> Profile {
        Profile::new(Network::Balanced).asking(Ask::ONE, Ask::BothPoints).with_roles(Roles::tracking(true))
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, [g, _]: [S; 2]) -> [S; 6] {
        [x, g, g, self.square(g), x, g]
    }

    #[inline(always)]
    fn send<S: Real>(&self, _: At<S>, [x, w, ..]: [S; 6]) -> Mail<S, S> {
        Mail { pull: x, push: w }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, [x, w, _u, a, ..]: [S; 6], heard: Mail<S, S>) -> [S; 2] {
        [self.moved(at, [x, w, a], heard.pull), x]
    }

    #[inline(always)]
    fn update<S: Real>(&self, at: At<S>, [x, w, u, a, ..]: [S; 6], heard: Mail<S, S>, g: [S; 2]) -> [S; 6] {
        let ([g, g_old], x_next) = (g, self.moved(at, [x, w, a], heard.pull));
        let a_next = S::parameter("ϱ", self.keep) * a + self.square(g); //           a⁺ = ϱ a + (1−ϱ) g(x⁺; ξ⁺)²
        let u_next = g + (S::one() - S::parameter("β", self.β)) * (u - g_old); //    u⁺ = g(x⁺; ξ⁺) + (1−β)(u − g(x; ξ⁺))
        [x_next, heard.push + (u_next - u), u_next, a_next, x_next, g_old] //        w⁺ = Σ_j W_ij w_j + u⁺ − u
    }
}

pub(super) const KIND: Kind = Kind {
    reference: "Huang & Zhao 2024",
    trust: Trust::C,
    parameters: &[
        STORM,
        Parameter::number("decay", "ϱ in [0, 1], what is kept of the squares", 0.9),
        Parameter::number("offset", "ρ > 0, added to the root of the squares", 0.5),
        Parameter::number("mixing", "ι in (0, 1], the share of a step that is taken", 0.9),
    ],
    ..Kind::new("adamdos", "AdaMDOS: adaptive steps along a tracked STORM estimate", |parameters| {
        Ok(Box::new(AdaMdos::from_parameters(parameters)?))
    })
};
