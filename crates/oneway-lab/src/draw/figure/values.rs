//! A map of values over two settings: the darker, the larger; the best has a frame.

use std::fmt::Write as _;

use anyhow::{Result, bail};

use super::cells::{Cell, Cells, Grid, SLANT};
use super::chart::id;
use super::font::{self, Weight};
use super::heat::STRONGEST;
use super::layout::{SMALL, TEXT};
use super::look::Look;
use super::palette::{INK, MUTED, PULL};
use super::pen::Pen;
use super::pgf::{self, hex};
use super::render::Theme;
use super::sized::TIGHT;
use super::svg::Svg;
use crate::draw::latex;
use crate::number::two_digits;

/// Values over two settings.
#[derive(Debug)]
pub(crate) struct ValueMap {
    /// Empty for none.
    pub(crate) title: String,
    /// The setting below the columns, and its values.
    pub(crate) x_label: String,
    pub(crate) columns: Vec<String>,
    /// The setting of the rows, and its values from the top.
    pub(crate) y_label: String,
    pub(crate) rows: Vec<String>,
    /// A row of numbers for each row, with the ends of their bands; `None` where there is none.
    pub(crate) values: Vec<Vec<Option<Value>>>,
    /// Whether the largest value is the best.
    pub(crate) best_high: bool,
}

/// A value and the band about it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Value {
    pub(crate) mean: f64,
    pub(crate) band: Option<(f64, f64)>,
}

impl ValueMap {
    fn shown(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().flatten().flatten().map(|value| value.mean).filter(|mean| mean.is_finite())
    }

