//! A run's agents over the processes of an MPI job: `mpirun -n 8 oneway-mpi FILE`.
//!
//! Each process has a [block](blocks) of agents and makes the simulator's own passes over them
//! ([`oneway::engine::Part`]). Between sending and hearing, [`Links`](links::Links) bring rows from process to
//! process: one message for each ordered pair of processes with a link between them, graph and exchange. All
//! measure together. Rank 0 writes [checkpoints](checkpoint) and the results, which are the simulator's to the
//! bit; states pass through it a piece at a time.
//!
//! What processes are to each other is a [`World`]. MPI's is behind the feature `mpi`; that of
//! [threads](world::threads) needs no MPI, and tests everything else.

#[cfg(feature = "mpi")]
mod args;
pub mod blocks;
pub mod checkpoint;
#[cfg(feature = "mpi")]
pub mod cli;
#[cfg(feature = "mpi")]
mod job;
pub mod links;
pub mod model;
mod parcels;
mod routes;
pub mod run;
mod states;
mod team;
pub mod world;

pub use world::World;
