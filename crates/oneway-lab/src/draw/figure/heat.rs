//! A table of ratios as a picture: above 1 in one hue, below in another, the stronger the further away.

use super::cells::{Cell, Cells, Grid};
use super::chart;
use super::palette::{PULL, PUSH};
use super::pen::Pen;
use super::render::Theme;
use super::svg::Svg;
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
/// The strongest colour: numbers must be read on it.
pub(super) const STRONGEST: f64 = 0.62;

/// Draws a table of ratios.
pub(crate) fn svg(map: &HeatMap, theme: Theme) -> String {
    let cell = |value: &Option<f64>| {
        let value = value.filter(|value| is_shown(*value))?;
        let color = if value >= 1.0 { PULL } else { PUSH };
        Some(Cell { color, opacity: map.scale.opacity(value), text: three_digits(value), framed: false })
    };
    let cells = Cells {
        title: &map.title,
        x_label: &map.x_label,
        columns: &map.columns,
        y_label: &map.y_label,
        rows: &map.rows,
        values: map.values.iter().map(|row| row.iter().map(cell).collect()).collect(),
    };
    let grid = Grid::new(&cells, MARGIN, (CELL_WIDTH, CELL_HEIGHT));
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root("heat", &chart::id(&format!("{map:?}")), grid.width, grid.height);
    pen.cells(&cells, &grid);
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
