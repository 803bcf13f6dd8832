//! A method that is tested, and where it runs.

use super::networks::{balanced, lazy, networks, π_moves};
use super::{CHECKS, Report};
use crate::Result;
use crate::graph::topology::{Subgraph, Topology, Weights};
use crate::graph::{Digraph, Network};
use crate::method::{Method, Reliance, Traced};
use crate::methods::Kind;

/// A method that is tested, and what is expected of it. [`Subject::new`] expects what most methods do; the
/// fields say more.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// Its registry entry.
    pub kind: &'a Kind,
    /// The method itself, where it is data and not what the entry makes.
    pub traced: Option<&'a Traced>,
    /// The effective step of its runs: x̄ moves by this times the mean gradient. 0.02, which the long cycles
    /// of the table allow gradient tracking.
    pub step: f64,
    /// Whether it finds the minimiser to rounding, with a constant step and exact gradients. If `None`: where
    /// its profile names a tracker, or everyone hears everyone. A method that does not has to come near.
    pub exact: Option<bool>,
    /// Whether a step that is far too long makes it diverge. It does not where gradients are divided by their
    /// own size.
    pub diverges: bool,
    /// Whether it gets (I + W)/2 in place of W, where it needs one W whose eigenvalues are not too low.
    pub lazy_weights: bool,
}

/// A method on a network of the table.
#[derive(Debug)]
pub struct Case {
    /// Method, subgraph and network, in words.
    pub name: String,
    /// The method, with its default parameters.
    pub method: Box<dyn Method>,
    /// Its weights.
    pub topology: Topology,
    /// Its raw step size.
    pub η: f64,
}

impl<'a> Subject<'a> {
    /// A method of which nothing special is known.
    pub fn new(kind: &'a Kind) -> Self {
        Self { kind, traced: None, step: 0.02, exact: None, diverges: true, lazy_weights: false }
    }

    /// A method of this library, with what is known of it.
    pub fn builtin(kind: &'a Kind) -> Self {
        let subject = Self::new(kind);
        match kind.name {
            "d2" => Self { lazy_weights: true, ..subject }, // for no eigenvalue below −1/3
            "adam" => Self { exact: Some(false), diverges: false, ..subject },
            "adamdos" => Self { diverges: false, ..subject },
            _ => subject,
        }
    }

    /// Runs every check.
    pub fn conformance(&self) -> Report {
        let found = CHECKS.iter().map(|check| (check, check.run(self))).collect();
        Report { method: self.kind.name.to_owned(), found }
    }

    /// The method, with its default parameters.
    pub fn method(&self) -> Result<Box<dyn Method>> {
        match self.traced {
            Some(traced) => Ok(Box::new(traced.clone())),
            None => self.kind.method([]),
        }
    }

    /// The topology that the method gets on the digraphs of a period.
    pub fn topology(&self, graph: Subgraph, digraphs: &[Digraph], root: usize) -> Result<Topology> {
        match self.method()?.network() {
            Network::Central => Topology::complete(digraphs.first().map_or(0, Digraph::agents)),
            Network::Balanced | Network::Undirected => {
                let balanced = balanced(digraphs)?;
                if self.lazy_weights { lazy(&balanced) } else { Ok(balanced) }
            }
            _ => Topology::from_digraphs(digraphs, graph, Weights::Uniform, root),
        }
    }

    /// A raw step that moves the average by `effective` times the mean gradient in the long run, momentum of
    /// any kind included. Parameters that are called `heavy_ball`, `nesterov` and `local_steps` are known.
    pub fn raw_step(&self, topology: &Topology, effective: f64) -> Result<f64> {
        let default = |name: &str| self.kind.parameters.iter().find(|p| p.name == name)?.default;
        let rolling: f64 = ["heavy_ball", "nesterov"].into_iter().filter_map(default).sum();
        let divisor = self.method()?.step_divisor(topology)?;
        Ok(effective * (1.0 - rolling) / (divisor * default("local_steps").unwrap_or(1.0)))
    }

    /// The networks of the table that the method is made for, on each subgraph that it may use, with the
    /// digraphs of a period.
    pub fn networks(&self) -> Result<Vec<(Subgraph, &'static str, Vec<Digraph>)>> {
        let method = self.method()?;
        // copies are kept, and corrections made, on digraphs that do not change
        let may_change = !method.keeps_copies() && method.reliance() == Reliance::Nothing;
        let mut fitting = vec![];
        for &graph in self.kind.graphs {
            for (name, digraphs) in networks()? {
                // trees are cut from fixed digraphs; pull-only methods need a π_R that does not move
                let changes = digraphs.len() > 1 && (graph != Subgraph::Full || !may_change);
                if changes || method.network() == Network::PullOnly && π_moves(name) {
                    continue;
                }
                if method.check_network(&self.topology(graph, &digraphs, 0)?).is_ok() {
                    fitting.push((graph, name, digraphs));
                }
            }
        }
        Ok(fitting)
    }

    /// The method on each of them, with agent 4 at the root of trees.
    pub fn cases(&self) -> Result<Vec<Case>> {
        let case = |(graph, name, digraphs): (Subgraph, &str, Vec<Digraph>)| {
            let topology = self.topology(graph, &digraphs, 4)?;
            let η = self.raw_step(&topology, self.step)?;
            let name = format!("{} ({graph:?}) on {name}", self.kind.name);
            Ok(Case { name, method: self.method()?, topology, η })
        };
        self.networks()?.into_iter().map(case).collect()
    }
}
