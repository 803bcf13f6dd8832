//! Push-Pull and its family: models are pulled, and what each agent estimates of its gradient is tracked by
//! pushing.
//!
//! X⁺ = R(X − ηV); M⁺ = the estimator's; V⁺ = CV + M⁺ − M, from V₀ = M₀. What is estimated makes the method:
//!
//! - gradients, M⁺ = G⁺: **Push-Pull** (Pu, Shi, Xu & Nedić 2020), Stochastic Push-Pull (You & Pu), and on
//!   two weight-1 trees **STPP**. The old sample's gradient is kept and reused.
//! - gradients, with one doubly stochastic W for R and C: **DSGT** (Pu & Nedić 2021).
//! - momentum, M⁺ = (1−λ)M + λG⁺ from M₀ = 0: **SMTPP** (Fan, Liao, Xu, Guo & Dian), Algorithm 1. So X₁ = X₀,
//!   and the gradient that the paper computes at x₀ before the loop is never used.
//! - STORM, D⁺ = g(x⁺; ξ⁺) + (1−a)(D − g(x; ξ⁺)) from D₀ = G₀: **STORM tracking**, as in the
//!   recursive-momentum trackers of the undirected literature. a = 1 is Push-Pull.

use crate::Result;
use crate::graph::Subgraph;
use crate::method::{At, Mail, Method, Network, Profile, Rule};
use crate::methods::estimator::{
    self, AnyEstimator, Estimator, Gradient, Momentum, STORM as STORM_PARAMETER, Skeleton, Storm, with_any,
};
use crate::methods::{Kind, MOMENTUM, Trust};
use crate::numeric::Real;

/// Tracks what an estimator makes of the gradients; state is (x, v, m) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Tracking<E> {
    estimator: E,
    network: Network,
}

/// Tracks gradients.
pub type PushPull = Tracking<Gradient>;

/// Tracks momentum rather than gradients.
pub type Smtpp = Tracking<Momentum>;

/// Push-Pull has no parameters but the step.
pub const PUSH_PULL: PushPull = Tracking { estimator: Gradient, network: Network::PushPull };

impl Smtpp {
    /// SMTPP with momentum coefficient λ ∈ (0, 1]; λ = 1 is Push-Pull, one round late.
    pub fn new(λ: f64) -> Result<Self> {
        Ok(Tracking { estimator: Momentum::new("SMTPP", λ)?, network: Network::PushPull })
    }
}

impl<E: Estimator> Tracking<E> {
    /// The same rounds on R and C with another estimator.
    pub fn from_estimator(estimator: E) -> Self {
        Self { estimator, network: Network::PushPull }
    }

    /// The same with one doubly stochastic W in place of R and C.
    pub fn balanced(self) -> Self {
        Self { network: Network::Balanced, ..self }
    }
}

impl<E: Estimator> Rule for Tracking<E> {
    type State<S: Real> = ([S; 3], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "v", "m"];

    fn profile(&self) -> Profile {
        estimator::tracking(self.network, &self.estimator)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m, m], memory) // v₀ = m₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([x, v, _m], _): Self::State<S>) -> Mail<S, S> {
        Mail { pull: x - at.η * v, push: v }
    }

    #[inline(always)]
    fn points<S: Real>(&self, _: At<S>, ([x, _v, _m], _): Self::State<S>, heard: Mail<S, S>) -> [S; 2] {
        [heard.pull, x] // x⁺ = Σ_j R_ij (x_j − η v_j), and x
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        _: At<S>,
        ([x, _v, m], memory): Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let (m_next, memory) = self.estimator.next(x, m, memory, g); //   m⁺ at x⁺
        ([heard.pull, heard.push + (m_next - m), m_next], memory) //      v⁺ = Σ_j C_ij v_j + m⁺ − m
    }
}

/// Push-Pull and DSGT, around any estimator.
struct Around(Network);

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(Tracking { estimator, network: self.0 }))
    }
}

/// Push-Pull around an estimator that was chosen at run time.
pub(super) fn push_pull(estimator: AnyEstimator) -> Result<Box<dyn Method>> {
    with_any(estimator, Around(Network::PushPull))
}

pub(super) const SMTPP: Kind = Kind {
    reference: "Fan, Liao, Xu, Guo & Dian",
    trust: Trust::A,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[MOMENTUM],
    ..Kind::new(
        "smtpp",
        "Stochastic Momentum Tracking Push-Pull: tracks momentum on the push graph, pulls models",
        |parameters| Ok(Box::new(Smtpp::new(parameters.real("momentum")?)?)),
    )
};

pub(super) const PUSH_PULL_KIND: Kind = Kind {
    reference: "Pu, Shi, Xu & Nedić 2020; You & Pu",
    trust: Trust::A,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    with_estimator: Some(|_, estimator| push_pull(estimator)),
    ..Kind::new(
        "push-pull",
        "(Stochastic) Push-Pull: tracks gradients on the push graph, pulls models",
        |_| Ok(Box::new(PUSH_PULL)),
    )
};

pub(super) const STPP: Kind = Kind {
    name: "stpp",
    about: "Stochastic Tree Push-Pull: Push-Pull on two spanning trees with one root",
    reference: "You & Pu 2025",
    graphs: &[Subgraph::Trees, Subgraph::LazyTrees],
    ..PUSH_PULL_KIND
};

pub(super) const STORM: Kind = Kind {
    name: "storm-tracking",
    about: "Push-Pull that tracks STORM's estimates: momentum with two gradients of one sample",
    reference: "Cutkosky & Orabona 2019, inside Push-Pull",
    parameters: &[STORM_PARAMETER],
    build: |parameters| {
        Ok(Box::new(Tracking::from_estimator(Storm::new("storm-tracking", parameters.real("momentum")?)?)))
    },
    with_estimator: None,
    ..PUSH_PULL_KIND
};

pub(super) const DSGT: Kind = Kind {
    name: "dsgt",
    about: "distributed stochastic gradient tracking with one doubly stochastic matrix",
    reference: "Pu & Nedić 2021",
    graphs: &[Subgraph::Full],
    build: |_| Ok(Box::new(PUSH_PULL.balanced())),
    with_estimator: Some(|_, estimator| with_any(estimator, Around(Network::Balanced))),
    ..PUSH_PULL_KIND
};
