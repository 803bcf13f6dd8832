//! AB and its family: combine, then adapt. Models are mixed first, and the step is taken with one's own
//! tracker.
//!
//! X⁺ = RS − ηV + β(X − X⁻); S⁺ = X⁺ + γ(X⁺ − X); M⁺ = the estimator's, at S⁺; V⁺ = CV + M⁺ − M, from V₀ = M₀
//! and X⁻ = S₀ = X₀.
//!
//! - gradients and β = γ = 0: **AB** (Xin & Khan 2018), and with one doubly stochastic W for both **GT** (Qu
//!   & Li 2018).
//! - gradients and a heavy ball β > 0: **ABm** (Xin & Khan 2020), with stochastic gradients on time-varying
//!   digraphs **DSGTm-TV** (2024).
//! - with Nesterov's extrapolation γ > 0 too: the **accelerated AB/Push-Pull** (Nguyen, Nguyen & Nedić 2023).
//!   Its rule is from memory. What is tested: β = γ = 0 is AB, γ = 0 is ABm, one agent is Nesterov's descent
//!   with a heavy ball, and Lemma 2. Not verified against the authors' text: that all agents share one β and
//!   one γ, and the start.
//! - SAGA's table in place of gradients: **AB-SAGA** (Qureshi, Xin, Kar & Khan 2022), which has no noise
//!   floor.

use crate::method::{At, Mail, Method, Network, Profile, Rule};
use crate::methods::estimator::{self, AnyEstimator, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{HEAVY_BALL, Kind, Trust, heavy_ball_coefficient};
use crate::numeric::Real;
use crate::parameters::{Parameter, Parameters};
use crate::{Error, Result};

/// Combines, then adapts; state is (x, v, m, x⁻) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Ab<E> {
    β: f64,
    estimator: E,
    network: Network,
}

impl<E: Estimator> Ab<E> {
    /// AB around this estimator, with a heavy ball β ∈ [0, 1); β = 0 for none.
    pub fn new(estimator: E, β: f64) -> Result<Self> {
        Ok(Self { β: heavy_ball_coefficient("AB", β)?, estimator, network: Network::PushPull })
    }

    /// The same with Nesterov's extrapolation γ ∈ (0, 1).
    pub fn accelerated(self, γ: f64) -> Result<AcceleratedAb<E>> {
        let expected = "the coefficient γ must be in [0, 1)";
        match (0.0..1.0).contains(&γ) {
            true => Ok(AcceleratedAb { ab: self, γ }),
            false => Err(Error::parameter("AB", "nesterov", γ, expected)),
        }
    }

    /// The same with one doubly stochastic W in place of R and C.
    pub fn balanced(self) -> Self {
        Self { network: Network::Balanced, ..self }
    }

    /// x⁺ = Σ_j R_ij s_j − η v + β (x − x⁻).
    #[inline(always)]
    fn moved<S: Real>(&self, at: At<S>, [x, v, x_before]: [S; 3], r_s: S) -> S {
        r_s - at.η * v + S::parameter("β", self.β) * (x - x_before)
    }
}

impl<E: Estimator> Rule for Ab<E> {
    type State<S: Real> = ([S; 4], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "v", "m", "x⁻"];

    fn profile(&self) -> Profile {
        estimator::tracking(self.network, &self.estimator)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m, m, x], memory) // v₀ = m₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, _: At<S>, ([x, v, ..], _): Self::State<S>) -> Mail<S, S> {
        Mail { pull: x, push: v }
    }

    #[inline(always)]
    fn points<S: Real>(
        &self,
        at: At<S>,
        ([x, v, _m, x_before], _): Self::State<S>,
        heard: Mail<S, S>,
    ) -> [S; 2] {
        [self.moved(at, [x, v, x_before], heard.pull), x]
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, v, m, x_before], memory): Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let x_next = self.moved(at, [x, v, x_before], heard.pull);
        let (m_next, memory) = self.estimator.next(x, m, memory, g); // m⁺ at x⁺
        ([x_next, heard.push + (m_next - m), m_next, x], memory) //     v⁺ = Σ_j C_ij v_j + m⁺ − m
    }
}

/// AB with Nesterov's extrapolation; state is (x, v, m, x⁻, s, s⁻) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct AcceleratedAb<E> {
    ab: Ab<E>,
    γ: f64,
}

impl<E: Estimator> Rule for AcceleratedAb<E> {
    type State<S: Real> = ([S; 6], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "v", "m", "x⁻", "s", "s⁻"];

    fn profile(&self) -> Profile {
        Rule::profile(&self.ab)
    }

    #[inline(always)]
    fn start<S: Real>(&self, at: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let ([x, v, m, x_before], memory) = self.ab.start(at, x, g);
        ([x, v, m, x_before, x, x], memory) // s₀ = x₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, _: At<S>, ([_x, v, _m, _x_before, s, _], _): Self::State<S>) -> Mail<S, S> {
        Mail { pull: s, push: v }
    }

