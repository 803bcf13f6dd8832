//! Signs with one norm.

use super::bits::{Reader, Writer, packed_bytes};
use super::norms::{largest, mean_magnitude};
use super::{Codec, Decoded, Fault, NAN, Quality, split_number};
use crate::Result;
use crate::numeric::sample::Draws;
use crate::numeric::vectors::widest;

/// 𝒞(x) = (‖x‖₁/d)·sign(x), with sign(0) = +1: one number of eight bytes, then a bit a number, 1 for minus.
///
/// It is a projection: 𝒞(𝒞(x)) = 𝒞(x), to the last bit, and ‖𝒞(x) − x‖² = ‖x‖² − ‖x‖₁²/d, whatever sign(0)
/// is. Hence δ = 1/d, reached by vectors with one number that is not 0. If a number is not finite, all become
/// NaN.
///
/// ```
/// use oneway::codec::{Codec, Sign};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let mut x = [3.0, -1.0, 0.0, 2.0];
/// Sign.compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
/// assert_eq!(x, [1.5, -1.5, 1.5, 1.5]);
/// assert_eq!(Sign.bytes(123), 8 + 16);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sign;

impl Sign {
    fn read(self, bytes: &[u8], q: &mut [f64]) -> Decoded {
        Fault::check_length(bytes, self.bytes(q.len()), q.len())?;
        let (scale, signs) = split_number(bytes);
        let canonical = scale.is_finite() && scale.is_sign_positive() || scale.to_bits() == NAN.to_bits();
        if !canonical || q.is_empty() && scale != 0.0 {
            return Err(Fault::Scale("is not the mean of magnitudes"));
        }
        let signed = scale > 0.0;
        let mut reader = Reader::new(signs);
        for (at, q) in q.iter_mut().enumerate() {
            let minus = reader.read(1) == 1;
            if minus && !signed {
                return Err(Fault::number(at, "is minus zero or minus NaN, which is not used"));
            }
            *q = if minus { -scale } else { scale };
        }
        reader.finish()
    }
}

impl Codec for Sign {
    fn compress(&self, x: &mut [f64], _draws: &mut Draws) {
        widest(
            #[inline(always)]
            || {
                let m = largest(x);
                let scale = if m > 0.0 { mean_magnitude(x, m) } else { m };
                // without a scale there are no signs: all zeros are +0, all NaN the same NaN
                let minus = if scale > 0.0 { -scale } else { scale };
                for x in x {
                    *x = if *x < 0.0 { minus } else { scale };
                }
            },
        );
    }

    fn bytes(&self, d: usize) -> usize {
        8 + packed_bytes(d, 1)
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        out.extend(q.first().map_or(0.0, |q| q.abs()).to_le_bytes());
        let mut writer = Writer::new(out);
        for q in q {
            writer.write(u64::from(*q < 0.0), 1);
        }
        writer.finish();
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.read(bytes, q).map_err(|fault| fault.of("sign"))
    }

    fn quality(&self, d: usize) -> Quality {
        Quality::Contractive { δ: 1.0 / d.max(1) as f64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::sample::Purpose;

    #[test]
    fn a_second_time_changes_nothing() {
        let mut draws = Draws::new(1, Purpose::Problem, 0, 0);
        for d in 1..200 {
            let mut once: Vec<f64> = (0..d).map(|_| draws.normal()).collect();
            Sign.compress(&mut once, &mut draws);
            let mut twice = once.clone();
            Sign.compress(&mut twice, &mut draws);
            assert_eq!(once, twice);
        }
    }

    #[test]
    fn the_error_is_what_the_doc_says() {
        let mut draws = Draws::new(2, Purpose::Problem, 0, 0);
        let x: Vec<f64> = (0..50).map(|i| if i % 7 == 0 { 0.0 } else { draws.normal() }).collect();
        let mut q = x.clone();
        Sign.compress(&mut q, &mut draws);
        let error: f64 = q.iter().zip(&x).map(|(q, x)| (q - x).powi(2)).sum();
        let [one, two] = [1, 2].map(|p| x.iter().map(|x| x.abs().powi(p)).sum::<f64>());
        assert!((error - (two - one * one / 50.0)).abs() < 1e-13);
    }

    #[test]
    fn other_spellings_are_refused() {
        let spell = |scale: f64, signs: u8| [&scale.to_le_bytes()[..], &[signs]].concat();
        let refused = |bytes: &[u8]| Sign.decode(bytes, &mut [0.0; 3]).unwrap_err().to_string();
        assert!(Sign.decode(&spell(1.0, 0b101), &mut [0.0; 3]).is_ok());
        for (bytes, why) in [
            (spell(-1.0, 0), "the scale in front is not the mean of magnitudes"),
            (spell(-0.0, 0), "the scale in front is not the mean of magnitudes"),
            (spell(f64::INFINITY, 0), "the scale in front is not the mean of magnitudes"),
            (spell(0.0, 0b010), "number 1 is minus zero or minus NaN, which is not used"),
            (spell(NAN, 0b100), "number 2 is minus zero or minus NaN, which is not used"),
            (spell(1.0, 0b1000), "the bits that fill up the last byte are not zero"),
        ] {
            assert!(refused(&bytes).ends_with(why), "{}", refused(&bytes));
        }
    }
}
