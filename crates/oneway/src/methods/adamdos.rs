//! AdaMDOS (Huang & Zhao 2024): steps scaled by the size of past gradients, along a tracked STORM estimate.
//!
//! In state k an agent has x_k, u_k, w_k and a_k. A round makes of them
//!
//! - x̃ = Wx − γw/(√a + ρ), coordinate by coordinate; x⁺ = x + ι(x̃ − x)
//! - u⁺ = ∇F(x⁺; ξ⁺) + (1−β)(u − ∇F(x; ξ⁺)), two gradients with one sample
//! - a⁺ = ϱa + (1−ϱ)∇F(x⁺; ξ⁺)²
//! - w⁺ = Ww + u⁺ − u
//!
//! from u₀ = w₀ = ∇F(x₀; ξ₀) and a₀ = (1−ϱ)∇F(x₀; ξ₀)², as if a were zero before. γ is the schedule's step; the authors' η is ι
//! here. (1/n)Σw = (1/n)Σu always, as W is doubly stochastic, which is all that the rule asks of it.
//!
//! Written from memory of the paper. Tested: with ϱ = 1, β = 1 and ι = 1 it is gradient tracking (Qu & Li) with the step
//! γ/ρ; with ϱ = 1 and ι = 1 it is the same with the STORM estimator; all agents come to rest only where w = 0 and all x are
//! equal, hence at ∇F = 0, whatever the scales of the agents are. Not verified: the start, whether the authors use a⁺ in
//! place of a in the same round, and whether trackers are mixed before u⁺ − u is added, as here, or after, W(w + u⁺ − u), which would take
//! a second exchange a round: of the paper no more than the abstract could be had, and there is no public code.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::STORM;
use crate::methods::{Kind, Trust, momentum_coefficient, track};
use crate::parameters::{Parameter, Parameters};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Adaptive steps along a tracked STORM estimate; state is (x, w, u, a), x⁺ while it is worked out, and the gradient at x with
/// the new sample.
#[derive(Debug, Clone, PartialEq)]
pub struct AdaMdos {
    β: f64,
    /// ϱ.
    keep: f64,
    ρ: f64,
    ι: f64,
}

impl AdaMdos {
    fn of(parameters: &Parameters) -> Result<Self> {
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
}

impl Method for AdaMdos {
    fn layout(&self, _problem: &dyn Problem) -> Layout {
        Layout { state: Width::vectors(6), pull: Width::vectors(1), push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        Network::Balanced
    }

    fn roles(&self) -> Roles {
        Roles {
            tracker: Some(1),
            tracked: Some(2),
            momentum: Some(2),
            tracker_sent: Some(0),
            ..Roles::default()
        }
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, w, u, a, x_next, g_old], []) = row::split_mut(state);
        local.start(x);
        u.copy_from_slice(local.gradient(x));
        w.copy_from_slice(u);
        a.iter_mut().zip(&*u).for_each(|(a, g)| *a = (1.0 - self.keep) * (g * g));
        x_next.copy_from_slice(x);
        g_old.copy_from_slice(u);
    }

    #[inline(always)]
    fn send(&self, _at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, w], _) = row::split_head_mut(state, pull.len());
        pull.copy_from_slice(x);
        push.copy_from_slice(w);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let Self { β, keep, ρ, ι } = *self;
        let ([x, w, u, a, x_next, g_old], []) = row::split_mut(state);
        for ((((x_next, x), w_x), w), a) in x_next.iter_mut().zip(&*x).zip(pulled).zip(&*w).zip(&*a) {
            let goal = w_x - at.η * w / (a.sqrt() + ρ); //          x̃ = Σ_j W_ij x_j − γ w/(√a + ρ)
            *x_next = x + ι * (goal - x); //                        x⁺ = x + ι (x̃ − x)
        }
        let g = local.gradients(x_next, x, g_old); //             g(x⁺; ξ⁺) and g(x; ξ⁺)
        for (((g, g_old), u), a) in g.iter_mut().zip(g_old).zip(&*u).zip(a) {
            *a = keep * *a + (1.0 - keep) * (*g * *g); //               a⁺ = ϱ a + (1−ϱ) g(x⁺; ξ⁺)²
            *g += (1.0 - β) * (u - *g_old); //                    u⁺ = g(x⁺; ξ⁺) + (1−β)(u − g(x; ξ⁺))
        }
        track(w, pushed, u, g); //                                w⁺ = Σ_j W_ij w_j + u⁺ − u
        x.copy_from_slice(x_next);
    }
}

pub(super) const KIND: Kind = Kind {
    name: "adamdos",
    about: "AdaMDOS: adaptive steps along a tracked STORM estimate",
    rule: "X̃ = WX − γW̄/(√A + ρ); X⁺ = X + ι(X̃ − X); U⁺ = G⁺ + (1−β)(U − G(X; ξ⁺)); A⁺ = ϱA + (1−ϱ)G⁺²; W̄⁺ = WW̄ + U⁺ − U",
    reference: "Huang & Zhao 2024",
    trust: Trust::C,
    network: Network::Balanced,
    graphs: &[Subgraph::Full],
    parameters: &[
        STORM,
        Parameter { name: "decay", about: "ϱ in [0, 1], what is kept of the squares", default: Some(0.9) },
        Parameter { name: "offset", about: "ρ > 0, added to the root of the squares", default: Some(0.5) },
        Parameter {
            name: "mixing",
            about: "ι in (0, 1], the share of a step that is taken",
            default: Some(0.9),
        },
    ],
    build: |parameters| Ok(Box::new(AdaMdos::of(parameters)?)),
    with_estimator: None,
};
