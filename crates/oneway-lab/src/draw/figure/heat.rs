//! A table of ratios as a picture: above 1 in one hue, below in another, the stronger the further away.

use super::chart;
use super::draw::Pen;
use super::font::{self, Weight};
use super::layout::{SMALL, TEXT};
use super::palette::{INK, MUTED, PULL, PUSH};
use super::render::Theme;
use super::svg::{Svg, number};
use crate::number::three_digits;

/// Ratios by row and column.
#[derive(Debug)]
pub(crate) struct HeatMap {
    pub(crate) title: String,
    /// What the columns are, below them, and their names.
    pub(crate) x_label: String,
    pub(crate) columns: Vec<String>,
    /// What the rows are, above them, and their names, from the top.
    pub(crate) y_label: String,
    pub(crate) rows: Vec<String>,
    /// A row of numbers for each row; `None` where there is none.
    pub(crate) values: Vec<Vec<Option<f64>>>,
    /// Maps that are read side by side share it.
    pub(crate) scale: Scale,
}

/// How far from 1 a ratio has the strongest colour, |ln| of it: each hue has its own end, since gains of a
/// hundred would leave losses of a third white.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scale {
    below: f64,
    above: f64,
}

impl Scale {
    /// The scale on which the furthest of these ratios, on either side of 1, has the strongest colour.
    pub(crate) fn new(ratios: impl IntoIterator<Item = f64>) -> Self {
        let shown = ratios.into_iter().filter(|ratio| is_shown(*ratio)).map(f64::ln);
        let none = Self { below: f64::MIN_POSITIVE, above: f64::MIN_POSITIVE };
        shown.fold(none, |scale, log| Self { below: scale.below.max(-log), above: scale.above.max(log) })
    }

    fn opacity(self, ratio: f64) -> f64 {
        let log = ratio.ln();
        let end = if log < 0.0 { self.below } else { self.above };
        STRONGEST * (log.abs() / end).min(1.0)
    }
}

/// Whether a ratio has a colour.
fn is_shown(ratio: f64) -> bool {
    ratio > 0.0 && ratio.is_finite()
}

const MARGIN: f64 = 14.0;
const CELL_WIDTH: f64 = 54.0;
const CELL_HEIGHT: f64 = 30.0;
/// Degrees by which long names of columns are turned.
const SLANT: f64 = 38.0;
/// The strongest colour: numbers must be read on it.
const STRONGEST: f64 = 0.62;

