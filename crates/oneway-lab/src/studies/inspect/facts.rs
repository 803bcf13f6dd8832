//! Finds out what a topology can do.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::{Context, Result};
use oneway::Error;
use oneway::graph::mixing::Stochastic;
use oneway::graph::topology::{Pair, Stationary, Subgraph, Topology, Weights};
use oneway::graph::{Digraph, Tree, repair};
use oneway::method::{Method, Network as MethodNetwork};
use oneway::methods::Kind;
use oneway::theory::{averaging, stability};
use oneway_experiment::links::Links;
use oneway_experiment::spec::{LinksSpec, TopologySpec};
use oneway_experiment::supplies::Supplies;
use rayon::prelude::*;

use super::{Assumption, GraphFacts, Inspection, LimitFacts, RepairFacts, SubgraphFacts};
use crate::request::{Request, called};

/// With more agents than this, slow computations are left out.
const DIAMETER_AGENTS: usize = 5_000;
const PERRON_AGENTS: usize = 100_000;
const RADIUS_AGENTS: usize = 2_000;
const LIMIT_AGENTS: usize = 1_000;

/// A topology with its links made or read, and found possible: nothing that a user can get wrong is left.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) spec: TopologySpec,
    links: Links,
    full: Arc<Topology>,
}

impl Network {
    pub(crate) fn build(request: Request, supplies: &Supplies) -> Result<Self> {
        let Request { spec, agents } = request;
        let build = || {
            let links = Links::build(&spec, agents, supplies)?;
            let full = links.topology(&spec, Subgraph::Full)?;
            anyhow::Ok((links, full))
        };
        let (links, full) = build().with_context(|| called(&spec.name))?;
        Ok(Self { spec, links, full })
    }

    /// Number of agents.
    pub(crate) fn agents(&self) -> usize {
        self.full.agents()
    }

