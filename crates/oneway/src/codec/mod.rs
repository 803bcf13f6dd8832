//! Lossy codes for vectors, the compressors 𝒞 of the literature: what is sent in place of a vector, and in
//! how many bytes.
//!
//! A simulator calls [`compress`](Codec::compress) and counts [`bytes`](Codec::bytes). A networked agent also
//! [`encode`](Codec::encode)s, and whoever hears it [`decode`](Codec::decode)s. The laws of all codecs:
//!
//! - **Round trip.** decode(encode(𝒞(x))) = 𝒞(x), to the last bit, for every x: zeros, subnormal and huge
//!   numbers, NaN, d = 0.
//! - **One spelling.** encode writes exactly `bytes(d)` bytes. What decode does not refuse, encode writes the
//!   same way again.
//! - **Pure.** 𝒞(x) is a function of x and the draws. A draw has 64 bits, and a deterministic codec makes
//!   none.
//! - **Finite stays finite; not finite stays not finite.** No codec hides that a run has diverged. A code
//!   that has no room for ∞ sends NaN, and where one number sets the scale of all, all become NaN.
//!   (Exceptions: random-k does not see what it does not pick, and its factor d/k may overflow.)
//! - **−0 is 0**, except for [`Identity`] and [`Saturate`], which send numbers whole.
//!
//! Bounds on the error ([`Quality`]) are those of real numbers; rounding to f64 adds its 10⁻¹⁶, and numbers
//! that are not normal (below 2⁻¹⁰²² ≈ 2·10⁻³⁰⁸) may be further off.
//!
//! Bytes are little-endian. Fields of a few bits are packed without gaps from the lowest bit of the first
//! byte on; the last byte is filled up with zeros, which decode insists on.
//!
//! ```
//! use oneway::codec;
//! use oneway::numeric::sample::{Draws, Purpose};
//! # fn main() -> oneway::Result<()> {
//! let top = codec::codec("top-k")?.codec([("k", 2.0)])?;
//! let mut draws = Draws::new(7, Purpose::Codec, 3, 100);
//!
//! let mut x = [0.5, -3.0, 1.0, 2.0];
//! top.compress(&mut x, &mut draws);
//! assert_eq!(x, [0.0, -3.0, 0.0, 2.0]);
//!
//! let (mut message, mut heard) = (vec![], [0.0; 4]);
//! top.encode(&x, &mut message);
//! assert_eq!((message.len(), top.bytes(4)), (17, 17)); // two positions in 2 bits each, two numbers
//! top.decode(&message, &mut heard)?;
//! assert_eq!(heard, x);
//! # Ok(())
//! # }
//! ```

mod bits;
mod dense;
mod levels;
mod logarithmic;
mod natural;
mod norms;
mod quantise;
mod registry;
mod rounding;
mod scaled;
mod selection;
mod sign;
mod sparse;
#[cfg(test)]
mod tests;
mod uniform;
mod wire;

pub use dense::{Identity, Saturate};
pub use logarithmic::LogQuantise;
pub use natural::Natural;
pub use quantise::{Norm, Quantise};
pub use registry::{CODECS, CodecKind, codec};
pub use rounding::Rounding;
pub use scaled::Scaled;
pub use sign::Sign;
pub use sparse::{Kept, RandomK, TopK};
pub use uniform::Uniform;
pub(crate) use wire::scale_at;
pub use wire::{Carried, Wire};

use std::fmt::Debug;

pub use crate::error::Fault;
use crate::numeric::sample::Draws;
use crate::{Error, Result};

/// A lossy code for vectors: what is sent in place of a vector, and how many bytes it takes.
pub trait Codec: Send + Sync + Debug {
    /// Replaces `x` by what the receiver will decode, 𝒞(x). Allocates nothing. `draws` is the agent's stream
    /// for this message.
    fn compress(&self, x: &mut [f64], draws: &mut Draws);

    /// Bytes of an encoded vector of dimension d: exact, whatever the vector holds.
    fn bytes(&self, d: usize) -> usize;

    /// Writes an already compressed vector as bytes: exactly `bytes(d)` of them, appended to `out`. Of a
    /// vector that [`compress`](Self::compress) does not make, the output is unspecified.
    fn encode(&self, q: &[f64], out: &mut Vec<u8>);