    #[inline(always)]
    fn points<S: Real>(
        &self,
        at: At<S>,
        ([x, v, _m, x_before, s, _], _): Self::State<S>,
        heard: Mail<S, S>,
    ) -> [S; 2] {
        let x_next = self.ab.moved(at, [x, v, x_before], heard.pull);
        [x_next + S::parameter("γ", self.γ) * (x_next - x), s] // s⁺ = x⁺ + γ (x⁺ − x)
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, v, m, x_before, s, s_before], memory): Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let state = ([x, v, m, x_before, s, s_before], memory);
        let [s_next, _] = self.points(at, state, heard);
        let x_next = self.ab.moved(at, [x, v, x_before], heard.pull);
        let (m_next, memory) = self.ab.estimator.next(s, m, memory, g); // m⁺ at s⁺
        ([x_next, heard.push + (m_next - m), m_next, x, s_next, s], memory)
    }
}

/// AB with these coefficients, around any estimator.
struct Around {
    β: f64,
    γ: f64,
    network: Network,
}

const AROUND: Around = Around { β: 0.0, γ: 0.0, network: Network::PushPull };

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        let ab = Ab { network: self.network, ..Ab::new(estimator, self.β)? };
        Ok(if self.γ == 0.0 { Box::new(ab) } else { Box::new(ab.accelerated(self.γ)?) })
    }
}

/// Gradient tracking on one W with a heavy ball β, around an estimator that was chosen at run time.
pub(super) fn gradient_tracking(estimator: AnyEstimator, β: f64) -> Result<Box<dyn Method>> {
    with_any(estimator, Around { β, network: Network::Balanced, ..AROUND })
}

pub(super) const AB: Kind = Kind {
    reference: "Xin & Khan 2018",
    trust: Trust::B,
    with_estimator: Some(|_, estimator| with_any(estimator, AROUND)),
    ..Kind::new("ab", "AB: Push-Pull that combines first and then adapts", |_| {
        Ok(Box::new(Ab::new(Gradient, 0.0)?))
    })
};

/// Small enough for a directed ring, which, if it is long, bears no step at all from β = (5−√17)/4 ≈ 0.22 on.
const MIXED_BALL: Parameter = Parameter { default: Some(0.2), ..HEAVY_BALL };

pub(super) const ABM: Kind = Kind {
    name: "abm",
    about: "ABm, on time-varying digraphs DSGTm-TV: AB with a heavy ball",
    reference: "Xin & Khan 2020; DSGTm-TV 2024",
    parameters: &[MIXED_BALL],
    build: |parameters| Ok(Box::new(Ab::new(Gradient, parameters.real("heavy_ball")?)?)),
    with_estimator: Some(|parameters, estimator| {
        with_any(estimator, Around { β: parameters.real("heavy_ball")?, ..AROUND })
    }),
    ..AB
};

pub(super) const GT: Kind = Kind {
    name: "gt",
    about: "gradient tracking with one doubly stochastic matrix",
    reference: "Qu & Li 2018",
    trust: Trust::A,
    build: |_| Ok(Box::new(Ab::new(Gradient, 0.0)?.balanced())),
    with_estimator: Some(|_, estimator| gradient_tracking(estimator, 0.0)),
    ..AB
};

pub(super) const AB_SAGA: Kind = Kind {
    name: "ab-saga",
    about: "AB-SAGA: AB with SAGA's table, without a noise floor on finite sums",
    alters: Some(estimator::saga::ALTERS),
    reference: "Qureshi, Xin, Kar & Khan 2022",
    trust: Trust::A,
    build: |_| with_any(AnyEstimator::Saga, AROUND),
    with_estimator: None,
    ..AB
};

const NESTEROV: Parameter =
    Parameter::number("nesterov", "γ in [0, 1), how far models are extrapolated", 0.1);

/// Accelerated AB with these parameters, around any estimator; without extrapolation it is ABm.
fn accelerated(parameters: &Parameters, estimator: AnyEstimator) -> Result<Box<dyn Method>> {
    let (β, γ) = (parameters.real("heavy_ball")?, parameters.real("nesterov")?);
    with_any(estimator, Around { β, γ, network: Network::PushPull })
}

pub(super) const ACCELERATED: Kind = Kind {
    name: "accelerated-ab",
    about: "accelerated AB/Push-Pull: AB with a heavy ball and Nesterov's extrapolation",
    reference: "Nguyen, Nguyen & Nedić 2023",
    trust: Trust::C,
    parameters: &[Parameter { default: Some(0.1), ..HEAVY_BALL }, NESTEROV],
    build: |parameters| accelerated(parameters, Gradient.into()),
    with_estimator: Some(accelerated),
    ..AB
};
