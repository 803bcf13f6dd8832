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

/// Rows of one kind: number c of vector i of row q is at first + i·apart + q·stride + c·step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<T> {
    first: *mut T,
    stride: usize,
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
    pub(super) who: Who<'j, T>,
    pub(super) tables: &'j mut Tables<T>,
}

/// For whom a code is run, and when.
pub(super) struct Who<'j, T> {
    pub(super) round: Round<'j>,
    pub(super) constants: [OfRound; 2],
    pub(super) agents: Agents<'j>,
    /// The agent whose state is the first row; none where the q-th agent's is row q.
    pub(super) first: Option<usize>,
    /// Where the weights of agents are, once they have heard.
    pub(super) carries: Carries,
    pub(super) heard: [Rows<'j, T>; 2],
}

#[repr(align(64))]
struct Scratch<T>(MaybeUninit<[T; SCRATCH]>);

/// Where operands of a strip are: the tables, with the first number of the strip as the first of each.
struct Frame<'f, T>(&'f Tables<T>);

impl<T> Frame<'_, T> {
    /// Where a number is, how far rows are apart, and how far coordinates.
    #[inline(always)]
    fn place(&self, place: Place) -> (*mut T, usize, usize) {
        let table = &self.0[place.space as usize];
        (table.first.wrapping_add(usize::from(place.index) * table.apart), table.stride, table.step)
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
        // SAFETY: work is only run in vectors that the machine has
        unsafe {
            V::apart(
                #[inline(always)]
                || self.all::<V>(),
            );
        }
    }
}

impl<T: Float> Job<'_, T> {
    #[inline(always)]
    #[allow(unsafe_code)]
    fn all<V: Vector<T>>(self) {
        let Self { code, who, tables } = self;
        let (d, n) = (who.round.d, who.agents.len());
        if d == 0 || n == 0 {
            return;
        }
        let layout = Layout::new(code, V::LANES, n, d);
        let mut scratch = Scratch::<T>(MaybeUninit::uninit());
        let scratch = scratch.0.as_mut_ptr().cast::<T>();
        for (space, at, apart, stride, step) in [
            (Space::Round, 0, V::LANES, 0, 0),
            (Space::Agent, layout.of_agent, layout.agents * V::LANES, V::LANES, 0),
            (Space::Register, layout.registers, layout.agents * layout.row, layout.row, 1),
        ] {
            tables[space as usize] = Table { first: scratch.wrapping_add(at), stride, apart, step };
        }
        let first = tables.each_ref().map(|table| table.first);
        // SAFETY: a valid code has places only in spaces that its tables have, which were checked to have these vectors of
        // dimension d for all agents; the layout has room for all numbers of the round, of its agents and for all registers
        unsafe {
            who.of_round::<V>(code, &Frame(tables));
            let mut q = 0;
            while q < n {
                let rows = who.consecutive(q, layout.agents);
                if !code.of_agent.is_empty() {
                    who.of_agents::<V>(code, &Frame(tables), q, rows);
                }
                let state = who.state(q);
                let mut c = 0;
                while c < d {
                    let len = (d - c).min(layout.coordinates);
                    for space in Space::Start as usize..SPACES {
                        let table = &mut tables[space];
                        let row = if space == Space::State as usize { state } else { q };
                        table.first = first[space].wrapping_add(row * table.stride + c * table.step);
                    }
                    for step in &code.steps {
                        take::<T, V>(&Frame(tables), step, rows, len);
                    }
                    c += len;
                }
                q += rows;
            }
        }
    }
}

