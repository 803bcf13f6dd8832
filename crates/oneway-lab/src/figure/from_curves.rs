//! Charts of measured curves: the mean over repetitions, in a band from the lowest to the highest.

use std::collections::BTreeMap;

use oneway::metrics::Measurement;

use super::axis::{Axis, Scale};
use super::chart::{Chart, Series};
use super::palette::{Palette, Style};
use crate::results::curves::Curve;

/// A column of `curves.csv` to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Quantity {
    Loss,
    Gradient,
    Consensus,
    Tracking,
    Momentum,
    Conservation,
    Accuracy,
}

impl Quantity {
    /// All of them.
    pub(crate) const ALL: [Quantity; 7] = [
        Quantity::Loss,
        Quantity::Gradient,
        Quantity::Consensus,
        Quantity::Tracking,
        Quantity::Momentum,
        Quantity::Conservation,
        Quantity::Accuracy,
    ];

    /// Its name in a file's name.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Quantity::Loss => "loss",
            Quantity::Gradient => "gradient",
            Quantity::Consensus => "consensus",
            Quantity::Tracking => "tracking",
            Quantity::Momentum => "momentum",
            Quantity::Conservation => "conservation",
            Quantity::Accuracy => "accuracy",
        }
    }

    /// Its name in words.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Quantity::Loss => "Loss",
            Quantity::Gradient => "Squared gradient norm",
            Quantity::Consensus => "Consensus error",
            Quantity::Tracking => "Tracking error",
            Quantity::Momentum => "Momentum error",
            Quantity::Conservation => "Conservation error",
            Quantity::Accuracy => "Test accuracy",
        }
    }

    /// What the axis says: its formula.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Quantity::Loss => "F(x\u{304})",
            Quantity::Gradient => "‖\u{200a}∇F(x\u{304})‖²",
            Quantity::Consensus => "(1/n) Σᵢ ‖xᵢ − x\u{304}‖²",
            Quantity::Tracking => "(1/n) Σᵢ ‖vᵢ − nπᵢv\u{304}‖², π of C",
            Quantity::Momentum => "(1/n) Σᵢ ‖mᵢ − ∇fᵢ(xᵢ)‖²",
            Quantity::Conservation => "‖v\u{304} − m\u{304}‖ or |w\u{304} − 1|, zero but for rounding",
            Quantity::Accuracy => "share of test examples classified rightly",
        }
    }

    /// Its value in a measurement, if the method has it.
    pub(crate) fn of(self, point: &Measurement) -> Option<f64> {
        match self {
            Quantity::Loss => Some(point.loss),
            Quantity::Gradient => Some(point.grad_norm_sq),
            Quantity::Consensus => Some(point.consensus_error),
            Quantity::Tracking => point.tracking_error,
            Quantity::Momentum => point.momentum_error,
            Quantity::Conservation => point.conservation_error,
            Quantity::Accuracy => point.test_accuracy,
        }
    }

    /// Where lines that diverge leave the chart: so many times the median of all values.
    fn limit(self, series: &[Series]) -> Option<f64> {
        let mut values: Vec<f64> = series.iter().flat_map(|series| &series.y).copied().collect();
        values.sort_by(f64::total_cmp);
        let median = *values.get(values.len() / 2)?;
        let limit = median * if self == Quantity::Loss { 10.0 } else { 1e5 };
        (limit > 0.0 && *values.last()? > limit).then_some(limit)
    }

    /// Losses and shares as they are, unless they leave two decades (a run that diverged); errors by their logarithm.
    fn scale(self, series: &[Series]) -> Scale {
        match self {
            Quantity::Accuracy => Scale::Linear,
            Quantity::Loss => {
                let values = || series.iter().flat_map(|series| &series.y).filter(|value| value.is_finite());
                let lowest = values().fold(f64::INFINITY, |lowest, &value| lowest.min(value));
                match values().any(|&value| value > 100.0 * lowest) && lowest > 0.0 {
                    true => Scale::Log,
                    false => Scale::Linear,
                }
            }
            _ => Scale::Log,
        }
    }
}

/// What a quantity is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Against {
    /// Rounds done.
    Iterations,
    /// Bytes sent over all links.
    BytesSent,
    /// Virtual time, where there is a clock.
    Time,
}

