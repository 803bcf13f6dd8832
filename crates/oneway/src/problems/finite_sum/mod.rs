//! Means over rows: what all problems on data but the paper's own are made of.

mod regulariser;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rayon::prelude::*;

use super::batch::RowNumbers;
use super::logistic::curvature;
use super::{Batch, Model, Row, Sharing};
use crate::data::rows::{Entries, Kernel};
use crate::data::{Dataset, SparseRows};
use crate::numeric::row::Agents;
use crate::numeric::sample::Draws;
use crate::numeric::vectors::{prefetch, widest};
use crate::problem::{Description, GradientBatch, Problem, RowSum, Targets, TestRows};
use crate::{Error, Result};

pub use regulariser::Regulariser;

/// Several points take turns at this many rows, which stay in a near cache while they do.
const BLOCK: usize = 64;

/// f_i(x) = (1/m) Σ_s ℓ(x; a_is, b_is) + φ(x) over the m rows of agent i: ℓ is the [`Model`], φ the
/// [`Regulariser`].
///
/// A sum over rows goes in the order of the rows, and is then divided by their number.
#[derive(Debug, Clone)]
pub struct FiniteSum<M> {
    model: M,
    regulariser: Regulariser,
    rows: Rows,
    rows_per_agent: usize,
    agents: usize,
    batch: Batch,
    test: Option<Rows>,
}

/// Rows with their targets.
#[derive(Debug, Clone)]
struct Rows {
    features: SparseRows,
    targets: Vec<f64>,
}

impl Rows {
    /// Refused where they do not fit the model.
    fn new(model: &impl Model, data: Dataset) -> Result<Self> {
        data.check_rows()?;
        let targets = data.labels.iter().map(|&label| model.target(label)).collect::<Result<_>>()?;
        Ok(Self { features: data.rows, targets })
    }
}

impl<M: Model> FiniteSum<M> {
    /// Shares `data` out among agents. O(entries).
    pub fn new(model: M, data: &Dataset, regulariser: Regulariser, sharing: Sharing) -> Result<Self> {
        let Sharing { agents, partition, batch, seed } = sharing;
        regulariser.check()?;
        data.check_rows()?;
        if data.features != model.features() {
            return Err(Error::Mismatch {
                left: "model",
                left_size: model.features(),
                right: "data",
                right_size: data.features,
                unit: "features",
            });
        }
        if agents.checked_mul(model.dim()).is_none_or(|numbers| numbers >= 1 << 40) {
            let expected = "the points of all agents would not fit into any memory";
            return Err(Error::parameter("problem", "dimension", model.dim(), expected));
        }
        let shards = partition.split(&data.labels, agents, seed)?;
        let rows_per_agent = data.len() / agents;
        batch.check(rows_per_agent)?;
        let rows = Rows::new(&model, data.select(&shards.concat()))?;
        Ok(Self { model, regulariser, rows, rows_per_agent, agents, batch, test: None })
    }

    /// Adds held-out data, for the test accuracy.
    pub fn with_test(mut self, test: Dataset) -> Result<Self> {
        test.check_features(self.model.features())?;
        self.test = Some(Rows::new(&self.model, test)?);
        Ok(self)
    }

    /// Its model.
    pub fn model(&self) -> &M {
        &self.model
    }

    /// The number of the first row of an agent.
    fn first_row(&self, agent: usize) -> usize {
        agent * self.rows_per_agent
    }

    /// The numbers of an agent's rows.
    fn rows_of(&self, agent: usize) -> Range<usize> {
        self.first_row(agent)..self.first_row(agent + 1)
    }

    /// Adds the gradients of these rows' losses to g, one after another; returns their sum.
    #[inline(never)] // it is long, and compiled for each kind of rows and of vectors
    fn add_rows(&self, rows: RowNumbers<'_, '_>, x: &[f64], g: &mut [f64]) -> f64 {
        let targets = &self.rows.targets[..];
        widest(
            #[inline(always)]
            || self.rows.features.with(AddRows { model: &self.model, targets, rows, x, g }),
        )
    }

    /// The mean over these rows, and the regulariser: ∇ of a batch.
    fn of_rows(&self, rows: RowNumbers<'_, '_>, count: usize, x: &[f64], g: &mut [f64]) {
        g.fill(0.0);
        self.add_rows(rows, x, g);
        self.regulariser.finish_gradient(x, count, g);
    }

