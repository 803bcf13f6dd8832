//! Decentralised optimisation over machines whose links go one way.
//!
//! n agents hold private objectives and together minimise F(x) = (1/n) Σ f_i(x). There is no server and there
//! are no two-way links: an agent hears some agents and is heard by others. Two mixing matrices describe the
//! network, R (row-stochastic; models are *pulled* through it) and C (column-stochastic; trackers are
//! *pushed* through it).
//!
//! SMTPP, Stochastic Momentum Tracking Push-Pull, is the first method here. An agent keeps its model x, its
//! momentum m and a tracker v of everyone's mean momentum, and a round is three lines:
//!
//! ```text
//! x⁺ = Σ_j R_ij (x_j − η v_j)
//! m⁺ = (1 − λ) m + λ ∇F_i(x⁺; ξ⁺)
//! v⁺ = Σ_j C_ij v_j + m⁺ − m
//! ```
//!
//! # Quick start
//!
//! ```
//! use oneway::{graph::families, methods::Smtpp, engine::metrics, problems::{Quadratic, QuadraticShape}};
//! use oneway::{engine::{Engine, Setup}, engine::Schedule, engine::Simulator};
//! use oneway::graph::topology::{Subgraph, Topology, Weights};
//!
//! # fn main() -> oneway::Result<()> {
//! let n = 20;
//! let digraph = families::flower(n, 4)?; // four one-way rings through agent 0
//! let topology = Topology::from_digraphs(&[digraph], Subgraph::Full, Weights::Uniform, 0)?;
//! let shape = QuadraticShape { dim: 10, curvature: [0.1, 1.0], heterogeneity: 1.0, noise: 0.0 };
//! let problem = Quadratic::new(shape, n, 1)?;
//! let method = Smtpp::new(0.1)?;
//! let schedule = Schedule::constant(0.5 / topology.c_pi()?)?; // an effective step of 0.5
//!
//! let mut simulator = Simulator::new(Setup {
//!     method: &method, problem: &problem, topology: &topology, schedule, seed: 1,
//! })?;
//! simulator.run(600, 600, &mut ())?;
//! let end = metrics::measure(&simulator.view())?;
//! assert!(end.grad_norm_sq < 1e-20, "‖∇F(x̄)‖² = {:e}", end.grad_norm_sq);
//! assert!(end.conservation_error.is_some_and(|error| error < 1e-15)); // Lemma 2
//! # Ok(())
//! # }
//! ```
//!
//! # Where things are
//!
//! [`method`] is the waist: what a method is to an engine. [`methods`] has them all, and their registry.
//! [`graph`] makes digraphs, trees and weights; a [`Topology`](graph::Topology) says which matrices mix round
//! k. A [`codec`] makes messages smaller. [`problem`] says what is minimised, [`problems`] and [`data`] have
//! those there are. [`engine`] runs it (the [`Simulator`](engine::Simulator) first of all) and
//! [measures](engine::metrics) it, [`theory`] says what to expect, [`numeric`] has the numbers, rows and
//! draws that all of this is made of. [`testing`] runs the tests of all methods here on yours.

pub mod codec;
pub mod data;
pub mod engine;
pub mod error;
pub mod graph;
pub mod input;
pub mod method;
pub mod methods;
pub mod numeric;
pub mod parameters;
pub mod prelude;
pub mod problem;
pub mod problems;
pub mod registry;
pub mod testing;
pub mod theory;

pub use error::{Error, Result};

/// A fingerprint of this library's sources and of the compiler: results that other code made are told apart
/// by it.
pub const CODE: &str = env!("ONEWAY_CODE");
