//! A number that writes down what is done to it.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Sub};

use super::Real;

/// A place on the tape that is being recorded on this thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Symbol(usize);

/// One step of a straight-line program. Its operands are earlier steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Instruction {
    /// A number that is given when the program runs; the n-th input is the n-th number.
    Input(&'static str),
    /// A number that never changes.
    Constant(f64),
    /// A hyper-parameter.
    Parameter(&'static str, f64),
    /// a + b.
    Add(Symbol, Symbol),
    /// a − b.
    Sub(Symbol, Symbol),
    /// a·b.
    Mul(Symbol, Symbol),
    /// a/b.
    Div(Symbol, Symbol),
    /// √a.
    Sqrt(Symbol),
    /// b where a > 0, else c.
    IfPositive(Symbol, Symbol, Symbol),
}

thread_local! {
    static TAPE: RefCell<Vec<Instruction>> = const { RefCell::new(vec![]) };
}

/// Records programs.
#[derive(Debug)]
pub struct Tape;

impl Tape {
    /// What `work` does to its symbols, on a tape of its own; its results are the program's.
    ///
    /// ```
    /// use oneway::numeric::{Real, Symbol, Tape};
    /// let program = Tape::record(|| {
    ///     let (x, η, v) = (Symbol::input("x"), Symbol::input("η"), Symbol::input("v"));
    ///     vec![x - η * v]
    /// });
    /// assert_eq!(program.text(0), "x − ηv");
    /// assert_eq!(program.run(&[1.0, 0.5, 4.0]), [-1.0]);
    /// ```
    pub fn record(work: impl FnOnce() -> Vec<Symbol>) -> Program {
        let outer = TAPE.take();
        let results = work();
        Program { instructions: TAPE.replace(outer), results }
    }
}

impl Symbol {
    /// A number that the program is given.
    pub fn input(name: &'static str) -> Self {
        Self::push(Instruction::Input(name))
    }

    #[inline(never)] // it stands in every rule
    fn push(instruction: Instruction) -> Self {
        TAPE.with_borrow_mut(|tape| {
            tape.push(instruction);
            Symbol(tape.len() - 1)
        })
    }
}

macro_rules! recorded {
    ($($trait:ident $name:ident),*) => {
        $(
            impl $trait for Symbol {
                type Output = Self;

                fn $name(self, other: Self) -> Self {
                    Symbol::push(Instruction::$trait(self, other))
                }
            }
        )*
    };
}

recorded!(Add add, Sub sub, Mul mul, Div div);

impl Real for Symbol {
    fn constant(value: f64) -> Self {
        Self::push(Instruction::Constant(value))
    }

    fn parameter(name: &'static str, value: f64) -> Self {
        Self::push(Instruction::Parameter(name, value))
    }

    fn sqrt(self) -> Self {
        Self::push(Instruction::Sqrt(self))
    }

    fn if_positive(self, then: Self, otherwise: Self) -> Self {
        Self::push(Instruction::IfPositive(self, then, otherwise))
    }
}

/// A straight-line program: what some arithmetic does, step by step.
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The steps, each of which may use those before it.
    pub instructions: Vec<Instruction>,
    /// Where the results are.
    pub results: Vec<Symbol>,
}

