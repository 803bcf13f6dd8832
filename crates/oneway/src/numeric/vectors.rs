//! The widest vector unit of the machine, chosen at run time.
//!
//! Wider registers change no bit: what runs here is elementwise, and the compiler neither fuses a
//! multiplication with an addition nor re-orders a sum unless it is told that it may, which it never is.

/// Runs `work`, compiled for the widest vectors that this machine has. What should profit must be inlined
/// into it.
#[inline(always)]
pub(crate) fn widest<R>(work: impl FnOnce() -> R) -> R {
    #[cfg(target_arch = "x86_64")]
    {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
            #[allow(unsafe_code)]
            // SAFETY: the processor has the features that `avx512` is compiled for
            return unsafe { avx512(work) };
        }
        if is_x86_feature_detected!("avx2") {
            #[allow(unsafe_code)]
            // SAFETY: the processor has the feature that `avx2` is compiled for
            return unsafe { avx2(work) };
        }
    }
    work()
}

/// Runs `work`, compiled for vectors of 512 bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
pub(super) fn avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// Runs `work`, compiled for vectors of 256 bits.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
pub(super) fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}

/// `[f(0), f(1), …]`. Unlike [`std::array::from_fn`], it is always compiled into its caller, and so for the
/// vectors that the caller is compiled for: a copy of its own would be for the least of them.
#[inline(always)]
pub(crate) fn filled<T: Copy, const N: usize>(mut f: impl FnMut(usize) -> T) -> [T; N] {
    const { assert!(N > 0) };
    let mut all = [f(0); N];
    let mut i = 1;
    while i < N {
        all[i] = f(i);
        i += 1;
    }
    all
}

/// Asks for the cache line of `item`, without waiting for it.
#[inline(always)]
pub(crate) fn prefetch<T>(item: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        #[allow(unsafe_code)]
        // SAFETY: a prefetch has no effect that a program can observe, and `item` is memory that may be read
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(item).cast());
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}

#[cfg(all(test, target_arch = "x86_64"))]
#[allow(unsafe_code)]
mod tests {
    use super::*;
    use crate::graph::mixing::{Link, Mixing, Stochastic};
    use crate::numeric::sample::{Draws, Purpose};

    /// Mixing, a multiply–add that must not be fused, a division and normal draws: what the passes are made
    /// of.
    #[inline(always)]
    fn work(mixing: &Mixing, rows: &[f64]) -> Vec<u64> {
        let (mut out, mut ξ) = (vec![0.0; 123], vec![0.0; 123]);
        mixing.mix_row(0, rows, &mut out);
        Draws::new(rows[0].to_bits(), Purpose::Gradient, 1, 2).normals(&mut ξ);
        for ((out, x), ξ) in out.iter_mut().zip(rows).zip(ξ) {
            *out = (*out * 0.9 + 0.1 * x) / (1.0 + x * x) + ξ;
        }
        out.iter().map(|x| x.to_bits()).collect()
    }

    #[test]
    fn every_width_gives_the_same_bits() {
        let links = (0..3).map(|from| Link { from, to: 0, weight: 1.0 / 3.0 });
        let alone = (1..3).map(|i| Link { from: i, to: i, weight: 1.0 });
        let mixing = Mixing::new(3, Stochastic::Rows, links.chain(alone)).unwrap();
        for round in 0..200 {
            let mut draws = Draws::new(1, Purpose::Problem, 0, round);
            let rows: Vec<f64> = (0..3 * 123).map(|_| draws.normal()).collect();
            let plain = work(&mixing, &rows);
            if is_x86_feature_detected!("avx2") {
                // SAFETY: just detected
                assert_eq!(plain, unsafe { avx2(|| work(&mixing, &rows)) });
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                // SAFETY: just detected
                assert_eq!(plain, unsafe { avx512(|| work(&mixing, &rows)) });
            }
            assert_eq!(plain, widest(|| work(&mixing, &rows)));
        }
    }
}
