//! The logarithmic quantiser: the nearest of levels in a geometric sequence.

use super::bits::{Reader, Writer, bits_for, packed_bytes};
use super::{Codec, Decoded, Fault, NAN, Quality, magnitude};
use crate::numeric::sample::Draws;
use crate::{Error, Result};

const NAME: &str = "log-quantise";
const FRACTION_BITS: u32 = 52;
const ONE: u64 = 1.0_f64.to_bits();
/// Octaves of the normal numbers.
const OCTAVES: u64 = 2046;
const MOST_STEPS: usize = 1024;

/// 𝒞(z) = sgn(z)·(1 + ρ)^[log_(1+ρ)|z|], [·] to the nearest whole number, where (1 + ρ)^m = 2: m levels an
/// octave. It takes 1 + ⌈log₂(2046m + 2)⌉ bits a number.
///
/// A sector-bound map: κ|z| ≤ |h(z)| ≤ 𝒦|z| with κ = 2^(−1/2m) and 𝒦 = 2^(1/2m), for |z| from 2⁻¹⁰²² to
/// 2¹⁰²³; hence δ = 1 − (𝒦 − 1)². With a whole number of levels an octave the code needs no logarithms: the
/// exponent is f64's own, and the fraction is looked up. Levels never change: 𝒞(𝒞(x)) = 𝒞(x).
///
/// Numbers below 2⁻¹⁰²² go to the nearer of 0 and 2⁻¹⁰²²; above the last level to that. What is not finite
/// becomes NaN.
///
/// The code of a level is a sign (1 for minus) above the level's number: 0 for 0, then 1 for 2⁻¹⁰²² and so
/// on, NaN last.
///
/// ```
/// use oneway::codec::{Codec, LogQuantise};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let mut x = [1.4, -1.42, 100.0, 0.0];
/// LogQuantise::new(1).unwrap().compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
/// assert_eq!(x, [1.0, -2.0, 128.0, 0.0]); // √2 is the border between 1 and 2
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct LogQuantise {
    /// 2^(j/m), j = 0..m.
    points: Vec<f64>,
    /// 2^((j + ½)/m): where the next point becomes the nearer one.
    borders: Vec<f64>,
}

impl LogQuantise {
    /// With m = 1 to 1024 levels an octave.
    pub fn new(m: usize) -> Result<Self> {
        if !(1..=MOST_STEPS).contains(&m) {
            let expected = format!("there are 1 to {MOST_STEPS} levels an octave");
            return Err(Error::parameter(NAME, "steps", m, expected));
        }
        let power = |j: f64| libm::exp2(j / m as f64);
        let sequence = |shift: f64| (0..m).map(|j| power(j as f64 + shift)).collect();
        Ok(Self { points: sequence(0.0), borders: sequence(0.5) })
    }

    fn m(&self) -> u64 {
        self.points.len() as u64
    }

    /// The number of the level that is NaN, the last.
    fn nan(&self) -> u64 {
        OCTAVES * self.m() + 1
    }

    fn bits(&self) -> u32 {
        1 + bits_for(self.nan() as usize + 1)
    }

    /// Octave (from 1) and step of the level nearest to a finite number; octave 0 is zero.
    #[inline(always)]
    fn nearest(&self, z: f64) -> (u64, usize) {
        let octave = magnitude(z) >> FRACTION_BITS;
        if octave == 0 {
            let upper_half = magnitude(z) >> (FRACTION_BITS - 1) == 1;
            return (u64::from(upper_half), 0);
        }
        let fraction = f64::from_bits(z.to_bits() << 12 >> 12 | ONE); // in [1, 2)
        let step = self.borders.partition_point(|border| *border <= fraction);
        match (octave, step == self.points.len()) {
            (_, false) => (octave, step),
            (OCTAVES, true) => (octave, step - 1),
            (_, true) => (octave + 1, 0),
        }
    }

    /// The magnitude of a level.
    #[inline(always)]
    fn value(&self, octave: u64, step: usize) -> f64 {
        let point = self.points.get(step).map_or(ONE, |point| point.to_bits());
        if octave == 0 { 0.0 } else { f64::from_bits(point - ONE + (octave << FRACTION_BITS)) }
    }

