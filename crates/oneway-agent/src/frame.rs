//! What travels on a link: one row, with all that is needed to refuse it.
//!
//! | bytes | field | |
//! |---|---|---|
//! | 0–3 | magic | `1WAY` |
//! | 4 | version | [`VERSION`] |
//! | 5 | graph | 0 pull, 1 push |
//! | 6 | encoding | 0: the bits of f64 numbers |
//! | 7 | | zero |
//! | 8–15 | run | the first eight bytes of the run's [fingerprint](crate::identity::Identity) |
//! | 16–23 | round | k, of the round that turns state k into state k + 1 |
//! | 24–27 | phase | the exchange within the round |
//! | 28–31 | from | sender |
//! | 32–35 | to | receiver |
//! | 36–39 | length | numbers in the row |
//! | 40– | row | eight bytes a number |
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

const MAGIC: [u8; 4] = *b"1WAY";

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// What stands before the row.
    pub head: Head,
    row: &'a [[u8; 8]],
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
    #[error("a frame of {numbers} numbers has {expected} bytes, not {found}")]
    Length {
        /// Numbers that its head promises.
        numbers: u32,
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

/// Writes the frame of `row` into `out`, in place of what was there.
pub fn encode(head: &Head, row: impl ExactSizeIterator<Item = f64>, out: &mut Vec<u8>) {
    out.clear();
    out.reserve(size(row.len()));
    out.extend_from_slice(&MAGIC);
    out.extend_from_slice(&[VERSION, head.graph as u8, 0, 0]);
    out.extend_from_slice(&head.run.to_le_bytes());
    out.extend_from_slice(&head.at.round.to_le_bytes());
    out.extend_from_slice(&head.at.phase.to_le_bytes());
    out.extend_from_slice(&head.from.to_le_bytes());
    out.extend_from_slice(&head.to.to_le_bytes());
    out.extend_from_slice(&(row.len() as u32).to_le_bytes());
    out.resize(HEAD + row.len() * 8, 0);
    out[HEAD..].as_chunks_mut().0.iter_mut().zip(row).for_each(|(place, x)| *place = x.to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(out).to_le_bytes());
}

/// Reads a frame. Bytes come from anywhere: whatever they are, this returns, and allocates nothing.
pub fn decode(bytes: &[u8]) -> Result<Frame<'_>, Fault> {
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
    let (length, rest) = rest.split_first_chunk().ok_or(Fault::NoFrame)?;
    let numbers = u32::from_le_bytes(*length);
    let expected = (HEAD + TAIL) as u64 + 8 * u64::from(numbers);
    if bytes.len() as u64 != expected {
        return Err(Fault::Length { numbers, expected, found: bytes.len() });
    }
    let (row, checksum) = rest.split_last_chunk().ok_or(Fault::NoFrame)?;
    if crc32fast::hash(&bytes[..bytes.len() - TAIL]) != u32::from_le_bytes(*checksum) {
        return Err(Fault::Checksum);
    }
    let graph = match graph {
        0 => Graph::Pull,
        1 => Graph::Push,
        value => return Err(Fault::Field { field: "graph", value }),
    };
    for (field, value) in [("encoding", encoding), ("unused byte", zero)] {
        if value != 0 {
            return Err(Fault::Field { field, value });
        }
    }
    let at = Moment { round: u64::from_le_bytes(*round), phase: u32::from_le_bytes(*phase) };
    let [from, to] = [from, to].map(|agent| u32::from_le_bytes(*agent));
    let head = Head { run: u64::from_le_bytes(*run), graph, at, from, to };
    Ok(Frame { head, row: row.as_chunks().0 })
}

impl<'a> Frame<'a> {
    /// Numbers in its row.
    pub fn numbers(&self) -> usize {
        self.row.len()
    }

    /// Its row, bit by bit.
    pub fn row(&self) -> impl ExactSizeIterator<Item = f64> + Clone + 'a {
        self.row.iter().map(|bytes| f64::from_le_bytes(*bytes))
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
            prop_assert_eq!(frame.numbers(), bits.len());
            prop_assert!(frame.row().map(f64::to_bits).eq(bits));
        }

        /// Up to 32 bits that lie together: what CRC-32 notices without exception.
        #[test]
        fn a_damaged_byte_is_noticed(head in head(), bits in row(), at: prop::sample::Index, with in 1u8..) {
            let mut bytes = frame_of(&head, &bits);
            let at = at.index(bytes.len());
            bytes[at] ^= with;
            prop_assert!(decode(&bytes).is_err(), "byte {at}");
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
        assert_eq!(sealed(&|bytes| bytes[6] = 1), "the frame's encoding is 1, which means nothing");
        assert_eq!(
            sealed(&|bytes| bytes[36..40].fill(0xff)),
            "a frame of 4294967295 numbers has 34359738404 bytes, not 60"
        );
        assert_eq!(sealed(&|bytes| bytes[0] = b'2'), "these bytes are not a frame of oneway");
    }

    /// No mutation of a frame panics, and what is read all the same is what its own head says. Ten million in a release build,
    /// fewer elsewhere.
    #[test]
    fn mutated_frames_never_panic() {
        use oneway::sample::{Draws, Purpose};
        let times = if cfg!(debug_assertions) { 300_000 } else { 10_000_000 };
        let head = Head { run: 5, graph: Graph::Pull, at: Moment { round: 9, phase: 1 }, from: 0, to: 1 };
        let whole = frame_of(&head, &[0x3ff0_0000_0000_0000; 12]);
        let mut draws = Draws::new(1, Purpose::Problem, 0, 0);
        let mut bytes = whole.clone();
        for _ in 0..times {
            bytes.clone_from(&whole);
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
                assert_eq!(size(frame.numbers()), bytes.len());
                assert_eq!(frame.row().count(), frame.numbers());
            }
        }
    }
}
