//! Programs written down expression by expression, for numbers of another language that record what is done
//! to them.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering};

use super::check::{MOST_KEPT, MOST_SENT};
use super::code::Space;
use super::definition::Section;
use super::input::Input;
use super::names::stored;
use crate::method::OfRound;
use crate::numeric::{Instruction, Program, Symbol};
use crate::{Error, Result};

/// What a method's arithmetic is made of: inputs, constants, and what operations make of them.
///
/// Equal expressions are one, so that what is written twice is computed once. Nothing else is changed:
/// operations are done one by one, in the order in which they are written.
///
/// ```
/// use oneway::method::{
///     Ask, Carries, DefinedExchange, Definition, Expressions, Input, Method, Network, OfRound, Reliance, Roles, Traced,
/// };
/// // decentralised gradient descent: x⁺ = Σ_j W_ij x_j − ηg, which keeps x and g
/// let mut of = Expressions::new("descent", &["x", "g"], [1, 0], [OfRound::Zero; 2])?;
/// let [η, x, g] = [Input::Step, Input::State(0), Input::State(1)].map(|input| of.input(input));
/// let [pulled, new] = [Input::Pulled(0), Input::Gradient].map(|input| of.input(input));
/// let (x, x_0, new) = (x?, of.input(Input::Start)?, new?);
/// let ηg = of.mul(η?, g?)?;
/// let x_next = of.sub(pulled?, ηg)?;
/// let descent = Traced::new(Definition {
///     name: "descent".to_owned(),
///     network: Network::Balanced,
///     carries: Carries::Nothing,
///     names: vec!["x".to_owned(), "g".to_owned()],
///     sends: [1, 0],
///     roles: Roles::default(),
///     reliance: Reliance::Nothing,
///     constants: [OfRound::Zero; 2],
///     start_ask: Ask::ONE,
///     start: of.start(&[x_0, new])?,
///     exchanges: vec![DefinedExchange {
///         sends: [true; 2],
///         ask: Ask::ONE,
///         send: of.send(&[x], &[])?,
///         points: of.points([x_next, x])?,
///         update: of.update(&[x_next, new])?,
///     }],
/// })?;
/// assert_eq!(descent.trace().unwrap().equations(), ["x⁺ = Wx − ηg", "g⁺ = ∇F(x⁺; ξ⁺)"]);
/// # Ok::<(), oneway::Error>(())
/// ```
#[derive(Debug)]
pub struct Expressions {
    method: String,
    names: Vec<&'static str>,
    sends: [usize; 2],
    constants: [OfRound; 2],
    /// Which of all [`Expressions`] of the process this is.
    book: u32,
    nodes: Vec<Node>,
    known: HashMap<Node, Expression>,
}

/// One of the [`Expressions`] of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Expression {
    book: u32,
    index: u32,
}

/// An expression, with its constants by their bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Node {
    Input(Input),
    Constant(u64),
    Parameter(&'static str, u64),
    Add(u32, u32),
    Sub(u32, u32),
    Mul(u32, u32),
    Div(u32, u32),
    Sqrt(u32),
    IfPositive(u32, u32, u32),
}

