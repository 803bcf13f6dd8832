//! Positive numbers of unbounded range: a double with a second exponent.
//!
//! The stationary weights of a chain can differ by more than 10³⁰⁸ (on a directed ring with a chord back from
//! each agent they halve at every step), and so can the chances met while eliminating. With a wide exponent
//! nothing underflows on the way, so elimination keeps its relative accuracy and no chance of leaving a node
//! is ever lost.

use std::ops::{Add, Div, Mul};

/// One unit of the second exponent, 2²⁵⁶.
const RADIX: f64 = f64::from_bits((1023 + 256) << 52);
/// 2⁻²⁵⁶.
const INVERSE_RADIX: f64 = f64::from_bits((1023 - 256) << 52);

/// mantissa · 2^(256·exponent) ≥ 0, with 2⁻²⁵⁶ ≤ mantissa < 2²⁵⁶ unless zero.
///
/// Two numbers near one have the exponent 0, so on ordinary chains every branch below is predicted.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Wide {
    pub(super) mantissa: f64,
    pub(super) exponent: i32,
}

impl Wide {
    /// Zero: its exponent is so low that it loses every comparison.
    pub(super) const ZERO: Wide = Wide { mantissa: 0.0, exponent: i32::MIN / 2 };
    pub(super) const ONE: Wide = Wide { mantissa: 1.0, exponent: 0 };

    /// A finite, non-negative double.
    pub(super) fn new(value: f64) -> Wide {
        if value == 0.0 {
            return Wide::ZERO;
        }
        let mut wide = Wide { mantissa: value, exponent: 0 };
        while wide.mantissa < INVERSE_RADIX {
            wide = Wide { mantissa: wide.mantissa * RADIX, exponent: wide.exponent - 1 };
        }
        while wide.mantissa >= RADIX {
            wide = Wide { mantissa: wide.mantissa * INVERSE_RADIX, exponent: wide.exponent + 1 };
        }
        wide
    }

    /// The nearest double for a value of moderate size; 0 where it underflows.
    pub(super) fn to_f64(self) -> f64 {
        match self.exponent {
            0 => self.mantissa,
            -5..=-1 => (self.exponent..0).fold(self.mantissa, |value, _| value * INVERSE_RADIX),
            1..=4 => (0..self.exponent).fold(self.mantissa, |value, _| value * RADIX),
            exponent if exponent < 0 => 0.0,
            _ => f64::INFINITY,
        }
    }

    /// Whether `self` > `other`.
    pub(super) fn exceeds(self, other: Wide) -> bool {
        // the ranges of neighbouring exponents overlap, so the quotient decides
        self.mantissa > 0.0 && (other.mantissa == 0.0 || (other / self).to_f64() < 1.0)
    }

    /// Brings the mantissa of one product, quotient or sum back into its range.
    #[inline]
    fn settle(mantissa: f64, exponent: i32) -> Wide {
        if mantissa >= RADIX {
            Wide { mantissa: mantissa * INVERSE_RADIX, exponent: exponent + 1 }
        } else if mantissa >= INVERSE_RADIX {
            Wide { mantissa, exponent }
        } else if mantissa > 0.0 {
            Wide { mantissa: mantissa * RADIX, exponent: exponent - 1 }
        } else {
            Wide::ZERO
        }
    }
}

impl Add for Wide {
    type Output = Wide;

    #[inline]
    fn add(self, other: Wide) -> Wide {
        if self.exponent == other.exponent {
            return Wide::settle(self.mantissa + other.mantissa, self.exponent);
        }
        let (high, low) = if self.exponent > other.exponent { (self, other) } else { (other, self) };
        match high.exponent - low.exponent {
            1 => Wide::settle(high.mantissa + low.mantissa * INVERSE_RADIX, high.exponent),
            2 => Wide::settle(high.mantissa + low.mantissa * INVERSE_RADIX * INVERSE_RADIX, high.exponent),
            _ => high, // low/high < 2⁻²⁵⁶
        }
    }
}

impl Mul for Wide {
    type Output = Wide;

    #[inline]
    fn mul(self, other: Wide) -> Wide {
        Wide::settle(self.mantissa * other.mantissa, self.exponent + other.exponent)
    }
}

impl Div for Wide {
    type Output = Wide;

    #[inline]
    fn div(self, other: Wide) -> Wide {
        Wide::settle(self.mantissa / other.mantissa, self.exponent - other.exponent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_survive_the_round_trip() {
        for value in [0.0, 1.0, 0.1, 1e-300, 1e300, f64::MIN_POSITIVE, f64::MAX, 5e-324] {
            assert_eq!(Wide::new(value).to_f64(), value);
        }
    }

    #[test]
    fn arithmetic_agrees_with_doubles_where_they_reach() {
        for a in [1.5, 3e-90, 7e80, 1e-150] {
            for b in [0.3, 9e-80, 2e79, 4e-140] {
                let (x, y) = (Wide::new(a), Wide::new(b));
                assert_eq!((x + y).to_f64(), a + b);
                assert_eq!((x * y).to_f64(), a * b);
                assert_eq!((x / y).to_f64(), a / b);
                assert_eq!(x.exceeds(y), a > b);
                assert_eq!((x + Wide::ZERO, x * Wide::ZERO), (x, Wide::ZERO));
            }
        }
    }

    #[test]
    fn products_far_below_the_smallest_double_come_back() {
        let tiny = (0..50).fold(Wide::ONE, |product, _| product * Wide::new(1e-100));
        assert_eq!(tiny.to_f64(), 0.0);
        assert!(tiny.exceeds(Wide::ZERO) && Wide::ONE.exceeds(tiny) && !tiny.exceeds(tiny));
        let back = (0..50).fold(tiny, |product, _| product / Wide::new(1e-100));
        assert!((back.to_f64() - 1.0).abs() < 1e-13);
        assert_eq!((tiny + tiny) / tiny, Wide::new(2.0));
    }
}
