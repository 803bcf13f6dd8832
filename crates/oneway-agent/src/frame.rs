//! What travels on a link: one row, with all that is needed to refuse it.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0–3 | magic | `1WAY` |
//! | 4 | version | [`VERSION`] |
//! | 5 | graph | 0 pull, 1 push |
//! | 6 | encoding | 0: the bits of f64 numbers; 1: what a codec made of them |
//! | 7 | | zero |
//! | 8–15 | run | the first eight bytes of the run's [fingerprint](crate::identity::Identity) |
//! | 16–23 | round | k, of the round that turns state k into state k + 1 |
//! | 24–27 | phase | the exchange within the round |
//! | 28–31 | from | sender |
//! | 32–35 | to | receiver |
//! | 36–39 | length | numbers in the row; of a code, bytes |
//! | 40– | row | eight bytes a number; or the weight that the receiver is to multiply by, then the code |
//! | last 4 | checksum | CRC-32 of all before |
//!
//! All numbers are little-endian. A frame is read where it lies: nothing is allocated for it, whatever its length says.

use std::fmt;

/// The version of the frames and of all else that agents say to each other.
pub const VERSION: u8 = 1;

/// Bytes before the row.
pub const HEAD: usize = 40;

/// Bytes after it.
const TAIL: usize = 4;

/// Bytes of the weight before a code.
const WEIGHT: usize = 8;

const MAGIC: [u8; 4] = *b"1WAY";

/// How a row is written.
const NUMBERS: u8 = 0;
const CODED: u8 = 1;

/// Which of the two graphs a row travels on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Graph {
    /// Models: the raw row travels, and the receiver multiplies it by R_ij.
    Pull,
    /// Trackers and push-sum rows: the sender multiplies by its C_ij, and the receiver adds.
    Push,
}

impl Graph {
    /// Both.
    pub const BOTH: [Graph; 2] = [Graph::Pull, Graph::Push];

    /// Its name in keys and messages.
    pub fn name(self) -> &'static str {
        match self {
            Graph::Pull => "pull",
            Graph::Push => "push",
        }
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// When a row is for: the round, and the exchange within it. Ordered by time.
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

/// What stands before a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Head {
    /// The run: rows of another are refused.
    pub run: u64,
    /// The graph.
    pub graph: Graph,
    /// When it is for.
    pub at: Moment,
    /// Sender.
    pub from: u32,
    /// Receiver.
    pub to: u32,
}

/// A frame, read where it lies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame<'a> {
    /// What stands before the row.
    pub head: Head,
    /// The row.
    pub content: Content<'a>,
}

/// A row as it travels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Content<'a> {
    /// The bits of its numbers, multiplied by its sender on the push graph.
    Numbers(&'a [[u8; 8]]),
    /// What a codec made of it. A product could not be encoded, so the weight comes with it.
    Coded {
        /// What the receiver is to multiply by: C_ij on the push graph, 1 on the pull graph.
        weight: f64,
        /// The code.
        bytes: &'a [u8],
    },
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// They do not begin as one.
    #[error("these bytes are not a frame of oneway")]
    NoFrame,
    /// It is of another version.
    #[error("the frame is of version {found}, and this agent speaks version {VERSION}")]
    Version {
        /// The version it says.
        found: u8,
    },
    /// Its length is not what its head says.
    #[error("a frame of length {length} has {expected} bytes, not {found}")]
    Length {
        /// What its head promises.
        length: u32,
        /// Bytes that it should have.
        expected: u64,
        /// Bytes that it has.
        found: usize,
    },
    /// A field has a value that means nothing.
    #[error("the frame's {field} is {value}, which means nothing")]
    Field {
        /// Which field.
        field: &'static str,
        /// Its value.
        value: u8,
    },
    /// It was damaged.
    #[error("the frame's checksum does not fit: it was damaged on its way")]
    Checksum,
}

/// The frame of a row of so many numbers has so many bytes.
pub const fn size(numbers: usize) -> usize {
    HEAD + numbers * 8 + TAIL
}

/// The frame of a code of so many bytes has so many.
pub const fn size_of_code(bytes: usize) -> usize {
    HEAD + WEIGHT + bytes + TAIL
}

