//! A problem whose gradients come from Python: one call a round, for all agents, where their points are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use numpy::ndarray::{ArrayView2, ShapeBuilder as _};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use oneway::Error;
use oneway::numeric::row::{Agents, Rows, RowsMut};
use oneway::numeric::sample::{Draws, Streams};
use oneway::problem::{ExactBatch, GradientBatch, InPlace, Memory, Placed, PlacedBatch, Problem};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::dlpack::{Layout, taken};
use crate::draws::BlockOfDraws;
use crate::points::Points;

/// Fewer numbers than this are copied: that is quicker than showing them where they lie.
const COPIED: usize = 1 << 14;

/// What Python has given: `gradient(x, agents, draws)`, `loss(x, agents)` and where to begin.
///
/// Its gradients are asked for all agents at once; `draws` is `None` where the full gradient is asked for.
#[derive(Debug)]
pub(crate) struct PythonProblem {
    agents: usize,
    dim: usize,
    gradient: Py<PyAny>,
    loss: Option<Py<PyAny>>,
    start: Option<Vec<f64>>,
    smoothness: Option<f64>,
    in_place: Option<Elsewhere>,
    failure: Arc<Failure>,
}

/// A function of a device's points, `gradient(points, draws)`, for all agents.
#[derive(Debug)]
pub(crate) struct Elsewhere {
    on_cuda: bool,
    gradient: Py<PyAny>,
}

impl Elsewhere {
    pub(crate) fn new(device: &str, gradient: Py<PyAny>) -> PyResult<Self> {
        let on_cuda = match device {
            "cuda" => true,
            "cpu" => false,
            _ => return Err(PyValueError::new_err(format!("device=\"{device}\": give \"cpu\" or \"cuda\""))),
        };
        Ok(Self { on_cuda, gradient })
    }
}

/// The exception that ended a run, and the wish to end it.
#[derive(Debug, Default)]
pub(crate) struct Failure {
    exception: Mutex<Option<PyErr>>,
    stop: AtomicBool,
}

impl Failure {
    /// From now on every call fails.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Takes the exception, and lets calls succeed again.
    pub(crate) fn take(&self) -> Option<PyErr> {
        self.stop.store(false, Ordering::Relaxed);
        self.exception.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Keeps an exception; from now on every call fails.
    pub(crate) fn set(&self, py: Python<'_>, exception: PyErr) -> Error {
        let reason = exception.to_string();
        self.stop();
        let mut first = self.exception.lock().unwrap_or_else(PoisonError::into_inner);
        if first.is_none() {
            *first = Some(exception.clone_ref(py));
        }
        Error::Gradient { agent: None, reason }
    }
}

impl PythonProblem {
    pub(crate) fn new(
        agents: usize,
        dim: usize,
        gradient: Py<PyAny>,
        loss: Option<Py<PyAny>>,
        start: Option<Vec<f64>>,
        smoothness: Option<f64>,
        in_place: Option<Elsewhere>,
    ) -> PyResult<Self> {
        if agents == 0 || dim == 0 {
            return Err(PyValueError::new_err(format!("agents={agents}, dim={dim}: both must be 1 or more")));
        }
        if let Some(start) = &start
            && start.len() != dim
        {
            let length = start.len();
            return Err(PyValueError::new_err(format!("start has {length} numbers, and dim={dim}")));
        }
        Ok(Self { agents, dim, gradient, loss, start, smoothness, in_place, failure: Arc::default() })
    }

    pub(crate) fn failure(&self) -> Arc<Failure> {
        Arc::clone(&self.failure)
    }

