//! An effective step means the same for every method: under constant gradients the average moves by it times
//! their mean.
#![allow(clippy::unwrap_used)]

use oneway::engine::Engine;
use oneway::engine::metrics::average;
use oneway::graph::families;
use oneway::methods::combine::coded;
use oneway::numeric::sample::Draws;
use oneway::problem::Problem;

use crate::common::{self, advance, distance, methods, raw_step, simulate, topology};

/// f_i(x) = b_iᵀx: the gradients are b_i everywhere.
#[derive(Debug)]
struct Slopes(Vec<[f64; 2]>);

impl Problem for Slopes {
    fn agents(&self) -> usize {
        self.0.len()
    }

    fn dim(&self) -> usize {
        2
    }

    fn gradient(&self, agent: usize, x: &[f64], _draws: &mut Draws, g: &mut [f64]) {
        self.exact(agent, x, g);
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        g.copy_from_slice(&self.0[agent]);
        self.0[agent].iter().zip(x).map(|(b, x)| b * x).sum()
    }

    fn samples(&self) -> Option<usize> {
        Some(1)
    }
}

/// Whether the average moves by a number times the step: not where that is divided by the size of gradients,
/// or is encoded.
fn moves_in_proportion(name: &str) -> bool {
    !["adamdos", "adam"].contains(&name) && coded(name).is_none()
}

#[test]
fn the_average_moves_by_the_effective_step_times_the_mean_gradient() {
    let problem = Slopes((0..9).map(|i| [1.0 + f64::from(i), (3.0 - f64::from(i)).powi(2)]).collect());
    let mean = [0, 1].map(|k| problem.0.iter().map(|b| b[k]).sum::<f64>() / 9.0);
    let (mut tried, mut own) = (0, 0);
    for (kind, graph) in methods() {
        if !moves_in_proportion(kind.name) {
            continue;
        }
        for digraph in [families::flower(9, 3).unwrap(), families::exponential(9).unwrap()] {
            let topology = topology(kind, graph, &[digraph], 4);
            let method = common::build(kind);
            let divisor = method.step_divisor(&topology).unwrap();
            // momentum and local steps multiply the move besides
            let mut simulator = simulate(&*method, &problem, &topology, raw_step(kind, &topology, 0.1));
            advance(&mut simulator, 1500);
            let before = average(&simulator.view()).unwrap();
            advance(&mut simulator, 10);
            let after = average(&simulator.view()).unwrap();
            let moved: Vec<f64> = before.iter().zip(&after).map(|(before, after)| before - after).collect();
            let expected = mean.map(|mean| 10.0 * 0.1 * mean);
            assert!(distance(&moved, &expected) < 1e-8, "{} ({graph:?}): {moved:?} {expected:?}", kind.name);
            tried += 1;
            own += usize::from(divisor != topology.step_divisor(kind.network()).unwrap());
        }
    }
    // R-FAST alone has a divisor of its own, where it uses all links: on trees the root, where all mass ends,
    // keeps all of it
    assert!(tried > 50 && own == 2, "{tried} {own}");
}