impl<T: Float> Who<'_, T> {
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
    unsafe fn of_round<V: Vector<T>>(&self, code: &Code<T>, frame: &Frame<'_, T>) {
        for (index, uniform) in code.of_round.iter().enumerate() {
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
            unsafe { V::constant(number.to_f64()).store(frame.place(Place::new(Space::Round, index)).0) };
        }
    }

    /// Makes the numbers of some agents from the q-th on.
    ///
    /// # Safety
    ///
    /// The frame has room for them, and those of the round are made.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn of_agents<V: Vector<T>>(&self, code: &Code<T>, frame: &Frame<'_, T>, q: usize, rows: usize) {
        for r in 0..rows {
            let agent = self.agents.get(q + r);
            for (index, uniform) in code.of_agent.iter().enumerate() {
                let number = match *uniform {
                    Uniform::Constant(value) => value,
                    Uniform::Input(2) => T::from_f64(self.round.kept.share(agent)),
                    Uniform::Input(_) => self.weight(agent, q + r),
                    // SAFETY: operands are earlier numbers
                    Uniform::Made(operation, of) => unsafe { made(operation, of, frame, r) },
                };
                let (to, row, _) = frame.place(Place::new(Space::Agent, index));
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
unsafe fn made<T: Float>(operation: Operation, of: [(Space, u16); 3], frame: &Frame<'_, T>, r: usize) -> T {
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
unsafe fn take<T: Float, V: Vector<T>>(frame: &Frame<'_, T>, step: &Step, rows: usize, len: usize) {
    // A function for each: in one for all, the compiler would run out of registers. U says which operands are the same everywhere.
    macro_rules! each {
        ($shape:ty, $uniform:literal) => {
            // SAFETY: the caller's promise
            unsafe {
                V::apart(
                    #[inline(always)]
                    || each::<T, V, $shape, _, $uniform>(frame, step, rows, len),
                );
            }
        };
    }
    macro_rules! with_outer {
        ($outer:expr, $uniform:literal, $name:ident, [$($before:ident),*], [$($after:ident),*]) => {
            match $outer {
                Outer::Add => each!(shapes::$name<$(shapes::$before,)* shapes::Add $(, shapes::$after)*>, $uniform),
                Outer::Sub => each!(shapes::$name<$(shapes::$before,)* shapes::Sub $(, shapes::$after)*>, $uniform),
                Outer::Mul => each!(shapes::$name<$(shapes::$before,)* shapes::Mul $(, shapes::$after)*>, $uniform),
                Outer::Div => each!(shapes::$name<$(shapes::$before,)* shapes::Div $(, shapes::$after)*>, $uniform),
            }
        };
    }
    match step.shape {
        Shape::Copy => each!(shapes::Same, 0b0),
        Shape::Root => each!(shapes::Root, 0b0),
        Shape::Scale => each!(shapes::One<shapes::Mul>, 0b01),
        Shape::One(outer) => with_outer!(outer, 0b00, One, [], []),
        Shape::Left(Inner::Add, outer) => with_outer!(outer, 0b000, Left, [Add], []),
        Shape::Left(Inner::Sub, outer) => with_outer!(outer, 0b000, Left, [Sub], []),
        Shape::Left(Inner::Mul, outer) => with_outer!(outer, 0b000, Left, [Mul], []),
        Shape::Left(Inner::Scale, outer) => with_outer!(outer, 0b001, Left, [Mul], []),
        Shape::Right(outer, Inner::Add) => with_outer!(outer, 0b000, Right, [], [Add]),
        Shape::Right(outer, Inner::Sub) => with_outer!(outer, 0b000, Right, [], [Sub]),
        Shape::Right(outer, Inner::Mul) => with_outer!(outer, 0b000, Right, [], [Mul]),
        Shape::Right(outer, Inner::Scale) => with_outer!(outer, 0b010, Right, [], [Mul]),
        Shape::SumOfProducts => each!(shapes::SumOfProducts, 0b0000),
        Shape::DifferenceOfProducts => each!(shapes::DifferenceOfProducts, 0b0000),
        Shape::ScaledSum => each!(shapes::SumOfProducts, 0b0101),
        Shape::ScaledDifference => each!(shapes::DifferenceOfProducts, 0b0101),
        Shape::Choice => each!(shapes::Choice, 0b000),
        Shape::ChoiceByDifference => each!(shapes::ChoiceByDifference, 0b0000),
    }
}

/// Where the operands of a step are, in one row.
struct Operands<T, const N: usize> {
    from: [*mut T; N],
    row: [usize; N],
    by: [usize; N],
}

impl<T, const N: usize> Operands<T, N> {
    #[inline(always)]
    fn new(frame: &Frame<'_, T>, places: [Place; N]) -> Self {
        let mut operands = Self { from: [std::ptr::null_mut::<T>(); N], row: [0; N], by: [0; N] };
        for i in 0..N {
            (operands.from[i], operands.row[i], operands.by[i]) = frame.place(places[i]);
        }
        operands
    }

    /// Goes on to the next row.
    #[inline(always)]
    fn advance(&mut self) {
        for i in 0..N {
            self.from[i] = self.from[i].wrapping_add(self.row[i]);
        }
    }

    /// Whether all are vectors but those of `u`.
    #[inline(always)]
    fn are_vectors_but(&self, u: usize) -> bool {
        let mut all = true;
        for i in 0..N {
            all &= (u >> i) & 1 == 1 || self.by[i] == 1;
        }
        all
    }

    /// Those from number c on, with those of `U` as they are. Where they are dense, all others are vectors.
    ///
    /// # Safety
    ///
    /// They are there.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn at<V: Vector<T>, const U: usize, const DENSE: bool>(
        &self,
        mut same: [V; N],
        c: usize,
    ) -> [V; N] {
        for i in 0..N {
            if (U >> i) & 1 == 0 {
                // SAFETY: the caller's promise
                same[i] = unsafe { V::load(self.from[i].add(if DENSE { c } else { c * self.by[i] })) };
            }
        }
        same
    }
}

/// One shape, on `len` coordinates of `rows` agents. The result may stand where an operand stood. Bit i of `U` says that operand i is the
/// same for all coordinates.
///
/// # Safety
///
/// The frame has them.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn each<T: Float, V: Vector<T>, F: Formed<N>, const N: usize, const U: usize>(
    frame: &Frame<'_, T>,
    step: &Step,
    rows: usize,
    len: usize,
) {
    let (mut to, to_row, _) = frame.place(step.to);
    let mut operands = Operands::<T, N>::new(frame, first_of(step.of));
    let dense = len >= V::LANES && operands.are_vectors_but(U);
    // SAFETY: the caller's promise
    unsafe {
        let Some(beside) = step.beside else {
            for _ in 0..rows {
                if dense {
                    strip::<T, V, F, N, U, true, false>(&operands, to, [to; 2], len);
                } else {
                    slowly::<T, V, F, N>(&operands, to, len);
                }
                to = to.wrapping_add(to_row);
                operands.advance();
            }
            return;
        };
        let mut copied = Operands::<T, 1>::new(frame, [beside.from]);
        let (mut copy, copy_row, _) = frame.place(beside.to);
        let dense = dense && copied.are_vectors_but(0);
        for _ in 0..rows {
            if dense {
                strip::<T, V, F, N, U, true, true>(&operands, to, [copied.from[0], copy], len);
            } else {
                if beside.first {
                    slowly::<T, V, shapes::Same, 1>(&copied, copy, len);
                }
                slowly::<T, V, F, N>(&operands, to, len);
                if !beside.first {
                    slowly::<T, V, shapes::Same, 1>(&copied, copy, len);
                }
            }
            to = to.wrapping_add(to_row);
            copy = copy.wrapping_add(copy_row);
            operands.advance();
            copied.advance();
        }
    }
}

/// One shape, on the coordinates of an agent, with operands of any kind.
///
/// # Safety
///
/// They are there.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn slowly<T: Float, V: Vector<T>, F: Formed<N>, const N: usize>(
    operands: &Operands<T, N>,
    to: *mut T,
    len: usize,
) {
    // SAFETY: the caller's promise
    unsafe {
        match len >= V::LANES {
            true => strip::<T, V, F, N, 0, false, false>(operands, to, [to; 2], len),
            false => strip::<T, Lanes<T, 1>, F, N, 0, false, false>(operands, to, [to; 2], len),
        }
    }
}

