//! The inner loops: over rows, and over the entries of a row.
//!
//! Loops are generic over how x and g are indexed: slices in general, and tables of 256 where columns are
//! bytes, because then no index can be out of range and the compiler knows it.

use std::ops::{Index, IndexMut};

use super::Batch;
use super::link::Margin;
use crate::data::rows::{Entries, Kernel};
use crate::numeric::vectors::filled;
use crate::problem::GradientBatch;

/// How many rows are taken at a time, so that their margins' exponentials are computed side by side.
const BLOCK: usize = 32;

/// How many agents' gradients are made side by side.
const GROUP: usize = 16;

/// How many points are evaluated side by side: a vector of the widest kind.
pub(super) const POINTS: usize = 8;

/// A table that begins on a cache line, so that a vector of it never straddles two.
#[repr(align(64))]
pub(super) struct Aligned<T>(pub(super) T);

/// aᵀx, in the order of the row's columns, at each of P points.
#[inline(always)]
fn products<E: Entries, const P: usize>(
    entries: E,
    r: usize,
    x: &(impl Index<usize, Output = [f64; P]> + ?Sized),
) -> [f64; P] {
    let mut sums = [0.0; P];
    for (column, value) in entries.row(r) {
        let x = &x[column];
        sums = filled(|p| sums[p] + value * x[p]);
    }
    sums
}

/// Adds Σ_r ∇ln(1 + exp(−z_r)), z_r = y_r a_rᵀx, to g, at P points side by side; returns Σ_r ln(1 +
/// exp(−z_r)) at each. A point has the same bits alone and beside others.
pub(super) struct AddGradients<'a, I, T: ?Sized> {
    pub(super) labels: &'a [i8],
    pub(super) rows: I,
    pub(super) x: &'a T,
    pub(super) g: &'a mut T,
}

impl<I, T, const P: usize> Kernel for AddGradients<'_, I, T>
where
    I: Iterator<Item = usize>,
    T: IndexMut<usize, Output = [f64; P]> + ?Sized,
{
    type Output = [f64; P];

    #[inline(always)]
    fn run<E: Entries>(mut self, entries: E) -> [f64; P] {
        let mut losses = Losses::new();
        let Aligned([mut slopes, mut beyonds, mut factors]) = Aligned([[[0.0; P]; BLOCK]; 3]);
        let mut rows = [0; BLOCK];
        loop {
            let taken = rows.iter_mut().zip(&mut self.rows).map(|(row, r)| *row = r).count();
            if taken == 0 {
                return losses.sums();
            }
            let rows = &rows[..taken];
            let (slopes, beyonds, factors) =
                (&mut slopes[..taken], &mut beyonds[..taken], &mut factors[..taken]);
            for (z, &r) in slopes.iter_mut().zip(rows) {
                let y = f64::from(self.labels[r]);
                *z = products(entries, r, self.x).map(|product| y * product); // z = y aᵀx
            }
            let all = slopes.as_flattened_mut().iter_mut();
            for ((z, beyond), factor) in all.zip(beyonds.as_flattened_mut()).zip(factors.as_flattened_mut()) {
                let margin = Margin::new(*z);
                [*z, *beyond, *factor] = [margin.slope(), margin.beyond(), margin.factor()];
            }
            losses.add(beyonds, factors);
            for (slope, &r) in slopes.iter().zip(rows) {
                let y = f64::from(self.labels[r]);
                let c = slope.map(|slope| -y * slope); // ∇ln(1 + exp(−z)) = −y σ(−z) a
                for (column, value) in entries.row(r) {
                    let g = &mut self.g[column];
                    *g = filled(|p| g[p] + c[p] * value);
                }
            }
        }
    }
}

/// Σ ln(1 + e^−z) over rows, with one logarithm for many of them: ln(1 + e^−z) = max(−z, 0) + ln(1 + e^−|z|),
/// and Σ ln(1 + e) = ln Π(1 + e). A row's loss is right to about 1e-16, absolutely: rows that are fitted
/// better than that count as fitted.
struct Losses<const P: usize> {
    sums: [f64; P],
    products: [f64; P],
    factors: usize,
}

impl<const P: usize> Losses<P> {
    /// A product of this many factors, each from 1 to 2, is far from overflow.
    const FACTORS: usize = 512;

    fn new() -> Self {
        Self { sums: [0.0; P], products: [1.0; P], factors: 0 }
    }

    #[inline(always)]
    fn add(&mut self, beyonds: &[[f64; P]], factors: &[[f64; P]]) {
        let (mut sums, mut products) = (self.sums, self.products);
        for (beyond, factor) in beyonds.iter().zip(factors) {
            sums = filled(|p| sums[p] + beyond[p]);
            products = filled(|p| products[p] * factor[p]);
        }
        (self.sums, self.products) = (sums, products);
        self.factors += factors.len();
        if self.factors + BLOCK > Self::FACTORS {
            self.take_logarithms();
        }
    }

    fn take_logarithms(&mut self) {
        for (sum, product) in self.sums.iter_mut().zip(&mut self.products) {
            *sum += libm::log(std::mem::replace(product, 1.0));
        }
        self.factors = 0;
    }

