//! What a network allows: the largest stable step of each method, found from eigenvalues and then tried.

use oneway::prelude::*;
use oneway::problems::{Quadratic, QuadraticShape};
use oneway::theory::{floor, stability};

fn main() -> oneway::Result<()> {
    let n = 10;
    let topology = Topology::from_digraphs(&[families::ring(n)?], Subgraph::Full, Weights::Uniform, 0)?;
    let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
    let problem = Quadratic::new(shape, n, 1)?;
    println!("A ring of {n} agents, curvature 1: c_π = {:.3}\n", topology.c_pi()?);
    println!("method         largest η   error a round   noise floor   1 % below   1 % above");
    for name in ["smtpp", "push-pull", "push-diging", "sgp"] {
        let method = methods::kind(name)?.method([])?;
        let limit = stability::limit(&*method, &topology)?.raw;
        let rate = stability::rate(&*method, &topology, limit / 2.0)?; // at half of it
        let floor = floor::floor(&*method, &topology, limit / 2.0)?.at_average; // E‖∇F(x̄)‖²/σ²
        let try_it = |share: f64| -> oneway::Result<&str> {
            let schedule = Schedule::constant(share * limit)?;
            let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
            let mut simulator = Simulator::new(setup)?;
            let size = |simulator: &Simulator<'_>| simulator.view().estimate(0)[0].abs();
            let mut halves = [0.0; 2];
            for half in &mut halves {
                for _ in 0..10_000 {
                    simulator.round()?;
                    *half = size(&simulator).max(*half);
                }
            }
            Ok(if halves[1] <= 1.01 * halves[0] { "converges" } else { "diverges" })
        };
        let [below, above] = [try_it(0.99)?, try_it(1.01)?];
        println!("{name:<12} {limit:11.5}   {rate:13.5}   {floor:11.4}   {below:>9}   {above:>9}");
    }
    Ok(())
}
