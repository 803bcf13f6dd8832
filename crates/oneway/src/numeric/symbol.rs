//! A number that writes down what is done to it.

use std::cell::RefCell;
use std::ops::{Add, Div, Mul, Sub};

use super::{Program, Real};

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
    #[inline(never)]
    pub fn input(name: &'static str) -> Self {
        Self::push(Instruction::Input(name))
    }

    /// The result of that step.
    pub(crate) fn at(step: usize) -> Self {
        Self(step)
    }

    /// Its place: the step of the program that makes it.
    pub fn index(self) -> usize {
        self.0
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

                #[inline(never)] // it stands in every rule
                fn $name(self, other: Self) -> Self {
                    Symbol::push(Instruction::$trait(self, other))
                }
            }
        )*
    };
}

recorded!(Add add, Sub sub, Mul mul, Div div);

impl Real for Symbol {
    #[inline(never)]
    fn constant(value: f64) -> Self {
        Self::push(Instruction::Constant(value))
    }

    #[inline(never)]
    fn parameter(name: &'static str, value: f64) -> Self {
        Self::push(Instruction::Parameter(name, value))
    }

    #[inline(never)]
    fn sqrt(self) -> Self {
        Self::push(Instruction::Sqrt(self))
    }

    #[inline(never)]
    fn if_positive(self, then: Self, otherwise: Self) -> Self {
        Self::push(Instruction::IfPositive(self, then, otherwise))
    }
}