    /// Stochastic gradients of some agents.
    #[inline(never)] // see above
    fn make_gradients(&self, batch: GradientBatch<'_>) {
        match self.batch.drawn() {
            Some(size) => widest(
                #[inline(always)]
                || self.rows.features.with(DrawnRows { problem: self, size, batch }),
            ),
            None => {
                let GradientBatch { agents, points, draws: _, mut gradients } = batch;
                let all = agents.iter().enumerate();
                all.for_each(|(q, agent)| _ = self.exact(agent, points.row(q), gradients.row(q)));
            }
        }
    }

    /// f_i and ∇f_i at each of these points, a block of rows at a time. A point has the same bits alone and
    /// beside others.
    fn exact_at(&self, agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        let (d, m, first) = (self.dim(), self.rows_per_agent, self.first_row(agent));
        losses.fill(0.0);
        gradients.fill(0.0);
        for begin in (0..m).step_by(BLOCK) {
            let rows = first + begin..first + m.min(begin + BLOCK);
            let gradients = gradients.chunks_exact_mut(d);
            for ((x, loss), g) in points.iter().zip(&mut *losses).zip(gradients) {
                *loss += self.add_rows(RowNumbers::All(rows.clone()), x, g);
            }
        }
        for ((x, loss), g) in points.iter().zip(losses).zip(gradients.chunks_exact_mut(d)) {
            self.regulariser.finish_gradient(x, m, g);
            *loss = *loss / m as f64 + self.regulariser.value(x);
        }
    }

    /// max_i of a quantity, over all agents.
    fn largest(&self, of_agent: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
        let all = (0..self.agents).into_par_iter().map(|agent| of_agent(self.rows_of(agent)));
        all.reduce(|| 0.0, f64::max)
    }
}

impl<M: Model> Problem for FiniteSum<M> {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.model.dim()
    }

    fn keep(&mut self, agents: Range<usize>) {
        let m = self.rows_per_agent;
        self.rows.features.keep(agents.start * m..agents.end * m);
    }

    fn start(&self, x: &mut [f64]) {
        self.model.start(x);
    }

    #[inline]
    fn prefetch(&self, agent: usize, draws: &mut Draws) {
        if matches!(self.batch, Batch::Sampled(_)) {
            draws.prepare();
            let r = self.first_row(agent) + draws.clone().below(self.rows_per_agent);
            prefetch(&self.rows.targets[r]);
            self.rows.features.prefetch(r);
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
        let mut loss = [0.0];
        self.exact_many(agent, &[x], &mut loss, g);
        loss[0]
    }

    fn exact_many(&self, agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        self.exact_at(agent, points, losses, gradients);
    }

    fn samples(&self) -> Option<usize> {
        Some(self.rows_per_agent)
    }

    /// One row's loss, with the whole regulariser: what a batch of one sees.
    fn component(&self, agent: usize, sample: usize, x: &[f64], g: &mut [f64]) {
        debug_assert!(sample < self.rows_per_agent, "sample {sample} of {}", self.rows_per_agent);
        let r = self.first_row(agent) + sample;
        self.of_rows(RowNumbers::All(r..r + 1), 1, x, g);
    }

    /// L = max_i curvature·λ_max(A_iᵀA_i/m) + the regulariser's, where the model knows its
    /// [curvature](Model::curvature).
    fn smoothness(&self) -> f64 {
        let Some(curvature) = self.model.curvature() else { return f64::INFINITY };
        let (data, features) = (&self.rows.features, self.model.features());
        let λ_max = self.largest(|rows| curvature::largest_eigenvalue(data, rows, features));
        curvature * λ_max + self.regulariser.curvature()
    }

    fn noise_is_fresh(&self) -> bool {
        !matches!(self.batch, Batch::Reshuffled(_))
    }

    /// Full batches have none.
    fn noise(&self) -> Option<f64> {
        (self.batch == Batch::Full).then_some(0.0)
    }

    /// slope²·max_i (1/m) Σ_s ‖a_is‖²/batch, where the model knows its [slope](Model::slope_sq): taking away
    /// the mean makes a gradient's square no larger in the mean.
    fn noise_bound(&self) -> Option<f64> {
        let Some(size) = self.batch.drawn() else { return Some(0.0) };
        let slope_sq = self.model.slope_sq()?;
        let squares = self.largest(|rows| {
            let squares = rows.flat_map(|r| self.rows.features.row(r)).map(|(_, a)| a * a);
            squares.sum::<f64>() / self.rows_per_agent as f64
        });
        Some(slope_sq * squares / size as f64)
    }

    fn describe(&self) -> Option<Description<'_>> {
        Some(Description::Rows(RowSum {
            rows: &self.rows.features,
            targets: Targets::Numbers(&self.rows.targets),
            rows_per_agent: self.rows_per_agent,
            batch: self.batch.drawn(),
            reshuffled: matches!(self.batch, Batch::Reshuffled(_)),
            loss: self.model.describe()?,
            penalty: self.regulariser.describe(),
            test: self.test.as_ref().map(|test| TestRows { rows: &test.features, targets: &test.targets }),
        }))
    }

    fn test_accuracies(&self, points: &[&[f64]]) -> Option<Vec<f64>> {
        let test = self.test.as_ref()?;
        let accuracy = |x: &&[f64]| {
            let right = widest(
                #[inline(always)]
                || test.features.with(CountRight { model: &self.model, targets: &test.targets, x }),
            );
            right.map(|right| right as f64 / test.targets.len() as f64)
        };
        points.iter().map(accuracy).collect()
    }
}

