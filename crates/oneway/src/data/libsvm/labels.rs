//! The first cell of a line.

use crate::error::shown;

/// What labels are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Labels {
    /// One pair in the whole file, read as −1 and +1.
    Signs,
    /// Finite numbers, kept as they are: classes or real targets.
    Numbers,
}

const SIGNS_ALLOWED: &str = "a row begins with its label, -1 or +1 (or 0 or 1, or 1 or 2, in the whole file)";
const NUMBERS_ALLOWED: &str = "a row begins with its label, a finite number";

/// The labels as they stand in the file. What 1 means among signs may only be known at its end.
pub(super) struct ReadLabels {
    kind: Labels,
    values: Vec<f64>,
    /// The first sign other than 1, which tells the pair, and its line.
    telling: Option<(f64, usize)>,
}

impl ReadLabels {
    pub(super) fn new(kind: Labels) -> Self {
        Self { kind, values: vec![], telling: None }
    }

    /// Reads the label of a line.
    pub(super) fn push(&mut self, label: &str, line: usize) -> Result<(), String> {
        let value = match self.kind {
            Labels::Signs => self.sign(label, line)?,
            Labels::Numbers => number(label)?,
        };
        self.values.push(value);
        Ok(())
    }

    fn sign(&mut self, label: &str, line: usize) -> Result<f64, String> {
        let value = match label.parse::<f64>() {
            Ok(value) if [-1.0, 0.0, 1.0, 2.0].contains(&value) => value,
            _ => return Err(format!("`{}` is not a label: {SIGNS_ALLOWED}", shown(label))),
        };
        if value != 1.0 {
            let (telling, first) = *self.telling.get_or_insert((value, line));
            if value != telling {
                return Err(format!(
                    "label {value} does not go with label {telling} on line {first}: {SIGNS_ALLOWED}"
                ));
            }
        }
        Ok(value)
    }

    /// All labels; signs as −1 and +1.
    pub(super) fn finish(self) -> Vec<f64> {
        let positive = match (self.kind, self.telling) {
            (Labels::Numbers, _) => return self.values,
            (Labels::Signs, Some((2.0, _))) => 2.0,
            (Labels::Signs, _) => 1.0,
        };
        self.values.into_iter().map(|value| if value == positive { 1.0 } else { -1.0 }).collect()
    }
}

fn number(label: &str) -> Result<f64, String> {
    match label.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value + 0.0), // −0 is 0
        _ => Err(format!("`{}` is not a label: {NUMBERS_ALLOWED}", shown(label))),
    }
}
