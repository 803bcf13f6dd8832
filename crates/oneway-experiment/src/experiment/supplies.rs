//! What a program gives an experiment in memory, where a file would name it.
//!
//! In the settings `supplied = "name"` stands in place of `kind`, in `[problem]`, in a `[[topology]]` or in a
//! `[[method]]`. So what comes from elsewhere is checked, planned, run, tuned and written as everything else
//! is.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use oneway::data::Dataset;
use oneway::graph::topology::Subgraph;
use oneway::method::Method;
use oneway::methods::{Kind, Trust};

use super::links::Links;
use super::problem::BuiltProblem;

/// Problems, datasets, networks and methods by name.
#[derive(Debug, Default)]
pub struct Supplies {
    /// What is minimised.
    pub problems: HashMap<String, Arc<BuiltProblem>>,
    /// Rows of data, for `dataset` and `test` = "supplied:name".
    pub datasets: HashMap<String, Arc<Dataset>>,
    /// Links of networks.
    pub links: HashMap<String, Links>,
    /// Methods.
    pub methods: HashMap<String, SuppliedMethod>,
}

/// A method that is given in memory.
#[derive(Clone)]
pub struct SuppliedMethod {
    /// Makes it.
    pub make: Arc<dyn Fn() -> Box<dyn Method> + Send + Sync>,
    /// A text that no other method has.
    pub identity: String,
}

impl fmt::Debug for SuppliedMethod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SuppliedMethod").field("identity", &self.identity).finish_non_exhaustive()
    }
}

/// The kind of a supplied method: no parameters, and all subgraphs.
pub(crate) static SUPPLIED: Kind = Kind {
    name: "supplied",
    about: "given in memory",
    alters: None,
    reference: "",
    trust: Trust::C,
    graphs: &[Subgraph::Full, Subgraph::Trees, Subgraph::LazyTrees],
    parameters: &[],
    build: |_| {
        Err(oneway::Error::parameter(
            "method",
            "supplied",
            "it",
            "only the program that supplies it can make it",
        ))
    },
    with_estimator: None,
};

impl Supplies {
    /// The problem of this name, for a number of agents.
    pub(crate) fn problem(&self, name: &str, agents: usize) -> Result<Arc<BuiltProblem>> {
        let problem = self.problems.get(name).ok_or_else(|| missing("problem", name))?;
        match problem.problem.agents() {
            own if own == agents => Ok(Arc::clone(problem)),
            own => bail!("problem: it is for {own} agents, and `run.agents` = {agents}"),
        }
    }

    /// The links of this name.
    pub(crate) fn links(&self, name: &str, agents: Option<usize>) -> Result<Links> {
        let links = self.links.get(name).ok_or_else(|| missing("topology", name))?;
        match agents {
            Some(agents) if links.agents() != agents => {
                bail!("it has {} agents, and `run.agents` = {agents}", links.agents())
            }
            _ => Ok(links.clone()),
        }
    }

    /// The method of this name.
    pub(crate) fn method(&self, name: &str) -> Result<&SuppliedMethod> {
        self.methods.get(name).ok_or_else(|| missing("method", name)).context("supplied")
    }
}

fn missing(what: &str, name: &str) -> anyhow::Error {
    anyhow!(
        "{what}: `supplied` = \"{name}\": only the program that made it can run it again, for it is in no file"
    )
}
