//! Push-Pull and its family: models are pulled, and what each agent estimates of its gradient is tracked by pushing.
//!
//! X⁺ = R(X − ηV); M⁺ = the estimator's; V⁺ = CV + M⁺ − M, from V₀ = M₀. What is estimated makes the method:
//!
//! - gradients, M⁺ = G⁺: **Push-Pull** (Pu, Shi, Xu & Nedić 2020), Stochastic Push-Pull (You & Pu), and on two weight-1 trees
//!   **STPP**. The old sample's gradient is kept and reused.
//! - gradients, with one doubly stochastic W for R and C: **DSGT** (Pu & Nedić 2021).
//! - momentum, M⁺ = (1−λ)M + λG⁺ from M₀ = 0: **SMTPP** (Fan, Liao, Xu, Guo & Dian), Algorithm 1. So X₁ = X₀, and the gradient
//!   that the paper computes at x₀ before the loop is never used.
//! - STORM, D⁺ = g(x⁺; ξ⁺) + (1−a)(D − g(x; ξ⁺)) from D₀ = G₀: **STORM tracking**, as in the recursive-momentum trackers of the
//!   undirected literature. a = 1 is Push-Pull.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient, Momentum, STORM as STORM_PARAMETER, Storm};
use crate::methods::{Kind, MOMENTUM, Trust, track};
use crate::passes::{self, Passes};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

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
    pub fn of(estimator: E) -> Self {
        Self { estimator, network: Network::PushPull }
    }

    /// The same with one doubly stochastic W in place of R and C.
    pub fn balanced(self) -> Self {
        Self { network: Network::Balanced, ..self }
    }
}

impl<E: Estimator> Method for Tracking<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(3 + self.estimator.memory(problem));
        Layout { state, pull: Width::vectors(1), push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        self.network
    }

    fn roles(&self) -> Roles {
        let momentum = self.estimator.averages().then_some(2);
        Roles { tracker: Some(1), tracked: Some(2), momentum, tracker_sent: Some(0), ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn own_passes(&self) -> Option<&dyn Passes> {
        passes::compiled(self)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, v, m], memory) = row::split_head_mut(state, local.problem().dim());
        local.start(x);
        self.estimator.first(x, m, memory, local);
        v.copy_from_slice(m); // v₀ = m₀
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, v, _m], _memory) = row::split_head_mut(state, push.len());
        row::descend(pull, x, at.η, v); // x − ηv
        push.copy_from_slice(v);
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([x, v, m], memory) = row::split_head_mut(state, pulled.len());
        let m_next = self.estimator.next(x, pulled, m, memory, local); // m⁺ at x⁺
        x.copy_from_slice(pulled); //                                     x⁺ = Σ_j R_ij (x_j − η v_j)
        track(v, pushed, m, m_next); //                                   v⁺ = Σ_j C_ij v_j + m⁺ − m
    }
}

pub(super) const SMTPP: Kind = Kind {
    name: "smtpp",
    about: "Stochastic Momentum Tracking Push-Pull: tracks momentum on the push graph, pulls models",
    rule: "X⁺ = R(X − ηV); M⁺ = (1−λ)M + λG⁺; V⁺ = CV + M⁺ − M",
    reference: "Fan, Liao, Xu, Guo & Dian",
    trust: Trust::A,
    network: Network::PushPull,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[MOMENTUM],
    build: |parameters| Ok(Box::new(Smtpp::new(parameters.real("momentum")?)?)),
    with_estimator: None,
};

pub(super) const PUSH_PULL_KIND: Kind = Kind {
    name: "push-pull",
    about: "(Stochastic) Push-Pull: tracks gradients on the push graph, pulls models",
    rule: "X⁺ = R(X − ηY); Y⁺ = CY + G⁺ − G",
    reference: "Pu, Shi, Xu & Nedić 2020; You & Pu",
    trust: Trust::A,
    network: Network::PushPull,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[],
    build: |_| Ok(Box::new(PUSH_PULL)),
    with_estimator: Some(|_, estimator| Ok(Box::new(Tracking::of(estimator)))),
};

pub(super) const STPP: Kind = Kind {
    name: "stpp",
    about: "Stochastic Tree Push-Pull: Push-Pull on two spanning trees with one root",
    rule: "X⁺ = R(X − ηY); Y⁺ = CY + G⁺ − G on weight-1 trees",
    reference: "You & Pu 2025",
    graphs: &[Subgraph::Trees, Subgraph::LazyTrees],
    ..PUSH_PULL_KIND
};

pub(super) const STORM: Kind = Kind {
    name: "storm-tracking",
    about: "Push-Pull that tracks STORM's estimates: momentum with two gradients of one sample",
    rule: "X⁺ = R(X − ηV); D⁺ = g(X⁺; ξ⁺) + (1−a)(D − g(X; ξ⁺)); V⁺ = CV + D⁺ − D",
    reference: "Cutkosky & Orabona 2019, inside Push-Pull",
    parameters: &[STORM_PARAMETER],
    build: |parameters| {
        Ok(Box::new(Tracking::of(Storm::new("storm-tracking", parameters.real("momentum")?)?)))
    },
    with_estimator: None,
    ..PUSH_PULL_KIND
};

pub(super) const DSGT: Kind = Kind {
    name: "dsgt",
    about: "distributed stochastic gradient tracking with one doubly stochastic matrix",
    rule: "X⁺ = W(X − ηY); Y⁺ = WY + G⁺ − G",
    reference: "Pu & Nedić 2021",
    network: Network::Balanced,
    graphs: &[Subgraph::Full],
    build: |_| Ok(Box::new(PUSH_PULL.balanced())),
    with_estimator: Some(|_, estimator| Ok(Box::new(Tracking::of(estimator).balanced()))),
    ..PUSH_PULL_KIND
};
