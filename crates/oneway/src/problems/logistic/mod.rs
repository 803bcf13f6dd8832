//! The paper's problem: logistic regression with a non-convex regulariser.
//!
//! f_i(x) = (1/m_i) Σ_j ln(1 + exp(−y_ij a_ijᵀx)) + Σ_k α x_k²/(1 + x_k²).

pub(super) mod curvature;
mod kernels;
pub(super) mod link;
#[cfg(test)]
mod tests;

use std::array;
use std::ops::Range;

use rayon::prelude::*;

use super::batch::RowNumbers;
use super::{Batch, Sharing};
use crate::data::{Dataset, SparseRows};
use crate::numeric::row::Agents;
use crate::numeric::sample::Draws;
use crate::numeric::vectors::{prefetch, widest};
use crate::problem::{
    Description, GradientBatch, LocalModel, Penalty, Problem, RowLoss, RowSum, Symmetric, Targets, TestRows,
};
use crate::{Error, Result};

use curvature::AddOuterProducts;
use kernels::{AddGradients, AddSampled, Aligned, CountRight, OneRow, OneRowEach, POINTS};

/// Batches of fewer rows are taken row by row, larger ones in blocks; the bits are the same.
const FEW: usize = 6;

/// Of more features no d×d matrix is made: it would hardly fit, and taking it apart would take minutes.
const MOST_DENSE: usize = 2000;

/// Tables that any byte indexes.
const TABLE: usize = 256;

/// Non-convex logistic regression on sparse rows, split over agents.
#[derive(Debug, Clone)]
pub struct Logistic {
    /// The agents' rows, one agent after another.
    rows: SparseRows,
    /// Their labels, ±1, in a byte each: sampling jumps about in them, so they should stay in a near cache.
    labels: Vec<i8>,
    features: usize,
    rows_per_agent: usize,
    agents: usize,
    α: f64,
    batch: Batch,
    test: Option<Dataset>,
}

impl Logistic {
    /// Shares `data` out among agents; α is the weight of the regulariser.
    ///
    /// ```
    /// use oneway::data::{Dataset, SparseRows};
    /// use oneway::problem::Problem;
    /// use oneway::problems::{Batch, Logistic, Sharing};
    /// let mut rows = SparseRows::new();
    /// rows.push([(0, 1.0)]);
    /// rows.push([(1, 1.0)]);
    /// let data = Dataset { features: 2, labels: vec![1.0, -1.0], rows };
    /// let problem = Logistic::new(&data, Sharing::among(2).batch(Batch::Full).seed(0), 0.01).unwrap();
    /// let mut g = [0.0; 2];
    /// let loss = problem.exact(0, &[0.0, 0.0], &mut g);
    /// assert!((loss - std::f64::consts::LN_2).abs() < 1e-15);
    /// assert_eq!(g, [-0.5, 0.0]);
    /// ```
    pub fn new(data: &Dataset, sharing: Sharing, α: f64) -> Result<Self> {
        let Sharing { agents, partition, batch, seed } = sharing;
        if !(α >= 0.0 && α.is_finite()) {
            return Err(Error::parameter(
                "problem",
                "alpha",
                α,
                "the regulariser's weight must be 0 or more",
            ));
        }
        data.check()?;
        let shards = partition.split(&data.labels, agents, seed)?;
        let rows_per_agent = data.len() / agents;
        batch.check(rows_per_agent)?;
        let Dataset { features, labels, rows } = data.select(&shards.concat());
        let labels = labels.iter().map(|&label| label as i8).collect();
        Ok(Self { rows, labels, features, rows_per_agent, agents, α, batch, test: None })
    }

    /// Adds held-out data, for the test accuracy.
    pub fn with_test(mut self, test: Dataset) -> Result<Self> {
        test.check()?;
        test.check_features(self.features)?;
        self.test = Some(test);
        Ok(self)
    }

