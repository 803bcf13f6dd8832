//! A chart as SVG.

use super::chart::{Chart, Series};
use super::font::{self, Weight};
use super::layout::{LINE, Label, Layout, SAMPLE, SMALL, TEXT, TITLE};
use super::palette::{Color, GRID, INK, MUTED, Mark, PAPER};
use super::render::Theme;
use super::svg::{Svg, number, path};

/// Baseline of text below its middle, in sizes.
const MIDDLE: f64 = 0.36;

/// Draws a chart.
pub(crate) fn chart(chart: &Chart, theme: Theme) -> String {
    let layout = Layout::new(chart);
    let id = chart.id();
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root("chart", &id, layout.width, layout.height);
    let about = if chart.title.is_empty() { &chart.y.label } else { &chart.title };
    pen.svg.element("title").text(about);
    pen.paper(layout.width, layout.height);
    let plot = layout.plot;
    pen.svg.element("clipPath").set("id", format!("{id}-clip")).open();
    // A little more than the plot: lines along its edges keep their full width.
    pen.svg
        .element("rect")
        .set("x", plot.left)
        .set("y", plot.top - 1.0)
        .set("width", plot.right - plot.left + 2.0)
        .set("height", plot.bottom - plot.top + 2.0)
        .empty();
    pen.svg.close();
    pen.frame(chart, &layout);
    pen.markers(chart, &layout);
    // Dashed lines last except for points: where one runs along a solid line, both can be seen.
    let mut order: Vec<usize> = (0..chart.series.len()).collect();
    order.sort_by_key(|&series| {
        let style = chart.series[series].style;
        (style.mark.is_some(), style.dash.is_some())
    });
    for series in order {
        let label = layout.labels.iter().find(|label| label.series == series);
        pen.series(&chart.series[series], &layout, label, &id);
    }
    pen.svg.finish()
}

/// Writes SVG in a theme's colours.
#[derive(Debug)]
pub(crate) struct Pen {
    pub(crate) svg: Svg,
    pub(crate) theme: Theme,
}

impl Pen {
    /// The root element. Width and height are left to `viewBox` in a page, so that figures fit their column.
    pub(crate) fn root(&mut self, class: &str, id: &str, width: f64, height: f64) {
        let fixed = self.theme != Theme::Css;
        self.svg
            .element("svg")
            .set("xmlns", "http://www.w3.org/2000/svg")
            .set("class", class)
            .set("data-figure", id)
            .set("viewBox", format!("0 0 {} {}", number(width), number(height)))
            .maybe("width", fixed.then_some(width))
            .maybe("height", fixed.then_some(height))
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

    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: Color, width: f64) {
        self.svg
            .element("path")
            .set("d", path(&[from, to]))
            .set("stroke", self.theme.paint(color))
            .set("stroke-width", width)
            .empty();
    }

    /// Title, grid, axes and what they say.
    fn frame(&mut self, chart: &Chart, layout: &Layout) {
        let plot = layout.plot;
        let edge = 14.0;
        if !chart.title.is_empty() {
            self.heading((edge, edge + TITLE - 2.0), &chart.title);
        }
        self.text((edge, plot.top - 16.0), "start", MUTED, TEXT, &chart.y.label);
        for (y, line) in &layout.notes {
            self.text((edge, *y), "start", MUTED, SMALL, line);
        }
        self.svg.element("g").set("class", "grid").set("fill", "none").open();
        let ticks = layout.y_ticks.major.iter().filter_map(|(value, _)| layout.y.pixel(*value));
        for y in ticks {
            self.line((plot.left, y), (plot.right, y), GRID, 1.0);
        }
        self.svg.close();
        self.svg.element("g").set("class", "axes").set("fill", "none").open();
        self.line((plot.left, plot.bottom), (plot.right, plot.bottom), MUTED, 1.0);
        for (value, label) in &layout.x_ticks.major {
            let Some(x) = layout.x.pixel(*value) else { continue };
            self.line((x, plot.bottom), (x, plot.bottom + 5.0), MUTED, 1.0);
            self.text((x, plot.bottom + 20.0), "middle", MUTED, TEXT, label);
        }
        for x in layout.x_ticks.minor.iter().filter_map(|&value| layout.x.pixel(value)) {
            self.line((x, plot.bottom), (x, plot.bottom + 3.0), MUTED, 0.7);
        }
        for (value, label) in &layout.y_ticks.major {
            let Some(y) = layout.y.pixel(*value) else { continue };
            self.text((plot.left - 8.0, y + MIDDLE * TEXT), "end", MUTED, TEXT, label);
        }
        for y in layout.y_ticks.minor.iter().filter_map(|&value| layout.y.pixel(value)) {
            self.line((plot.left - 4.0, y), (plot.left, y), MUTED, 0.7);
        }
        let middle = 0.5 * (plot.left + plot.right);
        self.text((middle, plot.bottom + 22.0 + LINE), "middle", MUTED, TEXT, &chart.x.label);
        self.svg.close();
    }

