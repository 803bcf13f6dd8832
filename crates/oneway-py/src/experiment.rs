//! An experiment: settings, and what Python supplies in memory.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use oneway_experiment as lab;
use oneway_experiment::plan::Plan;
use oneway_experiment::problem::BuiltProblem;
use oneway_experiment::results::cells::{CellStatus, CellStore};
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::runner::Runner;
use oneway_experiment::supplies::{SuppliedMethod, Supplies};
use oneway_lab::api;
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::data::Dataset;
use crate::errors::exception;
use crate::method::Method;
use crate::network::Network;
use crate::patience::{Counter, Done, PythonWatcher, patiently};
use crate::problem::{Elsewhere, Failure, PythonProblem};
use crate::result::RunResult;
use crate::settings;

/// What stayed on the processors although another device was asked for: what it is, and why.
type Stayed = Vec<(String, String)>;

/// What came of a run; what stayed on the processors; the exception that ended it early.
type Ran = (RunResult, Stayed, Option<PyErr>);

/// What tuning found; settings with it; the comparison; what stayed on the processors.
type Tuning<'py> = (Bound<'py, PyAny>, Vec<String>, String, Stayed);

/// What is minimised, given by Python functions.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Problem {
    built: Arc<BuiltProblem>,
    failure: Arc<Failure>,
}

#[pymethods]
impl Problem {
    #[new]
    #[pyo3(signature = (agents, dim, gradient, loss = None, start = None, smoothness = None, in_place = None))]
    fn new(
        agents: usize,
        dim: usize,
        gradient: Py<PyAny>,
        loss: Option<Py<PyAny>>,
        start: Option<Vec<f64>>,
        smoothness: Option<f64>,
        in_place: Option<(String, Py<PyAny>)>,
    ) -> PyResult<Self> {
        /// Each is another: what it computes is not known here.
        static COUNT: Mutex<u64> = Mutex::new(0);
        let mut count = COUNT.lock().unwrap_or_else(PoisonError::into_inner);
        *count += 1;
        let identity = format!("of Python, {} of process {}", *count, std::process::id());
        let in_place = in_place.map(|(device, gradient)| Elsewhere::new(&device, gradient)).transpose()?;
        let problem = PythonProblem::new(agents, dim, gradient, loss, start, smoothness, in_place)?;
        let failure = problem.failure();
        Ok(Self { built: Arc::new(BuiltProblem::supplied(Box::new(problem), &identity)), failure })
    }
}

/// An experiment, read and checked, and not yet run.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Experiment {
    experiment: lab::Experiment,
    failures: Vec<Arc<Failure>>,
}

