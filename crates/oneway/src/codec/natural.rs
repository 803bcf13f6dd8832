//! Natural compression (Horváth et al. 2022): random rounding to a power of two.

use super::bits::{Reader, Writer, packed_bytes};
use super::rounding::with_bits;
use super::{Codec, Decoded, Fault, NAN, Quality};
use crate::Result;
use crate::numeric::sample::Draws;
use crate::numeric::vectors::widest;

/// 𝒞(x)_i = ±2^e or ±2^(e+1) for |x_i| = 2^e(1 + f), the latter with probability f, exactly: twelve bits a
/// number.
///
/// The twelve bits are sign and exponent as f64 has them: its upper twelve bits. What is below 2⁻¹⁰²² goes to
/// 0 or to 2⁻¹⁰²², still without bias; what is above 2¹⁰²³ goes down to it. NaN and ±∞ become NaN, with ∞'s
/// twelve bits. There is no −0 and no −NaN.
///
/// ω = 1/8, from the worst case f = 1/3.
///
/// ```
/// use oneway::codec::{Codec, Natural};
/// use oneway::numeric::sample::{Draws, Purpose};
/// let mut x = [3.0, -0.25];
/// Natural.compress(&mut x, &mut Draws::new(1, Purpose::Codec, 0, 0));
/// assert!((x[0] == 2.0 || x[0] == 4.0) && x[1] == -0.25);
/// assert_eq!(Natural.bytes(123), 185);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Natural;

const BITS: u32 = 12;
const FRACTION_BITS: u32 = 52;
const FRACTION: u64 = (1 << FRACTION_BITS) - 1;
const SIGN: u64 = 1 << 63;
/// The codes of −0 and −∞, which are not used, and of ∞, which is NaN's.
const NEGATIVE_ZERO: u64 = 0x800;
const NEGATIVE_INFINITY: u64 = 0xfff;
const NAN_CODE: u64 = 0x7ff;

#[inline(always)]
fn round(x: f64, bits: u64) -> f64 {
    const LARGEST: u64 = 2046 << FRACTION_BITS; // 2¹⁰²³
    let magnitude = x.to_bits() & !SIGN;
    // 52 random bits carry into the exponent with probability f; below 2⁻¹⁰²² they carry into the first
    // exponent
    let power = ((magnitude + (bits >> (64 - FRACTION_BITS))) & !FRACTION).min(LARGEST);
    let sign = if power == 0 { 0 } else { x.to_bits() & SIGN };
    if x.is_finite() { f64::from_bits(power | sign) } else { NAN }
}

impl Natural {
    fn read(self, bytes: &[u8], q: &mut [f64]) -> Decoded {
        Fault::check_length(bytes, self.bytes(q.len()), q.len())?;
        let mut reader = Reader::new(bytes);
        for (at, q) in q.iter_mut().enumerate() {
            *q = match reader.read(BITS) {
                NAN_CODE => NAN,
                NEGATIVE_ZERO => return Err(Fault::number(at, "is −0, which is not used")),
                NEGATIVE_INFINITY => return Err(Fault::number(at, "is −∞, which is not used")),
                code => f64::from_bits(code << FRACTION_BITS),
            };
        }
        reader.finish()
    }
}

impl Codec for Natural {
    fn compress(&self, x: &mut [f64], draws: &mut Draws) {
        widest(
            #[inline(always)]
            || with_bits(x, draws, round),
        );
    }

    fn bytes(&self, d: usize) -> usize {
        packed_bytes(d, BITS)
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        let mut writer = Writer::new(out);
        for q in q {
            writer.write(if q.is_nan() { NAN_CODE } else { q.to_bits() >> FRACTION_BITS }, BITS);
        }
        writer.finish();
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.read(bytes, q).map_err(|fault| fault.of("natural"))
    }

    fn quality(&self, _d: usize) -> Quality {
        Quality::Unbiased { ω: 0.125 }
    }

    fn sector(&self) -> Option<[f64; 2]> {
        Some([0.5, 2.0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_by_hand() {
        let (least, most) = (0, u64::MAX);
        for (x, down, up) in [
            (1.0, 1.0, 1.0),
            (-3.0, -2.0, -4.0),
            (-0.0, 0.0, 0.0),
            (1e-310, 0.0, f64::MIN_POSITIVE),
            (-1e-310, 0.0, -f64::MIN_POSITIVE),
            (f64::MAX, 2.0_f64.powi(1023), 2.0_f64.powi(1023)),
        ] {
            assert_eq!(
                [round(x, least), round(x, most)].map(f64::to_bits),
                [down, up].map(f64::to_bits),
                "{x}"
            );
        }
        assert!(
            [f64::NAN, f64::INFINITY, -f64::INFINITY]
                .iter()
                .all(|&x| round(x, most).to_bits() == NAN.to_bits())
        );
    }

    #[test]
    fn the_chance_to_go_up_is_the_fraction_exactly() {
        let x = 1.0 + 3.0 * f64::EPSILON; // f = 3·2⁻⁵²: of all 2⁵² draws exactly the last three carry
        let draw = |from_the_end: u64| round(x, (FRACTION - from_the_end) << 12);
        assert_eq!([0, 1, 2, 3].map(draw), [2.0, 2.0, 2.0, 1.0]);
    }

    #[test]
    fn unused_codes_are_refused() {
        for (code, why) in [(NEGATIVE_ZERO, "−0"), (NEGATIVE_INFINITY, "−∞")] {
            let mut bytes = vec![];
            let mut writer = Writer::new(&mut bytes);
            writer.write(0, BITS);
            writer.write(code, BITS);
            writer.finish();
            let error = Natural.decode(&bytes, &mut [0.0; 2]).unwrap_err().to_string();
            assert!(error.ends_with(&format!("natural: number 1 is {why}, which is not used")), "{error}");
        }
    }
}
