//! Numbers of several kinds, so that a method's arithmetic is written once for all of them.
//!
//! A rule says what happens to one coordinate, for any [`Real`]. [`Lanes`] of [`Float`]s run it, many
//! coordinates at a time, in double or in single precision; a [`Symbol`] writes down what is done to it.

mod affine;
mod float;
pub(crate) mod formula;
pub(crate) mod formulas;
mod lanes;
pub(crate) mod matrix;
mod program;
pub(crate) mod registers;
pub mod row;
pub mod sample;
pub mod student;
mod symbol;
pub(crate) mod vectors;

pub use affine::{Affine, NotLinear, NotLinearBy};
pub use float::{Float, Precision};
pub use lanes::Lanes;
pub(crate) use lanes::Vector;
pub use program::{Operations, Program};
pub use symbol::{Instruction, Symbol, Tape};

use std::fmt::Debug;
use std::ops::{Add, Div, Mul, Sub};

/// A number that a method's arithmetic can be done with.
///
/// Operations are those of IEEE 754, one by one: nothing is fused or re-ordered, whatever the number is.
pub trait Real:
    Copy + Debug + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self>
{
    /// A number that is the same everywhere, such as 1.
    fn constant(value: f64) -> Self;

    /// A hyper-parameter of a method, and the letter that it has in its paper.
    fn parameter(name: &'static str, value: f64) -> Self;

    /// √self.
    fn sqrt(self) -> Self;

    /// `then` where self > 0, else `otherwise`. Both are computed.
    fn if_positive(self, then: Self, otherwise: Self) -> Self;

    /// 0.
    #[inline(always)]
    fn zero() -> Self {
        Self::constant(0.0)
    }

    /// 1.
    #[inline(always)]
    fn one() -> Self {
        Self::constant(1.0)
    }
}
