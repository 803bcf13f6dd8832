//! SAGA (Defazio, Bach & Lacoste-Julien 2014): a table of the gradients last seen, one for each sample.

use super::{AnyEstimator, EstimatorKind};
use crate::method::{Ask, Gradient, Heard, Kernel, Method, Point, Profile, Round, Sizes};
use crate::problem::Problem;
use crate::{Error, Result};

/// m⁺ = ∇f_is(x⁺) − table_s + mean(table) with s drawn afresh; then table_s ← ∇f_is(x⁺). From a table made at
/// x₀, m₀ = ∇f_i(x₀).
///
/// As x settles so does the table, and the noise is gone: on a finite sum there is no floor. A round costs
/// one component's gradient, whatever the problem's batch is.
///
/// Which row of the table a coordinate meets is drawn, so this is no rule: it stands between the problem and
/// a method, which is handed m⁺ for its gradient. Its state is the method's with the table's mean and the
/// table behind the vectors, a vector for each sample and one more.
#[derive(Debug)]
pub struct Saga {
    inner: Box<dyn Method>,
    /// Vectors of the inner state, and scalars behind them: a fixed number, and a number for each agent.
    vectors: usize,
    scalars: [usize; 2],
}

impl Saga {
    /// A table that makes the gradients of `inner`, which takes them as they are.
    pub(in crate::methods) fn feeding(inner: Box<dyn Method>) -> Self {
        let state = |agents| inner.profile(Sizes { agents, dim: 1, samples: None }).state;
        let [none, one] = [0, 1].map(|agents| state(agents).scalars);
        Self { vectors: state(0).vectors, scalars: [none, one - none], inner }
    }

    /// Where in a state row the mean of the table begins, and how many numbers it and the table are.
    fn place(&self, at: Round<'_>, state: usize) -> [usize; 2] {
        let (from, [some, each]) = (self.vectors * at.d, self.scalars);
        [from, state - from - some - each * at.agents]
    }
}

impl Method for Saga {
    fn profile(&self, sizes: Sizes) -> Profile {
        let mut profile = self.inner.profile(sizes).asking(Ask::AllComponents, Ask::Component);
        profile.state.vectors += sizes.samples.unwrap_or(0) + 1;
        profile
    }

    fn inner(&self) -> Option<&dyn Method> {
        Some(&*self.inner)
    }

    fn check_problem(&self, problem: &dyn Problem) -> Result<()> {
        match problem.samples() {
            Some(1..) => self.inner.check_problem(problem),
            _ => Err(Error::Unfit(
                "SAGA keeps a gradient for each sample, and this problem is no finite sum of samples"
                    .to_owned(),
            )),
        }
    }
}

impl Kernel<f64> for Saga {
    fn start(&self, at: Round<'_>, x: &[f64], gradient: Gradient<'_, f64>, state: &mut [f64]) {
        let [from, numbers] = self.place(at, state.len());
        let (mean, table) = state[from..from + numbers].split_at_mut(at.d);
        table.copy_from_slice(gradient.next);
        mean.fill(0.0);
        let samples = table.len() / at.d.max(1);
        for row in table.chunks_exact(at.d.max(1)) {
            mean.iter_mut().zip(row).for_each(|(mean, g)| *mean += *g / samples as f64);
        }
        let mut first = mean.to_vec(); // m₀ = ∇f_i(x₀)
        self.inner.start(at, x, Gradient { next: &mut first, ..gradient }, state);
    }

    fn send(&self, at: Round<'_>, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        self.inner.send(at, state, pull, push);
    }

    fn point(&self, at: Round<'_>, heard: Heard<'_, f64>, point: Point<'_, f64>) {
        self.inner.point(at, heard, point);
    }

    fn update(&self, at: Round<'_>, heard: Heard<'_, f64>, gradient: Gradient<'_, f64>) {
        let [from, numbers] = self.place(at, heard.state.len());
        let (mean, table) = heard.state[from..from + numbers].split_at_mut(at.d);
        let share = 1.0 / (table.len() / at.d.max(1)) as f64;
        let row = &mut table[gradient.sample * at.d..][..at.d];
        for ((g, row), mean) in gradient.next.iter_mut().zip(row).zip(mean) {
            let fresh = *g - *row;
            *row = *g; //              table_s ← ∇f_is(x⁺)
            *g = fresh + *mean; //     m⁺ = ∇f_is(x⁺) − table_s + mean
            *mean += share * fresh; // what the table's mean is now
        }
        self.inner.update(at, heard, gradient);
    }
}

/// What the table does to a method's equations.
pub(in crate::methods) const ALTERS: &str = "with g⁺ = ∇f_s(x⁺) − t_s + mean(t) for a sample s drawn afresh; then t_s ← ∇f_s(x⁺), from t_s = ∇f_s(x₀) for all s";

pub(super) const KIND: EstimatorKind = EstimatorKind {
    name: "saga",
    about: "SAGA: no noise is left on a finite sum, for a gradient kept of each sample",
    rule: "m⁺ = ∇f_is(x⁺) − table_s + mean(table); table_s ← ∇f_is(x⁺)",
    parameters: &[],
    build: |_| Ok(AnyEstimator::Saga),
};
