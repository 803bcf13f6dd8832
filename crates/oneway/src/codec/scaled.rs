//! A codec at another scale.

use super::rounding::power_of_two;
use super::{Codec, Fault, Quality};
use crate::Result;
use crate::numeric::sample::Draws;

/// The scales there are, and the magnitudes that are not changed: within them nothing overflows and no digit
/// is lost.
const SCALES: [f64; 2] = [power_of_two(-300), power_of_two(300)];
const MAGNITUDES: [f64; 2] = [power_of_two(-700), power_of_two(700)];

/// s·𝒞(x/s), in the bytes of 𝒞. Sender and receiver both know s, for it follows from the round.
///
/// It gives a codec with an absolute error, such as [`Uniform`](super::Uniform), a step sΔ that shrinks as
/// the run converges. Codecs that go by the vector's own norm do the same at any s; top-k and random-k as
/// well.
///
/// s is rounded up to a power of two, from 2⁻³⁰⁰ to 2³⁰⁰: multiplying by it is exact, so that what was sent
/// can be had back. A bound that holds with s holds with a larger one that is less than twice as large.
/// Magnitudes below 2⁻⁷⁰⁰ count as 0, finite ones above 2⁷⁰⁰ as 2⁷⁰⁰. To encode takes one vector of scratch.
///
/// ```
/// use oneway::codec::{Codec, Rounding, Scaled, Uniform};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let quarters = Uniform::new(0.25, 8, Rounding::Nearest).unwrap();
/// let mut x = [0.01, -0.02];
/// Scaled::new(&quarters, 0.03).compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0)); // 0.03 → 1/32
/// assert_eq!(x, [0.0078125, -0.0234375]); // multiples of 1/128
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scaled<C> {
    codec: C,
    s: f64,
}

impl<C: Codec> Scaled<C> {
    /// `codec` at the least possible scale that is at least s. (If s is not a number, the least of all.)
    pub fn new(codec: C, s: f64) -> Self {
        let [least, most] = SCALES;
        let s = s.max(least).min(most);
        let fraction = (1 << 52) - 1;
        Self { codec, s: f64::from_bits((s.to_bits() + fraction) & !fraction) }
    }

    /// The power of two that s has become.
    pub fn scale(&self) -> f64 {
        self.s
    }
}

/// x·s, and NaN with all its bits.
#[inline(always)]
fn scaled(x: f64, s: f64) -> f64 {
    if x.is_nan() { x } else { x * s }
}

impl<C: Codec> Codec for Scaled<C> {
    fn compress(&self, x: &mut [f64], draws: &mut Draws) {
        let [least, most] = MAGNITUDES;
        let (s, inverse) = (self.s, 1.0 / self.s);
        for x in &mut *x {
            let within = if x.abs() < least { 0.0 } else { x.clamp(-most, most) };
            *x = scaled(if x.is_finite() { within } else { *x }, inverse);
        }
        self.codec.compress(x, draws);
        x.iter_mut().for_each(|x| *x = scaled(*x, s));
    }

    fn bytes(&self, d: usize) -> usize {
        self.codec.bytes(d)
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        let inverse = 1.0 / self.s;
        let unscaled: Vec<f64> = q.iter().map(|q| scaled(*q, inverse)).collect();
        self.codec.encode(&unscaled, out);
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.codec.decode(bytes, q)?;
        for (at, q) in q.iter_mut().enumerate() {
            let (before, after) = (*q, scaled(*q, self.s));
            if scaled(after, 1.0 / self.s).to_bits() != before.to_bits() {
                return Err(Fault::number(at, "is not exact at this scale").of("a scaled codec"));
            }
            *q = after;
        }
        Ok(())
    }

    fn unbiased(&self) -> bool {
        self.codec.unbiased()
    }

    fn quality(&self, d: usize) -> Quality {
        match self.codec.quality(d) {
            Quality::Absolute { error, range } => {
                Quality::Absolute { error: self.s * error, range: self.s * range }
            }
            relative => relative,
        }
    }

    fn sector(&self) -> Option<[f64; 2]> {
        self.codec.sector()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::{Identity, Norm, Quantise, Rounding, Sign, Uniform};
    use crate::numeric::sample::Purpose;

    #[test]
    fn scales_are_rounded_up_to_powers_of_two() {
        for (s, scale) in [
            (1.0, 1.0),
            (1.0 + f64::EPSILON, 2.0),
            (0.3, 0.5),
            (0.0, SCALES[0]),
            (-1.0, SCALES[0]),
            (f64::NAN, SCALES[0]),
            (1e-200, SCALES[0]),
            (f64::INFINITY, SCALES[1]),
        ] {
            assert_eq!(Scaled::new(Identity, s).scale(), scale, "{s}");
        }
    }

    #[test]
    fn only_absolute_codecs_feel_the_scale() {
        let x: Vec<f64> = (0..40).map(|i| f64::from(i * i) * 0.01 - 3.0).collect();
        let after = |codec: &dyn Codec| {
            let mut x = x.clone();
            codec.compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
            x
        };
        let quantise = Quantise::new(4, Norm::Euclidean).unwrap();
        for codec in [&Identity as &dyn Codec, &Sign, &quantise] {
            assert_eq!(after(codec), after(&Scaled::new(codec, 0.01)));
        }
        let uniform = |step| Uniform::new(step, 12, Rounding::Nearest).unwrap();
        assert_ne!(after(&uniform(1.0)), after(&Scaled::new(uniform(1.0), 0.25)));
        assert_eq!(after(&uniform(0.25)), after(&Scaled::new(uniform(1.0), 0.25)));
        assert_eq!(Scaled::new(uniform(1.0), 0.25).quality(7), uniform(0.25).quality(7));
    }

    #[test]
    fn numbers_that_the_scale_takes_out_of_range_are_refused() {
        let codec = Scaled::new(Identity, f64::INFINITY);
        let error = codec.decode(&1e300_f64.to_le_bytes(), &mut [0.0]).unwrap_err().to_string();
        assert_eq!(
            error,
            "these bytes are no vector encoded by a scaled codec: number 0 is not exact at this scale"
        );
    }
}
