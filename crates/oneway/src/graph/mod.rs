//! Who hears whom: directed graphs, the families they come from, their trees and their mixing weights.
//!
//! An edge `from → to` means that `to` hears `from`. Every agent hears itself, so a [`Digraph`] stores no
//! self-loops; the [`weights`] put them back. The way from a picture of a network to what a method needs is
//!
//! ```
//! use oneway::graph::{Tree, check_common_root, families, weights};
//!
//! let flower = families::flower(20, 4).unwrap(); // four directed cycles through agent 0
//! assert_eq!(flower.edge_count(), 23);
//!
//! // The whole digraph, as SMTPP uses it …
//! let pull = weights::uniform_rows(&flower).unwrap();
//! let push = weights::uniform_columns(&flower).unwrap();
//! assert_eq!(check_common_root(&pull, &push).unwrap().len(), 20); // every agent can be the root
//!
//! // … or two spanning trees with one root.
//! let pull = weights::pull_tree(&Tree::pull(&flower, 0).unwrap(), false).unwrap();
//! let push = weights::push_tree(&Tree::push(&flower, 0).unwrap(), false).unwrap();
//! assert_eq!(check_common_root(&pull, &push).unwrap(), [0]);
//! ```
//!
//! Nothing here recurses over agents, and everything is linear in agents and edges (turning links into a
//! matrix sorts them, which for a tree costs a logarithm more): a million agents are no trouble.

mod assumption;
mod components;
mod digraph;
pub mod families;
pub mod file;
mod lists;
pub mod mixing;
pub mod perron;
pub mod repair;
pub mod topology;
mod trees;
pub mod weights;

pub use assumption::{check_common_root, check_strongly_connected};
pub(crate) use assumption::{common_roots, strongly_connected};
pub use components::{Components, Degrees};
pub use digraph::{Digraph, MAX_AGENTS, MAX_EDGES};
pub use topology::{Graph, Network, Subgraph, Topology, Weights};
pub use trees::Tree;

use crate::error::some_agents;

/// `agent 3`, or `agents 3, 5, 8 and 12 more`.
fn named_agents(agents: &[usize]) -> String {
    format!("{} {}", if agents.len() == 1 { "agent" } else { "agents" }, some_agents(agents))
}