#[pymethods]
impl Experiment {
    /// From settings, or from a file; `overrides` are as `--set` has them.
    #[new]
    #[pyo3(signature = (settings, folder, overrides, problem = None, datasets = None, networks = None, methods = None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments, from one place
    fn new(
        settings: &Bound<'_, PyAny>,
        folder: PathBuf,
        overrides: Vec<String>,
        problem: Option<Bound<'_, Problem>>,
        datasets: Option<HashMap<String, Bound<'_, Dataset>>>,
        networks: Option<HashMap<String, Bound<'_, Network>>>,
        methods: Option<HashMap<String, Bound<'_, Method>>>,
    ) -> PyResult<Self> {
        let read = match settings.cast::<PyDict>() {
            Ok(settings) => lab::Experiment::with(settings::table(settings)?, &folder, &overrides),
            Err(_) => lab::Experiment::read(&settings.extract::<PathBuf>()?, &overrides),
        };
        let supplied = |method: &Method| {
            let method = method.0.clone();
            let identity = format!("{:?}", method.definition());
            SuppliedMethod { make: Arc::new(move || Box::new(method.clone())), identity }
        };
        let named = |(name, method): (String, Bound<'_, Method>)| (name, supplied(method.get()));
        let supplies = Supplies {
            problems: problem
                .iter()
                .map(|problem| ("problem".to_owned(), Arc::clone(&problem.get().built)))
                .collect(),
            datasets: datasets
                .unwrap_or_default()
                .into_iter()
                .map(|(name, data)| (name, Arc::clone(&data.get().0)))
                .collect(),
            links: networks
                .unwrap_or_default()
                .into_iter()
                .map(|(name, network)| (name, network.get().0.clone()))
                .collect(),
            methods: methods.unwrap_or_default().into_iter().map(named).collect(),
        };
        let experiment = read.map_err(exception)?.supplied(Arc::new(supplies));
        let failures = problem.iter().map(|problem| Arc::clone(&problem.get().failure)).collect();
        Ok(Self { experiment, failures })
    }

    /// The settings, as TOML.
    fn toml(&self) -> String {
        toml::to_string(&self.experiment.settings).unwrap_or_default()
    }

    /// Runs all cells. Returns what came of them, what stayed on the processors although another device was
    /// asked for and why, and, if it was ended early, the exception that did it.
    #[pyo3(signature = (threads = None, out = None, fresh = false, progress = None, observe = None, device = "cpu"))]
    #[allow(clippy::too_many_arguments)] // keyword arguments, from one place
    fn run(
        &self,
        py: Python<'_>,
        threads: Option<u16>,
        out: Option<PathBuf>,
        fresh: bool,
        progress: Option<Bound<'_, PyAny>>,
        observe: Option<Py<PyAny>>,
        device: &str,
    ) -> PyResult<Ran> {
        let mut runner = api::runner_on(device, threads)
            .map_err(exception)?
            .keeping_failed()
            .keeping_estimates()
            .running_inside(known_to_python);
        let mut failures = self.failures.clone();
        if let Some(observe) = observe {
            let failure = Arc::new(Failure::default());
            let stop = runner.interrupted();
            runner =
                runner.watched_by(Box::new(PythonWatcher { observe, failure: Arc::clone(&failure), stop }));
            failures.push(failure);
        }
        let counter = Arc::new(Counter::default());
        let Done { result, interrupted } =
            patiently(py, &runner, &failures, &counter, progress.as_ref(), || {
                let plan = runner.install(|| Plan::new(&self.experiment))?;
                let folder = out.as_deref().map(OutputFolder::prepare).transpose()?;
                let store =
                    folder.as_ref().map_or_else(CellStore::none, |folder| CellStore::new(folder.path()));
                let cells = plan.cells();
                let rounds = cells.iter().map(|cell| cell.entry.run.iterations).sum();
                let ran = runner.run_within(&*counter.begin(rounds), &cells, &store, fresh)?;
                let mut found: HashMap<String, _> =
                    ran.into_iter().map(|ran| (ran.cell.to_string(), ran.result)).collect();
                let results: Vec<_> = cells.iter().map(|cell| found.remove(&cell.to_string())).collect();
                drop(cells);
                let result = RunResult::new(Arc::new(plan), results);
                if let Some(folder) = &folder {
                    result.save_into(folder)?;
                }
                Ok(result)
            })?;
        let ended = match (&interrupted, result.failed()) {
            (None, Some(reason)) => Some(exception(anyhow::anyhow!(reason))),
            _ => interrupted,
        };
        Ok((result, runner.stayed(), ended))
    }

    /// Finds good steps; see `oneway tune`. Returns what was found, the settings with it (TOML), the
    /// comparison (CSV), and what stayed on the processors.
    #[pyo3(signature = (by = "loss", threads = None, progress = None, device = "cpu"))]
    fn tune<'py>(
        &self,
        py: Python<'py>,
        by: &str,
        threads: Option<u16>,
        progress: Option<Bound<'_, PyAny>>,
        device: &str,
    ) -> PyResult<Tuning<'py>> {
        let runner = api::runner_on(device, threads).map_err(exception)?;
        let counter = Arc::new(Counter::default());
        let done = patiently(py, &runner, &self.failures, &counter, progress.as_ref(), || {
            api::tune(&self.experiment, by, &runner, &CellStore::none(), |rounds| counter.begin(rounds))
        })?;
        let tuned = ended(done)?;
        let settings =
            tuned.settings.iter().map(|table| toml::to_string(table).unwrap_or_default()).collect();
        Ok((settings::to_python(py, &tuned.found)?, settings, tuned.comparison, runner.stayed()))
    }

    /// What theory says beside what is measured; see `oneway certify --json`.
    #[pyo3(signature = (rounds = 400, threads = None))]
    fn certify<'py>(
        &self,
        py: Python<'py>,
        rounds: u64,
        threads: Option<u16>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let runner = Runner::new(threads).map_err(exception)?;
        let done = patiently(py, &runner, &self.failures, &Counter::default(), None, || {
            api::certify(&self.experiment, &runner, rounds)
        })?;
        settings::to_python(py, &ended(done)?)
    }
}

