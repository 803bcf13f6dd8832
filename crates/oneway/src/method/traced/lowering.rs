//! How a program becomes a code: levels, shapes, places.

use super::code::{Code, Inner, Operation, Outer, Place, Shape, Space, Step, Uniform};
use crate::method::COMMON_INPUTS;
use crate::numeric::{Float, Instruction, Program, Symbol};

/// What a number of a program depends on.
#[derive(Debug, Clone, Copy)]
enum Level<T> {
    Constant(T),
    At(Place),
    /// It is made in a step.
    Coordinate,
}

impl<T: Float> Code<T> {
    /// Of a valid program whose inputs behind the common ones are at `inputs`, and whose results go to `outputs`. `weighs` says
    /// whether agents have weights of their own.
    pub(super) fn new(program: &Program, inputs: &[Place], outputs: &[Place], weighs: bool) -> Self {
        let used = Program {
            instructions: program.instructions.clone(),
            results: program.results[..outputs.len()].to_vec(),
        };
        Making::new(&used.reduced(), inputs, weighs).code(outputs)
    }
}

/// A code in the making.
struct Making<'p, T> {
    program: &'p Program,
    levels: Vec<Level<T>>,
    code: Code<T>,
    /// How often each number is still to be read.
    uses: Vec<usize>,
    free: Vec<usize>,
}

/// A result that is still to be copied to its place.
struct Copying {
    from: Symbol,
    to: Place,
}

impl<'p, T: Float> Making<'p, T> {
    fn new(program: &'p Program, inputs: &[Place], weighs: bool) -> Self {
        let code = Code { of_round: vec![], of_agent: vec![], registers: 0, steps: vec![] };
        let mut making = Self { program, levels: vec![], code, uses: vec![], free: vec![] };
        let mut input = 0;
        for instruction in &program.instructions {
            let level = match *instruction {
                Instruction::Constant(value) | Instruction::Parameter(_, value) => {
                    Level::Constant(T::from_f64(value))
                }
                Instruction::Input(_) => {
                    input += 1;
                    match input - 1 {
                        common if common < COMMON_INPUTS => making.common(common, weighs),
                        other => Level::At(inputs[other - COMMON_INPUTS]),
                    }
                }
                ref made => making.made(made),
            };
            making.levels.push(level);
        }
        making
    }

    fn common(&mut self, input: usize, weighs: bool) -> Level<T> {
        // those that nobody looks at are not made
        let at = |symbol: &Symbol| self.program.input_at(*symbol) == Some(input);
        let mut operands = self.program.instructions.iter().flat_map(Instruction::operands);
        if !operands.any(|symbol| at(&symbol)) && !self.program.results.iter().any(at) {
            return Level::Constant(T::default());
        }
        let space = if input == 2 || (input == 1 && weighs) { Space::Agent } else { Space::Round };
        self.uniform(space, Uniform::Input(input))
    }

    fn uniform(&mut self, space: Space, uniform: Uniform<T>) -> Level<T> {
        let all = if space == Space::Round { &mut self.code.of_round } else { &mut self.code.of_agent };
        all.push(uniform);
        Level::At(Place::new(space, all.len() - 1))
    }

    fn made(&mut self, instruction: &Instruction) -> Level<T> {
        let Some(operation) = Operation::new(instruction) else { return Level::Coordinate };
        let levels: Vec<Level<T>> =
            instruction.operands().map(|operand| self.levels[operand.index()]).collect();
        let numbers: Vec<T> = levels
            .iter()
            .filter_map(|level| if let Level::Constant(value) = level { Some(*value) } else { None })
            .collect();
        if numbers.len() == levels.len() {
            let number = |i: usize| numbers.get(i).copied().unwrap_or_default();
            return Level::Constant(operation.of([0, 1, 2].map(number)));
        }
        let space = |level: &Level<T>| match level {
            Level::Constant(_) => Some(Space::Round),
            Level::At(Place { space: space @ (Space::Round | Space::Agent), .. }) => Some(*space),
            _ => None,
        };
        let Some(spaces) = levels.iter().map(space).collect::<Option<Vec<_>>>() else {
            return Level::Coordinate;
        };
        let mut of = [(Space::Round, 0); 3];
        for (of, level) in of.iter_mut().zip(levels) {
            let Place { space, index } = self.place_of(level);
            *of = (space, index);
        }
        let space = if spaces.contains(&Space::Agent) { Space::Agent } else { Space::Round };
        self.uniform(space, Uniform::Made(operation, of))
    }

    /// Where a number that is the same for all coordinates is, or an input.
    fn place_of(&mut self, level: Level<T>) -> Place {
        match level {
            Level::At(place) => place,
            Level::Constant(value) => {
                let bits = |value: T| value.to_f64().to_bits();
                let same =
                    |known: &Uniform<T>| matches!(known, Uniform::Constant(v) if bits(*v) == bits(value));
                match self.code.of_round.iter().position(same) {
                    Some(index) => Place::new(Space::Round, index),
                    None => {
                        self.code.of_round.push(Uniform::Constant(value));
                        Place::new(Space::Round, self.code.of_round.len() - 1)
                    }
                }
            }
            Level::Coordinate => Place::new(Space::Register, 0), // no number of a step is asked for before it is made
        }
    }