    /// f_i at up to P points, with ∇f_i in `gradients`, one after another.
    #[inline(always)]
    fn exact_at<const P: usize>(&self, agent: usize, points: &[&[f64]], gradients: &mut [f64]) -> [f64; P] {
        let rows = agent * self.rows_per_agent..(agent + 1) * self.rows_per_agent;
        let (d, labels) = (self.features, &self.labels[..]);
        if d > TABLE {
            let [mut x, mut g] = [(); 2].map(|()| vec![[0.0; P]; d]);
            side_by_side(points, &mut x);
            let sums = self.rows.with(AddGradients { labels, rows, x: &x[..], g: &mut g[..] });
            return self.finish(sums, &x, &mut g, gradients);
        }
        let (mut x, mut g) = (Aligned([[0.0; P]; TABLE]), Aligned([[0.0; P]; TABLE]));
        side_by_side(points, &mut x.0);
        let sums = self.rows.with(AddGradients { labels, rows, x: &x.0, g: &mut g.0 });
        self.finish(sums, &x.0[..d], &mut g.0[..d], gradients)
    }

    /// From sums over an agent's rows to f_i and ∇f_i: divides by the rows and adds the regulariser.
    #[inline(always)]
    fn finish<const P: usize>(
        &self,
        losses: [f64; P],
        x: &[[f64; P]],
        g: &mut [[f64; P]],
        gradients: &mut [f64],
    ) -> [f64; P] {
        self.finish_gradient(x.as_flattened(), self.rows_per_agent, g.as_flattened_mut());
        one_by_one(g, gradients.chunks_exact_mut(self.features));
        let mut regulariser = [0.0; P];
        for x in x {
            // Σ_k αx_k²/(1 + x_k²)
            regulariser = array::from_fn(|p| regulariser[p] + self.α * (x[p] * x[p]) / (1.0 + x[p] * x[p]));
        }
        array::from_fn(|p| losses[p] / self.rows_per_agent as f64 + regulariser[p])
    }

    /// The shares of test rows that up to P points classify rightly.
    #[inline(always)]
    fn accuracies_at<const P: usize>(&self, test: &Dataset, points: &[&[f64]]) -> [f64; P] {
        let labels = &test.labels[..];
        let right = if self.features > TABLE {
            let mut x = vec![[0.0; P]; self.features];
            side_by_side(points, &mut x);
            test.rows.with(CountRight { labels, x: &x[..] })
        } else {
            let mut x = Aligned([[0.0; P]; TABLE]);
            side_by_side(points, &mut x.0);
            test.rows.with(CountRight { labels, x: &x.0 })
        };
        right.map(|right| right / test.len() as f64)
    }

    /// Adds the regulariser's gradient to the mean over `rows` rows: g ← g/rows + 2αx/(1+x²)².
    #[inline(always)]
    fn finish_gradient(&self, x: &[f64], rows: usize, g: &mut [f64]) {
        let (per_row, twice_α) = (1.0 / rows as f64, 2.0 * self.α);
        for (g, x) in g.iter_mut().zip(x) {
            let q = 1.0 + x * x;
            *g = *g * per_row + twice_α * x / (q * q);
        }
    }

    /// Stochastic gradients of some agents.
    #[inline(never)] // it is long, and compiled for each kind of rows and of vectors
    fn make_gradients(&self, batch: GradientBatch<'_>) {
        let (m, labels) = (self.rows_per_agent, &self.labels[..]);
        let GradientBatch { agents, points, draws, mut gradients } = batch;
        let Some(size) = self.batch.drawn() else {
            let all = agents.iter().enumerate();
            return all.for_each(|(q, agent)| _ = self.exact(agent, points.row(q), gradients.row(q)));
        };
        widest(
            #[inline(always)]
            || {
                if size == 1 {
                    let batch = GradientBatch { agents, points, draws, gradients };
                    return self.rows.with(OneRowEach {
                        labels,
                        rows_per_agent: m,
                        drawn: self.batch,
                        twice_α: 2.0 * self.α,
                        batch,
                    });
                }
                for (q, draws) in draws.iter_mut().enumerate() {
                    let (first, x, g) = (agents.get(q) * m, points.row(q), gradients.row(q));
                    let mut drawing = self.batch.drawing(m, draws);
                    let rows = RowNumbers::Drawn(size, first, &mut drawing);
                    g.fill(0.0);
                    match size < FEW {
                        true => self.rows.with(AddSampled { labels, rows, x, g: &mut *g }),
                        false => _ = self.add_gradients(rows, x.as_chunks().0, g.as_chunks_mut().0),
                    }
                    self.finish_gradient(x, size, g);
                }
            },
        );
    }

