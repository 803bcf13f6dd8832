//! The inner loops: over rows, and over the entries of a row.
//!
//! Loops are generic over how x and g are indexed: slices in general, and tables of 256 where columns are bytes, because
//! then no index can be out of range and the compiler knows it.

use std::ops::{Index, IndexMut};

use super::TABLE;
use super::link::Margin;
use crate::data::Dataset;
use crate::data::rows::{Entries, Kernel};

/// Margins are taken so many at a time, so that their losses and slopes are computed side by side.
const BLOCK: usize = 32;

/// aᵀx, in the order of the row's columns.
#[inline(always)]
fn product<E: Entries>(entries: E, r: usize, x: &(impl Index<usize, Output = f64> + ?Sized)) -> f64 {
    entries.row(r).fold(0.0, |sum, (column, value)| sum + value * x[column])
}

/// Adds Σ_r ∇ln(1 + exp(−z_r)), z_r = y_r a_rᵀx, to g; returns Σ_r ln(1 + exp(−z_r)) if LOSSES, else 0.
pub(super) struct AddGradients<'a, I, T: ?Sized, const LOSSES: bool> {
    pub(super) labels: &'a [i8],
    pub(super) rows: I,
    pub(super) x: &'a T,
    pub(super) g: &'a mut T,
}

impl<I, T, const LOSSES: bool> Kernel for AddGradients<'_, I, T, LOSSES>
where
    I: Iterator<Item = usize>,
    T: IndexMut<usize, Output = f64> + ?Sized,
{
    type Output = f64;

    #[inline(always)]
    fn run<E: Entries>(mut self, entries: E) -> f64 {
        let mut losses = 0.0;
        let (mut rows, mut margins, mut values) = ([0; BLOCK], [Margin::default(); BLOCK], [0.0; BLOCK]);
        loop {
            let mut taken = 0;
            for (row, r) in rows.iter_mut().zip(&mut self.rows) {
                *row = r;
                taken += 1;
            }
            if taken == 0 {
                return losses;
            }
            let (rows, margins, values) = (&rows[..taken], &mut margins[..taken], &mut values[..taken]);
            for (z, &r) in values.iter_mut().zip(rows) {
                *z = f64::from(self.labels[r]) * product(entries, r, self.x); // z = y aᵀx
            }
            margins.iter_mut().zip(&*values).for_each(|(margin, &z)| *margin = Margin::new(z));
            if LOSSES {
                values.iter_mut().zip(&*margins).for_each(|(loss, margin)| *loss = margin.loss());
                losses = values.iter().fold(losses, |sum, loss| sum + loss);
            }
            values.iter_mut().zip(&*margins).for_each(|(slope, margin)| *slope = margin.slope()); // σ(−z)
            for (slope, &r) in values.iter().zip(rows) {
                let c = -f64::from(self.labels[r]) * slope; // ∇ln(1 + exp(−z)) = −y σ(−z) a
                for (column, value) in entries.row(r) {
                    self.g[column] += c * value;
                }
            }
        }
    }
}

/// The same one row after another, without the blocks that a handful of rows would not fill. Each coordinate of g is summed
/// in the same order, so the bits are the same.
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
            let c = Slope { labels: self.labels, r, x: self.x }.run(entries);
            AddRow { r, c, g: self.g }.run(entries);
        }
    }
}

/// c with ∇ln(1 + exp(−z)) = c·a for one row: c = −y σ(−z), z = y aᵀx.
pub(super) struct Slope<'a> {
    pub(super) labels: &'a [i8],
    pub(super) r: usize,
    pub(super) x: &'a [f64],
}

impl Kernel for Slope<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> f64 {
        let y = f64::from(self.labels[self.r]);
        -y * Margin::new(y * product(entries, self.r, self.x)).slope()
    }
}

/// g ← g + c·a for one row.
pub(super) struct AddRow<'a> {
    pub(super) r: usize,
    pub(super) c: f64,
    pub(super) g: &'a mut [f64],
}

impl Kernel for AddRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) {
        for (column, value) in entries.row(self.r) {
            self.g[column] += self.c * value;
        }
    }
}

/// So many points are evaluated side by side: a vector of the widest kind.
pub(super) const POINTS: usize = 8;

/// A column's numbers at all points.
pub(super) type Lanes = [f64; POINTS];

/// [`AddGradients`] at several points at once: each row is walked once, with a lane for each point. A lane does what a
/// point alone would, in the same order.
pub(super) struct AddGradientsMany<'a, I> {
    pub(super) labels: &'a [i8],
    pub(super) rows: I,
    pub(super) x: &'a [Lanes; TABLE],
    pub(super) g: &'a mut [Lanes; TABLE],
}

impl<I: Iterator<Item = usize>> Kernel for AddGradientsMany<'_, I> {
    type Output = Lanes;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> Lanes {
        let mut losses = [0.0; POINTS];
        for r in self.rows {
            let y = f64::from(self.labels[r]);
            let mut products = [0.0; POINTS];
            for (column, value) in entries.row(r) {
                for (product, x) in products.iter_mut().zip(&self.x[column]) {
                    *product += value * x;
                }
            }
            let mut c = [0.0; POINTS];
            for ((c, loss), product) in c.iter_mut().zip(&mut losses).zip(products) {
                let margin = Margin::new(y * product); // z = y aᵀx
                *loss += margin.loss();
                *c = -y * margin.slope(); // ∇ln(1 + exp(−z)) = −y σ(−z) a
            }
            for (column, value) in entries.row(r) {
                for (g, c) in self.g[column].iter_mut().zip(c) {
                    *g += c * value;
                }
            }
        }
        losses
    }
}

/// Counts the rows whose label is the sign of aᵀx.
pub(super) struct CountRight<'a, T: ?Sized> {
    pub(super) test: &'a Dataset,
    pub(super) x: &'a T,
}

impl<T: Index<usize, Output = f64> + ?Sized> Kernel for CountRight<'_, T> {
    type Output = usize;

    #[inline(always)]
    fn run<E: Entries>(self, entries: E) -> usize {
        let labels = self.test.labels.iter().enumerate();
        labels.filter(|&(r, y)| y * product(entries, r, self.x) > 0.0).count()
    }
}
