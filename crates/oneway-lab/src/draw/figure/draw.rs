//! A chart as SVG.

use anyhow::Result;

use super::chart::{Chart, Series, id};
use super::font::{self, Weight};
use super::layout::{Label, Layout, SAMPLE, SMALL, TEXT};
use super::look::Look;
use super::palette::{GRID, INK, MUTED, Mark};
use super::pen::Pen;
use super::render::Theme;
use super::svg::{Svg, path};

/// Baseline of text below its middle, in sizes.
const MIDDLE: f64 = 0.36;

/// Draws a chart for a page or a screen.
pub(crate) fn chart(chart: &Chart, theme: Theme) -> String {
    let layout = Layout::new(chart);
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root("chart", &chart.id(), layout.width, layout.height);
    pen.chart(chart, &layout, &chart.id());
    pen.svg.finish()
}

/// Draws a chart in the size that it shall have on paper; refuses what does not fit.
pub(crate) fn sized(chart: &Chart, look: &Look, theme: Theme) -> Result<String> {
    let layout = Layout::sized(chart, look)?;
    let id = id(&format!("{chart:?} {look:?}"));
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root_of_size("chart", &id, (layout.width, layout.height), look.unit());
    pen.chart(chart, &layout, &id);
    Ok(pen.svg.finish())
}

impl Pen {
    /// A chart, inside the root element.
    fn chart(&mut self, chart: &Chart, layout: &Layout, id: &str) {
        let about = if chart.title.is_empty() { &chart.y.label } else { &chart.title };
        self.svg.element("title").text(about);
        self.paper(layout.width, layout.height);
        let plot = layout.plot;
        self.svg.element("clipPath").set("id", format!("{id}-clip")).open();
        // A little more than the plot: lines along its edges keep their full width.
        self.svg
            .element("rect")
            .set("x", plot.left)
            .set("y", plot.top - 1.0)
            .set("width", plot.right - plot.left + 2.0)
            .set("height", plot.bottom - plot.top + 2.0)
            .empty();
        self.svg.close();
        self.frame(chart, layout);
        self.markers(chart, layout);
        // Dashed lines last except for points: where one runs along a solid line, both can be seen.
        let mut order: Vec<usize> = (0..chart.series.len()).collect();
        order.sort_by_key(|&series| {
            let style = chart.series[series].style;
            (style.mark.is_some(), style.dash.is_some())
        });
        for series in order {
            let label = layout.labels.iter().find(|label| label.series == series);
            self.series(&chart.series[series], layout, label, id);
        }
    }

    /// Title, grid, axes and what they say.
    fn frame(&mut self, chart: &Chart, layout: &Layout) {
        let plot = layout.plot;
        for (y, line) in &layout.title {
            self.heading((layout.edge, *y), line);
        }
        self.formula(layout.y_label, "start", MUTED, &chart.y.label);
        for (y, line) in &layout.notes {
            self.text((layout.edge, *y), "start", MUTED, SMALL, line);
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
        self.formula(layout.x_label, "middle", MUTED, &chart.x.label);
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
