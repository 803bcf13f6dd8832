//! Labelled data: sparse rows, binary labels.
//!
//! Two sources: [`a9a`](mod@a9a), the dataset of the paper's experiments, is embedded; any other is read from a file in
//! LIBSVM's format by [`libsvm::read`], best with its number of features given.

pub mod a9a;
pub mod libsvm;
pub mod rows;

pub use rows::SparseRows;

/// A labelled dataset for binary classification.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Number of features, d. Never inferred from a split: a9a's test rows lack feature 123.
    pub features: usize,
    /// Labels, +1 or −1, one for each row.
    pub labels: Vec<f64>,
    /// Features, one sparse row for each label.
    pub rows: SparseRows,
}

impl Dataset {
    /// The rows with these numbers, in this order.
    pub fn select(&self, numbers: &[usize]) -> Dataset {
        let mut rows = SparseRows::new();
        numbers.iter().for_each(|&r| rows.push(self.rows.row(r)));
        Dataset { features: self.features, labels: numbers.iter().map(|&r| self.labels[r]).collect(), rows }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }
}
