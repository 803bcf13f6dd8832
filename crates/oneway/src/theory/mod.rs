//! What a topology can do, computed rather than believed.
//!
//! Everything here starts from the Perron vectors π_R and π_C of the two mixing matrices, the weights with
//! which the network averages. [`graph::perron`](crate::graph::perron) finds them for up to hundreds of
//! thousands of agents without any n×n matrix. [`noise`] estimates σ² of a problem.
//!
//! [`contraction`] has the norms in which a network contracts, [`certificate`] a step size for which SMTPP
//! provably converges, with all numbers of the proof, and [`audit`] puts every inequality of that proof to
//! runs.

#[cfg(feature = "theory")]
pub mod audit;
#[cfg(feature = "theory")]
pub mod averaging;
#[cfg(feature = "theory")]
pub mod certificate;
#[cfg(feature = "theory")]
pub mod contraction;
#[cfg(feature = "theory")]
mod eigenvalues;
#[cfg(feature = "theory")]
pub mod floor;
#[cfg(feature = "theory")]
mod from_rule;
#[cfg(feature = "theory")]
mod held;
#[cfg(feature = "theory")]
pub mod linear;
#[cfg(feature = "theory")]
pub mod modes;
pub mod noise;
#[cfg(feature = "theory")]
pub mod recursion;
#[cfg(feature = "theory")]
pub mod spectrum;
#[cfg(feature = "theory")]
pub mod stability;
