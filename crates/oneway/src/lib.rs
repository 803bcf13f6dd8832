//! Decentralised optimisation over directed networks.

pub mod data;
pub mod error;
pub mod graph;
pub mod mixing;
pub mod parameters;
pub mod sample;
pub mod theory;

pub use error::{Error, Result};
