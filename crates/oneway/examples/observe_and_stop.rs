//! An observer sees every tenth state, draws it, and stops the run when all agents are near enough.

use std::ops::ControlFlow;

use oneway::prelude::*;
use oneway::problems::{Quadratic, QuadraticShape};

/// Stops at a gradient below this.
const ENOUGH: f64 = 1e-8;

fn main() -> oneway::Result<()> {
    let n = 16;
    let topology =
        Topology::from_digraphs(&[families::exponential(n)?], Subgraph::Full, Weights::Uniform, 0)?;
    let shape = QuadraticShape { dim: 5, curvature: [0.5, 1.0], heterogeneity: 1.0, noise: 0.0 };
    let problem = Quadratic::new(shape, n, 1)?;
    let schedule = Schedule::constant(0.2)?;

    for name in ["push-pull", "sgp"] {
        let method = methods::kind(name)?.method([])?;
        let setup = Setup { method: &*method, problem: &problem, topology: &topology, schedule, seed: 1 };
        let mut watch = |view: &View<'_>| {
            let m = measure(view)?;
            let worst = m.grad_norm_sq + m.consensus_error;
            if view.k.is_multiple_of(20) {
                let bar = "·".repeat((5.0 * (2.0 + worst.log10().max(-12.0)).max(-10.0) + 50.0) as usize);
                println!("{name:>9} {:4} {worst:8.1e} {bar}", view.k);
            }
            Ok(if worst < ENOUGH { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        };
        let outcome = Simulator::new(setup)?.run(200, 10, &mut watch)?;
        match outcome.status {
            Status::Stopped { round } => println!("{name}: near enough after {round} rounds"),
            status => println!("{name}: {status:?}, and not near enough: it corrects no bias"),
        }
    }
    Ok(())
}
