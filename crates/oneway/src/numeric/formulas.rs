//! What the steps of a program come to, as formulas.

use super::formula::Formula;
use super::{Instruction, Program, Symbol};

/// The formulas of a program's steps.
#[derive(Debug)]
pub(crate) struct Formulas<'p> {
    program: &'p Program,
    /// Every step in full.
    full: Vec<Formula>,
    /// How long each would be without simplification. Those that are too long to be read have a letter in
    /// their place.
    lengths: Vec<usize>,
}

/// The longest formula that is printed: programs from elsewhere can double theirs with every step.
const LONGEST: usize = 2000;

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
    /// Those of a program, with `input(i)` for its i-th input. A choice by η is what holds in every round
    /// that takes a step, and a hyper-parameter that is 0 is left out.
    pub(crate) fn new(program: &'p Program, input: impl Fn(usize) -> Formula) -> Self {
        let mut formulas = Self { program, full: vec![], lengths: vec![] };
        for (at, instruction) in program.instructions.iter().enumerate() {
            let parts = instruction.operands().map(|operand| formulas.lengths[operand.index()]);
            let length = parts.fold(1, usize::saturating_add);
            let (next, length) = match program.input_at(Symbol::at(at)) {
                Some(i) => (input(i), 1),
                None if length > LONGEST => (Formula::letter(format!("t_{at}")), length),
                None => (combined(*instruction, &|symbol| formulas.full(symbol).clone()), length),
            };
            // what is heard is a formula already
            let length = length.max(next.length());
            let next = if length > LONGEST { Formula::letter(format!("t_{at}")) } else { next };
            formulas.full.push(next);
            formulas.lengths.push(length);
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

    /// Result r with names for what it is made of. Where several steps come to the same, the first shows how
    /// it is made.
    pub(crate) fn named(&self, r: usize, names: Names<'_>) -> Formula {
        let first = self.full.iter().position(|step| step == self.result(r));
        self.of(first.map_or(self.program.results[r], Symbol::at), names)
    }

    fn of(&self, symbol: Symbol, names: Names<'_>) -> Formula {
        let whole = self.full(symbol);
        match self.program.input_at(symbol) {
            Some(i) => names(Part::Input(i)).unwrap_or_else(|| whole.clone()),
            None if self.lengths[symbol.index()] > LONGEST => whole.clone(),
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
        Instruction::IfPositive(by, then, otherwise) => at(by).chooses(at(then), at(otherwise)),
    }
}