    /// Calls Python; an exception is kept for whoever started the run.
    fn call<R>(&self, work: impl FnOnce(Python<'_>) -> PyResult<R>) -> oneway::Result<R> {
        if self.failure.stop.load(Ordering::Relaxed) {
            return Err(Error::Gradient { agent: None, reason: "stopped".to_owned() });
        }
        Python::attach(|py| work(py).map_err(|exception| self.failure.set(py, exception)))
    }

    fn ask(&self, batch: GradientBatch<'_>, memory: Option<&Arc<Vec<f64>>>) -> oneway::Result<()> {
        let GradientBatch { agents, points, draws, gradients } = batch;
        self.call(|py| {
            let m = agents.len();
            let x = shown(py, points, m, self.dim, memory)?;
            let stream = Bound::new(py, BlockOfDraws(Streams::from(draws.to_vec())))?;
            let g = self.gradient.bind(py).call1((x, numbers(py, agents), &stream))?;
            draws.clone_from_slice(stream.borrow_mut().0.each());
            self.take_gradients(&g, m, gradients)
        })
    }

    /// Copies what a gradient function has returned, if it has the right shape and type.
    fn take_gradients(
        &self,
        given: &Bound<'_, PyAny>,
        m: usize,
        mut gradients: RowsMut<'_, f64>,
    ) -> PyResult<()> {
        let array =
            as_doubles::<PyReadonlyArray2<'_, f64>>(given, "gradient", || format!("({m}, {})", self.dim))?;
        let array = array.as_array();
        if array.shape() != [m, self.dim] {
            let message = format!(
                "gradient has returned shape ({}, {}), and ({m}, {}) is asked for",
                array.nrows(),
                array.ncols(),
                self.dim
            );
            return Err(PyValueError::new_err(message));
        }
        for (q, row) in array.rows().into_iter().enumerate() {
            match row.as_slice() {
                Some(row) => gradients.row(q).copy_from_slice(row),
                None => gradients.row(q).iter_mut().zip(row).for_each(|(to, from)| *to = *from),
            }
        }
        Ok(())
    }
}

/// What was returned as an array of doubles: as it is, or as NumPy makes one of it (other types of numbers,
/// tensors on the CPU).
fn as_doubles<'py, A: for<'a> FromPyObject<'a, 'py>>(
    given: &Bound<'py, PyAny>,
    what: &str,
    shape: impl Fn() -> String,
) -> PyResult<A> {
    if let Ok(array) = given.extract::<A>() {
        return Ok(array);
    }
    if given.is_none() {
        return Err(PyTypeError::new_err(format!(
            "{what} has returned None: an array of shape {} is asked for",
            shape()
        )));
    }
    let numpy = given.py().import("numpy")?;
    let told = |error: PyErr| {
        let message =
            format!("{what} has returned what is no array of numbers of shape {}: {error}", shape());
        PyTypeError::new_err(message)
    };
    let array = numpy.call_method1("asarray", (given,)).map_err(told)?;
    let kind: String = array.getattr("dtype")?.getattr("kind")?.extract()?;
    if !"fiub".contains(&kind) {
        let dtype = array.getattr("dtype")?;
        return Err(PyTypeError::new_err(format!(
            "{what} has returned what is no array of numbers of shape {}: its dtype is {dtype}",
            shape()
        )));
    }
    let array = array.call_method1("astype", ("float64",))?;
    array.extract::<A>().map_err(|_| {
        let has = array.getattr("shape").map_or(String::new(), |shape| shape.to_string());
        PyValueError::new_err(format!("{what} has returned shape {has}, and {} is asked for", shape()))
    })
}

/// The agents' numbers.
fn numbers<'py>(py: Python<'py>, agents: Agents<'_>) -> Bound<'py, PyArray1<i64>> {
    PyArray1::from_iter(py, agents.iter().map(|agent| agent as i64))
}

/// Memory of the engine that an array lies in, for as long as there is such an array.
#[pyclass(frozen)]
struct Lent(Arc<Vec<f64>>);

/// The points as an array that cannot be written to: a copy if they are few, or where they lie.
#[allow(unsafe_code)]
fn shown<'py>(
    py: Python<'py>,
    points: Rows<'_, f64>,
    m: usize,
    d: usize,
    memory: Option<&Arc<Vec<f64>>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (memory, first, stride) = match memory {
        Some(memory) if m * d >= COPIED => {
            let offset =
                points.row(0).as_ptr().addr().wrapping_sub(memory.as_ptr().addr()) / size_of::<f64>();
            (Arc::clone(memory), offset, points.stride())
        }
        _ if points.stride() == 0 => (Arc::new(points.row(0).to_vec()), 0, 0), // all at one point
        _ => (Arc::new((0..m).flat_map(|q| points.row(q)).copied().collect()), 0, d),
    };
    let lent = Bound::new(py, Lent(memory))?;
    let numbers = &lent.get().0[first..];
    let view = ArrayView2::from_shape((m, d).strides((stride, 1)), numbers)
        .map_err(|error| PyValueError::new_err(error.to_string()))?;
    // SAFETY: the array keeps `lent`, which keeps the memory; nobody writes to it while it is kept
    // (`Problem::gradients_in`)
    let array = unsafe { PyArray2::borrow_from_array(&view, lent.clone().into_any()) };
    array.readwrite().make_nonwriteable();
    Ok(array)
}

impl Problem for PythonProblem {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn start(&self, x: &mut [f64]) {
        match &self.start {
            Some(start) => x.copy_from_slice(start),
            None => x.fill(0.0),
        }
    }

    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        if self.gradients(GradientBatch::one(agent, x, draws, g)).is_err() {
            g.fill(f64::NAN); // the exception waits for whoever started the run
        }
    }