    fn cells(&self) -> Cells<'_> {
        let low = self.shown().fold(f64::INFINITY, f64::min);
        let high = self.shown().fold(f64::NEG_INFINITY, f64::max);
        let best = if self.best_high { high } else { low };
        // by their logarithms where they leave a decade: else one large value makes all others white
        let position = |value: f64| match low > 0.0 && high > 10.0 * low {
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low).max(f64::MIN_POSITIVE),
        };
        let cell = |value: &Option<Value>| {
            let mean = value.map(|value| value.mean).filter(|mean| mean.is_finite())?;
            let opacity = STRONGEST * (0.05 + 0.95 * position(mean)).clamp(0.0, 1.0);
            Some(Cell { color: PULL, opacity, text: two_digits(mean), framed: mean == best })
        };
        Cells {
            title: &self.title,
            x_label: &self.x_label,
            columns: &self.columns,
            y_label: &self.y_label,
            rows: &self.rows,
            values: self.values.iter().map(|row| row.iter().map(cell).collect()).collect(),
        }
    }

    /// Cells that fill a given size; refuses cells without room for their numbers.
    fn grid(&self, cells: &Cells<'_>, look: &Look) -> Result<Grid> {
        let (width, columns, rows) =
            (look.units(look.size.width), self.columns.len() as f64, self.rows.len() as f64);
        let wide = |cell: f64| {
            let around = Grid::new(cells, TIGHT, (cell, 1.0)).left + TIGHT;
            (width - around) / columns
        };
        let cell = wide(wide(54.0)); // names of columns are turned where cells are narrow, and need room at the left
        let around = Grid::new(cells, TIGHT, (cell, 0.0)).height;
        let high = match look.size.height {
            Some(height) => (look.units(height) - around) / rows,
            None => 30.0_f64.min(0.8 * cell.max(24.0)),
        };
        let texts = cells
            .values
            .iter()
            .flatten()
            .flatten()
            .map(|cell| font::width(&cell.text, SMALL, Weight::Regular));
        let widest = texts.fold(0.0, f64::max);
        let grid = Grid::new(cells, TIGHT, (cell, high));
        let labels = [cells.x_label, cells.y_label].map(|label| font::width(label, TEXT, Weight::Regular));
        if cell < widest + 3.0
            || high < SMALL + 3.0
            || grid.width > width + 1.0
            || labels.iter().any(|l| *l > width)
        {
            bail!(
                "a figure {} cm wide with text of {} pt has no room for {columns} by {rows} values and their names: give a \
                 larger --size or a smaller --font-size",
                look.size.width,
                look.text
            );
        }
        Ok(grid)
    }

    /// The map as SVG, in its size.
    pub(super) fn svg(&self, look: &Look, theme: Theme) -> Result<String> {
        let cells = self.cells();
        let grid = self.grid(&cells, look)?;
        let mut pen = Pen { svg: Svg::default(), theme };
        pen.root_of_size("heat", &id(&format!("{self:?} {look:?}")), (grid.width, grid.height), look.unit());
        pen.cells(&cells, &grid);
        Ok(pen.svg.finish())
    }

    /// The map for LaTeX, in TikZ.
    pub(super) fn pgf(&self, look: &Look) -> Result<String> {
        let cells = self.cells();
        let grid = self.grid(&cells, look)?;
        let cm = |units: f64| format!("{:.3}cm", units * look.unit());
        let at = |(x, y): (f64, f64)| format!("({},-{})", cm(x), cm(y));
        let mut out = format!("{}\\begin{{tikzpicture}}{}\n", pgf::HEAD, pgf::font(look));
        for color in [INK, MUTED, PULL] {
            let _ = writeln!(out, "\\definecolor{{oneway-{}}}{{HTML}}{{{}}}", color.name, hex(color.light));
        }
        let _ = writeln!(
            out,
            "\\useasboundingbox {} rectangle {};",
            at((0.0, 0.0)),
            at((grid.width, grid.height))
        );
        let mut node = |place: (f64, f64), how: &str, text: &str| {
            let _ = writeln!(out, "\\node[{how},inner sep=0] at {} {{{text}}};", at(place));
        };
        let bold = format!("\\bfseries {}", latex::name(cells.title));
        node((TIGHT, 14.0 + TIGHT), "anchor=base west", if cells.title.is_empty() { "" } else { &bold });
        node((TIGHT, grid.top - 12.0), "anchor=base west,oneway-muted", &latex::text(cells.y_label));
        node((grid.middle(&cells), grid.x_label), "anchor=base,oneway-muted", &latex::text(cells.x_label));
        for (column, name) in cells.columns.iter().enumerate() {
            let (x, bottom) = grid.foot(&cells, column);
            match grid.slanted {
                true => {
                    let how = format!("anchor=base east,rotate={SLANT},oneway-muted");
                    node((x + 4.0, bottom + 14.0), &how, &latex::name(name));
                }
                false => node((x, bottom + 17.0), "anchor=base,oneway-muted", &latex::name(name)),
            }
        }
        for (row, name) in cells.rows.iter().enumerate() {
            let (_, y) = grid.corner(row, 0);
            node((grid.left - 8.0, y + 0.5 * grid.cell.1), "anchor=east,oneway-muted", &latex::name(name));
        }
        for (row, values) in cells.values.iter().enumerate() {
            for (column, cell) in values.iter().enumerate() {
                let (x, y) = grid.corner(row, column);
                let middle = at((x + 0.5 * grid.cell.0, y + 0.5 * grid.cell.1));
                let Some(cell) = cell else {
                    let _ = writeln!(out, "\\node[oneway-muted] at {middle} {{--}};");
                    continue;
                };
                let corners = [(x + 1.0, y + 1.0), (x + grid.cell.0 - 1.0, y + grid.cell.1 - 1.0)].map(at);
                let frame = if cell.framed { "draw=oneway-ink,line width=0.9pt," } else { "" };
                let _ = writeln!(
                    out,
                    "\\path[{frame}fill=oneway-{},fill opacity={:.3},rounded corners=1pt] {} rectangle {};",
                    cell.color.name, cell.opacity, corners[0], corners[1]
                );
                let text = latex::number(&cell.text);
                let _ = writeln!(out, "\\node[inner sep=0,scale=0.9] at {middle} {{${text}$}};");
            }
        }
        Ok(out + "\\end{tikzpicture}\n")
    }

    /// `column,row,mean,lower,upper`, a line for each value, under the names of the settings.
    pub(super) fn csv(&self) -> String {
        let mut csv = format!("{},{},mean,lower,upper\n", self.x_label, self.y_label);
        for (row, values) in self.rows.iter().zip(&self.values) {
            for (column, value) in self.columns.iter().zip(values) {
                let Some(Value { mean, band }) = value else { continue };
                let band = band.map_or(",".to_owned(), |(low, high)| format!("{low:?},{high:?}"));
                let _ = writeln!(csv, "{column},{row},{mean:?},{band}");
            }
        }
        csv
    }
}
