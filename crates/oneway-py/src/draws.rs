//! The draws of a block of agents in one round, as arrays with a row for each agent.

use numpy::{PyArray1, PyArray2};
use oneway::numeric::sample::{Draws, Streams};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Random numbers that belong to (seed, agent, round): the same for whoever asks, in whatever order.
#[pyclass(name = "Draws", module = "oneway")]
#[derive(Debug)]
pub(crate) struct BlockOfDraws(pub(crate) Streams);

impl BlockOfDraws {
    /// An array with a row for each agent; `draw` makes a number of its stream.
    fn rows<'py, T: numpy::Element + Copy>(
        &mut self,
        py: Python<'py>,
        size: usize,
        mut draw: impl FnMut(&mut Draws) -> T,
    ) -> PyResult<Bound<'py, PyArray2<T>>> {
        /// More than 8 GB are a slip of the keyboard.
        const MOST: usize = 1 << 30;
        if size.checked_mul(self.0.len().max(1)).is_none_or(|numbers| numbers > MOST) {
            return Err(PyValueError::new_err(format!("size={size} is more than memory holds")));
        }
        let rows: Vec<Vec<T>> =
            self.0.each().iter_mut().map(|stream| (0..size).map(|_| draw(stream)).collect()).collect();
        Ok(PyArray2::from_vec2(py, &rows)?)
    }
}

#[pymethods]
impl BlockOfDraws {
    /// Whole numbers, uniform on 0..high: shape (agents, size).
    #[pyo3(signature = (high, size = 1))]
    fn integers<'py>(
        &mut self,
        py: Python<'py>,
        high: i64,
        size: usize,
    ) -> PyResult<Bound<'py, PyArray2<i64>>> {
        let bound = usize::try_from(high).ok().filter(|bound| *bound > 0);
        let bound = bound.ok_or_else(|| PyValueError::new_err(format!("high={high} must be 1 or more")))?;
        self.rows(py, size, |draws| draws.below(bound) as i64)
    }

    /// Numbers uniform on (0, 1): shape (agents, size).
    #[pyo3(signature = (size = 1))]
    fn uniform<'py>(&mut self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, size, Draws::unit)
    }

    /// Standard normal numbers: shape (agents, size).
    #[pyo3(signature = (size = 1))]
    fn normal<'py>(&mut self, py: Python<'py>, size: usize) -> PyResult<Bound<'py, PyArray2<f64>>> {
        self.rows(py, size, Draws::normal)
    }

    /// 64 random bits for each agent, to seed a generator with: shape (agents,).
    fn bits<'py>(&mut self, py: Python<'py>) -> Bound<'py, PyArray1<u64>> {
        PyArray1::from_iter(py, self.0.each().iter_mut().map(Draws::bits))
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }

    fn __repr__(&self) -> String {
        format!("<draws of {} agents>", self.0.len())
    }
}
