//! Coloured cells with their numbers, in rows and columns with names: what heat maps have in common.

use super::font::{self, Weight};
use super::layout::{SMALL, TEXT, TITLE};
use super::palette::{Color, INK, MUTED};
use super::pen::Pen;
use super::svg::number;

/// A cell.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) color: Color,
    pub(super) opacity: f64,
    pub(super) text: String,
    /// Whether it stands out.
    pub(super) framed: bool,
}

/// All cells, and what stands around them.
#[derive(Debug)]
pub(super) struct Cells<'a> {
    /// Empty for none.
    pub(super) title: &'a str,
    pub(super) x_label: &'a str,
    pub(super) columns: &'a [String],
    pub(super) y_label: &'a str,
    /// From the top.
    pub(super) rows: &'a [String],
    pub(super) values: Vec<Vec<Option<Cell>>>,
}

/// Degrees by which long names of columns are turned.
pub(super) const SLANT: f64 = 38.0;

/// Where the cells are.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) margin: f64,
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) cell: (f64, f64),
    /// Whether the names of columns would run into each other, and are turned.
    pub(super) slanted: bool,
    /// Baseline of the label of the columns.
    pub(super) x_label: f64,
}

impl Grid {
    /// A grid of cells of this size.
    pub(super) fn new(cells: &Cells<'_>, margin: f64, cell: (f64, f64)) -> Self {
        let width_of = |name: &String| font::width(name, TEXT, Weight::Regular);
        let longest = |names: &[String]| names.iter().map(width_of).fold(0.0, f64::max);
        let slanted = longest(cells.columns) > cell.0 - 4.0;
        // of a slanted name beyond the first column
        let reach = cells.columns.first().map_or(0.0, width_of) * SLANT.to_radians().cos() - 0.5 * cell.0;
        let left = margin + (longest(cells.rows) + 10.0).max(reach);
        let top = if cells.title.is_empty() { 20.0 + margin } else { 52.0 + margin };
        let title = font::width(cells.title, TITLE, Weight::SemiBold);
        let width = (left + cells.columns.len() as f64 * cell.0 + margin).max(title + 2.0 * margin);
        let bottom = top + cells.rows.len() as f64 * cell.1;
        let names = 8.0 + longest(cells.columns) * SLANT.to_radians().sin();
        let x_label = bottom + if slanted { 26.0 + names } else { 38.0 };
        Self { width, height: x_label + 12.0, margin, left, top, cell, slanted, x_label }
    }

    /// The upper left corner of a cell.
    pub(super) fn corner(&self, row: usize, column: usize) -> (f64, f64) {
        (self.left + column as f64 * self.cell.0, self.top + row as f64 * self.cell.1)
    }

    /// Below all cells of a column.
    pub(super) fn foot(&self, cells: &Cells<'_>, column: usize) -> (f64, f64) {
        let (x, bottom) = self.corner(cells.rows.len(), column);
        (x + 0.5 * self.cell.0, bottom)
    }

    /// The middle of all columns.
    pub(super) fn middle(&self, cells: &Cells<'_>) -> f64 {
        self.left + 0.5 * cells.columns.len() as f64 * self.cell.0
    }
}

impl Pen {
    /// All cells, inside the root element.
    pub(super) fn cells(&mut self, cells: &Cells<'_>, grid: &Grid) {
        self.svg.element("title").text(if cells.title.is_empty() { cells.y_label } else { cells.title });
        self.paper(grid.width, grid.height);
        if !cells.title.is_empty() {
            self.heading((grid.margin, 14.0 + grid.margin), cells.title);
        }
        self.formula((grid.margin, grid.top - 12.0), "start", MUTED, cells.y_label);
        let (wide, high) = grid.cell;
        for (row, (name, values)) in cells.rows.iter().zip(&cells.values).enumerate() {
            let (_, y) = grid.corner(row, 0);
            let baseline = y + 0.5 * high + 0.36 * TEXT;
            self.text((grid.left - 8.0, baseline), "end", MUTED, TEXT, name);
            for (column, cell) in values.iter().enumerate() {
                let (x, _) = grid.corner(row, column);
                let middle = (x + 0.5 * wide, baseline);
                let Some(cell) = cell else {
                    self.text(middle, "middle", MUTED, SMALL, "–");
                    continue;
                };
                let (paint, ink) = (self.theme.paint(cell.color), self.theme.paint(INK));
                let rect = self.svg.element("rect").set("x", x + 1.0).set("y", y + 1.0);
                rect.set("width", wide - 2.0)
                    .set("height", high - 2.0)
                    .set("rx", 3.0)
                    .set("fill", paint)
                    .set("fill-opacity", cell.opacity)
                    .maybe("stroke", cell.framed.then_some(ink))
                    .maybe("stroke-width", cell.framed.then_some(1.6))
                    .empty();
                self.text(middle, "middle", INK, SMALL, &cell.text);
            }
        }
        for (column, name) in cells.columns.iter().enumerate() {
            let (x, bottom) = grid.foot(cells, column);
            if !grid.slanted {
                self.text((x, bottom + 17.0), "middle", MUTED, TEXT, name);
                continue;
            }
            let place = format!("translate({} {}) rotate(-{SLANT})", number(x + 4.0), number(bottom + 14.0));
            let paint = self.theme.paint(MUTED);
            let text = self.svg.element("text").set("transform", place).set("text-anchor", "end");
            text.set("fill", paint).text(name);
        }
        self.formula((grid.middle(cells), grid.x_label), "middle", MUTED, cells.x_label);
    }
}
