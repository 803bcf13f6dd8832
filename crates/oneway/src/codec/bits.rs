//! Numbers of a few bits each, packed without gaps.
//!
//! Bit i of the stream is bit i mod 8 of byte ⌊i/8⌋, counted from the lowest; a number's lowest bit comes
//! first. So fields of 8, 16 or 32 bits are little-endian numbers. The last byte is filled up with zeros, and
//! a reader insists on them: a stream has one spelling.

use super::{Decoded, Fault};

/// The most bits of one number: what fits into a word beside the up to seven bits that wait there.
const MOST_BITS: u32 = 57;

/// Bytes of `count` numbers of `bits` bits each: ⌈count·bits/8⌉.
pub(super) const fn packed_bytes(count: usize, bits: u32) -> usize {
    let bits = bits as usize;
    count / 8 * bits + (count % 8 * bits).div_ceil(8) // in this order nothing overflows that has room in memory
}

/// Bits that tell `count` things apart: ⌈log₂ count⌉, none for one thing or nothing.
pub(super) const fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// Appends packed numbers to a vector of bytes.
#[derive(Debug)]
pub(super) struct Writer<'o> {
    out: &'o mut Vec<u8>,
    held: u64,
    count: u32,
}

impl<'o> Writer<'o> {
    pub(super) fn new(out: &'o mut Vec<u8>) -> Self {
        Self { out, held: 0, count: 0 }
    }

    /// Appends the low `bits` of `value`.
    #[inline]
    pub(super) fn write(&mut self, value: u64, bits: u32) {
        debug_assert!(bits <= MOST_BITS && value >> bits == 0, "{value} does not fit into {bits} bits");
        self.held |= value << self.count;
        self.count += bits;
        while self.count >= 8 {
            self.out.push(self.held as u8);
            self.held >>= 8;
            self.count -= 8;
        }
    }

    /// Fills the last byte up.
    pub(super) fn finish(self) {
        if self.count > 0 {
            self.out.push(self.held as u8);
        }
    }
}

/// Takes packed numbers from bytes; beyond their end it finds zeros.
#[derive(Debug)]
pub(super) struct Reader<'b> {
    bytes: std::slice::Iter<'b, u8>,
    held: u64,
    count: u32,
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes: bytes.iter(), held: 0, count: 0 }
    }

    /// The next number, of `bits` bits.
    #[inline]
    pub(super) fn read(&mut self, bits: u32) -> u64 {
        debug_assert!(bits <= MOST_BITS);
        while self.count < bits {
            self.held |= u64::from(self.bytes.next().copied().unwrap_or(0)) << self.count;
            self.count += 8;
        }
        let value = self.held & !(u64::MAX << bits);
        self.held >>= bits;
        self.count -= bits;
        value
    }

    /// Whether nothing is left but fewer than eight zeros.
    pub(super) fn finish(self) -> Decoded {
        let padded = self.held == 0 && self.count < 8 && self.bytes.as_slice().is_empty();
        padded.then_some(()).ok_or(Fault::Padding)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn layout_by_hand() {
        let mut out = vec![];
        let mut writer = Writer::new(&mut out);
        // 101 then 01 then 1111111 (lowest bits first): 1 11101|101, then 0000 1111
        for (value, bits) in [(0b101, 3), (0b01, 2), (0b111_1111, 7)] {
            writer.write(value, bits);
        }
        writer.finish();
        assert_eq!(out, [0b1110_1101, 0b0000_1111]);

        let mut out = vec![];
        let mut writer = Writer::new(&mut out);
        writer.write(0x1234_5678, 32);
        writer.finish();
        assert_eq!(out, 0x1234_5678_u32.to_le_bytes());
    }

    #[test]
    fn bits_that_tell_things_apart() {
        assert_eq!([0, 1, 2, 3, 4, 5, 123, 128, 129].map(bits_for), [0, 0, 1, 2, 2, 3, 7, 7, 8]);
        assert_eq!(
            [(0, 7), (1, 1), (8, 1), (9, 1), (3, 12)].map(|(n, b)| packed_bytes(n, b)),
            [0, 1, 1, 2, 5]
        );
    }

    #[test]
    fn padding_must_be_zero_and_nothing_may_follow() {
        let finish = |bytes: &[u8]| {
            let mut reader = Reader::new(bytes);
            reader.read(3);
            reader.finish()
        };
        assert_eq!(finish(&[0b0000_0111]), Ok(()));
        assert_eq!(finish(&[0b0000_1111]), Err(Fault::Padding));
        assert_eq!(finish(&[0b0000_0111, 0]), Err(Fault::Padding));
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(fields in prop::collection::vec((any::<u64>(), 0..=MOST_BITS), 0..40)) {
            let fields: Vec<_> = fields.into_iter().map(|(value, bits)| (value & !(u64::MAX << bits), bits)).collect();
            let mut out = vec![];
            let mut writer = Writer::new(&mut out);
            fields.iter().for_each(|&(value, bits)| writer.write(value, bits));
            writer.finish();
            prop_assert_eq!(out.len(), fields.iter().map(|(_, bits)| *bits as usize).sum::<usize>().div_ceil(8));
            let mut reader = Reader::new(&out);
            for (value, bits) in fields {
                prop_assert_eq!(reader.read(bits), value);
            }
            prop_assert_eq!(reader.finish(), Ok(()));
        }
    }
}
