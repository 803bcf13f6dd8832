//! Labelled data: sparse rows, binary labels.
//!
//! Two sources: [`a9a`](mod@a9a), the dataset of the paper's experiments, is embedded; any other is read from a file in
//! LIBSVM's format by [`libsvm::read`], best with its number of features given.

pub mod a9a;
pub mod libsvm;
pub mod rows;

pub use rows::SparseRows;

use crate::{Error, Result};

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

    /// Whether its parts fit together: a label of ±1 for each row, at least one of them, columns ascending within a row, and
    /// none beyond the features.
    pub fn check(&self) -> Result<()> {
        let invalid =
            |name: &str, value: String, expected: &str| Err(Error::parameter("data", name, value, expected));
        if self.features == 0 {
            return invalid("features", "0".to_owned(), "there must be at least one feature");
        }
        if self.is_empty() || self.labels.len() != self.rows.len() {
            let sizes = format!("{} for {} rows", self.labels.len(), self.rows.len());
            return invalid("labels", sizes, "there must be one for each row, and at least one row");
        }
        if let Some(label) = self.labels.iter().find(|label| label.abs() != 1.0) {
            return invalid("labels", label.to_string(), "a label is +1 or -1");
        }
        let beyond = |r: usize| self.rows.row(r).find(|(column, _)| *column as usize >= self.features);
        if let Some((column, _)) = (0..self.len()).find_map(beyond) {
            let expected = "columns count from 0 and end before the number of features";
            return invalid("rows", format!("column {column}"), expected);
        }
        let ascends = |r: &usize| self.rows.row(*r).map(|(column, _)| column).is_sorted_by(|a, b| a < b);
        match (0..self.len()).find(|r| !ascends(r)) {
            Some(r) => invalid("rows", format!("row {r}"), "columns ascend within a row, each at most once"),
            None => Ok(()),
        }
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
