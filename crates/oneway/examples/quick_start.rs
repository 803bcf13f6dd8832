//! SMTPP on twenty agents in four one-way rings: all find the common minimiser.

use oneway::prelude::*;
use oneway::problems::{Quadratic, QuadraticShape};

fn main() -> oneway::Result<()> {
    let n = 20;
    let digraph = families::flower(n, 4)?; // four one-way rings through agent 0
    let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0)?;
    let shape = QuadraticShape { dim: 10, curvature: [0.1, 1.0], heterogeneity: 1.0, noise: 0.0 };
    let problem = Quadratic::new(shape, n, 1)?;
    let method = methods::Smtpp::new(0.1)?;
    let schedule = Schedule::constant(0.5 / topology.c_pi()?)?; // an effective step of 0.5

    let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup)?;
    println!("round   ‖∇F(x̄)‖²   consensus error   conservation error");
    for _ in 0..7 {
        let m = measure(&simulator.view())?;
        let conserved = m.conservation_error.unwrap_or_default(); // Lemma 2: (1/n)Σv = (1/n)Σm
        let (k, g, far) = (m.iteration, m.grad_norm_sq, m.consensus_error);
        println!("{k:5}   {g:9.1e}   {far:15.1e}   {conserved:18.1e}");
        for _ in 0..100 {
            simulator.round()?;
        }
    }
    Ok(())
}