    /// Everything there is to say, and the steps that `methods` bear, with λ for those that have momentum.
    pub(crate) fn inspect(&self, methods: &[&'static Kind], λ: f64) -> Result<Inspection> {
        let mut skipped = vec![];
        let graphs = self.digraphs()?;
        let graphs = graphs.iter().map(|(name, graph)| graph_facts(name, graph, &mut skipped)).collect();
        let assumption_1 = self.assumption()?;
        let mut subgraphs = vec![];
        let mut limits = vec![];
        if assumption_1.holds {
            let used = self.subgraphs(true)?;
            for (graph, topology) in &used {
                subgraphs.extend(self.subgraph_facts(*graph, topology, &mut skipped)?);
            }
            limits = limit_facts(methods, &used, λ, &mut skipped)?;
        }
        let mut inspection = Inspection {
            topology: self.spec.name.clone(),
            parameters: match &self.spec.links {
                LinksSpec::Family { parameters, .. } => parameters.iter().collect(),
                LinksSpec::Files(_) | LinksSpec::Matrices { .. } | LinksSpec::Supplied(_) => BTreeMap::new(),
            },
            agents: self.agents(),
            names: Links::names(&self.spec)?,
            period: self.full.period().len(),
            weights: match (&self.links, self.spec.weights) {
                (Links::Explicit(_), _) => "given",
                (_, Weights::Uniform) => "uniform",
                (_, Weights::Metropolis) => "metropolis",
            },
            graphs,
            assumption_1,
            subgraphs,
            limits,
            skipped,
            advice: vec![],
            drawings: vec![],
        };
        inspection.advice = super::advice::advice(&inspection);
        Ok(inspection)
    }

    /// The links: one digraph, or where R and C were given apart, two. Links of all rounds count.
    pub(crate) fn digraphs(&self) -> Result<Vec<(&'static str, Cow<'_, Digraph>)>> {
        let of = |mixing| Digraph::from_mixing(mixing).map(Cow::Owned);
        Ok(match &self.links {
            Links::Digraphs(digraphs) => match &digraphs[..] {
                [one] => vec![("both", Cow::Borrowed(one))],
                all => {
                    let links = all.iter().flat_map(Digraph::edges);
                    vec![("both", Cow::Owned(Digraph::from_edges(self.agents(), links)?))]
                }
            },
            Links::Explicit(topology) => {
                let Pair { pull, push } = topology.at(0);
                match self.apart() {
                    false => vec![("both", of(pull)?)],
                    true => vec![("pull", of(pull)?), ("push", of(push)?)],
                }
            }
        })
    }

    /// Whether R and C were given apart.
    fn apart(&self) -> bool {
        matches!(self.spec.links, LinksSpec::Matrices { .. })
    }

    /// Assumption 1, and what repairs it.
    fn assumption(&self) -> Result<Assumption> {
        let failure = match self.full.check_common_root() {
            Ok(roots) => return Ok(Assumption { holds: true, roots, failure: None, repair: None }),
            Err(error @ (Error::NoCommonRoot(_) | Error::Periodic { .. })) => Some(error.to_string()),
            Err(other) => return Err(other).with_context(|| called(&self.spec.name)),
        };
        let repair = match self.full.period() {
            [Pair { pull, push }] => {
                let apart = self.apart();
                let fewest = if apart { repair::separate } else { repair::shared };
                Some(RepairFacts::new(fewest(pull, push)?, !apart))
            }
            _ => None,
        };
        Ok(Assumption { holds: false, roots: vec![], failure, repair })
    }

    /// The sets of links that a method can choose from; only if there is a common root there are trees among
    /// them.
    pub(crate) fn subgraphs(&self, common_root: bool) -> Result<Vec<(Subgraph, Arc<Topology>)>> {
        let mut all = vec![(Subgraph::Full, Arc::clone(&self.full))];
        if common_root && self.links.have_trees() {
            for graph in [Subgraph::Trees, Subgraph::LazyTrees] {
                all.push((graph, self.links.topology(&self.spec, graph)?));
            }
        }
        Ok(all)
    }

    /// How a set of links averages; none if it is too dear to find out.
    fn subgraph_facts(
        &self,
        graph: Subgraph,
        topology: &Topology,
        skipped: &mut Vec<String>,
    ) -> Result<Option<SubgraphFacts>> {
        if self.agents() > PERRON_AGENTS {
            note(skipped, format!("π_R, π_C and c_π: there are more than {PERRON_AGENTS} agents"));
            return Ok(None);
        }
        let stationary = match topology.stationary(0) {
            Ok(stationary) => stationary,
            Err(error @ Error::PerronNotConverged { .. }) => {
                note(skipped, format!("π_R, π_C and c_π of the {} links: {error}", graph.name()));
                return Ok(None);
            }
            Err(other) => return Err(other).with_context(|| called(&self.spec.name)),
        };
        let [rho_r, rho_c] = radii(graph, topology, stationary, skipped);
        let depths = match (&self.links, graph) {
            (Links::Digraphs(digraphs), Subgraph::Trees | Subgraph::LazyTrees) => {
                let (digraph, root) = (&digraphs[0], self.spec.root);
                Some((Tree::pull(digraph, root)?.depth(), Tree::push(digraph, root)?.depth()))
            }
            _ => None,
        };
        Ok(Some(SubgraphFacts {
            graph: graph.name(),
            doubly_stochastic: topology.period().iter().all(is_doubly_stochastic),
            pull_depth: depths.map(|depths| depths.0),
            push_depth: depths.map(|depths| depths.1),
            pi_r: stationary.pull.clone(),
            pi_c: stationary.push.clone(),
            c_pi: topology.c_pi()?,
            rho_r,
            rho_c,
            mixing_rounds_r: rho_r.and_then(averaging::mixing_time),
            mixing_rounds_c: rho_c.and_then(averaging::mixing_time),
        }))
    }
}

/// Says once that something was left out.
fn note(skipped: &mut Vec<String>, what: String) {
    if !skipped.contains(&what) {
        skipped.push(what);
    }
}

fn graph_facts(name: &'static str, graph: &Digraph, skipped: &mut Vec<String>) -> GraphFacts {
    let components = graph.components();
    let strongly_connected = components.count() == 1;
    let diameter = match graph.agents() <= DIAMETER_AGENTS {
        true => graph.diameter(),
        false => {
            if strongly_connected {
                note(skipped, format!("the diameter: there are more than {DIAMETER_AGENTS} agents"));
            }
            None
        }
    };
    GraphFacts {
        graph: name,
        links: graph.edge_count(),
        strongly_connected,
        components: components.count(),
        largest_component: (0..components.count()).map(|c| components.members(c).len()).max().unwrap_or(0),
        reach_all: graph.roots(),
        reached_by_all: graph.reversed().roots(),
        in_degree: graph.in_degrees().into(),
        out_degree: graph.out_degrees().into(),
        diameter,
    }
}

fn is_doubly_stochastic(pair: &Pair) -> bool {
    pair.pull.check(Stochastic::Columns).is_ok() && pair.push.check(Stochastic::Rows).is_ok()
}

/// ρ_R and ρ_C of links that do not change.
fn radii(
    graph: Subgraph,
    topology: &Topology,
    stationary: &Stationary,
    skipped: &mut Vec<String>,
) -> [Option<f64>; 2] {
    let [Pair { pull, push }] = topology.period() else {
        note(skipped, "ρ_R and ρ_C: the links change with the round".to_owned());
        return [None; 2];
    };
    // trees fall into blocks of one number each
    if topology.agents() > RADIUS_AGENTS && graph == Subgraph::Full {
        note(skipped, format!("ρ_R and ρ_C of the full digraph: there are more than {RADIUS_AGENTS} agents"));
        return [None; 2];
    }
    let both = rayon::join(
        || averaging::pull_radius(pull, &stationary.pull),
        || averaging::push_radius(push, &stationary.push),
    );
    [("ρ_R", both.0), ("ρ_C", both.1)].map(|(name, radius)| {
        radius.map_err(|error| note(skipped, format!("{name} of the {} links: {error}", graph.name()))).ok()
    })
}

/// A method on a set of links.
struct Job<'a> {
    kind: &'static Kind,
    momentum: Option<f64>,
    method: Box<dyn Method>,
    graph: &'static str,
    topology: &'a Topology,
}

