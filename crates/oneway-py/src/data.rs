//! Rows of data from arrays.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use oneway::data::{Dataset as Rows, SparseRows};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::sync::Arc;

use crate::errors::of_library;

/// Labelled rows in memory.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Dataset(pub(crate) Arc<Rows>);

#[pymethods]
impl Dataset {
    /// From an array with a row for each label.
    #[staticmethod]
    fn dense(x: PyReadonlyArray2<'_, f64>, y: PyReadonlyArray1<'_, f64>) -> PyResult<Self> {
        let x = x.as_array();
        let mut rows = SparseRows::new();
        for row in x.rows() {
            let entries = row.iter().enumerate().filter(|(_, value)| **value != 0.0);
            push(&mut rows, entries.map(|(column, value)| (column as i64, *value)))?;
        }
        Self::new(x.ncols(), y, rows)
    }

    /// From the parts of a `scipy.sparse.csr_matrix` whose indices are sorted.
    #[staticmethod]
    fn sparse(
        features: usize,
        data: PyReadonlyArray1<'_, f64>,
        indices: PyReadonlyArray1<'_, i64>,
        indptr: PyReadonlyArray1<'_, i64>,
        y: PyReadonlyArray1<'_, f64>,
    ) -> PyResult<Self> {
        let (data, indices, indptr) = (data.as_array(), indices.as_array(), indptr.as_array());
        let mut rows = SparseRows::new();
        for (from, to) in indptr.iter().zip(indptr.iter().skip(1)) {
            let range = usize::try_from(*from).ok().zip(usize::try_from(*to).ok());
            let range = range.filter(|(from, to)| from <= to && *to <= data.len() && *to <= indices.len());
            let Some((from, to)) = range else {
                return Err(PyValueError::new_err("X: its indptr does not fit its data"));
            };
            push(&mut rows, (from..to).map(|at| (indices[at], data[at])).filter(|(_, value)| *value != 0.0))?;
        }
        Self::new(features, y, rows)
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// Appends a row, if there is room for it and its numbers can stand in it.
fn push(rows: &mut SparseRows, entries: impl Iterator<Item = (i64, f64)>) -> PyResult<()> {
    let row = rows.len();
    let entries = entries.map(|(column, value)| match u32::try_from(column) {
        Ok(column) if value.is_finite() => Ok((column, value)),
        Ok(_) => Err(PyValueError::new_err(format!("X: row {row}, column {column}: {value} is not finite"))),
        Err(_) => Err(PyValueError::new_err(format!("X: row {row}: there is no column {column}"))),
    });
    let entries = entries.collect::<PyResult<Vec<_>>>()?;
    if !rows.has_room(entries.len()) {
        return Err(PyValueError::new_err("X: it has more entries than 2³² − 1"));
    }
    rows.push(entries);
    Ok(())
}

impl Dataset {
    fn new(features: usize, y: PyReadonlyArray1<'_, f64>, rows: SparseRows) -> PyResult<Self> {
        let data = Rows { features, labels: y.as_array().to_vec(), rows };
        data.check_rows().map_err(of_library)?;
        Ok(Self(Arc::new(data)))
    }
}
