//! A chart for LaTeX: a picture of pgfplots with its numbers inside, laid out as the drawing is.

use std::fmt::Write as _;

use anyhow::Result;

use super::axis::{Range, Scale};
use super::chart::{Chart, Series};
use super::layout::{Label, Layout, SAMPLE};
use super::look::Look;
use super::palette::{GRID, INK, MUTED, Style};
use crate::draw::latex;

/// What a document must load, as a comment.
pub(super) const HEAD: &str = "\
% In the preamble: \\usepackage{pgfplots} \\pgfplotsset{compat=1.16}
% In the document: \\input{this file}\n";

/// A `tikzpicture` with an axis of pgfplots. Text is the document's, in the size that was asked for.
pub(super) fn chart(chart: &Chart, look: &Look) -> Result<String> {
    let layout = Layout::sized(chart, look)?;
    let picture = Picture { chart, layout: &layout, look };
    let mut out = format!("{HEAD}\\begin{{tikzpicture}}{}\n", font(look));
    let styles = chart.series.iter().map(|series| series.style.color).chain([INK, MUTED, GRID]);
    let mut defined = vec![];
    for color in styles {
        if !defined.contains(&color.name) {
            defined.push(color.name);
            let _ = writeln!(out, "\\definecolor{{oneway-{}}}{{HTML}}{{{}}}", color.name, hex(color.light));
        }
    }
    picture.canvas(&mut out);
    picture.markers(&mut out);
    picture.axis(&mut out);
    layout.labels.iter().for_each(|label| picture.label(&mut out, label));
    out += "\\end{tikzpicture}\n";
    Ok(out)
}

/// Text in the size that was asked for, on lines a fifth further apart.
pub(super) fn font(look: &Look) -> String {
    format!("[font=\\fontsize{{{}}}{{{:.1}}}\\selectfont]", look.text, 1.2 * look.text)
}

/// `0072B2` of `#0072b2`.
pub(super) fn hex(color: &str) -> String {
    color.trim_start_matches('#').to_uppercase()
}

struct Picture<'a> {
    chart: &'a Chart,
    layout: &'a Layout,
    look: &'a Look,
}

