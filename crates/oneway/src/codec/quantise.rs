//! Random quantisation relative to a norm (QSGD, Alistarh et al. 2017).

use super::bits::{Reader, Writer, packed_bytes};
use super::levels::Levels;
use super::norms::{euclidean, largest};
use super::rounding::{at_random, power_of_two, with_bits};
use super::{Codec, Decoded, Fault, NAN, Quality, magnitude, split_number};
use crate::Result;
use crate::numeric::sample::Draws;
use crate::numeric::vectors::widest;

const NAME: &str = "quantise";

/// The norm that sets the unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// ‖x‖_∞: all levels are used, so the error is smaller.
    Largest,
    /// ‖x‖₂, as in QSGD: most numbers of a long vector become 0.
    Euclidean,
}

/// 𝒞(x)_i = ±uℓ_i with whole ℓ_i from 0 to s = 2^(b−1) − 1: |x_i|/u, rounded at random so that the mean is
/// right. The unit u is ‖x‖/s, rounded up to 54 − b significant bits. One number of eight bytes, then b bits
/// a number.
///
/// With so short a unit all products uℓ are exact. So the unit and the levels can be had back from 𝒞(x)
/// alone: the unit that is sent is the greatest common divisor of all numbers. Levels are written as ±ℓ + s;
/// the code 2^b − 1 is not used.
///
/// The variance of a number is at most u²/4 and at most u|x_i|, hence ω = min(d/(4s²), √d/s), for both norms;
/// rounding u up makes it (1 + 2^(b−53))² times that. If a number is not finite, all become NaN (levels 0).
/// If ‖x‖₂ or us overflows, u is the largest possible.
///
/// ```
/// use oneway::codec::{Codec, Norm, Quantise};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let codec = Quantise::new(3, Norm::Largest).unwrap(); // levels −3..3
/// let mut x = [6.0, -2.0, 1.0, 0.0];
/// codec.compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
/// assert!(x[..2] == [6.0, -2.0] && (x[2] == 0.0 || x[2] == 2.0) && x[3] == 0.0);
/// assert_eq!(codec.bytes(4), 8 + 2);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quantise {
    levels: Levels,
    norm: Norm,
}

impl Quantise {
    /// In b = 2 to 32 bits a number.
    pub fn new(b: usize, norm: Norm) -> Result<Self> {
        Ok(Self { levels: Levels::new(NAME, b)?, norm })
    }

    /// The least u of 54 − b significant bits with us ≥ norm; of 0 it is 0, of NaN it is NaN.
    fn unit(&self, norm: f64) -> f64 {
        let (s, significant) = (self.levels.top(), 54 - self.levels.bits());
        if norm.is_nan() || norm <= 0.0 {
            return norm;
        }
        let u = round_up(norm / s, significant);
        // norm/s may have been rounded down, to a number that is short enough
        let u = if u * s < norm { round_up(u.next_up(), significant) } else { u };
        u.min(round_down(f64::MAX / s, significant))
    }

    fn read(&self, bytes: &[u8], q: &mut [f64]) -> Decoded {
        Fault::check_length(bytes, self.bytes(q.len()), q.len())?;
        let (u, codes) = split_number(bytes);
        let positive = u.is_finite() && u > 0.0;
        if !positive && u.to_bits() != 0 && (u.to_bits() != NAN.to_bits() || q.is_empty()) {
            return Err(Fault::Scale("is not the unit of a vector"));
        }
        let (odd, _) = odd_and_exponent(u);
        let (mut reader, mut divisor) = (Reader::new(codes), 0);
        for (at, q) in q.iter_mut().enumerate() {
            let refuse = |why| Err(Fault::number(at, why));
            let Some(level) = self.levels.level(reader.read(self.levels.bits())) else {
                return refuse("has a level that is not used");
            };
            if !positive && level != 0.0 {
                return refuse("has a level, but there is no unit");
            }
            *q = if u.is_nan() { NAN } else { u * level };
            let (level_odd, _) = odd_and_exponent(level);
            let digits = level_odd.checked_mul(odd);
            if positive && (!q.is_finite() || digits.is_none_or(|digits| digits >> f64::MANTISSA_DIGITS > 0))
            {
                return refuse("is not exact: the unit is too large or has too many digits");
            }
            divisor = greatest_common_divisor(divisor, level.abs() as u64);
        }
        if positive && divisor != 1 {
            return Err(Fault::Scale("is not the largest unit: all levels have a common divisor"));
        }
        reader.finish()
    }
}

impl Codec for Quantise {
    fn compress(&self, x: &mut [f64], draws: &mut Draws) {
        let s = self.levels.top();
        widest(
            #[inline(always)]
            || {
                let m = largest(x);
                let u = self.unit(match self.norm {
                    Norm::Euclidean if m > 0.0 => euclidean(x, m),
                    _ => m,
                });
                if u > 0.0 {
                    with_bits(
                        x,
                        draws,
                        #[inline(always)]
                        |x, bits| {
                            let level = at_random((x.abs() / u).min(s), bits);
                            (u * level).copysign(x) + 0.0 // −0 + 0 = 0
                        },
                    );
                } else {
                    x.fill(u);
                }
            },
        );
    }

    fn bytes(&self, d: usize) -> usize {
        8 + packed_bytes(d, self.levels.bits())
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        let u = common_unit(q);
        out.extend(u.to_le_bytes());
        let mut writer = Writer::new(out);
        for q in q {
            let level = if u > 0.0 { q / u } else { 0.0 };
            writer.write(self.levels.code(level), self.levels.bits());
        }
        writer.finish();
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.read(bytes, q).map_err(|fault| fault.of(NAME))
    }

