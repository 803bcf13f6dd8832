//! The two costs of an experiment, timed: a round of every method, and an evaluation. `just bench`.
#![allow(clippy::unwrap_used)]

mod setting;

use std::fmt;

use divan::Bencher;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::{Engine, Setup};
use oneway::graph::Topology;
use oneway::method::{Ask, Network};
use oneway::methods::{KINDS, Kind};
use oneway::problem::Problem;
use setting::{AGENTS, both_ways, evaluate, exponential, problem};

fn main() {
    divan::main();
}

/// A method, and what one of its agents does in a round: those with equal work can be compared.
struct Case {
    kind: &'static Kind,
    topology: Topology,
    /// Vectors that are weighted and added, the agent's own among them.
    mixed: usize,
    /// Gradients that are asked for.
    gradients: usize,
    /// Vectors that it keeps.
    kept: usize,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Case { kind, mixed, gradients, kept, .. } = self;
        write!(f, "{} (mixes {mixed}, asks {gradients}, keeps {kept})", kind.name)
    }
}

impl Case {
    fn new(kind: &'static Kind) -> Self {
        let method = kind.method([]).unwrap();
        let topology = match method.network() {
            Network::Central => Topology::complete(AGENTS).unwrap(),
            Network::Balanced | Network::Undirected => both_ways(),
            _ => exponential(),
        };
        let profile = method.profile_on(&problem());
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
fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = KINDS.iter().map(Case::new).collect();
    cases.sort_by_key(|case| (case.mixed, case.gradients, case.kept));
    cases
}

/// One round of n = 20 agents on a9a (d = 123, batch 1), exponential graph.
#[divan::bench(args = cases(), sample_size = 200)]
fn round(bencher: Bencher, case: &Case) {
    let (problem, schedule) = (problem(), Schedule::constant(0.01).unwrap());
    let method = case.kind.method([]).unwrap();
    let setup = Setup { method: &*method, problem: &problem, topology: &case.topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup).unwrap();
    bencher.bench_local(|| simulator.round());
}

/// F(x) and ∇F(x) over all of a9a, at several points at once, on one thread.
#[divan::bench(args = [1, 8], sample_size = 20)]
fn evaluation(bencher: Bencher, points: usize) {
    let problem = problem();
    let mut gradients = vec![0.0; points * problem.dim()];
    bencher.bench_local(|| evaluate(&problem, points, &mut gradients));
}