/// Writes the frame of `row` into `out`, in place of what was there.
pub fn encode(head: &Head, row: impl ExactSizeIterator<Item = f64>, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(size(row.len()));
    begin(head, NUMBERS, row.len(), out);
    // in pieces that stay in the nearest cache, so that long rows are written once
    let mut piece = [[0; 8]; 512];
    let mut row = row;
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(out);
    loop {
        let numbers = piece.iter_mut().zip(&mut row).map(|(place, x)| *place = x.to_le_bytes()).count();
        let bytes = piece[..numbers].as_flattened();
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

/// Reads a frame. Bytes come from anywhere: whatever they are, this returns, and allocates nothing.
pub fn decode(bytes: &[u8]) -> Result<Frame<'_>, Fault> {
    let (first, rest) = bytes.split_first_chunk().ok_or(Fault::NoFrame)?;
    let (head, encoding) = Head::read(first, bytes.len())?;
    let (row, checksum) = rest.split_last_chunk().ok_or(Fault::NoFrame)?;
    if crc32fast::hash(&bytes[..bytes.len() - TAIL]) != u32::from_le_bytes(*checksum) {
        return Err(Fault::Checksum);
    }
    let content = match encoding {
        Encoding::Numbers => Content::Numbers(row.as_chunks().0),
        Encoding::Coded => {
            let (weight, bytes) = row.split_first_chunk().ok_or(Fault::NoFrame)?;
            Content::Coded { weight: f64::from_le_bytes(*weight), bytes }
        }
    };
    Ok(Frame { head, content })
}

/// Reads a frame of `width` numbers that lies in pieces, as long ones arrive, straight into a row: each byte is touched once. `None` if
/// it is not that: put the pieces together then, and [`decode`] them.
pub fn decode_pieces<'a>(
    pieces: impl Iterator<Item = &'a [u8]> + Clone,
    width: impl FnOnce(Graph) -> usize,
    row: &mut Vec<f64>,
) -> Option<Result<Head, Fault>> {
    let total = pieces.clone().map(<[u8]>::len).sum::<usize>();
    let mut first = [0; HEAD];
    let mut filled = 0;
    for piece in pieces.clone() {
        let part = piece.len().min(HEAD - filled);
        first[filled..filled + part].copy_from_slice(&piece[..part]);
        filled += part;
    }
    let (head, Encoding::Numbers) = Head::read(&first, total).ok()? else { return None };
    if total != size(width(head.graph)) {
        return None;
    }
    row.resize((total - HEAD - TAIL) / 8, 0.0);
    let numbers: &mut [u8] = bytemuck::cast_slice_mut(row);
    let (mut hasher, mut checksum, mut at) = (crc32fast::Hasher::new(), [0; TAIL], 0);
    // copies what a piece that begins at `at` has of the bytes from `start` on that `into` is to hold
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
        row.iter_mut().for_each(|x| *x = f64::from_bits(x.to_bits().swap_bytes()));
    }
    match hasher.finalize() == u32::from_le_bytes(checksum) {
        true => Some(Ok(head)),
        false => Some(Err(Fault::Checksum)),
    }
}

/// How a row is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Encoding {
    Numbers,
    Coded,
}

impl Head {
    /// Reads what stands before the row of a frame of so many bytes.
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
            NUMBERS => (Encoding::Numbers, 8, 0),
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head() -> impl Strategy<Value = Head> {
        (any::<u64>(), any::<bool>(), any::<(u64, u32)>(), any::<(u32, u32)>()).prop_map(
            |(run, push, (round, phase), (from, to))| Head {
                run,
                graph: if push { Graph::Push } else { Graph::Pull },
                at: Moment { round, phase },
                from,
                to,
            },
        )
    }

