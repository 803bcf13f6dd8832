//! Push-Pull-HB: momentum after tracking, where SMTPP has it before.
//!
//! U⁺ = (1−λ)U + λV; X⁺ = R(X − ηU⁺); V⁺ = CV + M⁺ − M, from U₀ = 0 and V₀ = M₀. λ = 1 is Push-Pull. What
//! tells it from SMTPP is the order alone: SMTPP tracks the agents' momenta, this smooths the tracked
//! gradient at each agent.

use crate::Result;
use crate::graph::Subgraph;
use crate::method::{At, Mail, Method, Network, Profile, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{Kind, MOMENTUM, Trust, momentum_coefficient};
use crate::numeric::Real;

/// Push-Pull with momentum after tracking; state is (x, v, m), the estimator's memory, and u.
#[derive(Debug, Clone, PartialEq)]
pub struct PushPullHb<E> {
    λ: f64,
    estimator: E,
}

impl<E: Estimator> PushPullHb<E> {
    /// Momentum coefficient λ ∈ (0, 1].
    pub fn new(estimator: E, λ: f64) -> Result<Self> {
        Ok(Self { λ: momentum_coefficient("Push-Pull-HB", λ)?, estimator })
    }

    /// u⁺ = (1−λ) u + λ v.
    #[inline(always)]
    fn smooth<S: Real>(&self, u: S, v: S) -> S {
        let λ = S::parameter("λ", self.λ);
        (S::one() - λ) * u + λ * v
    }
}

impl<E: Estimator> Rule for PushPullHb<E> {
    type State<S: Real> = ([S; 3], (E::Memory<S>, S));
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "v", "m"];
    const LAST_NAMES: &'static [&'static str] = &["u"];

    fn profile(&self) -> Profile {
        estimator::tracking(Network::PushPull, &self.estimator)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m, m], (memory, S::zero())) // v₀ = m₀, u₀ = 0
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([x, v, _m], (_, u)): Self::State<S>) -> Mail<S, S> {
        Mail { pull: x - at.η * self.smooth(u, v), push: v }
    }

    #[inline(always)]
    fn points<S: Real>(&self, _: At<S>, ([x, ..], _): Self::State<S>, heard: Mail<S, S>) -> [S; 2] {
        [heard.pull, x]
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        _: At<S>,
        ([x, v, m], (memory, u)): Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let (m_next, memory) = self.estimator.next(x, m, memory, g);
        // x⁺ = Σ_j R_ij (x_j − η u_j⁺); v⁺ = Σ_j C_ij v_j + m⁺ − m
        ([heard.pull, heard.push + (m_next - m), m_next], (memory, self.smooth(u, v)))
    }
}

/// With this λ, around any estimator.
struct Around(f64);

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(PushPullHb::new(estimator, self.0)?))
    }
}

pub(super) const KIND: Kind = Kind {
    reference: "the ablation of SMTPP's order",
    trust: Trust::A,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[MOMENTUM],
    with_estimator: Some(|parameters, estimator| with_any(estimator, Around(parameters.real("momentum")?))),
    ..Kind::new(
        "push-pull-hb",
        "Push-Pull-HB: Push-Pull with momentum after tracking, the other order than SMTPP's",
        |parameters| Ok(Box::new(PushPullHb::new(Gradient, parameters.real("momentum")?)?)),
    )
};
