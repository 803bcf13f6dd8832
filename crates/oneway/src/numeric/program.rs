//! Straight-line programs: what some arithmetic does, step by step.

use std::collections::HashMap;
use std::fmt;

use super::formula::Formula;
use super::formulas::Formulas;
use super::{Float, Instruction, Symbol};

/// A straight-line program: what some arithmetic does, step by step.
///
/// It prints as a listing, one step a line, with constants by their bits: all that a printer of source code
/// for another device needs.
///
/// ```
/// use oneway::numeric::{Real, Symbol, Tape};
/// let program = Tape::record(|| vec![Symbol::input("x") * Symbol::parameter("λ", 0.1)]);
/// assert_eq!(program.to_string(), "\
/// t0 = input 0 (x)
/// t1 = parameter 0x3fb999999999999a (λ = 0.1)
/// t2 = t0 * t1
/// results t2
/// ");
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Program {
    /// The steps, each of which may use those before it.
    pub instructions: Vec<Instruction>,
    /// Where the results are.
    pub results: Vec<Symbol>,
}

impl Instruction {
    /// The steps that it uses.
    pub fn operands(&self) -> impl Iterator<Item = Symbol> {
        let operands = match *self {
            Instruction::Input(_) | Instruction::Constant(_) | Instruction::Parameter(..) => [None; 3],
            Instruction::Sqrt(a) => [Some(a), None, None],
            Instruction::Add(a, b)
            | Instruction::Sub(a, b)
            | Instruction::Mul(a, b)
            | Instruction::Div(a, b) => [Some(a), Some(b), None],
            Instruction::IfPositive(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }

    /// The same with other operands.
    fn with_operands(self, of: impl Fn(Symbol) -> Symbol) -> Self {
        match self {
            Instruction::Input(_) | Instruction::Constant(_) | Instruction::Parameter(..) => self,
            Instruction::Add(a, b) => Instruction::Add(of(a), of(b)),
            Instruction::Sub(a, b) => Instruction::Sub(of(a), of(b)),
            Instruction::Mul(a, b) => Instruction::Mul(of(a), of(b)),
            Instruction::Div(a, b) => Instruction::Div(of(a), of(b)),
            Instruction::Sqrt(a) => Instruction::Sqrt(of(a)),
            Instruction::IfPositive(a, b, c) => Instruction::IfPositive(of(a), of(b), of(c)),
        }
    }
}

impl Program {
    /// The names of the inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.instructions.iter().filter_map(|instruction| match instruction {
            Instruction::Input(name) => Some(*name),
            _ => None,
        })
    }

    /// Which input a step is, if it is one.
    pub fn input_at(&self, step: Symbol) -> Option<usize> {
        let is_input = |instruction: &&Instruction| matches!(instruction, Instruction::Input(_));
        self.instructions.get(step.index()).filter(is_input)?;
        Some(self.instructions[..step.index()].iter().filter(is_input).count())
    }

    /// Runs it on numbers, one for each input, and returns one for each result: the same operations in the
    /// same order as the engines do them, to the same bits, in double and in single precision. An input that
    /// is missing is NaN. O(steps).
    ///
    /// ```
    /// use oneway::numeric::{Real, Symbol, Tape};
    /// let tenth = Tape::record(|| vec![Symbol::input("x") / Symbol::constant(10.0)]);
    /// assert_eq!(tenth.run(&[1.0_f64]), [0.1]);
    /// assert_eq!(tenth.run(&[1.0_f32]), [0.1_f32]);
    /// ```
    pub fn run<T: Float>(&self, inputs: &[T]) -> Vec<T> {
        let mut inputs = inputs.iter().copied();
        let mut values: Vec<T> = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            let at = |symbol: Symbol| values[symbol.index()];
            values.push(match *instruction {
                Instruction::Input(_) => inputs.next().unwrap_or_else(|| T::from_f64(f64::NAN)),
                Instruction::Constant(value) | Instruction::Parameter(_, value) => T::from_f64(value),
                Instruction::Add(a, b) => at(a) + at(b),
                Instruction::Sub(a, b) => at(a) - at(b),
                Instruction::Mul(a, b) => at(a) * at(b),
                Instruction::Div(a, b) => at(a) / at(b),
                Instruction::Sqrt(a) => at(a).sqrt(),
                Instruction::IfPositive(a, b, c) => {
                    if at(a) > T::default() {
                        at(b)
                    } else {
                        at(c)
                    }
                }
            });
        }
        self.results.iter().map(|symbol| values[symbol.index()]).collect()
    }

    /// The same program without the steps that no result needs and with equal steps done once. It has all
    /// inputs, in order, and its results have the same bits.
    pub fn reduced(&self) -> Program {
        let mut needed = vec![false; self.instructions.len()];
        self.results.iter().for_each(|symbol| needed[symbol.index()] = true);
        for (at, instruction) in self.instructions.iter().enumerate().rev() {
            match instruction {
                Instruction::Input(_) => needed[at] = true,
                _ if needed[at] => {
                    instruction.operands().for_each(|operand| needed[operand.index()] = true);
                }
                _ => {}
            }
        }
        let mut places = vec![Symbol::at(0); self.instructions.len()];
        let mut instructions: Vec<Instruction> = vec![];
        let mut known = HashMap::new();
        for (at, instruction) in self.instructions.iter().enumerate().filter(|(at, _)| needed[*at]) {
            let instruction = instruction.with_operands(|operand| places[operand.index()]);
            let new = Symbol::at(instructions.len());
            places[at] = match instruction {
                Instruction::Input(_) => new, // two inputs may have one name
                _ => *known.entry(Key::new(instruction)).or_insert(new),
            };
            if places[at] == new {
                instructions.push(instruction);
            }
        }
        let results = self.results.iter().map(|symbol| places[symbol.index()]).collect();
        Program { instructions, results }
    }

    /// How many operations its results take, each counted once; those on constants and hyper-parameters
    /// alone, such as 1 − λ, are the same for all coordinates and not counted.
    ///
    /// ```
    /// use oneway::numeric::{Real, Symbol, Tape};
    /// let program = Tape::record(|| {
    ///     let (λ, [m, g]) = (Symbol::parameter("λ", 0.1), ["m", "g"].map(Symbol::input));
    ///     vec![(Symbol::one() - λ) * m + λ * g]
    /// });
    /// assert_eq!(program.operations().to_string(), "1 +, 2 ×");
    /// ```
    pub fn operations(&self) -> Operations {
        let program = self.reduced();
        let mut varies: Vec<bool> = vec![];
        let mut count = Operations::default();
        for instruction in &program.instructions {
            let depends = instruction.operands().any(|operand| varies[operand.index()]);
            varies.push(depends || matches!(instruction, Instruction::Input(_)));
            match instruction {
                _ if !depends => {}
                Instruction::Add(..) => count.additions += 1,
                Instruction::Sub(..) => count.subtractions += 1,
                Instruction::Mul(..) => count.multiplications += 1,
                Instruction::Div(..) => count.divisions += 1,
                Instruction::Sqrt(_) => count.roots += 1,
                Instruction::IfPositive(..) => count.choices += 1,
                Instruction::Input(_) | Instruction::Constant(_) | Instruction::Parameter(..) => {}
            }
        }
        count
    }

    /// Result r as a formula of the inputs.
    pub fn text(&self, result: usize) -> String {
        let names: Vec<&str> = self.inputs().collect();
        Formulas::new(self, |i| Formula::letter(names[i])).result(result).text()
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |symbol: &Symbol| format!("t{}", symbol.index());
        let mut inputs = 0;
        for (at, instruction) in self.instructions.iter().enumerate() {
            let [a, b, c] = {
                let mut operands = instruction.operands().map(|operand| name(&operand));
                [(); 3].map(|()| operands.next().unwrap_or_default())
            };
            write!(f, "t{at} = ")?;
            match instruction {
                Instruction::Input(name) => {
                    writeln!(f, "input {inputs} ({name})")?;
                    inputs += 1;
                }
                Instruction::Constant(value) => writeln!(f, "constant {:#018x} ({value})", value.to_bits())?,
                Instruction::Parameter(name, value) => {
                    writeln!(f, "parameter {:#018x} ({name} = {value})", value.to_bits())?;
                }
                Instruction::Add(..) => writeln!(f, "{a} + {b}")?,
                Instruction::Sub(..) => writeln!(f, "{a} - {b}")?,
                Instruction::Mul(..) => writeln!(f, "{a} * {b}")?,
                Instruction::Div(..) => writeln!(f, "{a} / {b}")?,
                Instruction::Sqrt(_) => writeln!(f, "sqrt {a}")?,
                Instruction::IfPositive(..) => writeln!(f, "{a} > 0 ? {b} : {c}")?,
            }
        }
        writeln!(f, "results {}", self.results.iter().map(name).collect::<Vec<_>>().join(" "))
    }
}