    /// Reads them back, without trust: q to the last bit, or an error that says what is wrong. Never panics,
    /// never allocates. After an error `q` is not to be used.
    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()>;

    /// Whether E 𝒞(x) = x.
    fn unbiased(&self) -> bool {
        matches!(self.quality(1), Quality::Unbiased { .. })
    }

    /// How near 𝒞(x) is to x in dimension d.
    fn quality(&self, d: usize) -> Quality;

    /// κ and 𝒦 of a sector-bound map: each number z by itself becomes an h(z) of its sign, with κ|z| ≤ |h(z)|
    /// ≤ 𝒦|z|. κ = 0 where no positive one serves all z. `None` if there is no 𝒦, or if what becomes of z
    /// depends on the other numbers.
    fn sector(&self) -> Option<[f64; 2]> {
        None
    }
}

/// How near 𝒞(x) is to x.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Quality {
    /// E‖𝒞(x) − x‖² ≤ (1 − δ)‖x‖²: the error is smaller than the vector.
    Contractive {
        /// From 0 (exclusive) to 1.
        δ: f64,
    },
    /// E 𝒞(x) = x and E‖𝒞(x) − x‖² ≤ ω‖x‖².
    Unbiased {
        /// 0 or more; it may exceed 1.
        ω: f64,
    },
    /// |𝒞(x)_i − x_i| ≤ error where |x_i| ≤ range. There is no bound relative to ‖x‖; beyond the range 𝒞 saturates.
    Absolute {
        /// 0 or more.
        error: f64,
        /// Positive.
        range: f64,
    },
}

impl Quality {
    /// δ with E‖𝒞(x) − x‖² ≤ (1 − δ)‖x‖², if there is a positive one: an unbiased codec with ω < 1 has δ = 1
    /// − ω.
    ///
    /// ```
    /// use oneway::codec::Quality;
    /// assert_eq!(Quality::Unbiased { ω: 0.125 }.contraction(), Some(0.875));
    /// assert_eq!(Quality::Unbiased { ω: 3.0 }.contraction(), None);
    /// ```
    pub fn contraction(self) -> Option<f64> {
        let δ = match self {
            Quality::Contractive { δ } => δ,
            Quality::Unbiased { ω } => 1.0 - ω,
            Quality::Absolute { .. } => 0.0,
        };
        (δ > 0.0).then_some(δ)
    }
}

/// What reading bytes comes to, before the codec puts its name to it.
type Decoded = std::result::Result<(), Fault>;

impl Fault {
    fn check_length(bytes: &[u8], expected: usize, d: usize) -> Decoded {
        let found = bytes.len();
        (found == expected).then_some(()).ok_or(Fault::Length { found, expected, d })
    }

    fn number(at: usize, why: &'static str) -> Fault {
        Fault::Number { at, why }
    }

    fn of(self, codec: &'static str) -> Error {
        Error::Encoding { codec, fault: self }
    }
}

impl<C: Codec + ?Sized> Codec for &C {
    fn compress(&self, x: &mut [f64], draws: &mut Draws) {
        (**self).compress(x, draws);
    }

    fn bytes(&self, d: usize) -> usize {
        (**self).bytes(d)
    }

    fn encode(&self, q: &[f64], out: &mut Vec<u8>) {
        (**self).encode(q, out);
    }

    fn decode(&self, bytes: &[u8], q: &mut [f64]) -> Result<()> {
        (**self).decode(bytes, q)
    }

    fn unbiased(&self) -> bool {
        (**self).unbiased()
    }

    fn quality(&self, d: usize) -> Quality {
        (**self).quality(d)
    }

    fn sector(&self) -> Option<[f64; 2]> {
        (**self).sector()
    }
}

/// The one NaN that codecs make and accept in place of numbers that they cannot carry.
const NAN: f64 = f64::from_bits(0x7ff8_0000_0000_0000);

/// |x| as an integer in the order of magnitudes: 0 first, then subnormal, normal, ∞, NaN last.
#[inline(always)]
fn magnitude(x: f64) -> u64 {
    x.to_bits() & !(1 << 63)
}

/// Takes a number from the front of bytes that hold at least eight.
fn split_number(bytes: &[u8]) -> (f64, &[u8]) {
    bytes.split_first_chunk().map_or((0.0, &[]), |(first, rest)| (f64::from_le_bytes(*first), rest))
}
