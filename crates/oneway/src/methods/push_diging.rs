//! Push-DIGing and its family: gradient tracking through push-sum, with column-stochastic C alone.
//!
//! u⁺ = C(u − ηy); w⁺ = Cw; x⁺ = u⁺/w⁺; M⁺ = the estimator's, at x⁺; y⁺ = Cy + M⁺ − M, from u₀ = x₀, w₀ = 1, y₀ = M₀. The tracker
//! y is not divided by w.
//!
//! - gradients: **Push-DIGing** (Nedić, Olshevsky & Shi 2017), here with stochastic ones.
//! - combining first, u⁺ = Cu − ηy: **ADD-OPT** (Xi, Xin & Khan 2018), stochastic: S-ADDOPT.
//! - combining first, with SAGA's table: **Push-SAGA** (Qureshi, Xin, Kar & Khan 2022), which has no noise floor.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient, Saga};
use crate::methods::{Kind, Trust, track};
use crate::passes::{self, Passes};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Tracking through push-sum; state is (x, u, y, m), the estimator's memory, and w.
#[derive(Debug, Clone, PartialEq)]
pub struct PushDiging<E> {
    estimator: E,
    order: Order,
}

/// What comes first in a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    /// The step: u⁺ = C(u − ηy).
    Adapt,
    /// The mixing: u⁺ = Cu − ηy.
    Combine,
}

/// Push-DIGing has no parameters but the step.
pub const PUSH_DIGING: PushDiging<Gradient> = PushDiging { estimator: Gradient, order: Order::Adapt };

impl<E: Estimator> PushDiging<E> {
    /// The same rounds with another estimator.
    pub fn of(estimator: E) -> Self {
        Self { estimator, order: Order::Adapt }
    }

    /// The same, with models mixed before the step: ADD-OPT.
    pub fn combining_first(self) -> Self {
        Self { order: Order::Combine, ..self }
    }
}

impl<E: Estimator> Method for PushDiging<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(4 + self.estimator.memory(problem)).and_scalars(1);
        Layout { state, pull: Width::NONE, push: Width::vectors(2).and_scalars(1) }
    }

    fn network(&self) -> Network {
        Network::PushSum
    }

    fn roles(&self) -> Roles {
        Roles {
            conserved: Some(1),
            tracker: Some(2),
            tracked: Some(3),
            momentum: self.estimator.averages().then_some(3),
            weight: Some(0),
            conserved_sent: Some(0),
            tracker_sent: Some(1),
        }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn own_passes(&self) -> Option<&dyn Passes> {
        passes::compiled(self)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, u, y, m], memory, [w]) = row::split_ends_mut(state, local.problem().dim());
        local.start(x);
        u.copy_from_slice(x);
        *w = 1.0;
        self.estimator.first(x, m, memory, local);
        y.copy_from_slice(m); // y₀ = m₀
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], _pull: &mut [f64], push: &mut [f64]) {
        let ([model, tracker], [weight]) = row::split_mut(push);
        let ([_x, u, y, _m], _memory, [w]) = row::split_ends_mut(state, model.len());
        match self.order {
            Order::Adapt => row::descend(model, u, at.η, y), // u − ηy
            Order::Combine => model.copy_from_slice(u),
        }
        tracker.copy_from_slice(y);
        *weight = *w;
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], _pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([c_u, c_y], [c_w]) = row::split(pushed);
        let ([x, u, y, m], memory, [w]) = row::split_ends_mut(state, c_u.len());
        match self.order {
            Order::Adapt => u.copy_from_slice(c_u), //              u⁺ = Σ_j C_ij (u_j − η y_j)
            Order::Combine => row::descend(u, c_u, at.η, y), //     u⁺ = Σ_j C_ij u_j − η y
        }
        *w = *c_w; //                                               w⁺ = Σ_j C_ij w_j
        let x_next = y; // in the place of y, which was sent
        row::divide(x_next, u, *w); //                              x⁺ = u⁺ / w⁺
        let m_next = self.estimator.next(x, x_next, m, memory, local);
        x.copy_from_slice(x_next);
        track(x_next, c_y, m, m_next); //                           y⁺ = Σ_j C_ij y_j + m⁺ − m
    }
}

pub(super) const KIND: Kind = Kind {
    name: "push-diging",
    about: "Push-DIGing: gradient tracking through push-sum",
    rule: "u⁺ = C(u − ηy); w⁺ = Cw; x⁺ = u⁺/w⁺; y⁺ = Cy + g(x⁺) − g(x)",
    reference: "Nedić, Olshevsky & Shi 2017",
    trust: Trust::A,
    network: Network::PushSum,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(PUSH_DIGING)),
    with_estimator: Some(|_, estimator| Ok(Box::new(PushDiging::of(estimator)))),
};

pub(super) const ADD_OPT: Kind = Kind {
    name: "add-opt",
    about: "(S-)ADD-OPT: Push-DIGing that combines first and then adapts",
    rule: "u⁺ = Cu − ηy; w⁺ = Cw; x⁺ = u⁺/w⁺; y⁺ = Cy + g(x⁺) − g(x)",
    reference: "Xi, Xin & Khan 2018; Qureshi, Xin, Kar & Khan 2021",
    trust: Trust::B,
    build: |_| Ok(Box::new(PUSH_DIGING.combining_first())),
    with_estimator: Some(|_, estimator| Ok(Box::new(PushDiging::of(estimator).combining_first()))),
    ..KIND
};

pub(super) const PUSH_SAGA: Kind = Kind {
    name: "push-saga",
    about: "Push-SAGA: ADD-OPT with SAGA's table, without a noise floor on finite sums",
    rule: "u⁺ = Cu − ηy; w⁺ = Cw; x⁺ = u⁺/w⁺; y⁺ = Cy + m⁺ − m with m⁺ = ∇f_s(x⁺) − table_s + mean(table)",
    reference: "Qureshi, Xin, Kar & Khan 2022",
    trust: Trust::A,
    build: |_| Ok(Box::new(PushDiging::of(Saga).combining_first())),
    with_estimator: None,
    ..KIND
};
