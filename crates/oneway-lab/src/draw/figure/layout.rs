//! Where everything in a chart goes. Drawing and hover read the same layout, so they cannot disagree.

use super::axis::{Range, Ticks};
use super::chart::{Chart, Series};
use super::font::{self, Weight};

/// Size of text, and of smaller notes.
pub(crate) const TEXT: f64 = 14.0;
pub(crate) const SMALL: f64 = 12.5;
pub(crate) const TITLE: f64 = 16.0;
/// Distance between lines of text.
pub(crate) const LINE: f64 = 18.0;
/// Length of the line sample before a name.
pub(crate) const SAMPLE: f64 = 20.0;
/// From the plot to the samples of the labels: room for the leaders.
pub(super) const LEADER: f64 = 18.0;
/// From the plot to the text of the names beside it.
pub(super) const BESIDE: f64 = LEADER + SAMPLE + 6.0;
/// With more series than this, names at the ends of lines would crowd.
pub(super) const MOST_LABELS: usize = 7;

const WIDTH: f64 = 680.0;
const PLOT_HEIGHT: f64 = 300.0;
const MARGIN: f64 = 14.0;

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) right: f64,
    pub(crate) bottom: f64,
}

/// The name of a series: its line sample begins at (x, y), the text follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Label {
    /// Which series.
    pub(crate) series: usize,
    pub(crate) x: f64,
    pub(crate) y: f64,
    /// Where the line ends, if a leader is to go there.
    pub(crate) from: Option<(f64, f64)>,
}

/// A chart laid out.
#[derive(Debug)]
pub(crate) struct Layout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) plot: Rect,
    pub(crate) x: Range,
    pub(crate) y: Range,
    pub(crate) x_ticks: Ticks,
    pub(crate) y_ticks: Ticks,
    pub(crate) labels: Vec<Label>,
    /// Whether there are more than a few bands.
    pub(crate) crowded: bool,
    /// Lines of the title, from the left edge, and their baselines.
    pub(crate) title: Vec<(f64, String)>,
    /// Where the label of y begins, and the middle of that of x.
    pub(crate) y_label: (f64, f64),
    pub(crate) x_label: (f64, f64),
    /// The edge that titles and notes stand at.
    pub(crate) edge: f64,
    /// Lines of small text under the plot, and their baselines.
    pub(crate) notes: Vec<(f64, String)>,
}

/// The axes of a chart: their ranges, and the series that have something to show on them.
pub(super) struct Axes {
    pub(super) x: Range,
    pub(super) y: Range,
    pub(super) shown: Vec<usize>,
}

impl Axes {
    pub(super) fn new(chart: &Chart) -> Self {
        let points = || chart.series.iter().flat_map(Series::points).filter(|&p| chart.shows(p));
        let bands =
            chart.series.iter().flat_map(|series| series.band().flat_map(|(_, low, high)| [low, high]));
        let within = |limit: Option<f64>| move |value: f64| limit.map_or(value, |limit| value.min(limit));
        let x = Range::fit(chart.x.scale, points().map(|(x, _)| x).map(within(chart.x.limit)), 0.0);
        let y = points().map(|(_, y)| y).chain(bands).map(within(chart.y.limit));
        let y = Range::fit(chart.y.scale, y, 0.03);
        let shown = (0..chart.series.len()).filter(|&series| chart.has_something(series)).collect();
        Self { x, y, shown }
    }

    /// The widest name of a line.
    pub(super) fn names(&self, chart: &Chart) -> f64 {
        widest(self.shown.iter().map(|&series| &*chart.series[series].name))
    }
}

impl Layout {
    /// Lays a chart out for a page or a screen: as high as it needs to be, and wider where names are long.
    pub(crate) fn new(chart: &Chart) -> Self {
        let axes = Axes::new(chart);
        let names = axes.names(chart);
        let Axes { x, y, shown } = axes;
        let (x_ticks, y_ticks) = (x.ticks(6), y.ticks(6));
        let direct = shown.len() <= MOST_LABELS;
        let left = MARGIN + tick_width(&y_ticks) + 8.0;
        let right = match direct && !shown.is_empty() {
            true => (WIDTH - MARGIN - BESIDE - names).max(left + 0.4 * WIDTH),
            false => WIDTH - MARGIN - last_tick(&x_ticks) / 2.0,
        };
        let top = MARGIN + if chart.title.is_empty() { 0.0 } else { TITLE + 10.0 } + LINE + 12.0;
        let plot = Rect { left, top, right, bottom: top + PLOT_HEIGHT };
        let (x, y) = (x.between(plot.left, plot.right), y.between(plot.bottom, plot.top));
        let axis_bottom = plot.bottom + 20.0 + LINE;
        let labels = match direct {
            true => direct_labels(chart, &shown, &plot, (&x, &y)),
            false => legend(&shown, &plot, axis_bottom + LINE + 4.0, names),
        };
        // Names and titles longer than expected make the figure wider rather than leave it.
        let label_end = if direct { plot.right + BESIDE + names } else { 0.0 };
        let title = font::width(&chart.title, TITLE, Weight::SemiBold);
        let lowest = labels.iter().map(|label| label.y).fold(axis_bottom, f64::max);
        let width = (label_end + MARGIN).max(title + 2.0 * MARGIN).max(WIDTH);
        let said = chart.notes.iter().cloned().chain(chart.nothing_to_show());
        let lines = said.flat_map(|note| wrapped(&note, SMALL, Weight::Regular, width - 2.0 * MARGIN));
        let notes: Vec<(f64, String)> =
            lines.zip(1..).map(|(line, i)| (lowest + 8.0 + f64::from(i) * LINE, line)).collect();
        let title = (!chart.title.is_empty()).then(|| (MARGIN + TITLE - 2.0, chart.title.clone()));
        Self {
            width,
            height: (notes.last().map_or(lowest, |note| note.0 - 4.0) + MARGIN).ceil(),
            plot,
            x,
            y,
            x_ticks,
            y_ticks,
            labels,
            crowded: crowded(chart),
            title: title.into_iter().collect(),
            y_label: (MARGIN, plot.top - 16.0),
            x_label: (0.5 * (plot.left + plot.right), plot.bottom + 22.0 + LINE),
            edge: MARGIN,
            notes,
        }
    }
}