    fn quality(&self, d: usize) -> Quality {
        let (s, d) = (self.levels.top(), d as f64);
        let longer = 1.0 + f64::EPSILON * (s + 1.0); // 1 + 2^(b−53)
        Quality::Unbiased { ω: (d / (4.0 * s * s)).min(d.sqrt() / s) * longer * longer }
    }
}

/// Of a finite x > 0 the bits beyond the leading `significant` ones: a mask of them.
fn beyond(x: f64, significant: u32) -> u64 {
    // a normal number has a leading one that is not written; a subnormal one begins where it begins
    let digits = (u64::BITS - x.to_bits().leading_zeros()).min(f64::MANTISSA_DIGITS);
    !(u64::MAX << digits.saturating_sub(significant))
}

fn round_up(x: f64, significant: u32) -> f64 {
    let beyond = beyond(x, significant);
    f64::from_bits((x.to_bits() + beyond) & !beyond)
}

fn round_down(x: f64, significant: u32) -> f64 {
    f64::from_bits(x.to_bits() & !beyond(x, significant))
}

/// |x| = m·2^e with an odd m; (0, 0) for 0.
fn odd_and_exponent(x: f64) -> (u64, i32) {
    let (field, fraction) = (magnitude(x) >> 52, magnitude(x) & ((1 << 52) - 1));
    let (m, e) = if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field as i32 - 1075) };
    if m == 0 { (0, 0) } else { (m >> m.trailing_zeros(), e + m.trailing_zeros() as i32) }
}

/// The largest u of which all numbers are whole multiples: 0 if all are 0, NaN if one is not finite.
fn common_unit(q: &[f64]) -> f64 {
    let (mut odd, mut least) = (0, i32::MAX);
    for &q in q.iter().filter(|q| **q != 0.0) {
        if !q.is_finite() {
            return NAN;
        }
        let (m, e) = odd_and_exponent(q);
        odd = greatest_common_divisor(odd, m);
        least = least.min(e);
    }
    odd as f64 * power_of_two(if odd == 0 { 0 } else { least })
}

/// By Euclid; of 0 and b it is b.
fn greatest_common_divisor(mut a: u64, mut b: u64) -> u64 {
    while a != 0 {
        (a, b) = (b % a, a);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sample::Purpose;

    #[test]
    fn units_are_short_and_just_large_enough() {
        let mut draws = Draws::new(1, Purpose::Problem, 0, 0);
        for bits in [2, 3, 8, 16, 32] {
            let codec = Quantise::new(bits, Norm::Largest).unwrap();
            let s = codec.levels.top();
            for _ in 0..10_000 {
                let norm = f64::from_bits(draws.bits() % f64::INFINITY.to_bits());
                let u = codec.unit(norm);
                let (odd, _) = odd_and_exponent(u);
                assert!(odd < 1 << (54 - bits), "{u:e} has too many digits for {bits} bits");
                assert!((u * s).is_finite());
                let largest = f64::MAX * (1.0 - f64::EPSILON * (s + 1.0));
                assert!(u * s >= norm || norm > largest, "{u:e}·{s} < {norm:e}");
                let close = norm * (1.0 + f64::EPSILON * (s + 1.0)) + s * f64::from_bits(1);
                assert!(u * s <= close || norm > largest, "{u:e}·{s} is far above {norm:e}");
            }
        }
    }

    #[test]
    fn the_common_unit_by_hand() {
        assert_eq!(common_unit(&[6.0, -4.0, 0.0]), 2.0);
        assert_eq!(common_unit(&[0.75, 1.25]), 0.25);
        assert_eq!(common_unit(&[0.1 * 4.0, 0.1 * 8.0]), 0.4);
        assert_eq!(common_unit(&[f64::from_bits(6), f64::from_bits(4)]), f64::from_bits(2));
        assert_eq!(common_unit(&[f64::MAX, 0.0]), f64::MAX);
        assert_eq!(common_unit(&[]), 0.0);
        assert!(common_unit(&[1.0, f64::NAN]).is_nan());
        assert_eq!(greatest_common_divisor(12, 18), 6);
    }

    #[test]
    fn other_spellings_are_refused() {
        let codec = Quantise::new(4, Norm::Largest).unwrap();
        let spell = |u: f64, levels: [f64; 2]| {
            let [low, high] = levels.map(|level| codec.levels.code(level) as u8);
            [&u.to_le_bytes()[..], &[low | high << 4]].concat()
        };
        let mut q = [0.0; 2];
        codec.decode(&spell(0.5, [3.0, -2.0]), &mut q).unwrap();
        assert_eq!(q, [1.5, -1.0]);
        for (bytes, why) in [
            (spell(-0.5, [3.0, 2.0]), "the scale in front is not the unit of a vector"),
            (spell(f64::INFINITY, [3.0, 2.0]), "the scale in front is not the unit of a vector"),
            (spell(-0.0, [0.0, 0.0]), "the scale in front is not the unit of a vector"),
            (spell(0.5, [4.0, 2.0]), "is not the largest unit: all levels have a common divisor"),
            (spell(0.5, [0.0, 0.0]), "is not the largest unit: all levels have a common divisor"),
            (spell(0.1, [1.0, 7.0]), "number 1 is not exact: the unit is too large or has too many digits"),
            (spell(1e308, [1.0, 3.0]), "number 1 is not exact: the unit is too large or has too many digits"),
            (spell(0.0, [1.0, 0.0]), "number 0 has a level, but there is no unit"),
            (spell(NAN, [0.0, 1.0]), "number 1 has a level, but there is no unit"),
            (spell(0.5, [8.0, 1.0]), "number 0 has a level that is not used"),
        ] {
            let error = codec.decode(&bytes, &mut q).unwrap_err().to_string();
            assert!(error.ends_with(why), "{error}");
        }
    }
}
