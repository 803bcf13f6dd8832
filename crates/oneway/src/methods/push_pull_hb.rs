//! Push-Pull-HB: momentum after tracking, where SMTPP has it before.
//!
//! U⁺ = (1−λ)U + λV; X⁺ = R(X − ηU⁺); V⁺ = CV + M⁺ − M, from U₀ = 0 and V₀ = M₀. λ = 1 is Push-Pull. What tells it from SMTPP is
//! the order alone: SMTPP tracks the agents' momenta, this smooths the tracked gradient at each agent.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{Kind, MOMENTUM, Tracking, Trust, momentum_coefficient};
use crate::problem::Problem;
use crate::row;
use crate::topology::Subgraph;

/// Push-Pull along a mean of its trackers; state is that of [`Tracking`], then u.
#[derive(Debug, Clone, PartialEq)]
pub struct PushPullHb<E> {
    λ: f64,
    tracking: Tracking<E>,
}

impl<E: Estimator> PushPullHb<E> {
    /// Push-Pull-HB with λ ∈ (0, 1].
    pub fn new(estimator: E, λ: f64) -> Result<Self> {
        let λ = momentum_coefficient("Push-Pull-HB", λ)?;
        Ok(Self { λ, tracking: Tracking::of(estimator) })
    }
}

impl<E: Estimator> Method for PushPullHb<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let mut layout = self.tracking.layout(problem);
        layout.state.vectors += 1;
        layout
    }

    fn network(&self) -> Network {
        self.tracking.network()
    }

    fn roles(&self) -> Roles {
        self.tracking.roles()
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.tracking.check(problem)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let (state, u) = split_last_mut(state, local.problem().dim());
        self.tracking.init(state, local);
        u.fill(0.0);
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let λ = self.λ;
        let (state, u) = split_last_mut(state, push.len());
        let ([x, v], _) = row::split_head_mut(state, push.len());
        for (u, v) in u.iter_mut().zip(&*v) {
            *u = (1.0 - λ) * *u + λ * v; //   u⁺ = (1−λ) u + λ v
        }
        row::descend(pull, x, at.η, u); //    x − ηu⁺
        push.copy_from_slice(v);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let (state, _u) = split_last_mut(state, pulled.len());
        self.tracking.step(at, state, pulled, pushed, local); // x⁺ = Σ_j R_ij (x_j − η u_j⁺); v⁺ = Σ_j C_ij v_j + m⁺ − m
    }
}

/// All of a row but its last vector, and that.
#[inline(always)]
fn split_last_mut(state: &mut [f64], d: usize) -> (&mut [f64], &mut [f64]) {
    let length = state.len();
    state.split_at_mut(length - d)
}

pub(super) const KIND: Kind = Kind {
    name: "push-pull-hb",
    about: "Push-Pull-HB: Push-Pull with momentum after tracking, the other order than SMTPP's",
    rule: "U⁺ = (1−λ)U + λY; X⁺ = R(X − ηU⁺); Y⁺ = CY + G⁺ − G",
    reference: "the ablation of SMTPP's order",
    trust: Trust::A,
    network: Network::PushPull,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[MOMENTUM],
    build: |parameters| Ok(Box::new(PushPullHb::new(Gradient, parameters.real("momentum")?)?)),
    with_estimator: Some(|parameters, estimator| {
        Ok(Box::new(PushPullHb::new(estimator, parameters.real("momentum")?)?))
    }),
};
