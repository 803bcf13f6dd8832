//! Codecs that send a few of the numbers, and their positions.
//!
//! The code of both: k positions, ascending, in ⌈log₂ d⌉ bits each, packed; then the k numbers there, in
//! eight bytes each. If fewer than k numbers are not 0, the first zeros make up the count: the code is a
//! function of the vector alone.

use super::bits::{Reader, Writer, bits_for, packed_bytes};
use super::rounding::with_bits;
use super::selection::{ALL, Cut, cut};
use super::{Codec, Decoded, Fault, Quality, magnitude};
use crate::numeric::sample::{Draws, below};
use crate::numeric::vectors::widest;
use crate::{Error, Result};

/// How many numbers are sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kept {
    /// This many, or all if there are fewer.
    Count(usize),
    /// This fraction of all, in (0, 1], rounded; at least one.
    Fraction(f64),
}

impl Kept {
    /// The number k for dimension d.
    ///
    /// ```
    /// use oneway::codec::Kept;
    /// assert_eq!([0, 1, 14, 100].map(|d| Kept::Fraction(0.1).of(d)), [0, 1, 1, 10]);
    /// assert_eq!([0, 1, 14, 100].map(|d| Kept::Count(9).of(d)), [0, 1, 9, 9]);
    /// ```
    pub fn of(self, d: usize) -> usize {
        let k = match self {
            Kept::Count(k) => k,
            Kept::Fraction(fraction) => ((fraction * d as f64).round() as usize).max(1),
        };
        k.min(d)
    }

    fn check(self, codec: &str) -> Result<Self> {
        match self {
            Kept::Count(0) => Err(Error::parameter(codec, "k", 0, "at least one number must be sent")),
            Kept::Fraction(fraction) if !(fraction > 0.0 && fraction <= 1.0) => {
                Err(Error::parameter(codec, "fraction", fraction, "it must be in (0, 1]"))
            }
            kept => Ok(kept),
        }
    }

    /// k/d; of nothing, all is kept.
    fn share(self, d: usize) -> f64 {
        if d == 0 { 1.0 } else { self.of(d) as f64 / d as f64 }
    }

    fn bytes(self, d: usize) -> usize {
        let k = self.of(d);
        packed_bytes(k, bits_for(d)) + 8 * k
    }

    fn write(self, q: &[f64], out: &mut Vec<u8>) {
        let (d, k) = (q.len(), self.of(q.len()));
        let zeros = k.saturating_sub(q.iter().filter(|q| **q != 0.0).count());
        let sent = || {
            let mut zeros = zeros;
            let mut sent = move |q: f64| {
                let filler = q == 0.0 && zeros > 0;
                zeros -= usize::from(filler);
                filler || q != 0.0
            };
            q.iter().enumerate().filter(move |(_, q)| sent(**q)).take(k)
        };
        let mut writer = Writer::new(out);
        sent().for_each(|(at, _)| writer.write(at as u64, bits_for(d)));
        writer.finish();
        out.extend(sent().flat_map(|(_, q)| q.to_le_bytes()));
    }

    fn read(self, bytes: &[u8], q: &mut [f64]) -> Decoded {
        let (d, k) = (q.len(), self.of(q.len()));
        Fault::check_length(bytes, self.bytes(d), d)?;
        let (positions, values) = bytes.split_at(packed_bytes(k, bits_for(d)));
        let mut reader = Reader::new(positions);
        let mut free = 0; // positions below this one are past
        q.fill(0.0);
        for (nth, value) in values.as_chunks().0.iter().enumerate() {
            let (at, value) = (reader.read(bits_for(d)) as usize, f64::from_le_bytes(*value));
            let refuse = |why| Err(Fault::number(nth, why));
            match q.get_mut(at) {
                None => return refuse("has a position beyond the last one"),
                Some(_) if at < free => return refuse("does not come after the one before it"),
                Some(_) if value.to_bits() == (-0.0_f64).to_bits() => {
                    return refuse("is −0, which is not used");
                }
                // a zero makes up the count: it is the first that there is, so that all before it are sent
                // too
                Some(_) if value == 0.0 && at != nth => {
                    return refuse("is a zero, but not the first that there is");
                }
                Some(q) => *q = value,
            }
            free = at + 1;
        }
        reader.finish()
    }
}

