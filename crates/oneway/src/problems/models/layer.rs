//! Pieces that models with several outputs share: a linear layer on a sparse row, the softmax loss, tanh.
//!
//! A layer of w outputs has w numbers for each column, side by side: a column's entry meets them all at once,
//! in vectors.

use std::array;

use super::Row;
use crate::problems::logistic::link::exp_neg;

/// Most outputs of a classifier, since they stand on the stack: a gradient must not allocate.
pub(super) const MOST_CLASSES: usize = 256;

/// out ← out + Σ_k a_k W_k, with W_k the w = `out.len()` numbers of column k; columns ascending.
///
/// Eight outputs at a time, then four, two and one, so that their sums stay in registers while the row goes
/// by.
#[inline(always)]
pub(super) fn add_outputs(row: impl Row, weights: &[f64], out: &mut [f64]) {
    let mut done = 0;
    add_blocks::<8>(row, weights, out, &mut done);
    add_blocks::<4>(row, weights, out, &mut done);
    add_blocks::<2>(row, weights, out, &mut done);
    add_blocks::<1>(row, weights, out, &mut done);
}

/// The outputs from `done` on, as far as blocks of B fit.
#[inline(always)]
fn add_blocks<const B: usize>(row: impl Row, weights: &[f64], out: &mut [f64], done: &mut usize) {
    let width = out.len();
    for block in out[*done..].as_chunks_mut::<B>().0 {
        let mut sums = *block;
        for (column, value) in row.entries() {
            let weights = &weights[column * width + *done..][..B];
            sums = array::from_fn(|i| sums[i] + value * weights[i]);
        }
        *block = sums;
        *done += B;
    }
}

/// g_k ← g_k + a_k δ for every column k: the gradient of [`add_outputs`] by its weights.
#[inline(always)]
pub(super) fn add_outer(row: impl Row, δ: &[f64], g: &mut [f64]) {
    let width = δ.len();
    for (column, value) in row.entries() {
        add_scaled(&mut g[column * width..][..width], value, δ);
    }
}

/// sum ← sum + a·x.
#[inline(always)]
pub(super) fn add_scaled(sum: &mut [f64], a: f64, x: &[f64]) {
    sum.iter_mut().zip(x).for_each(|(sum, x)| *sum += a * x);
}

/// ℓ(z) = ln Σ_c e^{z_c} − z_y, returned, and ∂ℓ/∂z = p − e_y with p_c = e^{z_c}/Σ e^z, in place of z.
///
/// All exponents are taken from the largest, M: ln Σ e^z = M + ln Σ e^{z−M}, so that none overflows and the
/// sum is at least 1.
#[inline(always)]
pub(super) fn softmax_loss(z: &mut [f64], y: usize) -> f64 {
    let [sum, short] = softmax_slopes(z, y);
    libm::log(sum) + short
}

/// ∂ℓ/∂z in place of z, without ℓ; returns Σ e^{z−M} and M − z_y, of which ℓ is made.
#[inline(always)]
pub(super) fn softmax_slopes(z: &mut [f64], y: usize) -> [f64; 2] {
    let largest = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let short = largest - z[y];
    z.iter_mut().for_each(|z| *z = exp_neg(largest - *z));
    let mut sum = 0.0;
    z.iter().for_each(|e| sum += e);
    z.iter_mut().for_each(|e| *e /= sum);
    z[y] -= 1.0;
    [sum, short]
}

/// Whether z_y is larger than all others: who is undecided is wrong.
#[inline(always)]
pub(super) fn is_largest(z: &[f64], y: usize) -> bool {
    z.iter().enumerate().all(|(c, z_c)| c == y || *z_c < z[y])
}

/// tanh u = ±(1 − e)/(1 + e) with e = e^{−2|u|}: right to about 1e-16, absolutely, and vectorised in a loop.
#[inline(always)]
pub(super) fn tanh(u: f64) -> f64 {
    let e = exp_neg(2.0 * u.abs());
    ((1.0 - e) / (1.0 + e)).copysign(u)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_agrees_with_libm() {
        let far = |step: i32| (tanh(f64::from(step) * 1e-3) - libm::tanh(f64::from(step) * 1e-3)).abs();
        let worst = (-40_000..=40_000).map(far).fold(0.0, f64::max);
        assert!(worst <= 2.3e-16, "{worst}");
        assert_eq!([tanh(0.0), tanh(1e300), tanh(f64::NEG_INFINITY)], [0.0, 1.0, -1.0]);
        assert!(tanh(f64::NAN).is_nan());
    }

    #[test]
    fn softmax_of_large_numbers_neither_overflows_nor_vanishes() {
        let mut z = [1e300, 0.0, -1e300];
        assert_eq!(softmax_loss(&mut z, 1), 1e300);
        assert_eq!(z[1], -1.0);
        assert!((z[0] - 1.0).abs() < 1e-15 && z[2] < 1e-300);
        let mut z = [-800.0; 4];
        assert!((softmax_loss(&mut z, 2) - libm::log(4.0)).abs() < 1e-15);
        assert_eq!(z, [0.25, 0.25, -0.75, 0.25]);
    }

    #[test]
    fn nans_are_passed_on() {
        let mut z = [0.0, f64::NAN, 1.0];
        assert!(softmax_loss(&mut z, 0).is_nan() && z[0].is_nan());
        assert!(
            !is_largest(&[1.0, f64::NAN], 0) && !is_largest(&[1.0, 1.0], 0) && is_largest(&[1.0, 2.0], 1)
        );
    }
}
