//! Message rows as the bytes that a link carries: each vector by its codec, single numbers as they are.

use std::sync::Arc;

use super::{Codec, Fault, Scaled, split_number};
use crate::Result;
use crate::numeric::row::Width;

/// How a method's message rows are written and read back, to the same bits.
///
/// A row is `[vector 0 | vector 1 | … | scalars]`; in some phases of a round a method may leave out its last
/// vectors, or the whole row.
#[derive(Debug, Clone)]
pub struct Wire {
    pub(crate) codec: Arc<dyn Codec>,
    /// s₀ and ζ: in round k the code is s_k𝒞(·/s_k) with s_k = s₀ζ^k.
    pub(crate) scale: Option<[f64; 2]>,
    pub(crate) d: usize,
    /// What is sent in each phase on the pull graph and on the push graph.
    pub(crate) rows: Vec<[Width; 2]>,
}

/// Which of an agent's message rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Carried {
    /// On the push graph, not the pull graph.
    pub push: bool,
    /// The round.
    pub k: u64,
    /// The exchange within it.
    pub phase: u32,
}

impl Wire {
    /// Bytes of a row: exact, and the same as [`Profile::bytes`](crate::method::Profile::bytes).
    pub fn bytes(&self, row: Carried) -> usize {
        let Width { vectors, scalars } = self.width(row);
        vectors * self.codec.bytes(self.d) + scalars * size_of::<f64>()
    }

    /// Appends the bytes of a row that the method has filled.
    pub fn encode(&self, at: Carried, row: &[f64], out: &mut Vec<u8>) {
        let Width { vectors, scalars } = self.width(at);
        let sent = &row[..(vectors * self.d).min(row.len())];
        sent.chunks_exact(self.d.max(1)).for_each(|vector| match self.scale_at(at.k) {
            None => self.codec.encode(vector, out),
            Some(s) => Scaled::new(&*self.codec, s).encode(vector, out),
        });
        row[row.len().saturating_sub(scalars)..].iter().for_each(|s| out.extend(s.to_le_bytes()));
    }

    /// Reads a row back, without trust: its bits, or an error that says what is wrong. Allocates nothing.
    pub fn decode(&self, at: Carried, bytes: &[u8], row: &mut [f64]) -> Result<()> {
        let (Width { vectors, scalars }, d) = (self.width(at), self.d);
        let (expected, found) = (self.bytes(at), bytes.len());
        if expected != found || row.len() < vectors * d + scalars {
            return Err(Fault::Length { found, expected, d }.of("message row"));
        }
        row.fill(0.0); // what is left out
        let (coded, mut rest) = bytes.split_at(vectors * self.codec.bytes(d));
        let codes = coded.chunks_exact(self.codec.bytes(d).max(1));
        for (code, vector) in codes.zip(row.chunks_exact_mut(d.max(1))) {
            match self.scale_at(at.k) {
                None => self.codec.decode(code, vector)?,
                Some(s) => Scaled::new(&*self.codec, s).decode(code, vector)?,
            }
        }
        let end = row.len() - scalars;
        for s in &mut row[end..] {
            (*s, rest) = split_number(rest);
        }
        Ok(())
    }

    fn scale_at(&self, k: u64) -> Option<f64> {
        self.scale.map(|scale| scale_at(scale, k))
    }

    fn width(&self, Carried { push, phase, .. }: Carried) -> Width {
        self.rows.get(phase as usize).map_or(Width::NONE, |rows| rows[usize::from(push)])
    }
}

/// s_k = s₀ζ^k.
pub(crate) fn scale_at([s0, ζ]: [f64; 2], k: u64) -> f64 {
    s0 * libm::pow(ζ, k as f64)
}
