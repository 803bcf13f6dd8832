//! F*, the loss that the losses of all methods are measured from.
//!
//! The lowest loss that gradients without noise find from the start: steps of Barzilai and Borwein, ⟨s,
//! s⟩/⟨s, y⟩. The objective is not convex, so that this is where methods that follow its gradient from there
//! end, and no proof that nothing is lower.

use oneway::problem::Problem;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// Gradients taken: with twice as many F* is the same to 1e-10 (test).
const STEPS: usize = 120;
/// The first step, for want of two gradients.
const FIRST_STEP: f64 = 0.1;

/// A place that gradients without noise lead to.
#[derive(Debug, Clone)]
pub struct Minimum {
    /// x*.
    pub x: Vec<f64>,
    /// F(x*).
    pub loss: f64,
    /// ‖∇F(x*)‖², which would be zero in exact arithmetic and unlimited time.
    pub grad_norm_sq: f64,
}

/// What is known of where F is smallest, before anything is computed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Minimiser {
    /// x*.
    Known(Vec<f64>),
    /// F is a convex quadratic.
    OfQuadratic,
    Unknown,
}

/// F*, and how it is known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Optimum {
    /// F*.
    pub loss: f64,
    /// In words, to follow "F* is".
    pub is: String,
}

impl Optimum {
    /// F*, and the x* where it is taken; their bits do not depend on threads.
    pub(crate) fn new(problem: &dyn Problem, minimiser: &Minimiser) -> (Self, Vec<f64>) {
        let known = |(loss, x)| (Self { loss, is: "the minimum, except for rounding".to_owned() }, x);
        let lowest = |(loss, x)| {
            let is =
                "the lowest loss that gradients without noise find from the start; a lower one may exist";
            (Self { loss, is: is.to_owned() }, x)
        };
        match minimiser {
            Minimiser::Known(x) => known((exact(problem, x).0, x.clone())),
            Minimiser::OfQuadratic => match quadratic_minimum(problem) {
                (found, true) => known(found),
                (found, false) => lowest(found),
            },
            Minimiser::Unknown => {
                let Minimum { loss, x, .. } = minimum(problem, STEPS, 0.0);
                lowest((loss, x))
            }
        }
    }
}

/// The minimum of a convex quadratic and where it is, by conjugate gradients, Hp = ∇F(x + p) − ∇F(x), and
/// whether they came to an end.
fn quadratic_minimum(problem: &dyn Problem) -> ((f64, Vec<f64>), bool) {
    const MOST: usize = 500;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let along = |x: &[f64], t: f64, p: &[f64]| x.iter().zip(p).map(|(x, p)| x + t * p).collect::<Vec<f64>>();
    let mut x = vec![0.0; problem.dim()];
    problem.start(&mut x);
    let (mut loss, mut g) = exact(problem, &x);
    let (mut p, enough) = (along(&vec![0.0; x.len()], -1.0, &g), 1e-28 * dot(&g, &g));
    for _ in 0..MOST {
        if dot(&g, &g) <= enough {
            return ((loss, x), true);
        }
        let (_, there) = exact(problem, &along(&x, 1.0, &p));
        let h_p = along(&there, -1.0, &g);
        let curvature = dot(&p, &h_p);
        if curvature <= 0.0 {
            break; // flat, except for rounding
        }
        x = along(&x, -dot(&g, &p) / curvature, &p);
        let (loss_there, g_there) = exact(problem, &x);
        let β = dot(&g_there, &h_p) / curvature;
        p = along(&along(&vec![0.0; x.len()], -1.0, &g_there), β, &p);
        (loss, g) = (loss.min(loss_there), g_there);
    }
    ((loss, x), dot(&g, &g) <= 1e8 * enough)
}

