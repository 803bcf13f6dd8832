//! Figures and tables for a paper, from results folders.
//!
//! [`sources`] reads folders and chooses what is shown of them, [`curves`] makes figures of curves, [`swept`]
//! figures of where methods ended against settings that were swept, [`finals`] tables of it, as [`written`].
//! All say in a caption what their numbers are.

pub(crate) mod curves;
mod ends;
pub(crate) mod finals;
pub(crate) mod question;
mod significance;
pub(crate) mod sources;
pub(crate) mod swept;
pub(crate) mod written;
