//! Who hears whom: directed graphs, the families they come from, their trees and their mixing weights.
//!
//! An edge `from → to` means that `to` hears `from`. Every agent hears itself, so a [`Digraph`] stores no self-loops;
//! the [`weights`] put them back.
//!
//! Nothing here recurses over agents, and everything is linear in agents and edges: a million agents are no trouble.

mod digraph;
pub mod families;
mod lists;
mod trees;
pub mod weights;

pub use digraph::{Digraph, MAX_AGENTS, MAX_EDGES};
pub use trees::Tree;

use crate::error::some_agents;

/// `agent 3`, or `agents 3, 5, 8 and 12 more`.
fn named_agents(agents: &[usize]) -> String {
    format!("{} {}", if agents.len() == 1 { "agent" } else { "agents" }, some_agents(agents))
}
