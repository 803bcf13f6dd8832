//! Multiples of a fixed step: the compressor with an absolute error.

use super::bits::{Reader, Writer, packed_bytes};
use super::dense::check_size;
use super::levels::Levels;
use super::rounding::{Rounding, at_random, nearest, with_bits};
use super::{Codec, Decoded, Fault, NAN, Quality};
use crate::Result;
use crate::numeric::sample::Draws;
use crate::numeric::vectors::widest;

/// 𝒞(x)_i = Δ·round(x_i/Δ), clipped to ±sΔ with s = 2^(b−1) − 1: b bits a number, and nothing else.
///
/// The error is at most Δ/2 where |x_i| ≤ sΔ (at random: below Δ, and right in the mean). Beyond that the
/// code saturates: it sends ±sΔ. Because the error does not shrink with x, methods give the step a
/// [scale](super::Scaled) that does. What is not finite becomes NaN, the code that no level needs.
///
/// ```
/// use oneway::codec::{Codec, Rounding, Uniform};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let halves = Uniform::new(0.5, 4, Rounding::Nearest).unwrap();
/// let mut x = [0.2, -0.7, 1.1, 9.0];
/// halves.compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
/// assert_eq!(x, [0.0, -0.5, 1.0, 3.5]); // s = 7
/// assert_eq!(halves.bytes(4), 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Uniform {
    step: f64,
    levels: Levels,
    rounding: Rounding,
}

impl Uniform {
    /// Multiples of Δ, in b = 2 to 32 bits.
    pub fn new(step: f64, b: usize, rounding: Rounding) -> Result<Self> {
        let levels = Levels::new("uniform", b)?;
        Ok(Self { step: check_size("uniform", "step", step)?, levels, rounding })
    }

    fn read(&self, bytes: &[u8], q: &mut [f64]) -> Decoded {
        Fault::check_length(bytes, self.bytes(q.len()), q.len())?;
        let mut reader = Reader::new(bytes);
        for q in q {
            *q = self.levels.level(reader.read(self.levels.bits())).map_or(NAN, |level| self.step * level);
        }
        reader.finish()
    }
}

impl Codec for Uniform {
    fn compress(&self, x: &mut [f64], draws: &mut Draws) {
        let (step, s) = (self.step, self.levels.top());
        let clipped = |x: f64| (x / step).clamp(-s, s);
        let value = |x: f64, level: f64| if x.is_finite() { step * level + 0.0 } else { NAN }; // −0 + 0 = 0
        widest(
            #[inline(always)]
            || match self.rounding {
                Rounding::Nearest => x.iter_mut().for_each(|x| *x = value(*x, nearest(clipped(*x)))),
                Rounding::Random => with_bits(x, draws, |x, bits| value(x, at_random(clipped(x), bits))),
            },
        );
    }

    fn bytes(&self, d: usize) -> usize {
        packed_bytes(d, self.levels.bits())
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        for q in q {
            let code =
                if q.is_nan() { self.levels.unused() } else { self.levels.code(nearest(q / self.step)) };
            writer.write(code, self.levels.bits());
        }
        writer.finish();
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.read(bytes, q).map_err(|fault| fault.of("uniform"))
    }

    fn quality(&self, _d: usize) -> Quality {
        let error = match self.rounding {
            Rounding::Nearest => self.step / 2.0,
            Rounding::Random => self.step,
        };
        Quality::Absolute { error, range: self.levels.top() * self.step }
    }

    fn sector(&self) -> Option<[f64; 2]> {
        (self.rounding == Rounding::Nearest).then_some([0.0, 2.0]) // Δ/2 and a little becomes Δ
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sample::Purpose;

    #[test]
    fn rounding_at_random_is_right_in_the_mean_within_the_range() {
        let codec = Uniform::new(0.3, 8, Rounding::Random).unwrap();
        let mut draws = Draws::new(1, Purpose::Codec, 0, 0);
        let x = [0.1, -0.25, 17.0, -3.33, 38.0999];
        let mut mean = [0.0; 5];
        for _ in 0..40_000 {
            let mut q = x;
            codec.compress(&mut q, &mut draws);
            for ((mean, q), x) in mean.iter_mut().zip(q).zip(x) {
                *mean += q / 40_000.0;
                assert!((q - x).abs() < 0.3);
            }
        }
        // the standard deviation of a mean is at most 0.15/200
        assert!(mean.iter().zip(x).all(|(mean, x)| (mean - x).abs() < 0.004), "{mean:?}");
    }

    #[test]
    fn steps_are_of_human_size() {
        let error = Uniform::new(0.0, 8, Rounding::Nearest).unwrap_err().to_string();
        assert_eq!(error, "uniform: `step` = 0 is not possible: it must be from 1e-100 to 1e100");
    }
}
