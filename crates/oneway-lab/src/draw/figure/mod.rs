//! Figures: one definition, drawn as SVG, PNG and PDF, and in a page with hover and two themes.
//!
//! A [`chart::Chart`] says what is shown ([`from_curves`] makes one of measured curves), [`layout`] says
//! where it goes, and [`render`] draws it; [`data`] gives a page the numbers under the pointer. [`network`]
//! draws a topology, [`heat`] a table of ratios, and [`gallery`] all that belongs to a results folder.
//! Nothing depends on the machine: fonts are embedded, ids come from content, and there are no dates.

pub(crate) mod axis;
pub(crate) mod band;
mod cells;
pub(crate) mod chart;
pub(crate) mod colours;
pub(crate) mod data;
pub(crate) mod draw;
mod embed;
pub(crate) mod export;
mod font;
pub(crate) mod from_curves;
pub(crate) mod gallery;
pub(crate) mod heat;
mod layout;
pub(crate) mod look;
pub(crate) mod matrix;
pub(crate) mod network;
pub(crate) mod palette;
mod pdf;
pub(crate) mod pen;
mod pgf;
mod physical;
pub(crate) mod places;
mod points;
pub(crate) mod quantity;
pub(crate) mod render;
mod shades;
mod sized;
pub(crate) mod sparkline;
pub(crate) mod svg;
pub(crate) mod values;

#[cfg(test)]
mod tests;