impl Against {
    fn label(self) -> &'static str {
        match self {
            Against::Iterations => "iteration",
            Against::BytesSent => "bytes sent over all links",
            Against::Time => "virtual time, in steps of a nominal agent",
        }
    }

    /// As it is; bytes by their logarithm where some methods send many times what others do, so that no line is squeezed.
    fn scale(self, series: &[Series]) -> Scale {
        const MANY_TIMES: f64 = 5.0;
        let ends = series.iter().filter_map(|series| series.x.last());
        let (least, most) =
            ends.fold((f64::INFINITY, 0.0_f64), |(least, most), &end| (least.min(end), most.max(end)));
        match self {
            Against::BytesSent if least > 0.0 && most > MANY_TIMES * least => Scale::Log,
            _ => Scale::Linear,
        }
    }

    fn of(self, point: &Measurement) -> Option<f64> {
        match self {
            Against::Iterations => Some(point.iteration as f64),
            Against::BytesSent => point.bytes_sent.map(|bytes| bytes as f64),
            Against::Time => point.time,
        }
    }
}

/// The topologies of curves, in order of appearance.
pub(crate) fn topologies(curves: &[Curve]) -> Vec<&str> {
    unique(curves.iter().map(|curve| &*curve.topology))
}

/// A quantity of all methods on a topology.
///
/// Colours are chosen for the methods of *all* curves, so that charts of several topologies agree. A series is the mean
/// of the repetitions that are there at each iteration (one that diverged ends early); numbers that are not finite do not
/// count. Methods that have no such quantity are left out.
pub(crate) fn chart(curves: &[Curve], topology: &str, quantity: Quantity, against: Against) -> Chart {
    let palette = Palette::of(curves.iter().map(|curve| &*curve.method));
    let here: Vec<&Curve> = curves.iter().filter(|curve| curve.topology == topology).collect();
    let methods = unique(here.iter().map(|curve| &*curve.method));
    let series = methods.into_iter().map(|method| {
        let repetitions = here.iter().copied().filter(|curve| curve.method == method);
        mean(method, palette.style(method), repetitions, quantity, against)
    });
    let mut series: Vec<Series> = series.filter(|series| !series.x.is_empty()).collect();
    if against == Against::Time {
        cut_to_common_time(&mut series, &here);
    }
    Chart {
        title: format!("{} on {topology}", quantity.title()),
        x: Axis { label: against.label().to_owned(), scale: against.scale(&series), limit: None },
        y: Axis {
            label: quantity.label().to_owned(),
            scale: quantity.scale(&series),
            limit: quantity.limit(&series),
        },
        series,
        markers: vec![],
    }
}

/// Cuts all lines where the first ends that went to the end: rounds in which everyone waits take longer, and would push
/// those that do not wait to the edge. Lines that ended early, because they diverged, do not count.
fn cut_to_common_time(series: &mut [Series], curves: &[&Curve]) {
    let last = |curve: &Curve| curve.points.last().map(|point| (point.iteration, point.time));
    let rounds = curves.iter().filter_map(|curve| last(curve)).map(|(k, _)| k).max();
    let whole = curves.iter().filter_map(|curve| last(curve)).filter(|(k, _)| Some(*k) == rounds);
    let end = whole.filter_map(|(_, time)| time).fold(f64::INFINITY, f64::min);
    for series in series {
        let kept = series.x.partition_point(|x| *x <= end).max(1);
        for values in [&mut series.x, &mut series.y, &mut series.low, &mut series.high] {
            values.truncate(kept);
        }
    }
}

fn mean<'a>(
    method: &str,
    style: Style,
    repetitions: impl Iterator<Item = &'a Curve>,
    quantity: Quantity,
    against: Against,
) -> Series {
    // What was sent by an iteration may differ between repetitions (losses), so x is a mean too.
    let mut at: BTreeMap<u64, Vec<(f64, f64)>> = BTreeMap::new();
    for point in repetitions.flat_map(|curve| &curve.points) {
        if let Some((x, y)) = against.of(point).zip(quantity.of(point)) {
            let there = at.entry(point.iteration).or_default();
            if y.is_finite() {
                there.push((x, y));
            }
        }
    }
    at.retain(|_, there| !there.is_empty());
    fn over(at: &BTreeMap<u64, Vec<(f64, f64)>>, fold: impl Fn(&[(f64, f64)]) -> f64) -> Vec<f64> {
        at.values().map(|there| fold(there)).collect()
    }
    let band = at.values().any(|there| there.len() > 1);
    let extreme = |start: f64, pick: fn(f64, f64) -> f64| match band {
        true => over(&at, |there| there.iter().fold(start, |so_far, &(_, y)| pick(so_far, y))),
        false => vec![],
    };
    // Divided first: a sum of huge numbers may overflow where their mean does not.
    Series {
        name: method.to_owned(),
        style,
        x: over(&at, |there| there.iter().map(|(x, _)| x / there.len() as f64).sum()),
        y: over(&at, |there| there.iter().map(|(_, y)| y / there.len() as f64).sum()),
        low: extreme(f64::INFINITY, f64::min),
        high: extreme(f64::NEG_INFINITY, f64::max),
    }
}

