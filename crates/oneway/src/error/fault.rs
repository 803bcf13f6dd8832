//! What can be wrong with the bytes of a vector.

/// What is wrong with bytes that are no encoded vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Too many or too few.
    #[error("there are {found}, but dimension {d} takes {expected}")]
    Length {
        /// Bytes there are.
        found: usize,
        /// Bytes there should be.
        expected: usize,
        /// Dimension of the vector.
        d: usize,
    },
    /// The bits that fill up the last byte are not zero, as they must be.
    #[error("the bits that fill up the last byte are not zero")]
    Padding,
    /// The number in front, from which all others are scaled.
    #[error("the scale in front {0}")]
    Scale(&'static str),
    /// One of the numbers.
    #[error("number {at} {why}")]
    Number {
        /// Which one, in the order of the bytes, from 0.
        at: usize,
        /// What is wrong with it.
        why: &'static str,
    },
}
