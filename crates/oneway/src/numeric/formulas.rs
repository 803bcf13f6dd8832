//! What the steps of a program come to, as formulas.

use super::formula::Formula;
use super::{Instruction, Program, Symbol};

/// The formulas of a program's steps.
#[derive(Debug)]
pub(crate) struct Formulas<'p> {
    program: &'p Program,
    /// Every step in full.
    full: Vec<Formula>,
}

/// Shorter words for a part of a formula, where there are some.
pub(crate) type Names<'n> = &'n dyn Fn(Part<'_>) -> Option<Formula>;

/// A part of a formula that may have a name.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part<'f> {
    /// The i-th input.
    Input(usize),
    /// A step, by its formula in full.
    Step(&'f Formula),
}

impl<'p> Formulas<'p> {
    /// Those of a program, with `input(i)` for its i-th input. A choice is what holds in every round that takes a step, and a
    /// hyper-parameter that is 0 is left out.
    pub(crate) fn new(program: &'p Program, input: impl Fn(usize) -> Formula) -> Self {
        let mut formulas = Self { program, full: vec![] };
        for (at, instruction) in program.instructions.iter().enumerate() {
            let next = match program.input_at(Symbol::at(at)) {
                Some(i) => input(i),
                None => combined(*instruction, &|symbol| formulas.full(symbol).clone()),
            };
            formulas.full.push(next);
        }
        formulas
    }

    fn full(&self, symbol: Symbol) -> &Formula {
        &self.full[symbol.index()]
    }

    /// Result r in full.
    pub(crate) fn result(&self, r: usize) -> &Formula {
        self.full(self.program.results[r])
    }

    /// All steps in full.
    pub(crate) fn steps(&self) -> &[Formula] {
        &self.full
    }

    /// Result r with names for what it is made of. Where several steps come to the same, the first shows how it is made.
    pub(crate) fn named(&self, r: usize, names: Names<'_>) -> Formula {
        let first = self.full.iter().position(|step| step == self.result(r));
        self.of(first.map_or(self.program.results[r], Symbol::at), names)
    }

    fn of(&self, symbol: Symbol, names: Names<'_>) -> Formula {
        let whole = self.full(symbol);
        match self.program.input_at(symbol) {
            Some(i) => names(Part::Input(i)).unwrap_or_else(|| whole.clone()),
            None => combined(self.program.instructions[symbol.index()], &|part| {
                let full = self.full(part);
                names(Part::Step(full)).filter(|_| full != whole).unwrap_or_else(|| self.of(part, names))
            }),
        }
    }
}

/// What an instruction makes of its operands.
fn combined(instruction: Instruction, at: &dyn Fn(Symbol) -> Formula) -> Formula {
    match instruction {
        Instruction::Input(name) => Formula::letter(name),
        Instruction::Constant(value) => Formula::number(value),
        Instruction::Parameter(_, 0.0) => Formula::default(),
        Instruction::Parameter(name, _) => Formula::scalar(name),
        Instruction::Add(a, b) => at(a).plus(at(b)),
        Instruction::Sub(a, b) => at(a).plus(at(b).scaled(-1.0)),
        Instruction::Mul(a, b) => at(a).times(at(b)),
        Instruction::Div(a, b) => at(a).over(at(b)),
        Instruction::Sqrt(a) => at(a).root(),
        Instruction::IfPositive(_, then, _) => at(then),
    }
}
