use proptest::prelude::*;

use super::*;

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

fn single_frame_of(head: &Head, bits: &[u32]) -> Vec<u8> {
    let mut bytes = vec![];
    encode(head, bits.iter().map(|&bits| f32::from_bits(bits)), &mut bytes);
    bytes
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
        prop_assert_eq!(bytes.len(), size(bits.len(), Precision::F64));
        let frame = decode(&bytes).unwrap();
        prop_assert_eq!(frame.head, head);
        let Content::Numbers(Precision::F64, row) = frame.content else { return Err(TestCaseError::fail("coded")) };
        prop_assert!(row.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).eq(bits));
    }

    /// Four bytes a number; whole or in pieces, and never as a row of the other precision.
    #[test]
    fn a_frame_in_single_precision_comes_back_to_the_last_bit(head in head(), bits in prop::collection::vec(any::<u32>(), 1..40), cut: prop::sample::Index) {
        let bytes = single_frame_of(&head, &bits);
        prop_assert_eq!(bytes.len(), HEAD + 4 * bits.len() + TAIL);
        let frame = decode(&bytes).unwrap();
        prop_assert!(matches!(frame.content, Content::Numbers(Precision::F32, row) if row.len() == 4 * bits.len()));
        let (first, second) = bytes.split_at(cut.index(bytes.len()));
        let mut row = vec![0.5f32];
        prop_assert_eq!(decode_pieces([first, second].into_iter(), |_| bits.len(), &mut row).unwrap(), Ok(head));
        prop_assert!(row.iter().map(|x| x.to_bits()).eq(bits.iter().copied()));
        let mut double = vec![0.5f64];
        prop_assert!(decode_pieces([&bytes[..]].into_iter(), |_| bits.len(), &mut double).is_none());
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

    /// Up to 32 adjacent bits: CRC-32 notices these without exception.
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
        let mut found = vec![0.5f64; 3];
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
    assert_eq!(sealed(&|bytes| bytes[4] = 9), "the frame is of version 9, and this agent speaks version 1");
    assert_eq!(sealed(&|bytes| bytes[5] = 2), "the frame's graph is 2, which is not defined");
    assert_eq!(sealed(&|bytes| bytes[6] = 3), "the frame's encoding is 3, which is not defined");
    assert_eq!(sealed(&|bytes| bytes[6] = 2), "a frame of length 2 has 52 bytes, not 60");
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
