//! What a topology can do: the facts behind `oneway inspect`.
//!
//! [`crate::request`] is what the user typed, [`facts`] computes, [`advice`] says what follows, [`table`] and
//! [`drawing`] show it. What [`Inspection`] and the structures in it hold is what `--json` prints:
//! `{ "topologies": [Inspection, …], "advice": [sentence, …] }`, with the fields' names for keys. A number
//! that does not exist, or that was too dear to compute (`skipped` says which), is `null`.

pub(crate) mod advice;
pub(crate) mod drawing;
pub(crate) mod facts;
pub(crate) mod table;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use oneway::graph::Degrees;
use oneway::graph::repair::Repair;
use oneway::methods::Kind;
use oneway::registry;
use serde::Serialize;

/// Methods whose steps are asked for unless others are named: those of the paper's figures.
pub(crate) const METHODS: [&str; 6] = ["smtpp", "push-pull", "stpp", "sgp", "push-diging", "csgdm"];

/// The methods of these names, as the registry lists them; `all` is all of them.
pub(crate) fn chosen(names: &[String]) -> oneway::Result<Vec<&'static Kind>> {
    let registry = registry::installed();
    for name in names.iter().filter(|name| *name != "all") {
        registry.method(name)?;
    }
    let asked = |kind: &&Kind| names.iter().any(|name| name == "all" || name == kind.name);
    Ok(registry.methods().iter().copied().filter(asked).collect())
}

/// Everything that was found out about a topology.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Inspection {
    /// As the user called it.
    pub(crate) topology: String,
    /// Those of its family, defaults included.
    pub(crate) parameters: BTreeMap<&'static str, f64>,
    /// n.
    pub(crate) agents: usize,
    /// What its files call them, where they have names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) names: Option<Vec<String>>,
    /// Rounds after which the links repeat: 1 if they never change.
    pub(crate) period: usize,
    /// `uniform` or `metropolis`; `given` link by link.
    pub(crate) weights: &'static str,
    /// One digraph (`both`), or where R and C were given apart, two (`pull` and `push`).
    pub(crate) graphs: Vec<GraphFacts>,
    pub(crate) assumption_1: Assumption,
    /// `full`, `trees` and `lazy-trees`, as far as they exist. None where Assumption 1 fails.
    pub(crate) subgraphs: Vec<SubgraphFacts>,
    /// One of the methods asked for on one of its subgraphs each. None where Assumption 1 fails.
    pub(crate) limits: Vec<LimitFacts>,
    /// What was not computed, and why.
    pub(crate) skipped: Vec<String>,
    /// What follows, in sentences.
    pub(crate) advice: Vec<String>,
    /// Files that were drawn, without their endings.
    pub(crate) drawings: Vec<String>,
}

/// Who hears whom.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct GraphFacts {
    /// `both`, `pull` or `push`. Of links that change with the round, all of the period.
    pub(crate) graph: &'static str,
    /// Links between distinct agents.
    pub(crate) links: usize,
    pub(crate) strongly_connected: bool,
    /// Strongly connected components, and the agents of the largest.
    pub(crate) components: usize,
    pub(crate) largest_component: usize,
    /// Agents that reach everyone.
    pub(crate) reach_all: Vec<usize>,
    /// Agents that everyone reaches.
    pub(crate) reached_by_all: Vec<usize>,
    /// How many others an agent hears.
    pub(crate) in_degree: DegreeFacts,
    /// How many others hear an agent.
    pub(crate) out_degree: DegreeFacts,
    /// The longest shortest path; `null` if someone cannot be reached.
    pub(crate) diameter: Option<usize>,
}

/// The least, the mean and the largest degree.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct DegreeFacts {
    pub(crate) min: usize,
    pub(crate) mean: f64,
    pub(crate) max: usize,
}

impl From<Degrees> for DegreeFacts {
    fn from(Degrees { least, mean, most }: Degrees) -> Self {
        Self { min: least, mean, max: most }
    }
}

/// Whether the pull graph and the reversed push graph have spanning trees with a common root.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Assumption {
    pub(crate) holds: bool,
    /// All common roots.
    pub(crate) roots: Vec<usize>,
    /// What fails.
    pub(crate) failure: Option<String>,
    /// The least that repairs it.
    pub(crate) repair: Option<RepairFacts>,
}

/// The fewest links that make Assumption 1 hold; links are `[from, to]`.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct RepairFacts {
    /// Whether one set of links carries both graphs, so that `pull` and `push` are the same links.
    pub(crate) shared: bool,
    /// How many there are; where the graphs were given apart, in both together.
    pub(crate) count: usize,
    pub(crate) pull: Vec<(usize, usize)>,
    pub(crate) push: Vec<(usize, usize)>,
    /// A common root, then.
    pub(crate) root: usize,
    /// Whether it needs a self-weight in R, and in C, or values would go round for ever.
    pub(crate) pull_self_weight: bool,
    pub(crate) push_self_weight: bool,
}

impl RepairFacts {
    pub(crate) fn new(repair: Repair, shared: bool) -> Self {
        let Repair { root, pull, push, pull_self_weight, push_self_weight } = repair;
        let count = if shared { pull.len() } else { pull.len() + push.len() };
        Self { shared, count, pull, push, root, pull_self_weight, push_self_weight }
    }
}

/// How the links that a method uses average.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct SubgraphFacts {
    /// `full`, `trees` or `lazy-trees`.
    pub(crate) graph: &'static str,
    /// Whether rows and columns of both matrices sum to one.
    pub(crate) doubly_stochastic: bool,
    /// Depths of the two trees: weight-1 trees agree exactly after that many rounds.
    pub(crate) pull_depth: Option<usize>,
    pub(crate) push_depth: Option<usize>,
    /// π_R and π_C, an entry for each agent; of links that change, as round 0 begins.
    pub(crate) pi_r: Vec<f64>,
    pub(crate) pi_c: Vec<f64>,
    /// c_π = nπ_Rᵀπ_C; of links that change, its mean over the period.
    pub(crate) c_pi: f64,
    /// The spectral radii of R − 1π_Rᵀ and of C − π_C1ᵀ.
    pub(crate) rho_r: Option<f64>,
    pub(crate) rho_c: Option<f64>,
    /// Rounds in which the distance from the limit falls by a factor e, in the long run: −1/ln ρ.
    pub(crate) mixing_rounds_r: Option<f64>,
    pub(crate) mixing_rounds_c: Option<f64>,
}

/// The step that a method bears, times the curvature.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct LimitFacts {
    /// Its name in the registry.
    pub(crate) method: &'static str,
    /// λ, if it has one.
    pub(crate) momentum: Option<f64>,
    /// `full`, `trees`, `lazy-trees`, or `complete` for centralised methods.
    pub(crate) graph: &'static str,
    /// η·c_π·h, and η·h.
    pub(crate) effective: Option<f64>,
    pub(crate) raw: Option<f64>,
    /// Why there is none.
    pub(crate) reason: Option<String>,
}

impl Inspection {
    /// The facts of a subgraph by its name.
    pub(crate) fn subgraph(&self, graph: &str) -> Option<&SubgraphFacts> {
        self.subgraphs.iter().find(|facts| facts.graph == graph)
    }

    /// The effective limit of a method on a subgraph.
    pub(crate) fn limit(&self, method: &str, graph: &str) -> Option<f64> {
        let facts = self.limits.iter().find(|facts| (facts.method, facts.graph) == (method, graph));
        facts.and_then(|facts| facts.effective)
    }
}