pub(super) fn crowded(chart: &Chart) -> bool {
    chart.series.iter().filter(|series| series.band().next().is_some()).count() > 3
}

/// The width of the widest text.
pub(super) fn widest<'a>(texts: impl Iterator<Item = &'a str>) -> f64 {
    texts.map(|text| font::width(text, TEXT, Weight::Regular)).fold(0.0, f64::max)
}

pub(super) fn tick_width(ticks: &Ticks) -> f64 {
    widest(ticks.major.iter().map(|(_, label)| &**label))
}

pub(super) fn last_tick(ticks: &Ticks) -> f64 {
    ticks.major.last().map_or(0.0, |(_, label)| font::width(label, TEXT, Weight::Regular))
}

/// Text in lines of at most `width` pixels; a wider word gets its own line.
pub(super) fn wrapped(text: &str, size: f64, weight: Weight, width: f64) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split(' ') {
        let longer = lines.last().map(|line| format!("{line} {word}"));
        match longer.filter(|line| font::width(line, size, weight) <= width) {
            Some(longer) => {
                lines.pop();
                lines.push(longer);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

/// A name at the end of each line, moved as little as need be so that none overlap.
pub(super) fn direct_labels(
    chart: &Chart,
    shown: &[usize],
    plot: &Rect,
    (x, y): (&Range, &Range),
) -> Vec<Label> {
    let mut ends: Vec<(usize, f64, f64)> = vec![];
    for &series in shown {
        // by pixels: a point that made the range may be beyond its end by a rounding
        let inside = |&(at_x, at_y): &(f64, f64)| {
            let pixels = x.pixel(at_x).zip(y.pixel(at_y));
            pixels.is_some_and(|(x, y)| x <= plot.right + 0.5 && y >= plot.top - 0.5)
        };
        let mut points = chart.series[series].points();
        let last = points.rfind(inside).or_else(|| chart.series[series].points().rfind(|&p| chart.shows(p)));
        if let Some((end_x, end_y)) = last.and_then(|(at_x, at_y)| Some((x.pixel(at_x)?, y.pixel(at_y)?))) {
            ends.push((series, end_x.min(plot.right), end_y.max(plot.top)));
        }
    }
    ends.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.0.cmp(&b.0)));
    let wanted: Vec<f64> = ends.iter().map(|&(_, _, y)| y).collect();
    let placed = spread(&wanted, LINE, plot.top + 0.5 * LINE, plot.bottom - 0.5 * LINE);
    let label = |(&(series, end_x, end_y), label_y): (&(usize, f64, f64), f64)| Label {
        series,
        x: plot.right + LEADER,
        y: label_y,
        // one of many points is no end: a leader to it would say more than is so
        from: (chart.series[series].style.mark.is_none() || chart.series[series].points().count() == 1)
            .then_some((end_x, end_y)),
    };
    ends.iter().zip(placed).map(label).collect()
}

/// Names in columns below the plot.
fn legend(shown: &[usize], plot: &Rect, top: f64, names: f64) -> Vec<Label> {
    let column = SAMPLE + 6.0 + names + 22.0;
    let columns = (((plot.right - plot.left) / column) as usize).clamp(1, shown.len().max(1));
    let label = |(i, &series): (usize, &usize)| Label {
        series,
        x: plot.left + (i % columns) as f64 * column,
        y: top + (i / columns) as f64 * LINE,
        from: None,
    };
    shown.iter().enumerate().map(label).collect()
}

/// Positions at least `gap` apart and from `low` to `high`, as near as can be (in squares) to those wanted,
/// which ascend.
///
/// Labels that touch move as one block about their mean; blocks that then touch merge. If there is no room
/// for all, they are evenly closer than `gap`.
pub(crate) fn spread(wanted: &[f64], gap: f64, low: f64, high: f64) -> Vec<f64> {
    let count = wanted.len();
    let gap = if count > 1 { gap.min(((high - low) / (count - 1) as f64).max(0.0)) } else { gap };
    // (sum of wanted tops, size): a label's wish for the top of its block is its own less what stands above
    // it.
    let mut blocks: Vec<(f64, usize)> = vec![];
    let top = |&(sum, size): &(f64, usize)| {
        let last = (high - (size - 1) as f64 * gap).max(low);
        (sum / size as f64).clamp(low, last)
    };
    for &wish in wanted {
        let mut block = (if wish.is_finite() { wish } else { high }, 1);
        while let Some(before) = blocks.last() {
            if top(before) + before.1 as f64 * gap <= top(&block) {
                break;
            }
            block = (before.0 + block.0 - (block.1 * before.1) as f64 * gap, before.1 + block.1);
            blocks.pop();
        }
        blocks.push(block);
    }
    let place = |block: &(f64, usize)| {
        let (start, size) = (top(block), block.1);
        (0..size).map(move |i| start + i as f64 * gap)
    };
    blocks.iter().flat_map(place).collect()
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
