//! Whole numbers −s..s with s = 2^(b−1) − 1, in b bits each.
//!
//! ℓ is written as ℓ + s. Of the 2^b codes that leaves one, 2^b − 1, which stands for NaN or is refused.

use crate::{Error, Result};

/// Levels of b bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Levels {
    bits: u32,
}

impl Levels {
    /// Levels of 2 to 32 bits.
    pub(super) fn new(codec: &str, bits: usize) -> Result<Self> {
        match u32::try_from(bits) {
            Ok(bits @ 2..=32) => Ok(Self { bits }),
            _ => Err(Error::parameter(codec, "bits", bits, "a number takes from 2 to 32 bits")),
        }
    }

    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// s.
    pub(super) fn top(self) -> f64 {
        self.unused() as f64 / 2.0 - 0.5
    }

    /// The code that is no level's.
    pub(super) fn unused(self) -> u64 {
        !(u64::MAX << self.bits)
    }

    /// The code of a level.
    pub(super) fn code(self, level: f64) -> u64 {
        ((level + self.top()) as u64).min(self.unused())
    }

    /// The level of a code, if it has one.
    pub(super) fn level(self, code: u64) -> Option<f64> {
        (code < self.unused()).then(|| code as f64 - self.top())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_and_levels_are_each_others_inverse() {
        for bits in [2, 3, 8] {
            let levels = Levels::new("quantise", bits).unwrap();
            assert_eq!(levels.top(), f64::from((1 << (bits - 1)) - 1));
            for code in 0..levels.unused() {
                assert_eq!(levels.code(levels.level(code).unwrap()), code);
            }
            assert_eq!(levels.level(0), Some(-levels.top()));
            assert_eq!(levels.level(levels.unused()), None);
        }
        let widest = Levels::new("quantise", 32).unwrap();
        assert_eq!((widest.top(), widest.code(widest.top())), (2_147_483_647.0, u64::from(u32::MAX) - 1));
    }

    #[test]
    fn bits_are_from_2_to_32() {
        for bits in [0, 1, 33, usize::MAX] {
            let error = Levels::new("uniform", bits).unwrap_err().to_string();
            assert!(error.starts_with(&format!("uniform: `bits` = {bits} is not possible")), "{error}");
        }
    }
}