/// What tells two steps apart: the operation, and its operands or the bits of its number.
#[derive(PartialEq, Eq, Hash)]
struct Key {
    operation: std::mem::Discriminant<Instruction>,
    operands: Vec<usize>,
    bits: u64,
}

impl Key {
    fn new(instruction: Instruction) -> Self {
        let bits = match instruction {
            Instruction::Constant(value) | Instruction::Parameter(_, value) => value.to_bits(),
            _ => 0,
        };
        let operands = instruction.operands().map(Symbol::index).collect();
        Self { operation: std::mem::discriminant(&instruction), operands, bits }
    }
}

/// How many operations something takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Operations {
    /// a + b.
    pub additions: usize,
    /// a − b.
    pub subtractions: usize,
    /// a·b.
    pub multiplications: usize,
    /// a/b.
    pub divisions: usize,
    /// √a.
    pub roots: usize,
    /// One of two numbers, by the sign of a third.
    pub choices: usize,
}

impl Operations {
    fn counts(self) -> [(usize, &'static str); 6] {
        [
            (self.additions, "+"),
            (self.subtractions, "−"),
            (self.multiplications, "×"),
            (self.divisions, "÷"),
            (self.roots, "√"),
            (self.choices, "?:"),
        ]
    }

    /// All of them.
    pub fn total(self) -> usize {
        self.counts().iter().map(|(count, _)| count).sum()
    }
}

impl std::ops::Add for Operations {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            additions: self.additions + other.additions,
            subtractions: self.subtractions + other.subtractions,
            multiplications: self.multiplications + other.multiplications,
            divisions: self.divisions + other.divisions,
            roots: self.roots + other.roots,
            choices: self.choices + other.choices,
        }
    }
}

