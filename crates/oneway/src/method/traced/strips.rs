//! The loops of steps, on strips of coordinates.
#![allow(clippy::needless_range_loop)] // an iterator's closures may not be compiled for the vectors of their caller

use super::code::{Inner, Outer, Place, SPACES, Shape, Step};
use super::shapes::{self, Formed};
use crate::numeric::{Float, Lanes, Vector};

/// Rows of one kind: number c of vector i of row q is at first + i·apart + q·stride + c·step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<T> {
    pub(super) first: *mut T,
    pub(super) stride: usize,
    pub(super) apart: usize,
    pub(super) step: usize,
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

/// Where operands of a strip are: the tables, with the first number of the strip as the first of each.
pub(super) struct Frame<'f, T>(pub(super) &'f Tables<T>);

impl<T> Frame<'_, T> {
    /// Where a number is, how far rows are apart, and how far coordinates.
    #[inline(always)]
    pub(super) fn place(&self, place: Place) -> (*mut T, usize, usize) {
        let table = &self.0[place.space as usize];
        (table.first.wrapping_add(usize::from(place.index) * table.apart), table.stride, table.step)
    }
}

/// One step, on `len` coordinates of `rows` agents.
///
/// # Safety
///
/// The frame has them.
#[inline(always)]
#[allow(unsafe_code)]
pub(super) unsafe fn take<T: Float, V: Vector<T>>(
    frame: &Frame<'_, T>,
    step: &Step,
    rows: usize,
    len: usize,
) {
    if len < V::LANES {
        // SAFETY: the caller's promise
        return unsafe { take_singly(frame, step, rows, len) };
    }
    // A function for each: in one for all, the compiler would run out of registers. U says which operands are
    // the same everywhere.
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

/// One step, number by number: for what does not fill a vector.
///
/// # Safety
///
/// The frame has them.
#[inline(never)]
#[allow(unsafe_code)]
unsafe fn take_singly<T: Float>(frame: &Frame<'_, T>, step: &Step, rows: usize, len: usize) {
    // SAFETY: the caller's promise
    unsafe { take::<T, Lanes<T, 1>>(frame, step, rows, len) }
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

    /// Those from number c on, with those of `U` as they are.
    ///
    /// # Safety
    ///
    /// They are there.
    #[inline(always)]
    #[allow(unsafe_code)]
    unsafe fn at<V: Vector<T>, const U: usize>(&self, mut same: [V; N], c: usize) -> [V; N] {
        for i in 0..N {
            if (U >> i) & 1 == 0 {
                // SAFETY: the caller's promise
                same[i] = unsafe { V::load(self.from[i].add(c * self.by[i])) };
            }
        }
        same
    }
}

/// One shape, on `len` ≥ LANES coordinates of `rows` agents, and the copy beside it if there is one. The
/// result may stand where an operand stood. Bit i of `U` says that operand i is the same for all coordinates.
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
    // SAFETY: the caller's promise
    unsafe {
        let Some(beside) = step.beside else {
            for _ in 0..rows {
                strip::<T, V, F, N, 0, U>(&operands, to, &Operands::new(frame, []), to, len);
                to = to.wrapping_add(to_row);
                operands.advance();
            }
            return;
        };
        let mut copied = Operands::<T, 1>::new(frame, [beside.from]);
        let (mut copy, copy_row, _) = frame.place(beside.to);
        for _ in 0..rows {
            strip::<T, V, F, N, 1, U>(&operands, to, &copied, copy, len);
            to = to.wrapping_add(to_row);
            copy = copy.wrapping_add(copy_row);
            operands.advance();
            copied.advance();
        }
    }
}

/// One shape, on `len` ≥ LANES coordinates of an agent, and a copy beside it if `COPIES` is 1.
///
/// # Safety
///
/// They are there.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn strip<T, V, F, const N: usize, const COPIES: usize, const U: usize>(
    operands: &Operands<T, N>,
    to: *mut T,
    copied: &Operands<T, COPIES>,
    copy: *mut T,
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
        let nothing = [V::constant(0.0); COPIES];
        // the last lanes first, while what they share with those before is still the old
        let end = len - V::LANES;
        let last = (F::of(operands.at::<V, U>(same, end)), copied.at::<V, 0>(nothing, end));
        let mut c = 0;
        while c < end {
            let (made, copies) = (F::of(operands.at::<V, U>(same, c)), copied.at::<V, 0>(nothing, c));
            put([made], to.add(c));
            put(copies, copy.add(c));
            c += V::LANES;
            V::one_after_another();
        }
        put([last.0], to.add(end));
        put(last.1, copy.add(end));
    }
}

/// Puts a vector there, if there is one.
///
/// # Safety
///
/// There is room for it.
#[inline(always)]
#[allow(unsafe_code)]
unsafe fn put<T, V: Vector<T>, const N: usize>(vector: [V; N], place: *mut T) {
    for i in 0..N {
        // SAFETY: the caller's promise
        unsafe { vector[i].store(place) };
    }
}

/// The first N.
#[inline(always)]
fn first_of<const N: usize>(places: [Place; 4]) -> [Place; N] {
    let mut first = [places[0]; N];
    first.copy_from_slice(&places[..N]);
    first
}
