//! Estimators: what an agent makes of its stochastic gradients before it shares it.
//!
//! A method that tracks does not mind what it tracks. With plain gradients Push-Pull is Push-Pull, with
//! momentum it is SMTPP, with SAGA's table it has no noise floor. So an estimator is a part that methods are
//! built with, not a method.

mod any;
mod gradient;
mod heavy_ball;
mod momentum;
pub(super) mod saga;
mod storm;

pub use any::{AnyEstimator, Corrected, Simple};
pub use gradient::{Gradient, MeanGradient};
pub use heavy_ball::HeavyBall;
pub use momentum::Momentum;
pub use saga::Saga;
pub use storm::Storm;

pub(super) use any::{Skeleton, with_any};
pub(super) use storm::STORM;

use std::fmt::Debug;

use crate::Result;
use crate::method::{Ask, Network, Numbers, Profile, Roles};
use crate::numeric::Real;
use crate::parameters::{Parameter, Parameters, entry, find};

/// An estimate m of ∇f_i(x), kept up to date as x moves: one coordinate of it.
pub trait Estimator: Send + Sync + Debug + 'static {
    /// What it keeps besides m.
    type Memory<S: Real>: Numbers<S>;

    /// Whether m is more than the newest gradient, so that its distance from ∇f_i(x_i) says something of its
    /// own.
    fn averages(&self) -> bool {
        true
    }

    /// The gradients it asks for: at the start, and after an exchange.
    fn asks(&self) -> [Ask; 2] {
        [Ask::ONE; 2]
    }

    /// m₀ and the memory, at x₀.
    fn first<S: Real>(&self, x: S, g: [S; 2]) -> (S, Self::Memory<S>);

    /// m⁺ and the memory, from the gradients at x⁺; m belongs to x.
    fn next<S: Real>(&self, x: S, m: S, memory: Self::Memory<S>, g: [S; 2]) -> (S, Self::Memory<S>);
}

/// The profile of a rule on this network that asks for what its estimator asks for.
pub(super) fn profile(network: Network, estimator: &impl Estimator) -> Profile {
    let [start, ask] = estimator.asks();
    Profile::new(network).asking(start, ask)
}

/// The profile of a tracker on this network, whose state begins with (x, v, m) and whose push row is v: v
/// tracks m, which the estimator makes.
pub(super) fn tracking(network: Network, estimator: &impl Estimator) -> Profile {
    profile(network, estimator).with_roles(Roles::tracking(estimator.averages()))
}

/// An estimator as the registry knows it.
#[derive(Debug)]
pub struct EstimatorKind {
    /// Its name in an experiment file.
    pub name: &'static str,
    /// What it is, in a line.
    pub about: &'static str,
    /// Its update rule, in a line.
    pub rule: &'static str,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes it.
    pub build: fn(&Parameters) -> Result<AnyEstimator>,
}

entry!(EstimatorKind, "estimator");

/// Every estimator there is.
pub static ESTIMATORS: &[EstimatorKind] =
    &[gradient::KIND, momentum::KIND, heavy_ball::KIND, storm::KIND, saga::KIND];

/// The estimator called `name`; the error suggests the nearest name.
pub fn estimator(name: &str) -> Result<&'static EstimatorKind> {
    find(ESTIMATORS, name)
}
