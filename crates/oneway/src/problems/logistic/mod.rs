//! The paper's problem: logistic regression with a non-convex regulariser.
//!
//! f_i(x) = (1/m_i) Σ_j ln(1 + exp(−y_ij a_ijᵀx)) + Σ_k α x_k²/(1 + x_k²).

mod kernels;
mod link;

use std::array;

use crate::data::{Dataset, SparseRows};
use crate::partition::Partition;
use crate::problem::Problem;
use crate::sample::Draws;
use crate::vectors::{prefetch, widest};
use crate::{Error, Result};

use kernels::{AddGradients, AddRow, AddSampled, Aligned, CountRight, POINTS, Slope};

/// How many rows a stochastic gradient looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Batch {
    /// So many rows of the agent's own, drawn uniformly with replacement.
    Sampled(usize),
    /// All of the agent's rows: the exact gradient.
    Full,
}

/// Batches of fewer rows are taken row by row, larger ones in blocks; the bits are the same.
const FEW: usize = 8;

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
    /// Splits `data` over `agents` by the given rule (`seed` for the random ones).
    ///
    /// ```
    /// use oneway::data::{Dataset, SparseRows};
    /// use oneway::partition::Partition;
    /// use oneway::problem::Problem;
    /// use oneway::problems::{Batch, Logistic};
    /// let mut rows = SparseRows::new();
    /// rows.push([(0, 1.0)]);
    /// rows.push([(1, 1.0)]);
    /// let data = Dataset { features: 2, labels: vec![1.0, -1.0], rows };
    /// let problem = Logistic::new(&data, Partition::Even, 2, 0.01, Batch::Full, 0).unwrap();
    /// let mut g = [0.0; 2];
    /// let loss = problem.exact(0, &[0.0, 0.0], &mut g);
    /// assert!((loss - std::f64::consts::LN_2).abs() < 1e-15);
    /// assert_eq!(g, [-0.5, 0.0]);
    /// ```
    pub fn new(
        data: &Dataset,
        partition: Partition,
        agents: usize,
        α: f64,
        batch: Batch,
        seed: u64,
    ) -> Result<Self> {
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
        if let Batch::Sampled(size) = batch
            && !(1..=rows_per_agent).contains(&size)
        {
            let expected =
                format!("a batch has 1 to {rows_per_agent} rows (an agent's share), or is \"full\"");
            return Err(Error::parameter("problem", "batch", size, expected));
        }
        let Dataset { features, labels, rows } = data.select(&shards.concat());
        let labels = labels.iter().map(|&label| label as i8).collect();
        Ok(Self { rows, labels, features, rows_per_agent, agents, α, batch, test: None })
    }

    /// Adds held-out data, for the test accuracy.
    pub fn with_test(mut self, test: Dataset) -> Result<Self> {
        test.check()?;
        if test.features != self.features {
            return Err(Error::Mismatch {
                left: "training data",
                left_size: self.features,
                right: "test data",
                right_size: test.features,
                unit: "features",
            });
        }
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

    /// ∇ of one row's loss and the regulariser. The bits of [`AddSampled`] and [`finish_gradient`](Self::finish_gradient),
    /// since a + b = b + a; but the dense part need not wait for the row.
    #[inline(always)]
    fn one_row(&self, r: usize, x: &[f64], g: &mut [f64]) {
        // first, because its divisions go on while the row is looked at
        let twice_α = 2.0 * self.α;
        for (g, x) in g.iter_mut().zip(x) {
            let q = 1.0 + x * x;
            *g = 0.0 + twice_α * x / (q * q); // 0 is the gradient of a loss that column does not enter
        }
        let c = self.rows.with(Slope { labels: &self.labels, r, x });
        self.rows.with(AddRow { r, c, g });
    }
}