    fn is_made(&self, symbol: Symbol) -> bool {
        matches!(self.levels[symbol.index()], Level::Coordinate)
    }

    /// A product with the factor that is the same for all coordinates first, where there is one: ab and ba have the same bits.
    fn scaled(&self, inner: Inner, of: Vec<Symbol>) -> (Inner, Vec<Symbol>) {
        let uniform = |symbol: &Symbol| match self.levels[symbol.index()] {
            Level::Constant(_) => true,
            Level::At(Place { space, .. }) => matches!(space, Space::Round | Space::Agent),
            Level::Coordinate => false,
        };
        match (inner, &of[..]) {
            (Inner::Mul, [a, _]) if uniform(a) => (Inner::Scale, of),
            (Inner::Mul, [a, b]) if uniform(b) => (Inner::Scale, vec![*b, *a]),
            _ => (inner, of),
        }
    }

    /// The steps in order: shape, operands and which number is made.
    fn shapes(&self) -> Vec<(Shape, Vec<Symbol>, usize)> {
        let instructions = &self.program.instructions;
        let mut readers = vec![0; instructions.len()];
        let read =
            instructions.iter().flat_map(Instruction::operands).chain(self.program.results.iter().copied());
        read.for_each(|symbol| readers[symbol.index()] += 1);
        let mut needed = vec![false; instructions.len()];
        self.program.results.iter().for_each(|symbol| needed[symbol.index()] = true);
        let mut shapes = vec![];
        for at in (0..instructions.len()).rev() {
            let Some(operation) = Operation::new(&instructions[at]) else { continue };
            if !needed[at] || !self.is_made(Symbol::at(at)) {
                continue;
            }
            let operands: Vec<Symbol> = instructions[at].operands().collect();
            let part = |symbol: Symbol| {
                let inner = Operation::new(&instructions[symbol.index()])?.inner()?;
                let own = self.is_made(symbol) && readers[symbol.index()] == 1;
                own.then(|| self.scaled(inner, instructions[symbol.index()].operands().collect()))
            };
            let (shape, of) = match (operation.inner(), shape(operation, &operands, part)) {
                (Some(Inner::Mul), (Shape::One(_), of)) => match self.scaled(Inner::Mul, of) {
                    (Inner::Scale, of) => (Shape::Scale, of),
                    (_, of) => (Shape::One(Outer::Mul), of),
                },
                (_, found) => found,
            };
            of.iter().for_each(|symbol| needed[symbol.index()] = true);
            shapes.push((shape, of, at));
        }
        shapes.reverse();
        shapes
    }

    fn code(mut self, outputs: &[Place]) -> Code<T> {
        let shapes = self.shapes();
        let results = self.program.results.clone();
        // what reads each place, besides the copies
        let place = |making: &Self, symbol: Symbol| match making.levels[symbol.index()] {
            Level::At(place) => Some(place),
            _ => None,
        };
        let last_reader = |making: &Self, to: Place| {
            let reads = |(_, of, _): &(Shape, Vec<Symbol>, usize)| {
                of.iter().any(|symbol| place(making, *symbol) == Some(to))
            };
            shapes.iter().rposition(reads)
        };
        let last: Vec<Option<usize>> = outputs.iter().map(|to| last_reader(&self, *to)).collect();
        self.uses = vec![0; self.program.instructions.len()];
        shapes.iter().flat_map(|(_, of, _)| of).for_each(|symbol| self.uses[symbol.index()] += 1);
        results.iter().for_each(|symbol| self.uses[symbol.index()] += 1);

        let mut where_is: Vec<Option<Place>> = vec![None; self.program.instructions.len()];
        let mut waiting: Vec<Copying> = vec![];
        for (from, to) in results.iter().zip(outputs) {
            if !self.is_made(*from) {
                let level = self.levels[from.index()];
                let there = self.place_of(level);
                where_is[from.index()] = Some(there);
                if there != *to {
                    waiting.push(Copying { from: *from, to: *to });
                }
            }
        }
        for at in 0..=shapes.len() {
            self.copy(&mut waiting, &mut where_is, |to| {
                outputs
                    .iter()
                    .zip(&last)
                    .any(|(place, last)| place == &to && last.is_some_and(|last| last >= at))
            });
            let Some((shape, operands, made)) = shapes.get(at) else { break };
            let mut of = [Place::new(Space::Round, 0); 4];
            for (of, symbol) in of.iter_mut().zip(operands) {
                *of = where_is[symbol.index()].unwrap_or_else(|| self.place_of(self.levels[symbol.index()]));
            }
            let mut targets: Vec<usize> =
                (0..results.len()).filter(|r| results[*r].index() == *made).collect();
            let read_later = |r: &usize| {
                let to = outputs[*r];
                last[*r].is_some_and(|last| last > at)
                    || waiting.iter().any(|copy| where_is[copy.from.index()] == Some(to))
            };
            let direct = targets.iter().position(|r| !read_later(r)).map(|found| targets.remove(found));
            // operands are read before the result is written: their strips may be used again
            let to = match direct {
                Some(r) => {
                    self.uses[*made] -= 1;
                    self.release(operands, &where_is);
                    outputs[r]
                }
                None => {
                    self.release(operands, &where_is);
                    self.register()
                }
            };
            where_is[*made] = Some(to);
            waiting.extend(targets.iter().map(|r| Copying { from: Symbol::at(*made), to: outputs[*r] }));
            self.code.steps.push(Step::new(*shape, of, to));
        }
        self.code.steps = side_by_side(&self.code.steps);
        self.code
    }

