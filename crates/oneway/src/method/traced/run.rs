//! Runs a code on strips of coordinates of some agents.

use std::mem::MaybeUninit;

use super::code::{Code, Operation, Place, SPACES, Space, Uniform};
use super::strips::{Frame, Table, Tables, take};
use crate::method::{Agents, Carries, OfRound, Round, Rows};
use crate::numeric::registers::InVectors;
use crate::numeric::{Float, Vector};

/// Numbers in all strips together: half of a near cache.
const SCRATCH: usize = 4096;

/// Numbers in a strip, at most: of several agents where d is small.
const STRIP: usize = 512;

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
