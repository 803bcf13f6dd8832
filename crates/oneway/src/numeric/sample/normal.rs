//! Box and Muller's transform in plain arithmetic, so that several pairs are made side by side, with the same
//! bits on every machine and for one pair as for many.
//!
//! (u₁, u₂) ↦ √(−2 ln u₁)·(cos 2πu₂, sin 2πu₂). A library's `log` and `sincos` are scalar calls with
//! branches; here the range is kind: u₁ and u₂ are in (0, 1), and a whole turn is 1, so that its quarters are
//! taken off without an error.

use crate::numeric::vectors::filled;
use std::f64::consts::{FRAC_1_SQRT_2, TAU};

/// ln 2 in two parts: `HIGH` has few enough bits that its multiples here are exact.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// P pairs of independent standard normals: those with cos, and those with sin.
#[inline(always)]
pub(super) fn pairs<const P: usize>(u1: [f64; P], u2: [f64; P]) -> [[f64; P]; 2] {
    let radius: [f64; P] = filled(|p| (-2.0 * ln(u1[p])).sqrt());
    let turned: [[f64; 2]; P] = filled(|p| cos_and_sin_of_turn(u2[p]));
    [filled(|p| radius[p] * turned[p][0]), filled(|p| radius[p] * turned[p][1])]
}

/// ln u for a normal number u in (0, 1).
///
/// u = 2^k·m with m in [√½, √2), and ln m = 2 artanh s = 2s(1 + s²/3 + s⁴/5 + …) with s = (m − 1)/(m + 1), s²
/// < 0.03.
#[inline(always)]
fn ln(u: f64) -> f64 {
    const ONE: u64 = 1.0f64.to_bits();
    const LEAST: u64 = FRAC_1_SQRT_2.to_bits();
    const FRACTION: u64 = (1 << 52) - 1;
    const TWO_52: u64 = 0x4330_0000_0000_0000; // 2⁵²: whole numbers stand in its low bits
    let shifted = u.to_bits() + (ONE - LEAST);
    let k = f64::from_bits(shifted >> 52 | TWO_52) - (f64::from_bits(TWO_52) + 1023.0);
    let m = f64::from_bits((shifted & FRACTION) + LEAST);

    const C: [f64; 11] = {
        let mut c = [1.0; 11];
        let mut j = 0;
        while j < 11 {
            c[j] = 1.0 / (2 * j + 1) as f64;
            j += 1;
        }
        c
    };
    let f = m - 1.0;
    let s = f / (2.0 + f);
    let t = s * s;
    let t2 = t * t;
    let t4 = t2 * t2;
    // summed in pairs (Estrin): a short chain of dependent operations
    let p01 = (C[1] + C[2] * t) + (C[3] + C[4] * t) * t2;
    let p23 = (C[5] + C[6] * t) + (C[7] + C[8] * t) * t2;
    let p4 = C[9] + C[10] * t;
    let series = t * (p01 + (p23 + p4 * t4) * t4); // s²/3 + s⁴/5 + …
    k * LN2_HIGH + (2.0 * s + (2.0 * s * series + k * LN2_LOW))
}

/// cos 2πt and sin 2πt for t in [0, 1].
///
/// t = q/4 + r with |r| ≤ ⅛, exactly; both series are those of 2πr, and quarters of a turn change places and
/// signs.
#[inline(always)]
fn cos_and_sin_of_turn(t: f64) -> [f64; 2] {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²: adding it rounds to a whole number, in the low bits
    let shifted = 4.0 * t + ROUND;
    let q = shifted.to_bits();
    let θ = TAU * (t - 0.25 * (shifted - ROUND));

    /// (−1)^j/(2j)! and (−1)^j/(2j + 1)!
    const C: [[f64; 9]; 2] = {
        let mut c = [[1.0; 9]; 2];
        let (mut odd, mut j) = (0, 1);
        while odd < 2 {
            while j < 9 {
                c[odd][j] = -c[odd][j - 1] / ((2 * j + odd) * (2 * j + odd - 1)) as f64;
                j += 1;
            }
            (odd, j) = (odd + 1, 1);
        }
        c
    };
    let z = θ * θ;
    let z2 = z * z;
    let z4 = z2 * z2;
    let series = |c: &[f64; 9]| {
        let p1 = (c[1] + c[2] * z) + (c[3] + c[4] * z) * z2;
        let p2 = (c[5] + c[6] * z) + (c[7] + c[8] * z) * z2;
        z * (p1 + p2 * z4) // without the leading 1, which would cost it digits
    };
    let cos = 1.0 + series(&C[0]);
    let sin = θ + θ * series(&C[1]);
    let [cos, sin] = if q & 1 == 0 { [cos, sin] } else { [sin, cos] };
    let signed = |x: f64, quarter: u64| f64::from_bits(x.to_bits() ^ (quarter & 2) << 62);
    [signed(cos, q.wrapping_add(1)), signed(sin, q)]
}

#[cfg(test)]
mod tests {
    use std::array;

    use super::*;

    #[test]
    fn functions_agree_with_libm() {
        let mut worst = [0.0f64; 3];
        for step in 1..1_000_000 {
            let t = f64::from(step) * 1e-6;
            for u in [t, t * 1e-9, 1.0 - t * 1e-9] {
                worst[0] = worst[0].max((ln(u) / libm::log(u) - 1.0).abs());
            }
            let (sin, cos) = libm::sincos(TAU * t);
            let [own_cos, own_sin] = cos_and_sin_of_turn(t);
            worst[1] = worst[1].max((own_cos - cos).abs());
            worst[2] = worst[2].max((own_sin - sin).abs());
        }
        // the rounding of 2πt before libm's sine is worth 4e-16 of it
        assert!(worst[0] < 4e-16 && worst[1] < 8e-16 && worst[2] < 8e-16, "{worst:?}");
    }

    #[test]
    fn quarters_of_a_turn_are_exact() {
        let quarters = [
            (0.0, [1.0, 0.0]),
            (0.25, [0.0, 1.0]),
            (0.5, [-1.0, 0.0]),
            (0.75, [0.0, -1.0]),
            (1.0, [1.0, 0.0]),
        ];
        for (t, expected) in quarters {
            assert_eq!(cos_and_sin_of_turn(t), expected, "{t}");
        }
    }

    #[test]
    fn pairs_have_the_same_bits_alone_and_together() {
        let u: [f64; 8] = array::from_fn(|p| 0.001 + 0.123 * p as f64);
        let v: [f64; 8] = array::from_fn(|p| 0.999 - 0.111 * p as f64);
        let together = pairs(u, v);
        for p in 0..8 {
            assert_eq!(pairs([u[p]], [v[p]]), [[together[0][p]], [together[1][p]]]);
        }
    }
}
