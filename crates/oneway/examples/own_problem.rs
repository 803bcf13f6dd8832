//! A problem of your own, from closures: a smooth median, with gradients that are noisy and can fail.

use oneway::prelude::*;

const AGENTS: usize = 9;

/// Agent i's centre: most are near 0, the last is an outlier.
fn centre(agent: usize) -> f64 {
    if agent + 1 == AGENTS { 100.0 } else { agent as f64 / 10.0 }
}

/// f_i(x) = √(1 + (x − c_i)²), and its derivative.
fn smooth_distance(agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
    let far = x[0] - centre(agent);
    let root = (1.0 + far * far).sqrt();
    g[0] = far / root;
    root
}

fn main() -> oneway::Result<()> {
    let problem = FromFn::new(AGENTS, 1, smooth_distance)
        .stochastic(|agent, x, draws, g| {
            smooth_distance(agent, x, g);
            g[0] += 0.1 * draws.normal(); // draws belong to (seed, agent, round): every run has the same
            if g[0].is_finite() { Ok(()) } else { Err("the model is not finite".into()) } // ends the run
        })
        .with_smoothness(1.0);

    let topology =
        Topology::from_digraphs(&[families::exponential(AGENTS)?], Subgraph::Full, Weights::Uniform, 0)?;
    let mean = (0..AGENTS).map(centre).sum::<f64>() / AGENTS as f64;
    println!("the mean of the centres is {mean:.2}");
    for (name, momentum) in [("λ = 1", 1.0), ("λ = 0.1", 0.1)] {
        let method = methods::Smtpp::new(momentum)?;
        let schedule = Schedule::constant(0.5)?;
        let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
        let mut simulator = Simulator::new(setup)?;
        let outcome = simulator.run(500, 500, &mut ())?;
        let end = measure(&simulator.view())?;
        let x = simulator.view().estimate(0)[0];
        println!("{name}: {:?}, agent 0 is at {x:.2}, ‖∇F(x̄)‖² = {:.1e}", outcome.status, end.grad_norm_sq);
    }
    Ok(())
}