/// The limits of some methods on every subgraph that they may use.
fn limit_facts(
    methods: &[&'static Kind],
    used: &[(Subgraph, Arc<Topology>)],
    λ: f64,
    skipped: &mut Vec<String>,
) -> Result<Vec<LimitFacts>> {
    let mut jobs = vec![];
    for &kind in methods {
        let momentum = kind.parameters.iter().any(|parameter| parameter.name == "momentum").then_some(λ);
        for (graph, topology) in used.iter().filter(|(graph, _)| kind.graphs.contains(graph)) {
            let central = kind.network() == MethodNetwork::Central;
            if !central && topology.agents() > LIMIT_AGENTS {
                note(
                    skipped,
                    format!("the steps that methods bear: there are more than {LIMIT_AGENTS} agents"),
                );
                continue;
            }
            let method = kind.method(momentum.map(|λ| ("momentum", λ)))?;
            let graph = if central { "complete" } else { graph.name() };
            jobs.push(Job { kind, momentum, method, graph, topology });
        }
    }
    // STPP is Push-Pull on trees: the same method on the same links is asked once
    let key = |job: &Job<'_>| (format!("{:?}", job.method), job.graph);
    let first = |job: &Job<'_>| jobs.iter().position(|other| key(other) == key(job)).unwrap_or(0);
    let compute = |(at, job): (usize, &Job<'_>)| (first(job) == at).then(|| job.limit());
    let computed: Vec<Option<Limit>> = jobs.par_iter().enumerate().map(compute).collect();
    let facts = jobs.iter().map(|job| {
        let limit = computed[first(job)].clone().unwrap_or_else(|| Err(String::new()));
        let (graph, momentum) = (job.graph, job.momentum);
        let (limit, reason) = match limit {
            Ok(limit) => (Some(limit), None),
            Err(reason) => (None, Some(reason)),
        };
        LimitFacts {
            method: job.kind.name,
            momentum,
            graph,
            effective: limit.map(|limit| limit.effective),
            raw: limit.map(|limit| limit.raw),
            reason,
        }
    });
    Ok(facts.collect())
}

/// A limit, or why there is none.
type Limit = std::result::Result<stability::Limit, String>;

impl Job<'_> {
    fn limit(&self) -> Limit {
        stability::limit(&*self.method, self.topology).map_err(|error| error.to_string())
    }
}
