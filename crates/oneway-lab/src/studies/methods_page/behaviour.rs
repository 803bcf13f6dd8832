//! How a method behaves on one standard problem, the same for all.

use oneway::Result;
use oneway::data::Synthetic;
use oneway::engine::Schedule;
use oneway::engine::Simulator;
use oneway::engine::metrics;
use oneway::engine::observe::View;
use oneway::engine::{Engine, Setup, Status};
use oneway::graph::topology::{Topology, Weights};
use oneway::graph::{Digraph, families};
use oneway::method::{Method, Network};
use oneway::methods::Kind;
use oneway::problem::Problem;
use oneway::problems::{Batch, FiniteSum, LeastSquares, Regulariser, Sharing};
use std::ops::ControlFlow;

/// Agents of the standard problem.
pub(super) const AGENTS: usize = 16;
/// Rows of each agent, and features.
pub(super) const ROWS: usize = 25;
pub(super) const FEATURES: usize = 8;
/// Rounds that are shown.
pub(super) const ROUNDS: u64 = 500;
const EVERY: u64 = 5;
/// Steps that are tried, each half of the one before; the first is this many times 1/L.
pub(super) const STEPS: u32 = 14;
const LARGEST: f64 = 4.0;

/// ‖∇F(x̄)‖² over the rounds.
pub(super) type Curve = Vec<(u64, f64)>;

/// A method on the standard problem.
#[derive(Debug, Default)]
pub(super) struct Behaviour {
    /// The step, as a multiple of 1/L; zero if none works.
    pub(super) step: f64,
    /// With exact gradients.
    pub(super) exact: Curve,
    /// With one row a gradient.
    pub(super) sampled: Curve,
}

/// Least squares on synthetic rows whose agents disagree.
pub(super) fn problem(batch: Batch) -> Result<FiniteSum<LeastSquares>> {
    let shape =
        Synthetic { rows: AGENTS * ROWS, features: FEATURES, noise: 0.5, outliers: 0.0, heterogeneity: 1.0 };
    let data = shape.draw(AGENTS, 1)?;
    let model = LeastSquares::new(FEATURES);
    FiniteSum::new(model, &data, Regulariser::Ridge(0.0), Sharing::among(AGENTS).batch(batch))
}

/// The exponential digraph; for methods that need two-way links, the same links both ways.
fn topology(kind: &Kind) -> Result<Topology> {
    let digraph = families::exponential(AGENTS)?;
    match kind.network() {
        Network::Central => Topology::complete(AGENTS),
        Network::Undirected => {
            let both = digraph.edges().flat_map(|(from, to)| [(from, to), (to, from)]);
            let both = Digraph::from_edges(AGENTS, both.collect::<Vec<_>>())?;
            Topology::from_digraphs(&[both], kind.graphs[0], Weights::Metropolis, 0)
        }
        _ => Topology::from_digraphs(&[digraph], kind.graphs[0], Weights::Uniform, 0),
    }
}

impl Behaviour {
    /// Of the steps with which sampled gradients lower ‖∇F(x̄)‖², the one that ends lowest with exact
    /// gradients.
    pub(super) fn new(kind: &Kind) -> Result<Self> {
        let method = kind.method([])?;
        let topology = topology(kind)?;
        let (exact, sampled) = (problem(Batch::Full)?, problem(Batch::Sampled(1))?);
        let unit = 1.0 / (exact.smoothness() * method.step_divisor(&topology)?);
        let run = |problem: &dyn Problem, step: f64| curve(&*method, problem, &topology, step * unit);
        let mut best: Option<(f64, Self)> = None;
        for i in 0..STEPS {
            let step = LARGEST * 0.5f64.powi(i as i32);
            let (Some(exact), Some(sampled)) = (run(&exact, step)?, run(&sampled, step)?) else { continue };
            let (first, last) = (ends(&sampled).0, ends(&exact).1);
            if ends(&sampled).1 < first && best.as_ref().is_none_or(|(least, _)| last < *least) {
                best = Some((last, Self { step, exact, sampled }));
            }
        }
        Ok(best.map(|(_, best)| best).unwrap_or_default())
    }
}

/// Where a curve starts and ends.
fn ends(curve: &Curve) -> (f64, f64) {
    let value = |point: Option<&(u64, f64)>| point.map_or(f64::INFINITY, |(_, gradient)| *gradient);
    (value(curve.first()), value(curve.last()))
}

/// ‖∇F(x̄)‖² at regular rounds; none if it diverged.
fn curve(
    method: &dyn Method,
    problem: &dyn Problem,
    topology: &Topology,
    step: f64,
) -> Result<Option<Curve>> {
    let schedule = Schedule::constant(step.max(f64::MIN_POSITIVE))?;
    let setup = Setup { method, problem, topology, schedule, seed: 1 };
    let mut curve = vec![];
    let mut look = |view: &View<'_>| {
        curve.push((view.k, metrics::measure(view)?.grad_norm_sq));
        Ok(ControlFlow::Continue(()))
    };
    let outcome = Simulator::new(setup)?.run(ROUNDS, EVERY, &mut look)?;
    Ok((outcome.status == Status::Completed).then_some(curve))
}