impl Node {
    fn operands(self) -> impl Iterator<Item = u32> {
        let operands = match self {
            Node::Input(_) | Node::Constant(_) | Node::Parameter(..) => [None; 3],
            Node::Sqrt(a) => [Some(a), None, None],
            Node::Add(a, b) | Node::Sub(a, b) | Node::Mul(a, b) | Node::Div(a, b) => [Some(a), Some(b), None],
            Node::IfPositive(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }
}

/// Expressions of a method, at most.
const MOST: usize = 1 << 16;

impl Expressions {
    /// None yet, of a method that keeps numbers with these letters; `sends` is how many it sends on the pull
    /// graph and on the push graph.
    pub fn new(method: &str, names: &[&str], sends: [usize; 2], constants: [OfRound; 2]) -> Result<Self> {
        static BOOKS: AtomicU32 = AtomicU32::new(0);
        let wrong = |fault: String| Error::Definition {
            method: method.chars().take(super::names::LONGEST).collect(),
            place: "state".to_owned(),
            fault,
        };
        if names.len() > MOST_KEPT || sends.iter().any(|count| *count > MOST_SENT) {
            let fault = format!(
                "an agent keeps at most {MOST_KEPT} numbers of a coordinate and sends {MOST_SENT} on a graph, not {} and {sends:?}",
                names.len()
            );
            return Err(wrong(fault));
        }
        Ok(Self {
            method: method.chars().take(super::names::LONGEST).collect(),
            names: names.iter().map(|name| stored(name).map_err(wrong)).collect::<Result<_>>()?,
            sends,
            constants,
            book: BOOKS.fetch_add(1, Ordering::Relaxed),
            nodes: vec![],
            known: HashMap::new(),
        })
    }

    fn wrong<T>(&self, place: &str, fault: impl Into<String>) -> Result<T> {
        Err(Error::Definition { method: self.method.clone(), place: place.to_owned(), fault: fault.into() })
    }

    fn node(&mut self, node: Node) -> Result<Expression> {
        if let Some(known) = self.known.get(&node) {
            return Ok(*known);
        }
        if self.nodes.len() >= MOST {
            return self.wrong("expressions", format!("there are more than {MOST}"));
        }
        let new = Expression { book: self.book, index: self.nodes.len() as u32 };
        self.nodes.push(node);
        self.known.insert(node, new);
        Ok(new)
    }

    /// The place of an expression, if it is one of these.
    fn index(&self, expression: Expression) -> Result<u32> {
        match expression.book == self.book && (expression.index as usize) < self.nodes.len() {
            true => Ok(expression.index),
            false => self.wrong("expressions", "an expression belongs to another method"),
        }
    }

    /// A number that is given.
    pub fn input(&mut self, input: Input) -> Result<Expression> {
        let (what, at, count) = match input {
            Input::State(i) => ("the state", i, self.names.len()),
            Input::Pulled(i) => ("what is pulled", i, self.sends[0]),
            Input::Pushed(i) => ("what is pushed", i, self.sends[1]),
            Input::OfRound(i) => ("those of the round", i, 2),
            _ => ("", 0, 1),
        };
        match at < count {
            true => self.node(Node::Input(input)),
            false => self.wrong("inputs", format!("there is no number {at} of {what}, which has {count}")),
        }
    }

    /// A number that is the same everywhere.
    pub fn constant(&mut self, value: f64) -> Result<Expression> {
        match value.is_finite() {
            true => self.node(Node::Constant(value.to_bits())),
            false => self.wrong("constants", format!("{value} is no number to compute with")),
        }
    }

    /// A hyper-parameter, and the letter that it has in print.
    pub fn parameter(&mut self, name: &str, value: f64) -> Result<Expression> {
        match (stored(name), value.is_finite()) {
            (Ok(name), true) => self.node(Node::Parameter(name, value.to_bits())),
            (Err(fault), _) => self.wrong("parameters", fault),
            (_, false) => {
                self.wrong("parameters", format!("`{name}` = {value} is no number to compute with"))
            }
        }
    }

    fn two(&mut self, node: fn(u32, u32) -> Node, a: Expression, b: Expression) -> Result<Expression> {
        let (a, b) = (self.index(a)?, self.index(b)?);
        self.node(node(a, b))
    }

    /// a + b.
    pub fn add(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        self.two(Node::Add, a, b)
    }

    /// a − b.
    pub fn sub(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        self.two(Node::Sub, a, b)
    }

    /// a·b.
    pub fn mul(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        self.two(Node::Mul, a, b)
    }

    /// a/b.
    pub fn div(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        self.two(Node::Div, a, b)
    }

    /// √a.
    pub fn sqrt(&mut self, a: Expression) -> Result<Expression> {
        let a = self.index(a)?;
        self.node(Node::Sqrt(a))
    }

    /// `then` where a > 0, else `otherwise`: also where a is NaN. Both are computed.
    pub fn if_positive(
        &mut self,
        a: Expression,
        then: Expression,
        otherwise: Expression,
    ) -> Result<Expression> {
        let (a, then, otherwise) = (self.index(a)?, self.index(then)?, self.index(otherwise)?);
        self.node(Node::IfPositive(a, then, otherwise))
    }

    /// −a, as (−1)·a.
    pub fn neg(&mut self, a: Expression) -> Result<Expression> {
        let minus = self.constant(-1.0)?;
        self.mul(minus, a)
    }

    /// |a|: a where a > 0, else 0 − a.
    pub fn abs(&mut self, a: Expression) -> Result<Expression> {
        let zero = self.constant(0.0)?;
        let minus = self.sub(zero, a)?;
        self.if_positive(a, a, minus)
    }

    /// The greater of two: a where a − b > 0, else b.
    pub fn max(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        let difference = self.sub(a, b)?;
        self.if_positive(difference, a, b)
    }

    /// The lesser of two: a where b − a > 0, else b.
    pub fn min(&mut self, a: Expression, b: Expression) -> Result<Expression> {
        let difference = self.sub(b, a)?;
        self.if_positive(difference, a, b)
    }

    /// 1 where a > 0, −1 where a < 0, else a itself: ±0, or NaN.
    pub fn sign(&mut self, a: Expression) -> Result<Expression> {
        let (one, minus_one) = (self.constant(1.0)?, self.constant(-1.0)?);
        let minus = self.mul(minus_one, a)?;
        let otherwise = self.if_positive(minus, minus_one, a)?;
        self.if_positive(a, one, otherwise)
    }

    /// The program of the start: the state at x₀.
    pub fn start(&self, state: &[Expression]) -> Result<Program> {
        self.program(Section::Start, state)
    }

    /// The program of what is sent, on the pull graph and on the push graph.
    pub fn send(&self, pull: &[Expression], push: &[Expression]) -> Result<Program> {
        let [pulls, pushes] = self.sends;
        if pull.len() != pulls || push.len() != pushes {
            let fault = format!(
                "it sends {pulls} numbers to be pulled and {pushes} to be pushed, not {} and {}",
                pull.len(),
                push.len()
            );
            return self.wrong("send", fault);
        }
        self.program(Section::Send, &[pull, push].concat())
    }

    /// The program of where gradients are taken: x⁺, and x where the last one was.
    pub fn points(&self, points: [Expression; 2]) -> Result<Program> {
        self.program(Section::Points, &points)
    }

    /// The program of the next state.
    pub fn update(&self, state: &[Expression]) -> Result<Program> {
        self.program(Section::Update, state)
    }

    fn input_name(&self, input: Input) -> &'static str {
        match input {
            Input::Step => "η",
            Input::Weight => "w",
            Input::Kept => "C_ii",
            Input::OfRound(i) => match (self.constants[i.min(1)], i) {
                (OfRound::Count, _) => "t",
                (OfRound::Power(_), 0) => "β₁ᵗ",
                (OfRound::Power(_), _) => "β₂ᵗ",
                (_, 0) => "1 − β₁ᵗ",
                _ => "1 − β₂ᵗ",
            },
            Input::Start => "x₀",
            Input::State(i) => self.names[i],
            Input::Pulled(0) => "pulled",
            Input::Pulled(_) => "pulled′",
            Input::Pushed(0) => "pushed",
            Input::Pushed(_) => "pushed′",
            Input::Gradient => "g⁺",
            Input::OtherGradient => "other",
        }
    }

    fn program(&self, section: Section, results: &[Expression]) -> Result<Program> {
        let expected = section.results(self.names.len(), self.sends);
        if results.len() != expected {
            let fault = format!("it makes {expected} numbers, not {}", results.len());
            return self.wrong(section.name(), fault);
        }
        let results = results.iter().map(|result| self.index(*result)).collect::<Result<Vec<u32>>>()?;
        let given = section.inputs(self.names.len(), self.sends).into_iter().filter_map(|(space, i)| {
            Some(match space {
                Space::Start => Input::Start,
                Space::State => Input::State(i),
                Space::Pulled => Input::Pulled(i),
                Space::Pushed => Input::Pushed(i),
                Space::Gradient => Input::Gradient,
                Space::Other => Input::OtherGradient,
                _ => return None,
            })
        });
        let common = [Input::Step, Input::Weight, Input::Kept, Input::OfRound(0), Input::OfRound(1)];
        let inputs: Vec<Input> = common.into_iter().chain(given).collect();

        let mut needed = vec![false; self.nodes.len()];
        results.iter().for_each(|result| needed[*result as usize] = true);
        for at in (0..self.nodes.len()).rev() {
            if needed[at] {
                self.nodes[at].operands().for_each(|operand| needed[operand as usize] = true);
            }
        }
        let mut instructions: Vec<Instruction> =
            inputs.iter().map(|input| Instruction::Input(self.input_name(*input))).collect();
        let mut places = vec![Symbol::at(0); self.nodes.len()];
        for (at, node) in self.nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
            let of = |operand: u32| places[operand as usize];
            let instruction = match *node {
                Node::Input(input) => {
                    let Some(place) = inputs.iter().position(|known| *known == input) else {
                        let fault = format!("{} is not known there", input.described());
                        return self.wrong(section.name(), fault);
                    };
                    places[at] = Symbol::at(place);
                    continue;
                }
                Node::Constant(bits) => Instruction::Constant(f64::from_bits(bits)),
                Node::Parameter(name, bits) => Instruction::Parameter(name, f64::from_bits(bits)),
                Node::Add(a, b) => Instruction::Add(of(a), of(b)),
                Node::Sub(a, b) => Instruction::Sub(of(a), of(b)),
                Node::Mul(a, b) => Instruction::Mul(of(a), of(b)),
                Node::Div(a, b) => Instruction::Div(of(a), of(b)),
                Node::Sqrt(a) => Instruction::Sqrt(of(a)),
                Node::IfPositive(a, b, c) => Instruction::IfPositive(of(a), of(b), of(c)),
            };
            places[at] = Symbol::at(instructions.len());
            instructions.push(instruction);
        }
        let results = results.iter().map(|result| places[*result as usize]).collect();
        Ok(Program { instructions, results })
    }
}
