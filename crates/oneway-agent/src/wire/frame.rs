//! A frame: one row, with all that is needed to check it.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0–3 | magic | `1WAY` |
//! | 4 | version | [`VERSION`] |
//! | 5 | graph | 0 pull, 1 push |
//! | 6 | encoding | 0: `f64` numbers; 1: what a codec made of them; 2: `f32` numbers |
//! | 7 | | zero |
//! | 8–15 | run | the first eight bytes of the run's [fingerprint](crate::plan::identity::Identity) |
//! | 16–23 | round | k, of the round that turns state k into state k + 1 |
//! | 24–27 | phase | the exchange within the round |
//! | 28–31 | from | sender |
//! | 32–35 | to | receiver |
//! | 36–39 | length | numbers in the row; of an encoded payload, its bytes |
//! | 40– | row | eight or four bytes a number; or the weight that the receiver multiplies by, then the encoded payload |
//! | last 4 | checksum | CRC-32 of all before |
//!
//! All numbers are little-endian. A frame is read in place: nothing is allocated for it, whatever its length
//! says.

use std::fmt;

use oneway::graph::Graph;
use oneway::numeric::Precision;

use super::Number;
use super::{copy_from_bytes, to_little_endian};

/// The version of the frames. It did not change with version 2 of the [protocol](super): frames of `f64`
/// numbers are as they were.
pub const VERSION: u8 = 1;

/// Bytes before the row.
pub const HEAD: usize = 40;

/// Bytes after it.
const TAIL: usize = 4;

/// Bytes of the weight before a code.
const WEIGHT: usize = 8;

const MAGIC: [u8; 4] = *b"1WAY";

/// The values of the field `encoding`.
const DOUBLE: u8 = 0;
const CODED: u8 = 1;
const SINGLE: u8 = 2;

/// The round and the exchange within it that a row belongs to. Ordered by time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Moment {
    /// The round that turns state k into state k + 1.
    pub round: u64,
    /// The exchange within the round.
    pub phase: u32,
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.phase {
            0 => write!(f, "round {}", self.round),
            phase => write!(f, "round {}, phase {phase}", self.round),
        }
    }
}

/// The fields before a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The run: rows of another are refused.
    pub run: u64,
    /// The graph.
    pub graph: Graph,
    /// The round and the exchange.
    pub at: Moment,
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
}

/// A frame, read in place.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<'a> {
    /// The fields before the row.
    pub head: Head,
    /// The row.
    pub content: Content<'a>,
}

/// A row as it travels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content<'a> {
    /// Its numbers, little-endian; on the push graph, multiplied by the sender's weight.
    Numbers(Precision, &'a [u8]),
    /// What a codec made of it. A product could not be encoded, so the weight is sent with it.
    Coded {
        /// What the receiver is to multiply by: C_ij on the push graph, 1 on the pull graph.
        weight: f64,
        /// The encoded payload.
        bytes: &'a [u8],
    },
}

/// Why bytes are not a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// They do not begin like one.
    #[error("these bytes are not a frame of oneway")]
    NoFrame,
    /// It is of another version.
    #[error("the frame is of version {found}, and this agent speaks version {VERSION}")]
    Version {
        /// The version it says.
        found: u8,
    },
    /// Its length is not the one that its head says.
    #[error("a frame of length {length} has {expected} bytes, not {found}")]
    Length {
        /// The length in its head.
        length: u32,
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        found: usize,
    },
    /// A field has a value that is not defined.
    #[error("the frame's {field} is {value}, which is not defined")]
    Field {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u8,
    },
    /// It was damaged.
    #[error("the frame's checksum does not match: it was damaged on its way")]
    Checksum,
}

/// Frame size for a row of `numbers` numbers.
pub const fn size(numbers: usize, precision: Precision) -> usize {
    HEAD + numbers * precision.bytes() + TAIL
}

