//! Estimators: what an agent makes of its stochastic gradients before it shares it.
//!
//! A method that tracks does not mind what it tracks. With plain gradients Push-Pull is Push-Pull, with momentum it is SMTPP,
//! with SAGA's table it has no noise floor. So an estimator is a part that methods are built with, not a method.

mod gradient;
mod heavy_ball;
mod momentum;
mod saga;
mod storm;

pub use gradient::{Gradient, MeanGradient};
pub use heavy_ball::HeavyBall;
pub use momentum::Momentum;
pub use saga::Saga;
pub use storm::Storm;

pub(super) use storm::STORM;

use std::fmt::Debug;

use crate::method::Local;
use crate::parameters::{Parameter, Parameters};
use crate::problem::Problem;
use crate::{Error, Result};

/// An estimate m of ∇f_i(x), kept up to date as x moves.
pub trait Estimator: Send + Sync + Debug + 'static {
    /// Vectors that it keeps besides m, on this problem.
    fn memory(&self, _problem: &dyn Problem) -> usize {
        0
    }

    /// Whether m is more than the newest gradient, so that its distance from ∇f_i(x_i) says something of its own.
    fn averages(&self) -> bool {
        true
    }

    /// Whether it can work on this problem; the error says what is missing.
    fn check(&self, _problem: &dyn Problem) -> Result<()> {
        Ok(())
    }

    /// Writes m₀ and the memory, at x₀.
    fn first(&self, x: &[f64], m: &mut [f64], memory: &mut [f64], local: &mut Local<'_>);

    /// m⁺ at `x_next`, where m belongs to `x`; the caller puts it in the place of m.
    fn next<'l>(
        &self,
        x: &[f64],
        x_next: &[f64],
        m: &[f64],
        memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64];
}

/// One that was chosen at run time.
impl Estimator for Box<dyn Estimator> {
    fn memory(&self, problem: &dyn Problem) -> usize {
        (**self).memory(problem)
    }

    fn averages(&self) -> bool {
        (**self).averages()
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        (**self).check(problem)
    }

    fn first(&self, x: &[f64], m: &mut [f64], memory: &mut [f64], local: &mut Local<'_>) {
        (**self).first(x, m, memory, local);
    }

    fn next<'l>(
        &self,
        x: &[f64],
        x_next: &[f64],
        m: &[f64],
        memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        (**self).next(x, x_next, m, memory, local)
    }
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
    pub build: fn(&Parameters) -> Result<Box<dyn Estimator>>,
}

/// Every estimator there is.
pub const ESTIMATORS: &[EstimatorKind] =
    &[gradient::KIND, momentum::KIND, heavy_ball::KIND, storm::KIND, saga::KIND];

/// The estimator called `name`; the error suggests the nearest name.
pub fn estimator(name: &str) -> Result<&'static EstimatorKind> {
    ESTIMATORS
        .iter()
        .find(|kind| kind.name == name)
        .ok_or_else(|| Error::unknown("estimator", name, ESTIMATORS.iter().map(|kind| kind.name)))
}
