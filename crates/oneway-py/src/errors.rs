//! Errors as exceptions, with the message of the command line.

use std::io::ErrorKind;

use pyo3::PyErr;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError, PyValueError};

/// What is wrong with the input is a `ValueError`, what is wrong with a file an `OSError`.
pub(crate) fn exception(error: anyhow::Error) -> PyErr {
    let io = error.chain().find_map(|cause| match cause.downcast_ref::<oneway::Error>() {
        Some(oneway::Error::Io { source, .. }) => Some(source),
        _ => cause.downcast_ref::<std::io::Error>(),
    });
    let text = message(&error);
    match io.map(std::io::Error::kind) {
        Some(ErrorKind::NotFound) => PyFileNotFoundError::new_err(text),
        Some(_) => PyOSError::new_err(text),
        None => PyValueError::new_err(text),
    }
}

/// The same of an error of the library.
pub(crate) fn of_library(error: oneway::Error) -> PyErr {
    exception(error.into())
}

/// An error and its causes on one line; a cause that the error before it quotes already is not said twice.
fn message(error: &anyhow::Error) -> String {
    oneway_lab::message(error)
}
