//! A pen for figures: SVG in a theme's colours, with text, lines and marks.

use super::font;
use super::layout::{TEXT, TITLE};
use super::palette::{Color, INK, Mark, PAPER};
use super::render::Theme;
use super::svg::{Svg, number, path};
use crate::draw::maths::{self, Part};

/// Writes SVG in a theme's colours.
#[derive(Debug)]
pub(crate) struct Pen {
    pub(crate) svg: Svg,
    pub(crate) theme: Theme,
}

impl Pen {
    /// The root element. Width and height are left to `viewBox` in a page, so that figures fit their column.
    pub(crate) fn root(&mut self, class: &str, id: &str, width: f64, height: f64) {
        let fixed = |length: f64| (self.theme != Theme::Css).then(|| number(length));
        self.open_root((class, id), (width, height), [fixed(width), fixed(height)]);
    }

    /// The root element of a figure with a size on paper; a unit of the drawing is `unit` cm long.
    pub(crate) fn root_of_size(&mut self, class: &str, id: &str, (width, height): (f64, f64), unit: f64) {
        let cm = |length: f64| Some(format!("{}cm", number(unit * length)));
        self.open_root((class, id), (width, height), [cm(width), cm(height)]);
    }

    fn open_root(&mut self, (class, id): (&str, &str), size: (f64, f64), shown: [Option<String>; 2]) {
        let [width, height] = shown;
        self.svg
            .element("svg")
            .set("xmlns", "http://www.w3.org/2000/svg")
            .set("class", class)
            .set("data-figure", id)
            .set("viewBox", format!("0 0 {} {}", number(size.0), number(size.1)))
            .maybe("width", width)
            .maybe("height", height)
            .set("font-family", font::FAMILIES)
            .set("font-size", TEXT)
            .set("role", "img")
            .open();
    }

    /// The background; a page has its own.
    pub(crate) fn paper(&mut self, width: f64, height: f64) {
        if self.theme != Theme::Css {
            let paint = self.theme.paint(PAPER);
            self.svg.element("rect").set("width", width).set("height", height).set("fill", paint).empty();
        }
    }

    /// A line of text.
    pub(crate) fn text(&mut self, (x, y): (f64, f64), anchor: &str, color: Color, size: f64, text: &str) {
        self.svg
            .element("text")
            .set("x", x)
            .set("y", y)
            .maybe("text-anchor", (anchor != "start").then_some(anchor))
            .maybe("font-size", (size != TEXT).then_some(size))
            .set("fill", self.theme.paint(color))
            .text(text);
    }

    /// A line of text with the indices of its symbols below the line: `η·c_π`.
    pub(crate) fn formula(&mut self, (x, y): (f64, f64), anchor: &str, color: Color, text: &str) {
        let parts = maths::parts(text);
        let [Part::Plain(_)] = parts[..] else {
            let element = self.svg.element("text").set("x", x).set("y", y);
            let element = element.maybe("text-anchor", (anchor != "start").then_some(anchor));
            element.set("fill", self.theme.paint(color)).spans(&parts, TEXT);
            return;
        };
        self.text((x, y), anchor, color, TEXT, text);
    }

    /// A heading.
    pub(crate) fn heading(&mut self, (x, y): (f64, f64), text: &str) {
        self.svg
            .element("text")
            .set("x", x)
            .set("y", y)
            .set("font-size", TITLE)
            .set("font-weight", "600")
            .set("fill", self.theme.paint(INK))
            .text(text);
    }

    pub(super) fn line(&mut self, from: (f64, f64), to: (f64, f64), color: Color, width: f64) {
        self.svg
            .element("path")
            .set("d", path(&[from, to]))
            .set("stroke", self.theme.paint(color))
            .set("stroke-width", width)
            .empty();
    }

    /// At the top edge, where a line leaves the plot.
    pub(super) fn triangle(&mut self, (x, y): (f64, f64), paint: &str) {
        let corners = [(x - 5.5, y + 1.0), (x, y - 8.0), (x + 5.5, y + 1.0)];
        let triangle = self.svg.element("path").set("class", "leaves").set("d", path(&corners) + "Z");
        let rim = self.theme.paint(PAPER);
        triangle.set("fill", paint).set("stroke", rim).set("stroke-width", 1.0).empty();
    }

    /// A point.
    pub(super) fn mark(&mut self, mark: Mark, (x, y): (f64, f64), paint: &str) {
        match mark {
            Mark::Disc => {
                let disc = self.svg.element("circle").set("class", "line").set("cx", x).set("cy", y);
                disc.set("r", 2.4).set("fill", paint).empty();
            }
            Mark::Ring => {
                let ring = self.svg.element("circle").set("class", "line").set("cx", x).set("cy", y);
                ring.set("r", 2.4).set("fill", "none").set("stroke", paint).set("stroke-width", 1.2).empty();
            }
            Mark::Cross => {
                let arm = 3.0;
                let strokes =
                    [[(x - arm, y - arm), (x + arm, y + arm)], [(x - arm, y + arm), (x + arm, y - arm)]];
                let cross = self.svg.element("path").set("class", "line");
                let cross = cross.set("d", strokes.map(|stroke| path(&stroke)).concat());
                cross.set("stroke", paint).set("stroke-width", 1.4).empty();
            }
            Mark::Diamond => {
                let arm = 5.0;
                let corners = [(x - arm, y), (x, y - arm), (x + arm, y), (x, y + arm)];
                let diamond = self.svg.element("path").set("class", "line").set("d", path(&corners) + "Z");
                let rim = self.theme.paint(PAPER);
                diamond.set("fill", paint).set("stroke", rim).set("stroke-width", 1.0).empty();
            }
        }
    }
}
