//! Rounding to whole numbers in plain arithmetic, so that several numbers are rounded side by side, and the
//! draws for it.

use std::array;

use crate::numeric::sample::{Draws, unit};

/// How a number between two levels is rounded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, halves to the even one.
    Nearest,
    /// Up with the probability that makes the mean right, else down.
    Random,
}

/// 1.5·2⁵²: adding it leaves no room for digits after the point.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// The nearest whole number, halves to the even one, for |y| ≤ 2⁵¹.
#[inline(always)]
pub(super) fn nearest(y: f64) -> f64 {
    (y + ROUND) - ROUND
}

/// ⌊y⌋ or ⌊y⌋ + 1, the latter with probability y − ⌊y⌋ (to 2⁻⁵²); a whole y stays as it is. For |y| ≤ 2⁵¹.
#[inline(always)]
pub(super) fn at_random(y: f64, bits: u64) -> f64 {
    let near = nearest(y);
    let below = near - f64::from(u8::from(near > y));
    below + f64::from(u8::from(unit(bits) < y - below))
}

/// Replaces each number by `code(number, 64 bits drawn for it)`.
#[inline(always)]
pub(super) fn with_bits(x: &mut [f64], draws: &mut Draws, mut code: impl FnMut(f64, u64) -> f64) {
    let (blocks, last) = x.as_chunks_mut::<8>();
    for block in blocks {
        let bits = draws.pairs_of_bits();
        *block = array::from_fn(|i| code(block[i], bits[i / 2][i % 2]));
    }
    for x in last {
        *x = code(*x, draws.bits());
    }
}

/// 2^e for e from −1074 to 1023.
pub(super) const fn power_of_two(e: i32) -> f64 {
    f64::from_bits(if e < -1022 { 1 << (e + 1074) } else { ((e + 1023) as u64) << 52 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sample::Purpose;

    #[test]
    fn nearest_is_the_nearest() {
        for (y, near) in [(0.5, 0.0), (1.5, 2.0), (-0.5, 0.0), (-1.5, -2.0), (2.49, 2.0), (-7.0, -7.0)] {
            assert_eq!(nearest(y), near, "{y}");
        }
    }

    #[test]
    fn whole_numbers_stay_and_others_go_up_as_often_as_they_should() {
        let mut draws = Draws::new(1, Purpose::Codec, 0, 0);
        for y in [-3.0, 0.0, 5.0, 2_147_483_647.0] {
            assert!([0, 1, u64::MAX].iter().all(|&bits| at_random(y, bits) == y), "{y}");
        }
        for y in [0.25, -0.25, 6.75, -6.75, 1e-3] {
            let up = (0..100_000).filter(|_| at_random(y, draws.bits()) > y).count() as f64 / 1e5;
            assert!((up - (y - y.floor())).abs() < 0.006, "{y} went up in {up} of all cases");
        }
    }

    #[test]
    fn draws_are_one_for_each_number_in_turn() {
        let mut draws = Draws::new(1, Purpose::Codec, 0, 0);
        let bits: Vec<f64> = (0..29).map(|_| f64::from_bits(draws.bits() >> 12)).collect();
        let (mut x, mut draws) = ([0.0; 29], Draws::new(1, Purpose::Codec, 0, 0));
        let (one, rest) = x.split_at_mut(1);
        with_bits(one, &mut draws, |_, bits| f64::from_bits(bits >> 12));
        with_bits(rest, &mut draws, |_, bits| f64::from_bits(bits >> 12));
        assert_eq!(x[..], bits);
    }
}
