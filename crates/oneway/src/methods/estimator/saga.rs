//! SAGA (Defazio, Bach & Lacoste-Julien 2014): a table of the gradients last seen, one for each sample.

use super::{Estimator, EstimatorKind};
use crate::method::Local;
use crate::problem::Problem;
use crate::{Error, Result};

/// m⁺ = ∇f_is(x⁺) − table_s + mean(table) with s drawn afresh; then table_s ← ∇f_is(x⁺). From a table made at x₀, m₀ = ∇f_i(x₀).
///
/// As x settles so does the table, and the noise is gone: on a finite sum there is no floor. Its memory is the table and its
/// mean, a vector for each sample and one more. A round costs one component's gradient, whatever the problem's batch is.
#[derive(Debug, Clone, PartialEq)]
pub struct Saga;

impl Estimator for Saga {
    fn memory(&self, problem: &dyn Problem) -> usize {
        problem.samples().unwrap_or(0) + 1
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        match problem.samples() {
            Some(1..) => Ok(()),
            _ => Err(Error::Unfit(
                "SAGA keeps a gradient for each sample, and this problem is no finite sum of samples"
                    .to_owned(),
            )),
        }
    }

    fn first(&self, x: &[f64], m: &mut [f64], memory: &mut [f64], local: &mut Local<'_>) {
        let (mean, table) = memory.split_at_mut(m.len());
        let samples = table.len() / m.len().max(1);
        mean.fill(0.0);
        for (sample, row) in table.chunks_exact_mut(m.len().max(1)).enumerate() {
            row.copy_from_slice(local.component(sample, x));
            mean.iter_mut().zip(row).for_each(|(mean, g)| *mean += *g / samples as f64);
        }
        m.copy_from_slice(mean); // m₀ = ∇f_i(x₀)
    }

    #[inline(always)]
    fn next<'l>(
        &self,
        _x: &[f64],
        x_next: &[f64],
        m: &[f64],
        memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        let d = m.len();
        let (mean, table) = memory.split_at_mut(d);
        let share = 1.0 / (table.len() / d.max(1)) as f64;
        let sample = local.sample();
        let row = &mut table[sample * d..(sample + 1) * d];
        let g = local.component(sample, x_next);
        for ((g, row), mean) in g.iter_mut().zip(row).zip(mean) {
            let fresh = *g - *row;
            *row = *g; //              table_s ← ∇f_is(x⁺)
            *g = fresh + *mean; //     m⁺ = ∇f_is(x⁺) − table_s + mean
            *mean += share * fresh; // what the table's mean is now
        }
        g
    }
}

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "saga",
    about: "SAGA: no noise is left on a finite sum, for a gradient kept of each sample",
    rule: "m⁺ = ∇f_is(x⁺) − table_s + mean(table); table_s ← ∇f_is(x⁺)",
    parameters: &[],
    build: |_| Ok(Box::new(Saga)),
};
