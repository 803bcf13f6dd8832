//! Centralised methods: the bounds that decentralised ones are measured against.
//!
//! They need no engine of their own: an agent pushes its estimate of the gradient, and mixing with C = 11ᵀ/n
//! hands everyone the mean ḡ. All agents then take the same step. They add the same numbers in the same
//! order, so they hold the same x to the last bit. How the step is made of ḡ is a [`Descent`]; what is
//! averaged is an [`Estimator`].

mod adam;
mod csgdm;

pub use adam::{Adam, AdamDescent};
pub use csgdm::{Csgdm, MomentumDescent};

pub(super) use adam::KIND as ADAM;
pub(super) use csgdm::KIND as CSGDM;

use std::fmt::Debug;

use crate::Result;
use crate::method::{Ask, At, Mail, Method, Network, Numbers, OfRound, Profile, Roles, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, Skeleton, Storm, with_any};
use crate::methods::{Kind, Trust};
use crate::numeric::{Lanes, Real};

/// How a step is made of the mean gradient: one coordinate of it.
pub trait Descent: Send + Sync + Debug + 'static {
    /// What it keeps besides x; zero at first.
    type Memory<S: Real>: Numbers<S>;
    /// The letters of x, of what it keeps, and of the estimate whose mean it is given.
    const NAMES: &'static [&'static str];

    /// Numbers that are the same for all coordinates of a round.
    #[inline(always)]
    fn constants(&self) -> [OfRound; 2] {
        [OfRound::Zero; 2]
    }

    /// x⁺ and what is kept, from the mean ḡ.
    fn descend<S: Real>(&self, at: At<S>, x: S, memory: Self::Memory<S>, mean: S) -> (S, Self::Memory<S>);
}

/// Centralised descent; state is x, the descent's memory, the estimate and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Central<D, E = Gradient> {
    descent: D,
    estimator: E,
}

/// x⁺ = x − ηḡ.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain;

impl Descent for Plain {
    type Memory<S: Real> = ();
    const NAMES: &'static [&'static str] = &["x", "d"];

    #[inline(always)]
    fn descend<S: Real>(&self, at: At<S>, x: S, _memory: (), mean: S) -> (S, ()) {
        (x - at.η * mean, ())
    }
}

impl<D: Descent> Central<D> {
    /// This descent along the mean gradient.
    pub const fn from_descent(descent: D) -> Self {
        Self { descent, estimator: Gradient }
    }

    /// The same along the mean of what another estimator makes of the gradients.
    pub fn with<E: Estimator>(self, estimator: E) -> Central<D, LookingBack<E>> {
        Central { descent: self.descent, estimator: LookingBack(estimator) }
    }
}

impl<D: Descent, E: Estimator> Rule for Central<D, E> {
    type State<S: Real> = ((S, D::Memory<S>), (S, E::Memory<S>));
    type Pull<S: Real> = ();
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = D::NAMES;

    fn profile(&self) -> Profile {
        type Probe = Lanes<f64, 1>;
        let place = 1 + <D::Memory<Probe> as Numbers<Probe>>::COUNT;
        let roles = Roles { momentum: self.estimator.averages().then_some(place), ..Roles::default() };
        estimator::profile(Network::Central, &self.estimator).with_roles(roles)
    }

    #[inline(always)]
    fn constants(&self) -> [OfRound; 2] {
        self.descent.constants()
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        ((x, Numbers::load(0, &mut |_| S::zero())), self.estimator.first(x, g))
    }

    #[inline(always)]
    fn send<S: Real>(&self, _: At<S>, (_, (estimate, _)): Self::State<S>) -> Mail<(), S> {
        Mail { pull: (), push: estimate }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, ((x, memory), _): Self::State<S>, heard: Mail<(), S>) -> [S; 2] {
        [self.descent.descend(at, x, memory, heard.push).0, x]
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ((x, memory), (estimate, estimator_memory)): Self::State<S>,
        heard: Mail<(), S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let next = self.estimator.next(x, estimate, estimator_memory, g); // for the next mean
        (self.descent.descend(at, x, memory, heard.push), next)
    }
}

/// An estimator that keeps the point before, too.
#[derive(Debug, Clone, PartialEq)]
pub struct LookingBack<E>(E);

impl<E: Estimator> Estimator for LookingBack<E> {
    type Memory<S: Real> = (S, E::Memory<S>);

    fn averages(&self) -> bool {
        self.0.averages()
    }

    fn asks(&self) -> [Ask; 2] {
        self.0.asks()
    }

    #[inline(always)]
    fn first<S: Real>(&self, x: S, g: [S; 2]) -> (S, Self::Memory<S>) {
        let (m, memory) = self.0.first(x, g);
        (m, (x, memory))
    }

    #[inline(always)]
    fn next<S: Real>(&self, x: S, m: S, (_, memory): Self::Memory<S>, g: [S; 2]) -> (S, Self::Memory<S>) {
        let (m, memory) = self.0.next(x, m, memory, g);
        (m, (x, memory))
    }
}

/// Plain descent, around any estimator.
struct Around;

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(Central::from_descent(Plain).with(estimator)))
    }
}

pub(super) const SGD: Kind = Kind {
    reference: "Robbins & Monro 1951",
    trust: Trust::A,
    with_estimator: Some(|_, estimator| with_any(estimator, Around)),
    ..Kind::new("sgd", "centralised SGD: as if everyone heard everyone", |_| {
        Ok(Box::new(Central::from_descent(Plain)))
    })
};

/// The mean of the agents' estimates is STORM's estimate on the mean of their samples: it is linear in the
/// gradients.
pub(super) const STORM: Kind = Kind {
    name: "central-storm",
    about: "centralised STORM: momentum that corrects itself as the point moves",
    reference: "Cutkosky & Orabona 2019",
    parameters: &[estimator::STORM],
    build: |parameters| {
        let storm = Storm::new("central-storm", parameters.real("momentum")?)?;
        Ok(Box::new(Central::from_descent(Plain).with(storm)))
    },
    with_estimator: None,
    ..SGD
};