impl Picture<'_> {
    fn cm(&self, units: f64) -> String {
        format!("{:.3}cm", units * self.look.unit())
    }

    /// Where a point of the drawing is: the origin is the lower left corner of the plot, y goes upwards.
    fn at(&self, (x, y): (f64, f64)) -> String {
        let plot = self.layout.plot;
        format!("({},{})", self.cm(x - plot.left), self.cm(plot.bottom - y))
    }

    /// The bounds of the figure, so that it has its size whatever stands in it; its title and the labels of
    /// its axes.
    fn canvas(&self, out: &mut String) {
        let layout = self.layout;
        let corners = [self.at((0.0, 0.0)), self.at((layout.width, layout.height))];
        let _ = writeln!(out, "\\useasboundingbox {} rectangle {};", corners[0], corners[1]);
        for (y, line) in &layout.title {
            let at = self.at((layout.edge, *y));
            let _ = writeln!(
                out,
                "\\node[anchor=base west,inner sep=0] at {at} {{\\bfseries {}}};",
                latex::name(line)
            );
        }
        for (at, anchor, text) in [
            (layout.y_label, "base west", &self.chart.y.label),
            (layout.x_label, "base", &self.chart.x.label),
        ] {
            let (at, text) = (self.at(at), latex::text(text));
            let _ = writeln!(out, "\\node[anchor={anchor},inner sep=0,oneway-muted] at {at} {{{text}}};");
        }
    }

    /// Vertical notes.
    fn markers(&self, out: &mut String) {
        let plot = self.layout.plot;
        for (value, note) in &self.chart.markers {
            let inside = self.layout.x.pixel(*value).filter(|x| (plot.left..=plot.right).contains(x));
            if let Some(x) = inside {
                let path = [(x, plot.bottom), (x, plot.top)].map(|at| self.at(at)).join(" -- ");
                let note = latex::text(note);
                let _ = writeln!(
                    out,
                    "\\draw[oneway-muted,densely dotted] {path} node[anchor=north west,inner sep=2pt] {{{note}}};"
                );
            }
        }
    }

    fn axis(&self, out: &mut String) {
        let Self { chart, layout, .. } = self;
        let plot = layout.plot;
        let mode = |axis: &str, scale: Scale| match scale {
            Scale::Log => format!("{axis}mode=log, log basis {axis}=10"),
            Scale::Linear => format!("{axis}mode=linear"),
        };
        let list = |values: &mut dyn Iterator<Item = String>| values.collect::<Vec<_>>().join(",");
        let major = |ticks: &[(f64, String)]| list(&mut ticks.iter().map(|(value, _)| format!("{value:?}")));
        let minor = |ticks: &[f64]| list(&mut ticks.iter().map(|value| format!("{value:?}")));
        let label = |ticks: &[(f64, String)]| {
            list(&mut ticks.iter().map(|(_, label)| format!("{{${}$}}", latex::number(label))))
        };
        let _ = write!(
            out,
            "\\begin{{axis}}[\n  at={{(0,0)}}, anchor=south west, scale only axis, width={}, height={},\n  \
             {}, {}, xmin={:?}, xmax={:?}, ymin={:?}, ymax={:?},\n",
            self.cm(plot.right - plot.left),
            self.cm(plot.bottom - plot.top),
            mode("x", layout.x.scale),
            mode("y", layout.y.scale),
            layout.x.min,
            layout.x.max,
            layout.y.min,
            layout.y.max,
        );
        for (axis, ticks) in [("x", &layout.x_ticks), ("y", &layout.y_ticks)] {
            let _ = writeln!(
                out,
                "  {axis}tick={{{}}}, {axis}ticklabels={{{}}},",
                major(&ticks.major),
                label(&ticks.major)
            );
            if !ticks.minor.is_empty() {
                let _ = writeln!(out, "  minor {axis}tick={{{}}},", minor(&ticks.minor));
            }
        }
        out.push_str(
            "  scaled ticks=false, ymajorgrids, grid style={oneway-grid}, axis lines=left, axis line style={oneway-muted,-},\n  \
             y axis line style={draw=none}, tick align=outside, tick style={oneway-muted}, ytick style={draw=none},\n  \
             minor y tick style={draw=oneway-muted}, tick label style={oneway-muted,inner sep=0.05cm},\n  \
             major tick length=0.1cm, minor tick length=0.06cm, unbounded coords=jump,\n  \
             clip mode=individual, every axis plot/.append style={line width=0.9pt, no marks},\n",
        );
        let _ = writeln!(out, "  {}]", self.domains());
        // dashed lines last: where one runs along a solid line, both can be seen
        let mut order: Vec<usize> =
            (0..chart.series.len()).filter(|&series| chart.has_something(series)).collect();
        order.sort_by_key(|&series| {
            (chart.series[series].style.mark.is_some(), chart.series[series].style.dash.is_some())
        });
        for &series in &order {
            self.band(out, &chart.series[series]);
        }
        for &series in &order {
            self.line(out, &chart.series[series]);
        }
        out.push_str("\\end{axis}\n");
    }

    /// What is far outside is drawn at the edge of a domain ten times as large: TeX cannot count further.
    fn domains(&self) -> String {
        let domain = |range: &Range| {
            let ends = match range.scale {
                Scale::Linear => (range.min, range.max),
                Scale::Log => (range.min.log10(), range.max.log10()),
            };
            let size = ends.1 - ends.0;
            format!("{:?}:{:?}", ends.0 - 5.0 * size, ends.1 + 5.0 * size)
        };
        let (x, y) = (domain(&self.layout.x), domain(&self.layout.y));
        format!("restrict x to domain*={x}, restrict y to domain*={y}")
    }

    /// A closed path for each piece of the band, there and back.
    fn band(&self, out: &mut String, series: &Series) {
        let opacity = if self.layout.crowded { 0.08 } else { 0.13 };
        let is_shown = |&(x, low, high): &(f64, f64, f64)| self.chart.shows((x, high)) && low.is_finite();
        let points: Vec<(f64, f64, f64)> = series.band().collect();
        for piece in points.chunk_by(|a, b| is_shown(a) && is_shown(b)).filter(|piece| piece.len() > 1) {
            let low = |low: f64| if self.chart.y.scale.shows(low) { low } else { self.layout.y.min };
            let there = piece.iter().map(|&(x, at, _)| (x, low(at)));
            let back = piece.iter().rev().map(|&(x, _, high)| (x, high));
            let color = series.style.color.name;
            let _ =
                write!(out, "\\addplot[draw=none,fill=oneway-{color},fill opacity={opacity}] coordinates {{");
            out.push_str(&coordinates(there.chain(back)));
            out.push_str("} -- cycle;\n");
        }
    }

    fn line(&self, out: &mut String, series: &Series) {
        let _ = writeln!(out, "% {}", latex::name(&series.name));
        let _ = write!(out, "\\addplot[{}] coordinates {{", self.style(series.style));
        let points =
            series.points().map(|(x, y)| if self.chart.shows((x, y)) { (x, y) } else { (x, f64::NAN) });
        out.push_str(&coordinates(points));
        out.push_str("};\n");
    }

    /// Colour and dashes: those of the drawing, in points.
    fn style(&self, style: Style) -> String {
        let color = format!("oneway-{}", style.color.name);
        if style.mark.is_some() {
            return format!("{color},only marks,mark=*,mark size=1.2pt");
        }
        let points = self.look.unit() / 2.54 * 72.27;
        let lengths =
            style.dash.unwrap_or("").split_whitespace().filter_map(|length| length.parse::<f64>().ok());
        let pattern = lengths.zip(["on", "off"].into_iter().cycle());
        let pattern: Vec<String> =
            pattern.map(|(length, word)| format!("{word} {:.2}pt", points * length)).collect();
        match pattern.is_empty() {
            true => color,
            false => format!("{color},dash pattern={}", pattern.join(" ")),
        }
    }

    fn label(&self, out: &mut String, label: &Label) {
        let series = &self.chart.series[label.series];
        let style = self.style(series.style);
        let (x, y) = (label.x, label.y);
        if let Some((end_x, end_y)) = label.from {
            let edge = (end_x + 2.0).max(self.layout.plot.right + 2.0);
            let path = [(end_x + 2.0, end_y), (edge, end_y), (x - 3.0, y)].map(|at| self.at(at)).join(" -- ");
            let dots = if end_x < self.layout.plot.right - 4.0 { ",dotted" } else { "" };
            let _ =
                writeln!(out, "\\draw[oneway-{},line width=0.4pt{dots}] {path};", series.style.color.name);
        }
        let ends = [(x, y), (x + SAMPLE, y)].map(|at| self.at(at)).join(" -- ");
        let _ = writeln!(out, "\\draw[{style},line width=1.1pt] {ends};");
        let at = self.at((x + SAMPLE + 6.0, y));
        let name = latex::name(&series.name);
        let _ = writeln!(out, "\\node[anchor=west,inner sep=0,oneway-ink] at {at} {{{name}}};");
    }
}

/// Points in shortest round-trip form, some on a line.
fn coordinates(points: impl Iterator<Item = (f64, f64)>) -> String {
    let texts: Vec<String> = points
        .map(|(x, y)| if y.is_nan() { format!("({x:?},nan)") } else { format!("({x:?},{y:?})") })
        .collect();
    let lines: Vec<String> = texts.chunks(6).map(|chunk| chunk.join(" ")).collect();
    format!("\n  {}\n", lines.join("\n  "))
}
