//! The problems.

mod any_model;
mod batch;
mod finite_sum;
mod from_fn;
mod kind;
mod logistic;
mod models;
mod quadratic;
mod sharing;

pub use any_model::AnyModel;
pub use batch::Batch;
pub use finite_sum::{FiniteSum, Regulariser};
pub use from_fn::{Failure, FromFn};
pub use kind::ProblemKind;
pub use logistic::Logistic;
pub use models::{
    LeastSquares, Model, Regression, ResidualLoss, Robust, RobustLoss, Row, ScaledLoss, Softmax, Square,
    TwoLayer,
};
pub use quadratic::{Quadratic, QuadraticShape};
pub use sharing::Sharing;
