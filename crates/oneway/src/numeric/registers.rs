//! Vectors as the machine has them, and work that is compiled for each kind.
//!
//! [`Lanes`] would do: the compiler unrolls their loops and finds out that they are vectors, in each of hundreds of functions. Here it
//! is told. The bits are the same.

use super::{Float, Lanes, Vector};

/// Work on vectors of T of any kind.
pub(crate) trait InVectors<T> {
    /// Does it, in vectors of one kind.
    fn run<V: Vector<T>>(self);
}

/// A float that the machine has vectors of.
pub trait Wide: Float {
    /// Does the work in the widest vectors that the machine has, if rows of `d` numbers fill one; else number by number.
    #[doc(hidden)]
    #[allow(private_bounds)]
    fn in_vectors(d: usize, work: impl InVectors<Self>);
}

/// Numbers in a vector.
const LANES: usize = 8;

#[cfg(not(target_arch = "x86_64"))]
mod portable {
    use super::{InVectors, LANES, Lanes, Wide};

    macro_rules! wide {
        ($($float:ty),*) => {
            $(
                impl Wide for $float {
                    #[inline(always)]
                    #[allow(private_bounds)]
                    fn in_vectors(d: usize, work: impl InVectors<Self>) {
                        match d >= LANES {
                            true => work.run::<Lanes<Self, LANES>>(),
                            false => work.run::<Lanes<Self, 1>>(),
                        }
                    }
                }
            )*
        };
    }

