//! Runs a code on strips of coordinates of some agents.

use std::mem::MaybeUninit;

use super::code::{Code, Inner, Operation, Outer, Place, SPACES, Shape, Space, Step, Uniform};
use super::shapes::{self, Formed};
use crate::method::{Agents, Carries, OfRound, Round, Rows};
use crate::numeric::registers::InVectors;
use crate::numeric::{Float, Lanes, Vector};

/// Numbers in all strips together: half of a near cache.
const SCRATCH: usize = 4096;

/// Numbers in a strip, at most: of several agents where d is small.
const STRIP: usize = 512;

/// Rows of one kind: where the first begins, and how far they are apart.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<T> {
    pub(super) first: *mut T,
    pub(super) stride: usize,
    /// How far vectors of a row are apart, and the numbers of a vector.
    apart: usize,
    step: usize,
}

impl<T> Table<T> {
    /// Nothing: no code has a place in it.
    pub(super) const NONE: Self = Self { first: std::ptr::null_mut(), stride: 0, apart: 0, step: 0 };

    /// Vectors of dimension d.
    pub(super) fn vectors((first, stride): (*mut T, usize), d: usize) -> Self {
        Self { first, stride, apart: d, step: 1 }
    }

    /// The same few numbers everywhere, as many as the longest vector has lanes.
    pub(super) fn everywhere(numbers: *mut T) -> Self {
        Self { first: numbers, stride: 0, apart: 0, step: 0 }
    }
}

/// The rows that a code reads and writes, by their space.
pub(super) type Tables<T> = [Table<T>; SPACES];

/// What is to be run, for whom.
pub(super) struct Job<'j, T> {
    pub(super) code: &'j Code<T>,
    pub(super) round: Round<'j>,
    pub(super) constants: [OfRound; 2],
    pub(super) agents: Agents<'j>,
    /// The agent whose state is the first row; none where the q-th agent's is row q.
    pub(super) first: Option<usize>,
    /// Where the weights of agents are, once they have heard.
    pub(super) carries: Carries,
    pub(super) heard: [Rows<'j, T>; 2],
    pub(super) tables: Tables<T>,
}

#[repr(align(64))]
struct Scratch<T>(MaybeUninit<[T; SCRATCH]>);

/// Where operands of a strip are: number c of row q of index i in space s is at base[s] + i·apart[s] + q·row[s] + c·step[s].
struct Frame<T> {
    base: [*mut T; SPACES],
    apart: [usize; SPACES],
    row: [usize; SPACES],
    step: [usize; SPACES],
}

impl<T> Frame<T> {
    #[inline(always)]
    fn place(&self, place: Place) -> (*mut T, usize, usize) {
        let space = place.space as usize;
        let offset = usize::from(place.index) * self.apart[space];
        (self.base[space].wrapping_add(offset), self.row[space], self.step[space])
    }
}

/// How strips are cut, and where they lie.
struct Layout {
    /// Agents and coordinates of a strip.
    agents: usize,
    coordinates: usize,
    /// From one agent's coordinates to the next's.
    row: usize,
    /// Where in the scratch the numbers of agents begin, and the registers.
    of_agent: usize,
    registers: usize,
}

impl Layout {
    fn new<T>(code: &Code<T>, lanes: usize, agents: usize, d: usize) -> Self {
        let of_agent = code.of_round.len() * lanes;
        let (own, room) = (code.of_agent.len() * lanes, SCRATCH - of_agent);
        let mut coordinates = d.min(STRIP);
        if own + code.registers * coordinates.next_multiple_of(lanes) > room {
            coordinates = ((room - own) / code.registers / lanes * lanes).max(lanes);
        }
        let row = coordinates.next_multiple_of(lanes);
        let fit = room / (own + code.registers * row).max(1);
        let agents = if coordinates < d { 1 } else { (STRIP / row).min(fit).min(agents).max(1) };
        Self { agents, coordinates, row, of_agent, registers: of_agent + agents * own }
    }
}

