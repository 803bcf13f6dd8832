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
//! W must be symmetric and stay the same. Its eigenvalues λ must be real and −1/3 or more in W̃ (z² = λ(2z − 1) then has its
//! roots inside the unit disc; at −1/3 one is −1, and only curvature damps it), which (I + W)/2 always satisfies. D² leaves that to the network, and refuses one that has not got
//! it; with W_ii > 1/3 everywhere all have. D² on (I + W)/2 is exact diffusion on W. Networks that change are refused: V holds
//! (I − W̃)X/η of the last round, and with another W̃ in the next one iterates have been seen to grow without bound, on random
//! matchings for D², on sparse random links for exact diffusion.

use crate::method::{Layout, Local, Method, Network, Reliance, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{Kind, Trust, slope};
use crate::mixing::Mixing;
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::sample::{Draws, Purpose};
use crate::topology::{Subgraph, Topology};
use crate::{Error, Result};

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

    fn reliance(&self) -> Reliance {
        Reliance::WholeMessages
    }

    fn check_network(&self, topology: &Topology) -> Result<()> {
        let lowest = least_eigenvalue(&topology.at(0).pull);
        match (1.0 - self.share) + self.share * lowest < -1.0 / 3.0 - 1e-6 {
            true => Err(Error::EigenvalueTooLow { least: lowest }),
            false => Ok(()),
        }
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

/// The least eigenvalue of a symmetric W, or a little more: by power iteration with I − W, O(links) a step.
///
/// Self-weights above 1/3 settle it sooner: by Gershgorin's theorem no eigenvalue is below 2 min W_ii − 1.
fn least_eigenvalue(w: &Mixing) -> f64 {
    const STEPS: u64 = 200;
    let n = w.agents();
    let bound = 2.0 * (0..n).map(|i| w.weight(i, i)).fold(1.0, f64::min) - 1.0;
    if bound >= -1.0 / 3.0 {
        return bound;
    }
    let mut draws = Draws::new(0, Purpose::Graph, n, 0);
    let mut x: Vec<f64> = (0..n).map(|_| draws.normal()).collect();
    let (mut mixed, mut least) = ([0.0], 1.0);
    for _ in 0..STEPS {
        let mut moved: Vec<f64> = vec![];
        for i in 0..n {
            w.mix_row(i, &x, &mut mixed);
            moved.push(x[i] - mixed[0]);
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let length = dot(&moved, &moved).sqrt();
        if length == 0.0 {
            break; // all agents hold the same
        }
        least = 1.0 - dot(&x, &moved) / dot(&x, &x);
        x = moved.iter().map(|x| x / length).collect();
    }
    least
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