    wide!(f64, f32);
}

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod x86 {
    use std::arch::x86_64::*;
    use std::ops::{Add, Div, Mul, Sub};

    use super::{InVectors, LANES, Lanes, Wide};
    use crate::numeric::vectors::{avx2, avx512};
    use crate::numeric::{Real, Vector};

    /// What rows are done in.
    enum Registers {
        Of512Bits,
        Of256Bits,
        /// Number by number: rows do not fill a vector, or the machine has none.
        Single,
    }

    impl Registers {
        #[inline]
        fn of(d: usize) -> Self {
            if d < LANES {
                Registers::Single
            } else if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vl") {
                Registers::Of512Bits
            } else if is_x86_feature_detected!("avx2") {
                Registers::Of256Bits
            } else {
                Registers::Single
            }
        }
    }

    // each kind of work stands here once: it is compiled into each place
    impl Wide for f64 {
        #[inline(always)]
        #[allow(private_bounds)]
        fn in_vectors(d: usize, work: impl InVectors<f64>) {
            match Registers::of(d) {
                // SAFETY: the processor has the features
                Registers::Of512Bits => unsafe {
                    avx512(
                        #[inline(always)]
                        || work.run::<Eight>(),
                    );
                },
                // SAFETY: the processor has the feature
                Registers::Of256Bits => unsafe {
                    avx2(
                        #[inline(always)]
                        || work.run::<TwiceFour>(),
                    );
                },
                Registers::Single => work.run::<Lanes<f64, 1>>(),
            }
        }
    }

    impl Wide for f32 {
        #[inline(always)]
        #[allow(private_bounds)]
        fn in_vectors(d: usize, work: impl InVectors<f32>) {
            match Registers::of(d) {
                // SAFETY: the processor has the feature; one with vectors of 512 bits has those of 256
                Registers::Of512Bits | Registers::Of256Bits => unsafe {
                    avx2(
                        #[inline(always)]
                        || work.run::<EightSingle>(),
                    );
                },
                Registers::Single => work.run::<Lanes<f32, 1>>(),
            }
        }
    }

    /// What is in one or more registers. Values of these types exist only in work that runs where the machine was found to have such
    /// registers: that makes their operations safe.
    macro_rules! vector {
        ($(#[$doc:meta])* $name:ident, $float:ty, $lanes:literal, [$($part:tt: $register:ty),+],
            $load:ident $store:ident $set:ident $sqrt:ident $add:ident $sub:ident $mul:ident $div:ident, $choose:ident, $apart:ident) => {
            $(#[$doc])*
            #[derive(Debug, Clone, Copy)]
            struct $name($($register),+);

            vector!(@each $name [$($part),+] Add add $add, Sub sub $sub, Mul mul $mul, Div div $div);

            impl Vector<$float> for $name {
                const LANES: usize = $lanes;

                #[inline(always)]
                unsafe fn load(place: *const $float) -> Self {
                    const PART: usize = LANES / [$($part),+].len();
                    // SAFETY: the caller's promise
                    unsafe { Self($($load(place.add($part * PART))),+) }
                }

                #[inline(always)]
                unsafe fn store(self, place: *mut $float) {
                    const PART: usize = LANES / [$($part),+].len();
                    // SAFETY: the caller's promise
                    unsafe { $($store(place.add($part * PART), self.$part));+ }
                }

                #[inline(always)]
                unsafe fn apart(work: impl FnOnce()) {
                    // SAFETY: the caller's promise
                    unsafe { $apart(work) }
                }
            }

            impl Real for $name {
                #[inline(always)]
                fn constant(value: f64) -> Self {
                    // SAFETY: the machine has such registers
                    let all = unsafe { $set(value as $float) };
                    Self($({ let _: usize = $part; all }),+)
                }

                #[inline(always)]
                fn parameter(_name: &'static str, value: f64) -> Self {
                    Self::constant(value)
                }

                #[inline(always)]
                fn sqrt(self) -> Self {
                    // SAFETY: the machine has such registers
                    unsafe { Self($($sqrt(self.$part)),+) }
                }

                #[inline(always)]
                fn if_positive(self, then: Self, otherwise: Self) -> Self {
                    // SAFETY: the machine has such registers
                    unsafe { Self($($choose(self.$part, then.$part, otherwise.$part)),+) }
                }
            }
        };
        (@each $name:ident $parts:tt $($trait:ident $method:ident $operation:ident),+) => {
            $(vector!(@one $name $parts $trait $method $operation);)+
        };
        (@one $name:ident [$($part:tt),+] $trait:ident $method:ident $operation:ident) => {
            impl $trait for $name {
                type Output = Self;

                #[inline(always)]
                fn $method(self, other: Self) -> Self {
                    // SAFETY: the machine has such registers
                    unsafe { Self($($operation(self.$part, other.$part)),+) }
                }
            }
        };
    }

    vector!(
        /// Eight in a register of 512 bits.
        Eight, f64, 8, [0: __m512d],
        _mm512_loadu_pd _mm512_storeu_pd _mm512_set1_pd _mm512_sqrt_pd
        _mm512_add_pd _mm512_sub_pd _mm512_mul_pd _mm512_div_pd, choose_512, apart_512
    );
    vector!(
        /// Eight in two registers of 256 bits.
        TwiceFour, f64, 8, [0: __m256d, 1: __m256d],
        _mm256_loadu_pd _mm256_storeu_pd _mm256_set1_pd _mm256_sqrt_pd
        _mm256_add_pd _mm256_sub_pd _mm256_mul_pd _mm256_div_pd, choose_256, apart_256
    );
    vector!(
        /// Eight of single precision in a register of 256 bits.
        EightSingle, f32, 8, [0: __m256],
        _mm256_loadu_ps _mm256_storeu_ps _mm256_set1_ps _mm256_sqrt_ps
        _mm256_add_ps _mm256_sub_ps _mm256_mul_ps _mm256_div_ps, choose_single, apart_256
    );

    #[inline(never)]
    #[target_feature(enable = "avx512f,avx512vl")]
    fn apart_512(work: impl FnOnce()) {
        work();
    }

    #[inline(never)]
    #[target_feature(enable = "avx2")]
    fn apart_256(work: impl FnOnce()) {
        work();
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn choose_512(number: __m512d, then: __m512d, otherwise: __m512d) -> __m512d {
        _mm512_mask_blend_pd(_mm512_cmp_pd_mask::<_CMP_GT_OQ>(number, _mm512_setzero_pd()), otherwise, then)
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn choose_256(number: __m256d, then: __m256d, otherwise: __m256d) -> __m256d {
        _mm256_blendv_pd(otherwise, then, _mm256_cmp_pd::<_CMP_GT_OQ>(number, _mm256_setzero_pd()))
    }

    #[inline]
    #[target_feature(enable = "avx")]
    fn choose_single(number: __m256, then: __m256, otherwise: __m256) -> __m256 {
        _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps::<_CMP_GT_OQ>(number, _mm256_setzero_ps()))
    }
}
