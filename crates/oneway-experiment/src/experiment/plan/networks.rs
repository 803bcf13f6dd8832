//! The networks of a plan: each is made once, however many methods run on it.

use std::cell::{OnceCell, RefCell};
use std::sync::{Arc, OnceLock};

use anyhow::Result;
use oneway::graph::Topology;
use oneway::graph::topology::Subgraph;

use super::super::links::Links;
use super::super::spec::TopologySpec;

/// A network, and the hashes of R and C once somebody has asked for them.
#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) topology: Arc<Topology>,
    pub(super) mixing_sha256: Arc<OnceLock<[String; 2]>>,
}

impl Shared {
    fn new(topology: Arc<Topology>) -> Self {
        Self { topology, mixing_sha256: Arc::default() }
    }
}

/// What methods use of one topology of the file.
pub(super) struct Networks<'s> {
    pub(super) spec: &'s TopologySpec,
    links: Links,
    made: RefCell<Vec<(Subgraph, Shared)>>,
}

impl<'s> Networks<'s> {
    pub(super) fn new(spec: &'s TopologySpec, links: Links) -> Self {
        Self { spec, links, made: RefCell::default() }
    }

    /// The network of methods that use `graph` of the links.
    pub(super) fn of(&self, graph: Subgraph) -> Result<Shared> {
        let known =
            self.made.borrow().iter().find(|(of, _)| *of == graph).map(|(_, network)| network.clone());
        if let Some(known) = known {
            return Ok(known);
        }
        let network = Shared::new(self.links.topology(self.spec, graph)?);
        self.made.borrow_mut().push((graph, network.clone()));
        Ok(network)
    }
}

/// The network of centralised methods, on any topology.
pub(super) fn complete(made: &OnceCell<Shared>, agents: usize) -> Result<Shared> {
    if let Some(known) = made.get() {
        return Ok(known.clone());
    }
    let network = Shared::new(Arc::new(Topology::complete(agents)?));
    Ok(made.get_or_init(|| network).clone())
}
