//! A digraph of your own: which agents can be roots, what it lacks, how it averages, and a run on it.

use oneway::graph::repair;
use oneway::prelude::*;

fn main() -> oneway::Result<()> {
    // who is heard by whom: 0 → 1 → 2 → 0 is a ring, and 3 only listens
    let mut edges = vec![(0, 1), (1, 2), (2, 0), (2, 3)];
    let lonely = Digraph::from_edges(4, edges.iter().copied())?;
    println!("roots: {:?}; strongly connected: {}", lonely.roots(), lonely.is_strongly_connected());

    let missing = repair::strongly_connecting(&lonely);
    println!("links that would make it so: {missing:?}");
    edges.extend(missing);
    let digraph = Digraph::from_edges(4, edges)?;

    let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0)?;
    let averages = topology.stationary(0)?;
    println!("π_R = {:.3?}", averages.pull); // what each agent's model counts for
    println!("π_C = {:.3?}", averages.push); // where pushed mass ends up
    println!("c_π = {:.3}", averages.c_pi); // a raw step η moves the average by η·c_π

    // agent i wants to be at i; together they want the mean, 1.5
    let problem = FromFn::new(4, 1, |agent, x, g| {
        g[0] = x[0] - agent as f64;
        0.5 * g[0] * g[0]
    });
    let schedule = Schedule::constant(0.2 / averages.c_pi)?;
    let method = methods::PUSH_PULL;
    let setup = Setup { method: &method, problem: &problem, topology: &topology, schedule, seed: 1 };
    let mut simulator = Simulator::new(setup)?;
    simulator.run(300, 300, &mut ())?;
    let found: Vec<f64> = (0..4).map(|i| simulator.view().estimate(i)[0]).collect();
    println!("every agent is at {found:.6?}");
    Ok(())
}