/// The lowest point found in `steps` steps from the start, or before that where ‖∇F‖² is below the share
/// `tolerance` of what it is there.
pub(crate) fn minimum(problem: &dyn Problem, steps: usize, tolerance: f64) -> Minimum {
    let dim = problem.dim();
    let (mut x, mut before) = (vec![0.0; dim], None::<(Vec<f64>, Vec<f64>)>);
    problem.start(&mut x);
    let mut lowest = Minimum { x: x.clone(), loss: f64::INFINITY, grad_norm_sq: f64::INFINITY };
    let mut enough = 0.0;
    for step in 0..steps {
        let (loss, g) = exact(problem, &x);
        let grad_norm_sq = g.iter().map(|g| g * g).sum();
        if step == 0 {
            enough = tolerance * grad_norm_sq;
        }
        // near the end losses differ by rounding alone, and gradients tell
        if loss < lowest.loss || grad_norm_sq <= enough {
            lowest = Minimum { x: x.clone(), loss: loss.min(lowest.loss), grad_norm_sq };
        }
        if grad_norm_sq <= enough {
            break;
        }
        let step = before.map_or(FIRST_STEP, |(x_before, g_before)| {
            let (mut ss, mut sy) = (0.0, 0.0);
            for i in 0..dim {
                let s = x[i] - x_before[i];
                ss += s * s;
                sy += s * (g[i] - g_before[i]);
            }
            if sy > 0.0 { ss / sy } else { FIRST_STEP }
        });
        let next = x.iter().zip(&g).map(|(x, g)| x - step * g).collect();
        before = Some((std::mem::replace(&mut x, next), g));
    }
    lowest
}

/// F and ∇F; summed in the order of the agents, for the same bits on any threads.
pub fn exact(problem: &dyn Problem, x: &[f64]) -> (f64, Vec<f64>) {
    let n = problem.agents();
    let of_agent = |i| {
        let mut g = vec![0.0; x.len()];
        (problem.exact(i, x, &mut g), g)
    };
    let all: Vec<(f64, Vec<f64>)> = (0..n).into_par_iter().map(of_agent).collect();
    let (mut loss, mut gradient) = (0.0, vec![0.0; x.len()]);
    for (of_agent, g) in &all {
        loss += of_agent / n as f64;
        gradient.iter_mut().zip(g).for_each(|(sum, g)| *sum += g / n as f64);
    }
    (loss, gradient)
}

#[cfg(test)]
mod tests {
    use oneway::data::a9a::{Split, a9a};
    use oneway::problems::{Logistic, Quadratic, QuadraticShape, Sharing};

    use super::*;

    #[test]
    fn more_steps_find_the_same() {
        let a9a = Logistic::new(&a9a(Split::Train), Sharing::among(20).seed(0), 0.01).unwrap();
        let (all, more) =
            (Optimum::new(&a9a, &Minimiser::Unknown).0.loss, minimum(&a9a, 2 * STEPS, 0.0).loss);
        assert!((all - more).abs() < 1e-10, "{all} and {more}");
    }

    #[test]
    fn the_minimum_of_a_quadratic_is_found() {
        let shape = QuadraticShape { dim: 3, curvature: [0.5, 2.0], heterogeneity: 1.0, noise: 0.0 };
        let quadratic = Quadratic::new(shape, 5, 1).unwrap();
        let (known, _) = exact(&quadratic, quadratic.minimiser());
        let found = |minimiser| Optimum::new(&quadratic, &minimiser);
        let x = quadratic.minimiser().to_vec();
        for minimiser in [Minimiser::Unknown, Minimiser::OfQuadratic, Minimiser::Known(x)] {
            let (said, at) = found(minimiser.clone());
            assert!((said.loss - known).abs() < 1e-12, "{minimiser:?}");
            let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-6;
            assert!(at.iter().zip(quadratic.minimiser()).all(near), "{minimiser:?}: {at:?}");
            assert_eq!(said.is.starts_with("the minimum"), minimiser != Minimiser::Unknown, "{said:?}");
        }
        let found = minimum(&quadratic, 1000, 1e-24);
        let near = |(x, y): (&f64, &f64)| (x - y).abs() < 1e-10;
        assert!(found.x.iter().zip(quadratic.minimiser()).all(near) && found.grad_norm_sq < 1e-20);
    }
}