    /// Makes the copies that spoil nothing which is still to be read; after the last step, all of them.
    fn copy(
        &mut self,
        waiting: &mut Vec<Copying>,
        where_is: &mut [Option<Place>],
        is_read: impl Fn(Place) -> bool,
    ) {
        loop {
            let spoils = |copy: &Copying, others: &[Copying]| {
                others
                    .iter()
                    .any(|other| other.to != copy.to && where_is[other.from.index()] == Some(copy.to))
            };
            let ready = waiting.iter().position(|copy| !is_read(copy.to) && !spoils(copy, waiting));
            if let Some(ready) = ready {
                let Copying { from, to } = waiting.remove(ready);
                if let Some(there) = where_is[from.index()] {
                    self.code.steps.push(Step::new(Shape::Copy, [there; 4], to));
                }
                self.release(&[from], where_is);
                continue;
            }
            // what goes round in a circle is broken up by a strip
            let Some(there) = waiting.first().map(|copy| copy.to) else { return };
            if waiting.iter().any(|copy| is_read(copy.to)) {
                return; // later
            }
            let read = waiting.iter().find(|other| where_is[other.from.index()] == Some(there));
            let Some(from) = read.map(|copy| copy.from) else { return };
            let to = self.register();
            self.code.steps.push(Step::new(Shape::Copy, [there; 4], to));
            where_is[from.index()] = Some(to);
        }
    }

    fn register(&mut self) -> Place {
        let index = self.free.pop().unwrap_or_else(|| {
            self.code.registers += 1;
            self.code.registers - 1
        });
        Place::new(Space::Register, index)
    }

    /// These numbers were read once more: strips that nobody reads again are free.
    fn release(&mut self, symbols: &[Symbol], where_is: &[Option<Place>]) {
        for symbol in symbols {
            self.uses[symbol.index()] -= 1;
            if let (0, Some(Place { space: Space::Register, index })) =
                (self.uses[symbol.index()], where_is[symbol.index()])
            {
                self.free.push(usize::from(index));
            }
        }
    }
}

/// The same steps, with copies made in the loops of others.
fn side_by_side(steps: &[Step]) -> Vec<Step> {
    let mut together: Vec<Step> = vec![];
    for step in steps {
        match together.last().and_then(|last| last.with(*step)) {
            Some(both) => {
                together.pop();
                together.push(both);
            }
            None => together.push(*step),
        }
    }
    together
}

/// The shape of a step and its operands, where `part` gives an operand's own operation if nobody else needs it.
fn shape(
    operation: Operation,
    operands: &[Symbol],
    part: impl Fn(Symbol) -> Option<(Inner, Vec<Symbol>)>,
) -> (Shape, Vec<Symbol>) {
    let outer = match (operation, operands) {
        (Operation::Root, _) => return (Shape::Root, operands.to_vec()),
        (Operation::Choice, [by, rest @ ..]) => {
            return match part(*by) {
                Some((Inner::Sub, of)) => (Shape::ChoiceByDifference, [&of, rest].concat()),
                _ => (Shape::Choice, operands.to_vec()),
            };
        }
        (Operation::Choice, []) => return (Shape::Choice, vec![]),
        (Operation::Two(outer), _) => outer,
    };
    let [a, b] = [0, 1].map(|i| operands[i]);
    match (part(a), part(b)) {
        (
            Some((one @ (Inner::Mul | Inner::Scale), left)),
            Some((other @ (Inner::Mul | Inner::Scale), right)),
        ) if matches!(outer, Outer::Add | Outer::Sub) => {
            let shape = match (outer, one == Inner::Scale && other == Inner::Scale) {
                (Outer::Add, true) => Shape::ScaledSum,
                (Outer::Add, false) => Shape::SumOfProducts,
                (_, true) => Shape::ScaledDifference,
                (_, false) => Shape::DifferenceOfProducts,
            };
            (shape, [left, right].concat())
        }
        (_, Some((inner, of))) => (Shape::Right(outer, inner), vec![a, of[0], of[1]]),
        (Some((inner, of)), None) => (Shape::Left(inner, outer), vec![of[0], of[1], b]),
        (None, None) => (Shape::One(outer), operands.to_vec()),
    }
}
