//! Small problems that every method can work on.

use std::ops::Deref;

use crate::Result;
use crate::data::{Dataset, SparseRows};
use crate::numeric::sample::{Draws, Purpose};
use crate::problem::{Description, Problem};
use crate::problems::{Batch, Logistic, Quadratic, QuadraticShape, Sharing};

/// A quadratic for every method: those that need samples find four, f_is = f_i tilted a little, and the mean
/// of them is f_i.
#[derive(Debug)]
pub struct Tilted(pub Quadratic);

const TILTS: [f64; 4] = [0.7, -0.2, -1.0, 0.5];

impl Deref for Tilted {
    type Target = Quadratic;

    fn deref(&self) -> &Quadratic {
        &self.0
    }
}

impl Problem for Tilted {
    fn agents(&self) -> usize {
        self.0.agents()
    }

    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        self.0.gradient(agent, x, draws, g);
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        self.0.exact(agent, x, g)
    }

    fn describe(&self) -> Option<Description<'_>> {
        self.0.describe()
    }

    fn samples(&self) -> Option<usize> {
        Some(TILTS.len())
    }

    fn component(&self, agent: usize, sample: usize, x: &[f64], g: &mut [f64]) {
        self.0.exact(agent, x, g);
        g.iter_mut().for_each(|g| *g += TILTS[sample]);
    }
}

/// A quadratic in dimension 4 with curvatures from 0.5 to 1, and gradients with this much noise.
pub fn quadratic(agents: usize, noise: f64) -> Result<Tilted> {
    let shape = QuadraticShape { dim: 4, curvature: [0.5, 1.0], heterogeneity: 1.0, noise };
    Ok(Tilted(Quadratic::new(shape, agents, 7)?))
}

/// A small random dataset with real values: `rows` rows of 6 features.
pub fn dataset(rows: usize) -> Dataset {
    let mut draws = Draws::new(3, Purpose::Problem, 0, 9);
    let mut draws_keep = Draws::new(3, Purpose::Problem, 1, 9);
    let mut features = SparseRows::new();
    let mut labels = vec![];
    for _ in 0..rows {
        let row: Vec<(u32, f64)> =
            (0..6).map(|c| (c, draws.normal())).filter(|_| draws_keep.unit() < 0.6).collect();
        features.push(row);
        labels.push(if draws.unit() < 0.4 { 1.0 } else { -1.0 });
    }
    Dataset { features: 6, labels, rows: features }
}

/// Logistic regression on [`dataset`], five rows an agent.
pub fn logistic(agents: usize, batch: Batch) -> Result<Logistic> {
    Logistic::new(&dataset(5 * agents), Sharing::among(agents).batch(batch), 0.01)
}
