//! Experiments: a file says what ([`spec`]), which resolves to what is run ([`plan`]).

mod fields;
pub(crate) mod plan;
mod set;
pub(crate) mod spec;
