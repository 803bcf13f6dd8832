//! Numbers as bytes: little-endian, eight each in double precision, four in single.

use std::borrow::Cow;

use oneway::engine::simulator;

/// The numbers of a run, `f64` or `f32`, as they are sent and stored.
pub trait Number: simulator::Number + bytemuck::Pod {
    /// The same number with its bytes in reverse order.
    fn reverse_bytes(self) -> Self;
}

impl Number for f64 {
    fn reverse_bytes(self) -> Self {
        f64::from_bits(self.to_bits().swap_bytes())
    }
}

impl Number for f32 {
    fn reverse_bytes(self) -> Self {
        f32::from_bits(self.to_bits().swap_bytes())
    }
}

/// A number whose bytes in memory are little-endian; on most machines the same.
pub(crate) fn to_little_endian<T: Number>(x: T) -> T {
    if cfg!(target_endian = "big") { x.reverse_bytes() } else { x }
}

/// Copies numbers from bytes in little-endian order: as many as both sides have.
pub(crate) fn copy_from_bytes<T: Number>(bytes: &[u8], row: &mut [T]) {
    let places: &mut [u8] = bytemuck::cast_slice_mut(row);
    places.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
    if cfg!(target_endian = "big") {
        row.iter_mut().for_each(|x| *x = x.reverse_bytes());
    }
}

/// Whether two numbers have the same bits; one NaN is as good as another.
pub(crate) fn same_bits<T: Number>(x: T, y: T) -> bool {
    let is_nan = |x: T| x.to_f64().is_nan();
    bytemuck::bytes_of(&x) == bytemuck::bytes_of(&y) || (is_nan(x) && is_nan(y))
}

/// The same numbers in double precision.
pub(crate) fn wide<T: Number>(row: &[T]) -> Cow<'_, [f64]> {
    match T::as_f64(row) {
        Some(row) => Cow::Borrowed(row),
        None => row.iter().map(|x| x.to_f64()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_bytes_in_both_precisions() {
        let bytes: Vec<u8> = [1.5f32, -0.0, f32::INFINITY].iter().flat_map(|x| x.to_le_bytes()).collect();
        let mut row = [0.0f32; 3];
        copy_from_bytes(&bytes, &mut row);
        assert!(row.iter().zip([1.5, -0.0, f32::INFINITY]).all(|(x, y)| same_bits(*x, y)));
        assert_eq!(*wide(&row), [1.5, -0.0, f64::INFINITY]);
        let mut row = [0.0f64; 1];
        copy_from_bytes(&(-7.25f64).to_le_bytes(), &mut row);
        assert!(same_bits(row[0], -7.25) && !same_bits(0.0, -0.0) && same_bits(f64::NAN, -f64::NAN));
    }
}
