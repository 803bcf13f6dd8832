//! Figures, and pages of them.

pub(crate) mod figure;
pub(crate) mod report;
