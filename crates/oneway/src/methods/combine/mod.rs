//! Combinators: methods made of methods. Compression, several exchanges a round and local updates fit around any of them.

mod compressed;
mod local_updates;
mod multi_gossip;

pub use compressed::{Compressed, Damping};
pub use local_updates::LocalUpdates;
pub use multi_gossip::MultiGossip;

use crate::method::Layout;
use crate::row::Width;

/// The state with a pull row and a push row behind it: as vectors, so that theory sees them, unless scalars are in the way.
fn with_rows_behind(Layout { state, pull, push }: Layout, d: usize) -> Width {
    match state.scalars + pull.scalars + push.scalars {
        0 => Width::vectors(state.vectors + pull.vectors + push.vectors),
        _ => state.and_scalars(state.scalars + pull.len(d) + push.len(d)),
    }
}

/// The inner state, and the two rows behind it.
fn split_rows(state: &mut [f64], [pull, push]: [usize; 2]) -> (&mut [f64], [&mut [f64]; 2]) {
    let (inner, rows) = state.split_at_mut(state.len() - pull - push);
    let (pulled, pushed) = rows.split_at_mut(pull);
    (inner, [pulled, pushed])
}
