//! σ² of Assumption 3, E‖∇F_i(x; ξ) − ∇f_i(x)‖² ≤ σ², estimated by drawing gradients.
//!
//! The draws have a [purpose](Purpose::Noise) of their own: none of them is one that a run with the same seed
//! makes.

use rayon::prelude::*;

use crate::numeric::sample::{Draws, Purpose};
use crate::problem::Problem;
use crate::{Error, Result};

/// The largest noise that was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The mean of ‖∇F_i(x; ξ) − ∇f_i(x)‖² over the draws.
    pub variance: f64,
    /// Its standard error. As the largest of several means, the estimate leans upwards by about as much.
    pub standard_error: f64,
    /// The agent that it was found at.
    pub agent: usize,
    /// The point that it was found at, by its place among those given.
    pub point: usize,
}

/// The largest over agents and `points` of the mean of ‖∇F_i(x; ξ) − ∇f_i(x)‖² over `samples` samples.
///
/// Costs n · points · samples stochastic gradients.
///
/// ```
/// use oneway::problems::{Quadratic, QuadraticShape, Sharing};
/// use oneway::theory::noise;
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 2.0 };
/// let problem = Quadratic::new(shape, 4, 1).unwrap();
/// let found = noise::estimate(&problem, &[&[0.0; 3]], 4000, 1).unwrap();
/// assert!((found.variance - 4.0).abs() < 5.0 * found.standard_error);
/// ```
pub fn estimate(problem: &dyn Problem, points: &[&[f64]], samples: u64, seed: u64) -> Result<Estimate> {
    let d = problem.dim();
    if points.is_empty() {
        return Err(Error::parameter("noise", "points", 0, "it is estimated at one point at least"));
    }
    if let Some(point) = points.iter().find(|point| point.len() != d) {
        return Err(Error::Mismatch {
            left: "problem",
            left_size: d,
            right: "point",
            right_size: point.len(),
            unit: "coordinates",
        });
    }
    let most = u64::from(u32::MAX) / points.len() as u64;
    if !(2..=most).contains(&samples) {
        let expected = format!("a mean with an error takes 2 draws at least, and here at most {most}");
        return Err(Error::parameter("noise", "samples", samples, expected));
    }
    let of_agent = |agent: usize| {
        let at = |point: usize| at_point(problem, agent, (point, points[point]), samples, seed);
        (0..points.len()).map(at).fold(None, larger)
    };
    let found: Vec<Option<Estimate>> = (0..problem.agents()).into_par_iter().map(of_agent).collect();
    let largest = found.into_iter().flatten().fold(None, larger);
    largest.ok_or_else(|| Error::parameter("problem", "agents", 0, "there must be at least one agent"))
}

fn at_point(
    problem: &dyn Problem,
    agent: usize,
    (point, x): (usize, &[f64]),
    samples: u64,
    seed: u64,
) -> Estimate {
    let [mut exact, mut g] = [(); 2].map(|()| vec![0.0; x.len()]);
    problem.exact(agent, x, &mut exact);
    // Welford: mean and sum of squared deviations, without cancellation
    let (mut mean, mut deviations) = (0.0, 0.0);
    for sample in 0..samples {
        let round = point as u64 * samples + sample;
        problem.gradient(agent, x, &mut Draws::new(seed, Purpose::Noise, agent, round), &mut g);
        let far: f64 = g.iter().zip(&exact).map(|(g, exact)| (g - exact) * (g - exact)).sum();
        let change = far - mean;
        mean += change / (sample + 1) as f64;
        deviations += change * (far - mean);
    }
    let standard_error = (deviations / (samples - 1) as f64 / samples as f64).sqrt();
    Estimate { variance: mean, standard_error, agent, point }
}

/// The larger of two, the earlier of equals. One that is not a number is the largest: it must not go
/// unnoticed.
fn larger(best: Option<Estimate>, next: Estimate) -> Option<Estimate> {
    match best {
        Some(best) if best.variance.is_nan() || best.variance >= next.variance => Some(best),
        _ => Some(next),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::a9a::{Split, a9a};
    use crate::problems::{Batch, Logistic, Quadratic, QuadraticShape, Sharing};

    fn quadratic(noise: f64) -> Quadratic {
        let shape = QuadraticShape { dim: 5, curvature: [0.1, 2.0], heterogeneity: 3.0, noise };
        Quadratic::new(shape, 3, 4).unwrap()
    }

    fn logistic(batch: Batch) -> Logistic {
        Logistic::new(&a9a(Split::Test), Sharing::among(20).batch(batch), 0.01).unwrap()
    }

    #[test]
    fn estimates_agree_with_what_is_known() {
        for σ in [0.0, 0.7, 20.0] {
            let problem = quadratic(σ);
            let found = estimate(&problem, &[&[0.3; 5], &[100.0; 5]], 10_000, 1).unwrap();
            let known = problem.noise().unwrap();
            assert!((found.variance - known).abs() <= 4.0 * found.standard_error, "{found:?} {known}");
            assert!(found.standard_error <= 0.02 * known);
        }
    }

    #[test]
    fn full_batches_have_no_noise() {
        let problem = logistic(Batch::Full);
        let found = estimate(&problem, &[&[0.1; 123]], 3, 1).unwrap();
        assert_eq!((found.variance, found.standard_error), (0.0, 0.0));
        assert_eq!((problem.noise(), problem.noise_bound()), (Some(0.0), Some(0.0)));
    }

    /// Var = (mean ‖c_j a_j‖² − ‖mean c_j a_j‖²)/batch, with the means over all rows of the agent.
    #[test]
    fn sampled_rows_have_the_variance_of_the_rows_over_the_batch() {
        let x = [0.05; 123];
        for size in [1, 8] {
            let problem = logistic(Batch::Sampled(size));
            let found = estimate(&problem, &[&x], 4000, 1).unwrap();
            let mut mean = [0.0; 123];
            problem.exact(found.agent, &x, &mut mean);
            let (data, m) = (a9a(Split::Test), 814);
            // the regulariser is in every row's gradient and does not vary
            mean.iter_mut().for_each(|g| *g -= 2.0 * 0.01 * 0.05 / (1.0f64 + 0.05 * 0.05).powi(2));
            let mut mean_square = 0.0;
            for r in found.agent * m..(found.agent + 1) * m {
                let z = data.labels[r] * data.rows.row(r).map(|(k, a)| a * x[k as usize]).sum::<f64>();
                let c = 1.0 / (1.0 + z.exp());
                mean_square += c * c * data.rows.row(r).map(|(_, a)| a * a).sum::<f64>() / m as f64;
            }
            let variance = (mean_square - mean.iter().map(|g| g * g).sum::<f64>()) / size as f64;
            assert!((found.variance - variance).abs() < 4.0 * found.standard_error, "{found:?} {variance}");
            assert!(found.variance < problem.noise_bound().unwrap());
        }
    }

    #[test]
    fn what_cannot_be_estimated_is_refused() {
        let problem = quadratic(1.0);
        assert!(estimate(&problem, &[], 10, 1).is_err());
        assert!(estimate(&problem, &[&[0.0; 4]], 10, 1).unwrap_err().to_string().contains("5 coordinates"));
        assert!(estimate(&problem, &[&[0.0; 5]], 1, 1).unwrap_err().to_string().contains("`samples`"));
    }
}