    /// Vertical notes.
    fn markers(&mut self, chart: &Chart, layout: &Layout) {
        let plot = layout.plot;
        for (value, note) in &chart.markers {
            let Some(x) = layout.x.pixel(*value).filter(|x| (plot.left..=plot.right).contains(x)) else {
                continue;
            };
            self.svg
                .element("path")
                .set("class", "marker")
                .set("d", path(&[(x, plot.top), (x, plot.bottom)]))
                .set("stroke", self.theme.paint(MUTED))
                .set("stroke-width", 0.8)
                .set("stroke-dasharray", "2 3")
                .empty();
            // To the left of the line if it would leave the plot on the right.
            let wide = font::width(note, SMALL, Weight::Regular);
            let (x, anchor) = if x + 5.0 + wide > plot.right { (x - 5.0, "end") } else { (x + 5.0, "start") };
            self.text((x, plot.top + SMALL), anchor, MUTED, SMALL, note);
        }
    }

    /// Band, line, leader and name of one series.
    fn series(&mut self, series: &Series, layout: &Layout, label: Option<&Label>, id: &str) {
        let paint = self.theme.paint(series.style.color);
        self.svg.element("g").set("class", "series").set("data-series", &*series.name).open();
        let (bands, runs) = (bands(series, layout), runs(series, layout));
        // only where it cuts something off: renderers draw what is clipped in a layer of its own
        let plot = layout.plot;
        let leaves =
            |&(x, y): &(f64, f64)| x < plot.left || x > plot.right || y < plot.top || y > plot.bottom;
        let leaving = leaves_at(&runs, plot.top);
        let clip = bands.iter().chain(&runs).flatten().any(leaves).then(|| format!("url(#{id}-clip)"));
        self.svg.element("g").maybe("clip-path", clip.as_deref()).set("fill", "none").open();
        // Where many bands overlap they must not bury the lines, least of all in the reference's black.
        let opacity =
            if layout.crowded { 0.08 } else { 0.13 } * if series.style.color == INK { 0.6 } else { 1.0 };
        for band in bands {
            let element = self.svg.element("path").set("class", "band").set("d", path(&band) + "Z");
            element.set("fill", &*paint).set("fill-opacity", opacity).empty();
        }
        for run in runs {
            if let Some(mark) = series.style.mark {
                run.iter().for_each(|&at| self.mark(mark, at, &paint));
                continue;
            }
            if let [at] = run[..] {
                self.mark(Mark::Disc, at, &paint);
                continue;
            }
            self.svg
                .element("path")
                .set("class", "line")
                .set("d", path(&run))
                .set("stroke", &*paint)
                .set("stroke-width", 1.6)
                .set("stroke-linejoin", "round")
                .maybe("stroke-dasharray", series.style.dash)
                .empty();
        }
        self.svg.close();
        if let Some(at) = leaving {
            self.triangle((at, plot.top), &paint);
        }
        if let Some(label) = label {
            self.label(series, label, layout);
        }
        self.svg.close();
    }

    /// At the top edge, where a line leaves the plot.
    fn triangle(&mut self, (x, y): (f64, f64), paint: &str) {
        let corners = [(x - 5.5, y + 1.0), (x, y - 8.0), (x + 5.5, y + 1.0)];
        let triangle = self.svg.element("path").set("class", "leaves").set("d", path(&corners) + "Z");
        let rim = self.theme.paint(PAPER);
        triangle.set("fill", paint).set("stroke", rim).set("stroke-width", 1.0).empty();
    }

