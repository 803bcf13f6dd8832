//! Quadratics with a known minimiser: the problems on which theory can be checked to the last digit.
//!
//! f_i(x) = ½ Σ_k h_k (x_k − c_ik)², with ∇F_i(x; ξ) = h∘(x − c_i) + ξ and ξ ~ N(0, (σ²/d) I), so that
//! E‖ξ‖² = σ² as in Assumption 3. The centres c_i = x* + ζ u_i have Σ u_i = 0: the minimiser of F is x*.

use std::ops::Range;

use crate::numeric::Vector;
use crate::numeric::matrix::keep_only;
use crate::numeric::registers::{InVectors, Wide};
use crate::numeric::row::Rows;
use crate::numeric::sample::{Draws, Purpose};
use crate::numeric::vectors::widest;
use crate::problem::{Description, GradientBatch, LocalModel, Problem, Symmetric};
use crate::{Error, Result};

/// What a quadratic looks like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct QuadraticShape {
    /// Dimension d.
    pub dim: usize,
    /// Smallest and largest curvature; the coordinates' h_k are spaced evenly in logarithm between them. One
    /// coordinate alone has the largest.
    pub curvature: [f64; 2],
    /// ζ ≥ 0: how far the agents' own minimisers lie from the common one, in each coordinate.
    pub heterogeneity: f64,
    /// σ ≥ 0: the gradient noise, E‖ξ‖² = σ².
    pub noise: f64,
}

/// F(x) = (1/n) Σ f_i(x) with diagonal curvature, the same for all agents.
#[derive(Debug, Clone, PartialEq)]
pub struct Quadratic {
    curvature: Vec<f64>,
    minimiser: Vec<f64>,
    /// c_i, a row an agent.
    centres: Vec<f64>,
    agents: usize,
    noise_per_coordinate: f64,
}

impl Quadratic {
    /// A quadratic of the given shape; x* and the u_i are standard normal, drawn from `seed`.
    pub fn new(shape: QuadraticShape, agents: usize, seed: u64) -> Result<Self> {
        let QuadraticShape { dim, curvature: [low, high], heterogeneity, noise } = shape;
        let invalid = |name, value: f64, expected| Err(Error::parameter("problem", name, value, expected));
        if agents == 0 {
            return invalid("agents", 0.0, "there must be at least one agent");
        }
        if dim == 0 {
            return invalid("dim", 0.0, "the dimension must be at least 1");
        }
        if !(low > 0.0 && low <= high && (high / low).is_finite()) {
            let expected =
                "curvatures must be positive and ascending, [smallest, largest], with a finite ratio";
            return Err(Error::parameter("problem", "curvature", format!("[{low}, {high}]"), expected));
        }
        if agents.checked_mul(dim).is_none_or(|numbers| numbers >= 1 << 40) {
            return invalid("dim", dim as f64, "the centres of all agents would not fit into any memory");
        }
        if !(heterogeneity >= 0.0 && heterogeneity.is_finite()) {
            return invalid("heterogeneity", heterogeneity, "it must be 0 or more");
        }
        if !(noise >= 0.0 && noise.is_finite()) {
            return invalid("noise", noise, "it must be 0 or more");
        }

        let curvature = (0..dim).map(|k| match dim {
            1 => high,
            _ => low * libm::pow(high / low, k as f64 / (dim - 1) as f64),
        });
        let mut draws = Draws::new(seed, Purpose::Problem, 0, 0);
        let minimiser: Vec<f64> = (0..dim).map(|_| draws.normal()).collect();
        let mut centres = vec![0.0; agents * dim];
        let mut sums = vec![0.0; dim];
        for (agent, centre) in centres.chunks_exact_mut(dim).enumerate() {
            let mut draws = Draws::new(seed, Purpose::Problem, agent, 1);
            widest(
                #[inline(always)]
                || draws.normals(centre),
            );
            sums.iter_mut().zip(&*centre).for_each(|(sum, u)| *sum += u);
        }
        let means: Vec<f64> = sums.iter().map(|sum| sum / agents as f64).collect();
        for centre in centres.chunks_exact_mut(dim) {
            for ((c, x), mean) in centre.iter_mut().zip(&minimiser).zip(&means) {
                *c = x + heterogeneity * (*c - mean);
            }
        }
        let noise_per_coordinate = noise / libm::sqrt(dim as f64);
        Ok(Self { curvature: curvature.collect(), minimiser, centres, agents, noise_per_coordinate })
    }

