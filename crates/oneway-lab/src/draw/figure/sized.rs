//! The layout of a chart in a size that is given: for paper, where nothing may be wider.

use anyhow::{Result, bail};

use super::axis::{Range, Ticks};
use super::chart::Chart;
use super::font::{self, Weight};
use super::layout::{
    Axes, BESIDE, LINE, Label, Layout, MOST_LABELS, Rect, SAMPLE, TEXT, TITLE, crowded, direct_labels,
    last_tick, tick_width, wrapped,
};
use super::look::{Labels, Look};

/// The margin of a figure for a document.
pub(super) const TIGHT: f64 = 2.0;

impl Layout {
    /// Lays a chart out in a given size, with next to no margin: a document has its own. Notes are left to
    /// the caption. What does not fit is refused with what would help.
    pub(crate) fn sized(chart: &Chart, look: &Look) -> Result<Self> {
        let axes = Axes::new(chart);
        let names = axes.names(chart);
        let Axes { x, y, shown } = axes;
        let width = look.units(look.size.width);
        let height = look.size.height.map(|height| look.units(height));
        let title = match &*chart.title {
            "" => vec![],
            title => wrapped(title, TITLE, Weight::SemiBold, width - 2.0 * TIGHT),
        };
        let top = TIGHT
            + title.len() as f64 * (TITLE + 4.0)
            + if title.is_empty() { 0.0 } else { 6.0 }
            + LINE
            + 9.0; // bars and signs of formulas are higher than letters
        let below = 42.0 + TIGHT; // numbers and label of x
        let usual = 0.66 * width;
        let y_ticks = y.ticks((height.unwrap_or(usual) / 52.0).clamp(2.0, 6.0) as usize);
        let left = TIGHT + tick_width(&y_ticks) + 8.0;
        let plot_height = height.unwrap_or(usual) - top - below;
        let beside = width - TIGHT - BESIDE - names;
        let has_room = beside - left >= 0.5 * width && LINE * shown.len() as f64 <= plot_height + LINE;
        let labels = match look.labels {
            Labels::Auto if shown.len() <= MOST_LABELS && has_room => Labels::Direct,
            Labels::Auto => Labels::Legend,
            asked => asked,
        };
        let direct = labels == Labels::Direct && !shown.is_empty();
        let right = if direct { beside } else { width - TIGHT - last_tick(&x.ticks(6)) / 2.0 };
        let rows = if labels == Labels::Legend { packed(chart, &shown, width - 2.0 * TIGHT) } else { vec![] };
        let legend_height = if rows.is_empty() { 0.0 } else { rows.len() as f64 * LINE + 4.0 };
        let plot_height = plot_height - if height.is_some() { legend_height } else { 0.0 };
        let plot = Rect { left, top, right, bottom: top + plot_height };
        let (x, y) = (x.between(plot.left, plot.right), y.between(plot.bottom, plot.top));
        let x_ticks = fitting_ticks(&x);
        let first_row = plot.bottom + 42.0 + 0.5 * LINE + 4.0;
        let label = |(row, cells): (usize, &Vec<(usize, f64)>)| {
            let y = first_row + row as f64 * LINE;
            cells
                .iter()
                .map(move |&(series, x)| Label { series, x: TIGHT + x, y, from: None })
                .collect::<Vec<_>>()
        };
        let labels = match labels {
            Labels::Direct => direct_labels(chart, &shown, &plot, (&x, &y)),
            _ => rows.iter().enumerate().flat_map(label).collect(),
        };
        let x_label = font::width(&chart.x.label, TEXT, Weight::Regular);
        let middle =
            (0.5 * (plot.left + plot.right)).min(width - TIGHT - 0.5 * x_label).max(TIGHT + 0.5 * x_label);
        let layout = Self {
            width,
            height: height.unwrap_or(plot.bottom + below + legend_height),
            plot,
            x,
            y,
            x_ticks,
            y_ticks,
            labels,
            crowded: crowded(chart),
            title: title
                .into_iter()
                .zip(1..)
                .map(|(line, i)| (TIGHT + f64::from(i) * (TITLE + 4.0) - 4.0, line))
                .collect(),
            y_label: (TIGHT, plot.top - 10.0),
            x_label: (middle, plot.bottom + 38.0),
            edge: TIGHT,
            notes: vec![],
        };
        layout.check(chart, look)?;
        Ok(layout)
    }

