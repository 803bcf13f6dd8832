//! The newest gradient, or the mean of a few of them.

use super::{Estimator, EstimatorKind};
use crate::method::Local;
use crate::parameters::Parameter;
use crate::problem::Problem;
use crate::{Error, Result};

/// The newest stochastic gradient itself: m⁺ = ∇F_i(x⁺; ξ⁺).
#[derive(Debug, Clone, PartialEq)]
pub struct Gradient;

impl Estimator for Gradient {
    fn averages(&self) -> bool {
        false
    }

    fn first(&self, x: &[f64], m: &mut [f64], _memory: &mut [f64], local: &mut Local<'_>) {
        m.copy_from_slice(local.gradient(x));
    }

    #[inline(always)]
    fn next<'l>(
        &self,
        _x: &[f64],
        x_next: &[f64],
        _m: &[f64],
        _memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        local.gradient(x_next)
    }
}

/// The mean of K gradients at one point, each with a sample of its own: m⁺ = (1/K) Σ_s ∇F_i(x⁺; ξ_s⁺).
///
/// Its noise has a K-th of the variance. Its memory is the sum.
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

    /// Puts the mean into the place of the last gradient.
    #[inline(always)]
    fn mean<'l>(&self, x: &[f64], sum: &mut [f64], local: &'l mut Local<'_>) -> &'l [f64] {
        sum.fill(0.0);
        for _ in 1..self.samples {
            sum.iter_mut().zip(&*local.gradient(x)).for_each(|(sum, g)| *sum += g);
        }
        let g = local.gradient(x);
        let samples = self.samples as f64;
        g.iter_mut().zip(sum).for_each(|(g, sum)| *g = (*sum + *g) / samples);
        g
    }
}

impl Estimator for MeanGradient {
    fn memory(&self, _problem: &dyn Problem) -> usize {
        1
    }

    fn averages(&self) -> bool {
        false
    }

    fn first(&self, x: &[f64], m: &mut [f64], memory: &mut [f64], local: &mut Local<'_>) {
        m.copy_from_slice(self.mean(x, memory, local));
    }

    #[inline(always)]
    fn next<'l>(
        &self,
        _x: &[f64],
        x_next: &[f64],
        _m: &[f64],
        memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        self.mean(x_next, memory, local)
    }
}

/// K, the number of gradients in a mean.
pub(in crate::methods) const SAMPLES: Parameter = Parameter {
    name: "samples",
    about: "K, how many gradients are averaged in each round",
    default: Some(1.0),
};

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "gradient",
    about: "the newest stochastic gradient, or the mean of several",
    rule: "m⁺ = (1/K) Σ_s ∇F_i(x⁺; ξ_s⁺)",
    parameters: &[SAMPLES],
    build: |parameters| match parameters.count("samples")? {
        1 => Ok(Box::new(Gradient)),
        samples => Ok(Box::new(MeanGradient::new("gradient", samples)?)),
    },
};
