//! Links on Zenoh. See `docs/decisions/0013-agents-on-zenoh.md` for the protocol.

pub mod config;
mod ends;
mod hear;
pub mod keys;
mod link;
pub mod observer;
mod questions;
mod secure;
mod serve;

pub use link::{Guard, ZenohLink, ZenohOptions};
