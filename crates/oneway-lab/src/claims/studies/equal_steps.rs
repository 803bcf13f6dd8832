//! The experiment on Multi-Sub-Ring once more, with one step for all: what is left of the differences?
//!
//! The problem, the graph, λ, the decay and the number of repetitions are the paper's; the initial effective step is 0.2
//! for SMTPP too. Losses and gradients are recorded where the claims ask for them: through the later part of the first
//! plateau, and at the ends of the others.

use std::ops::ControlFlow;

use anyhow::Result;
use oneway::data::a9a::{Split, a9a};
use oneway::graph::families;
use oneway::method::{Method, Network};
use oneway::methods::{PushDiging, PushPull, Sgp, Smtpp};
use oneway::metrics::{Measurement, average};
use oneway::observe::{Observer, View};
use oneway::partition::Partition;
use oneway::problems::{Batch, Logistic};
use oneway::sample::derive_seed;
use oneway::schedule::{Schedule, Shape};
use oneway::simulator::{Setup, Simulator};
use oneway::topology::{Subgraph, Topology};
use rayon::prelude::*;

use super::quadratic::topology;
use super::{AGENTS, MOMENTUM, PETALS};
use crate::claims::runs::{PLATEAU_ENDS, PUSH_DIGING, SGP, SMTPP, SMTPP_TREES, STPP};
use crate::results::curves::Curve;

const STEP: f64 = 0.2;
const REGULARISER: f64 = 0.01;
const REPETITIONS: u64 = 5;
const SEED: u64 = 1;
const RECORD_EVERY: u64 = 10;
/// Recorded from here to the end of the first plateau.
const FIRST: u64 = 100;

pub(super) fn run() -> Result<Vec<Curve>> {
    let problem =
        Logistic::new(&a9a(Split::Train), Partition::Even, AGENTS, REGULARISER, Batch::Sampled(1), 0)?;
    let flower = families::flower(AGENTS, PETALS)?;
    let (full, trees) = (topology(flower.clone(), Subgraph::Full)?, topology(flower, Subgraph::Trees)?);
    let smtpp = Smtpp::new(MOMENTUM)?;
    let methods: [(&str, &dyn Method, &Topology); 5] = [
        (SMTPP, &smtpp, &full),
        (SMTPP_TREES, &smtpp, &trees),
        (STPP, &PushPull, &trees),
        (SGP, &Sgp, &full),
        (PUSH_DIGING, &PushDiging, &full),
    ];
    let cells: Vec<_> = methods.into_iter().flat_map(|m| (0..REPETITIONS).map(move |r| (m, r))).collect();
    let curve = |((name, method, topology), repetition): ((&str, &dyn Method, &Topology), u64)| {
        let divided_by = if method.network() == Network::PushPull { topology.c_pi()? } else { 1.0 };
        let [every, .., rounds] = PLATEAU_ENDS;
        let schedule = Schedule::new(STEP / divided_by, Shape::Decay { factor: 0.1, every }, 0)?;
        let seed = derive_seed(SEED, repetition);
        let mut recorder = Recorder(vec![]);
        Simulator::new(Setup { method, problem: &problem, topology, schedule, seed })?.run(
            rounds,
            RECORD_EVERY,
            &mut recorder,
        )?;
        let (topology, method) = ("multi-sub-ring".to_owned(), name.to_owned());
        Ok(Curve { topology, method, repetition, points: recorder.0 })
    };
    cells.into_par_iter().map(curve).collect()
}

/// F(x̄) and ‖∇F(x̄)‖², where they are asked for.
struct Recorder(Vec<Measurement>);

impl Observer for Recorder {
    fn observe(&mut self, view: &View<'_>) -> oneway::Result<ControlFlow<()>> {
        let [first_end, ..] = PLATEAU_ENDS;
        if (FIRST..=first_end).contains(&view.k) || PLATEAU_ENDS.contains(&view.k) {
            self.0.push(loss_and_gradient(view)?);
        }
        Ok(ControlFlow::Continue(()))
    }
}

/// One pass over the data; a full measurement takes three, for quantities that no claim asks of these curves.
fn loss_and_gradient(view: &View<'_>) -> oneway::Result<Measurement> {
    let (n, d) = (view.agents() as f64, view.problem.dim());
    let mean = average(view)?;
    let (mut loss, mut apart, mut gradient, mut g) = (0.0, 0.0, vec![0.0; d], vec![0.0; d]);
    for i in 0..view.agents() {
        loss += view.problem.exact(i, &mean, &mut g) / n;
        apart += view.estimate(i).iter().zip(&mean).map(|(x, mean)| (x - mean) * (x - mean)).sum::<f64>() / n;
        gradient.iter_mut().zip(&g).for_each(|(sum, g)| *sum += g / n);
    }
    Ok(Measurement {
        iteration: view.k,
        loss,
        grad_norm_sq: gradient.iter().map(|g| g * g).sum(),
        consensus_error: apart,
        tracking_error: None,
        momentum_error: None,
        conservation_error: None,
        test_accuracy: None,
        floats_sent: None,
    })
}
