//! Philox4x32-10 on several counters side by side; for one counter there is the `rand_philox` crate, with the
//! same words.

use crate::numeric::vectors::filled;

const LOW: u64 = u32::MAX as u64;

/// The words of P blocks in a row: those at `counter`, and at the P − 1 counters after it.
#[inline(always)]
pub(super) fn blocks<const P: usize>(counter: [u32; 4], key: [u32; 2]) -> [[u64; P]; 4] {
    let mut counters: [[u64; P]; 4] = counter.map(|word| [u64::from(word); P]);
    counters[0] = filled(|p| u64::from(counter[0].wrapping_add(p as u32)));
    words(counters, key)
}

/// The words at any P counters: 32-bit words in 64-bit lanes, where they are multiplied.
#[inline(always)]
pub(super) fn words<const P: usize>(counters: [[u64; P]; 4], key: [u32; 2]) -> [[u64; P]; 4] {
    let mut words = counters;
    for round in 0..10u32 {
        let [k0, k1] = [(key[0], 0x9e37_79b9_u32), (key[1], 0xbb67_ae85)]
            .map(|(key, step)| u64::from(key.wrapping_add(step.wrapping_mul(round))));
        let [c0, c1, c2, c3] = words;
        let p0: [u64; P] = filled(|p| (c0[p] & LOW) * 0xd251_1f53);
        let p1: [u64; P] = filled(|p| (c2[p] & LOW) * 0xcd9e_8d57);
        words = [
            filled(|p| (p1[p] >> 32) ^ c1[p] ^ k0),
            filled(|p| p1[p] & LOW),
            filled(|p| (p0[p] >> 32) ^ c3[p] ^ k1),
            filled(|p| p0[p] & LOW),
        ];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use rand_philox::philox4x32_10;

    proptest! {
        #[test]
        fn blocks_side_by_side_are_blocks_one_by_one(counter: [u32; 4], key: [u32; 2]) {
            let words = blocks::<4>(counter, key);
            for p in 0..4 {
                let [first, rest @ ..] = counter;
                let counter = [first.wrapping_add(p as u32), rest[0], rest[1], rest[2]];
                prop_assert_eq!(words.map(|lanes| lanes[p] as u32), philox4x32_10(counter, key));
                prop_assert!(words.iter().all(|lanes| lanes[p] <= LOW));
            }
        }
    }
}
