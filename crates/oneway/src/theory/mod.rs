//! What a topology can do, computed rather than believed.
//!
//! Everything here starts from the Perron vectors π_R and π_C of the two mixing matrices, the weights with which the
//! network averages. [`perron`] finds them for up to hundreds of thousands of agents without any n×n matrix. [`noise`]
//! estimates σ² of a problem.
//!
//! [`contraction`] has the norms in which a network contracts, [`certificate`] a step size for which SMTPP provably
//! converges, with all numbers of the proof, and [`audit`] puts every inequality of that proof to runs.

#[cfg(feature = "theory")]
pub mod audit;
#[cfg(feature = "theory")]
pub mod averaging;
mod censor;
#[cfg(feature = "theory")]
pub mod certificate;
mod condensed;
#[cfg(feature = "theory")]
pub mod contraction;
mod exact;
#[cfg(feature = "theory")]
pub mod floor;
#[cfg(feature = "theory")]
pub mod linear;
#[cfg(feature = "theory")]
pub mod modes;
pub mod noise;
pub(crate) mod period;
pub mod perron;
#[cfg(feature = "theory")]
pub mod recursion;
#[cfg(feature = "theory")]
pub mod spectrum;
#[cfg(feature = "theory")]
pub mod stability;
pub mod student;
mod wide;
