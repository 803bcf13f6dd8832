//! What a row says about x: the models of [finite sums](super::FiniteSum).

mod layer;
mod regression;
mod robust;
mod softmax;
mod two_layer;

use std::fmt::Debug;

use crate::Result;
use crate::problem::RowLoss;

pub use regression::{LeastSquares, Regression, ResidualLoss, Square};
pub use robust::{Robust, RobustLoss, ScaledLoss};
pub use softmax::Softmax;
pub use two_layer::TwoLayer;

/// A row of features.
pub trait Row: Copy {
    /// Its (column, value) pairs, columns ascending; what is not among them is 0.
    fn entries(&self) -> impl Iterator<Item = (usize, f64)>;

    /// aᵀx, in the order of the columns.
    #[inline(always)]
    fn product(&self, x: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (column, value) in self.entries() {
            sum += value * x[column];
        }
        sum
    }
}

/// The loss ℓ(x; a, b) of a row of features a with target b.
///
/// A model is a few lines: this one counts the hinge, smoothed, of a margin.
///
/// ```
/// use oneway::problems::{Model, Row};
/// /// ℓ = ½ max(0, 1 − b aᵀx)²
/// #[derive(Debug)]
/// struct SquaredHinge { features: usize }
///
/// impl Model for SquaredHinge {
///     fn features(&self) -> usize { self.features }
///     fn dim(&self) -> usize { self.features }
///     fn target(&self, label: f64) -> oneway::Result<f64> { Ok(label.signum()) }
///     fn add_gradient(&self, row: impl Row, b: f64, x: &[f64], g: &mut [f64]) -> f64 {
///         let short = (1.0 - b * row.product(x)).max(0.0);
///         row.entries().for_each(|(column, a)| g[column] -= short * b * a);
///         0.5 * short * short
///     }
///     fn curvature(&self) -> Option<f64> { Some(1.0) }
/// }
/// ```
pub trait Model: Send + Sync + Debug {
    /// Number of features that a row must have.
    fn features(&self) -> usize;

    /// Dimension of x, d.
    fn dim(&self) -> usize;

    /// Writes the starting point x₀: the origin, unless the model says otherwise.
    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    /// The target b that a finite label stands for, or why it stands for none.
    fn target(&self, label: f64) -> Result<f64>;

    /// Adds ∇ℓ(x; a, b) to `g` and returns ℓ(x; a, b). Columns of the row are below
    /// [`features`](Self::features), x and g have [`dim`](Self::dim) numbers, and to each of g's it adds
    /// once. It must not allocate, and use only what the bit contract allows.
    fn add_gradient(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) -> f64;

    /// Adds ∇ℓ(x; a, b) to `g`, with the bits of [`add_gradient`](Self::add_gradient): for models whose loss
    /// takes time of its own.
    #[inline(always)]
    fn add_slope(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) {
        self.add_gradient(row, target, x, g);
    }

    /// Whether x classifies the row rightly; none where that has no meaning.
    fn is_right(&self, _row: impl Row, _target: f64, _x: &[f64]) -> Option<bool> {
        None
    }

    /// Where ℓ is a function of linear outputs, z = Σ_k a_k x_k with x_k the numbers that column k has: an
    /// upper bound on the eigenvalues of its second derivative by z, in absolute value. Then ∇f_i is
    /// curvature·λ_max(AᵀA/m)-Lipschitz.
    fn curvature(&self) -> Option<f64> {
        None
    }

    /// What ℓ is, as data, where an engine on another device can make its gradients of that.
    fn describe(&self) -> Option<RowLoss> {
        None
    }

    /// For the same models, an upper bound on ‖∂ℓ/∂z‖², so that ‖∇ℓ‖² ≤ slope²·‖a‖².
    fn slope_sq(&self) -> Option<f64> {
        None
    }
}
