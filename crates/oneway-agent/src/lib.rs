//! Networked agents: each with its own shard, exchanging rows over one-way links, with the simulator's bits.
//!
//! An [`agent`] is the library's `send` and `step` between [`put`](link::Link::put) and [`get`](link::Link::get). Rows travel as
//! [`frame`]s over links [in memory](memory) or on a network; they are numbered, kept in the [`history`] of who sent them, and asked
//! for again by whoever misses them in its [`inbox`]. So the answer does not depend on what the network does.

pub mod agent;
pub mod authority;
pub mod checkpoint;
pub mod config;
pub mod files;
pub mod finished;
pub mod frame;
pub mod gather;
pub mod history;
pub mod identity;
pub mod inbox;
pub mod journal;
pub mod launch;
pub mod layout;
pub mod link;
pub mod memory;
pub mod metrics;
pub mod net;
pub mod observe;
pub mod owner;
pub mod plan;
pub mod recent;
mod rounds;
pub mod rows;
pub mod run;
pub mod seldom;
pub mod shard;
pub mod status;
pub mod ties;
pub mod top;
