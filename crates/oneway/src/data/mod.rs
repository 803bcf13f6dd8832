//! Labelled data: sparse rows, each with a label: one of two signs, one of several classes, or a real target.
//!
//! Two datasets are embedded: [`a9a`](mod@a9a), that of the paper's experiments, with two classes, and
//! [`digits`](mod@digits), with ten. Others are read: files in LIBSVM's format by [`libsvm::read`] and
//! [`libsvm::read_as`], best with their number of features given, and MNIST and its kin by [`idx::read`].
//! Rows with real targets can be [drawn](Synthetic::draw).

pub mod a9a;
pub mod digits;
pub mod idx;
pub mod libsvm;
pub mod partition;
pub mod rows;
mod synthetic;

pub use rows::SparseRows;
pub use synthetic::Synthetic;

use crate::{Error, Result};

/// A part of a dataset that has two.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Split {
    /// The rows to learn from.
    Train,
    /// The rows held out.
    Test,
}

/// A labelled dataset.
#[derive(Debug, Clone, PartialEq)]
pub struct Dataset {
    /// Number of features, d. Never inferred from a split: a9a's test rows lack feature 123.
    pub features: usize,
    /// Labels, one for each row: +1 or −1, or the numbers of classes, or real targets.
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

    /// The same rows with one more feature, which is always 1: its weight is the intercept of a linear model.
    ///
    /// Refused where the rows have no room for it, which is beyond 2³² − 1 entries or features.
    pub fn with_intercept(&self) -> Result<Dataset> {
        let column = u32::try_from(self.features).ok().filter(|_| self.rows.has_room(self.len()));
        let Some(column) = column else {
            let expected = "there is no room for one more, the intercept's: give a part of the data";
            return Err(Error::parameter("data", "features", self.features, expected));
        };
        let mut rows = SparseRows::new();
        (0..self.len()).for_each(|r| rows.push(self.rows.row(r).chain([(column, 1.0)])));
        Ok(Dataset { features: self.features + 1, labels: self.labels.clone(), rows })
    }

    /// The different labels, ascending.
    pub fn classes(&self) -> Vec<f64> {
        classes(&self.labels)
    }

    /// Whether its parts fit together, as [`check_rows`](Self::check_rows) says, and every label is ±1.
    pub fn check(&self) -> Result<()> {
        self.check_rows()?;
        match self.labels.iter().find(|label| label.abs() != 1.0) {
            Some(label) => Err(Error::parameter("data", "labels", label, "a label is +1 or -1")),
            None => Ok(()),
        }
    }

    /// Whether it has as many features as the training data: `trained`.
    pub(crate) fn check_features(&self, trained: usize) -> Result<()> {
        match self.features == trained {
            true => Ok(()),
            false => Err(Error::Mismatch {
                left: "training data",
                left_size: trained,
                right: "test data",
                right_size: self.features,
                unit: "features",
            }),
        }
    }

    /// Whether its parts fit together: a finite label for each row, at least one of them, columns ascending
    /// within a row, and none beyond the features.
    pub fn check_rows(&self) -> Result<()> {
        let invalid =
            |name: &str, value: String, expected: &str| Err(Error::parameter("data", name, value, expected));
        if self.features == 0 {
            return invalid("features", "0".to_owned(), "there must be at least one feature");
        }
        if self.is_empty() || self.labels.len() != self.rows.len() {
            let sizes = format!("{} for {} rows", self.labels.len(), self.rows.len());
            return invalid("labels", sizes, "there must be one for each row, and at least one row");
        }
        if let Some(label) = self.labels.iter().find(|label| !label.is_finite()) {
            return invalid("labels", label.to_string(), "a label is a finite number");
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

/// The different numbers among these, ascending; +0 and −0 are one.
pub(crate) fn classes(labels: &[f64]) -> Vec<f64> {
    let mut classes = labels.to_vec();
    classes.sort_unstable_by(f64::total_cmp);
    classes.dedup();
    classes
}
