//! The module `oneway._native`: what Python asks of the engine. Names, defaults and documentation for people
//! are in `python/oneway`.
//!
//! Every call that may take long lets other Python threads go on, looks for Ctrl-C twenty times a second, and
//! turns errors and panics into exceptions.

mod data;
mod dlpack;
mod draws;
mod errors;
mod experiment;
mod method;
mod network;
mod patience;
mod points;
mod problem;
mod program;
mod result;
mod settings;

use std::ffi::OsString;

use pyo3::prelude::*;

/// The command `oneway` with these arguments; returns its exit code.
#[pyfunction]
fn main(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| oneway_lab::main_from(arguments))
}

/// Everything that can be named, with parameters: methods, topologies, codecs.
#[pyfunction]
fn names(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    settings::to_python(py, &oneway_lab::api::names())
}

/// How figures draw methods: colour and dashes of each.
#[pyfunction]
fn styles(methods: Vec<String>) -> Vec<(String, Option<String>)> {
    oneway_lab::api::styles(&methods)
}

/// What Python sees.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::data::Dataset;
    #[pymodule_export]
    use super::draws::BlockOfDraws;
    #[pymodule_export]
    use super::experiment::{Experiment, Problem, inspect, report, verify};
    #[pymodule_export]
    use super::method::{Method, Recording, Symbol, builtin, stability_limit};
    #[pymodule_export]
    use super::network::Network;
    #[pymodule_export]
    use super::points::Points;
    #[pymodule_export]
    use super::program::{network_of, noise_bits, partition, program, sample_rows};
    #[pymodule_export]
    use super::result::RunResult;
    #[pymodule_export]
    use super::{main, names, styles};
}
