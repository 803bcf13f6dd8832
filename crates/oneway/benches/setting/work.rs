//! Every method of the registry on the paper's setting, and what one of its agents does in a round.

use std::fmt;

use oneway::graph::Topology;
use oneway::method::{Ask, Network};
use oneway::methods::{KINDS, Kind};
use oneway::problem::Problem;

use super::{AGENTS, both_ways, exponential, problem};

/// A method, and what one of its agents does in a round: those with equal work can be compared.
pub struct Case {
    pub kind: &'static Kind,
    pub topology: Topology,
    /// Vectors that are weighted and added, the agent's own among them.
    pub mixed: usize,
    /// Gradients that are asked for.
    pub gradients: usize,
    /// Vectors that it keeps.
    pub kept: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { kind, mixed, gradients, kept, .. } = self;
        write!(f, "{} (mixes {mixed}, asks {gradients}, keeps {kept})", kind.name)
    }
}

impl Case {
    pub fn new(kind: &'static Kind, problem: &dyn Problem) -> Self {
        let method = kind.method([]).unwrap();
        let topology = match method.network() {
            Network::Central => Topology::complete(AGENTS).unwrap(),
            Network::Balanced | Network::Undirected => both_ways(),
            _ => exponential(),
        };
        let profile = method.profile_on(problem);
        let pair = topology.at(0);
        // all receivers share one row of the complete graph, which is mixed once
        let links = [&pair.pull, &pair.push]
            .map(|mixing| if mixing.has_one_row() { 1 } else { mixing.entries() / AGENTS });
        let asked = |ask: &Ask| match ask {
            Ask::Samples(count) => *count,
            Ask::BothPoints => 2,
            Ask::Nothing => 0,
            _ => 1,
        };
        Self {
            kind,
            mixed: profile.exchanges.len()
                * (profile.pull.vectors * links[0] + profile.push.vectors * links[1]),
            gradients: profile.exchanges.iter().flat_map(|exchange| &exchange.turns).map(asked).sum(),
            kept: profile.state.vectors,
            topology,
        }
    }
}

/// Every method, those with the same work beside each other.
pub fn cases() -> Vec<Case> {
    let problem = problem();
    let mut cases: Vec<Case> = KINDS.iter().map(|kind| Case::new(kind, &problem)).collect();
    cases.sort_by_key(|case| (case.mixed, case.gradients, case.kept));
    cases
}