    fn row() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(any::<u64>(), 0..40)
    }

    fn frame_of(head: &Head, bits: &[u64]) -> Vec<u8> {
        let mut bytes = vec![];
        encode(head, bits.iter().map(|&bits| f64::from_bits(bits)), &mut bytes);
        bytes
    }

    proptest! {
        #[test]
        fn a_frame_comes_back_to_the_last_bit(head in head(), bits in row()) {
            let bytes = frame_of(&head, &bits);
            prop_assert_eq!(bytes.len(), size(bits.len()));
            let frame = decode(&bytes).unwrap();
            prop_assert_eq!(frame.head, head);
            let Content::Numbers(row) = frame.content else { return Err(TestCaseError::fail("coded")) };
            prop_assert!(row.iter().map(|bytes| u64::from_le_bytes(*bytes)).eq(bits));
        }

        #[test]
        fn a_code_comes_back_with_its_weight(head in head(), weight: f64, code in prop::collection::vec(any::<u8>(), 0..99)) {
            let mut bytes = vec![];
            encode_coded(&head, weight, |out| out.extend(&code), &mut bytes);
            prop_assert_eq!(bytes.len(), size_of_code(code.len()));
            let frame = decode(&bytes).unwrap();
            let Content::Coded { weight: found, bytes } = frame.content else { return Err(TestCaseError::fail("raw")) };
            prop_assert_eq!((frame.head, found.to_bits(), bytes), (head, weight.to_bits(), &code[..]));
        }

        /// Up to 32 bits that lie together: what CRC-32 notices without exception.
        #[test]
        fn a_damaged_byte_is_noticed(head in head(), bits in row(), at: prop::sample::Index, with in 1u8..) {
            let mut bytes = frame_of(&head, &bits);
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            prop_assert!(decode(&bytes).is_err(), "byte {at}");
        }

        /// However a frame is cut into pieces: the same head and row, and damage is noticed.
        #[test]
        fn pieces_are_read_as_the_whole(head in head(), bits in row(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6), at: prop::sample::Index, with in 0u8..) {
            let mut bytes = frame_of(&head, &bits);
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces = cuts.windows(2).map(|ends| &bytes[ends[0]..ends[1]]);
            let mut found = vec![0.5; 3];
            match decode_pieces(pieces, |_| bits.len(), &mut found) {
                Some(Ok(read)) => {
                    prop_assert_eq!((with, read), (0, head));
                    prop_assert!(found.iter().map(|x| x.to_bits()).eq(bits.iter().copied()));
                }
                Some(Err(fault)) => prop_assert_eq!((fault, with != 0), (Fault::Checksum, true)),
                None => prop_assert!(with != 0 && decode(&bytes).is_err()),
            }
            let other = [bytes.as_slice()].into_iter();
            prop_assert!(decode_pieces(other, |_| bits.len() + 1, &mut found).is_none());
        }

        #[test]
        fn a_part_of_a_frame_is_no_frame(head in head(), bits in row(), cut: prop::sample::Index) {
            let bytes = frame_of(&head, &bits);
            prop_assert!(decode(&bytes[..cut.index(bytes.len())]).is_err());
            let longer = [&bytes[..], &[0]].concat();
            prop_assert!(decode(&longer).is_err());
        }

        #[test]
        fn no_bytes_are_too_wild(mut bytes in prop::collection::vec(any::<u8>(), 0..200), as_frame: bool) {
            if as_frame {
                bytes.splice(..bytes.len().min(5), [&MAGIC[..], &[VERSION]].concat());
            }
            prop_assert!(decode(&bytes).is_err());
        }
    }

    #[test]
    fn faults_say_what_is_wrong() {
        let head = Head { run: 1, graph: Graph::Push, at: Moment { round: 7, phase: 0 }, from: 2, to: 3 };
        let sealed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = frame_of(&head, &[1, 2]);
            bytes.truncate(bytes.len() - TAIL);
            change(&mut bytes);
            bytes.extend_from_slice(&crc32fast::hash(&bytes).to_le_bytes());
            decode(&bytes).unwrap_err().to_string()
        };
        assert_eq!(
            sealed(&|bytes| bytes[4] = 9),
            "the frame is of version 9, and this agent speaks version 1"
        );
        assert_eq!(sealed(&|bytes| bytes[5] = 2), "the frame's graph is 2, which means nothing");
        assert_eq!(sealed(&|bytes| bytes[6] = 2), "the frame's encoding is 2, which means nothing");
        assert_eq!(sealed(&|bytes| bytes[6] = 1), "a frame of length 2 has 52 bytes, not 60");
        let empty = sealed(&|bytes| {
            bytes.truncate(HEAD);
            (bytes[6], bytes[36]) = (1, 0);
        });
        assert_eq!(empty, "a frame of length 0 has 52 bytes, not 44");
        assert_eq!(
            sealed(&|bytes| bytes[36..40].fill(0xff)),
            "a frame of length 4294967295 has 34359738404 bytes, not 60"
        );
        assert_eq!(sealed(&|bytes| bytes[0] = b'2'), "these bytes are not a frame of oneway");
    }

    /// No mutation of a frame panics, and what is read all the same is what its own head says: ten million of them.
    #[test]
    fn mutated_frames_never_panic() {
        use oneway::sample::{Draws, Purpose};
        const TIMES: usize = 10_000_000;
        let head = Head { run: 5, graph: Graph::Pull, at: Moment { round: 9, phase: 1 }, from: 0, to: 1 };
        let mut coded = vec![];
        encode_coded(&head, 0.5, |out| out.extend([7; 90]), &mut coded);
        let both = [frame_of(&head, &[0x3ff0_0000_0000_0000; 12]), coded];
        let mut draws = Draws::new(1, Purpose::Problem, 0, 0);
        let mut bytes = vec![];
        for time in 0..TIMES {
            bytes.clone_from(&both[time % 2]);
            for _ in 0..=draws.below(3) {
                match draws.below(4) {
                    0 => bytes.truncate(draws.below(bytes.len() + 1)),
                    1 => bytes.extend_from_slice(&draws.bits().to_le_bytes()[..draws.below(8)]),
                    _ if bytes.is_empty() => {}
                    _ => {
                        let at = draws.below(bytes.len());
                        bytes[at] = draws.bits() as u8;
                    }
                }
            }
            if draws.below(2) == 0 && bytes.len() > TAIL {
                // a mutation with its checksum put right gets further
                let end = bytes.len() - TAIL;
                let checksum = crc32fast::hash(&bytes[..end]);
                bytes[end..].copy_from_slice(&checksum.to_le_bytes());
            }
            if let Ok(frame) = decode(&bytes) {
                let size = match frame.content {
                    Content::Numbers(row) => size(row.len()),
                    Content::Coded { bytes, .. } => size_of_code(bytes.len()),
                };
                assert_eq!(size, bytes.len());
            }
        }
    }
}
