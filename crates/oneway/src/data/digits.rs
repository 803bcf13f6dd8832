//! Handwritten digits in 8×8 pixels, embedded: 64 features, ten classes.
//!
//! `data/README.md` in this crate has the layout, the source (Alpaydin and Kaynak 1998, UCI *Optical
//! Recognition of Handwritten Digits*, CC BY 4.0) and the script that made the file.
//!
//! The rows are the 1,797 of UCI's test file, by 13 writers, in its order. The first 1,437 are here to learn
//! from and the last 360 are held out, so that hands of the latter are hardly among the former. Split by
//! chance instead, each writer would be in both parts, and a test accuracy would say less about digits of a
//! new hand.

pub use super::Split;
use super::{Dataset, SparseRows};

/// Number of features: pixels, row by row.
pub const FEATURES: usize = 64;

/// Rows to learn from; the rest is held out.
const TRAIN_ROWS: usize = 1437;

const PACKED: &[u8] = include_bytes!("../../data/digits.bin");
/// Eight groups of eight pixels, and the label.
const ROW_BYTES: usize = 41;
const GROUP_BYTES: usize = 5;
const PIXEL_BITS: usize = 5;
/// The largest count of a pixel.
const DARKEST: f64 = 16.0;

/// One split of the digits: 1,437 rows to learn from, or 360 held out. A value is the share of a pixel's area
/// that is ink, in sixteenths; a label is the digit, 0 to 9.
///
/// ```
/// use oneway::data::digits::{Split, digits};
/// let train = digits(Split::Train);
/// assert_eq!((train.len(), train.features, train.classes().len()), (1437, 64, 10));
/// ```
pub fn digits(split: Split) -> Dataset {
    let (packed_rows, _) = PACKED.as_chunks::<ROW_BYTES>();
    let (train, test) = packed_rows.split_at(TRAIN_ROWS);
    let packed_rows = match split {
        Split::Train => train,
        Split::Test => test,
    };
    let mut rows = SparseRows::new();
    for row in packed_rows {
        let (groups, _) = row.as_chunks::<GROUP_BYTES>();
        let counts = groups.iter().flat_map(|&[b0, b1, b2, b3, b4]| {
            let word = u64::from_le_bytes([b0, b1, b2, b3, b4, 0, 0, 0]);
            (0..8).map(move |k| (word >> (PIXEL_BITS * k) & 31) as f64)
        });
        rows.push((0..).zip(counts).filter(|(_, count)| *count > 0.0).map(|(k, count)| (k, count / DARKEST)));
    }
    let labels = packed_rows.iter().map(|row| f64::from(row[ROW_BYTES - 1])).collect();
    Dataset { features: FEATURES, labels, rows }
}