    /// A point.
    fn mark(&mut self, mark: Mark, (x, y): (f64, f64), paint: &str) {
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

    fn label(&mut self, series: &Series, label: &Label, layout: &Layout) {
        let paint = self.theme.paint(series.style.color);
        let (x, y) = (label.x, label.y);
        if let Some((end_x, end_y)) = label.from {
            // Along the line's height to the edge of the plot, then across to the name.
            let edge = (end_x + 2.0).max(layout.plot.right + 2.0);
            let leader = [(end_x + 2.0, end_y), (edge, end_y), (x - 3.0, y)];
            self.svg
                .element("path")
                .set("class", "leader")
                .set("d", path(&leader))
                .set("fill", "none")
                .set("stroke", &*paint)
                .set("stroke-width", 0.7)
                .set("stroke-opacity", 0.7)
                // Through the plot it must not look like the line going on.
                .maybe("stroke-dasharray", (end_x < layout.plot.right - 4.0).then_some("1 4"))
                .empty();
        }
        match series.style.mark {
            Some(mark) => self.mark(mark, (x + 0.5 * SAMPLE, y), &paint),
            None => {
                self.svg
                    .element("path")
                    .set("class", "sample")
                    .set("d", path(&[(x, y), (x + SAMPLE, y)]))
                    .set("stroke", &*paint)
                    .set("stroke-width", 2.0)
                    .maybe("stroke-dasharray", series.style.dash)
                    .empty();
            }
        }
        self.text((x + SAMPLE + 6.0, y + MIDDLE * TEXT), "start", INK, TEXT, &series.name);
    }
}

/// The line in pixels, in pieces where points cannot be shown.
fn runs(series: &Series, layout: &Layout) -> Vec<Vec<(f64, f64)>> {
    let mut runs = vec![vec![]];
    for (x, y) in series.points() {
        match (layout.x.pixel(x), layout.y.pixel(y)) {
            (Some(x), Some(y)) => {
                if let Some(run) = runs.last_mut() {
                    run.push((x, y));
                }
            }
            _ => runs.push(vec![]),
        }
    }
    runs.retain(|run| !run.is_empty());
    runs.into_iter().map(thin).collect()
}

/// Where lines first go above the top, by a pixel at least: between the last point below it and the first
/// beyond.
fn leaves_at(runs: &[Vec<(f64, f64)>], top: f64) -> Option<f64> {
    let beyond = |&(_, y): &(f64, f64)| y < top - 1.0;
    let run = runs.iter().find(|run| run.iter().any(beyond))?;
    let first = run.iter().position(beyond)?;
    let (x, y) = run[first];
    Some(match first.checked_sub(1).map(|before| run[before]) {
        Some((x_before, y_before)) => x_before + (x - x_before) * (y_before - top) / (y_before - y),
        None => x,
    })
}

/// The band in pixels, there and back, in pieces. What is too low to show goes to the bottom.
fn bands(series: &Series, layout: &Layout) -> Vec<Vec<(f64, f64)>> {
    let mut pieces: Vec<[Vec<(f64, f64)>; 2]> = vec![Default::default()];
    for (x, low, high) in series.band() {
        let bottom = if low.is_finite() { Some(layout.plot.bottom) } else { None };
        match (layout.x.pixel(x), layout.y.pixel(low).or(bottom), layout.y.pixel(high)) {
            (Some(x), Some(low), Some(high)) => {
                if let Some([lows, highs]) = pieces.last_mut() {
                    lows.push((x, low));
                    highs.push((x, high));
                }
            }
            _ => pieces.push(Default::default()),
        }
    }
    pieces.retain(|[lows, _]| lows.len() > 1);
    let outline = |[lows, highs]: [Vec<(f64, f64)>; 2]| {
        let mut outline = thin(lows);
        outline.extend(thin(highs).into_iter().rev());
        outline
    };
    pieces.into_iter().map(outline).collect()
}

/// At most four points for each half pixel of width (first, lowest, highest, last): looks the same, however
/// many there are.
fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    if points.len() < 2000 {
        return points;
    }
    let column = |point: &(f64, f64)| (2.0 * point.0).floor();
    let thinned = points.chunk_by(|a, b| column(a) == column(b)).flat_map(|chunk| {
        let by_height = |a: &usize, b: &usize| chunk[*a].1.total_cmp(&chunk[*b].1);
        let lowest = (0..chunk.len()).min_by(by_height).unwrap_or(0);
        let highest = (0..chunk.len()).max_by(by_height).unwrap_or(0);
        let mut kept = vec![0, lowest, highest, chunk.len() - 1];
        kept.sort_unstable();
        kept.dedup();
        kept.into_iter().map(|i| chunk[i])
    });
    thinned.collect()
}
