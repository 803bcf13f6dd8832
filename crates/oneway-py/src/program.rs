//! A method's programs for Python: what its rule does to one coordinate, step by step, as plain tuples, and
//! the same as CUDA C. Whoever runs them on tensors runs the rule itself.

use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use std::sync::Arc;

use oneway::data::partition::Partition;
use oneway::graph::Topology;
use oneway::method::{Ask, Carries, Method as _, Network as Kind, OfRound, Sizes};
use oneway::numeric::sample::{Draws, Purpose, derive_seed};
use oneway::numeric::{Instruction, Program};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};

use crate::errors::of_library;
use crate::method::Method;
use crate::network::{Network, Triples, triples};

/// What a method's rule is: the letters of its state, what travels, what it asks, and its programs.
///
/// A program is a list of steps (name, operand, …) and the list of the steps that are its results. Its inputs
/// are η, w, C_ii and the two numbers of the round; then x₀, g and the other gradient (`start`), the state
/// (`send`), the state and what is heard (`points`), or these, g and the other gradient (`update`).
#[pyfunction]
pub(crate) fn program<'py>(py: Python<'py>, method: &Bound<'_, Method>) -> PyResult<Bound<'py, PyDict>> {
    let method = &method.get().0;
    let trace = method.trace().ok_or_else(|| PyValueError::new_err("the method has no programs"))?;
    let profile = method.profile(SMALLEST);
    let fields = PyDict::new(py);
    fields.set_item("name", method.name())?;
    fields.set_item("network", network_name(trace.network))?;
    fields.set_item(
        "carries",
        match trace.carries {
            Carries::Nothing => "nothing",
            Carries::Weight => "weight",
            Carries::Eigenvector => "eigenvector",
        },
    )?;
    fields.set_item("letters", &trace.names)?;
    fields.set_item("sends", trace.sends)?;
    fields.set_item("tracker", profile.roles.tracker)?;
    fields.set_item("momentum", profile.roles.momentum)?;
    fields.set_item("conserved", profile.roles.conserved)?;
    let of_round = |constant: OfRound| match constant {
        OfRound::Zero => ("zero", 0.0),
        OfRound::Count => ("count", 0.0),
        OfRound::Power(β) => ("power", β),
        OfRound::OneMinusPower(β) => ("one-minus-power", β),
    };
    fields.set_item("constants", trace.constants.map(of_round).to_vec())?;
    fields.set_item("start_asks", asked(trace.start_ask))?;
    fields.set_item("start", steps(py, &trace.start)?)?;
    let exchanges = PyList::empty(py);
    for (traced, exchange) in trace.exchanges.iter().zip(&profile.exchanges) {
        let one = PyDict::new(py);
        one.set_item("sends", exchange.sends)?;
        one.set_item("asks", asked(traced.ask))?;
        one.set_item("send", steps(py, &traced.send)?)?;
        one.set_item("points", steps(py, &traced.points)?)?;
        one.set_item("update", steps(py, &traced.update)?)?;
        exchanges.append(one)?;
    }
    fields.set_item("exchanges", exchanges)?;
    let printed = oneway_cuda::print::print(&trace);
    fields.set_item("cuda", (printed.text, printed.parameters))?;
    Ok(fields)
}

/// Sizes for what does not depend on them.
const SMALLEST: Sizes = Sizes { agents: 1, dim: 1, samples: None };

fn network_name(network: Kind) -> &'static str {
    match network {
        Kind::PushPull => "push-pull",
        Kind::PullOnly => "pull",
        Kind::PushSum => "push-sum",
        Kind::Balanced => "balanced",
        Kind::Undirected => "undirected",
        Kind::Central => "central",
    }
}

/// What is asked, and how many samples.
fn asked(ask: Ask) -> (&'static str, usize) {
    match ask {
        Ask::Nothing => ("nothing", 0),
        Ask::Samples(count) => ("samples", count),
        Ask::BothPoints => ("both", 1),
        Ask::Component | Ask::AllComponents => ("components", 0),
    }
}

type Steps<'py> = (Bound<'py, PyList>, Vec<usize>);

