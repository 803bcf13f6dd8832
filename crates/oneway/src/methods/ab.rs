//! AB and its family: combine, then adapt. Models are mixed first, and the step is taken with one's own tracker.
//!
//! X⁺ = RX − ηV + β(X − X⁻); M⁺ = the estimator's; V⁺ = CV + M⁺ − M, from V₀ = M₀ and X⁻ = X₀.
//!
//! - gradients and β = 0: **AB** (Xin & Khan 2018), and with one doubly stochastic W for both **GT** (Qu & Li 2018).
//! - gradients and a heavy ball β > 0: **ABm** (Xin & Khan 2020), with stochastic gradients on time-varying digraphs
//!   **DSGTm-TV** (2024).

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{HEAVY_BALL, Kind, Trust, heavy_ball_coefficient, track};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Combines, then adapts; state is (x, v, m, x⁻) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Ab<E> {
    β: f64,
    estimator: E,
    network: Network,
}

impl<E: Estimator> Ab<E> {
    /// AB on R and C with a heavy ball β ∈ [0, 1).
    pub fn new(estimator: E, β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("AB", β)?, estimator, network: Network::PushPull })
    }

    /// The same with one doubly stochastic W in place of R and C: gradient tracking.
    pub fn balanced(self) -> Self {
        Self { network: Network::Balanced, ..self }
    }
}

impl<E: Estimator> Method for Ab<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(4 + self.estimator.memory(problem));
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

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, v, m, x_before], memory) = row::split_head_mut(state, local.problem().dim());
        local.start(x);
        x_before.copy_from_slice(x);
        self.estimator.first(x, m, memory, local);
        v.copy_from_slice(m); // v₀ = m₀
    }

    #[inline(always)]
    fn send(&self, _at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, v], _) = row::split_head_mut(state, push.len());
        pull.copy_from_slice(x);
        push.copy_from_slice(v);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([x, v, m, x_before], memory) = row::split_head_mut(state, pulled.len());
        for (((x, x_before), r_x), v) in x.iter_mut().zip(&mut *x_before).zip(pulled).zip(&*v) {
            let x_next = r_x - at.η * v + self.β * (*x - *x_before); // x⁺ = Σ_j R_ij x_j − η v + β (x − x⁻)
            *x_before = *x;
            *x = x_next;
        }
        let m_next = self.estimator.next(x_before, x, m, memory, local); // m⁺ at x⁺
        track(v, pushed, m, m_next); //                                     v⁺ = Σ_j C_ij v_j + m⁺ − m
    }
}

pub(super) const AB: Kind = Kind {
    name: "ab",
    about: "AB: Push-Pull that combines first and then adapts",
    rule: "X⁺ = RX − ηY; Y⁺ = CY + G⁺ − G",
    reference: "Xin & Khan 2018",
    trust: Trust::B,
    network: Network::PushPull,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(Ab::new(Gradient, 0.0)?)),
    with_estimator: Some(|_, estimator| Ok(Box::new(Ab::new(estimator, 0.0)?))),
};

pub(super) const ABM: Kind = Kind {
    name: "abm",
    about: "ABm, on time-varying digraphs DSGTm-TV: AB with a heavy ball",
    rule: "X⁺ = RX − ηY + β(X − X⁻); Y⁺ = CY + G⁺ − G",
    reference: "Xin & Khan 2020; DSGTm-TV 2024",
    parameters: &[HEAVY_BALL],
    build: |parameters| Ok(Box::new(Ab::new(Gradient, parameters.real("heavy_ball")?)?)),
    with_estimator: Some(|parameters, estimator| {
        Ok(Box::new(Ab::new(estimator, parameters.real("heavy_ball")?)?))
    }),
    ..AB
};

pub(super) const GT: Kind = Kind {
    name: "gt",
    about: "gradient tracking with one doubly stochastic matrix",
    rule: "X⁺ = WX − ηS; S⁺ = WS + G⁺ − G",
    reference: "Qu & Li 2018",
    trust: Trust::A,
    network: Network::Balanced,
    build: |_| Ok(Box::new(Ab::new(Gradient, 0.0)?.balanced())),
    with_estimator: Some(|_, estimator| Ok(Box::new(Ab::new(estimator, 0.0)?.balanced()))),
    ..AB
};
