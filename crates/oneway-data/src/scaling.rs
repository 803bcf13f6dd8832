//! Features of one size: what is fitted on the rows to learn from is applied to all.
//!
//! With μ_c and σ_c the mean and the standard deviation of feature c over the N training rows (zeros count),
//! each value a_rc becomes
//!
//! | rule | value | zeros |
//! |---|---|---|
//! | `standardise` | (a_rc − μ_c)/σ_c | are filled |
//! | `unit-variance` | a_rc/σ_c | stay |
//! | `max-abs` | a_rc/max_r abs(a_rc) | stay |
//! | `unit-norm` | a_rc/‖a_r‖ | stay |
//!
//! A feature that is constant becomes 0 by the first rule; one with no σ_c or maximum is left as it is by the
//! others.

use oneway::data::{Dataset, SparseRows};
use oneway::{Error, Result};

/// Rows of which less than this share is stored are sparse: filled, they would take four times the memory.
const SPARSE: f64 = 0.25;

/// A rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scaling {
    /// Mean 0 and variance 1.
    Standardise,
    /// Variance 1, not moved.
    UnitVariance,
    /// The largest is 1 or −1.
    MaxAbs,
    /// Rows of length 1.
    UnitNorm,
}

impl Scaling {
    /// All rules by name.
    pub const NAMED: [(&'static str, Scaling); 4] = [
        ("standardise", Scaling::Standardise),
        ("unit-variance", Scaling::UnitVariance),
        ("max-abs", Scaling::MaxAbs),
        ("unit-norm", Scaling::UnitNorm),
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Scaling::Standardise => "standardise",
            Scaling::UnitVariance => "unit-variance",
            Scaling::MaxAbs => "max-abs",
            Scaling::UnitNorm => "unit-norm",
        }
    }

    /// Finds what it takes of these rows. Two passes over them.
    ///
    /// # Errors
    /// Rows that are too sparse to be filled; numbers so large that their squares are not finite.
    pub fn fit(self, data: &Dataset) -> Result<Fitted> {
        let d = data.features;
        let mut fitted = Fitted { by_row: self == Scaling::UnitNorm, shift: vec![], divide: vec![] };
        match self {
            Scaling::UnitNorm => return Ok(fitted),
            Scaling::MaxAbs => {
                fitted.divide = vec![0.0; d];
                for (column, value) in entries(data) {
                    fitted.divide[column] = f64::max(fitted.divide[column], value.abs());
                }
            }
            Scaling::Standardise | Scaling::UnitVariance => {
                if self == Scaling::Standardise {
                    check_filled(data)?;
                }
                let rows = data.len() as f64;
                let (mut mean, mut stored) = (vec![0.0; d], vec![0_usize; d]);
                for (column, value) in entries(data) {
                    mean[column] += value;
                    stored[column] += 1;
                }
                mean.iter_mut().for_each(|mean| *mean /= rows); //                    μ = (1/N) Σ a
                let mut squares = vec![0.0; d];
                for (column, value) in entries(data) {
                    squares[column] += (value - mean[column]) * (value - mean[column]);
                }
                for ((squares, mean), stored) in squares.iter_mut().zip(&mean).zip(&stored) {
                    let zeros = data.len() - stored;
                    // σ = √((1/N) Σ (a − μ)²)
                    *squares = ((*squares + zeros as f64 * (mean * mean)) / rows).sqrt();
                }
                fitted.divide = squares;
                if self == Scaling::Standardise {
                    fitted.shift = mean;
                }
            }
        }
        match fitted.divide.iter().chain(&fitted.shift).all(|number| number.is_finite()) {
            true => Ok(fitted),
            false => {
                Err(Error::parameter("problem", "scaling", self.name(), "the numbers are too large for it"))
            }
        }
    }
}

fn entries(data: &Dataset) -> impl Iterator<Item = (usize, f64)> + '_ {
    (0..data.len()).flat_map(|r| data.rows.row(r)).map(|(column, value)| (column as usize, value))
}

/// Sparse rows stay sparse: `standardise` would fill all their zeros.
fn check_filled(data: &Dataset) -> Result<()> {
    let cells = data.len() as f64 * data.features as f64;
    let share = data.rows.entries() as f64 / cells;
    if share >= SPARSE && cells < f64::from(u32::MAX) {
        return Ok(());
    }
    let expected = format!(
        "the rows are sparse ({:.2} % of their cells are not 0), and to move each feature to mean 0 would fill \
         them; \"unit-variance\", \"max-abs\" and \"unit-norm\" keep zeros",
        100.0 * share
    );
    Err(Error::parameter("problem", "scaling", "standardise", expected))
}

/// A rule and what it takes of the training rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    by_row: bool,
    /// μ, if rows are moved.
    shift: Vec<f64>,
    /// What features are divided by; 0 divides nothing.
    divide: Vec<f64>,
}

impl Fitted {
    /// The rows, scaled. Features beyond those that it was fitted on are left as they are.
    pub fn apply(&self, data: &Dataset) -> Dataset {
        let mut rows = SparseRows::new();
        let mut full = vec![0.0; self.shift.len()];
        for r in 0..data.len() {
            let row = || data.rows.row(r);
            if self.by_row {
                let largest = row().fold(0.0, |most, (_, value)| f64::max(most, value.abs()));
                // ‖a‖ = m·√Σ(a/m)², which neither overflows nor vanishes
                let norm = row().map(|(_, value)| (value / largest) * (value / largest)).sum::<f64>().sqrt();
                rows.push(
                    row().map(|(column, value)| (column, value / largest / norm)).filter(|(_, v)| *v != 0.0),
                );
            } else if full.is_empty() {
                let scaled = row().map(|(column, value)| (column, self.divided(column as usize, value)));
                rows.push(scaled.filter(|(_, value)| *value != 0.0));
            } else {
                full.fill(0.0);
                for (column, value) in row() {
                    if let Some(place) = full.get_mut(column as usize) {
                        *place = value;
                    }
                }
                let moved = full.iter().zip(&self.shift).enumerate();
                let scaled = moved.map(|(c, (value, mean))| (c as u32, self.divided(c, value - mean)));
                rows.push(scaled.filter(|(_, value)| *value != 0.0));
            }
        }
        Dataset { features: data.features, labels: data.labels.clone(), rows }
    }

    fn divided(&self, column: usize, value: f64) -> f64 {
        match self.divide.get(column) {
            Some(by) if *by > 0.0 => value / by,
            Some(_) if !self.shift.is_empty() => 0.0, // constant: what is left is rounding
            _ => value,
        }
    }
}
