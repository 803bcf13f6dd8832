//! The problems.

mod logistic;
mod quadratic;

pub use logistic::{Batch, Logistic};
pub use quadratic::{Quadratic, QuadraticShape};
