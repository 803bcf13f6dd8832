//! R-FAST, Robust Fully-Asynchronous Stochastic gradient Tracking (Zhu, Tian, Huang, Xu & He 2024).
//!
//! When agent i wakes: x⁺ = Σ_j R_ij (x_j − ηz_j) with what it has heard last; s = z + Σ_j (ρ_ij − ρ̃_ij) + g⁺ − g; z⁺ = C_ii s, and
//! ρ_ji grows by C_ji s. The ρ are running sums, so that what a lost packet carried comes with the next.
//!
//! This is the round of an agent; who wakes, what is lost and the running sums belong to the engine. With everyone awake and
//! nothing lost, z + Σ_j (ρ_ij − ρ̃_ij) is Σ_j C_ij s_j, self included, and a round is
//!
//! X⁺ = R(X − ηZ); S⁺ = CS + G⁺ − G; Z = diag(C)·S, from S₀ = G₀:
//!
//! Push-Pull in which an agent descends along the share of its tracker that it keeps. So the average moves by η·nΣ_i π_R,i C_ii
//! π_C,i times the mean gradient, and that, not c_π, is what an effective step is divided by.
//!
//! The rule is from memory. What is tested: the recursion of S, the law (1/n)Σs = (1/n)Σg, and that diag(C) is all that tells it from
//! Push-Pull. Not verified against the authors' text: the start z₀ = C_ii g₀ and the weights of links that change with the round,
//! where C_ii is that of the round before. In wrappers C_ii stays the network's: with K exchanges it is not (C^K)_ii, in a local
//! round not 1.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{Kind, Trust, track};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::{Stationary, Subgraph, Topology};

/// Push-Pull along the kept share of the tracker; state is (x, s, m, z) and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct RFast<E> {
    estimator: E,
}

impl<E: Estimator> RFast<E> {
    /// R-FAST with this estimator in place of gradients.
    pub fn of(estimator: E) -> Self {
        Self { estimator }
    }
}

impl<E: Estimator> Method for RFast<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(4 + self.estimator.memory(problem));
        Layout { state, pull: Width::vectors(1), push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        Network::PushPull
    }

    fn roles(&self) -> Roles {
        let momentum = self.estimator.averages().then_some(2);
        Roles { tracker: Some(1), tracked: Some(2), momentum, tracker_sent: Some(0), ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    /// nΣ_i π_R,i C_ii π_C,i, averaged over the period; C_ii is that of the round before, when the share was kept.
    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        let (n, rounds) = (topology.agents(), topology.period().len() as u64);
        let moves = |k: u64| {
            let (Stationary { pull, push, .. }, kept) =
                (topology.stationary(k)?, topology.at(k + rounds - 1));
            Ok((0..n).map(|i| pull[i] * kept.push.weight(i, i) * push[i]).sum::<f64>() * n as f64)
        };
        Ok((0..rounds).map(moves).sum::<Result<f64>>()? / rounds as f64)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, s, m, z], memory) = row::split_head_mut(state, local.problem().dim());
        local.start(x);
        self.estimator.first(x, m, memory, local);
        s.copy_from_slice(m); // s₀ = m₀
        keep(z, s, local.own_push_weight());
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, s, _m, z], _memory) = row::split_head_mut(state, push.len());
        row::descend(pull, x, at.η, z); // x − ηz
        push.copy_from_slice(s);
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([x, s, m, z], memory) = row::split_head_mut(state, pulled.len());
        let c_ii = local.own_push_weight();
        let m_next = self.estimator.next(x, pulled, m, memory, local); // m⁺ at x⁺
        x.copy_from_slice(pulled); //                                     x⁺ = Σ_j R_ij (x_j − η z_j)
        track(s, pushed, m, m_next); //                                   s⁺ = Σ_j C_ij s_j + m⁺ − m
        keep(z, s, c_ii); //                                              z⁺ = C_ii s⁺
    }
}

#[inline(always)]
fn keep(z: &mut [f64], s: &[f64], c_ii: f64) {
    z.iter_mut().zip(s).for_each(|(z, s)| *z = c_ii * s);
}

pub(super) const KIND: Kind = Kind {
    name: "r-fast",
    about: "R-FAST: Push-Pull along the kept share of the tracker, made for agents that wake when they like",
    rule: "X⁺ = R(X − η·diag(C)·S); S⁺ = CS + G⁺ − G",
    reference: "Zhu, Tian, Huang, Xu & He 2024",
    trust: Trust::C,
    network: Network::PushPull,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[],
    build: |_| Ok(Box::new(RFast::of(Gradient))),
    with_estimator: Some(|_, estimator| Ok(Box::new(RFast::of(estimator)))),
};
