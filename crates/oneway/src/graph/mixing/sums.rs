//! The bit contract's sum, many coordinates at a time: the sums of a block stay in registers while the
//! senders go by.

use crate::numeric::Float;
use crate::numeric::matrix::LINE;
use crate::numeric::vectors::filled;

/// Σ_j weight_j·row_j, where row j starts at `j * out.len()`, as [`Mixing::mix_row`](super::Mixing::mix_row)
/// says.
#[inline(always)]
pub(super) fn mix<T: Float>(
    senders: &[u32],
    weights: impl Iterator<Item = f64> + Clone,
    rows: &[T],
    out: &mut [T],
) {
    match out.len() {
        0 => {}
        64.. => mix_in_blocks::<T, LINE, 8>(senders, weights, rows, out),
        32.. => mix_in_blocks::<T, LINE, 4>(senders, weights, rows, out),
        17.. => mix_ends::<T, 2>(senders, weights, rows, out),
        16 => mix_in_blocks::<T, LINE, 2>(senders, weights, rows, out),
        9.. => mix_ends::<T, 1>(senders, weights, rows, out),
        8 => mix_in_blocks::<T, LINE, 1>(senders, weights, rows, out),
        _ => mix_in_blocks::<T, 1, 1>(senders, weights, rows, out),
    }
}

/// Sums V vectors of L coordinates at a time, in registers. The last block is moved back to end with the row:
/// the coordinates it shares with the one before are computed twice, to the same bits.
#[inline(always)]
fn mix_in_blocks<T: Float, const L: usize, const V: usize>(
    senders: &[u32],
    weights: impl Iterator<Item = f64> + Clone,
    rows: &[T],
    out: &mut [T],
) {
    let width = out.len();
    let mut start = 0;
    while start < width {
        start = start.min(width - L * V);
        let part = |sender: u32| -> &[[T; L]; V] {
            let from = sender as usize * width + start;
            rows[from..from + L * V].as_chunks().0.first_chunk().expect("as many as were cut")
        };
        let mut entries = senders.iter().zip(weights.clone());
        let Some((&first, first_weight)) = entries.next() else {
            return out.fill(T::default()); // a push row may hear no one, not even itself
        };
        let first_weight = T::from_f64(first_weight);
        // arrays made whole, not filled in place: so they stay in registers
        let row = part(first);
        let mut sum: [[T; L]; V] = filled(|v| filled(|l| first_weight * row[v][l]));
        for (&sender, weight) in entries {
            let (row, weight) = (part(sender), T::from_f64(weight));
            sum = filled(|v| filled(|l| sum[v][l] + weight * row[v][l]));
        }
        out[start..start + L * V].copy_from_slice(sum.as_flattened());
        start += L * V;
    }
}

/// Sums a row of at most 2V vectors at once: its first V vectors and its last, which may share coordinates.
#[inline(always)]
fn mix_ends<T: Float, const V: usize>(
    senders: &[u32],
    weights: impl Iterator<Item = f64>,
    rows: &[T],
    out: &mut [T],
) {
    let (width, last) = (out.len(), out.len() - LINE * V);
    let ends = |sender: u32| -> [&[[T; LINE]; V]; 2] {
        let row = &rows[sender as usize * width..][..width];
        [0, last].map(|start| row[start..].as_chunks().0.first_chunk().expect("as long as both ends"))
    };
    let mut entries = senders.iter().zip(weights);
    let Some((&first, weight)) = entries.next() else {
        return out.fill(T::default()); // a push row may hear no one, not even itself
    };
    let (weight, row) = (T::from_f64(weight), ends(first));
    let mut sums: [[[T; LINE]; V]; 2] = filled(|e| filled(|v| filled(|l| weight * row[e][v][l])));
    for (&sender, weight) in entries {
        let (weight, row) = (T::from_f64(weight), ends(sender));
        sums = filled(|e| filled(|v| filled(|l| sums[e][v][l] + weight * row[e][v][l])));
    }
    out[..LINE * V].copy_from_slice(sums[0].as_flattened());
    out[last..].copy_from_slice(sums[1].as_flattened());
}