    /// x*, where F is smallest.
    pub fn minimiser(&self) -> &[f64] {
        &self.minimiser
    }

    /// h, the curvature of each coordinate.
    pub fn curvature(&self) -> &[f64] {
        &self.curvature
    }

    fn centre(&self, agent: usize) -> &[f64] {
        let d = self.dim();
        &self.centres[agent * d..(agent + 1) * d]
    }

    /// h∘(x − c_i) + ξ, of some agents.
    #[inline(never)]
    fn make_gradients(&self, mut batch: GradientBatch<'_>) {
        f64::in_vectors(self.dim(), Slopes { problem: self, batch: &mut batch });
        if self.noise_per_coordinate > 0.0 {
            widest(
                #[inline(always)]
                || {
                    for (q, draws) in batch.draws.iter_mut().enumerate() {
                        self.add_noise(draws, batch.gradients.row(q));
                    }
                },
            );
        }
    }

    /// Adds ξ to an agent's gradient.
    #[inline(always)]
    fn add_noise(&self, draws: &mut Draws, g: &mut [f64]) {
        for g in g.chunks_mut(8) {
            let mut ξ = [0.0; 8];
            draws.normals(&mut ξ[..g.len()]);
            g.iter_mut().zip(ξ).for_each(|(g, ξ)| *g += self.noise_per_coordinate * ξ);
        }
    }
}

/// ∇f_i(x) = h∘(x − c_i) of some agents.
struct Slopes<'a, 'b> {
    problem: &'a Quadratic,
    batch: &'a mut GradientBatch<'b>,
}

impl InVectors<f64> for Slopes<'_, '_> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<f64>>(self) {
        let (Quadratic { curvature, centres, .. }, GradientBatch { agents, points, gradients, .. }) =
            (self.problem, self.batch);
        let (n, d) = (agents.len(), curvature.len());
        let (h, c) = (
            Rows::one(curvature).vectors(1, 1, d),
            Rows::new(centres, d, d).vectors(agents.rows_from(0), 1, d),
        );
        let (x, g) = (points.vectors(n, 1, d), gradients.vectors(n, 1, d));
        for q in 0..n {
            let agent = agents.get(q);
            for begin in (0..d).step_by(V::LANES) {
                // the last lanes may overlap those before them, and write the same numbers again
                let k = begin.min(d - V::LANES);
                // SAFETY: all rows were checked to have d numbers, and k + LANES ≤ d
                unsafe {
                    let [h, x, c] =
                        [h.place(0, k), x.place(q, k), c.place(agent, k)].map(|place| V::load(place));
                    (h * (x - c)).store(g.place(q, k));
                }
            }
        }
    }
}

