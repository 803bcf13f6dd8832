//! FROST, also called Pull-Diag-GT (Xin, Xi & Khan 2019): gradient tracking with row-stochastic R alone.
//!
//! Y⁺ = RY from Y₀ = I; X⁺ = RX − ηZ; Z⁺ = RZ + U⁺ − U with u_i = m_i/[y_i]_i, from Z₀ = U₀ = M₀. No agent needs to know who hears it.
//!
//! Rows of Y = Rᵏ tend to π_Rᵀ, and so does the own entry [y_i]_i to π_R,i. Pulling trackers keeps Σ_i π_R,i z_i = Σ_i π_R,i u_i, which
//! tends to Σ_i m_i: dividing by [y_i]_i undoes the weight that R gives to an agent. What is followed is the sum of the gradients, not
//! their mean.
//!
//! Early on [y_i]_i may be far below π_R,i: on a directed ring it falls to 2⁻ⁿ before the walk comes round, and the first gradients
//! are blown up by as much. That is the rule, not its implementation.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient};
use crate::methods::{Kind, Trust};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Tracking by pulling; state is (x, z, u, m), the estimator's memory, and the row y of n numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Frost<E> {
    estimator: E,
}

impl<E: Estimator> Frost<E> {
    /// FROST with this estimator in place of gradients.
    pub fn of(estimator: E) -> Self {
        Self { estimator }
    }
}

impl<E: Estimator> Method for Frost<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let n = problem.agents();
        let state = Width::vectors(4 + self.estimator.memory(problem)).and_scalars(n);
        Layout { state, pull: Width::vectors(2).and_scalars(n), push: Width::NONE }
    }

    fn network(&self) -> Network {
        Network::PullOnly
    }

    fn roles(&self) -> Roles {
        let momentum = self.estimator.averages().then_some(3);
        Roles { tracker: Some(1), tracked: Some(2), momentum, ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let (n, d) = (local.problem().agents(), local.problem().dim());
        let (state, y) = state.split_at_mut(state.len() - n);
        let ([x, z, u, m], memory) = row::split_head_mut(state, d);
        local.start(x);
        self.estimator.first(x, m, memory, local);
        y.fill(0.0);
        y[local.agent()] = 1.0; // y_i = e_i
        u.copy_from_slice(m); //   u₀ = m₀/1
        z.copy_from_slice(u); //   z₀ = u₀
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], _push: &mut [f64]) {
        let (vectors, y) = pull.split_at_mut(pull.len() - at.agents);
        vectors.copy_from_slice(&state[..vectors.len()]); // x, z
        y.copy_from_slice(&state[state.len() - at.agents..]);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], _pushed: &[f64], local: &mut Local<'_>) {
        let (pulled, r_y) = pulled.split_at(pulled.len() - at.agents);
        let ([r_x, r_z], []) = row::split(pulled);
        let (state, y) = state.split_at_mut(state.len() - at.agents);
        let ([x, z, u, m], memory) = row::split_head_mut(state, r_x.len());
        y.copy_from_slice(r_y); //                                        y⁺ = Σ_j R_ij y_j
        let x_next = z;
        for (z, r_x) in x_next.iter_mut().zip(r_x) {
            *z = r_x - at.η * *z; //                                      x⁺ = Σ_j R_ij x_j − η z
        }
        m.copy_from_slice(self.estimator.next(x, x_next, m, memory, local));
        x.copy_from_slice(x_next);
        let z = x_next;
        for (((z, r_z), u), m) in z.iter_mut().zip(r_z).zip(u).zip(m) {
            let u_next = *m / y[at.agent]; //                             u⁺ = m⁺ / [y_i⁺]_i
            *z = r_z + (u_next - *u); //                                  z⁺ = Σ_j R_ij z_j + u⁺ − u
            *u = u_next;
        }
    }
}

pub(super) const KIND: Kind = Kind {
    name: "frost",
    about: "FROST, or Pull-Diag-GT: gradient tracking for agents that do not know who hears them",
    rule: "Y⁺ = RY; X⁺ = RX − ηZ; z_i⁺ = Σ_j R_ij z_j + g_i⁺/[y_i⁺]_i − g_i/[y_i]_i",
    reference: "Xin, Xi & Khan 2019",
    trust: Trust::A,
    network: Network::PullOnly,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(Frost::of(Gradient))),
    with_estimator: Some(|_, estimator| Ok(Box::new(Frost::of(estimator)))),
};
