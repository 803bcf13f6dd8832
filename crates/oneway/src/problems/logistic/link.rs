//! The loss of one margin, ln(1 + e^−z), and its slope: in plain arithmetic, so that a loop over many margins
//! is vectorised and gives the same bits on every machine, one margin at a time or eight.
//!
//! A library's `exp` is a scalar call with branches. Here it runs on −|z| only, where the range is kind: e =
//! e^−|z| ∈ (0, 1], and nothing overflows. Logarithms are left to whoever sums losses: of many rows, one is
//! enough.

use std::f64::consts::LOG2_E;

/// ln 2 in two parts: `HIGH` has few enough bits that k·HIGH is exact for every k that occurs.
const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Beyond this |z|, e^−|z| is of no account and its exponent would leave the range of normal numbers.
const LARGEST: f64 = 708.0;

/// e^−a for a ≥ 0 to about one unit in the last place; NaN for NaN.
///
/// e^−a = 2^−k·e^r with k = round(a/ln 2) and |r| ≤ ½ ln 2, where the Taylor polynomial of degree 13 is exact
/// to rounding.
#[inline(always)]
pub(in crate::problems) fn exp_neg(a: f64) -> f64 {
    const ROUND: f64 = 6_755_399_441_055_744.0; // 1.5·2⁵²: adding it rounds to a whole number, in the low bits
    let a = if a > LARGEST { LARGEST } else { a };
    let shifted = a * LOG2_E + ROUND;
    let k = shifted - ROUND;
    let r = (k * LN2_HIGH - a) + k * LN2_LOW;

    // 1/j!, summed in pairs (Estrin): a short chain of dependent operations
    const C: [f64; 14] = {
        let mut c = [1.0; 14];
        let mut j = 1;
        while j < 14 {
            c[j] = c[j - 1] / j as f64;
            j += 1;
        }
        c
    };
    let r2 = r * r;
    let r4 = r2 * r2;
    let r8 = r4 * r4;
    let p01 = (C[0] + C[1] * r) + (C[2] + C[3] * r) * r2;
    let p23 = (C[4] + C[5] * r) + (C[6] + C[7] * r) * r2;
    let p45 = (C[8] + C[9] * r) + (C[10] + C[11] * r) * r2;
    let p6 = C[12] + C[13] * r;
    let series = (p01 + p23 * r4) + (p45 + p6 * r4) * r8;

    // 2^−k: the exponent field is 1023 − k; k stands in the low bits of `shifted`
    let power = f64::from_bits((1023u64 << 52).wrapping_sub(shifted.to_bits() << 52));
    series * power
}

/// One margin z = y aᵀx, with e^−|z|.
#[derive(Clone, Copy, Default)]
pub(super) struct Margin {
    z: f64,
    e: f64,
}

impl Margin {
    #[inline(always)]
    pub(super) fn new(z: f64) -> Self {
        Self { z, e: exp_neg(z.abs()) }
    }

    /// σ(−z) = 1/(1 + e^z), the slope of the loss with its sign turned.
    #[inline(always)]
    pub(super) fn slope(self) -> f64 {
        let numerator = if self.z >= 0.0 { self.e } else { 1.0 };
        numerator / self.factor()
    }

    /// max(−z, 0): with [`factor`](Self::factor), the loss is ln(1 + e^−z) = beyond + ln factor.
    #[inline(always)]
    pub(super) fn beyond(self) -> f64 {
        if self.z < 0.0 { -self.z } else { 0.0 }
    }

    /// 1 + e^−|z|, from 1 to 2.
    #[inline(always)]
    pub(super) fn factor(self) -> f64 {
        1.0 + self.e
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loss(z: f64) -> f64 {
        let margin = Margin::new(z);
        margin.beyond() + libm::log(margin.factor())
    }

    fn slope(z: f64) -> f64 {
        Margin::new(z).slope()
    }

    /// Distance in units in the last place of `right`.
    fn ulps(left: f64, right: f64) -> f64 {
        (left - right).abs() / (right.next_up() - right)
    }

    #[test]
    fn loss_and_slope_agree_with_libm() {
        let mut worst = [0.0f64; 3];
        for step in -280_000..=280_000 {
            let z = f64::from(step) * 0.002_5 + 1e-7;
            let e = libm::exp(-z.abs());
            let expected_loss = f64::max(-z, 0.0) + libm::log1p(e);
            let expected_slope = if z >= 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) };
            worst[0] = worst[0].max(ulps(exp_neg(z.abs()), e));
            worst[1] = worst[1].max((loss(z) - expected_loss).abs() / expected_loss.max(1.0));
            worst[2] = worst[2].max(ulps(slope(z), expected_slope));
        }
        assert!(worst[0] <= 2.0 && worst[1] <= 2.3e-16 && worst[2] <= 3.0, "{worst:?}");
    }

    #[test]
    fn ends_and_middles_are_right() {
        assert!(slope(0.0) == 0.5 && ulps(loss(0.0), std::f64::consts::LN_2) <= 1.0);
        assert_eq!((loss(f64::NEG_INFINITY), slope(f64::NEG_INFINITY)), (f64::INFINITY, 1.0));
        assert!(loss(f64::INFINITY) == 0.0 && slope(1e300) < 1e-300);
        assert!(loss(f64::NAN).is_nan() && slope(f64::NAN).is_nan());
    }
}