/// What is kept of a number: −0 is 0.
#[inline(always)]
fn keep(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x }
}

/// The k largest magnitudes, of equal ones those that come first; the rest is 0. k positions and k numbers
/// are sent.
///
/// δ = k/d. 𝒞(𝒞(x)) = 𝒞(x). NaN is larger than all, then ∞: both are sent.
///
/// # Complexity
/// O(d), a few passes over the vector, no memory besides.
///
/// ```
/// use oneway::codec::{Codec, Kept, TopK};
/// let codec = TopK::new(Kept::Count(12)).unwrap();
/// assert_eq!(codec.bytes(123), 11 + 12 * 8); // 12 positions of 7 bits
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TopK {
    kept: Kept,
}

impl TopK {
    /// How many numbers are sent, k.
    pub fn new(kept: Kept) -> Result<Self> {
        Ok(Self { kept: kept.check("top-k")? })
    }
}

impl Codec for TopK {
    fn compress(&self, x: &mut [f64], _draws: &mut Draws) {
        let k = self.kept.of(x.len());
        if k == x.len() {
            return x.iter_mut().for_each(|x| *x = keep(*x));
        }
        let Cut { at, mut ties } = cut(x, k);
        if ties == ALL {
            return widest(
                #[inline(always)]
                || x.iter_mut().for_each(|x| *x = if magnitude(*x) >= at { keep(*x) } else { 0.0 }),
            );
        }
        for x in x {
            let tie = magnitude(*x) == at && ties > 0;
            ties -= usize::from(tie);
            *x = if tie || magnitude(*x) > at { keep(*x) } else { 0.0 };
        }
    }

    fn bytes(&self, d: usize) -> usize {
        self.kept.bytes(d)
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        self.kept.write(q, out);
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.kept.read(bytes, q).map_err(|fault| fault.of("top-k"))
    }

    fn quality(&self, d: usize) -> Quality {
        Quality::Contractive { δ: self.kept.share(d) }
    }
}

/// k numbers at positions drawn without replacement, times d/k or as they are; the rest is 0. k positions and
/// k numbers are sent.
///
/// Times d/k it is unbiased with ω = d/k − 1; as they are, contractive with δ = k/d.
///
/// The receiver could draw the positions again and save their bits. They are sent all the same: so a message
/// can be read by whoever has it, without the sender's seed, name and round, and its bytes compare with those
/// of [`TopK`].
///
/// # Complexity
/// O(d): a draw for each number (Knuth's selection sampling), no memory besides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RandomK {
    kept: Kept,
    unbiased: bool,
}

impl RandomK {
    /// How many numbers are sent, k; they are multiplied by d/k if the codec is to be unbiased.
    pub fn new(kept: Kept, unbiased: bool) -> Result<Self> {
        Ok(Self { kept: kept.check("random-k")?, unbiased })
    }
}

impl Codec for RandomK {
    fn compress(&self, x: &mut [f64], draws: &mut Draws) {
        let (d, mut left) = (x.len(), self.kept.of(x.len()));
        let factor = if self.unbiased { 1.0 / self.kept.share(d) } else { 1.0 };
        let mut from_here_on = d;
        widest(
            #[inline(always)]
            || {
                with_bits(
                    x,
                    draws,
                    #[inline(always)]
                    |x, bits| {
                        let picked = below(bits, from_here_on) < left; // with probability left/from_here_on
                        left -= usize::from(picked);
                        from_here_on -= 1;
                        // a mask, for a branch would be a coin's toss
                        f64::from_bits(keep(x * factor).to_bits() & u64::from(picked).wrapping_neg())
                    },
                );
            },
        );
    }

    fn bytes(&self, d: usize) -> usize {
        self.kept.bytes(d)
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        self.kept.write(q, out);
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        self.kept.read(bytes, q).map_err(|fault| fault.of("random-k"))
    }

    fn quality(&self, d: usize) -> Quality {
        let share = self.kept.share(d);
        if self.unbiased {
            Quality::Unbiased { ω: 1.0 / share - 1.0 }
        } else {
            Quality::Contractive { δ: share }
        }
    }
}
