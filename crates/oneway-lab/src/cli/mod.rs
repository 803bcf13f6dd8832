//! What the user types, and what each command does with it.

pub(crate) mod args;
pub(crate) mod claims_args;
pub(crate) mod commands;
pub(crate) mod paper_args;
pub(crate) mod progress;
mod values;
