//! Methods that are written in Python: their arithmetic is recorded once, by numbers that remember what was
//! done to them, and runs here.

use std::sync::{Mutex, MutexGuard, PoisonError};

use oneway::method::{
    Ask, Carries, DefinedExchange, Definition, Expression, Expressions, Input, Method as _, Network as Kind,
    OfRound, Reliance, Roles, Traced,
};
use oneway::registry;
use oneway::theory::stability;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::errors::of_library;
use crate::network::Network;

/// The expressions of a method while it is recorded.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Recording {
    expressions: Mutex<Expressions>,
    names: Vec<String>,
    sends: [usize; 2],
}

/// A number of a method while it is recorded.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Symbol {
    recording: Py<Recording>,
    at: Expression,
}

impl Recording {
    fn lock(&self) -> MutexGuard<'_, Expressions> {
        self.expressions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn places(&self, symbols: &[Bound<'_, Symbol>]) -> Vec<Expression> {
        symbols.iter().map(|symbol| symbol.get().at).collect()
    }
}

#[pymethods]
impl Recording {
    /// Of a method whose state has these letters; `sends` is how many numbers of a coordinate it sends on
    /// each graph.
    #[new]
    fn new(method: &str, names: Vec<String>, sends: [usize; 2]) -> PyResult<Self> {
        let letters: Vec<&str> = names.iter().map(String::as_str).collect();
        let expressions = Expressions::new(method, &letters, sends, [OfRound::Count, OfRound::Zero]);
        Ok(Self { expressions: Mutex::new(expressions.map_err(of_library)?), names, sends })
    }

    /// A number that is given.
    #[pyo3(signature = (what, index = 0))]
    fn input(slf: &Bound<'_, Self>, what: &str, index: usize) -> PyResult<Symbol> {
        let input = match what {
            "step" => Input::Step,
            "weight" => Input::Weight,
            "kept" => Input::Kept,
            "round" => Input::OfRound(0),
            "start" => Input::Start,
            "state" => Input::State(index),
            "pulled" => Input::Pulled(index),
            "pushed" => Input::Pushed(index),
            "gradient" => Input::Gradient,
            "other" => Input::OtherGradient,
            _ => return Err(PyValueError::new_err(format!("there is no input {what}"))),
        };
        let at = slf.get().lock().input(input).map_err(of_library)?;
        Ok(Symbol { recording: slf.clone().unbind(), at })
    }

    /// A number with a letter of its own in print.
    fn parameter(slf: &Bound<'_, Self>, name: &str, value: f64) -> PyResult<Symbol> {
        let at = slf.get().lock().parameter(name, value).map_err(of_library)?;
        Ok(Symbol { recording: slf.clone().unbind(), at })
    }

    /// A number that is the same everywhere.
    fn constant(slf: &Bound<'_, Self>, value: f64) -> PyResult<Symbol> {
        let at = slf.get().lock().constant(value).map_err(of_library)?;
        Ok(Symbol { recording: slf.clone().unbind(), at })
    }
}

/// What stands beside a symbol: another one, or a number.
#[derive(FromPyObject)]
enum Operand<'py> {
    Symbol(Bound<'py, Symbol>),
    Number(f64),
}

/// Makes an expression of two.
type Two = fn(&mut Expressions, Expression, Expression) -> oneway::Result<Expression>;

impl Symbol {
    fn with(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Expressions) -> oneway::Result<Expression>,
    ) -> PyResult<Self> {
        let at = work(&mut self.recording.get().lock()).map_err(of_library)?;
        Ok(Self { recording: self.recording.clone_ref(py), at })
    }

    fn two(&self, py: Python<'_>, other: &Operand<'_>, turned: bool, work: Two) -> PyResult<Self> {
        self.with(py, |of| {
            let other = match other {
                Operand::Symbol(symbol) => symbol.get().at,
                Operand::Number(value) => of.constant(*value)?,
            };
            if turned { work(of, other, self.at) } else { work(of, self.at, other) }
        })
    }
}

