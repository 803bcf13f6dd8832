//! Links over Zenoh. The protocol is in [`wire`](crate::wire), the reasons in
//! `docs/decisions/0013-agents-on-zenoh.md`.

mod block;
mod config;
mod ends;
mod hear;
pub mod keys;
mod link;
pub mod observer;
mod questions;
mod secure;
mod serve;

pub use block::Block;
pub use link::{ZenohLink, ZenohOptions};
