//! Points that an engine lends to a gradient function, in the memory that they are in.

use std::sync::Arc;

use oneway::problem::{Lent, Memory};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;

use crate::dlpack::{Layout, capsule};
use crate::errors::of_library;

/// CUDA's default stream, as DLPack calls it.
const DEFAULT_STREAM: i64 = 1;

/// The points of all agents, for any library that knows DLPack: n rows of d numbers.
///
/// They are the engine's own memory: nobody may write to them, and what is there changes after the call. The
/// memory stays as long as an array of it is held.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Points {
    pub(crate) layout: Layout,
    pub(crate) address: u64,
    pub(crate) lent: Arc<dyn Lent>,
}

#[pymethods]
impl Points {
    /// A capsule of them; work on `stream` from then on waits for what the engine has begun.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(true) || dl_device.is_some_and(|device| device != self.layout.device()) {
            let why = "points are lent where they are: copy the array, once you have it";
            return Err(PyBufferError::new_err(why));
        }
        match (self.layout.memory, stream) {
            (_, Some(-1)) | (Memory::Host, None) => {}
            (Memory::Host, Some(_)) => return Err(PyBufferError::new_err("the CPU has no streams")),
            (Memory::Cuda(_), Some(none @ ..=0)) => {
                return Err(PyBufferError::new_err(format!("stream={none} is none: CUDA's default is 1")));
            }
            (Memory::Cuda(_), given) => {
                let stream = given.unwrap_or(DEFAULT_STREAM) as u64;
                self.lent.order_before(stream).map_err(of_library)?;
            }
        }
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        capsule(py, &self.layout, self.address, &self.lent, versioned)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        self.layout.device()
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        let [n, d] = self.layout.shape;
        (n, d)
    }

    /// As NumPy names it.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.layout.dtype()
    }

    fn __repr__(&self) -> String {
        let [n, d] = self.layout.shape;
        format!("<points of {n} agents in dimension {d}, {}>", self.layout.dtype())
    }
}
