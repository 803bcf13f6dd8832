//! Who hears whom: directed graphs, the families they come from, their trees and their mixing weights.
//!
//! An edge `from → to` means that `to` hears `from`. Every agent hears itself, so a [`Digraph`] stores no self-loops;
//! the [`weights`] put them back.
//!
//! Nothing here recurses over agents, and everything is linear in agents and edges: a million agents are no trouble.

mod digraph;
pub mod families;
mod lists;

pub use digraph::{Digraph, MAX_AGENTS, MAX_EDGES};
