//! The widest vector unit of the machine, chosen at run time.
//!
//! Wider registers change no bit: what runs here is elementwise, and the compiler neither fuses a multiplication with an
//! addition nor re-orders a sum unless it is told that it may, which it never is.

/// Runs `work`, compiled for the widest vectors that this machine has. What should profit must be inlined into it.
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

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl")]
fn avx512<R>(work: impl FnOnce() -> R) -> R {
    work()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<R>(work: impl FnOnce() -> R) -> R {
    work()
}