/// Python keeps what it knows of a thread only while somebody is inside of it: once for a cell, and not for
/// each round.
fn known_to_python(work: &mut (dyn FnMut() + Send)) {
    Python::attach(|py| py.detach(work));
}

/// A result, or the exception that ended the work.
fn ended<R>(done: Done<Option<R>>) -> PyResult<R> {
    match (done.interrupted, done.result) {
        (Some(raised), _) => Err(raised),
        (None, Some(result)) => Ok(result),
        (None, None) => Err(PyKeyboardInterrupt::new_err("")),
    }
}

/// Whether a folder's results can be made again to the last bit: how many cells were run, and what differs.
#[pyfunction]
#[pyo3(signature = (folder, partial = false, threads = None))]
pub(crate) fn verify(
    py: Python<'_>,
    folder: PathBuf,
    partial: bool,
    threads: Option<u16>,
) -> PyResult<(usize, Vec<String>)> {
    let runner = Runner::new(threads).map_err(exception)?;
    let done = patiently(py, &runner, &[], &Counter::default(), None, || {
        api::verify(&folder, partial, &runner).map(Some)
    })?;
    ended(done)
}

/// Draws the figures of a results folder and writes its page; returns where.
#[pyfunction]
#[pyo3(signature = (folder, all = false))]
pub(crate) fn report(py: Python<'_>, folder: PathBuf, all: bool) -> PyResult<PathBuf> {
    let runner = Runner::new(None).map_err(exception)?;
    let work = || runner.install(|| api::report(Path::new(&folder), all)).map(Some);
    ended(patiently(py, &runner, &[], &Counter::default(), None, work)?)
}

/// What a topology can do; see `oneway inspect --json`.
#[pyfunction]
#[pyo3(signature = (name, settings, agents = None, network = None, methods = None, momentum = 0.1))]
pub(crate) fn inspect<'py>(
    py: Python<'py>,
    name: String,
    settings: &Bound<'_, PyDict>,
    agents: Option<usize>,
    network: Option<Bound<'_, Network>>,
    methods: Option<Vec<String>>,
    momentum: f64,
) -> PyResult<Bound<'py, PyAny>> {
    let mut supplies = Supplies::default();
    if let Some(network) = network {
        supplies.links.insert(name.clone(), network.get().0.clone());
    }
    let settings = settings::table(settings)?;
    let methods = methods.unwrap_or_else(api::methods_asked_by_default);
    let runner = Runner::new(None).map_err(exception)?;
    let work = || {
        let ask = api::Inspect { name, settings, agents, supplies: &supplies, methods: &methods, momentum };
        runner.install(|| ask.ask()).map(Some)
    };
    let facts = ended(patiently(py, &runner, &[], &Counter::default(), None, work)?)?;
    settings::to_python(py, &facts)
}

impl RunResult {
    /// Why a cell failed, if one did.
    fn failed(&self) -> Option<String> {
        let failed = self.ends().find(|end| end.status == CellStatus::Failed);
        failed.and_then(|end| end.reason.clone())
    }
}