fn unique<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut unique = vec![];
    for name in names {
        if !unique.contains(&name) {
            unique.push(name);
        }
    }
    unique
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(topology: &str, method: &str, losses: &[f64]) -> Curve {
        let point = |(i, &loss): (usize, &f64)| Measurement {
            iteration: 10 * i as u64,
            loss,
            grad_norm_sq: loss * loss,
            consensus_error: 0.0,
            tracking_error: None,
            momentum_error: None,
            conservation_error: None,
            test_accuracy: None,
            bytes_sent: Some(100 * i as u64),
            time: (topology == "timed").then_some(loss),
            loss_gap: None,
            agents_grad_norm_sq: None,
        };
        let points = losses.iter().enumerate().map(point).collect();
        Curve { topology: topology.to_owned(), method: method.to_owned(), repetition: 0, points }
    }

    #[test]
    fn the_mean_is_over_the_repetitions_that_are_there() {
        let curves = [curve("ring", "A", &[1.0, 2.0, 3.0]), curve("ring", "A", &[3.0, f64::INFINITY])];
        let loss = chart(&curves, "ring", Quantity::Loss, Against::BytesSent);
        let series = &loss.series[0];
        assert_eq!((&series.x[..], &series.y[..]), (&[0.0, 100.0, 200.0][..], &[2.0, 2.0, 3.0][..]));
        assert_eq!((&series.low[..], &series.high[..]), (&[1.0, 2.0, 3.0][..], &[3.0, 2.0, 3.0][..]));
        assert_eq!(loss.y.scale, Scale::Linear);
        assert!(chart(&curves, "ring", Quantity::Tracking, Against::Iterations).series.is_empty());
        assert!(chart(&curves, "no such", Quantity::Loss, Against::Iterations).series.is_empty());
    }

    #[test]
    fn lines_over_time_end_together_unless_they_diverged() {
        let curves = [
            curve("timed", "slow", &[0.0, 5.0, 10.0, 15.0]),
            curve("timed", "quick", &[0.0, 2.0, 4.0, 6.0]),
            curve("timed", "diverged", &[0.0, 1.0]),
        ];
        let ends: Vec<Vec<f64>> = chart(&curves, "timed", Quantity::Loss, Against::Time)
            .series
            .into_iter()
            .map(|series| series.x)
            .collect();
        assert_eq!(ends, [vec![0.0, 5.0], vec![0.0, 2.0, 4.0, 6.0], vec![0.0, 1.0]]);
        assert!(chart(&curves[..1], "none", Quantity::Loss, Against::Time).series.is_empty());
    }

    #[test]
    fn a_method_has_one_colour_on_all_topologies() {
        let curves = [curve("a", "new", &[1.0]), curve("b", "newer", &[1.0]), curve("b", "new", &[1.0])];
        let style = |topology, series: usize| {
            chart(&curves, topology, Quantity::Loss, Against::Iterations).series[series].style
        };
        assert_eq!(style("a", 0), style("b", 1));
        assert_ne!(style("b", 0), style("b", 1));
        assert_eq!(topologies(&curves), ["a", "b"]);
    }

    #[test]
    fn bytes_that_differ_much_are_drawn_by_their_logarithm() {
        let mut curves = [curve("ring", "whole", &[3.0, 2.0]), curve("ring", "coded", &[3.0, 2.0])];
        let scale = |curves: &[Curve]| chart(curves, "ring", Quantity::Loss, Against::BytesSent).x.scale;
        assert_eq!(scale(&curves), Scale::Linear);
        curves[1].points[1].bytes_sent = Some(10);
        assert_eq!(scale(&curves), Scale::Log);
        assert_eq!(
            chart(&curves, "ring", Quantity::Loss, Against::Iterations).x.scale,
            Scale::Linear,
            "rounds stay as they are"
        );
    }

    #[test]
    fn a_loss_that_diverges_is_drawn_by_its_logarithm() {
        let curves = [curve("ring", "A", &[0.7, 0.4]), curve("ring", "B", &[0.7, 1e9])];
        assert_eq!(chart(&curves, "ring", Quantity::Loss, Against::Iterations).y.scale, Scale::Log);
    }
}
