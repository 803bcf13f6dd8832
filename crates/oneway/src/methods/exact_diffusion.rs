//! Exact diffusion and D² (Yuan, Ying, Zhao & Sayed 2019; Tang, Lian, Yan, Zhang & Liu 2018), in the SUDA
//! framework of Alghunaim & Yuan (2022): the bias of DSGD corrected with a single exchange.
//!
//! X⁺ = W̃(2X − X⁻ − η(G − G⁻)) after X₁ = W̃(X₀ − ηG₀), with W̃ = (I + W)/2 for exact diffusion and W̃ = W
//! for D².
//!
//! It tracks without sending a tracker. With V = G + (X⁻ − X)/η − G⁻, what is mixed is X − ηV, and the rule
//! becomes
//!
//! X⁺ = W̃(X − ηV); V⁺ = (X − X⁺)/η + G⁺ − G, from V₀ = G₀.
//!
//! W̃ keeps the mean, so (1/n)ΣV = (1/n)ΣG in every round. A rule with two rounds in it is open to
//! interpretation where η changes; in this form each round uses its own η, x̄ moves by −η_k·ḡ, and V needs no
//! time to adapt to a new step.
//!
//! W must be symmetric and stay the same. Its eigenvalues λ must be real and −1/3 or more in W̃ (z² = λ(2z − 1) then has its
//! roots inside the unit disc; at −1/3 one is −1, and only curvature damps it), which (I + W)/2 always satisfies. D² leaves that to the network, and refuses one that has not got
//! it; with W_ii > 1/3 everywhere all have. D² on (I + W)/2 is exact diffusion on W. Networks that change are refused: V holds
//! (I − W̃)X/η of the last round, and with another W̃ in the next one iterates have been seen to grow without bound, on random
//! matchings for D², on sparse random links for exact diffusion.

use crate::graph::mixing::Mixing;
use crate::graph::topology::Topology;
use crate::method::{At, Mail, Method, Network, Profile, Reliance, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{Kind, Trust, slope};
use crate::numeric::Real;
use crate::numeric::sample::{Draws, Purpose};
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

    /// x⁺ = Σ_j W̃_ij (x_j − η v_j), W̃ = (1−τ)I + τW.
    #[inline(always)]
    fn moved<S: Real>(&self, at: At<S>, [x, v]: [S; 2], heard: S) -> S {
        let τ = S::constant(self.share);
        (S::one() - τ) * (x - at.η * v) + τ * heard
    }
}

impl<E: Estimator> Rule for ExactDiffusion<E> {
    type State<S: Real> = ([S; 3], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = ();
    const NAMES: &'static [&'static str] = &["x", "v", "m"];

    fn profile(&self) -> Profile {
        let mut profile = estimator::tracking(Network::Undirected, &self.estimator);
        profile.roles.tracker_sent = None; // it never travels
        profile.reliance = Reliance::WholeMessages;
        profile
    }

    fn check_network(&self, topology: &Topology) -> Result<()> {
        let lowest = least_eigenvalue(&topology.at(0).pull);
        match (1.0 - self.share) + self.share * lowest < -1.0 / 3.0 - 1e-6 {
            true => Err(Error::EigenvalueTooLow { least: lowest }),
            false => Ok(()),
        }
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m, m], memory) // v₀ = m₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([x, v, _m], _): Self::State<S>) -> Mail<S, ()> {
        Mail { pull: x - at.η * v, push: () }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, ([x, v, _m], _): Self::State<S>, heard: Mail<S, ()>) -> [S; 2] {
        [self.moved(at, [x, v], heard.pull), x]
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, v, m], memory): Self::State<S>,
        heard: Mail<S, ()>,
        g: [S; 2],
    ) -> Self::State<S> {
        let x_next = self.moved(at, [x, v], heard.pull);
        let (m_next, memory) = self.estimator.next(x, m, memory, g); // m⁺ at x⁺
        ([x_next, slope(x, x_next, at.η, m) + (m_next - m), m_next], memory) // v⁺ = (x − x⁺)/η + m⁺ − m
    }
}

/// With this share of W, around any estimator.
struct Around(f64);

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(ExactDiffusion { estimator, share: self.0 }))
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
    reference: "Yuan, Ying, Zhao & Sayed 2019; Alghunaim & Yuan 2022",
    trust: Trust::B,
    with_estimator: Some(|_, estimator| with_any(estimator, Around(0.5))),
    ..Kind::new(
        "exact-diffusion",
        "exact diffusion: no bias where data differ, for the price of one exchange",
        |_| Ok(Box::new(ExactDiffusion::new(Gradient))),
    )
};

pub(super) const D2: Kind = Kind {
    name: "d2",
    about: "D²: exact diffusion with W itself, whose eigenvalues must be above −1/3",
    reference: "Tang, Lian, Yan, Zhang & Liu 2018; Alghunaim & Yuan 2022",
    build: |_| Ok(Box::new(ExactDiffusion::d2(Gradient))),
    with_estimator: Some(|_, estimator| with_any(estimator, Around(1.0))),
    ..EXACT_DIFFUSION
};
