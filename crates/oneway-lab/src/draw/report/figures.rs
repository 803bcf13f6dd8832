//! Figures by group, the switches that act on all of them, and the drawings of networks.

use maud::{Markup, PreEscaped, html};
use serde_json::Value;

use super::maths;
use super::palette::Palette;
use super::{Drawing, Figure, Report};
use crate::draw::figure::data::chart_data;
use crate::draw::figure::gallery::{Art, Picture};
use crate::draw::figure::quantity::Against;
use crate::draw::figure::render::{self, Theme};

impl Report {
    /// Puts a picture where it belongs in the page.
    pub(crate) fn add(&mut self, picture: Picture) {
        match picture.art {
            Art::Chart(mut chart) => {
                // the page has captions
                chart.title = String::new();
                let notes = std::mem::take(&mut chart.notes);
                let data = chart_data(&chart);
                self.figures.push(Figure {
                    id: picture.file,
                    caption: sentences(picture.caption, &notes),
                    group: picture.topology,
                    svg: render::svg(&chart, Theme::Css),
                    data,
                });
            }
            Art::Drawing { css, .. } => self.networks.push(Drawing { caption: picture.caption, svg: css }),
        }
    }
}

/// A caption and what is to be said beside it.
fn sentences(caption: String, notes: &[String]) -> String {
    match notes {
        [] => caption,
        notes => format!("{}. {}", caption.trim_end_matches('.'), notes.join(" ")),
    }
}

/// All figures, with their switches above and their numbers below.
pub(super) fn figures(figures: &[Figure], palette: &Palette) -> Markup {
    let axes = alternative_axes(figures);
    html! {
        div.controls {
            div.chips role="group" aria-label="Methods shown in the figures" {
                @for series in palette.series() {
                    button.chip type="button" aria-pressed="true" data-series=(series.name) {
                        (series.swatch()) (series.name)
                    }
                }
                button #all.quiet type="button" disabled { "Show all" }
            }
            @if !axes.is_empty() {
                fieldset.segmented {
                    legend { "Horizontal axis" }
                    @for (place, axis) in axes.iter().enumerate() {
                        label {
                            input type="radio" name="axis" value=(axis) checked[place == 0];
                            span { (axis) }
                        }
                    }
                }
            }
        }
        p.hint {
            "Point at a chart or touch it to read its values; with the keyboard, move by the arrow keys. "
            "A button switches its method on and off in all charts; a double click, or Shift and Enter, shows it alone."
        }
        @for group in in_order(figures.iter().map(|figure| &*figure.group)) {
            section.group aria-label=[(!group.is_empty()).then_some(group)] {
                @if !group.is_empty() { h3 { (group) } }
                div.figures {
                    @for (place, figure) in figures.iter().enumerate().filter(|(_, figure)| figure.group == group) {
                        (chart(place, figure, has_alternatives(figure, figures)))
                    }
                }
            }
        }
        script #figure-data type="application/json" { (PreEscaped(numbers(figures))) }
    }
}

/// The networks, side by side.
pub(super) fn networks(drawings: &[Drawing]) -> Markup {
    html! {
        div.networks {
            @for drawing in drawings {
                figure.wide[is_wide(&drawing.svg)] { (PreEscaped(&drawing.svg)) figcaption { (drawing.caption) } }
            }
        }
    }
}

/// Whether a drawing is larger than a column can show: it has its width in its `viewBox`.
fn is_wide(svg: &str) -> bool {
    let width = svg.split("viewBox=\"0 0 ").nth(1).and_then(|rest| rest.split(' ').next());
    width.and_then(|width| width.parse::<f64>().ok()).is_some_and(|width| width > 800.0)
}

/// One chart. `place` says where its numbers are in the page's list.
fn chart(place: usize, figure: &Figure, alternatives: bool) -> Markup {
    let family = alternatives.then(|| format!("{}\n{}", figure.group, label(figure, "y")));
    let axis = alternatives.then(|| label(figure, "x"));
    html! {
        figure.chart-figure id={ "figure-" (figure.id) } data-place=(place) data-family=[family] data-axis=[axis] {
            div.plot tabindex="0" role="group" aria-roledescription="chart" aria-label=(figure.caption) {
                (PreEscaped(&figure.svg))
            }
            figcaption { (maths::set(&figure.caption)) }
        }
    }
}

/// The label of an axis.
fn label<'a>(figure: &'a Figure, axis: &str) -> &'a str {
    figure.data[axis]["label"].as_str().unwrap_or_default()
}

/// Whether another figure of the group shows the same quantity over something else.
fn has_alternatives(figure: &Figure, figures: &[Figure]) -> bool {
    let (x, y) = (label(figure, "x"), label(figure, "y"));
    !y.is_empty()
        && figures
            .iter()
            .any(|other| other.group == figure.group && label(other, "y") == y && label(other, "x") != x)
}

/// The x labels to choose from. The page opens on the first: time, wherever there is a clock.
fn alternative_axes(figures: &[Figure]) -> Vec<&str> {
    let alternatives = figures.iter().filter(|figure| has_alternatives(figure, figures));
    let mut axes = in_order(alternatives.map(|figure| label(figure, "x")));
    axes.sort_by_key(|axis| *axis != Against::Time.label());
    axes
}

/// Each once, in order of appearance.
fn in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut once: Vec<&str> = vec![];
    for name in names {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    once
}

/// The numbers of all figures as JSON that cannot end the element it stands in.
fn numbers(figures: &[Figure]) -> String {
    let all: Vec<&Value> = figures.iter().map(|figure| &figure.data).collect();
    serde_json::to_string(&all).unwrap_or_else(|_| "[]".to_owned()).replace('<', "\\u003c")
}
