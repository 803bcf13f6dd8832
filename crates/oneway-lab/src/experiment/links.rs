//! A topology's links, before a method chooses which of them to use.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result, bail};
use oneway::graph::Digraph;
use oneway::graph::file::{self, EdgeList};
use oneway::mixing::Stochastic;
use oneway::topology::{Subgraph, Topology, Weights};

use super::spec::{LinksSpec, TopologySpec};

/// A topology's links, before a method chooses which of them to use.
#[derive(Debug)]
pub(crate) enum Links {
    /// One digraph for each round of the period, weights to be chosen.
    Digraphs(Vec<Digraph>),
    /// R and C as given.
    Explicit(Arc<Topology>),
}

impl Links {
    /// Makes or reads the links. A family must be told how many agents there are; a file of links says so itself, if need be.
    pub(crate) fn build(spec: &TopologySpec, agents: Option<usize>) -> Result<Self> {
        if let Some(agents) = agents {
            check_root(spec.root, agents)?;
        }
        let links = match &spec.links {
            LinksSpec::Family { family, parameters } => {
                let agents = agents.context("`agents` is missing: how many there are")?;
                Links::Digraphs((family.build)(agents, parameters, spec.seed)?)
            }
            LinksSpec::File(path) => {
                let list = file::read(path, agents)?;
                match list.weights {
                    Some(_) => Self::explicit((path, &list), (path, &list))?,
                    None => Links::Digraphs(vec![list.digraph()?]),
                }
            }
            LinksSpec::Matrices { pull, push } => {
                let [r, c] = [pull, push].map(|path| file::read(path, agents));
                Self::explicit((pull, &r?), (push, &c?))?
            }
        };
        check_root(spec.root, links.agents())?;
        Ok(links)
    }

    /// Number of agents.
    pub(crate) fn agents(&self) -> usize {
        match self {
            Links::Digraphs(digraphs) => digraphs.first().map_or(0, Digraph::agents),
            Links::Explicit(topology) => topology.agents(),
        }
    }

    /// Whether trees can be cut from them: from one digraph whose weights are to be chosen.
    pub(crate) fn have_trees(&self) -> bool {
        matches!(self, Links::Digraphs(digraphs) if digraphs.len() == 1)
    }

    /// R and C as two edge lists have them; which file is which helps whoever mixed them up.
    fn explicit(pull: (&Path, &EdgeList), push: (&Path, &EdgeList)) -> Result<Self> {
        let matrix = |(path, list): (&Path, &EdgeList), stochastic, name| {
            list.to_mixing(stochastic).with_context(|| format!("{} as {name}", path.display()))
        };
        let pull = matrix(pull, Stochastic::Rows, "R (pull)")?;
        let push = matrix(push, Stochastic::Columns, "C (push)")?;
        Ok(Links::Explicit(Arc::new(Topology::fixed(pull, push)?)))
    }

    /// The topology that a method gets which uses `graph` of these links.
    pub(crate) fn topology(&self, spec: &TopologySpec, graph: Subgraph) -> Result<Arc<Topology>> {
        match self {
            Links::Digraphs(digraphs) => {
                Ok(Arc::new(Topology::of(digraphs, graph, spec.weights, spec.root)?))
            }
            Links::Explicit(_) if graph != Subgraph::Full || spec.weights != Weights::Uniform => {
                bail!("its weights are given link by link: `graph` must be \"full\" and `weights` left out")
            }
            Links::Explicit(topology) => Ok(Arc::clone(topology)),
        }
    }
}

fn check_root(root: usize, agents: usize) -> Result<()> {
    if root >= agents && agents > 0 {
        bail!("`root` = {root} is not possible: with {agents} agents the ids are 0 to {}", agents - 1);
    }
    Ok(())
}