    fn read(&self, bytes: &[u8], q: &mut [f64]) -> Decoded {
        Fault::check_length(bytes, self.bytes(q.len()), q.len())?;
        let (mut reader, bits) = (Reader::new(bytes), self.bits() - 1);
        for (at, q) in q.iter_mut().enumerate() {
            let (level, minus) = (reader.read(bits), reader.read(1) == 1);
            if level > self.nan() {
                return Err(Fault::number(at, "is beyond the last level"));
            } else if minus && (level == 0 || level == self.nan()) {
                return Err(Fault::number(at, "is minus zero or minus NaN, which is not used"));
            }
            *q = match level.checked_sub(1) {
                None => 0.0,
                Some(_) if level == self.nan() => NAN,
                Some(above) => self.value(1 + above / self.m(), (above % self.m()) as usize),
            };
            *q = if minus { -*q } else { *q };
        }
        reader.finish()
    }
}

impl Codec for LogQuantise {
    fn compress(&self, x: &mut [f64], _draws: &mut Draws) {
        for x in x {
            let (octave, step) = self.nearest(*x);
            let level = self.value(octave, step).copysign(*x) + 0.0; // −0 + 0 = 0
            *x = if x.is_finite() { level } else { NAN };
        }
    }

    fn bytes(&self, d: usize) -> usize {
        packed_bytes(d, self.bits())
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        let (mut writer, bits) = (Writer::new(out), self.bits() - 1);
        for &q in q {
            let (octave, step) = self.nearest(q);
            let level = match octave.checked_sub(1) {
                _ if !q.is_finite() => self.nan(),
                None => 0,
                Some(octaves) => 1 + octaves * self.m() + step as u64,
            };
            writer.write(level, bits);
            writer.write(u64::from(q < 0.0), 1);
        }
        writer.finish();
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.read(bytes, q).map_err(|fault| fault.of(NAME))
    }

    fn quality(&self, _d: usize) -> Quality {
        let farthest = libm::exp2(0.5 / self.m() as f64) - 1.0; // 𝒦 − 1 > 1 − κ
        Quality::Contractive { δ: 1.0 - farthest * farthest }
    }

    fn sector(&self) -> Option<[f64; 2]> {
        Some([-0.5, 0.5].map(|half| libm::exp2(half / self.m() as f64)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_one_apart_and_keep_their_place() {
        for m in [1, 2, 7, 8, MOST_STEPS] {
            let codec = LogQuantise::new(m).unwrap();
            assert_eq!(codec.points[0], 1.0);
            for octave in [1, 1022, 1023, OCTAVES] {
                let values: Vec<f64> = (0..m).map(|step| codec.value(octave, step)).collect();
                assert!(values.windows(2).all(|pair| pair[0] < pair[1]));
                assert!((0..m).all(|step| codec.nearest(values[step]) == (octave, step)), "{m}, {octave}");
            }
        }
    }

    #[test]
    fn ends_of_the_range() {
        let codec = LogQuantise::new(4).unwrap();
        let level = |z: f64| {
            let (octave, step) = codec.nearest(z);
            codec.value(octave, step)
        };
        assert_eq!(level(f64::MAX), codec.value(OCTAVES, 3));
        assert_eq!(level(f64::MIN_POSITIVE), f64::MIN_POSITIVE);
        assert_eq!(level(0.51 * f64::MIN_POSITIVE), f64::MIN_POSITIVE);
        assert_eq!(level(0.49 * f64::MIN_POSITIVE), 0.0);
    }

    #[test]
    fn bits_have_no_slack() {
        // 2046 octaves, zero and NaN are 2048 levels
        let bits = [1, 2, 8, 1024].map(|m| LogQuantise::new(m).unwrap().bits());
        assert_eq!(bits, [12, 13, 15, 22]);
    }

    #[test]
    fn refusals() {
        assert!(LogQuantise::new(0).unwrap_err().to_string().contains("`steps` = 0"));
        assert!(LogQuantise::new(1025).is_err());
        let codec = LogQuantise::new(2).unwrap();
        for (code, why) in [
            (codec.nan() + 1, "number 0 is beyond the last level"),
            (1 << 12, "number 0 is minus zero or minus NaN, which is not used"),
            (codec.nan() | 1 << 12, "number 0 is minus zero or minus NaN, which is not used"),
            (1 << 13, "the bits that fill up the last byte are not zero"),
        ] {
            let error = codec.decode(&(code as u16).to_le_bytes(), &mut [0.0]).unwrap_err().to_string();
            assert!(error.ends_with(why), "{error}");
        }
    }
}