/// One shape, on `len` ≥ LANES coordinates of an agent, and a copy from one place to another if there is one `BESIDE`.
///
/// # Safety
///
/// They are there.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn strip<T, V, F, const N: usize, const U: usize, const DENSE: bool, const BESIDE: bool>(
    operands: &Operands<T, N>,
    to: *mut T,
    copy: [*mut T; 2],
    len: usize,
) where
    T: Float,
    V: Vector<T>,
    F: Formed<N>,
{
    // SAFETY: the caller's promise
    unsafe {
        let mut same = [V::constant(0.0); N];
        for i in 0..N {
            if (U >> i) & 1 == 1 {
                same[i] = V::load(operands.from[i]);
            }
        }
        // the last lanes first, while what they share with those before is still the old
        let end = len - V::LANES;
        let (last, last_copied) =
            (F::of(operands.at::<V, U, DENSE>(same, end)), load_if::<T, V, BESIDE>(copy[0].add(end)));
        let mut c = 0;
        while c < end {
            let (made, copied) =
                (F::of(operands.at::<V, U, DENSE>(same, c)), load_if::<T, V, BESIDE>(copy[0].add(c)));
            made.store(to.add(c));
            if BESIDE {
                copied.store(copy[1].add(c));
            }
            c += V::LANES;
        }
        last.store(to.add(end));
        if BESIDE {
            last_copied.store(copy[1].add(end));
        }
    }
}

/// What is there, if that is wanted.
///
/// # Safety
///
/// It is there.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn load_if<T, V: Vector<T>, const WANTED: bool>(place: *const T) -> V {
    // SAFETY: the caller's promise
    if WANTED { unsafe { V::load(place) } } else { V::constant(0.0) }
}

/// The first N.
#[inline(always)]
fn first_of<const N: usize>(places: [Place; 4]) -> [Place; N] {
    let mut first = [places[0]; N];
    first.copy_from_slice(&places[..N]);
    first
}
