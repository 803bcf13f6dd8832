//! Rows of a table while it is being read.

use oneway::data::{Dataset, SparseRows};
use oneway::{Error, Result};
use std::path::Path;

use crate::labels::Gathered;
use crate::layout::{Columns, Role};
use crate::{Expected, Loaded, wrong};

/// Gathers rows of features and their labels.
pub(crate) struct Gatherer<'a> {
    path: &'a Path,
    rows: SparseRows,
    row: Vec<(u32, f64)>,
    labels: Gathered<'a>,
    features: usize,
}

impl<'a> Gatherer<'a> {
    /// For a table with this many features.
    pub(crate) fn new(path: &'a Path, features: usize, expected: Expected<'a>) -> Result<Self> {
        match expected.features {
            _ if features == 0 => return Err(wrong(path, "has no column of features beside the label")),
            Some(given) if given != features => {
                let owner = path.display().to_string();
                return Err(Error::parameter(owner, "features", given, format!("it has {features}")));
            }
            _ if u32::try_from(features).is_err() => {
                return Err(wrong(path, "has more than 2³² − 1 features"));
            }
            _ => {}
        }
        let labels = Gathered::new(expected.labels, expected.words);
        Ok(Self { path, rows: SparseRows::new(), row: vec![], labels, features })
    }

    /// The next feature of the row, 0 left out.
    pub(crate) fn value(&mut self, column: usize, value: f64) -> std::result::Result<(), String> {
        match value {
            _ if !value.is_finite() => Err(format!("{value} is not a finite number")),
            0.0 => Ok(()),
            _ => {
                self.row.push((column as u32, value));
                Ok(())
            }
        }
    }

    /// A row of numbers, as its columns say what they are.
    pub(crate) fn numbers(&mut self, columns: &Columns, row: &[f64]) -> std::result::Result<(), String> {
        let mut next = 0;
        for (at, (value, role)) in row.iter().zip(&columns.roles).enumerate() {
            let added = match role {
                Role::Dropped => Ok(()),
                Role::Label => self.labels.number(*value),
                Role::Feature => {
                    next += 1;
                    self.value(next - 1, *value)
                }
            };
            added.map_err(|message| format!("{}: {message}", columns.called(at)))?;
        }
        Ok(())
    }

    /// The row's label.
    pub(crate) fn labels(&mut self) -> &mut Gathered<'a> {
        &mut self.labels
    }

    /// Ends the row.
    pub(crate) fn end_row(&mut self) -> Result<()> {
        if !self.rows.has_room(self.row.len()) {
            return Err(wrong(
                self.path,
                "has more than 2³² − 1 cells that are not 0: give a part of the data",
            ));
        }
        self.rows.push(self.row.drain(..));
        Ok(())
    }

    /// All of it.
    pub(crate) fn finish(self, format: String) -> Result<Loaded> {
        if self.rows.is_empty() {
            return Err(wrong(self.path, "has no rows"));
        }
        let (labels, words) = self.labels.finish().map_err(|message| wrong(self.path, message))?;
        let data = Dataset { features: self.features, labels, rows: self.rows };
        data.check_rows()?;
        Ok(Loaded { data, words, format })
    }
}
