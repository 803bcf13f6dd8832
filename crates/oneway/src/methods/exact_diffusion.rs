//! Exact diffusion and D² (Yuan, Ying, Zhao & Sayed 2019; Tang, Lian, Yan, Zhang & Liu 2018), in the SUDA framework of
//! Alghunaim & Yuan (2022): the bias of DSGD corrected with a single exchange.
//!
//! X⁺ = W̃(2X − X⁻ − η(G − G⁻)) after X₁ = W̃(X₀ − ηG₀), with W̃ = (I + W)/2 for exact diffusion and W̃ = W for D².
//!
//! It tracks without sending a tracker. With V = G + (X⁻ − X)/η − G⁻, what is mixed is X − ηV, and the rule becomes
//!
//! X⁺ = W̃(X − ηV); V⁺ = (X − X⁺)/η + G⁺ − G, from V₀ = G₀.
//!
//! W̃ keeps the mean, so (1/n)ΣV = (1/n)ΣG in every round. A rule with two rounds in it is open to interpretation where η
//! changes; in this form each round uses its own η, x̄ moves by −η_k·ḡ, and V needs no time to adapt to a new step.
//!
//! A symmetric W is needed: its eigenvalues λ must be real and above −1/3 in W̃ (z² = λ(2z − 1) then has its roots inside the
//! unit disc), which (I + W)/2 always satisfies. D² leaves that to the network: with W_ii > 1/3 everywhere it holds.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{Kind, Trust, slope};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Tracks without a second message; state is (x, v, m) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct ExactDiffusion<E> {
    estimator: E,
    /// τ in W̃ = (1−τ)I + τW.
    share: f64,
}

impl<E: Estimator> ExactDiffusion<E> {
    /// Exact diffusion: W̃ = (I + W)/2.
    pub fn new(estimator: E) -> Self {
        Self { estimator, share: 0.5 }
    }

    /// D²: W̃ = W.
    pub fn d2(estimator: E) -> Self {
        Self { estimator, share: 1.0 }
    }
}

impl<E: Estimator> Method for ExactDiffusion<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(3 + self.estimator.memory(problem));
        Layout { state, pull: Width::vectors(1), push: Width::NONE }
    }

    fn network(&self) -> Network {
        Network::Undirected
    }

    fn roles(&self) -> Roles {
        let momentum = self.estimator.averages().then_some(2);
        Roles { tracker: Some(1), tracked: Some(2), momentum, ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, v, m], memory) = row::split_head_mut(state, local.problem().dim());
        local.start(x);
        self.estimator.first(x, m, memory, local);
        v.copy_from_slice(m); // v₀ = m₀
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], _push: &mut [f64]) {
        let ([x, v], _) = row::split_head_mut(state, pull.len());
        row::descend(pull, x, at.η, v); // x − ηv
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], _pushed: &[f64], local: &mut Local<'_>) {
        let τ = self.share;
        let ([x, v, m], memory) = row::split_head_mut(state, pulled.len());
        for ((v, x), w_x) in v.iter_mut().zip(&*x).zip(pulled) {
            *v = (1.0 - τ) * (x - at.η * *v) + τ * w_x; // x⁺ = Σ_j W̃_ij (x_j − η v_j), kept here for a while
        }
        let m_next = self.estimator.next(x, v, m, memory, local); // m⁺ at x⁺
        for (((x, v), m), m_next) in x.iter_mut().zip(v).zip(m).zip(m_next) {
            let x_next = *v;
            *v = slope(*x, x_next, at.η, *m) + (m_next - *m); // v⁺ = (x − x⁺)/η + m⁺ − m
            (*x, *m) = (x_next, *m_next);
        }
    }
}

pub(super) const EXACT_DIFFUSION: Kind = Kind {
    name: "exact-diffusion",
    about: "exact diffusion: no bias where data differ, for the price of one exchange",
    rule: "W̃ = (I+W)/2; X⁺ = W̃(2X − X⁻ − η(G − G⁻))",
    reference: "Yuan, Ying, Zhao & Sayed 2019; Alghunaim & Yuan 2022",
    trust: Trust::B,
    network: Network::Undirected,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(ExactDiffusion::new(Gradient))),
    with_estimator: Some(|_, estimator| Ok(Box::new(ExactDiffusion::new(estimator)))),
};

pub(super) const D2: Kind = Kind {
    name: "d2",
    about: "D²: exact diffusion with W itself, whose eigenvalues must be above −1/3",
    rule: "X⁺ = W(2X − X⁻ − η(G − G⁻))",
    reference: "Tang, Lian, Yan, Zhang & Liu 2018; Alghunaim & Yuan 2022",
    build: |_| Ok(Box::new(ExactDiffusion::d2(Gradient))),
    with_estimator: Some(|_, estimator| Ok(Box::new(ExactDiffusion::d2(estimator)))),
    ..EXACT_DIFFUSION
};
