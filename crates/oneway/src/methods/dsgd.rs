//! DSGD, decentralised SGD (Lian et al. 2017): step and average with the neighbours, nothing else.
//!
//! X⁺ = W(X − ηM), adapt then combine; or X⁺ = WX − ηM, combine then adapt. M⁺ is the estimator's: gradients
//! make DSGD, a heavy ball M⁺ = μM + G⁺ makes the rounds of PD-SGDM (Gao & Huang 2020) that exchange. One
//! doubly stochastic W is all that is asked for: it keeps the mean, so that x̄⁺ = x̄ − ηm̄ on any balanced
//! digraph. No bias is corrected: where data differ, agents stop an O(η) apart.

use crate::Result;
use crate::method::{At, Mail, Method, Network, Profile, Roles, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, Skeleton, with_any};
use crate::methods::{Kind, Trust};
use crate::numeric::Real;
use crate::parameters::{Parameter, Parameters};

/// Steps and averages; state is (x, m), x⁺ while it is worked out if it combines first, and the estimator's
/// memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dsgd<E> {
    estimator: E,
    combine_first: bool,
}

impl<E: Estimator> Dsgd<E> {
    /// Adapt then combine: X⁺ = W(X − ηM).
    pub fn new(estimator: E) -> Self {
        Self { estimator, combine_first: false }
    }

    /// Combine then adapt: X⁺ = WX − ηM.
    pub fn combine_first(self) -> Self {
        Self { combine_first: true, ..self }
    }

    /// x⁺, from what was heard.
    #[inline(always)]
    fn moved<S: Real>(&self, at: At<S>, m: S, heard: S) -> S {
        if self.combine_first { heard - at.η * m } else { heard }
    }
}

impl<E: Estimator> Rule for Dsgd<E> {
    type State<S: Real> = ([S; 2], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = ();
    const NAMES: &'static [&'static str] = &["x", "m"];

    fn profile(&self) -> Profile {
        let roles = Roles { momentum: self.estimator.averages().then_some(1), ..Roles::default() };
        estimator::profile(Network::Balanced, &self.estimator).with_roles(roles)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, m], memory)
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([x, m], _): Self::State<S>) -> Mail<S, ()> {
        Mail { pull: if self.combine_first { x } else { x - at.η * m }, push: () }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, ([x, m], _): Self::State<S>, heard: Mail<S, ()>) -> [S; 2] {
        [self.moved(at, m, heard.pull), x] // x⁺ = Σ_j W_ij (x_j − η m_j), or Σ_j W_ij x_j − η m
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, m], memory): Self::State<S>,
        heard: Mail<S, ()>,
        g: [S; 2],
    ) -> Self::State<S> {
        let (m_next, memory) = self.estimator.next(x, m, memory, g); // m⁺ at x⁺
        ([self.moved(at, m, heard.pull), m_next], memory)
    }
}

/// In the order of the parameters, around any estimator.
struct Around {
    combine_first: bool,
}

impl Around {
    fn new(parameters: &Parameters) -> Result<Self> {
        Ok(Self { combine_first: parameters.flag("combine_first")? })
    }
}

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(Dsgd { estimator, combine_first: self.combine_first }))
    }
}

const COMBINE_FIRST: Parameter = Parameter::flag(
    "combine_first",
    "true averages first and then steps, X⁺ = WX − ηG; false steps first",
    false,
);

pub(super) const KIND: Kind = Kind {
    reference: "Lian, Zhang, Zhang, Hsieh, Zhang & Liu 2017",
    trust: Trust::A,
    parameters: &[COMBINE_FIRST],
    with_estimator: Some(|parameters, estimator| with_any(estimator, Around::new(parameters)?)),
    ..Kind::new("dsgd", "decentralised SGD: step, and average with the neighbours", |parameters| {
        Around::new(parameters)?.around(Gradient)
    })
};
