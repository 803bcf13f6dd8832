//! a9a, the census data of the paper's experiments, embedded: 123 binary features, predict an income above
//! 50K.
//!
//! A row is packed into 40 bits; `data/README.md` in this crate has the layout, the source (Becker and Kohavi
//! 1996, UCI *Adult*, CC BY 4.0) and the script that made the files. Written by
//! [`libsvm::write`](super::libsvm::write), both splits are LIBSVM's own files byte for byte.

pub use super::Split;
use super::{Dataset, SparseRows};

/// Number of features, d.
pub const FEATURES: usize = 123;

const TRAIN: &[u8] = include_bytes!("../../data/a9a.bin");
const TEST: &[u8] = include_bytes!("../../data/a9a.t.bin");
const ROW_BYTES: usize = 5;

/// A column of the census: the code c of a cell sets the c-th of the column's features.
struct Column {
    /// Width of the code in a packed row; 0 if it is not stored, being a function of the column before.
    bits: u32,
    /// Number of features. A code beyond them is a missing cell, which sets none.
    features: u32,
}

/// The columns, in the order of both their bits (from the least significant) and their features.
const COLUMNS: [Column; 14] = [
    Column { bits: 3, features: 5 },  // age
    Column { bits: 4, features: 8 },  // workclass
    Column { bits: 3, features: 5 },  // fnlwgt
    Column { bits: 4, features: 16 }, // education
    Column { bits: 0, features: 5 },  // education-num
    Column { bits: 3, features: 7 },  // marital-status
    Column { bits: 4, features: 14 }, // occupation
    Column { bits: 3, features: 6 },  // relationship
    Column { bits: 3, features: 5 },  // race
    Column { bits: 1, features: 2 },  // sex
    Column { bits: 1, features: 2 },  // capital-gain
    Column { bits: 1, features: 2 },  // capital-loss
    Column { bits: 3, features: 5 },  // hours-per-week
    Column { bits: 6, features: 41 }, // native-country
];

/// The bin of education-num (years at school, cut at 9, 10, 11 and 13) by the code of education.
const EDUCATION_NUM: [u32; 16] = [4, 2, 0, 1, 4, 3, 3, 0, 0, 0, 4, 0, 0, 4, 0, 0];

/// One split of a9a: the 32,561 rows of `a9a`, or the 16,281 of `a9a.t`.
///
/// ```
/// use oneway::data::a9a::{Split, a9a};
/// let train = a9a(Split::Train);
/// assert_eq!((train.len(), train.features), (32_561, 123));
/// ```
pub fn a9a(split: Split) -> Dataset {
    let packed = match split {
        Split::Train => TRAIN,
        Split::Test => TEST,
    };
    let (packed_rows, _) = packed.as_chunks::<ROW_BYTES>();
    let mut labels = Vec::with_capacity(packed_rows.len());
    let mut rows = SparseRows::new();
    for &[b0, b1, b2, b3, b4] in packed_rows {
        let mut codes = Codes { word: u64::from_le_bytes([b0, b1, b2, b3, b4, 0, 0, 0]) };
        let mut first = 0;
        let mut before = 0;
        rows.push(COLUMNS.iter().filter_map(|column| {
            let code = match column.bits {
                0 => EDUCATION_NUM[before as usize % EDUCATION_NUM.len()],
                bits => codes.take(bits),
            };
            let feature = first + code;
            first += column.features;
            before = code;
            (code < column.features).then_some((feature, 1.0))
        }));
        labels.push(if codes.take(1) == 1 { 1.0 } else { -1.0 });
    }
    Dataset { features: FEATURES, labels, rows }
}

/// The bits of a packed row that are still to be read.
struct Codes {
    word: u64,
}

impl Codes {
    fn take(&mut self, bits: u32) -> u32 {
        let code = self.word & ((1 << bits) - 1);
        self.word >>= bits;
        code as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_fill_the_packed_row_and_the_features() {
        let label = 1;
        assert_eq!(COLUMNS.iter().map(|c| c.bits).sum::<u32>() + label, 8 * ROW_BYTES as u32);
        assert_eq!(COLUMNS.iter().map(|c| c.features).sum::<u32>(), FEATURES as u32);
        assert!(TRAIN.len().is_multiple_of(ROW_BYTES) && TEST.len().is_multiple_of(ROW_BYTES));
    }

    #[test]
    fn last_feature_is_set_in_one_training_row_and_in_no_test_row() {
        let set = |split| {
            let data = a9a(split);
            (0..data.len()).filter(|&r| data.rows.row(r).any(|(column, _)| column == 122)).count()
        };
        assert_eq!((set(Split::Train), set(Split::Test)), (1, 0));
    }

    #[test]
    fn first_training_row_is_as_in_libsvms_file() {
        let train = a9a(Split::Train);
        let indices: Vec<u32> = train.rows.row(0).map(|(column, _)| column + 1).collect();
        assert_eq!(indices, [3, 11, 14, 19, 39, 42, 55, 64, 67, 73, 75, 76, 80, 83]);
        assert_eq!(train.labels[0], -1.0);
    }
}
