//! How a packed row is split: `[vector 0 | vector 1 | … | scalars]`, each vector of the problem's dimension
//! d.
//!
//! State rows and messages are all packed this way, so that one row is one message and one slice of a
//! checkpoint.

use std::marker::PhantomData;

use crate::numeric::Float;

/// How wide a packed row is: vectors of dimension d, then scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Width {
    /// Vectors of the problem's dimension.
    pub vectors: usize,
    /// Single numbers after them, such as push-sum's weight.
    pub scalars: usize,
}

impl Width {
    /// Nothing is sent.
    pub const NONE: Width = Width::vectors(0);

    /// `vectors` vectors and no scalars.
    pub const fn vectors(vectors: usize) -> Self {
        Self { vectors, scalars: 0 }
    }

    /// The same with scalars behind the vectors.
    pub const fn and_scalars(self, scalars: usize) -> Self {
        Self { scalars, ..self }
    }

    /// Numbers in a row when vectors have dimension `d`.
    pub const fn len(self, d: usize) -> usize {
        self.vectors * d + self.scalars
    }

    /// Whether a row holds nothing at all.
    pub const fn is_empty(self) -> bool {
        self.vectors == 0 && self.scalars == 0
    }
}

/// Vector number `index` of a row.
#[inline(always)]
pub fn vector(row: &[f64], index: usize, d: usize) -> &[f64] {
    &row[index * d..(index + 1) * d]
}

/// Rows of one width, to read.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a, T> {
    numbers: &'a [T],
    width: usize,
    stride: usize,
}

impl<'a, T> Rows<'a, T> {
    /// Rows of `width` numbers, each `stride` after the last.
    pub fn new(numbers: &'a [T], width: usize, stride: usize) -> Self {
        Self { numbers, width, stride }
    }

    /// One row.
    pub fn one(row: &'a [T]) -> Self {
        Self::new(row, row.len(), row.len())
    }

    /// Row q.
    #[inline(always)]
    pub fn row(&self, q: usize) -> &'a [T] {
        &self.numbers[q * self.stride..][..self.width]
    }

    /// Numbers in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// From the start of one row to the start of the next; 0 where all are the same row.
    pub fn stride(&self) -> usize {
        self.stride
    }
}

impl<'a, T: Float> Rows<'a, T> {
    /// The first `count` vectors of dimension d of rows 0 to `rows` − 1.
    pub(crate) fn vectors(&self, rows: usize, count: usize, d: usize) -> Vectors<'a, T> {
        check_vectors(self.numbers.len(), [self.width, self.stride], rows, count, d);
        Vectors { first: self.numbers.as_ptr(), stride: self.stride, rows: PhantomData }
    }

    /// The same rows, where their numbers are double already.
    pub(crate) fn as_f64(&self) -> Option<Rows<'a, f64>> {
        Some(Rows::new(T::as_f64(self.numbers)?, self.width, self.stride))
    }
}

/// Rows of one width, to write into.
#[derive(Debug)]
pub struct RowsMut<'a, T> {
    numbers: &'a mut [T],
    width: usize,
    stride: usize,
}

impl<'a, T> RowsMut<'a, T> {
    /// Rows of `width` numbers, each `stride` after the last.
    pub fn new(numbers: &'a mut [T], width: usize, stride: usize) -> Self {
        Self { numbers, width, stride }
    }

    /// One row.
    pub fn one(row: &'a mut [T]) -> Self {
        let width = row.len();
        Self::new(row, width, width)
    }

    /// Rows without numbers.
    pub fn none() -> Self {
        Self::new(&mut [], 0, 0)
    }

    /// Row q.
    #[inline(always)]
    pub fn row(&mut self, q: usize) -> &mut [T] {
        &mut self.numbers[q * self.stride..][..self.width]
    }

    /// Numbers in a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The same rows, to read.
    #[inline(always)]
    pub fn as_rows(&self) -> Rows<'_, T> {
        Rows::new(self.numbers, self.width, self.stride)
    }
}

impl<T: Float> RowsMut<'_, T> {
    /// The first `count` vectors of dimension d of rows 0 to `rows` − 1.
    pub(crate) fn vectors(&mut self, rows: usize, count: usize, d: usize) -> VectorsMut<'_, T> {
        check_vectors(self.numbers.len(), [self.width, self.stride], rows, count, d);
        VectorsMut { first: self.numbers.as_mut_ptr(), stride: self.stride, rows: PhantomData }
    }
}

/// Once for a block of rows, so that loops over them need no checks.
fn check_vectors(numbers: usize, [width, stride]: [usize; 2], rows: usize, count: usize, d: usize) {
    let end = rows.checked_sub(1).and_then(|last| last.checked_mul(stride)?.checked_add(width));
    let fits = rows == 0 || end.is_some_and(|end| end <= numbers);
    assert!(
        fits && d.checked_mul(count).is_some_and(|needed| needed <= width),
        "{numbers} numbers are not {rows} rows of {count} vectors of dimension {d}"
    );
}

