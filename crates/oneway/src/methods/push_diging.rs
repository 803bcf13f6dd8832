//! Push-DIGing and its family: gradient tracking through push-sum, with column-stochastic C alone.
//!
//! u⁺ = C(u − ηy); w⁺ = Cw; x⁺ = u⁺/w⁺; M⁺ = the estimator's, at x⁺; y⁺ = Cy + M⁺ − M, from u₀ = x₀, w₀ = 1,
//! y₀ = M₀. The tracker y is not divided by w.
//!
//! - gradients: **Push-DIGing** (Nedić, Olshevsky & Shi 2017), here with stochastic ones.
//! - combining first, u⁺ = Cu − ηy: **ADD-OPT** (Xi, Xin & Khan 2018), stochastic: S-ADDOPT.
//! - combining first, with SAGA's table: **Push-SAGA** (Qureshi, Xin, Kar & Khan 2022), which has no noise
//!   floor.

use crate::Result;
use crate::method::{At, Carries, Mail, Method, Network, Profile, Roles, Rule};
use crate::methods::estimator::{self, AnyEstimator, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{Kind, Trust};
use crate::numeric::Real;

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
    pub fn from_estimator(estimator: E) -> Self {
        Self { estimator, order: Order::Adapt }
    }

    /// The same, with models mixed before the step: ADD-OPT.
    pub fn combining_first(self) -> Self {
        Self { order: Order::Combine, ..self }
    }

    /// u⁺.
    #[inline(always)]
    fn moved<S: Real>(&self, at: At<S>, y: S, c_u: S) -> S {
        match self.order {
            Order::Adapt => c_u,              //               u⁺ = Σ_j C_ij (u_j − η y_j)
            Order::Combine => c_u - at.η * y, //  u⁺ = Σ_j C_ij u_j − η y
        }
    }
}

impl<E: Estimator> Rule for PushDiging<E> {
    type State<S: Real> = ([S; 4], E::Memory<S>);
    type Pull<S: Real> = ();
    type Push<S: Real> = [S; 2];
    const CARRIES: Carries = Carries::Weight;
    const NAMES: &'static [&'static str] = &["x", "u", "y", "m"];

    fn profile(&self) -> Profile {
        let roles = Roles {
            conserved: Some(1),
            tracker: Some(2),
            tracked: Some(3),
            momentum: self.estimator.averages().then_some(3),
            weight: Some(0),
            conserved_sent: Some(0),
            tracker_sent: Some(1),
        };
        estimator::profile(Network::PushSum, &self.estimator).with_roles(roles)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, x, m, m], memory) // u₀ = x₀, y₀ = m₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([_x, u, y, _m], _): Self::State<S>) -> Mail<(), [S; 2]> {
        let model = match self.order {
            Order::Adapt => u - at.η * y,
            Order::Combine => u,
        };
        Mail { pull: (), push: [model, y] }
    }

    #[inline(always)]
    fn points<S: Real>(
        &self,
        at: At<S>,
        ([x, _u, y, _m], _): Self::State<S>,
        heard: Mail<(), [S; 2]>,
    ) -> [S; 2] {
        let [c_u, _] = heard.push;
        [self.moved(at, y, c_u) / at.w, x] // x⁺ = u⁺ / w⁺
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, _u, y, m], memory): Self::State<S>,
        heard: Mail<(), [S; 2]>,
        g: [S; 2],
    ) -> Self::State<S> {
        let [c_u, c_y] = heard.push;
        let u = self.moved(at, y, c_u);
        let (m_next, memory) = self.estimator.next(x, m, memory, g);
        ([u / at.w, u, c_y + (m_next - m), m_next], memory) // y⁺ = Σ_j C_ij y_j + m⁺ − m
    }
}

/// In this order, around any estimator.
struct Around(Order);

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(PushDiging { estimator, order: self.0 }))
    }
}

pub(super) const KIND: Kind = Kind {
    reference: "Nedić, Olshevsky & Shi 2017",
    trust: Trust::A,
    with_estimator: Some(|_, estimator| with_any(estimator, Around(Order::Adapt))),
    ..Kind::new("push-diging", "Push-DIGing: gradient tracking through push-sum", |_| {
        Ok(Box::new(PUSH_DIGING))
    })
};

pub(super) const ADD_OPT: Kind = Kind {
    name: "add-opt",
    about: "(S-)ADD-OPT: Push-DIGing that combines first and then adapts",
    reference: "Xi, Xin & Khan 2018; Qureshi, Xin, Kar & Khan 2021",
    trust: Trust::B,
    build: |_| Ok(Box::new(PUSH_DIGING.combining_first())),
    with_estimator: Some(|_, estimator| with_any(estimator, Around(Order::Combine))),
    ..KIND
};

pub(super) const PUSH_SAGA: Kind = Kind {
    name: "push-saga",
    about: "Push-SAGA: ADD-OPT with SAGA's table, without a noise floor on finite sums",
    alters: Some(estimator::saga::ALTERS),
    reference: "Qureshi, Xin, Kar & Khan 2022",
    trust: Trust::A,
    build: |_| with_any(AnyEstimator::Saga, Around(Order::Combine)),
    with_estimator: None,
    ..KIND
};