/// Frame size for an encoded payload of `bytes` bytes.
pub const fn size_of_code(bytes: usize) -> usize {
    HEAD + WEIGHT + bytes + TAIL
}

/// Writes the frame of `row` into `out`, in place of what was there.
pub fn encode<T: Number>(head: &Head, row: impl ExactSizeIterator<Item = T>, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(size(row.len(), T::PRECISION));
    let encoding = match T::PRECISION {
        Precision::F64 => DOUBLE,
        Precision::F32 => SINGLE,
    };
    begin(head, encoding, row.len(), out);
    // in pieces that stay in the nearest cache, so that long rows are written once
    let mut piece = [T::default(); 512];
    let mut row = row;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(out);
    loop {
        let numbers = piece.iter_mut().zip(&mut row).map(|(place, x)| *place = to_little_endian(x)).count();
        let bytes = bytemuck::cast_slice(&piece[..numbers]);
        hasher.update(bytes);
        out.extend_from_slice(bytes);
        if numbers < piece.len() {
            break;
        }
    }
    out.extend_from_slice(&hasher.finalize().to_le_bytes());
}

/// Writes the frame of a row that `code` encodes, to be multiplied by `weight`.
pub fn encode_coded(head: &Head, weight: f64, code: impl FnOnce(&mut Vec<u8>), out: &mut Vec<u8>) {
    out.clear();
    begin(head, CODED, 0, out);
    out.extend_from_slice(&weight.to_le_bytes());
    code(out);
    let length = (out.len() - HEAD) as u32;
    out[HEAD - 4..HEAD].copy_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(out).to_le_bytes());
}

fn begin(head: &Head, encoding: u8, length: usize, out: &mut Vec<u8>) {
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, head.graph as u8, encoding, 0]);
    out.extend_from_slice(&head.run.to_le_bytes());
    out.extend_from_slice(&head.at.round.to_le_bytes());
    out.extend_from_slice(&head.at.phase.to_le_bytes());
    out.extend_from_slice(&head.from.to_le_bytes());
    out.extend_from_slice(&head.to.to_le_bytes());
    out.extend_from_slice(&(length as u32).to_le_bytes());
}

/// Reads a frame from bytes that may be anything. Allocates nothing.
pub fn decode(bytes: &[u8]) -> Result<Frame<'_>, Fault> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Fault::NoFrame)?;
    let (head, encoding) = Head::read(first, bytes.len())?;
    let (row, checksum) = rest.split_last_chunk().ok_or(Fault::NoFrame)?;
    if crc32fast::hash(&bytes[..bytes.len() - TAIL]) != u32::from_le_bytes(*checksum) {
        return Err(Fault::Checksum);
    }
    let content = match encoding {
        Encoding::Numbers(precision) => Content::Numbers(precision, row),
        Encoding::Coded => {
            let (weight, bytes) = row.split_first_chunk().ok_or(Fault::NoFrame)?;
            Content::Coded { weight: f64::from_le_bytes(*weight), bytes }
        }
    };
    Ok(Frame { head, content })
}

