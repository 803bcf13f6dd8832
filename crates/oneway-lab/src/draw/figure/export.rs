//! Figures as files: SVG, PNG, PDF, PGF for LaTeX, and their numbers as CSV.

use std::collections::BTreeSet;

use anyhow::Result;
use clap::ValueEnum;

use super::chart::Chart;
use super::look::Look;
use super::render::{self, Theme};
use super::values::ValueMap;
use super::{draw, embed, font, pgf, points};
use crate::draw::latex;

/// A figure for a paper.
#[derive(Debug)]
pub(crate) enum Figure {
    Lines(Chart),
    Map(ValueMap),
}

/// What a figure is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Vector graphics for the web
    Svg,
    /// Pixels
    Png,
    /// Vector graphics for \includegraphics
    Pdf,
    /// LaTeX source for \input, with pgfplots
    Pgf,
    /// The points that are drawn
    Csv,
}

/// What the text of an SVG is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fonts {
    /// As text, with the letters of the fonts inside the file: it can be searched and changed
    Embedded,
    /// As outlines: it looks the same in every program
    Paths,
}

/// How figures become files.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Export {
    pub(crate) look: Look,
    pub(crate) fonts: Fonts,
    /// Pixels an inch of PNG.
    pub(crate) dpi: f64,
}

impl Format {
    /// The ending of its files.
    pub(crate) fn ending(self) -> &'static str {
        match self {
            Format::Svg => "svg",
            Format::Png => "png",
            Format::Pdf => "pdf",
            Format::Pgf => "pgf",
            Format::Csv => "csv",
        }
    }
}

impl Export {
    /// The bytes of a figure's file, and the characters that could not be written into it.
    pub(crate) fn file(&self, figure: &Figure, format: Format) -> Result<(Vec<u8>, BTreeSet<char>)> {
        let text = |text: String| Ok((text.into_bytes(), BTreeSet::new()));
        match format {
            Format::Csv => return text(figure.csv()),
            Format::Pgf => {
                return Ok((figure.pgf(&self.look)?.into_bytes(), latex::unknown(&figure.text()).collect()));
            }
            _ => {}
        }
        let svg = figure.svg(&self.look)?;
        if (format, self.fonts) == (Format::Svg, Fonts::Embedded) {
            return text(embed::with_fonts(&svg));
        }
        let (drawable, missing) = drawable(&svg);
        let bytes = match format {
            Format::Png => render::png_of_dpi(&drawable, self.dpi)?,
            Format::Pdf => render::pdf(&drawable)?,
            _ => render::outlines(&drawable)?.into_bytes(),
        };
        Ok((bytes, missing))
    }
}

impl Figure {
    fn svg(&self, look: &Look) -> Result<String> {
        match self {
            Figure::Lines(chart) => draw::sized(chart, look, Theme::Light),
            Figure::Map(map) => map.svg(look, Theme::Light),
        }
    }

    fn pgf(&self, look: &Look) -> Result<String> {
        match self {
            Figure::Lines(chart) => pgf::chart(chart, look),
            Figure::Map(map) => map.pgf(look),
        }
    }

    fn csv(&self) -> String {
        match self {
            Figure::Lines(chart) => points::csv(chart),
            Figure::Map(map) => map.csv(),
        }
    }

    /// All that stands in it as text.
    fn text(&self) -> String {
        match self {
            Figure::Lines(chart) => {
                let names = chart.series.iter().map(|series| &*series.name);
                names.chain([&*chart.title, &chart.x.label, &chart.y.label]).collect()
            }
            Figure::Map(map) => {
                let names = map.columns.iter().chain(&map.rows).map(String::as_str);
                names.chain([&*map.title, &map.x_label, &map.y_label]).collect()
            }
        }
    }
}

/// An SVG without characters that the embedded fonts lack, and what they are: a renderer would leave them out
/// without a word.
pub(super) fn drawable(svg: &str) -> (String, BTreeSet<char>) {
    let missing: BTreeSet<char> = svg.chars().filter(|&c| !font::has_glyph(c)).collect();
    (svg.replace(|c| missing.contains(&c), &font::REPLACEMENT.to_string()), missing)
}

/// Characters for a warning: a few, and how many more.
pub(crate) fn named(missing: &BTreeSet<char>) -> String {
    let named: Vec<String> = missing.iter().take(12).map(char::to_string).collect();
    let more = if missing.len() > 12 { format!(" and {} more", missing.len() - 12) } else { String::new() };
    format!("{}{more}", named.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_glyph_is_replaced_where_it_would_vanish() {
        let (svg, missing) = drawable("<text>動量 λ</text>");
        assert_eq!(svg, "<text>?? λ</text>");
        assert_eq!(missing, BTreeSet::from(['動', '量']));
        assert_eq!(named(&missing), "動 量");
    }
}
