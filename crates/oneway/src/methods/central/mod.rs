//! Centralised methods: the bounds that decentralised ones are measured against.
//!
//! They need no engine of their own: an agent pushes its estimate of the gradient, and mixing with C = 11ᵀ/n hands everyone
//! the mean ḡ. All agents then take the same step. They add the same numbers in the same order, so they hold the same x to
//! the last bit. How the step is made of ḡ is a [`Descent`]; what is averaged is an [`Estimator`].

mod adam;
mod csgdm;

pub use adam::{Adam, AdamDescent};
pub use csgdm::{Csgdm, MomentumDescent};

pub(super) use adam::KIND as ADAM;
pub(super) use csgdm::KIND as CSGDM;

use std::fmt::Debug;

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{self, Estimator, Gradient, Storm};
use crate::methods::{Kind, Trust};
use crate::passes::{self, Passes};
use crate::problem::Problem;
use crate::row::Width;
use crate::topology::Subgraph;

/// How a step is made of the mean of all estimates.
pub trait Descent: Send + Sync + Debug {
    /// Vectors that it keeps; they start at zero.
    const MEMORY: usize;

    /// x ← x⁺, from the mean ḡ at x.
    fn descend(&self, at: Round, x: &mut [f64], memory: &mut [f64], mean: &[f64]);
}

/// Descent along the mean; state is x, the descent's memory, the agent's own estimate, and for estimators that look back the
/// last x and their memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Central<D, E = Gradient> {
    descent: D,
    estimator: E,
    looks_back: bool,
}

/// x⁺ = x − ηḡ: gradient descent.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain;

impl Descent for Plain {
    const MEMORY: usize = 0;

    #[inline(always)]
    fn descend(&self, at: Round, x: &mut [f64], _memory: &mut [f64], mean: &[f64]) {
        x.iter_mut().zip(mean).for_each(|(x, mean)| *x -= at.η * mean);
    }
}

impl<D: Descent> Central<D> {
    /// A descent along the mean of the newest gradients.
    pub const fn of(descent: D) -> Self {
        Self { descent, estimator: Gradient, looks_back: false }
    }

    /// The same along the mean of other estimates.
    pub fn with<E: Estimator>(self, estimator: E) -> Central<D, E> {
        Central { descent: self.descent, estimator, looks_back: true }
    }
}

/// A state row, taken apart.
struct Parts<'s> {
    x: &'s mut [f64],
    descent: &'s mut [f64],
    estimate: &'s mut [f64],
    x_before: &'s mut [f64],
    memory: &'s mut [f64],
}

impl<D: Descent, E: Estimator> Central<D, E> {
    #[inline(always)]
    fn split<'s>(&self, state: &'s mut [f64], d: usize) -> Parts<'s> {
        let (x, rest) = state.split_at_mut(d);
        let (descent, rest) = rest.split_at_mut(D::MEMORY * d);
        let (estimate, rest) = rest.split_at_mut(d);
        let (x_before, memory) = rest.split_at_mut(if self.looks_back { d } else { 0 });
        Parts { x, descent, estimate, x_before, memory }
    }
}

impl<D: Descent + 'static, E: Estimator> Method for Central<D, E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let own = 2 + D::MEMORY + usize::from(self.looks_back);
        let state = Width::vectors(own + self.estimator.memory(problem));
        Layout { state, pull: Width::NONE, push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        Network::Central
    }

    fn roles(&self) -> Roles {
        Roles { momentum: self.estimator.averages().then_some(1 + D::MEMORY), ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn own_passes(&self) -> Option<&dyn Passes> {
        passes::compiled(self)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let Parts { x, descent, estimate, x_before, memory } = self.split(state, local.problem().dim());
        local.start(x);
        descent.fill(0.0);
        x_before.copy_from_slice(&x[..x_before.len()]);
        self.estimator.first(x, estimate, memory, local);
    }

    #[inline(always)]
    fn send(&self, _at: Round, state: &mut [f64], _pull: &mut [f64], push: &mut [f64]) {
        push.copy_from_slice(self.split(state, push.len()).estimate);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], _pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let Parts { x, descent, estimate, x_before, memory } = self.split(state, pushed.len());
        x_before.copy_from_slice(&x[..x_before.len()]);
        self.descent.descend(at, x, descent, pushed);
        let x_before = if self.looks_back { &*x_before } else { &*x };
        estimate.copy_from_slice(self.estimator.next(x_before, x, estimate, memory, local)); // for the next mean
    }
}

pub(super) const SGD: Kind = Kind {
    name: "sgd",
    about: "centralised SGD: as if everyone heard everyone",
    rule: "x⁺ = x − ηḡ",
    reference: "Robbins & Monro 1951",
    trust: Trust::A,
    network: Network::Central,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(Central::of(Plain))),
    with_estimator: Some(|_, estimator| Ok(Box::new(Central::of(Plain).with(estimator)))),
};

/// The mean of the agents' estimates is STORM's estimate on the mean of their samples: it is linear in the gradients.
pub(super) const STORM: Kind = Kind {
    name: "central-storm",
    about: "centralised STORM: momentum that corrects itself as the point moves",
    rule: "d⁺ = ḡ(x⁺; ξ⁺) + (1−a)(d − ḡ(x; ξ⁺)); x⁺ = x − ηd",
    reference: "Cutkosky & Orabona 2019",
    parameters: &[estimator::STORM],
    build: |parameters| {
        let storm = Storm::new("central-storm", parameters.real("momentum")?)?;
        Ok(Box::new(Central::of(Plain).with(storm)))
    },
    with_estimator: None,
    ..SGD
};
