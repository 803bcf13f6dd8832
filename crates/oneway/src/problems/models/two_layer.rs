//! A small network: one hidden layer of tanh, softmax on top.

use super::layer::{self, MOST_CLASSES};
use super::softmax::Classes;
use super::{Model, Row};
use crate::data::Dataset;
use crate::numeric::sample::{Draws, Purpose};
use crate::problem::RowLoss;
use crate::{Error, Result};

/// Most hidden units. Their activations stand on the stack while a row is looked at, since a gradient must
/// not allocate: 8 KiB, which costs less to clear than one row's exponentials. A scratch that grows would
/// have to be handed through [`Problem::gradient`](crate::problem::Problem::gradient) for this model alone.
const MOST_HIDDEN: usize = 1024;

/// The streams of x₀ among those of [`Purpose::Problem`].
const START_ROUND: u64 = 5;

/// ℓ(x; a, y) = ln Σ_c e^{z_c} − z_y with z = W₂ᵀ tanh(W₁ᵀa) + b₂, x = (W₁, W₂, b₂): H hidden units, C
/// classes.
///
/// W₁ has H numbers for each feature, W₂ has C for each unit. A hidden bias is the weight of a feature that
/// is always 1 ([`Dataset::with_intercept`]). At the origin all units are alike and stay so, hence x₀ is
/// drawn: W₁ ~ N(0, 1/features), W₂ ~ N(0, 1/H), b₂ = 0, the same for all agents. Its gradient is not
/// Lipschitz everywhere: W₂ multiplies what W₁ makes.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoLayer {
    features: usize,
    hidden: usize,
    classes: Classes,
    start: Vec<f64>,
}

impl TwoLayer {
    /// A network for the classes of `data` with `hidden` hidden units, 1 to 1,024; `seed` draws x₀.
    pub fn new(data: &Dataset, hidden: usize, seed: u64) -> Result<Self> {
        data.check_rows()?;
        Self::with_classes(data.features, &data.classes(), hidden, seed)
    }

    /// The same for these classes, by their labels: for one who holds a part of the rows, where some may be
    /// missing.
    pub fn with_classes(features: usize, classes: &[f64], hidden: usize, seed: u64) -> Result<Self> {
        if !(1..=MOST_HIDDEN).contains(&hidden) {
            let expected = format!("a hidden layer has 1 to {MOST_HIDDEN} units");
            return Err(Error::parameter("problem", "hidden", hidden, expected));
        }
        let classes = Classes::new(classes)?;
        let outputs = classes.len();
        let Some(first) = features.checked_mul(hidden).filter(|numbers| *numbers < 1 << 40) else {
            let expected = "features times hidden units would not fit into any memory";
            return Err(Error::parameter("data", "features", features, expected));
        };
        let mut start = vec![0.0; first + (hidden + 1) * outputs];
        let (of_inputs, rest) = start.split_at_mut(first);
        let of_units = &mut rest[..hidden * outputs];
        let mut draws = Draws::new(seed, Purpose::Problem, 0, START_ROUND);
        for (weights, inputs) in [(of_inputs, features), (of_units, hidden)] {
            let scale = 1.0 / libm::sqrt(inputs as f64);
            draws.normals(weights);
            weights.iter_mut().for_each(|weight| *weight *= scale);
        }
        Ok(Self { features, hidden, classes, start })
    }

    /// Where W₂ begins, and b₂.
    fn places(&self) -> (usize, usize) {
        let first = self.features * self.hidden;
        (first, first + self.hidden * self.classes.len())
    }

    /// t = tanh(W₁ᵀa) into `units`, z = W₂ᵀt + b₂ into `scores`.
    #[inline(always)]
    fn forward(&self, row: impl Row, x: &[f64], units: &mut [f64], scores: &mut [f64]) {
        let (first, second) = self.places();
        layer::add_outputs(row, &x[..first], units);
        units.iter_mut().for_each(|unit| *unit = layer::tanh(*unit));
        scores.copy_from_slice(&x[second..]);
        for (t, weights) in units.iter().zip(x[first..second].chunks_exact(scores.len())) {
            layer::add_scaled(scores, *t, weights);
        }
    }
}

impl Model for TwoLayer {
    fn features(&self) -> usize {
        self.features
    }

    fn dim(&self) -> usize {
        self.start.len()
    }

    fn start(&self, x: &mut [f64]) {
        x.copy_from_slice(&self.start);
    }

    fn target(&self, label: f64) -> Result<f64> {
        self.classes.target(label)
    }

    #[inline(always)]
    fn add_gradient(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) -> f64 {
        let (mut units, mut scores) = ([0.0; MOST_HIDDEN], [0.0; MOST_CLASSES]);
        let (units, scores) = (&mut units[..self.hidden], &mut scores[..self.classes.len()]);
        self.forward(row, x, units, scores);
        let loss = layer::softmax_loss(scores, target as usize);
        let δ = &*scores; //                                      ∂ℓ/∂z = p − e_y

        let (first, second) = self.places();
        let (g_inputs, g_rest) = g.split_at_mut(first);
        let (g_units, g_scores) = g_rest.split_at_mut(second - first);
        g_scores.iter_mut().zip(δ).for_each(|(g, δ)| *g += δ); // ∂ℓ/∂b₂ = ∂ℓ/∂z
        let weights = x[first..second].chunks_exact(δ.len());
        for ((unit, weights), g) in units.iter_mut().zip(weights).zip(g_units.chunks_exact_mut(δ.len())) {
            let t = *unit;
            layer::add_scaled(g, t, δ); //                        ∂ℓ/∂W₂ = t (∂ℓ/∂z)ᵀ
            let mut sum = 0.0;
            weights.iter().zip(δ).for_each(|(weight, δ)| sum += weight * δ);
            *unit = (1.0 - t * t) * sum; //                       ∂ℓ/∂u = (1 − t²)∘W₂(∂ℓ/∂z), u = W₁ᵀa
        }
        layer::add_outer(row, units, g_inputs); //                ∂ℓ/∂W₁ = a (∂ℓ/∂u)ᵀ
        loss
    }

    #[inline(always)]
    fn is_right(&self, row: impl Row, target: f64, x: &[f64]) -> Option<bool> {
        let (mut units, mut scores) = ([0.0; MOST_HIDDEN], [0.0; MOST_CLASSES]);
        let (units, scores) = (&mut units[..self.hidden], &mut scores[..self.classes.len()]);
        self.forward(row, x, units, scores);
        Some(layer::is_largest(scores, target as usize))
    }

    fn describe(&self) -> Option<RowLoss> {
        Some(RowLoss::TwoLayer { hidden: self.hidden, classes: self.classes.len() })
    }
}
