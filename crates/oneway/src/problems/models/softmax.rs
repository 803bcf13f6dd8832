//! Softmax regression: one linear score for each class.

use super::layer::{self, MOST_CLASSES};
use super::{Model, Row};
use crate::data::{self, Dataset};
use crate::problem::RowLoss;
use crate::{Error, Result};

/// Up to this many classes, room for the scores costs nothing to clear; for most it takes as long as the
/// exponentials.
const FEW_CLASSES: usize = 16;

/// ℓ(x; a, y) = ln Σ_c exp(a·W_c) − a·W_y over C classes, with x the weights W, of each feature those of all
/// classes.
///
/// Its second derivative by the scores is diag(p) − ppᵀ, whose eigenvalues are from 0 to ½; its first is p −
/// e_y, with ‖p − e_y‖² ≤ 2.
#[derive(Debug, Clone, PartialEq)]
pub struct Softmax {
    features: usize,
    classes: Classes,
}

impl Softmax {
    /// A model of the classes that `data` has: its different labels, whatever numbers they are, 2 to 256 of
    /// them.
    ///
    /// ```
    /// use oneway::data::digits::{Split, digits};
    /// use oneway::problem::Problem;
    /// use oneway::problems::{FiniteSum, Regulariser, Sharing, Softmax};
    /// let data = digits(Split::Train).with_intercept()?;
    /// let model = Softmax::new(&data)?;
    /// let ridge = Regulariser::Ridge(0.001);
    /// let problem = FiniteSum::new(model, &data, ridge, Sharing::among(10))?;
    /// assert_eq!((problem.dim(), problem.samples()), (65 * 10, Some(143)));
    /// # Ok::<(), oneway::Error>(())
    /// ```
    pub fn new(data: &Dataset) -> Result<Self> {
        data.check_rows()?;
        Self::with_classes(data.features, &data.classes())
    }

    /// A model of these classes, by their labels: for one who holds a part of the rows, where some may be
    /// missing.
    pub fn with_classes(features: usize, classes: &[f64]) -> Result<Self> {
        Ok(Self { features, classes: Classes::new(classes)? })
    }
}

impl Model for Softmax {
    fn features(&self) -> usize {
        self.features
    }

    fn dim(&self) -> usize {
        self.features * self.classes.len()
    }

    fn target(&self, label: f64) -> Result<f64> {
        self.classes.target(label)
    }

    #[inline(always)]
    fn add_gradient(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) -> f64 {
        let mut scores = [0.0; MOST_CLASSES];
        let scores = &mut scores[..self.classes.len()];
        layer::add_outputs(row, x, scores); //                       z_c = a·W_c
        let loss = layer::softmax_loss(scores, target as usize); //  ∂ℓ/∂z = p − e_y
        layer::add_outer(row, scores, g); //                         ∂ℓ/∂W_k = a_k (p − e_y)
        loss
    }

    #[inline(always)]
    fn add_slope(&self, row: impl Row, target: f64, x: &[f64], g: &mut [f64]) {
        match self.classes.len() {
            few @ ..=FEW_CLASSES => add_slope(row, target, x, g, &mut [0.0; FEW_CLASSES][..few]),
            many => add_slope(row, target, x, g, &mut [0.0; MOST_CLASSES][..many]),
        }
    }

    #[inline(always)]
    fn is_right(&self, row: impl Row, target: f64, x: &[f64]) -> Option<bool> {
        let mut scores = [0.0; MOST_CLASSES];
        let scores = &mut scores[..self.classes.len()];
        layer::add_outputs(row, x, scores);
        Some(layer::is_largest(scores, target as usize))
    }

    fn curvature(&self) -> Option<f64> {
        Some(0.5)
    }

    fn describe(&self) -> Option<RowLoss> {
        Some(RowLoss::Softmax { classes: self.classes.len() })
    }

    fn slope_sq(&self) -> Option<f64> {
        Some(2.0)
    }
}

/// [`Model::add_slope`] in room for the scores, which are zero.
#[inline(always)]
fn add_slope(row: impl Row, target: f64, x: &[f64], g: &mut [f64], scores: &mut [f64]) {
    layer::add_outputs(row, x, scores);
    layer::softmax_slopes(scores, target as usize);
    layer::add_outer(row, scores, g);
}

/// The labels that stand for classes, ascending: the c-th is class c.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Classes(Vec<f64>);

impl Classes {
    /// The classes of these labels, in any order.
    pub(super) fn new(labels: &[f64]) -> Result<Self> {
        let classes = data::classes(labels);
        match classes.len() {
            2..=MOST_CLASSES => Ok(Self(classes)),
            found => {
                let expected = format!("a classifier is for 2 to {MOST_CLASSES} classes");
                Err(Error::parameter("data", "labels", format!("{found} different ones"), expected))
            }
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// The class of a label.
    pub(super) fn target(&self, label: f64) -> Result<f64> {
        let class = self.0.partition_point(|class| *class < label);
        match self.0.get(class) {
            Some(found) if *found == label => Ok(class as f64),
            _ => {
                let expected = format!("the training data have no such label, only {}", shown(&self.0));
                Err(Error::parameter("data", "labels", label, expected))
            }
        }
    }
}

/// The first few labels.
fn shown(labels: &[f64]) -> String {
    const SHOWN: usize = 12;
    let mut shown: Vec<String> = labels.iter().take(SHOWN).map(ToString::to_string).collect();
    if labels.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}
