//! A program made ready to run on strips of coordinates.
//!
//! What does not depend on coordinates is apart: constants are folded, and numbers of the round or of an
//! agent are made once for all coordinates. What is left is a list of steps, each a loop over a strip; two or
//! three operations of which one is used nowhere else are one step. A step reads its operands where they lie,
//! in rows of states and messages, and writes results where they belong unless somebody still has to read
//! what is there.

use crate::numeric::{Float, Instruction};

/// A matrix that a program reads or writes, with a vector of a row for each of its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Space {
    /// Numbers of the round, each in as many lanes as a vector has.
    Round,
    /// Numbers of an agent, likewise.
    Agent,
    /// Strips for what is on its way.
    Register,
    Start,
    State,
    Pulled,
    Pushed,
    Gradient,
    Other,
    Pull,
    Push,
    Next,
    Last,
}

/// How many there are.
pub(super) const SPACES: usize = 13;

/// One number of a coordinate, or of all: where it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) space: Space,
    pub(super) index: u16,
}

impl Place {
    pub(super) const fn new(space: Space, index: usize) -> Self {
        Self { space, index: index as u16 }
    }

    /// The places of some vectors.
    pub(super) fn all(space: Space, count: usize) -> impl Iterator<Item = Place> {
        (0..count).map(move |index| Place::new(space, index))
    }
}

/// An operation that can be a part of another's step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inner {
    Add,
    Sub,
    Mul,
    /// The first factor is the same for all coordinates.
    Scale,
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outer {
    Add,
    Sub,
    Mul,
    Div,
}

/// What a step makes of its operands a, b, c, d.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// a.
    Copy,
    /// √a.
    Root,
    /// ab, where a is the same for all coordinates.
    Scale,
    /// a∘b.
    One(Outer),
    /// (a∘b)•c.
    Left(Inner, Outer),
    /// a•(b∘c).
    Right(Outer, Inner),
    /// ab + cd.
    SumOfProducts,
    /// ab − cd.
    DifferenceOfProducts,
    /// ab + cd, where a and c are the same for all coordinates.
    ScaledSum,
    /// ab − cd, likewise.
    ScaledDifference,
    /// b where a > 0, else c.
    Choice,
    /// c where a − b > 0, else d.
    ChoiceByDifference,
}

/// One loop over a strip.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) shape: Shape,
    pub(super) of: [Place; 4],
    pub(super) to: Place,
    /// What is copied in the same loop.
    pub(super) beside: Option<Beside>,
}

/// A copy that is made in the loop of another step. Neither reads what the other writes, or it reads it
/// before that is written.
#[derive(Debug, Clone, Copy)]
pub(super) struct Beside {
    pub(super) from: Place,
    pub(super) to: Place,
}

impl Step {
    pub(super) fn new(shape: Shape, of: [Place; 4], to: Place) -> Self {
        Self { shape, of, to, beside: None }
    }

    /// This step and the one behind it in one loop, where one of them is a copy and that changes nothing.
    pub(super) fn with(self, next: Step) -> Option<Step> {
        let ([from, ..], to) = (next.of, next.to);
        match (self, next) {
            (Step { beside: Some(_), .. }, _) | (_, Step { beside: Some(_), .. }) => None,
            (_, Step { shape: Shape::Copy, .. }) if from != self.to => {
                Some(Step { beside: Some(Beside { from, to }), ..self })
            }
            (Step { shape: Shape::Copy, of: [from, ..], to, .. }, _) if !next.of.contains(&to) => {
                Some(Step { beside: Some(Beside { from, to }), ..next })
            }
            _ => None,
        }
    }
}

/// A number that is the same for all coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) enum Uniform<T> {
    Constant(T),
    /// One of the inputs that all programs begin with.
    Input(usize),
    /// What an instruction makes of earlier ones; its operands are their numbers.
    Made(Operation, [(Space, u16); 3]),
}

/// An operation of the instruction set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    Two(Outer),
    Root,
    Choice,
}

/// A program made ready to run.
#[derive(Debug, Clone)]
pub(super) struct Code<T> {
    pub(super) of_round: Vec<Uniform<T>>,
    pub(super) of_agent: Vec<Uniform<T>>,
    pub(super) registers: usize,
    pub(super) steps: Vec<Step>,
}

impl Operation {
    pub(super) fn of<T: Float>(self, [a, b, c]: [T; 3]) -> T {
        match self {
            Operation::Two(Outer::Add) => a + b,
            Operation::Two(Outer::Sub) => a - b,
            Operation::Two(Outer::Mul) => a * b,
            Operation::Two(Outer::Div) => a / b,
            Operation::Root => a.sqrt(),
            Operation::Choice => {
                if a > T::default() {
                    b
                } else {
                    c
                }
            }
        }
    }

    pub(super) fn new(instruction: &Instruction) -> Option<Self> {
        Some(match instruction {
            Instruction::Add(..) => Operation::Two(Outer::Add),
            Instruction::Sub(..) => Operation::Two(Outer::Sub),
            Instruction::Mul(..) => Operation::Two(Outer::Mul),
            Instruction::Div(..) => Operation::Two(Outer::Div),
            Instruction::Sqrt(_) => Operation::Root,
            Instruction::IfPositive(..) => Operation::Choice,
            Instruction::Input(_) | Instruction::Constant(_) | Instruction::Parameter(..) => return None,
        })
    }

    /// The same as a part of another's step, where it can be one.
    pub(super) fn inner(self) -> Option<Inner> {
        match self {
            Operation::Two(Outer::Add) => Some(Inner::Add),
            Operation::Two(Outer::Sub) => Some(Inner::Sub),
            Operation::Two(Outer::Mul) => Some(Inner::Mul),
            _ => None,
        }
    }
}
