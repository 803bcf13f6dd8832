//! What came of a run, for Python.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyArrayMethods};
use oneway::engine::metrics::Measurement;
use oneway_experiment::plan::Plan;
use oneway_experiment::results::cells::{CellResult, End, Estimates, Ran};
use oneway_experiment::results::curves::{self, SweptColumns};
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::results::manifest::Purpose;
use oneway_experiment::results::{curves_of, save};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::errors::exception;

/// A column of the curves: its name, and its value in a measurement.
type Column = (&'static str, fn(&Measurement) -> Option<f64>);

/// The columns of numbers, as `curves.csv` calls them. The first is whole.
const COLUMNS: [Column; 13] = [
    ("iteration", |m| Some(m.iteration as f64)),
    ("loss", |m| Some(m.loss)),
    ("grad_norm_sq", |m| Some(m.grad_norm_sq)),
    ("consensus_error", |m| Some(m.consensus_error)),
    ("tracking_error", |m| m.tracking_error),
    ("momentum_error", |m| m.momentum_error),
    ("conservation_error", |m| m.conservation_error),
    ("test_accuracy", |m| m.test_accuracy),
    ("bytes_sent", |m| m.bytes_sent.map(|bytes| bytes as f64)),
    ("time", |m| m.time),
    ("loss_gap", |m| m.loss_gap),
    ("agents_grad_norm_sq", |m| m.agents_grad_norm_sq),
    ("distance_sq", |m| m.distance_sq),
];

/// One measurement, without what the method does not have.
pub(crate) fn as_dict<'py>(py: Python<'py>, point: &Measurement) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("iteration", point.iteration)?;
    for (name, value) in &COLUMNS[1..] {
        if let Some(value) = value(point) {
            dict.set_item(name, value)?;
        }
    }
    Ok(dict)
}

/// All cells of an experiment, as far as they ran.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct RunResult {
    plan: Arc<Plan>,
    /// One for each cell of the plan.
    results: Vec<Option<CellResult>>,
}

impl RunResult {
    pub(crate) fn new(plan: Arc<Plan>, results: Vec<Option<CellResult>>) -> Self {
        Self { plan, results }
    }

    /// How the cells ended that ran.
    pub(crate) fn ends(&self) -> impl Iterator<Item = &End> {
        self.results.iter().flatten().map(|result| &result.end)
    }

    /// Writes `curves.csv` and `summary.json`.
    pub(crate) fn save_into(&self, folder: &OutputFolder) -> anyhow::Result<()> {
        save(folder, &self.plan, Purpose::Figures, &self.ran()).map(drop)
    }

    fn ran(&self) -> Vec<Ran<'_>> {
        let cells = self.plan.cells().into_iter().zip(&self.results);
        cells.filter_map(|(cell, result)| Some(Ran { cell, result: result.clone()? })).collect()
    }
}

#[pymethods]
impl RunResult {
    /// Each cell that ran: a dictionary with its place, its end and its columns.
    fn cells<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let mut cells = vec![];
        for Ran { cell, result } in self.ran() {
            let (dict, columns) = (PyDict::new(py), PyDict::new(py));
            dict.set_item("topology", &cell.entry.topology_name)?;
            dict.set_item("method", &cell.entry.method_name)?;
            dict.set_item("repetition", cell.repetition())?;
            dict.set_item("swept", cell.entry.swept.clone())?;
            let end = &result.end;
            dict.set_item("status", end.status.name())?;
            dict.set_item("rounds", end.rounds)?;
            dict.set_item("state_hash", &end.state_hash)?;
            dict.set_item("reason", &end.reason)?;
            dict.set_item("seconds", end.seconds_stepping)?;
            let iterations = result.points.iter().map(|point| point.iteration as i64);
            columns.set_item(COLUMNS[0].0, PyArray1::from_iter(py, iterations))?;
            for (name, value) in &COLUMNS[1..] {
                if result.points.iter().any(|point| value(point).is_some()) {
                    let values = result.points.iter().map(|point| value(point).unwrap_or(f64::NAN));
                    columns.set_item(name, PyArray1::from_iter(py, values))?;
                }
            }
            if let Some(estimates) = &result.estimates {
                let Estimates { average, agents } = &**estimates;
                dict.set_item("x", PyArray1::from_slice(py, average))?;
                let rows = PyArray1::from_slice(py, agents)
                    .reshape([agents.len() / average.len().max(1), average.len()])?;
                dict.set_item("estimates", rows)?;
            }
            dict.set_item("columns", columns)?;
            cells.push(dict);
        }
        Ok(cells)
    }

    /// How many cells were planned.
    #[getter]
    fn planned(&self) -> usize {
        self.results.len()
    }

    /// What `curves.csv` would have.
    fn csv(&self) -> String {
        curves::to_csv(&curves_of(&self.ran()), &SweptColumns::new(&self.plan.entries))
    }

    /// Writes `curves.csv` and `summary.json` into a folder; returns it.
    fn save(&self, folder: PathBuf) -> PyResult<PathBuf> {
        let write = || {
            let folder = OutputFolder::prepare(&folder)?;
            self.save_into(&folder)?;
            anyhow::Ok(folder.path().to_owned())
        };
        write().map_err(exception)
    }
}
