//! A method that keeps two rows behind its state: a pull row and a push row, for combinators that hand them
//! over later.

use std::fmt::{self, Debug};

use super::row_lengths;
use crate::method::{Gradient, InPrecision, Kernel, Method, Profile, Round, Sizes};
use crate::numeric::row::Width;

/// A method, and whether there is room for two rows behind its state.
pub(super) struct Holding {
    pub(super) inner: Box<dyn Method>,
    pub(super) holds: bool,
}

impl Debug for Holding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

impl Holding {
    /// The inner method's, with room for the rows: as vectors, so that theory sees them, unless scalars are
    /// in the way. Gradients are not taken at what was pulled, but at what is handed over.
    pub(super) fn profile(&self, sizes: Sizes) -> Profile {
        let profile = self.inner.profile(sizes);
        if !self.holds {
            return profile;
        }
        let Profile { state, pull, push, .. } = profile;
        let state = match state.scalars + pull.scalars + push.scalars {
            0 => Width::vectors(state.vectors + pull.vectors + push.vectors),
            _ => state.and_scalars(state.scalars + pull.len(sizes.dim) + push.len(sizes.dim)),
        };
        Profile { state, points_are_pulled: false, ..profile }
    }

    /// The inner method's arithmetic.
    pub(super) fn kernel<T: InPrecision>(&self) -> &dyn Kernel<T> {
        T::kernel(&*self.inner).expect("a combinator has the precisions of the method that it is around")
    }

    /// Starts the inner method, with rows of zeros.
    pub(super) fn start<T: InPrecision>(
        &self,
        at: Round<'_>,
        x: &[T],
        gradient: Gradient<'_, T>,
        state: &mut [T],
    ) {
        let rows = if self.holds { row_lengths(&*self.inner, at) } else { [0; 2] };
        let (inner, held) = self.split(state, rows);
        held.into_iter().for_each(|row| row.fill(T::default()));
        self.kernel().start(at, x, gradient, inner);
    }

    /// The inner state, and the two rows behind it, which have these lengths if they are held.
    pub(super) fn split<'s, T>(
        &self,
        state: &'s mut [T],
        rows: [usize; 2],
    ) -> (&'s mut [T], [&'s mut [T]; 2]) {
        let [pull, push] = if self.holds { rows } else { [0; 2] };
        let (inner, rows) = state.split_at_mut(state.len() - pull - push);
        let (pulled, pushed) = rows.split_at_mut(pull);
        (inner, [pulled, pushed])
    }
}
