//! Networks: made by a family, or from links and weights that Python has.

use std::collections::HashMap;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use oneway::graph::Digraph;
use oneway::graph::mixing::{Link, Mixing, Stochastic};
use oneway::graph::topology::{Pair, Subgraph, Topology, Weights};
use oneway::parameters::Parameters;
use oneway::registry;
use oneway_experiment::links::Links;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::{exception, of_library};

/// Who hears whom, for each round of a period.
#[pyclass(frozen, module = "oneway._native")]
#[derive(Debug)]
pub(crate) struct Network(pub(crate) Links);

/// The links of a matrix: from, to, weight.
pub(crate) type Triples<'py> =
    (Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<f64>>);

/// The same, given.
type GivenTriples<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, f64>);

#[pymethods]
impl Network {
    /// A family of `oneway topologies`.
    #[staticmethod]
    #[pyo3(signature = (kind, agents, parameters, seed = 1))]
    fn family(kind: &str, agents: usize, parameters: HashMap<String, f64>, seed: u64) -> PyResult<Self> {
        let build = || {
            let family = registry::installed().family(kind)?;
            let parameters = Parameters::new(family.name, family.parameters, parameters)?;
            (family.build)(agents, &parameters, seed)
        };
        Ok(Self(Links::Digraphs(build().map_err(of_library)?)))
    }

    /// From links (from, to), one list for each round of the period; weights are chosen later.
    #[staticmethod]
    fn from_edges(agents: usize, periods: Vec<Vec<(usize, usize)>>) -> PyResult<Self> {
        if periods.is_empty() {
            return Err(PyValueError::new_err("a network has links for one round at least"));
        }
        let graphs = periods.into_iter().map(|edges| Digraph::from_edges(agents, edges));
        Ok(Self(Links::Digraphs(graphs.collect::<oneway::Result<_>>().map_err(of_library)?)))
    }

    /// From links with weights, R and C of each round of the period: weight (from, to) is R or C at row `to`,
    /// column `from`.
    #[staticmethod]
    fn from_weights(agents: usize, periods: Vec<(GivenTriples<'_>, GivenTriples<'_>)>) -> PyResult<Self> {
        let mut period = vec![];
        for (pull, push) in &periods {
            let pull = mixing(agents, Stochastic::Rows, pull, "R (pull)")?;
            let push = mixing(agents, Stochastic::Columns, push, "C (push)")?;
            period.push(Pair { pull, push });
        }
        Ok(Self(Links::explicit(period).map_err(exception)?))
    }

    #[getter]
    pub(crate) fn agents(&self) -> usize {
        self.0.agents()
    }

    /// The links (from, to) between distinct agents, a list for each round of the period.
    fn edges(&self) -> PyResult<Vec<Vec<(usize, usize)>>> {
        match &self.0 {
            Links::Digraphs(graphs) => Ok(graphs.iter().map(|graph| graph.edges().collect()).collect()),
            Links::Explicit(topology) => {
                let edges = |pair: &Pair| {
                    let links = pair.pull.iter().chain(pair.push.iter());
                    let mut edges: Vec<_> =
                        links.filter(|link| link.from != link.to).map(|link| (link.from, link.to)).collect();
                    edges.sort_unstable();
                    edges.dedup();
                    edges
                };
                Ok(topology.period().iter().map(edges).collect())
            }
        }
    }

    /// The weights R and C that a method gets, for each round of the period.
    #[pyo3(signature = (graph = "full", weights = "uniform", root = 0))]
    fn weights<'py>(
        &self,
        py: Python<'py>,
        graph: &str,
        weights: &str,
        root: usize,
    ) -> PyResult<Vec<(Triples<'py>, Triples<'py>)>> {
        let topology = self.topology(graph, weights, root)?;
        let pair = |pair: &Pair| (triples(py, &pair.pull), triples(py, &pair.push));
        Ok(topology.period().iter().map(pair).collect())
    }
}

impl Network {
    /// The topology that a method gets.
    pub(crate) fn topology(&self, graph: &str, weights: &str, root: usize) -> PyResult<Arc<Topology>> {
        let named = Subgraph::NAMED;
        let known = named.iter().find(|(name, _)| *name == graph).map(|(_, graph)| *graph);
        let unknown = |what: &str, name: &str, known: &[&str]| {
            of_library(oneway::Error::unknown(what, name, known.iter().copied()))
        };
        let graph = known.ok_or_else(|| unknown("graph", graph, &named.map(|(name, _)| name)))?;
        let weights = match weights {
            "uniform" => Weights::Uniform,
            "metropolis" => Weights::Metropolis,
            other => return Err(unknown("weights", other, &["uniform", "metropolis"])),
        };
        match &self.0 {
            Links::Explicit(topology) if graph == Subgraph::Full => Ok(Arc::clone(topology)),
            Links::Explicit(_) => {
                Err(PyValueError::new_err("its weights are given link by link: graph must be \"full\""))
            }
            Links::Digraphs(graphs) => {
                if root >= self.0.agents() {
                    let agents = self.0.agents();
                    return Err(PyValueError::new_err(format!(
                        "root={root}: there are agents 0 to {}",
                        agents - 1
                    )));
                }
                Ok(Arc::new(Topology::from_digraphs(graphs, graph, weights, root).map_err(of_library)?))
            }
        }
    }
}

/// Its links, as Python takes them.
pub(crate) fn triples<'py>(py: Python<'py>, mixing: &Mixing) -> Triples<'py> {
    let links: Vec<Link> = match mixing.has_one_row() {
        true => {
            let (n, share) = (mixing.agents(), 1.0 / mixing.agents() as f64);
            (0..n * n).map(|at| Link { from: at % n, to: at / n, weight: share }).collect()
        }
        false => mixing.iter().collect(),
    };
    (
        PyArray1::from_iter(py, links.iter().map(|link| link.from as i64)),
        PyArray1::from_iter(py, links.iter().map(|link| link.to as i64)),
        PyArray1::from_iter(py, links.iter().map(|link| link.weight)),
    )
}

fn mixing(agents: usize, stochastic: Stochastic, given: &GivenTriples<'_>, name: &str) -> PyResult<Mixing> {
    let (from, to, weight) = (given.0.as_array(), given.1.as_array(), given.2.as_array());
    if from.len() != to.len() || from.len() != weight.len() {
        return Err(PyValueError::new_err(format!("{name}: there must be one weight for each link")));
    }
    let agent = |number: i64| {
        usize::try_from(number)
            .map_err(|_| PyValueError::new_err(format!("{name}: there is no agent {number}")))
    };
    let links = from.iter().zip(to).zip(weight);
    let links = links.map(|((&from, &to), &weight)| Ok(Link { from: agent(from)?, to: agent(to)?, weight }));
    let links = links.collect::<PyResult<Vec<_>>>()?;
    Mixing::new(agents, stochastic, links)
        .map_err(|error| exception(anyhow::Error::from(error).context(name.to_owned())))
}