fn steps<'py>(py: Python<'py>, program: &Program) -> PyResult<Steps<'py>> {
    let program = program.reduced();
    let list = PyList::empty(py);
    let mut inputs = 0_usize;
    for instruction in &program.instructions {
        let two = |name: &str, a: usize, b: usize| (name, a, b).into_pyobject(py);
        let step: Bound<'py, PyTuple> = match *instruction {
            Instruction::Input(_) => {
                inputs += 1;
                ("input", inputs - 1).into_pyobject(py)?
            }
            Instruction::Constant(value) => ("number", value).into_pyobject(py)?,
            Instruction::Parameter(name, value) => ("number", value, name).into_pyobject(py)?,
            Instruction::Add(a, b) => two("add", a.index(), b.index())?,
            Instruction::Sub(a, b) => two("sub", a.index(), b.index())?,
            Instruction::Mul(a, b) => two("mul", a.index(), b.index())?,
            Instruction::Div(a, b) => two("div", a.index(), b.index())?,
            Instruction::Sqrt(a) => ("sqrt", a.index()).into_pyobject(py)?,
            Instruction::IfPositive(a, b, c) => {
                ("if-positive", a.index(), b.index(), c.index()).into_pyobject(py)?
            }
        };
        list.append(step)?;
    }
    Ok((list, program.results.iter().map(|symbol| symbol.index()).collect()))
}

/// R and C of each round of the period for a method, once the network has what the method needs, and the
/// number by which an effective step is divided.
#[pyfunction]
#[pyo3(signature = (method, network, graph = "full", weights = "uniform", root = 0))]
#[allow(clippy::type_complexity)] // Python's tuples
pub(crate) fn network_of<'py>(
    py: Python<'py>,
    method: &Bound<'_, Method>,
    network: &Bound<'_, Network>,
    graph: &str,
    weights: &str,
    root: usize,
) -> PyResult<(Vec<(Triples<'py>, Triples<'py>)>, f64)> {
    let method = &method.get().0;
    let kind = method.profile(SMALLEST).network;
    let topology = match kind {
        Kind::Central => Arc::new(Topology::complete(network.get().agents()).map_err(of_library)?),
        _ => network.get().topology(graph, weights, root)?,
    };
    topology.check(kind).map_err(of_library)?;
    let divisor = method.step_divisor(&topology).map_err(of_library)?;
    let pairs = topology.period().iter().map(|pair| (triples(py, &pair.pull), triples(py, &pair.push)));
    Ok((pairs.collect(), divisor))
}

/// The draws of gradients in a round and an exchange: what `run` with this seed gives to a gradient. For each
/// agent, after those of earlier calls in the exchange are skipped, `size` whole numbers below its bound.
#[pyfunction]
#[pyo3(signature = (seed, round, bounds, size, phase = 0, skip = 0, first = 0))]
#[allow(clippy::too_many_arguments)] // keyword arguments, from one place
pub(crate) fn sample_rows<'py>(
    py: Python<'py>,
    seed: u64,
    round: u64,
    bounds: Vec<usize>,
    size: usize,
    phase: u32,
    skip: usize,
    first: usize,
) -> PyResult<Bound<'py, PyArray2<i64>>> {
    if bounds.contains(&0) {
        return Err(PyValueError::new_err("an agent has no rows to draw from"));
    }
    let seed = derive_seed(seed, 0);
    let row = |(agent, &bound): (usize, &usize)| {
        let mut draws = Draws::new(seed, Purpose::Gradient, first + agent, round).in_phase(phase);
        for _ in 0..skip {
            draws.bits();
        }
        (0..size).map(|_| draws.below(bound) as i64).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<i64>> = bounds.iter().enumerate().map(row).collect();
    Ok(PyArray2::from_vec2(py, &rows)?)
}

/// 64 bits of a round, for a framework's own generator: other draws than those of gradients.
#[pyfunction]
#[pyo3(signature = (seed, round, agent = 0))]
pub(crate) fn noise_bits(seed: u64, round: u64, agent: usize) -> u64 {
    Draws::new(derive_seed(seed, 0), Purpose::Noise, agent, round).bits()
}

/// The rows of each agent.
#[pyfunction]
#[pyo3(signature = (labels, agents, kind, alpha = 1.0, seed = 1))]
pub(crate) fn partition<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, f64>,
    agents: usize,
    kind: &str,
    alpha: f64,
    seed: u64,
) -> PyResult<Vec<Bound<'py, PyArray1<i64>>>> {
    let known = [
        ("even", Partition::Even),
        ("shuffled", Partition::Shuffled),
        ("by-class", Partition::ByLabel),
        ("dirichlet", Partition::Dirichlet(alpha)),
    ];
    let found = known.iter().find(|(name, _)| *name == kind);
    let names = known.iter().map(|(name, _)| *name);
    let rule = found.ok_or_else(|| of_library(oneway::Error::unknown("partition", kind, names)))?.1;
    let labels: Vec<f64> = labels.as_array().iter().copied().collect();
    let shards = rule.split(&labels, agents, seed).map_err(of_library)?;
    Ok(shards.into_iter().map(|rows| PyArray1::from_iter(py, rows.iter().map(|row| *row as i64))).collect())
}
