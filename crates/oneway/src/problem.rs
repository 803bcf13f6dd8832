//! What is minimised: F(x) = (1/n) Σ f_i(x), where only agent i can ask about f_i.

use std::fmt::Debug;

use crate::sample::Draws;

/// A sum of local objectives.
pub trait Problem: Send + Sync + Debug {
    /// Number of local objectives, n.
    fn agents(&self) -> usize;

    /// Dimension of x, d.
    fn dim(&self) -> usize;

    /// Writes the starting point x₀: the origin, unless the problem says otherwise.
    fn start(&self, x: &mut [f64]) {
        x.fill(0.0);
    }

    /// A hint that agent i's gradient with these draws will be asked for soon: a moment to fetch from far memory what it
    /// will look at, and to prepare the draws. Changes no result.
    fn foresee(&self, _agent: usize, _draws: &mut Draws) {}

    /// Writes a stochastic gradient ∇F_i(x; ξ) of agent i into `g`, with mean ∇f_i(x).
    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]);

    /// Returns f_i(x) and writes ∇f_i(x) into `g`.
    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64;

    /// The same at several points: losses, and the gradients one after another. One pass over the data may serve them all;
    /// the bits are those of [`exact`](Self::exact).
    fn exact_many(&self, agent: usize, points: &[&[f64]], losses: &mut [f64], gradients: &mut [f64]) {
        let gradients = gradients.chunks_exact_mut(self.dim());
        for ((x, loss), g) in points.iter().zip(losses).zip(gradients) {
            *loss = self.exact(agent, x, g);
        }
    }

    /// The shares of held-out examples that the points classify rightly, where that has a meaning.
    fn test_accuracies(&self, _points: &[&[f64]]) -> Option<Vec<f64>> {
        None
    }
}
