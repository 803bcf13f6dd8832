//! What a topology can do, computed rather than believed.
//!
//! Everything here starts from the Perron vectors π_R and π_C of the two mixing matrices, the weights with which the
//! network averages. [`perron`] finds them for up to hundreds of thousands of agents without any n×n matrix.

mod censor;
mod condensed;
mod exact;
#[cfg(feature = "theory")]
pub mod floor;
#[cfg(feature = "theory")]
pub mod linear;
pub mod perron;
#[cfg(feature = "theory")]
pub mod spectrum;
#[cfg(feature = "theory")]
pub mod stability;
mod wide;
