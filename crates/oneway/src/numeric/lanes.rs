//! Several coordinates side by side.

use std::ops::{Add, Div, Mul, Sub};
use std::sync::atomic::{Ordering, compiler_fence};

use super::{Float, Real};
use crate::numeric::vectors::filled;

/// Some numbers on which each operation is done at once.
pub(crate) trait Vector<T>: Real {
    /// How many.
    const LANES: usize;

    /// The numbers from `place` on.
    ///
    /// # Safety
    ///
    /// `LANES` numbers can be read there, and the machine has vectors of this kind.
    #[allow(unsafe_code)]
    unsafe fn load(place: *const T) -> Self;

    /// Puts them from `place` on.
    ///
    /// # Safety
    ///
    /// There is room for `LANES` numbers, and the machine has vectors of this kind.
    #[allow(unsafe_code)]
    unsafe fn store(self, place: *mut T);

    /// Stands in a loop over such vectors. Where a vector is a single number, it keeps the compiler from making
    /// longer ones of several turns: rows are short there, and hundreds of such loops would be a tenth of all
    /// that the library takes to compile.
    #[inline(always)]
    fn one_after_another() {
        if Self::LANES == 1 {
            compiler_fence(Ordering::SeqCst);
        }
    }

    /// Does the work in a function of its own, which is compiled for such vectors.
    ///
    /// # Safety
    ///
    /// The machine has vectors of this kind.
    #[allow(unsafe_code)]
    unsafe fn apart(work: impl FnOnce());
}

/// N numbers on which each operation is done at once, on any machine.
#[derive(Debug, Clone, Copy, PartialEq)]
#[repr(transparent)]
pub struct Lanes<T, const N: usize>(pub [T; N]);

impl<T: Float, const N: usize> Lanes<T, N> {
    /// The same number in every lane.
    #[inline(always)]
    pub fn splat(value: T) -> Self {
        Self([value; N])
    }

    #[inline(always)]
    fn with(self, other: Self, f: impl Fn(T, T) -> T) -> Self {
        Self(filled(|lane| f(self.0[lane], other.0[lane])))
    }
}

impl<T: Float, const N: usize> Vector<T> for Lanes<T, N> {
    const LANES: usize = N;

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn load(place: *const T) -> Self {
        // SAFETY: the caller's promise; an array needs no other alignment than its numbers
        Self(unsafe { place.cast::<[T; N]>().read() })
    }

    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn store(self, place: *mut T) {
        // SAFETY: the caller's promise; an array needs no other alignment than its numbers
        unsafe { place.cast::<[T; N]>().write(self.0) };
    }

    #[inline(never)]
    #[allow(unsafe_code)]
    unsafe fn apart(work: impl FnOnce()) {
        work();
    }
}

macro_rules! lane_by_lane {
    ($($trait:ident $name:ident $op:tt),*) => {
        $(
            impl<T: Float, const N: usize> $trait for Lanes<T, N> {
                type Output = Self;

                #[inline(always)]
                fn $name(self, other: Self) -> Self {
                    self.with(other, |a, b| a $op b)
                }
            }
        )*
    };
}

lane_by_lane!(Add add +, Sub sub -, Mul mul *, Div div /);

impl<T: Float, const N: usize> Real for Lanes<T, N> {
    #[inline(always)]
    fn constant(value: f64) -> Self {
        Self::splat(T::from_f64(value))
    }

    #[inline(always)]
    fn parameter(_name: &'static str, value: f64) -> Self {
        Self::constant(value)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        Self(self.0.map(T::sqrt))
    }

    #[inline(always)]
    fn if_positive(self, then: Self, otherwise: Self) -> Self {
        let zero = T::default();
        Self(filled(|lane| if self.0[lane] > zero { then.0[lane] } else { otherwise.0[lane] }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lane_is_its_own_number() {
        let (a, b) = (Lanes([1.0, -2.0, 9.0]), Lanes([0.5, 4.0, 0.0]));
        assert_eq!((a + b).0, [1.5, 2.0, 9.0]);
        assert_eq!((a - b * Lanes::splat(2.0)).0, [0.0, -10.0, 9.0]);
        assert_eq!((a / Lanes([2.0, 4.0, 3.0])).0, [0.5, -0.5, 3.0]);
        assert_eq!(Lanes([4.0, 9.0]).sqrt().0, [2.0, 3.0]);
        assert_eq!(b.if_positive(a, a / b).0[..2], [1.0, -2.0]);
        assert_eq!(Lanes([0.0, -1.0]).if_positive(Lanes([f64::NAN; 2]), Lanes([1.0, 2.0])).0, [1.0, 2.0]);
    }
}
