//! Networked agents: each with its own shard, exchanging rows over one-way links, with the simulator's bits.
//!
//! An [`agent`] is the library's calls of a method between [`put`](link::Link::put) and
//! [`get`](link::Link::get). Rows are numbered, kept by their sender, and requested again by a receiver that
//! misses them. So the answer does not depend on what the network does.
//!
//! | to change how … | look in |
//! |---|---|
//! | rows and requests are written as bytes | [`wire`] |
//! | bytes get from one agent to another | [`link`]: in memory, over Zenoh |
//! | an agent survives a crash | [`disk`]: checkpoints, the journal of states |
//! | an experiment becomes one config for each agent | [`plan`] |
//! | people see what agents are doing | [`watch`]: status, metrics, `top`, `observe` |
//! | one agent does its rounds | [`agent`], `exchange`, `rounds`, [`run`] |
//! | a program of your own is an agent | `carry` |
//! | the command line reads its arguments | `cli` |
//! | a process of a job finds its number and its neighbours | [`job`] |
//! | all agents of an experiment run on one machine, and what they leave is gathered | [`launch`], [`gather`] |

pub mod agent;
mod carry;
mod cli;
pub mod disk;
mod exchange;
pub mod files;
pub mod gather;
pub mod job;
pub mod launch;
pub mod link;
pub mod plan;
pub mod rounds;
pub mod run;
pub mod watch;
pub mod wire;

pub use cli::main_with;
