//! What is settled before a run begins: one config for each agent, with its identity, its links and its share
//! of the data.

pub mod authority;
pub mod config;
pub mod endpoints;
pub mod hosts;
pub mod identity;
pub mod layout;
pub mod limits;
pub mod plan_file;
pub mod shard;
pub mod ties;
