//! What the page is told: the documents of a [`Hub`](crate::hub::Hub), by name.
//!
//! | name | document |
//! |---|---|
//! | `head` | [`Head`] |
//! | `network/N` | [`Network`] |
//! | `cell/N` | [`Cell`] |
//! | `curve/N` | [`Curve`] of cell N |
//! | `agents/N` | [`Agents`] of cell N |
//! | `crew` | [`Crew`]: of agents on a network, who waits for whom, and what goes over links |

use std::collections::BTreeMap;

use serde::Serialize;

use crate::thin;

/// What the page is about.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Head {
    /// The title.
    pub title: String,
    /// `running`, `ended`, `died` or `waiting`.
    pub state: &'static str,
    /// The same in a few words.
    pub about: String,
    /// What else a reader should know.
    pub notes: Vec<String>,
    /// What curves show.
    pub quantities: Vec<Quantity>,
    /// What curves are drawn over.
    pub axes: Vec<Axis>,
    /// What agents are coloured by.
    pub colours: Vec<Colour>,
}

/// What a curve shows.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Quantity {
    /// Its key in [`Curve::y`].
    pub key: &'static str,
    /// In words.
    pub title: &'static str,
    /// As a formula.
    pub label: &'static str,
    /// Whether its axis is logarithmic at first.
    pub log: bool,
}

/// What curves are drawn over.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Axis {
    /// Its key in [`Curve::x`].
    pub key: &'static str,
    /// In words.
    pub title: &'static str,
}

/// What agents are coloured by.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Colour {
    /// Its key in [`Agents::values`].
    pub key: &'static str,
    /// In words.
    pub title: &'static str,
    /// As a formula.
    pub label: &'static str,
    /// Whether small values count as much as large ones.
    pub log: bool,
    /// What to say where there are no such numbers.
    pub missing: &'static str,
}

/// A network as it is drawn.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Network {
    /// What it is called.
    pub name: String,
    /// How many agents.
    pub agents: usize,
    /// After how many rounds links come again.
    pub period: usize,
    /// The links; none where they are too many to draw.
    pub links: Vec<Link>,
    /// Where agents stand, in a square from −1 to 1, y downwards; none where they are too many.
    pub places: Vec<(f64, f64)>,
}

/// Messages go this way: sender, receiver, 1 for pulled, 2 for pushed and 3 for both, and the rounds of the
/// period in which the link is there (empty for all).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Link(pub usize, pub usize, pub u8, pub Vec<usize>);

/// One run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cell {
    /// The folder that it is in, where there are several.
    pub group: String,
    /// What the topology is called.
    pub topology: String,
    /// What the method is called.
    pub method: String,
    /// Which repetition it is, from 0.
    pub repetition: u64,
    /// Which `network/N` it is on.
    pub network: Option<String>,
    /// Its colour on light and on dark pages.
    pub colour: [String; 2],
    /// Its dashes, as in SVG; empty for none.
    pub dash: String,
    /// Rounds done.
    pub round: u64,
    /// Rounds to be done.
    pub of: u64,
    /// Rounds a second, while it runs.
    pub rate: Option<f64>,
    /// `waiting`, `running`, `cut` (its run died), or how it ended.
    pub status: &'static str,
    /// The laws that were checked.
    pub laws: Vec<Law>,
}

/// A law, and whether it held in all states that were measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Law {
    /// What must hold.
    pub name: &'static str,
    /// The worst that was found.
    pub worst: Option<f64>,
    /// States in which it was checked.
    pub checks: u64,
    /// Whether it held in all of them.
    pub holds: bool,
}

/// A line for each quantity of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Curve {
    /// For each axis, where its points are.
    pub x: BTreeMap<&'static str, Vec<Option<f64>>>,
    /// For each quantity, its values.
    pub y: BTreeMap<&'static str, Line>,
}

/// The values of a quantity.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Line {
    /// At which points; `None` for all.
    pub at: Option<Vec<usize>>,
    /// The values; `None` where one is no finite number.
    pub values: Vec<Option<f64>>,
}

/// Numbers of each agent, or means over groups of agents that follow each other.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Agents {
    /// Rounds done when they were taken.
    pub round: u64,
    /// Agents in a group.
    pub group: usize,
    /// For each colour.
    pub values: BTreeMap<&'static str, Vec<Option<f32>>>,
}

/// Agents on a network: each for itself, and the links between them.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Crew {
    /// The agents, by number.
    pub agents: Vec<Member>,
    /// The links over which anything went.
    pub links: Vec<Traffic>,
}