impl Program {
    /// The names of the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Input(name) => Some(*name),
            _ => None,
        })
    }

    /// Runs it on numbers, one an input: the same operations in the same order as the engines do, to the same bits.
    pub fn run(&self, inputs: &[f64]) -> Vec<f64> {
        let mut inputs = inputs.iter().copied();
        let mut values: Vec<f64> = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let at = |symbol: Symbol| values[symbol.0];
            values.push(match *instruction {
                Instruction::Input(_) => inputs.next().unwrap_or(f64::NAN),
                Instruction::Constant(value) | Instruction::Parameter(_, value) => value,
                Instruction::Add(a, b) => at(a) + at(b),
                Instruction::Sub(a, b) => at(a) - at(b),
                Instruction::Mul(a, b) => at(a) * at(b),
                Instruction::Div(a, b) => at(a) / at(b),
                Instruction::Sqrt(a) => at(a).sqrt(),
                Instruction::IfPositive(a, b, c) if at(a) > 0.0 => {
                    let _ = c;
                    at(b)
                }
                Instruction::IfPositive(_, _, c) => at(c),
            });
        }
        self.results.iter().map(|symbol| values[symbol.0]).collect()
    }

    /// The coefficients of result r in the inputs, where it is linear in those that `given` does not fix; `None` where it is not.
    /// Entry i belongs to the i-th input, and is 0 for a fixed one.
    ///
    /// ```
    /// use oneway::numeric::{Symbol, Tape};
    /// let product = Tape::record(|| vec![Symbol::input("η") * Symbol::input("v")]);
    /// assert_eq!(product.linear(0, &[Some(0.5), None]), Some(vec![0.0, 0.5]));
    /// assert_eq!(product.linear(0, &[None, None]), None);
    /// ```
    pub fn linear(&self, result: usize, given: &[Option<f64>]) -> Option<Vec<f64>> {
        /// A value as `number` + Σ coefficient·input; `None` where it is no such sum.
        type Affine = Option<(f64, Vec<f64>)>;
        let size = given.len();
        let is_number = |value: &(f64, Vec<f64>)| value.1.iter().all(|c| *c == 0.0);
        let scale = |(number, slope): (f64, Vec<f64>), by: f64| {
            (number * by, slope.into_iter().map(|c| c * by).collect::<Vec<_>>())
        };
        let mut values: Vec<Affine> = vec![];
        let mut input = 0;
        for instruction in &self.instructions {
            let at = |symbol: Symbol| values[symbol.0].clone();
            let sum = |a: Symbol, b: Symbol, sign: f64| -> Affine {
                let ((a, slope_a), (b, slope_b)) = (at(a)?, at(b)?);
                Some((a + sign * b, slope_a.iter().zip(&slope_b).map(|(a, b)| a + sign * b).collect()))
            };
            values.push(match *instruction {
                Instruction::Input(_) => {
                    let value = match given.get(input).copied().flatten() {
                        Some(number) => (number, vec![0.0; size]),
                        None => (0.0, (0..size).map(|i| f64::from(i == input)).collect()),
                    };
                    input += 1;
                    Some(value)
                }
                Instruction::Constant(value) | Instruction::Parameter(_, value) => {
                    Some((value, vec![0.0; size]))
                }
                Instruction::Add(a, b) => sum(a, b, 1.0),
                Instruction::Sub(a, b) => sum(a, b, -1.0),
                Instruction::Mul(a, b) => match (at(a), at(b)) {
                    (Some(a), Some(b)) if is_number(&a) => Some(scale(b, a.0)),
                    (Some(a), Some(b)) if is_number(&b) => Some(scale(a, b.0)),
                    _ => None,
                },
                Instruction::Div(a, b) => {
                    at(b).filter(is_number).and_then(|(b, _)| Some(scale(at(a)?, 1.0 / b)))
                }
                Instruction::Sqrt(a) => at(a).filter(is_number).map(|(a, slope)| (a.sqrt(), slope)),
                Instruction::IfPositive(a, b, c) => {
                    at(a).filter(is_number).and_then(|(a, _)| if a > 0.0 { at(b) } else { at(c) })
                }
            });
        }
        let (number, slope) = values[self.results.get(result)?.0].clone()?;
        (number == 0.0).then_some(slope)
    }

    /// Result r as a formula of the inputs.
    pub fn text(&self, result: usize) -> String {
        self.formula_of(result, &|_| None, &|_| None)
    }

    /// The same, with other words for some inputs (and how tightly each is bound: 0 a sum, 1 a product, 2 by itself), and with
    /// names for some steps in place of their formulas.
    pub(crate) fn formula_of(
        &self,
        result: usize,
        input: &dyn Fn(&str) -> Option<(String, u8)>,
        named: &dyn Fn(Symbol) -> Option<String>,
    ) -> String {
        Formulas { program: self, input, named }.of(self.results[result]).0
    }

    fn is_zero(&self, symbol: Symbol) -> bool {
        self.instructions[symbol.0] == Instruction::Constant(0.0)
    }
}