/// Reads a frame of `width` numbers that is in several pieces, as long ones arrive, straight into a row: each
/// byte is touched once. `None` for any other frame: join the pieces then, and [`decode`] them.
pub fn decode_pieces<'a, T: Number>(
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    width: impl FnOnce(Graph) -> usize,
    row: &mut Vec<T>,
) -> Option<Result<Head, Fault>> {
    let total = pieces.clone().map(<[u8]>::len).sum::<usize>();
    let mut first = [0; HEAD];
    let mut filled = 0;
    for piece in pieces.clone() {
        let part = piece.len().min(HEAD - filled);
        first[filled..filled + part].copy_from_slice(&piece[..part]);
        filled += part;
    }
    let (head, Encoding::Numbers(precision)) = Head::read(&first, total).ok()? else { return None };
    if precision != T::PRECISION || total != size(width(head.graph), precision) {
        return None;
    }
    row.resize((total - HEAD - TAIL) / precision.bytes(), T::default());
    let numbers: &mut [u8] = bytemuck::cast_slice_mut(row);
    let (mut hasher, mut checksum, mut at) = (crc32fast::Hasher::new(), [0; TAIL], 0);
    // copies the part of a piece, which begins at `at`, that belongs into `into`, which begins at `start`
    let copy = |piece: &[u8], at: usize, start: usize, into: &mut [u8]| {
        let end = (start + into.len()).saturating_sub(at).min(piece.len());
        let begin = start.saturating_sub(at).min(end);
        if let Some(place) = into.get_mut((at + begin).saturating_sub(start)..) {
            place[..end - begin].copy_from_slice(&piece[begin..end]);
        }
    };
    for piece in pieces {
        hasher.update(&piece[..(total - TAIL).saturating_sub(at).min(piece.len())]);
        copy(piece, at, HEAD, numbers);
        copy(piece, at, total - TAIL, &mut checksum);
        at += piece.len();
    }
    if cfg!(target_endian = "big") {
        row.iter_mut().for_each(|x| *x = x.reverse_bytes());
    }
    match hasher.finalize() == u32::from_le_bytes(checksum) {
        true => Some(Ok(head)),
        false => Some(Err(Fault::Checksum)),
    }
}

/// How a row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Numbers(Precision),
    Coded,
}

impl Content<'_> {
    /// Its numbers in double precision, where they are not encoded. Allocates a row.
    pub fn to_f64(&self) -> Option<Vec<f64>> {
        match *self {
            Content::Numbers(Precision::F64, bytes) => Some(numbers::<f64>(bytes)),
            Content::Numbers(Precision::F32, bytes) => {
                Some(numbers::<f32>(bytes).into_iter().map(f64::from).collect())
            }
            Content::Coded { .. } => None,
        }
    }
}

fn numbers<T: Number>(bytes: &[u8]) -> Vec<T> {
    let mut row = vec![T::default(); bytes.len() / size_of::<T>()];
    copy_from_bytes(bytes, &mut row);
    row
}

impl Head {
    /// Reads what is before the row of a frame of `total` bytes.
    fn read(bytes: &[u8; HEAD], total: usize) -> Result<(Head, Encoding), Fault> {
        let (magic, rest) = bytes.split_first_chunk().ok_or(Fault::NoFrame)?;
        if *magic != MAGIC {
            return Err(Fault::NoFrame);
        }
        let (&[version, graph, encoding, zero], rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        if version != VERSION {
            return Err(Fault::Version { found: version });
        }
        let (run, rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        let (round, rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        let (phase, rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        let (from, rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        let (to, rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        let (length, _) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
        let (encoding, unit, least) = match encoding {
            DOUBLE => (Encoding::Numbers(Precision::F64), 8, 0),
            SINGLE => (Encoding::Numbers(Precision::F32), 4, 0),
            CODED => (Encoding::Coded, 1, WEIGHT as u64),
            value => return Err(Fault::Field { field: "encoding", value }),
        };
        let length = u32::from_le_bytes(*length);
        let expected = (HEAD + TAIL) as u64 + (unit * u64::from(length)).max(least);
        if total as u64 != expected {
            return Err(Fault::Length { length, expected, found: total });
        }
        let graph = match graph {
            0 => Graph::Pull,
            1 => Graph::Push,
            value => return Err(Fault::Field { field: "graph", value }),
        };
        if zero != 0 {
            return Err(Fault::Field { field: "unused byte", value: zero });
        }
        let at = Moment { round: u64::from_le_bytes(*round), phase: u32::from_le_bytes(*phase) };
        let [from, to] = [from, to].map(|agent| u32::from_le_bytes(*agent));
        Ok((Head { run: u64::from_le_bytes(*run), graph, at, from, to }, encoding))
    }
}

#[cfg(test)]
mod tests;