    /// Refuses what leaves the figure, and a plot too small to be read.
    fn check(&self, chart: &Chart, look: &Look) -> Result<()> {
        let size =
            |height: Option<f64>| height.map_or(String::new(), |height| format!(" and {height} cm high"));
        let at = format!(
            "in a figure {} cm wide{} with text of {} pt",
            look.size.width,
            size(look.size.height),
            look.text
        );
        let help = "give a larger --size or a smaller --font-size";
        let Rect { left, right, top, bottom } = self.plot;
        if right - left < 90.0 && self.labels.iter().any(|label| label.from.is_some()) {
            bail!("{at} the names of the lines leave no room for the plot: --labels legend, or {help}");
        }
        if bottom - top < 60.0 || right - left < 90.0 {
            bail!("{at} there is no room for the plot: {help}, or choose fewer --methods");
        }
        let beyond = |label: &&Label| {
            let name = font::width(&chart.series[label.series].name, TEXT, Weight::Regular);
            label.x + SAMPLE + 6.0 + name > self.width + 1.0
        };
        if let Some(label) = self.labels.iter().find(beyond) {
            bail!("{at} there is no room for the name {:?}: {help}", chart.series[label.series].name);
        }
        let beside = self.labels.iter().filter(|label| label.from.is_some()).count() as f64;
        if beside * LINE > bottom - top + LINE {
            bail!("{at} there is no room for {beside} names beside the plot: --labels legend, or {help}");
        }
        let texts = self.title.iter().map(|(_, line)| (&**line, TITLE));
        for (text, size) in texts.chain([&chart.x, &chart.y].map(|axis| (&*axis.label, TEXT))) {
            if font::width(text, size, Weight::Regular) > self.width - 2.0 * self.edge + 1.0 {
                bail!("{at} there is no room for {text:?}: {help}");
            }
        }
        Ok(())
    }
}

/// As many ticks, up to about six, as have room for their numbers.
fn fitting_ticks(range: &Range) -> Ticks {
    let fits = |ticks: &Ticks| {
        let ends = ticks.major.iter().filter_map(|(value, label)| {
            Some((range.pixel(*value)?, 0.5 * font::width(label, TEXT, Weight::Regular)))
        });
        let ends: Vec<(f64, f64)> = ends.collect();
        ends.windows(2).all(|pair| pair[1].0 - pair[1].1 - pair[0].0 - pair[0].1 >= 8.0)
    };
    let ticks = (2..=6).rev().map(|about| range.ticks(about));
    ticks.into_iter().find(fits).unwrap_or_else(|| range.ticks(1))
}

/// Names in as many columns as have room, each as wide as its widest name: for each row the series and where
/// they begin.
fn packed(chart: &Chart, shown: &[usize], width: f64) -> Vec<Vec<(usize, f64)>> {
    let wide = |series: usize| SAMPLE + 6.0 + font::width(&chart.series[series].name, TEXT, Weight::Regular);
    let starts = |columns: usize| -> Option<Vec<f64>> {
        let column =
            |column: usize| shown.iter().skip(column).step_by(columns).map(|&s| wide(s)).fold(0.0, f64::max);
        let (mut starts, mut at) = (vec![], 0.0);
        for wide in (0..columns).map(column) {
            starts.push(at);
            if at + wide > width && columns > 1 {
                return None;
            }
            at += wide + 16.0;
        }
        Some(starts)
    };
    let Some(starts) = (1..=shown.len()).rev().find_map(starts) else { return vec![] };
    let row = |row: &[usize]| row.iter().copied().zip(starts.iter().copied()).collect();
    shown.chunks(starts.len()).map(row).collect()
}
