//! Least squares.

use super::{Model, Row};
use crate::Result;

/// ℓ(x; a, b) = ½(aᵀx − b)².
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeastSquares {
    features: usize,
}

impl LeastSquares {
    /// A model of rows with so many features.
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
        Self { features }
    }
}

impl Model for LeastSquares {
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
        row.entries().for_each(|(column, a)| g[column] += residual * a); // ∇½r² = r a
        0.5 * residual * residual
    }

    fn curvature(&self) -> Option<f64> {
        Some(1.0)
    }
}