impl Problem for Logistic {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.features
    }

    #[inline]
    fn foresee(&self, agent: usize, draws: &mut Draws) {
        if matches!(self.batch, Batch::Sampled(_)) {
            draws.prepare();
            let r = agent * self.rows_per_agent + draws.clone().below(self.rows_per_agent);
            prefetch(&self.labels[r]);
            self.rows.prefetch(r);
        }
    }

    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        let m = self.rows_per_agent;
        widest(
            #[inline(always)]
            || match self.batch {
                Batch::Sampled(1) => self.one_row(agent * m + draws.below(m), x, g),
                Batch::Sampled(size) => {
                    g.fill(0.0);
                    let rows = (0..size).map(|_| agent * m + draws.below(m));
                    let labels = &self.labels[..];
                    match size < FEW {
                        true => self.rows.with(AddSampled { labels, rows, x, g: &mut *g }),
                        false => {
                            let (x, g) = (x.as_chunks::<1>().0, g.as_chunks_mut::<1>().0);
                            self.rows.with(AddGradients { labels, rows, x, g });
                        }
                    }
                    self.finish_gradient(x, size, g);
                }
                Batch::Full => {
                    self.exact_at::<1>(agent, &[x], g);
                }
            },
        );
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::a9a::{Split, a9a};
    use crate::sample::Purpose;

    fn problem(batch: Batch) -> Logistic {
        Logistic::new(&a9a(Split::Test), Partition::Even, 20, 0.01, batch, 1).unwrap()
    }

    fn point() -> Vec<f64> {
        (0..123).map(|k| 0.9 * f64::from(k % 7) - 2.0).collect()
    }

    #[test]
    fn gradient_is_the_slope_of_the_loss() {
        let problem = problem(Batch::Full);
        let (mut x, mut g, mut unused) = (point(), vec![0.0; 123], vec![0.0; 123]);
        problem.exact(7, &x, &mut g);
        for k in [0, 40, 81, 122] {
            let h = 1e-5;
            let at = x[k];
            x[k] = at + h;
            let above = problem.exact(7, &x, &mut unused);
            x[k] = at - h;
            let below = problem.exact(7, &x, &mut unused);
            x[k] = at;
            assert!(((above - below) / (2.0 * h) - g[k]).abs() < 1e-9, "coordinate {k}");
        }
    }

    #[test]
    fn a_full_batch_is_the_exact_gradient_to_the_bit() {
        let problem = problem(Batch::Full);
        let (x, mut exact, mut full) = (point(), vec![0.0; 123], vec![0.0; 123]);
        problem.exact(3, &x, &mut exact);
        problem.gradient(3, &x, &mut Draws::new(1, Purpose::Gradient, 3, 0), &mut full);
        assert_eq!(exact, full);
    }

    #[test]
    fn sampled_gradients_have_the_exact_one_as_their_mean() {
        let problem = problem(Batch::Sampled(4));
        let (x, mut exact, mut g) = (point(), vec![0.0; 123], vec![0.0; 123]);
        problem.exact(3, &x, &mut exact);
        let mut mean = vec![0.0; 123];
        const ROUNDS: u64 = 20_000;
        for k in 0..ROUNDS {
            problem.gradient(3, &x, &mut Draws::new(1, Purpose::Gradient, 3, k), &mut g);
            mean.iter_mut().zip(&g).for_each(|(mean, g)| *mean += g / ROUNDS as f64);
        }
        // one coordinate of one sample is within ±1, so its mean has a deviation of at most ½/√80,000
        let far = mean.iter().zip(&exact).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far < 5.0 * 0.5 / 80_000f64.sqrt(), "{far}");
    }

    #[test]
    fn a_batch_of_one_has_the_bits_of_a_batch_however_summed() {
        let problem = problem(Batch::Sampled(1));
        for r in 0..500 {
            let x: Vec<f64> =
                point().iter().map(|x| if r % 5 == 0 { -0.0 } else { x * 0.01 * r as f64 }).collect();
            let (mut one, mut summed) = (vec![9.0; 123], vec![0.0; 123]);
            problem.one_row(r, &x, &mut one);
            let rows = std::iter::once(r);
            problem.rows.with(AddSampled { labels: &problem.labels, rows, x: &x, g: &mut summed });
            problem.finish_gradient(&x, 1, &mut summed);
            let bits = |g: &[f64]| g.iter().map(|g| g.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(&one), bits(&summed), "row {r}");
        }
    }

    #[test]
    fn rows_one_by_one_and_in_blocks_give_the_same_bits() {
        let (data, x) = (a9a(Split::Test), point());
        for rows in [1, 31, 32, 33, 100] {
            let (mut one_by_one, mut in_blocks) = (vec![0.0; 123], vec![0.0; 123]);
            let labels: Vec<i8> = data.labels.iter().map(|&label| label as i8).collect();
            let labels = &labels[..];
            data.rows.with(AddSampled { labels, rows: 0..rows, x: &x[..], g: &mut one_by_one[..] });
            let (x, g) = (x.as_chunks::<1>().0, in_blocks.as_chunks_mut::<1>().0);
            let [loss] = data.rows.with(AddGradients { labels, rows: 0..rows, x, g });
            assert!(loss > 0.0);
            assert_eq!(one_by_one, in_blocks, "{rows} rows");
        }
    }

    #[test]
    fn points_side_by_side_have_the_bits_of_points_alone() {
        let problem = problem(Batch::Full);
        let points: Vec<Vec<f64>> =
            (0..19).map(|p| point().iter().map(|x| x * (0.1 * f64::from(p) - 0.5)).collect()).collect();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        for count in [1, 2, 8, 9, 19] {
            let (mut losses, mut gradients) = (vec![0.0; count], vec![0.0; count * 123]);
            problem.exact_many(7, &points[..count], &mut losses, &mut gradients);
            for p in 0..count {
                let mut g = vec![0.0; 123];
                assert_eq!(problem.exact(7, points[p], &mut g), losses[p], "{p} of {count}");
                assert_eq!(g, gradients[p * 123..(p + 1) * 123], "{p} of {count}");
            }
        }
    }

    #[test]
    fn data_that_do_not_fit_together_are_refused() {
        let whole = a9a(Split::Test);
        let refused = |data: Dataset| {
            Logistic::new(&data, Partition::Even, 20, 0.01, Batch::Full, 1).unwrap_err().to_string()
        };
        assert!(refused(Dataset { features: 0, ..whole.clone() }).contains("at least one feature"));
        assert!(refused(Dataset { features: 100, ..whole.clone() }).contains("column 1"));
        assert!(
            refused(Dataset { labels: vec![1.0; 20_000], ..whole.clone() }).contains("20000 for 16281 rows")
        );
        assert!(refused(Dataset { labels: vec![2.0; 16_281], ..whole.clone() }).contains("+1 or -1"));
        let none = Dataset { features: 123, labels: vec![], rows: Default::default() };
        assert!(problem(Batch::Full).with_test(none).is_err());
    }

    #[test]
    fn accuracy_counts_signs() {
        let problem = problem(Batch::Full).with_test(a9a(Split::Test)).unwrap();
        // w = −1 on feature 1 alone: wrong or undecided unless feature 1 is set and the label −1
        let mut x = vec![0.0; 123];
        x[0] = -1.0;
        let test = a9a(Split::Test);
        let right =
            (0..test.len()).filter(|&r| test.labels[r] < 0.0 && test.rows.row(r).any(|e| e.0 == 0)).count();
        let nothing = vec![0.0; 123];
        let accuracies = problem.test_accuracies(&[&x, &nothing]).unwrap();
        assert_eq!(accuracies, [right as f64 / 16_281.0, 0.0]);
    }

    #[test]
    fn impossible_batches_and_weights_are_refused() {
        let data = a9a(Split::Test);
        for batch in [0, 815] {
            let error =
                Logistic::new(&data, Partition::Even, 20, 0.01, Batch::Sampled(batch), 1).unwrap_err();
            assert!(error.to_string().contains("1 to 814 rows"), "{error}");
        }
        assert!(Logistic::new(&data, Partition::Even, 20, -1.0, Batch::Full, 1).is_err());
        assert!(Logistic::new(&data, Partition::Even, 16_282, 0.01, Batch::Full, 1).is_err());
    }
}
