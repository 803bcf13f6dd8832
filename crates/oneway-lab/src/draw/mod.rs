//! Figures, tables, and pages of them.

pub(crate) mod figure;
pub(crate) mod latex;
pub(crate) mod maths;
pub(crate) mod paper;
pub(crate) mod report;
