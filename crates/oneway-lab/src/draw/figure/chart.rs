//! A chart, before anything is drawn: what it shows, not where.

use super::axis::Axis;
use super::palette::Style;

/// Lines over two axes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Chart {
    /// Empty for none.
    pub(crate) title: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) series: Vec<Series>,
    /// Notes at values of x, such as "η/10" where the step becomes smaller.
    pub(crate) markers: Vec<(f64, String)>,
    /// Sentences that go with it: under the plot, or in the caption of a page.
    pub(crate) notes: Vec<String>,
}

/// One line, with a band about it if `low` and `high` have as many values as `x`; or points, if its style has
/// a mark.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub(crate) name: String,
    pub(crate) style: Style,
    pub(crate) x: Vec<f64>,
    pub(crate) y: Vec<f64>,
    pub(crate) low: Vec<f64>,
    pub(crate) high: Vec<f64>,
}

impl Series {
    /// A line or points without a band.
    pub(crate) fn new(name: impl Into<String>, style: Style, x: Vec<f64>, y: Vec<f64>) -> Self {
        Self { name: name.into(), style, x, y, low: vec![], high: vec![] }
    }

    /// All points; what one list has too much is left out.
    pub(crate) fn points(&self) -> impl DoubleEndedIterator<Item = (f64, f64)> + '_ {
        let points = self.x.len().min(self.y.len());
        self.x[..points].iter().copied().zip(self.y[..points].iter().copied())
    }

    /// The band's (x, low, high); none if there is no band.
    pub(crate) fn band(&self) -> impl Iterator<Item = (f64, f64, f64)> + '_ {
        let complete = self.low.len() == self.x.len() && self.high.len() == self.x.len();
        let points = if complete { self.x.len() } else { 0 };
        (0..points).map(|i| (self.x[i], self.low[i], self.high[i]))
    }
}

impl Chart {
    /// An id that is the same for the same chart and differs for others: a page may hold many.
    pub(crate) fn id(&self) -> String {
        id(&format!("{self:?}"))
    }

    /// Whether a series has a point that can be shown.
    pub(crate) fn has_something(&self, series: usize) -> bool {
        self.series[series].points().any(|point| self.shows(point))
    }

    /// The names of series that have nothing to show on these scales, as a sentence.
    pub(crate) fn nothing_to_show(&self) -> Option<String> {
        let hidden = (0..self.series.len()).filter(|&series| !self.has_something(series));
        let names: Vec<&str> = hidden.map(|series| &*self.series[series].name).collect();
        (!names.is_empty()).then(|| format!("Nothing to show on this scale: {}.", names.join(", ")))
    }

    /// Whether a point can be shown.
    pub(crate) fn shows(&self, (x, y): (f64, f64)) -> bool {
        self.x.scale.shows(x) && self.y.scale.shows(y)
    }
}

/// An id from content: FNV-1a, the same on every machine.
pub(crate) fn id(content: &str) -> String {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    let hash = content.bytes().fold(0xcbf2_9ce4_8422_2325, step);
    format!("f{:010x}", hash >> 24)
}
