//! FROST, also called Pull-Diag-GT (Xin, Xi & Khan 2019): gradient tracking with row-stochastic R alone.
//!
//! Y⁺ = RY from Y₀ = I; X⁺ = RX − ηZ; Z⁺ = RZ + U⁺ − U with u_i = m_i/[y_i]_i, from Z₀ = U₀ = M₀. No agent
//! needs to know who hears it.
//!
//! Rows of Y = Rᵏ tend to π_Rᵀ, and so does the own entry [y_i]_i to π_R,i. Pulling trackers keeps Σ_i π_R,i
//! z_i = Σ_i π_R,i u_i, which tends to Σ_i m_i: dividing by [y_i]_i undoes the weight that R gives to an
//! agent. What is followed is the sum of the gradients, not their mean.
//!
//! Early on [y_i]_i may be far below π_R,i: on a directed ring it falls to 2⁻ⁿ before the walk comes round,
//! and the first gradients are blown up by as much. That is the rule, not its implementation.

use crate::Result;
use crate::method::{At, Carries, Mail, Method, Network, Profile, Roles, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{Kind, Trust};
use crate::numeric::Real;

/// Tracking by pulling; state is (x, z, u, m), the estimator's memory, and the row y of n numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Frost<E> {
    estimator: E,
}

impl<E: Estimator> Frost<E> {
    /// FROST with this estimator in place of gradients.
    pub fn from_estimator(estimator: E) -> Self {
        Self { estimator }
    }
}

impl<E: Estimator> Rule for Frost<E> {
    type State<S: Real> = ([S; 4], E::Memory<S>);
    type Pull<S: Real> = [S; 2];
    type Push<S: Real> = ();
    const CARRIES: Carries = Carries::Eigenvector; // y
    const NAMES: &'static [&'static str] = &["x", "z", "u", "m"];

    fn profile(&self) -> Profile {
        let momentum = self.estimator.averages().then_some(3);
        let roles = Roles { tracker: Some(1), tracked: Some(2), momentum, ..Roles::default() };
        estimator::profile(Network::PullOnly, &self.estimator).with_roles(roles)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m, m, m], memory) // z₀ = u₀ = m₀/1
    }

    #[inline(always)]
    fn send<S: Real>(&self, _: At<S>, ([x, z, ..], _): Self::State<S>) -> Mail<[S; 2], ()> {
        Mail { pull: [x, z], push: () }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, ([x, z, ..], _): Self::State<S>, heard: Mail<[S; 2], ()>) -> [S; 2] {
        let [r_x, _] = heard.pull;
        [r_x - at.η * z, x] // x⁺ = Σ_j R_ij x_j − η z
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, z, u, m], memory): Self::State<S>,
        heard: Mail<[S; 2], ()>,
        g: [S; 2],
    ) -> Self::State<S> {
        let [r_x, r_z] = heard.pull;
        let (m_next, memory) = self.estimator.next(x, m, memory, g);
        let u_next = m_next / at.w; //                                     u⁺ = m⁺ / [y_i⁺]_i
        ([r_x - at.η * z, r_z + (u_next - u), u_next, m_next], memory) //  z⁺ = Σ_j R_ij z_j + u⁺ − u
    }
}

/// Around any estimator.
struct Around;

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(Frost::from_estimator(estimator)))
    }
}

pub(super) const KIND: Kind = Kind {
    reference: "Xin, Xi & Khan 2019",
    trust: Trust::A,
    with_estimator: Some(|_, estimator| with_any(estimator, Around)),
    ..Kind::new(
        "frost",
        "FROST, or Pull-Diag-GT: gradient tracking for agents that do not know who hears them",
        |_| Ok(Box::new(Frost::from_estimator(Gradient))),
    )
};
