//! Where a program is linear: its coefficients, read off its steps.

use std::fmt;

use super::{Instruction, Program, Symbol};

/// A number as `constant` + Σ slope·input over some inputs.
#[derive(Debug, Clone, PartialEq)]
pub struct Affine {
    /// What it is where those inputs are 0.
    pub constant: f64,
    /// The coefficient of each input of the program; 0 for one that was given a value.
    pub slopes: Vec<f64>,
}

impl Affine {
    fn is_constant(&self) -> bool {
        self.slopes.iter().all(|slope| *slope == 0.0)
    }

    fn scaled(mut self, by: f64) -> Self {
        self.constant *= by;
        self.slopes.iter_mut().for_each(|slope| *slope *= by);
        self
    }

    fn plus(mut self, other: &Self, sign: f64) -> Self {
        self.constant += sign * other.constant;
        self.slopes.iter_mut().zip(&other.slopes).for_each(|(slope, other)| *slope += sign * other);
        self
    }
}

/// Why a result is no linear function of the inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotLinear {
    /// The result.
    pub result: usize,
    /// What is done on the way to it.
    pub reason: NotLinearBy,
}

/// What makes a number no linear function of its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotLinearBy {
    /// Two numbers that both depend on inputs are multiplied.
    Product,
    /// A divisor depends on an input.
    Divisor,
    /// A root is taken of a number that depends on an input.
    Root,
    /// A choice is made by the sign of a number that depends on an input.
    Choice,
}

impl fmt::Display for NotLinearBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotLinearBy::Product => "two numbers that vary are multiplied",
            NotLinearBy::Divisor => "it divides by a number that varies",
            NotLinearBy::Root => "it takes the root of a number that varies",
            NotLinearBy::Choice => "it chooses by the sign of a number that varies",
        })
    }
}

impl fmt::Display for NotLinear {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "result {} is not linear: {}", self.result, self.reason)
    }
}

impl std::error::Error for NotLinear {}

impl Program {
    /// Every result as a linear function of the inputs that have no value in `given`, with the others at
    /// their values.
    ///
    /// Refuses a result that is no such function. O(steps · inputs).
    ///
    /// ```
    /// use oneway::numeric::{NotLinearBy, Symbol, Tape};
    /// let product = Tape::record(|| vec![Symbol::input("η") * Symbol::input("v")]);
    /// assert_eq!(product.linear(&[Some(0.5), None]).unwrap()[0].slopes, [0.0, 0.5]);
    /// assert_eq!(product.linear(&[None, None]).unwrap_err().reason, NotLinearBy::Product);
    /// ```
    pub fn linear(&self, given: &[Option<f64>]) -> Result<Vec<Affine>, NotLinear> {
        let size = self.inputs().count();
        let mut values: Vec<Result<Affine, NotLinearBy>> = Vec::with_capacity(self.instructions.len());
        let mut input = 0;
        for instruction in &self.instructions {
            let at = |symbol: Symbol| values[symbol.index()].clone();
            let number = |symbol: Symbol, otherwise: NotLinearBy| {
                at(symbol).and_then(
                    |value| {
                        if value.is_constant() { Ok(value.constant) } else { Err(otherwise) }
                    },
                )
            };
            let constant = |value: f64| Affine { constant: value, slopes: vec![0.0; size] };
            let value = match *instruction {
                Instruction::Input(_) => {
                    let mut value = constant(0.0);
                    match given.get(input).copied().flatten() {
                        Some(number) => value.constant = number,
                        None => value.slopes[input] = 1.0,
                    }
                    input += 1;
                    Ok(value)
                }
                Instruction::Constant(value) | Instruction::Parameter(_, value) => Ok(constant(value)),
                Instruction::Add(a, b) => at(a).and_then(|a| Ok(a.plus(&at(b)?, 1.0))),
                Instruction::Sub(a, b) => at(a).and_then(|a| Ok(a.plus(&at(b)?, -1.0))),
                Instruction::Mul(a, b) => match (at(a), at(b)) {
                    (Ok(a), Ok(b)) if a.is_constant() => Ok(b.scaled(a.constant)),
                    (Ok(a), Ok(b)) if b.is_constant() => Ok(a.scaled(b.constant)),
                    (Err(reason), _) | (_, Err(reason)) => Err(reason),
                    _ => Err(NotLinearBy::Product),
                },
                Instruction::Div(a, b) => at(a).and_then(|a| {
                    let divisor = number(b, NotLinearBy::Divisor)?;
                    let slopes = a.slopes.iter().map(|slope| slope / divisor).collect();
                    Ok(Affine { constant: a.constant / divisor, slopes })
                }),
                Instruction::Sqrt(a) => number(a, NotLinearBy::Root).map(|a| constant(a.sqrt())),
                Instruction::IfPositive(a, b, c) => {
                    number(a, NotLinearBy::Choice).and_then(|a| if a > 0.0 { at(b) } else { at(c) })
                }
            };
            values.push(value);
        }
        let result = |(result, symbol): (usize, &Symbol)| {
            values[symbol.index()].clone().map_err(|reason| NotLinear { result, reason })
        };
        self.results.iter().enumerate().map(result).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numeric::{Real, Tape};

    #[test]
    fn coefficients_are_found_where_there_are_some() {
        let program = Tape::record(|| {
            let [η, x, y] = ["η", "x", "y"].map(Symbol::input);
            vec![x - η * y, η.if_positive((x - y) / η, x), x + Symbol::one(), η.sqrt() * (y + y)]
        });
        let found = program.linear(&[Some(0.25), None, None]).unwrap();
        assert_eq!(found[0], Affine { constant: 0.0, slopes: vec![0.0, 1.0, -0.25] });
        assert_eq!(found[1].slopes, [0.0, 4.0, -4.0]);
        assert_eq!(found[2], Affine { constant: 1.0, slopes: vec![0.0, 1.0, 0.0] });
        assert_eq!(found[3].slopes, [0.0, 0.0, 1.0]);
    }

    #[test]
    fn what_is_not_linear_is_refused_with_the_reason() {
        let refused = |work: fn([Symbol; 2]) -> Symbol| {
            let program = Tape::record(|| vec![Symbol::zero(), work(["x", "y"].map(Symbol::input))]);
            let error = program.linear(&[None, None]).unwrap_err();
            assert_eq!(error.result, 1);
            error.reason
        };
        assert_eq!(refused(|[x, y]| x * y), NotLinearBy::Product);
        assert_eq!(refused(|[x, y]| x / y), NotLinearBy::Divisor);
        assert_eq!(refused(|[x, _]| x.sqrt() - x), NotLinearBy::Root);
        assert_eq!(refused(|[x, y]| x.if_positive(y, x)), NotLinearBy::Choice);
        // a step that is not linear does no harm where no result needs it
        let unused = Tape::record(|| {
            let x = Symbol::input("x");
            let _ = x * x;
            vec![x]
        });
        assert!(unused.linear(&[None]).is_ok());
    }
}
