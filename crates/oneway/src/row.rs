//! How a packed row is split: `[vector 0 | vector 1 | … | scalars]`, each vector of the problem's dimension d.
//!
//! State rows and messages are all packed this way, so that one row is one message and one slice of a checkpoint.

/// How wide a packed row is: so many vectors of dimension d, then so many scalars.
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

    /// So many vectors and no scalars.
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

/// Splits a row into `V` vectors and `S` scalars; the pattern on the left says how many.
///
/// ```
/// let row = [1.0, 2.0, 3.0, 4.0, 9.0];
/// let ([x, y], [w]) = oneway::row::split(&row);
/// assert_eq!((x, y, *w), (&[1.0, 2.0][..], &[3.0, 4.0][..], 9.0));
/// ```
#[inline(always)]
pub fn split<const V: usize, const S: usize>(row: &[f64]) -> ([&[f64]; V], &[f64; S]) {
    let (vectors, scalars) = row.split_last_chunk().expect("a row holds its scalars");
    debug_assert!(
        V == 0 || vectors.len().is_multiple_of(V),
        "a row of {} numbers is not {V} vectors",
        row.len()
    );
    let mut parts = vectors.chunks_exact(vectors.len().checked_div(V).unwrap_or(0).max(1));
    (std::array::from_fn(|_| parts.next().unwrap_or_default()), scalars)
}

/// [`split`], to write into.
#[inline(always)]
pub fn split_mut<const V: usize, const S: usize>(row: &mut [f64]) -> ([&mut [f64]; V], &mut [f64; S]) {
    let (vectors, scalars) = row.split_last_chunk_mut().expect("a row holds its scalars");
    let mut parts = vectors.chunks_exact_mut(vectors.len().checked_div(V).unwrap_or(0).max(1));
    (std::array::from_fn(|_| parts.next().unwrap_or_default()), scalars)
}

/// The first `V` vectors of dimension d of a row, and the rest of it.
#[inline(always)]
pub fn split_head_mut<const V: usize>(row: &mut [f64], d: usize) -> ([&mut [f64]; V], &mut [f64]) {
    let (head, rest) = row.split_at_mut(V * d);
    let (vectors, []) = split_mut(head);
    (vectors, rest)
}

/// The first `V` vectors of dimension d of a row, its last `S` scalars, and what lies between.
///
/// ```
/// let mut row = [1.0, 2.0, 3.0, 4.0, 9.0];
/// let ([x], between, [w]) = oneway::row::split_ends_mut(&mut row, 2);
/// assert_eq!((&*x, &*between, *w), (&[1.0, 2.0][..], &[3.0, 4.0][..], 9.0));
/// ```
#[inline(always)]
pub fn split_ends_mut<const V: usize, const S: usize>(
    row: &mut [f64],
    d: usize,
) -> ([&mut [f64]; V], &mut [f64], &mut [f64; S]) {
    let (row, scalars) = row.split_last_chunk_mut().expect("a row holds its scalars");
    let (vectors, between) = split_head_mut(row, d);
    (vectors, between, scalars)
}

/// Vector number `index` of a row.
#[inline(always)]
pub fn vector(row: &[f64], index: usize, d: usize) -> &[f64] {
    &row[index * d..(index + 1) * d]
}

/// `out = a − η·b`, a step from `a` along −`b`.
#[inline(always)]
pub fn descend(out: &mut [f64], a: &[f64], η: f64, b: &[f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = a - η * b;
    }
}

/// `out = a / w`, push-sum's model without its bias.
#[inline(always)]
pub fn divide(out: &mut [f64], a: &[f64], w: f64) {
    out.iter_mut().zip(a).for_each(|(out, a)| *out = a / w);
}

/// A weighted sum of rows as the bit contract has it: the first term is assigned, the others multiplied and then added,
/// never fused.
#[derive(Debug)]
pub(crate) struct Sum<'s> {
    out: &'s mut [f64],
    empty: bool,
}

impl<'s> Sum<'s> {
    #[inline(always)]
    pub(crate) fn new(out: &'s mut [f64]) -> Self {
        Self { out, empty: true }
    }

    /// A sum that goes on from what is there.
    pub(crate) fn onto(out: &'s mut [f64]) -> Self {
        Self { out, empty: false }
    }

    #[inline(always)]
    pub(crate) fn add(&mut self, weight: f64, row: &[f64]) {
        let terms = self.out.iter_mut().zip(row);
        match std::mem::replace(&mut self.empty, false) {
            true => terms.for_each(|(out, x)| *out = weight * x),
            false => terms.for_each(|(out, x)| *out += weight * x),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.empty
    }

    /// No terms make zero.
    #[inline(always)]
    pub(crate) fn finish(self) {
        if self.empty {
            self.out.fill(0.0);
        }
    }
}