impl std::iter::Sum for Operations {
    fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
        all.fold(Self::default(), |sum, one| sum + one)
    }
}

impl fmt::Display for Operations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = self.counts().into_iter().filter(|(count, _)| *count > 0);
        let counts: Vec<String> = counts.map(|(count, sign)| format!("{count} {sign}")).collect();
        f.write_str(if counts.is_empty() { "none" } else { "" })?;
        f.write_str(&counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use crate::numeric::{Real, Symbol, Tape};

    #[test]
    fn formulas_are_those_of_the_operations() {
        let program = Tape::record(|| {
            let [a, b, c] = ["a", "b", "c"].map(Symbol::input);
            let (λ, none) = (Symbol::parameter("λ", 0.1), Symbol::parameter("β", 0.0));
            vec![
                (Symbol::one() - λ) * a + λ * b,
                a - (b - c),
                a - b * c / (c.sqrt() + b),
                Symbol::parameter("η", 0.1).if_positive(a / b, c),
                (a + b).sqrt(),
                a - Symbol::zero() + none * b + Symbol::one() * (c * c),
                a + (Symbol::constant(0.5) * b - Symbol::constant(0.5) * a),
                b.if_positive(a, c),
                (a - b).if_positive(a, b) + (b - a).if_positive(a, b) * c,
                λ * a.if_positive(a, Symbol::zero() - a),
            ]
        });
        let found: Vec<String> = (0..10).map(|result| program.text(result)).collect();
        let expected = [
            "(1 − λ)a + λb",
            "a − b + c",
            "a − bc/(√c + b)",
            "a/b",
            "√(a + b)",
            "a + c²",
            "½(a + b)",
            "(a if b > 0 else c)",
            "max(a, b) + min(a, b)c",
            "λ|a|",
        ];
        assert_eq!(found, expected);
        assert_eq!(program.run(&[1.0, 2.0, 4.0])[..2], [0.9 * 1.0 + 0.1 * 2.0, 3.0]);
        assert_eq!(program.inputs().collect::<String>(), "abc");
    }

    #[test]
    fn a_reduced_program_does_the_same_with_less() {
        let program = Tape::record(|| {
            let [x, y] = ["x", "x"].map(Symbol::input); // two inputs of one name stay two
            let _ = x.sqrt();
            vec![(x - y) * (x - y), x + Symbol::constant(-0.0), x + Symbol::zero()]
        });
        let reduced = program.reduced();
        assert_eq!(reduced.instructions.len(), 8, "{reduced}");
        for inputs in [[3.0, 1.0], [-0.0, 0.0]] {
            let bits = |results: Vec<f64>| results.into_iter().map(f64::to_bits).collect::<Vec<_>>();
            assert_eq!(bits(program.run(&inputs)), bits(reduced.run(&inputs)));
        }
        assert_eq!(program.operations().total(), 4);
    }
}
