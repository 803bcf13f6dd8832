//! What a problem is, as data: for engines that make its gradients on another device.

use crate::data::SparseRows;

/// What a problem is, as data: all that its stochastic gradients are made of.
///
/// An engine on another device copies it there once, and makes the gradients by the same operations in the
/// same order: they have the bits of [`Problem::gradients`](super::Problem::gradients).
#[derive(Debug, Clone, Copy)]
pub enum Description<'a> {
    /// ∇F_i(x; ξ) = h∘(x − c_i) + σξ, ξ standard normal, d of them drawn one after another.
    Quadratic {
        /// h, d numbers.
        curvature: &'a [f64],
        /// c_i, d numbers an agent.
        centres: &'a [f64],
        /// σ of a coordinate; 0 where nothing is drawn.
        noise: f64,
    },
    /// A mean over rows of data.
    Rows(RowSum<'a>),
}

/// ∇F_i(x; ξ) = (1/b) Σ_r ∇ℓ(x; a_r, y_r) + ∇φ(x) over b rows of agent i. Rows are added in the order they are
/// drawn, each coordinate for itself.
#[derive(Debug, Clone, Copy)]
pub struct RowSum<'a> {
    /// The agents' rows, one agent after another.
    pub rows: &'a SparseRows,
    /// What the rows say: labels, or numbers of classes.
    pub targets: Targets<'a>,
    /// How many rows each agent has, m.
    pub rows_per_agent: usize,
    /// How many of them are drawn; none where all are taken, in their order.
    pub batch: Option<usize>,
    /// Whether they are drawn [without replacement](crate::problems::Batch::Reshuffled).
    pub reshuffled: bool,
    /// ℓ.
    pub loss: RowLoss,
    /// φ.
    pub penalty: Penalty,
    /// Held-out rows, if there are any.
    pub test: Option<TestRows<'a>>,
}

/// Rows that only the share classified rightly is counted of.
#[derive(Debug, Clone, Copy)]
pub struct TestRows<'a> {
    /// The rows.
    pub rows: &'a SparseRows,
    /// What they say.
    pub targets: &'a [f64],
}

/// What rows say.
#[derive(Debug, Clone, Copy)]
pub enum Targets<'a> {
    /// ±1.
    Signs(&'a [i8]),
    /// Any number.
    Numbers(&'a [f64]),
}

impl Targets<'_> {
    /// Of row r.
    pub fn at(&self, r: usize) -> f64 {
        match self {
            Targets::Signs(signs) => f64::from(signs[r]),
            Targets::Numbers(numbers) => numbers[r],
        }
    }
}

/// What a row's loss is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowLoss {
    /// ln(1 + exp(−y aᵀx)).
    Logistic,
    /// ½r², r = aᵀx − y.
    Square,
    /// ½c² ln(1 + r²/c²), r = aᵀx − y.
    Cauchy {
        /// c².
        scale_sq: f64,
    },
    /// ½c²(1 − exp(−r²/c²)), r = aᵀx − y.
    Welsch {
        /// c².
        scale_sq: f64,
    },
    /// −ln of the softmax of one linear score for each class.
    Softmax {
        /// How many classes.
        classes: usize,
    },
    /// The same of a layer of tanh units, whose inputs are linear.
    TwoLayer {
        /// How many units.
        hidden: usize,
        /// How many classes.
        classes: usize,
    },
}

/// What is added to keep x small.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Penalty {
    /// ∂φ/∂x_k = αx_k.
    Ridge(f64),
    /// ∂φ/∂x_k = 2αx_k/(1 + x_k²)².
    NonConvex(f64),
}