    /// [`AddGradients`] at one point.
    #[inline(never)] // see above
    fn add_gradients(&self, rows: RowNumbers<'_, '_>, x: &[[f64; 1]], g: &mut [[f64; 1]]) -> [f64; 1] {
        widest(
            #[inline(always)]
            || self.rows.with(AddGradients { labels: &self.labels, rows, x, g }),
        )
    }
}

impl Problem for Logistic {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.features
    }

    fn keep(&mut self, agents: Range<usize>) {
        let m = self.rows_per_agent;
        self.rows.keep(agents.start * m..agents.end * m);
    }

    #[inline]
    fn prefetch(&self, agent: usize, draws: &mut Draws) {
        if matches!(self.batch, Batch::Sampled(_)) {
            draws.prepare();
            let r = agent * self.rows_per_agent + draws.clone().below(self.rows_per_agent);
            prefetch(&self.labels[r]);
            self.rows.prefetch(r);
        }
    }

    fn prefetch_all(&self, agents: Agents<'_>, draws: &mut [Draws]) {
        if matches!(self.batch, Batch::Sampled(_)) {
            Draws::prepare_all(draws);
            agents.iter().zip(draws).for_each(|(agent, draws)| self.prefetch(agent, draws));
        }
    }

    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.make_gradients(GradientBatch::one(agent, x, draws, g));
    }

    fn gradients(&self, batch: GradientBatch<'_>) -> Result<()> {
        self.make_gradients(batch);
        Ok(())
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        let [loss] = widest(
            #[inline(always)]
            || self.exact_at(agent, &[x], g),
        );
        loss
    }

    fn exact_many(&self, agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        let groups = points.chunks(POINTS).zip(losses.chunks_mut(POINTS));
        for ((points, losses), gradients) in groups.zip(gradients.chunks_mut(POINTS * self.features)) {
            if let ([x], [loss]) = (points, &mut *losses) {
                *loss = self.exact(agent, x, gradients);
                continue;
            }
            let found: [f64; POINTS] = widest(
                #[inline(always)]
                || self.exact_at(agent, points, gradients),
            );
            losses.iter_mut().zip(found).for_each(|(loss, found)| *loss = found);
        }
    }

    fn samples(&self) -> Option<usize> {
        Some(self.rows_per_agent)
    }

    /// One row's loss, with the whole regulariser: what a batch of one sees.
    fn component(&self, agent: usize, sample: usize, x: &[f64], g: &mut [f64]) {
        debug_assert!(sample < self.rows_per_agent, "sample {sample} of {}", self.rows_per_agent);
        let (r, labels, twice_α) = (agent * self.rows_per_agent + sample, &self.labels[..], 2.0 * self.α);
        widest(
            #[inline(always)]
            || self.rows.with(OneRow { labels, r, twice_α, x, g }),
        );
    }

    /// L = max_i ¼λ_max(A_iᵀA_i/m_i) + 2α: the logistic loss has curvature at most ¼ (at z = 0) and the
    /// regulariser, 2α(1 − 3x²)/(1 + x²)³, at most 2α (at x = 0) and at least −α/2. λ_max is an upper bound;
    /// see `curvature`.
    fn smoothness(&self) -> f64 {
        let λ_max = (0..self.agents).into_par_iter().map(|agent| {
            let rows = agent * self.rows_per_agent..(agent + 1) * self.rows_per_agent;
            curvature::largest_eigenvalue(&self.rows, rows, self.features)
        });
        0.25 * λ_max.reduce(|| 0.0, f64::max) + 2.0 * self.α
    }

    /// ∇²f_i = (1/m) Σ_j s_j(1 − s_j) a_j a_jᵀ + diag(2α(1 − 3x²)/(1 + x²)³) with s = σ(−z), and the
    /// covariance of rows drawn with replacement, S_i = ((1/m) Σ_j s_j² a_j a_jᵀ − ḡḡᵀ)/batch with ḡ = −(1/m)
    /// Σ_j y_j s_j a_j. O(m·(entries of a row)² + d²); none beyond 2,000 features.
    fn local_model(&self, agent: usize, x: &[f64]) -> Option<LocalModel> {
        let (d, m) = (self.features, self.rows_per_agent as f64);
        if d > MOST_DENSE {
            return None;
        }
        let rows = agent * self.rows_per_agent..(agent + 1) * self.rows_per_agent;
        let [mut hessian, mut covariance] = [(); 2].map(|()| vec![0.0; d * d]);
        let mut mean = vec![0.0; d];
        let labels = &self.labels[..];
        let sums = [&mut hessian[..], &mut covariance[..], &mut mean[..]];
        self.rows.with(AddOuterProducts { labels, rows, x, sums });
        let batch = match self.batch {
            Batch::Sampled(size) => size as f64,
            // of one pass: rows that differ say more of their mean
            Batch::Reshuffled(size) => size as f64 * (m - 1.0).max(1.0) / (m - size as f64),
            Batch::Full => f64::INFINITY, // no noise at all
        };
        for j in 0..d {
            for k in 0..d {
                let (at, product) = (j * d + k, mean[j] * mean[k] / (m * m));
                hessian[at] /= m;
                covariance[at] = (covariance[at] / m - product) / batch;
            }
            let q = 1.0 + x[j] * x[j];
            hessian[j * d + j] += 2.0 * self.α * (1.0 - 3.0 * x[j] * x[j]) / (q * q * q);
        }
        Some(LocalModel { hessian: Symmetric::Dense(hessian), covariance: Symmetric::Dense(covariance) })
    }

    fn noise_is_fresh(&self) -> bool {
        !matches!(self.batch, Batch::Reshuffled(_))
    }

    /// Full batches have none.
    fn noise(&self) -> Option<f64> {
        (self.batch == Batch::Full).then_some(0.0)
    }

    /// max_i (1/m_i) Σ_j ‖a_ij‖²/batch: a row's gradient is c·a with |c| < 1, and taking away the mean makes
    /// it no larger.
    fn noise_bound(&self) -> Option<f64> {
        let Some(size) = self.batch.drawn() else { return Some(0.0) };
        let m = self.rows_per_agent;
        let mean_square = |agent: usize| {
            let squares = (agent * m..(agent + 1) * m).flat_map(|r| self.rows.row(r)).map(|(_, a)| a * a);
            squares.sum::<f64>() / m as f64
        };
        Some((0..self.agents).map(mean_square).fold(0.0, f64::max) / size as f64)
    }

    fn describe(&self) -> Option<Description<'_>> {
        Some(Description::Rows(RowSum {
            rows: &self.rows,
            targets: Targets::Signs(&self.labels),
            rows_per_agent: self.rows_per_agent,
            batch: self.batch.drawn(),
            reshuffled: matches!(self.batch, Batch::Reshuffled(_)),
            loss: RowLoss::Logistic,
            penalty: Penalty::NonConvex(self.α),
            test: self.test.as_ref().map(|test| TestRows { rows: &test.rows, targets: &test.labels }),
        }))
    }

    fn test_accuracies(&self, points: &[&[f64]]) -> Option<Vec<f64>> {
        let test = self.test.as_ref()?;
        let mut accuracies = vec![];
        for points in points.chunks(POINTS) {
            let right = widest(
                #[inline(always)]
                || self.accuracies_at::<POINTS>(test, points),
            );
            accuracies.extend_from_slice(&right[..points.len()]);
        }
        Some(accuracies)
    }
}

/// Points beside each other: all their numbers for a coordinate together.
#[inline(always)]
fn side_by_side<const P: usize>(points: &[&[f64]], x: &mut [[f64; P]]) {
    for (p, point) in points.iter().enumerate() {
        x.iter_mut().zip(*point).for_each(|(x, number)| x[p] = *number);
    }
}

/// The reverse: points one after another.
#[inline(always)]
fn one_by_one<'g, const P: usize>(g: &[[f64; P]], points: impl Iterator<Item = &'g mut [f64]>) {
    for (p, point) in points.enumerate() {
        point.iter_mut().zip(g).for_each(|(number, g)| *number = g[p]);
    }
}
