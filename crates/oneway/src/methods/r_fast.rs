//! R-FAST, Robust Fully-Asynchronous Stochastic gradient Tracking (Zhu, Tian, Huang, Xu & He 2024).
//!
//! When agent i wakes: x⁺ = Σ_j R_ij (x_j − ηz_j) with what it has heard last; s = z + Σ_j (ρ_ij − ρ̃_ij) +
//! g⁺ − g; z⁺ = C_ii s, and ρ_ji grows by C_ji s. The ρ are running sums, so that what a lost packet carried
//! comes with the next.
//!
//! This is the round of an agent; who wakes, what is lost and the running sums belong to the engine. With
//! everyone awake and nothing lost, z + Σ_j (ρ_ij − ρ̃_ij) is Σ_j C_ij s_j, self included, and a round is
//!
//! X⁺ = R(X − ηZ); S⁺ = CS + G⁺ − G; Z = diag(C)·S, from S₀ = G₀:
//!
//! Push-Pull in which an agent descends along the share of its tracker that it keeps. So the average moves by
//! η·nΣ_i π_R,i C_ii π_C,i times the mean gradient, and that, not c_π, is what an effective step is divided
//! by.
//!
//! The rule is from memory. What is tested: the recursion of S, the law (1/n)Σs = (1/n)Σg, and that diag(C)
//! is all that tells it from Push-Pull. Not verified against the authors' text: the start z₀ = C_ii g₀ and
//! the weights of links that change with the round, where C_ii is that of the round before. In wrappers C_ii
//! stays the network's: with K exchanges it is not (C^K)_ii, in a local round not 1.

use crate::Result;
use crate::graph::topology::{Stationary, Subgraph, Topology};
use crate::method::{At, Mail, Method, Network, Profile, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{Kind, Trust};
use crate::numeric::Real;

/// Push-Pull along the kept share of the tracker; state is (x, s, m, z) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RFast<E> {
    estimator: E,
}

impl<E: Estimator> RFast<E> {
    /// R-FAST with this estimator in place of gradients.
    pub fn from_estimator(estimator: E) -> Self {
        Self { estimator }
    }
}

impl<E: Estimator> Rule for RFast<E> {
    type State<S: Real> = ([S; 4], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "s", "m", "z"];
    const LOOKS_AT_KEPT: bool = true;

    fn profile(&self) -> Profile {
        estimator::tracking(Network::PushPull, &self.estimator)
    }

    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        let (n, rounds) = (topology.agents(), topology.period().len() as u64);
        let moves = |k: u64| {
            let (Stationary { pull, push, .. }, kept) =
                (topology.stationary(k)?, topology.at(k + rounds - 1));
            Ok((0..n).map(|i| pull[i] * kept.push.weight(i, i) * push[i]).sum::<f64>() * n as f64)
        };
        Ok((0..rounds).map(moves).sum::<Result<f64>>()? / rounds as f64)
    }

    #[inline(always)]
    fn start<S: Real>(&self, at: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m, m, at.kept * m], memory) // s₀ = m₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([x, s, _m, z], _): Self::State<S>) -> Mail<S, S> {
        Mail { pull: x - at.η * z, push: s }
    }

    #[inline(always)]
    fn points<S: Real>(&self, _: At<S>, ([x, ..], _): Self::State<S>, heard: Mail<S, S>) -> [S; 2] {
        [heard.pull, x] // x⁺ = Σ_j R_ij (x_j − η z_j)
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, _s, m, _z], memory): Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let (m_next, memory) = self.estimator.next(x, m, memory, g); // m⁺ at x⁺
        let s_next = heard.push + (m_next - m); //                      s⁺ = Σ_j C_ij s_j + m⁺ − m
        ([heard.pull, s_next, m_next, at.kept * s_next], memory) //     z⁺ = C_ii s⁺
    }
}

/// Around any estimator.
struct Around;

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(RFast::from_estimator(estimator)))
    }
}

pub(super) const KIND: Kind = Kind {
    reference: "Zhu, Tian, Huang, Xu & He 2024",
    trust: Trust::C,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    with_estimator: Some(|_, estimator| with_any(estimator, Around)),
    ..Kind::new(
        "r-fast",
        "R-FAST: Push-Pull along the kept share of the tracker, made for agents that wake when they like",
        |_| Ok(Box::new(RFast::from_estimator(Gradient))),
    )
};
