//! The problems.

mod batch;
mod finite_sum;
mod logistic;
mod models;
mod quadratic;

pub use batch::Batch;
pub use finite_sum::{FiniteSum, Regulariser};
pub use logistic::Logistic;
pub use models::{LeastSquares, Model, Robust, RobustLoss, Row, Softmax, TwoLayer};
pub use quadratic::{Quadratic, QuadraticShape};