    fn gradients(&self, batch: GradientBatch<'_>) -> oneway::Result<()> {
        self.ask(batch, None)
    }

    fn gradients_in(&self, batch: GradientBatch<'_>, memory: &Arc<Vec<f64>>) -> oneway::Result<()> {
        self.ask(batch, Some(memory))
    }

    fn at_once(&self) -> bool {
        true
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        let mut losses = [f64::NAN];
        let (points, gradients) = (Rows::one(x), RowsMut::one(&mut *g));
        let batch = ExactBatch { agents: Agents::one(agent), points, losses: &mut losses, gradients };
        if self.exact_batch(batch).is_err() {
            g.fill(f64::NAN);
        }
        losses[0]
    }

    fn exact_batch(&self, batch: ExactBatch<'_>) -> oneway::Result<()> {
        let ExactBatch { agents, points, losses, gradients } = batch;
        self.call(|py| {
            let m = agents.len();
            let (x, who) = (shown(py, points, m, self.dim, None)?, numbers(py, agents));
            match &self.loss {
                _ if losses.is_empty() => {} // not asked for
                None => losses.fill(f64::NAN),
                Some(loss) => {
                    let given = loss.bind(py).call1((&x, &who))?;
                    let array =
                        as_doubles::<PyReadonlyArray1<'_, f64>>(&given, "loss", || format!("({m},)"))?;
                    let array = array.as_array();
                    if array.len() != m {
                        let message =
                            format!("loss has returned {} numbers, and ({m},) is asked for", array.len());
                        return Err(PyValueError::new_err(message));
                    }
                    losses.iter_mut().zip(array).for_each(|(to, from)| *to = *from);
                }
            }
            let g = self.gradient.bind(py).call1((x, who, py.None()))?;
            self.take_gradients(&g, m, gradients)
        })
    }

    fn smoothness(&self) -> f64 {
        self.smoothness.unwrap_or(f64::INFINITY)
    }

    fn in_place(&self, memory: Memory) -> Option<&dyn InPlace> {
        let made_there = self.in_place.as_ref()?.on_cuda == matches!(memory, Memory::Cuda(_));
        made_there.then_some(self)
    }
}

impl InPlace for PythonProblem {
    #[allow(unsafe_code)]
    fn gradients_at(&self, batch: PlacedBatch<'_>) -> oneway::Result<Placed> {
        let PlacedBatch { points, lent, precision, stream, draws } = batch;
        self.call(|py| {
            let made = self.in_place.as_ref().map(|place| place.gradient.bind(py));
            let made = made.ok_or_else(|| PyValueError::new_err("its gradients are made on the CPU"))?;
            let layout = Layout { memory: lent.memory(), precision, shape: [self.agents, self.dim] };
            let lent = Arc::clone(lent);
            let x = Bound::new(py, Points { layout: layout.clone(), address: points, lent })?;
            let drawn = Bound::new(py, BlockOfDraws(draws.clone()))?;
            let given = made.call1((x, &drawn))?;
            *draws = drawn.borrow().0.clone();
            let (address, keeper) = taken(&given, &layout, stream)?;
            // SAFETY: so says the array, and who owns it has put in order what makes it; the capsule keeps it
            Ok(unsafe { Placed::new(address, keeper) })
        })
    }
}