    fn sums(mut self) -> [f64; P] {
        self.take_logarithms();
        self.sums
    }
}

/// Adds the gradients of sampled rows to g, one row after another, without the blocks that a few would not
/// fill. Each coordinate of g is summed in the order of the rows, as in [`AddGradients`].
pub(super) struct AddSampled<'a, I> {
    pub(super) labels: &'a [i8],
    pub(super) rows: I,
    pub(super) x: &'a [f64],
    pub(super) g: &'a mut [f64],
}

impl<I: Iterator<Item = usize>> Kernel for AddSampled<'_, I> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        for r in self.rows {
            let c = slope(entries, self.labels, r, self.x);
            add_row(entries, r, c, self.g);
        }
    }
}

/// z = y aᵀx of row r, and y.
#[inline(always)]
fn margin<E: Entries>(entries: E, labels: &[i8], r: usize, x: &[f64]) -> [f64; 2] {
    let y = f64::from(labels[r]);
    [y * products(entries, r, x.as_chunks::<1>().0)[0], y]
}

/// c with ∇ln(1 + exp(−z)) = c·a for row r: c = −y σ(−z), z = y aᵀx.
#[inline(always)]
pub(super) fn slope<E: Entries>(entries: E, labels: &[i8], r: usize, x: &[f64]) -> f64 {
    let [z, y] = margin(entries, labels, r, x);
    -y * Margin::new(z).slope()
}

/// g ← g + c·a for row r.
#[inline(always)]
fn add_row<E: Entries>(entries: E, r: usize, c: f64, g: &mut [f64]) {
    for (column, value) in entries.row(r) {
        g[column] += c * value;
    }
}

/// g ← 0 + 2αx/(1+x²)², the regulariser's gradient; 0 is the gradient of a loss that the column does not
/// enter.
#[inline(always)]
fn put_regulariser(twice_α: f64, x: &[f64], g: &mut [f64]) {
    for (g, x) in g.iter_mut().zip(x) {
        let q = 1.0 + x * x;
        *g = 0.0 + twice_α * x / (q * q);
    }
}

/// Writes ∇ of one row's loss and the regulariser into g. The bits of [`AddSampled`] and what finishes it,
/// since a + b = b + a.
pub(super) struct OneRow<'a> {
    pub(super) labels: &'a [i8],
    pub(super) r: usize,
    pub(super) twice_α: f64,
    pub(super) x: &'a [f64],
    pub(super) g: &'a mut [f64],
}

impl Kernel for OneRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        put_regulariser(self.twice_α, self.x, self.g);
        let c = slope(entries, self.labels, self.r, self.x);
        add_row(entries, self.r, c, self.g);
    }
}

/// [`OneRow`] of each of some agents, drawn from its own. A row's product, its exponential and the
/// regulariser's divisions wait for nothing but themselves: a group of agents goes through one after the
/// other, and what they wait for overlaps.
pub(super) struct OneRowEach<'a> {
    pub(super) labels: &'a [i8],
    pub(super) rows_per_agent: usize,
    /// How rows are drawn, one for each.
    pub(super) drawn: Batch,
    pub(super) twice_α: f64,
    pub(super) batch: GradientBatch<'a>,
}

impl Kernel for OneRowEach<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        let Self { labels, rows_per_agent, drawn, twice_α, batch } = self;
        let GradientBatch { agents, points, draws, mut gradients } = batch;
        for (group, draws) in draws.chunks_mut(GROUP).enumerate() {
            let first = group * GROUP;
            let (mut rows, mut margins, mut slopes) = ([0; GROUP], [[0.0; 2]; GROUP], [0.0; GROUP]);
            for (p, draws) in draws.iter_mut().enumerate() {
                let q = first + p;
                rows[p] = agents.get(q) * rows_per_agent + drawn.drawing(rows_per_agent, draws).next();
                // the divisions go on while the row is looked at
                put_regulariser(twice_α, points.row(q), gradients.row(q));
                margins[p] = margin(entries, labels, rows[p], points.row(q));
            }
            for (slope, [z, y]) in slopes.iter_mut().zip(margins) {
                *slope = -y * Margin::new(z).slope(); // as `slope` has it, side by side
            }
            for p in 0..draws.len() {
                add_row(entries, rows[p], slopes[p], gradients.row(first + p));
            }
        }
    }
}

/// Counts the rows whose label is the sign of aᵀx, at P points side by side.
pub(super) struct CountRight<'a, T: ?Sized> {
    pub(super) labels: &'a [f64],
    pub(super) x: &'a T,
}

impl<T: Index<usize, Output = [f64; P]> + ?Sized, const P: usize> Kernel for CountRight<'_, T> {
    type Output = [f64; P];

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> [f64; P] {
        let mut counts = [0.0; P];
        for (r, y) in self.labels.iter().enumerate() {
            let products = products(entries, r, self.x);
            counts = filled(|p| counts[p] + if y * products[p] > 0.0 { 1.0 } else { 0.0 });
        }
        counts
    }
}
