//! Norms in a fixed order of operations, without overflow: numbers are divided by the largest first.

use super::{NAN, magnitude};

/// The largest magnitude; NaN if a number is not finite.
#[inline(always)]
pub(super) fn largest(x: &[f64]) -> f64 {
    let bits = x.iter().fold(0, |largest, &x| magnitude(x).max(largest));
    let largest = f64::from_bits(bits);
    if largest.is_finite() { largest } else { NAN }
}

/// Σ term(|x_i|/m): in eight lanes, which are added up in pairs, then the rest one by one. `m` is positive.
#[inline(always)]
fn sum_of_ratios(x: &[f64], m: f64, term: impl Fn(f64) -> f64) -> f64 {
    let (blocks, last) = x.as_chunks::<8>();
    let mut lanes = [0.0; 8];
    for block in blocks {
        for (lane, x) in lanes.iter_mut().zip(block) {
            *lane += term(x.abs() / m);
        }
    }
    let [a, b, c, d, e, f, g, h] = lanes;
    let blocks = ((a + e) + (c + g)) + ((b + f) + (d + h));
    last.iter().fold(blocks, |sum, x| sum + term(x.abs() / m))
}

/// ‖x‖₁/d, where m = ‖x‖_∞ > 0. If all magnitudes are equal, it is that magnitude to the last bit.
#[inline(always)]
pub(super) fn mean_magnitude(x: &[f64], m: f64) -> f64 {
    m * (sum_of_ratios(x, m, |ratio| ratio) / x.len() as f64)
}

/// ‖x‖₂, where m = ‖x‖_∞ > 0; ∞ if it is beyond the largest f64.
#[inline(always)]
pub(super) fn euclidean(x: &[f64], m: f64) -> f64 {
    m * sum_of_ratios(x, m, |ratio| ratio * ratio).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn norms_by_hand_from_the_smallest_to_the_largest_number() {
        for scale in [f64::from_bits(1), 1e-300, 1.0, 1e300] {
            let x = [3.0, -4.0, 0.0, -0.0].map(|x| x * scale);
            assert_eq!(largest(&x), 4.0 * scale);
            assert_eq!(euclidean(&x, 4.0 * scale), 5.0 * scale);
            assert_eq!(mean_magnitude(&x, 4.0 * scale), 1.75 * scale);
        }
        assert_eq!(euclidean(&[f64::MAX; 4], f64::MAX), f64::INFINITY);
        assert_eq!(largest(&[]), 0.0);
        assert!(
            [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN]
                .iter()
                .all(|&x| largest(&[1.0, x]).is_nan())
        );
    }

    #[test]
    fn the_mean_of_equal_magnitudes_is_exact() {
        for d in 1..100 {
            let m = 0.1 + d as f64;
            assert_eq!(mean_magnitude(&vec![-m; d], m), m);
        }
    }
}
