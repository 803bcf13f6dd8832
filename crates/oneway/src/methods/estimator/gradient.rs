//! The newest gradient, or the mean of a few of them.

use super::{AnyEstimator, Estimator, EstimatorKind, Simple};
use crate::method::Ask;
use crate::numeric::Real;
use crate::parameters::Parameter;
use crate::{Error, Result};

/// The newest stochastic gradient itself: m⁺ = ∇F_i(x⁺; ξ⁺).
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient;

impl Estimator for Gradient {
    type Memory<S: Real> = ();

    fn averages(&self) -> bool {
        false
    }

    #[inline(always)]
    fn first<S: Real>(&self, _x: S, [g, _]: [S; 2]) -> (S, ()) {
        (g, ())
    }

    #[inline(always)]
    fn next<S: Real>(&self, _x: S, _m: S, _memory: (), [g, _]: [S; 2]) -> (S, ()) {
        (g, ())
    }
}

/// The mean of K gradients at one point, each with a sample of its own: m⁺ = (1/K) Σ_s ∇F_i(x⁺; ξ_s⁺).
///
/// Its noise has a K-th of the variance. Its memory is the sum of all but the last.
#[derive(Debug, Clone, PartialEq)]
pub struct MeanGradient {
    samples: usize,
}

impl MeanGradient {
    /// The mean of K ≥ 1 gradients, for the method called `owner`; K = 1 is [`Gradient`].
    pub fn new(owner: &str, samples: usize) -> Result<Self> {
        let expected = "a mean needs at least one gradient";
        (samples > 0)
            .then_some(Self { samples })
            .ok_or_else(|| Error::parameter(owner, "samples", samples, expected))
    }
}

impl Estimator for MeanGradient {
    type Memory<S: Real> = S;

    fn averages(&self) -> bool {
        false
    }

    fn asks(&self) -> [Ask; 2] {
        [Ask::Samples(self.samples); 2]
    }

    #[inline(always)]
    fn first<S: Real>(&self, _x: S, [g, sum]: [S; 2]) -> (S, S) {
        ((sum + g) / S::parameter("K", self.samples as f64), sum)
    }

    #[inline(always)]
    fn next<S: Real>(&self, x: S, _m: S, _memory: S, g: [S; 2]) -> (S, S) {
        self.first(x, g)
    }
}

/// K, the number of gradients in a mean.
pub(super) const SAMPLES: Parameter =
    Parameter::whole("samples", "K, how many gradients are averaged in each round", 1);

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "gradient",
    about: "the newest stochastic gradient, or the mean of several",
    rule: "m⁺ = (1/K) Σ_s ∇F_i(x⁺; ξ_s⁺)",
    parameters: &[SAMPLES],
    build: |parameters| match parameters.count("samples")? {
        1 => Ok(AnyEstimator::Simple(Simple::Gradient(Gradient))),
        samples => Ok(MeanGradient::new("gradient", samples)?.into()),
    },
};