/// One agent on a network.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Member {
    /// `working`, `waiting`, `finished` or `silent` (does not answer).
    pub state: &'static str,
    /// Rounds done.
    pub round: u64,
    /// How many rounds it is behind the first.
    pub behind: u64,
    /// Rounds a second.
    pub rate: Option<f64>,
    /// Its own loss at its own estimate.
    pub loss: Option<f64>,
    /// The share of its time that it has waited.
    pub waited: Option<f64>,
    /// Whom it waits for, and for how many seconds.
    pub waits: Option<(usize, f64)>,
    /// Bytes received and sent.
    pub bytes: [u64; 2],
    /// What else is wrong, in words.
    pub trouble: String,
}

/// What went over a link.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Traffic {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// Bytes so far.
    pub bytes: u64,
    /// Bytes a second.
    pub rate: Option<f64>,
}

impl Curve {
    /// A curve of at most `most` points a line. `axes` and `lines` have a number for each point, not finite
    /// where there is none; those that never have one are left out.
    pub fn new(
        axes: Vec<(&'static str, Vec<f64>)>,
        lines: Vec<(&'static str, Vec<f64>)>,
        most: usize,
    ) -> Self {
        let is_there = |values: &[f64]| values.iter().any(|value| value.is_finite());
        let lines: Vec<_> = lines
            .into_iter()
            .filter(|(_, values)| is_there(values))
            .map(|(key, values)| (key, thin::places(&values, most), values))
            .collect();
        let mut kept: Vec<usize> = lines.iter().flat_map(|(_, places, _)| places).copied().collect();
        kept.sort_unstable();
        kept.dedup();
        let x = axes.into_iter().filter(|(_, values)| is_there(values));
        let x = x.map(|(key, values)| (key, picked(&values, kept.iter().copied())));
        let line = |(key, places, values): (_, Vec<usize>, Vec<f64>)| {
            let shown = picked(&values, places.iter().copied());
            let at = (places.len() < kept.len())
                .then(|| places.iter().filter_map(|place| kept.binary_search(place).ok()).collect());
            (key, Line { at, values: shown })
        };
        Self { x: x.collect(), y: lines.into_iter().map(line).collect() }
    }
}

/// Values at some places, with the digits that a drawing needs.
fn picked(values: &[f64], places: impl Iterator<Item = usize>) -> Vec<Option<f64>> {
    let short = |value: f64| format!("{value:.6e}").parse().ok().filter(|value: &f64| value.is_finite());
    let whole =
        |value: f64| if value.fract() == 0.0 && value.abs() < 1e15 { Some(value) } else { short(value) };
    places.map(|place| values.get(place).copied().and_then(whole)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_long_curve_share_their_axes() {
        let count = 100_000;
        let axis: Vec<f64> = (0..count).map(f64::from).collect();
        let peak = |at: i32| (0..count).map(|k| if k == at { 9.0 } else { 1.0 / 3.0 }).collect::<Vec<f64>>();
        let lines = vec![("a", peak(777)), ("b", peak(88_888)), ("none", vec![f64::NAN; 100_000])];
        let curve = Curve::new(vec![("k", axis), ("time", vec![f64::NAN; 100_000])], lines, 1000);
        assert_eq!(curve.x.keys().collect::<Vec<_>>(), [&"k"]);
        assert_eq!(curve.y.keys().collect::<Vec<_>>(), [&"a", &"b"], "what is never there is left out");
        for (key, at) in [("a", 777.0), ("b", 88_888.0)] {
            let line = &curve.y[key];
            assert!(line.values.len() <= 1000);
            let top = line.values.iter().position(|value| *value == Some(9.0)).unwrap_or(0);
            let place = line.at.as_ref().map_or(top, |places| places[top]);
            assert_eq!(curve.x["k"][place], Some(at), "the peak of {key} is where it was");
        }
        assert_eq!(curve.y["a"].values[0], Some(0.3333333), "as many digits as can be seen");
        let text = serde_json::to_string(&curve).unwrap_or_default();
        assert!(text.len() < 100_000, "{}", text.len());
    }

    #[test]
    fn a_short_curve_is_whole() {
        let curve = Curve::new(vec![("k", vec![0.0, 1.0])], vec![("a", vec![2.0, f64::INFINITY])], 10);
        assert_eq!(curve.y["a"], Line { at: None, values: vec![Some(2.0), None] });
    }
}
