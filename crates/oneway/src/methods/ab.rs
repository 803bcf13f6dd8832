//! AB and its family: combine, then adapt. Models are mixed first, and the step is taken with one's own tracker.
//!
//! X⁺ = RS − ηV + β(X − X⁻); S⁺ = X⁺ + γ(X⁺ − X); M⁺ = the estimator's, at S⁺; V⁺ = CV + M⁺ − M, from V₀ = M₀ and X⁻ = S₀ = X₀.
//!
//! - gradients and β = γ = 0: **AB** (Xin & Khan 2018), and with one doubly stochastic W for both **GT** (Qu & Li 2018).
//! - gradients and a heavy ball β > 0: **ABm** (Xin & Khan 2020), with stochastic gradients on time-varying digraphs
//!   **DSGTm-TV** (2024).
//! - with Nesterov's extrapolation γ > 0 too: the **accelerated AB/Push-Pull** (Nguyen, Nguyen & Nedić 2023). Its rule is from
//!   memory. What is tested: β = γ = 0 is AB, γ = 0 is ABm, one agent is Nesterov's descent with a heavy ball, and Lemma 2. Not
//!   verified against the authors' text: that all agents share one β and one γ, and the start.
//! - SAGA's table in place of gradients: **AB-SAGA** (Qureshi, Xin, Kar & Khan 2022), which has no noise floor.

use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient, Saga};
use crate::methods::{HEAVY_BALL, Kind, Trust, heavy_ball_coefficient, track};
use crate::parameters::{Parameter, Parameters};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;
use crate::{Error, Result};

/// Combines, then adapts; state is (x, v, m, x⁻), where γ > 0 also (s, s⁻), and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Ab<E> {
    β: f64,
    γ: f64,
    estimator: E,
    network: Network,
}

impl<E: Estimator> Ab<E> {
    /// AB on R and C with a heavy ball β ∈ [0, 1).
    pub fn new(estimator: E, β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("AB", β)?, γ: 0.0, estimator, network: Network::PushPull })
    }

    /// The same with Nesterov's extrapolation γ ∈ [0, 1).
    pub fn accelerated(self, γ: f64) -> Result<Self> {
        let expected = "the coefficient γ must be in [0, 1)";
        match (0.0..1.0).contains(&γ) {
            true => Ok(Self { γ, ..self }),
            false => Err(Error::parameter("AB", "nesterov", γ, expected)),
        }
    }

    /// Vectors for s and s⁻: none where s is x.
    fn extrapolated(&self) -> usize {
        if self.γ == 0.0 { 0 } else { 2 }
    }

    /// The same with one doubly stochastic W in place of R and C: gradient tracking.
    pub fn balanced(self) -> Self {
        Self { network: Network::Balanced, ..self }
    }
}

impl<E: Estimator> Method for Ab<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(4 + self.extrapolated() + self.estimator.memory(problem));
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
        let d = local.problem().dim();
        let ([x, v, m, x_before], rest) = row::split_head_mut(state, d);
        let (extrapolated, memory) = rest.split_at_mut(self.extrapolated() * d);
        local.start(x);
        x_before.copy_from_slice(x);
        extrapolated.chunks_exact_mut(d.max(1)).for_each(|s| s.copy_from_slice(x)); // s₀ = x₀
        self.estimator.first(x, m, memory, local);
        v.copy_from_slice(m); // v₀ = m₀
    }

    #[inline(always)]
    fn send(&self, _at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, v, _m, _x_before], rest) = row::split_head_mut(state, push.len());
        match self.extrapolated() {
            0 => pull.copy_from_slice(x),
            _ => pull.copy_from_slice(&rest[..push.len()]), // s
        }
        push.copy_from_slice(v);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let d = pulled.len();
        let ([x, v, m, x_before], rest) = row::split_head_mut(state, d);
        let (extrapolated, memory) = rest.split_at_mut(self.extrapolated() * d);
        for (((x, x_before), r_s), v) in x.iter_mut().zip(&mut *x_before).zip(pulled).zip(&*v) {
            let x_next = r_s - at.η * v + self.β * (*x - *x_before); // x⁺ = Σ_j R_ij s_j − η v + β (x − x⁻)
            *x_before = *x;
            *x = x_next;
        }
        let (s_before, s): (&[f64], &[f64]) = match self.extrapolated() {
            0 => (x_before, x),
            _ => {
                let (s, s_before) = extrapolated.split_at_mut(d);
                s_before.copy_from_slice(s);
                for ((s, x), x_before) in s.iter_mut().zip(&*x).zip(&*x_before) {
                    *s = x + self.γ * (x - x_before); //                s⁺ = x⁺ + γ (x⁺ − x)
                }
                (s_before, s)
            }
        };
        let m_next = self.estimator.next(s_before, s, m, memory, local); // m⁺ at s⁺
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

/// Small enough for a directed ring, which, if it is long, bears no step at all from β = (5−√17)/4 ≈ 0.22 on.
const MIXED_BALL: Parameter = Parameter { default: Some(0.2), ..HEAVY_BALL };

pub(super) const ABM: Kind = Kind {
    name: "abm",
    about: "ABm, on time-varying digraphs DSGTm-TV: AB with a heavy ball",
    rule: "X⁺ = RX − ηY + β(X − X⁻); Y⁺ = CY + G⁺ − G",
    reference: "Xin & Khan 2020; DSGTm-TV 2024",
    parameters: &[MIXED_BALL],
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

pub(super) const AB_SAGA: Kind = Kind {
    name: "ab-saga",
    about: "AB-SAGA: AB with SAGA's table, without a noise floor on finite sums",
    rule: "X⁺ = RX − ηY; Y⁺ = CY + M⁺ − M with m⁺ = ∇f_s(x⁺) − table_s + mean(table)",
    reference: "Qureshi, Xin, Kar & Khan 2022",
    trust: Trust::A,
    build: |_| Ok(Box::new(Ab::new(Saga, 0.0)?)),
    with_estimator: None,
    ..AB
};

const NESTEROV: Parameter =
    Parameter {
        name: "nesterov", about: "γ in [0, 1), how far models are extrapolated", default: Some(0.1)
    };

fn accelerated<E: Estimator>(parameters: &Parameters, estimator: E) -> Result<Ab<E>> {
    Ab::new(estimator, parameters.real("heavy_ball")?)?.accelerated(parameters.real("nesterov")?)
}

pub(super) const ACCELERATED: Kind = Kind {
    name: "accelerated-ab",
    about: "accelerated AB/Push-Pull: AB with a heavy ball and Nesterov's extrapolation",
    rule: "X⁺ = RS − ηY + β(X − X⁻); S⁺ = X⁺ + γ(X⁺ − X); Y⁺ = CY + g(S⁺) − g(S)",
    reference: "Nguyen, Nguyen & Nedić 2023",
    trust: Trust::C,
    parameters: &[Parameter { default: Some(0.1), ..HEAVY_BALL }, NESTEROV],
    build: |parameters| Ok(Box::new(accelerated(parameters, Gradient)?)),
    with_estimator: Some(|parameters, estimator| Ok(Box::new(accelerated(parameters, estimator)?))),
    ..AB
};