impl Problem for Quadratic {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.curvature.len()
    }

    fn keep(&mut self, agents: Range<usize>) {
        let d = self.dim();
        keep_only(&mut self.centres, agents.start * d..agents.end * d);
    }

    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.make_gradients(GradientBatch::one(agent, x, draws, g));
    }

    fn gradients(&self, batch: GradientBatch<'_>) -> Result<()> {
        self.make_gradients(batch);
        Ok(())
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        let mut twice_loss = 0.0;
        for (((g, x), c), h) in g.iter_mut().zip(x).zip(self.centre(agent)).zip(&self.curvature) {
            *g = h * (x - c);
            twice_loss += *g * (x - c); // Σ_k h_k (x_k − c_ik)²
        }
        0.5 * twice_loss
    }

    /// The largest curvature, exactly.
    fn smoothness(&self) -> f64 {
        self.curvature.iter().copied().fold(0.0, f64::max)
    }

    /// diag(h) and (σ²/d) I, everywhere.
    fn local_model(&self, _agent: usize, _x: &[f64]) -> Option<LocalModel> {
        let per_coordinate = self.noise_per_coordinate * self.noise_per_coordinate;
        Some(LocalModel {
            hessian: Symmetric::Diagonal(self.curvature.clone()),
            covariance: Symmetric::Diagonal(vec![per_coordinate; self.dim()]),
        })
    }

    fn describe(&self) -> Option<Description<'_>> {
        let Self { curvature, centres, noise_per_coordinate, .. } = self;
        Some(Description::Quadratic { curvature, centres, noise: *noise_per_coordinate })
    }

    /// σ² = d·(σ/√d)², exactly.
    fn noise(&self) -> Option<f64> {
        Some(self.dim() as f64 * self.noise_per_coordinate * self.noise_per_coordinate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHAPE: QuadraticShape =
        QuadraticShape { dim: 5, curvature: [0.1, 2.0], heterogeneity: 3.0, noise: 0.7 };

    #[test]
    fn mean_gradient_vanishes_at_the_minimiser() {
        let problem = Quadratic::new(SHAPE, 7, 4).unwrap();
        let mut sum = [0.0; 5];
        let mut g = [0.0; 5];
        for agent in 0..7 {
            problem.exact(agent, problem.minimiser(), &mut g);
            assert!(g.iter().any(|g| g.abs() > 1e-3), "agents pull in different directions");
            sum.iter_mut().zip(g).for_each(|(s, g)| *s += g);
        }
        assert!(sum.iter().all(|s| s.abs() < 1e-12), "{sum:?}");
        assert_eq!((problem.curvature()[0], problem.curvature()[4]), (0.1, 2.0));
    }

    #[test]
    fn noise_has_no_mean_and_total_variance_sigma_squared() {
        let problem = Quadratic::new(SHAPE, 2, 4).unwrap();
        let x = [0.3; 5];
        let (mut exact, mut g) = ([0.0; 5], [0.0; 5]);
        problem.exact(1, &x, &mut exact);
        let (mut mean, mut energy) = ([0.0; 5], 0.0);
        const ROUNDS: u64 = 50_000;
        for k in 0..ROUNDS {
            problem.gradient(1, &x, &mut Draws::new(9, Purpose::Gradient, 1, k), &mut g);
            for ((mean, g), exact) in mean.iter_mut().zip(g).zip(exact) {
                *mean += (g - exact) / ROUNDS as f64;
                energy += (g - exact) * (g - exact) / ROUNDS as f64;
            }
        }
        assert!(mean.iter().all(|m| m.abs() < 0.01), "{mean:?}");
        assert!((energy - 0.49).abs() < 0.01, "{energy}");
    }

    #[test]
    fn smoothness_is_the_largest_curvature_and_is_attained() {
        let problem = Quadratic::new(SHAPE, 2, 4).unwrap();
        assert_eq!(problem.smoothness(), 2.0);
        let ([mut at, mut beside], mut x) = ([[0.0; 5]; 2], [0.3; 5]);
        problem.exact(0, &x, &mut at);
        x[4] += 1.0;
        problem.exact(0, &x, &mut beside);
        assert!((beside[4] - at[4] - 2.0).abs() < 1e-14 && beside[..4] == at[..4]);
        assert!((problem.noise().unwrap() - 0.49).abs() < 1e-15);
        assert_eq!(problem.noise_bound(), problem.noise());
    }

    #[test]
    fn impossible_shapes_are_refused() {
        for shape in [
            QuadraticShape { dim: 0, ..SHAPE },
            QuadraticShape { curvature: [0.0, 1.0], ..SHAPE },
            QuadraticShape { curvature: [2.0, 1.0], ..SHAPE },
            QuadraticShape { heterogeneity: -1.0, ..SHAPE },
            QuadraticShape { noise: f64::NAN, ..SHAPE },
        ] {
            assert!(Quadratic::new(shape, 3, 0).is_err(), "{shape:?}");
        }
    }
}