/// Formulas of a program.
struct Formulas<'p> {
    program: &'p Program,
    input: &'p dyn Fn(&str) -> Option<(String, u8)>,
    named: &'p dyn Fn(Symbol) -> Option<String>,
}

impl Formulas<'_> {
    /// A formula, and how tightly it is bound.
    fn of(&self, symbol: Symbol) -> (String, u8) {
        match self.program.instructions[symbol.0] {
            Instruction::Input(name) => {
                (self.input)(name).unwrap_or_else(|| (name.to_owned(), binding(name)))
            }
            Instruction::Parameter(name, _) => (name.to_owned(), 2),
            Instruction::Constant(value) => (format!("{value}"), 2),
            Instruction::Add(a, b) if self.program.is_zero(a) => self.of(b),
            Instruction::Add(a, b) => (format!("{} + {}", self.part(a, 0), self.part(b, 1)), 0),
            Instruction::Sub(a, b) => (format!("{} − {}", self.part(a, 0), self.part(b, 1)), 0),
            Instruction::Mul(a, b) => {
                let (a, b) = (self.part(a, 1), self.part(b, 1));
                let apart = b.starts_with(|c: char| c.is_ascii_digit());
                (format!("{a}{}{b}", if apart { "·" } else { "" }), 1)
            }
            Instruction::Div(a, b) => (format!("{}/{}", self.part(a, 1), self.part(b, 2)), 1),
            Instruction::Sqrt(a) => (format!("√{}", self.part(a, 2)), 2),
            // what holds in every round that takes a step
            Instruction::IfPositive(_, then, _) => self.of(then),
        }
    }

    /// A formula within another: by its name if it has one, and in brackets if it is not bound as tightly as it must be.
    fn part(&self, symbol: Symbol, at_least: u8) -> String {
        let is_input = matches!(self.program.instructions[symbol.0], Instruction::Input(_));
        if let Some(name) = (self.named)(symbol).filter(|_| !is_input) {
            return name;
        }
        let (text, binding) = self.of(symbol);
        if binding < at_least { format!("({text})") } else { text }
    }
}

/// How tightly a name is bound: one with a space in it is a sum.
fn binding(name: &str) -> u8 {
    if name.contains(' ') { 0 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_keep_the_order_of_operations() {
        let [a, b, c] = ["a", "b", "c"];
        let program = Tape::record(|| {
            let [a, b, c] = [a, b, c].map(Symbol::input);
            let λ = Symbol::parameter("λ", 0.1);
            vec![
                (Symbol::one() - λ) * a + λ * b,
                a - (b - c),
                a - b * c / (c.sqrt() + b),
                b.if_positive(a / b, c),
                (a + b).sqrt(),
            ]
        });
        let found: Vec<String> = (0..5).map(|result| program.text(result)).collect();
        assert_eq!(found, ["(1 − λ)a + λb", "a − (b − c)", "a − bc/(√c + b)", "a/b", "√(a + b)"]);
        assert_eq!(program.run(&[1.0, 2.0, 4.0])[..2], [0.9 * 1.0 + 0.1 * 2.0, 3.0]);
        assert_eq!(program.inputs().collect::<String>(), "abc");
    }

    #[test]
    fn coefficients_are_found_where_there_are_some() {
        let program = Tape::record(|| {
            let [η, x, y] = ["η", "x", "y"].map(Symbol::input);
            vec![x - η * y, η.if_positive((x - y) / η, x), x * y, x + Symbol::one()]
        });
        let given = [Some(0.5), None, None];
        assert_eq!(program.linear(0, &given), Some(vec![0.0, 1.0, -0.5]));
        assert_eq!(program.linear(1, &given), Some(vec![0.0, 2.0, -2.0]));
        assert_eq!(program.linear(2, &given), None, "a product");
        assert_eq!(program.linear(3, &given), None, "not without a constant");
    }
}
