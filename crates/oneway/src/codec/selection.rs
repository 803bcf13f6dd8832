//! The k-th largest magnitude without a copy of the vector: digits of the bit patterns are counted, from the
//! highest on.

use super::magnitude;

/// What separates the k largest magnitudes from the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// All magnitudes above this one are kept,
    pub(super) at: u64,
    /// and the first few that equal it (as many as are missing), or [`ALL`].
    pub(super) ties: usize,
}

/// More ties than any vector has.
pub(super) const ALL: usize = usize::MAX;

/// Longer vectors are worth larger tables, and so fewer passes.
const LONG: usize = 1 << 13;

/// The cut below the k largest, of which there must be some: 1 ≤ k ≤ d.
///
/// # Complexity
/// O(d): at most 8 passes; numbers that are not made to be alike are told apart after 3 or 4.
pub(super) fn cut(x: &[f64], k: usize) -> Cut {
    if x.len() < LONG { count_digits::<8, { 1 << 8 }>(x, k) } else { count_digits::<11, { 1 << 11 }>(x, k) }
}

#[inline(always)]
fn count_digits<const BITS: u32, const DIGITS: usize>(x: &[f64], k: usize) -> Cut {
    let (mut found, mut bits_left, mut wanted) = (0, u64::BITS - 1, k);
    while bits_left > 0 {
        // among those that begin with the digits found, how many have which next digit?
        let next = BITS.min(bits_left);
        bits_left -= next;
        let mut counts = [0_usize; DIGITS];
        for &x in x {
            let digits = magnitude(x) >> bits_left;
            // without a branch, which would be a coin's toss
            let digit = digits as usize & (DIGITS - 1) & !(usize::MAX << next);
            counts[digit] += usize::from(digits >> next == found);
        }
        // the digit in which the count from above reaches what is wanted
        let mut digit = DIGITS - 1;
        while digit > 0 && counts[digit] < wanted {
            wanted -= counts[digit];
            digit -= 1;
        }
        found = found << next | digit as u64;
        if counts[digit] == wanted {
            return Cut { at: found << bits_left, ties: ALL }; // all that begin so
        }
    }
    Cut { at: found, ties: wanted }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Positions of the k largest, ties by the lower one, by sorting.
    fn by_sorting(x: &[f64], k: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..x.len()).collect();
        order.sort_by_key(|&i| (std::cmp::Reverse(magnitude(x[i])), i));
        order.truncate(k);
        order.sort_unstable();
        order
    }

    fn by_cut(x: &[f64], Cut { at, mut ties }: Cut) -> Vec<usize> {
        let mut kept = |x: f64| {
            let tie = magnitude(x) == at && ties > 0;
            ties -= usize::from(tie);
            magnitude(x) > at || tie
        };
        (0..x.len()).filter(|&i| kept(x[i])).collect()
    }

    fn number() -> impl Strategy<Value = f64> {
        prop_oneof![
            -1.0..1.0_f64,
            any::<u64>().prop_map(f64::from_bits),
            (-2..3_i8).prop_map(f64::from),
            Just(0.0),
            Just(-0.0),
        ]
    }

    proptest! {
        #[test]
        fn the_cut_keeps_what_sorting_keeps(x in prop::collection::vec(number(), 1..80), share in 0.0..=1.0) {
            let k = 1 + (share * (x.len() - 1) as f64) as usize;
            let expected = by_sorting(&x, k);
            prop_assert_eq!(&by_cut(&x, count_digits::<8, 256>(&x, k)), &expected);
            prop_assert_eq!(&by_cut(&x, count_digits::<11, 2048>(&x, k)), &expected);
        }
    }
}
