//! Codecs that send every number whole, in eight bytes: the identity, and saturation.

use super::{Codec, Decoded, Fault, Quality};
use crate::numeric::sample::Draws;
use crate::{Error, Result};

/// No compression: 𝒞(x) = x, d numbers of eight bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity;

impl Codec for Identity {
    fn compress(&self, _x: &mut [f64], _draws: &mut Draws) {}

    fn bytes(&self, d: usize) -> usize {
        8 * d
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        write(q, out);
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        read(bytes, q, |_| true).map_err(|fault| fault.of("identity"))
    }

    fn quality(&self, _d: usize) -> Quality {
        Quality::Unbiased { ω: 0.0 }
    }

    fn sector(&self) -> Option<[f64; 2]> {
        Some([1.0, 1.0])
    }
}

/// Saturation: 𝒞(x)_i = min(c, max(−c, x_i)), d numbers of eight bytes. A sector-bound map with κ = c/r for |x_i| ≤ r, r ≥ c.
/// What is not finite is not clipped, so that it is seen.
///
/// ```
/// use oneway::codec::{Codec, Saturate};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let mut x = [-7.0, 0.5, 3.0];
/// Saturate::new(2.0).unwrap().compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
/// assert_eq!(x, [-2.0, 0.5, 2.0]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Saturate {
    c: f64,
}

impl Saturate {
    /// Clips to [−c, c].
    pub fn new(c: f64) -> Result<Self> {
        Ok(Self { c: check_size("saturate", "limit", c)? })
    }
}

impl Codec for Saturate {
    fn compress(&self, x: &mut [f64], _draws: &mut Draws) {
        for x in x {
            let clipped = x.clamp(-self.c, self.c);
            *x = if x.is_finite() { clipped } else { *x };
        }
    }

    fn bytes(&self, d: usize) -> usize {
        8 * d
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        write(q, out);
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        read(bytes, q, |q| !q.is_finite() || q.abs() <= self.c).map_err(|fault| fault.of("saturate"))
    }

    fn quality(&self, _d: usize) -> Quality {
        Quality::Absolute { error: 0.0, range: self.c }
    }

    fn sector(&self) -> Option<[f64; 2]> {
        Some([0.0, 1.0])
    }
}

/// A length that a number is measured by, if it is from 1e-100 to 1e100: so that it can be multiplied and
/// divided freely.
pub(super) fn check_size(codec: &str, name: &str, value: f64) -> Result<f64> {
    let possible = (1e-100..=1e100).contains(&value);
    possible
        .then_some(value)
        .ok_or_else(|| Error::parameter(codec, name, value, "it must be from 1e-100 to 1e100"))
}

fn write(q: &[f64], out: &mut Vec<u8>) {
    out.extend(q.iter().flat_map(|q| q.to_le_bytes()));
}

fn read(bytes: &[u8], q: &mut [f64], possible: impl Fn(f64) -> bool) -> Decoded {
    Fault::check_length(bytes, 8 * q.len(), q.len())?;
    for (at, (q, bytes)) in q.iter_mut().zip(bytes.as_chunks().0).enumerate() {
        *q = f64::from_le_bytes(*bytes);
        if !possible(*q) {
            return Err(Fault::number(at, "is beyond the limit"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_positive_and_of_human_size() {
        for c in [0.0, -1.0, 1e-101, 1e101, f64::NAN, f64::INFINITY] {
            let error = Saturate::new(c).unwrap_err().to_string();
            assert!(error.contains("`limit`") && error.ends_with("from 1e-100 to 1e100"), "{error}");
        }
    }

    #[test]
    fn beyond_the_limit_is_refused() {
        let (saturate, mut q) = (Saturate::new(2.0).unwrap(), [0.0; 2]);
        let bytes: Vec<u8> = [1.5_f64, 2.1].iter().flat_map(|q| q.to_le_bytes()).collect();
        let error = saturate.decode(&bytes, &mut q).unwrap_err().to_string();
        assert_eq!(error, "these bytes are no vector encoded by saturate: number 1 is beyond the limit");
        let error = Identity.decode(&bytes, &mut [0.0; 3]).unwrap_err().to_string();
        assert!(error.ends_with("identity: there are 16, but dimension 3 takes 24"), "{error}");
    }
}
