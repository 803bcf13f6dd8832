//! Linear regression: a row counts by its residual r = aᵀx − b alone.

use std::fmt::Debug;

use super::{Model, Row};
use crate::Result;
use crate::problem::RowLoss;

/// How a residual r counts: ρ(r), with |ρ″| ≤ 1.
pub trait ResidualLoss: Send + Sync + Debug {
    /// ρ(r) and ρ′(r).
    fn at(&self, r: f64) -> (f64, f64);

    /// ρ′(r) alone, with the same bits.
    #[inline(always)]
    fn slope(&self, r: f64) -> f64 {
        self.at(r).1
    }

    /// What ρ is, as data; see [`Model::describe`].
    fn describe(&self) -> Option<RowLoss> {
        None
    }

    /// An upper bound on ρ′², where there is one.
    fn slope_sq(&self) -> Option<f64> {
        None
    }
}

/// ℓ(x; a, b) = ρ(aᵀx − b).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Regression<L> {
    pub(super) features: usize,
    pub(super) loss: L,
}

/// ρ(r) = ½r².
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Square;

/// ℓ(x; a, b) = ½(aᵀx − b)².
pub type LeastSquares = Regression<Square>;

impl ResidualLoss for Square {
    #[inline(always)]
    fn at(&self, r: f64) -> (f64, f64) {
        (0.5 * r * r, r)
    }

    fn describe(&self) -> Option<RowLoss> {
        Some(RowLoss::Square)
    }
}

impl LeastSquares {
    /// A model of rows with this many features.
    ///
    /// ```
    /// use oneway::data::{Dataset, SparseRows};
    /// use oneway::problem::Problem;
    /// use oneway::problems::{Batch, FiniteSum, LeastSquares, Regulariser, Sharing};
    /// let mut rows = SparseRows::new();
    /// rows.push([(0, 2.0)]);
    /// rows.push([(0, 1.0)]);
    /// let data = Dataset { features: 1, labels: vec![1.0, 3.0], rows };
    /// let (model, ridge) = (LeastSquares::new(1), Regulariser::Ridge(0.0));
    /// let problem = FiniteSum::new(model, &data, ridge, Sharing::among(1).batch(Batch::Full).seed(0))?;
    /// let mut g = [0.0];
    /// assert_eq!(problem.exact(0, &[1.0], &mut g), 0.25 * (1.0 + 4.0)); // residuals 1 and −2
    /// assert_eq!(g, [0.5 * (2.0 - 2.0)]);
    /// # Ok::<(), oneway::Error>(())
    /// ```
    pub fn new(features: usize) -> Self {
        Self { features, loss: Square }
    }
}

impl<L: ResidualLoss> Model for Regression<L> {
    fn features(&self) -> usize {
        self.features
    }

    fn dim(&self) -> usize {
        self.features
    }

    fn target(&self, label: f64) -> Result<f64> {
        Ok(label)
    }

    #[inline(always)]
    fn add_gradient(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) -> f64 {
        let residual = row.product(x) - target; // r = aᵀx − b
        let (loss, slope) = self.loss.at(residual);
        row.entries().for_each(|(column, a)| g[column] += slope * a); // ∇ρ(r) = ρ′(r) a
        loss
    }

    #[inline(always)]
    fn add_slope(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) {
        let slope = self.loss.slope(row.product(x) - target);
        row.entries().for_each(|(column, a)| g[column] += slope * a);
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }

    fn describe(&self) -> Option<RowLoss> {
        self.loss.describe()
    }

    fn slope_sq(&self) -> Option<f64> {
        self.loss.slope_sq()
    }
}
