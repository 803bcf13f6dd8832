//! What a program that uses this library mostly needs: `use oneway::prelude::*;`.
//!
//! `Result` is not among it, since many programs have their own: write [`oneway::Result`](crate::Result).

pub use crate::Error;
pub use crate::codec::Codec;
pub use crate::engine::metrics::{Measurement, measure};
pub use crate::engine::observe::{Observer, View};
pub use crate::engine::{Engine, Outcome, Schedule, Setup, Simulator, Status};
pub use crate::graph::{Digraph, Network, Subgraph, Topology, Weights, families};
pub use crate::method::{Ask, At, Carries, Exchange, Mail, Method, Profile, Roles, Rule};
pub use crate::methods::{self, Kind, Trust};
pub use crate::numeric::Real;
pub use crate::numeric::sample::{Draws, Purpose};
pub use crate::parameters::{Parameter, Parameters};
pub use crate::problem::Problem;
pub use crate::problems::{self, FromFn, ProblemKind};
pub use crate::registry::Registry;
