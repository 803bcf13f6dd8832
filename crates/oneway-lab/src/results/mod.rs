//! Results: curves in memory and on disk, and the folder that they are kept in.

pub(crate) mod curves;
pub(crate) mod folder;