/// One row in its concrete representation.
#[derive(Clone, Copy)]
struct RowAt<E> {
    entries: E,
    r: usize,
}

impl<E: Entries> Row for RowAt<E> {
    #[inline(always)]
    fn entries(&self) -> impl Iterator<Item = (usize, f64)> {
        self.entries.row(self.r)
    }
}

/// Adds Σ_r ∇ℓ(x; a_r, b_r) to g; returns Σ_r ℓ(x; a_r, b_r).
struct AddRows<'a, 'd, M> {
    model: &'a M,
    targets: &'a [f64],
    rows: RowNumbers<'a, 'd>,
    x: &'a [f64],
    g: &'a mut [f64],
}

impl<M: Model> Kernel for AddRows<'_, '_, M> {
    type Output = f64;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> f64 {
        let mut loss = 0.0;
        for r in self.rows {
            loss += self.model.add_gradient(RowAt { entries, r }, self.targets[r], self.x, self.g);
        }
        loss
    }
}

/// Writes the gradients of some agents, each of `size` rows that it draws. The way to the loops is chosen
/// once for all of them, and what one agent's row waits for (its product, an exponential, the regulariser's
/// divisions) overlaps with the next agent's.
struct DrawnRows<'a, M> {
    problem: &'a FiniteSum<M>,
    size: usize,
    batch: GradientBatch<'a>,
}

impl<M: Model> Kernel for DrawnRows<'_, M> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        let Self { problem, size, batch } = self;
        let FiniteSum { model, regulariser, rows, rows_per_agent, batch: drawn, .. } = problem;
        let GradientBatch { agents, points, draws, mut gradients } = batch;
        for (q, draws) in draws.iter_mut().enumerate() {
            let (first, x, g) = (agents.get(q) * rows_per_agent, points.row(q), gradients.row(q));
            match size {
                1 => regulariser.put_gradient(x, g), // its divisions go on while the row is looked at
                _ => g.fill(0.0),
            }
            let mut drawing = drawn.drawing(*rows_per_agent, draws);
            for _ in 0..size {
                let r = first + drawing.next();
                model.add_slope(RowAt { entries, r }, rows.targets[r], x, g);
            }
            if size > 1 {
                regulariser.finish_gradient_here(x, size, g);
            }
        }
    }
}

/// Counts the rows that x classifies rightly.
struct CountRight<'a, M> {
    model: &'a M,
    targets: &'a [f64],
    x: &'a [f64],
}

impl<M: Model> Kernel for CountRight<'_, M> {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> Option<usize> {
        let of_row = |(r, target): (usize, &f64)| self.model.is_right(RowAt { entries, r }, *target, self.x);
        self.targets.iter().enumerate().map(|row| of_row(row).map(usize::from)).sum()
    }
}