#[pymethods]
impl Symbol {
    /// NumPy's numbers leave arithmetic with symbols to the symbols.
    #[classattr]
    #[allow(non_upper_case_globals)] // Python's name for it
    const __array_ufunc__: Option<f64> = None;

    fn __add__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, false, Expressions::add)
    }

    fn __radd__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, true, Expressions::add)
    }

    fn __sub__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, false, Expressions::sub)
    }

    fn __rsub__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, true, Expressions::sub)
    }

    fn __mul__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, false, Expressions::mul)
    }

    fn __rmul__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, true, Expressions::mul)
    }

    fn __truediv__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, false, Expressions::div)
    }

    fn __rtruediv__(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, true, Expressions::div)
    }

    fn __neg__(&self, py: Python<'_>) -> PyResult<Self> {
        self.two(py, &Operand::Number(-1.0), true, Expressions::mul)
    }

    fn __pos__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    fn __abs__(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |of| of.abs(self.at))
    }

    fn __pow__(&self, py: Python<'_>, power: i64, modulo: Option<i64>) -> PyResult<Self> {
        /// Higher ones are a slip of the keyboard.
        const MOST: i64 = 16;
        match (power, modulo) {
            (1..=MOST, None) => {
                self.with(py, |of| (1..power).try_fold(self.at, |product, _| of.mul(product, self.at)))
            }
            _ => Err(PyValueError::new_err(format!(
                "a method can raise its numbers to the whole powers from 1 to {MOST}"
            ))),
        }
    }

    fn sqrt(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |of| of.sqrt(self.at))
    }

    fn sign(&self, py: Python<'_>) -> PyResult<Self> {
        self.with(py, |of| of.sign(self.at))
    }

    fn maximum(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, false, Expressions::max)
    }

    fn minimum(&self, py: Python<'_>, other: Operand<'_>) -> PyResult<Self> {
        self.two(py, &other, false, Expressions::min)
    }

    /// `then` where it is above 0, else `otherwise`.
    fn if_positive(&self, py: Python<'_>, then: Operand<'_>, otherwise: Operand<'_>) -> PyResult<Self> {
        self.with(py, |of| {
            let mut place = |operand: &Operand<'_>| match operand {
                Operand::Symbol(symbol) => Ok(symbol.get().at),
                Operand::Number(value) => of.constant(*value),
            };
            let (then, otherwise) = (place(&then)?, place(&otherwise)?);
            of.if_positive(self.at, then, otherwise)
        })
    }

    fn __bool__(&self) -> PyResult<bool> {
        Err(PyTypeError::new_err(
            "a method is recorded once for all numbers, so it cannot ask which one it has: choose with ow.if_positive(a, then, otherwise)",
        ))
    }

    fn __repr__(&self) -> &'static str {
        "<a number of the method, while it is recorded>"
    }
}

