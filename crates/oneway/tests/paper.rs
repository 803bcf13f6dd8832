//! The paper's setting: a9a over 20 agents, exponential graph, λ = 0.1, batch 1, steps decaying by 0.1 every
//! 300 rounds.
#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;

use oneway::data::a9a::{Split, a9a};
use oneway::engine::Simulator;
use oneway::engine::metrics::measure;
use oneway::engine::observe::{Observer, View};
use oneway::engine::schedule::{Schedule, Shape};
use oneway::engine::{Engine, Setup};
use oneway::graph::families;
use oneway::graph::topology::{Subgraph, Topology, Weights};
use oneway::method::Method;
use oneway::methods::{Csgdm, Smtpp};
use oneway::numeric::sample::derive_seed;
use oneway::problems::{Logistic, Sharing};

const AGENTS: usize = 20;

struct Losses(Vec<f64>);

impl Observer for Losses {
    fn observe(&mut self, view: &View<'_>) -> oneway::Result<ControlFlow<()>> {
        self.0.push(measure(view)?.loss);
        Ok(ControlFlow::Continue(()))
    }
}

/// Mean losses over 5 repetitions at iterations 0, 150, 300, …, 900.
fn mean_losses(method: &dyn Method, topology: &Topology) -> Vec<f64> {
    let problem = Logistic::new(&a9a(Split::Train), Sharing::among(AGENTS), 0.01).unwrap();
    let schedule = Schedule::new(0.1, Shape::Decay { factor: 0.1, every: 300 }, 0).unwrap();
    let mut mean = vec![0.0; 7];
    for repetition in 0..5 {
        let seed = derive_seed(1, repetition);
        let setup = Setup { method, problem: &problem, topology, schedule, seed };
        let mut losses = Losses(vec![]);
        Simulator::new(setup).unwrap().run(900, 150, &mut losses).unwrap();
        mean.iter_mut().zip(losses.0).for_each(|(mean, loss)| *mean += loss / 5.0);
    }
    mean
}

#[test]
fn smtpp_overlaps_with_csgdm_on_the_exponential_graph() {
    let digraph = families::exponential(AGENTS).unwrap();
    let exponential = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0).unwrap();
    assert_eq!(exponential.c_pi().unwrap(), 1.0);
    let smtpp = mean_losses(&Smtpp::new(0.1).unwrap(), &exponential);
    let csgdm = mean_losses(&Csgdm::new(0.1).unwrap(), &Topology::complete(AGENTS).unwrap());
    // the values at 150, 300, 600 and 900 were computed independently of this code
    for (at, independent) in [(1, 0.404), (2, 0.395), (4, 0.393), (6, 0.393)] {
        assert!((smtpp[at] - csgdm[at]).abs() < 0.003, "{smtpp:?} {csgdm:?}");
        assert!(
            (smtpp[at] - independent).abs() < 0.002 && (csgdm[at] - independent).abs() < 0.002,
            "{smtpp:?}"
        );
    }
}
