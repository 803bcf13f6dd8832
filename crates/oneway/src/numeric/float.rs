//! Double and single precision.

use std::fmt::{self, Debug};
use std::ops::{Add, AddAssign, Div, Mul, Sub};

/// The numbers that states and messages are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Precision {
    /// 64 bits: the same on every engine.
    #[default]
    F64,
    /// 32 bits: half the memory and half the bytes on the wire.
    F32,
}

impl Precision {
    /// Bytes of one number.
    pub const fn bytes(self) -> usize {
        match self {
            Precision::F64 => 8,
            Precision::F32 => 4,
        }
    }

    /// Its name in an experiment file.
    pub const fn name(self) -> &'static str {
        match self {
            Precision::F64 => "f64",
            Precision::F32 => "f32",
        }
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// `f64` or `f32`.
pub trait Float:
    Copy
    + Debug
    + Default
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + Add<Output = Self>
    + AddAssign
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + 'static
{
    /// Which it is.
    const PRECISION: Precision;

    /// Rounds to the nearest.
    fn from_f64(value: f64) -> Self;

    /// Exact.
    fn to_f64(self) -> f64;

    /// √self, correctly rounded.
    fn sqrt(self) -> Self;

    /// The same numbers, where they are double already.
    fn as_f64(numbers: &[Self]) -> Option<&[f64]>;

    /// The same, to write into.
    fn as_f64_mut(numbers: &mut [Self]) -> Option<&mut [f64]>;

    /// The same vector, where its numbers are double already; otherwise it comes back.
    fn into_f64(numbers: Vec<Self>) -> Result<Vec<f64>, Vec<Self>>;

    /// The reverse; nothing where these are other numbers.
    fn from_f64_vector(numbers: Vec<f64>) -> Option<Vec<Self>>;

    /// Its bits as they are hashed and sent: little-endian, all NaNs as one.
    fn hash_bytes(self, sink: &mut impl FnMut(&[u8]));
}

impl Float for f64 {
    const PRECISION: Precision = Precision::F64;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f64::sqrt(self)
    }

    fn as_f64(numbers: &[f64]) -> Option<&[f64]> {
        Some(numbers)
    }

    fn as_f64_mut(numbers: &mut [f64]) -> Option<&mut [f64]> {
        Some(numbers)
    }

    fn into_f64(numbers: Vec<f64>) -> Result<Vec<f64>, Vec<f64>> {
        Ok(numbers)
    }

    fn from_f64_vector(numbers: Vec<f64>) -> Option<Vec<f64>> {
        Some(numbers)
    }

    fn hash_bytes(self, sink: &mut impl FnMut(&[u8])) {
        let canonical = if self.is_nan() { f64::NAN } else { self };
        sink(&canonical.to_bits().to_le_bytes());
    }
}

impl Float for f32 {
    const PRECISION: Precision = Precision::F32;

    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    fn as_f64(_: &[f32]) -> Option<&[f64]> {
        None
    }

    fn as_f64_mut(_: &mut [f32]) -> Option<&mut [f64]> {
        None
    }

    fn into_f64(numbers: Vec<f32>) -> Result<Vec<f64>, Vec<f32>> {
        Err(numbers)
    }

    fn from_f64_vector(_numbers: Vec<f64>) -> Option<Vec<f32>> {
        None
    }

    fn hash_bytes(self, sink: &mut impl FnMut(&[u8])) {
        let canonical = if self.is_nan() { f32::NAN } else { self };
        sink(&canonical.to_bits().to_le_bytes());
    }
}