impl<T: Float> InVectors<T> for Job<'_, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn run<V: Vector<T>>(self) {
        let (d, n) = (self.round.d, self.agents.len());
        if d == 0 || n == 0 {
            return;
        }
        let code = self.code;
        let layout = Layout::new(code, V::LANES, n, d);
        let mut scratch = Scratch::<T>(MaybeUninit::uninit());
        let scratch = scratch.0.as_mut_ptr().cast::<T>();
        let tables = &self.tables;
        let mut frame = Frame {
            base: tables.map(|table| table.first),
            apart: tables.map(|table| table.apart),
            row: tables.map(|table| table.stride),
            step: tables.map(|table| table.step),
        };
        for (space, at, apart, row, step) in [
            (Space::Round, 0, V::LANES, 0, 0),
            (Space::Agent, layout.of_agent, layout.agents * V::LANES, V::LANES, 0),
            (Space::Register, layout.registers, layout.agents * layout.row, layout.row, 1),
        ] {
            let space = space as usize;
            frame.base[space] = scratch.wrapping_add(at);
            (frame.apart[space], frame.row[space], frame.step[space]) = (apart, row, step);
        }
        // SAFETY: a valid code has places only in spaces that its tables have, which were checked to have these vectors of
        // dimension d for all agents; the layout has room for all numbers of the round, of its agents and for all registers
        unsafe {
            self.of_round::<V>(&frame);
            let mut q = 0;
            while q < n {
                let rows = self.consecutive(q, layout.agents);
                self.of_agents::<V>(&frame, q, rows);
                let mut c = 0;
                while c < d {
                    let len = (d - c).min(layout.coordinates);
                    for space in Space::Start as usize..SPACES {
                        let Table { first, stride, step, .. } = tables[space];
                        let row = if space == Space::State as usize { self.state(q) } else { q };
                        frame.base[space] = first.wrapping_add(row * stride + c * step);
                    }
                    for step in &code.steps {
                        take::<T, V>(&frame, step, rows, len);
                    }
                    c += len;
                }
                q += rows;
            }
        }
    }
}

impl<T: Float> Job<'_, T> {
    /// The row of the q-th agent's state.
    fn state(&self, q: usize) -> usize {
        self.first.map_or(q, |first| self.agents.get(q) - first)
    }

    /// How many agents from the q-th on have states one after another, up to `most`.
    fn consecutive(&self, q: usize, most: usize) -> usize {
        let most = most.min(self.agents.len() - q);
        match (self.first, self.agents) {
            (Some(_), Agents::List(list)) => {
                let next = |at: &usize| list[q + at] == list[q] + at;
                (0..most).take_while(next).count().max(1)
            }
            _ => most,
        }
    }

    /// Makes the numbers of the round.
    ///
    /// # Safety
    ///
    /// The frame has room for them.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn of_round<V: Vector<T>>(&self, frame: &Frame<T>) {
        for (index, uniform) in self.code.of_round.iter().enumerate() {
            let number = match *uniform {
                Uniform::Constant(value) => value,
                Uniform::Input(0) => T::from_f64(self.round.η),
                Uniform::Input(1) => T::from_f64(1.0), // no agent has a weight of its own
                Uniform::Input(input) => {
                    T::from_f64(self.constants[input.saturating_sub(3).min(1)].at(self.round.k))
                }
                // SAFETY: operands are earlier numbers
                Uniform::Made(operation, of) => unsafe { made(operation, of, frame, 0) },
            };
            // SAFETY: the caller's promise
            unsafe {
                V::constant(number.to_f64()).store(frame.base[Space::Round as usize].add(index * V::LANES))
            };
        }
    }

    /// Makes the numbers of some agents from the q-th on.
    ///
    /// # Safety
    ///
    /// The frame has room for them, and those of the round are made.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn of_agents<V: Vector<T>>(&self, frame: &Frame<T>, q: usize, rows: usize) {
        if self.code.of_agent.is_empty() {
            return;
        }
        for r in 0..rows {
            let agent = self.agents.get(q + r);
            for (index, uniform) in self.code.of_agent.iter().enumerate() {
                let number = match *uniform {
                    Uniform::Constant(value) => value,
                    Uniform::Input(2) => T::from_f64(self.round.kept.share(agent)),
                    Uniform::Input(_) => self.weight(agent, q + r),
                    // SAFETY: operands are earlier numbers
                    Uniform::Made(operation, of) => unsafe { made(operation, of, frame, r) },
                };
                let (to, row, _) = frame.place(Place { space: Space::Agent, index: index as u16 });
                // SAFETY: the caller's promise
                unsafe { V::constant(number.to_f64()).store(to.add(r * row)) };
            }
        }
    }

    /// The weight of an agent that has heard.
    fn weight(&self, agent: usize, q: usize) -> T {
        let [pulled, pushed] = self.heard;
        match self.carries {
            Carries::Nothing => T::from_f64(1.0),
            Carries::Weight => pushed.row(q)[pushed.width() - 1],
            Carries::Eigenvector => pulled.row(q)[pulled.width() - self.round.agents + agent],
        }
    }
}