/// Vectors of dimension d in rows, to read: number c of vector i of row q stands at q·stride + i·d + c.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Vectors<'a, T> {
    first: *const T,
    stride: usize,
    rows: PhantomData<&'a [T]>,
}

impl<T> Vectors<'_, T> {
    /// The first number of row 0, and how far rows are apart.
    pub(crate) fn table(&self) -> (*const T, usize) {
        (self.first, self.stride)
    }

    /// The place of number c of vector 0 of row q; vector i is i·d behind it.
    ///
    /// # Safety
    ///
    /// The rows have it.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) unsafe fn place(&self, q: usize, c: usize) -> *const T {
        // SAFETY: the caller's promise
        unsafe { self.first.add(q * self.stride + c) }
    }
}

/// [`Vectors`], to write into.
#[derive(Debug)]
pub(crate) struct VectorsMut<'a, T> {
    first: *mut T,
    stride: usize,
    rows: PhantomData<&'a mut [T]>,
}

impl<T> VectorsMut<'_, T> {
    /// The first number of row 0, and how far rows are apart.
    pub(crate) fn table(&mut self) -> (*mut T, usize) {
        (self.first, self.stride)
    }

    /// The place of number c of vector 0 of row q; vector i is i·d behind it.
    ///
    /// # Safety
    ///
    /// The rows have it.
    #[inline(always)]
    #[allow(unsafe_code)]
    pub(crate) unsafe fn place(&self, q: usize, c: usize) -> *mut T {
        // SAFETY: the caller's promise
        unsafe { self.first.add(q * self.stride + c) }
    }
}

/// Some agents, ascending.
#[derive(Debug, Clone, Copy)]
pub enum Agents<'a> {
    /// `len` consecutive agents from `first` on.
    Range {
        /// The first.
        first: usize,
        /// How many.
        len: usize,
    },
    /// These.
    List(&'a [usize]),
}

impl Agents<'_> {
    /// One agent.
    pub fn one(agent: usize) -> Self {
        Agents::Range { first: agent, len: 1 }
    }

    /// How many.
    #[inline(always)]
    pub fn len(&self) -> usize {
        match self {
            Agents::Range { len, .. } => *len,
            Agents::List(agents) => agents.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The q-th.
    #[inline(always)]
    pub fn get(&self, q: usize) -> usize {
        match self {
            Agents::Range { first, .. } => first + q,
            Agents::List(agents) => agents[q],
        }
    }

    /// How many rows there must be if the first is that of agent `first`.
    ///
    /// # Panics
    /// If an agent comes before it.
    pub(crate) fn rows_from(&self, first: usize) -> usize {
        let [lowest, highest] = match *self {
            Agents::Range { len: 0, .. } | Agents::List([]) => return 0,
            Agents::Range { first, len } => [first, first + (len - 1)],
            Agents::List(agents) => agents.iter().fold([usize::MAX, 0], |[l, h], &a| [l.min(a), h.max(a)]),
        };
        assert!(lowest >= first, "agent {lowest} has no row, the first is that of {first}");
        highest - first + 1
    }

    /// One after another.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.len()).map(|q| self.get(q))
    }
}

/// A weighted sum of rows as the bit contract has it: the first term is assigned, the others multiplied and
/// then added, never fused.
///
/// ```
/// let mut out = [0.0; 2];
/// let mut sum = oneway::numeric::row::Sum::new(&mut out);
/// sum.add(0.5, &[2.0, 4.0]);
/// sum.add_product(&[1.0, 1.0]); // multiplied already
/// sum.finish();
/// assert_eq!(out, [2.0, 3.0]);
/// ```
#[derive(Debug)]
pub struct Sum<'s, T = f64> {
    out: &'s mut [T],
    empty: bool,
}

impl<'s, T: Float> Sum<'s, T> {
    /// A sum without terms, to be written into `out`.
    #[inline(always)]
    pub fn new(out: &'s mut [T]) -> Self {
        Self { out, empty: true }
    }

    /// A sum that goes on from what is there.
    pub(crate) fn onto(out: &'s mut [T]) -> Self {
        Self { out, empty: false }
    }

    /// Adds weight·row.
    #[inline(always)]
    pub fn add(&mut self, weight: f64, row: &[T]) {
        let weight = T::from_f64(weight);
        let terms = self.out.iter_mut().zip(row);
        match std::mem::replace(&mut self.empty, false) {
            true => terms.for_each(|(out, x)| *out = weight * *x),
            false => terms.for_each(|(out, x)| *out += weight * *x),
        }
    }

    /// Adds a row that its sender has multiplied by its weight.
    pub fn add_product(&mut self, row: &[T]) {
        let terms = self.out.iter_mut().zip(row);
        match std::mem::replace(&mut self.empty, false) {
            true => terms.for_each(|(out, x)| *out = *x),
            false => terms.for_each(|(out, x)| *out += *x),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.empty
    }

    /// Ends it: no terms make zero.
    #[inline(always)]
    pub fn finish(self) {
        if self.empty {
            self.out.fill(T::default());
        }
    }
}