/// Draws a table of ratios.
pub(crate) fn svg(map: &HeatMap, theme: Theme) -> String {
    let names = map.rows.iter().map(|name| font::width(name, TEXT, Weight::Regular));
    let reach = map.columns.first().map_or(0.0, |name| font::width(name, TEXT, Weight::Regular));
    let reach = reach * SLANT.to_radians().cos() - 0.5 * CELL_WIDTH; // of a slanted name beyond the first column
    let left = MARGIN + (names.fold(0.0, f64::max) + 10.0).max(reach);
    let top = if map.title.is_empty() { 34.0 } else { 66.0 };
    let (columns, rows) = (map.columns.len() as f64, map.rows.len() as f64);
    let title = font::width(&map.title, super::layout::TITLE, Weight::SemiBold);
    let width = (left + columns * CELL_WIDTH + MARGIN).max(title + 2.0 * MARGIN);
    let bottom = top + rows * CELL_HEIGHT;
    let longest = map.columns.iter().map(|name| font::width(name, TEXT, Weight::Regular)).fold(0.0, f64::max);
    let slanted = longest > CELL_WIDTH - 4.0; // names that would run into each other
    let names_height = if slanted { 8.0 + longest * SLANT.to_radians().sin() } else { 0.0 };
    let height = bottom + if slanted { 38.0 + names_height } else { 50.0 };
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root("heat", &chart::id(&format!("{map:?}")), width, height);
    pen.svg.element("title").text(if map.title.is_empty() { &map.y_label } else { &map.title });
    pen.paper(width, height);
    if !map.title.is_empty() {
        pen.heading((MARGIN, 28.0), &map.title);
    }
    pen.text((MARGIN, top - 12.0), "start", MUTED, TEXT, &map.y_label);

    for (row, (name, values)) in map.rows.iter().zip(&map.values).enumerate() {
        let y = top + row as f64 * CELL_HEIGHT;
        let baseline = y + 0.5 * CELL_HEIGHT + 0.36 * TEXT;
        pen.text((left - 8.0, baseline), "end", MUTED, TEXT, name);
        for (column, value) in values.iter().enumerate() {
            let x = left + column as f64 * CELL_WIDTH;
            let middle = x + 0.5 * CELL_WIDTH;
            let Some(value) = value.filter(|value| is_shown(*value)) else {
                pen.text((middle, baseline), "middle", MUTED, SMALL, "–");
                continue;
            };
            let paint = pen.theme.paint(if value >= 1.0 { PULL } else { PUSH });
            let cell = pen.svg.element("rect").set("x", x + 1.0).set("y", y + 1.0);
            cell.set("width", CELL_WIDTH - 2.0)
                .set("height", CELL_HEIGHT - 2.0)
                .set("rx", 3.0)
                .set("fill", paint)
                .set("fill-opacity", map.scale.opacity(value))
                .empty();
            pen.text((middle, baseline), "middle", INK, SMALL, &three_digits(value));
        }
    }
    for (column, name) in map.columns.iter().enumerate() {
        let x = left + (column as f64 + 0.5) * CELL_WIDTH;
        if !slanted {
            pen.text((x, bottom + 17.0), "middle", MUTED, TEXT, name);
            continue;
        }
        let place = format!("translate({} {}) rotate(-{SLANT})", number(x + 4.0), number(bottom + 14.0));
        let text = pen.svg.element("text").set("transform", place).set("text-anchor", "end");
        text.set("fill", theme.paint(MUTED)).text(name);
    }
    let middle = left + 0.5 * columns * CELL_WIDTH;
    let below = if slanted { 26.0 + names_height } else { 38.0 };
    pen.text((middle, bottom + below), "middle", MUTED, TEXT, &map.x_label);
    pen.svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_fit_their_cells() {
        let shown = [15.73, 9.96, 0.7401, 123.4, 1e-5, 2e7].map(three_digits);
        assert_eq!(shown, ["15.7", "10.0", "0.74", "123", "1e-5", "2e7"]);
    }

    #[test]
    fn every_cell_has_its_number_and_ratios_below_one_another_hue() {
        let map = HeatMap {
            title: "Ratios".to_owned(),
            x_label: "petals".to_owned(),
            columns: vec!["1".to_owned(), "2".to_owned(), "3".to_owned()],
            y_label: "λ".to_owned(),
            rows: vec!["0.1".to_owned()],
            values: vec![vec![Some(2.5), Some(0.4), None]],
            scale: Scale::new([2.5, 0.4]),
        };
        let drawn = svg(&map, Theme::Light);
        assert!([">2.50<", ">0.40<", ">–<"].iter().all(|cell| drawn.contains(cell)));
        assert_eq!((drawn.matches(PULL.light).count(), drawn.matches(PUSH.light).count()), (1, 1));
    }

    #[test]
    fn a_ratio_has_the_same_colour_in_all_maps_of_a_scale() {
        let scale = Scale::new([0.7, 16.0, f64::NAN, 0.0, f64::INFINITY]);
        assert_eq!(scale.opacity(16.0), STRONGEST);
        assert!((scale.opacity(4.0) - 0.5 * STRONGEST).abs() < 1e-12);
        assert_eq!(scale.opacity(0.7), STRONGEST);
        assert_eq!((scale.opacity(1.0), Scale::new([]).opacity(1.0)), (0.0, 0.0));
    }
}