/// The programs of one exchange: pull, push, points, update.
type GivenExchange<'py> =
    (Vec<Bound<'py, Symbol>>, Vec<Bound<'py, Symbol>>, [Bound<'py, Symbol>; 2], Vec<Bound<'py, Symbol>>);

/// A method, ready to run.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Method(pub(crate) Traced);

#[pymethods]
impl Method {
    /// What was recorded, with what engines have to know of it.
    #[staticmethod]
    #[allow(clippy::too_many_arguments)] // keyword arguments, from one place
    #[pyo3(signature = (recording, name, network, carries_weight, asks, start, exchanges, tracker = None, tracked = None, momentum = None, conserved = None))]
    fn define(
        recording: &Bound<'_, Recording>,
        name: String,
        network: &str,
        carries_weight: bool,
        asks: [String; 2],
        start: Vec<Bound<'_, Symbol>>,
        exchanges: Vec<GivenExchange<'_>>,
        tracker: Option<String>,
        tracked: Option<String>,
        momentum: Option<String>,
        conserved: Option<String>,
    ) -> PyResult<Self> {
        let networks = [
            ("push-pull", Kind::PushPull),
            ("pull", Kind::PullOnly),
            ("push-sum", Kind::PushSum),
            ("balanced", Kind::Balanced),
            ("central", Kind::Central),
        ];
        let found = networks.iter().find(|(known, _)| *known == network);
        let names = networks.iter().map(|(known, _)| *known);
        let network = found.ok_or_else(|| of_library(oneway::Error::unknown("network", network, names)))?.1;
        let this = recording.get();
        let number = |letter: Option<String>| {
            let Some(letter) = letter else { return Ok(None) };
            let at = this.names.iter().position(|name| *name == letter);
            at.map(Some).ok_or_else(|| {
                PyValueError::new_err(format!("the state has no \"{letter}\": {:?}", this.names))
            })
        };
        let [start_ask, ask] = [ask(&asks[0])?, ask(&asks[1])?];
        let pushes = this.sends[1] > 0;
        let (tracker, conserved) = (number(tracker)?, number(conserved)?);
        let roles = Roles {
            tracker_sent: tracker.and(pushes.then_some(this.sends[1] - 1)),
            conserved_sent: conserved.and(pushes.then_some(0)),
            tracker,
            tracked: number(tracked)?,
            momentum: number(momentum)?,
            conserved,
            weight: carries_weight.then_some(0),
        };
        let of = this.lock();
        let define = || {
            let exchange = |(pull, push, points, update): &GivenExchange<'_>| {
                Ok(DefinedExchange {
                    sends: [true; 2],
                    ask,
                    send: of.send(&this.places(pull), &this.places(push))?,
                    points: of.points([points[0].get().at, points[1].get().at])?,
                    update: of.update(&this.places(update))?,
                })
            };
            Traced::new(Definition {
                name,
                network,
                carries: if carries_weight { Carries::Weight } else { Carries::Nothing },
                names: this.names.clone(),
                sends: this.sends,
                roles,
                reliance: Reliance::Nothing,
                constants: [OfRound::Count, OfRound::Zero],
                start_ask,
                start: of.start(&this.places(&start))?,
                exchanges: exchanges.iter().map(exchange).collect::<oneway::Result<_>>()?,
            })
        };
        Ok(Self(define().map_err(of_library)?))
    }

    /// Its equations, in print.
    fn equations(&self) -> Vec<String> {
        self.0.trace().map(|trace| trace.equations()).unwrap_or_default()
    }
}

fn ask(name: &str) -> PyResult<Ask> {
    match name {
        "nothing" => Ok(Ask::Nothing),
        "one" => Ok(Ask::ONE),
        "both" => Ok(Ask::BothPoints),
        other => Err(of_library(oneway::Error::unknown("gradients", other, ["nothing", "one", "both"]))),
    }
}

/// The largest stable step of a method on a network, times the curvature: as the method takes it, and as the
/// average does.
#[pyfunction]
#[pyo3(signature = (method, network, graph = "full", weights = "uniform", root = 0))]
pub(crate) fn stability_limit(
    py: Python<'_>,
    method: &Bound<'_, Method>,
    network: &Bound<'_, Network>,
    graph: &str,
    weights: &str,
    root: usize,
) -> PyResult<(f64, f64)> {
    let topology = network.get().topology(graph, weights, root)?;
    let method = &method.get().0;
    let limit = py.detach(|| {
        topology.check(method.profile(oneway::method::Sizes { agents: 1, dim: 1, samples: None }).network)?;
        stability::limit(method, &topology)
    });
    limit.map(|limit| (limit.raw, limit.effective)).map_err(of_library)
}

/// A method of the registry that is coordinate by coordinate, as one that was recorded.
#[pyfunction]
pub(crate) fn builtin(kind: &str, parameters: std::collections::HashMap<String, f64>) -> PyResult<Method> {
    let build = || {
        let kind = registry::installed().method(kind)?;
        let given = parameters.iter().map(|(name, value)| (name.as_str(), *value));
        Traced::from_method(kind.name, &*kind.method(given)?)
    };
    Ok(Method(build().map_err(of_library)?))
}