/// A number that is made of others which are the same for all coordinates, for the r-th agent of a strip.
///
/// # Safety
///
/// They are in the frame.
#[allow(unsafe_code)]
unsafe fn made<T: Float>(operation: Operation, of: [(Space, u16); 3], frame: &Frame<T>, r: usize) -> T {
    let count = match operation {
        Operation::Root => 1,
        Operation::Two(_) => 2,
        Operation::Choice => 3,
    };
    let mut numbers = [T::default(); 3];
    for (number, (space, index)) in numbers.iter_mut().zip(of).take(count) {
        let (place, row, _) = frame.place(Place { space, index });
        // SAFETY: the caller's promise
        *number = unsafe { *place.add(r * row) };
    }
    operation.of(numbers)
}

/// One step, on `len` coordinates of `rows` agents.
///
/// # Safety
///
/// The frame has them.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn take<T: Float, V: Vector<T>>(frame: &Frame<T>, step: &Step, rows: usize, len: usize) {
    macro_rules! each {
        ($shape:ty) => {
            // SAFETY: the caller's promise
            unsafe { each::<T, V, $shape, _>(frame, step, rows, len) }
        };
    }
    macro_rules! with_outer {
        ($outer:expr, $name:ident, [$($before:ident),*], [$($after:ident),*]) => {
            match $outer {
                Outer::Add => each!(shapes::$name<$(shapes::$before,)* shapes::Add $(, shapes::$after)*>),
                Outer::Sub => each!(shapes::$name<$(shapes::$before,)* shapes::Sub $(, shapes::$after)*>),
                Outer::Mul => each!(shapes::$name<$(shapes::$before,)* shapes::Mul $(, shapes::$after)*>),
                Outer::Div => each!(shapes::$name<$(shapes::$before,)* shapes::Div $(, shapes::$after)*>),
            }
        };
    }
    match step.shape {
        Shape::Copy => each!(shapes::Same),
        Shape::Root => each!(shapes::Root),
        Shape::One(outer) => with_outer!(outer, One, [], []),
        Shape::Left(Inner::Add, outer) => with_outer!(outer, Left, [Add], []),
        Shape::Left(Inner::Sub, outer) => with_outer!(outer, Left, [Sub], []),
        Shape::Left(Inner::Mul, outer) => with_outer!(outer, Left, [Mul], []),
        Shape::Right(outer, Inner::Add) => with_outer!(outer, Right, [], [Add]),
        Shape::Right(outer, Inner::Sub) => with_outer!(outer, Right, [], [Sub]),
        Shape::Right(outer, Inner::Mul) => with_outer!(outer, Right, [], [Mul]),
        Shape::SumOfProducts => each!(shapes::SumOfProducts),
        Shape::DifferenceOfProducts => each!(shapes::DifferenceOfProducts),
        Shape::Choice => each!(shapes::Choice),
        Shape::ChoiceByDifference => each!(shapes::ChoiceByDifference),
    }
}

/// One shape, on `len` coordinates of `rows` agents. The result may stand where an operand stood.
///
/// # Safety
///
/// The frame has them.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn each<T: Float, V: Vector<T>, F: Formed<N>, const N: usize>(
    frame: &Frame<T>,
    step: &Step,
    rows: usize,
    len: usize,
) {
    let (mut to, to_row, _) = frame.place(step.to);
    let mut from = [std::ptr::null_mut::<T>(); N];
    let (mut row, mut by) = ([0; N], [0; N]);
    for i in 0..N {
        (from[i], row[i], by[i]) = frame.place(step.of[i]);
    }
    for _ in 0..rows {
        // SAFETY: the caller's promise
        unsafe {
            if len >= V::LANES {
                // the last lanes first, while what they share with those before is still the old
                let end = len - V::LANES;
                let last = F::of(at::<T, V, N>(from, by, end));
                let mut c = 0;
                while c < end {
                    F::of(at::<T, V, N>(from, by, c)).store(to.add(c));
                    c += V::LANES;
                }
                last.store(to.add(end));
            } else {
                for c in 0..len {
                    F::of(at::<T, Lanes<T, 1>, N>(from, by, c)).store(to.add(c));
                }
            }
        }
        to = to.wrapping_add(to_row);
        for i in 0..N {
            from[i] = from[i].wrapping_add(row[i]);
        }
    }
}

/// The operands from number c on.
///
/// # Safety
///
/// They are there.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn at<T, V: Vector<T>, const N: usize>(from: [*mut T; N], by: [usize; N], c: usize) -> [V; N] {
    let mut operands = [V::constant(0.0); N];
    for i in 0..N {
        // SAFETY: the caller's promise
        operands[i] = unsafe { V::load(from[i].add(c * by[i])) };
    }
    operands
}
