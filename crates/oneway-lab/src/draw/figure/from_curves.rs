//! Charts of measured curves: the mean over repetitions, in a band from the lowest to the highest.

use std::collections::{BTreeMap, HashMap};

use oneway_experiment::results::curves::Curve;

use super::axis::{Axis, Scale};
use super::band::Band;
use super::chart::{Chart, Series};
use super::palette::Palette;
use super::quantity::{Against, Quantity};

/// The topologies of curves, in order of appearance.
pub(crate) fn topologies(curves: &[Curve]) -> Vec<&str> {
    unique(curves.iter().map(|curve| &*curve.topology))
}

/// How curves become a chart, where that is not as usual.
#[derive(Debug)]
pub(crate) struct Manner<'a> {
    pub(crate) palette: &'a Palette,
    pub(crate) band: Band,
    /// Scales that are asked for.
    pub(crate) x_scale: Option<Scale>,
    pub(crate) y_scale: Option<Scale>,
    /// What is shown of the x axis: from, to.
    pub(crate) window: (Option<f64>, Option<f64>),
    /// Seconds that a round took in a run: its topology, method and repetition.
    pub(crate) pace: &'a HashMap<(String, String, u64), f64>,
}

/// A quantity of all methods on a topology, as reports show it: bands from the lowest to the highest.
///
/// Colours are chosen for the methods of *all* curves, so that charts of several topologies agree.
pub(crate) fn chart(curves: &[Curve], topology: &str, quantity: Quantity, against: Against) -> Chart {
    let palette = Palette::new(curves.iter().map(|curve| &*curve.method));
    let pace = HashMap::new();
    let usual = Manner {
        palette: &palette,
        band: Band::Minmax,
        x_scale: None,
        y_scale: None,
        window: (None, None),
        pace: &pace,
    };
    chart_with(curves, topology, (quantity, against), &usual)
}

/// A quantity of all methods on a topology.
///
/// A series is the mean of the repetitions that are there at each iteration (one that diverged ends early);
/// numbers that are not finite do not count. Methods that have no such quantity are left out. What is left
/// out or cut off is said in the chart's notes.
pub(crate) fn chart_with(
    curves: &[Curve],
    topology: &str,
    (quantity, against): (Quantity, Against),
    manner: &Manner<'_>,
) -> Chart {
    let here: Vec<&Curve> = curves.iter().filter(|curve| curve.topology == topology).collect();
    let methods = unique(here.iter().map(|curve| &*curve.method));
    let series = methods.into_iter().map(|method| {
        let repetitions = here.iter().copied().filter(|curve| curve.method == method);
        mean(method, repetitions, (quantity, against), manner)
    });
    let mut series: Vec<Series> = series.filter(|series| !series.x.is_empty()).collect();
    let mut notes = bands_note(&series, &here, manner.band);
    if against == Against::Time {
        notes.extend(cut_to_common_time(&mut series, &here));
    }
    let (diverging, sound): (Vec<&Series>, Vec<&Series>) = series
        .iter()
        .partition(|series| here.iter().any(|curve| curve.method == series.name && goes_up(curve)));
    let usual = scale(quantity, if sound.is_empty() { &diverging } else { &sound });
    let scale = manner.y_scale.unwrap_or(usual);
    let limit = limit(scale, &sound, &diverging).filter(|_| quantity != Quantity::Accuracy);
    if let Some(limit) = limit {
        let cut = diverging.iter().filter(|series| highest(series) > limit).map(|series| &*series.name);
        notes.push(format!(
            "Cut off at a triangle, as it ends above ten times the loss of its start: {}.",
            cut.collect::<Vec<_>>().join(", ")
        ));
    }
    let x_scale = manner.x_scale.unwrap_or_else(|| scale_of_x(against, &series));
    Chart {
        title: format!("{} on {topology}", quantity.title()),
        x: Axis { label: against.label().to_owned(), scale: x_scale, limit: None },
        y: Axis { label: quantity.label().to_owned(), scale, limit },
        series,
        markers: vec![],
        notes,
    }
}

/// Whether a run went the wrong way for good: it ends with ten times the loss it began with, or with none.
///
/// This is about what a chart can show, not about what the run is worth: ten times as much is enough to
/// squeeze all other lines flat, while a run that is ten times worse than its start may still be a result.
/// When it is none is for `results::divergence` to say.
///
/// Errors say less. They may begin at zero, as that of consensus does, and go up in every good run; and one
/// that goes down by thirty decades is as far from its end at the start as one that goes up is at the end.
fn goes_up(curve: &Curve) -> bool {
    const MANY_TIMES: f64 = 10.0; // said in the note, too
    let ends = curve.points.first().zip(curve.points.last());
    ends.is_some_and(|(first, last)| !last.loss.is_finite() || last.loss > MANY_TIMES * first.loss)
}

/// Where lines that diverge leave the chart: above all others, with room to see them go. None if nothing
/// would be gained.
fn limit(scale: Scale, sound: &[&Series], diverging: &[&Series]) -> Option<f64> {
    let shown = sound.iter().flat_map(|series| series.y.iter().chain(&series.high));
    let bounds = shown.filter(|value| scale.shows(**value)).fold(None, |bounds, &value| match bounds {
        None => Some((value, value)),
        Some((low, high)) => Some((value.min(low), value.max(high))),
    });
    let (low, high): (f64, f64) = bounds?;
    let limit = match scale {
        Scale::Linear => high + (0.5 * (high - low)).max(0.1 * high.abs()),
        Scale::Log => 10.0 * high,
    };
    diverging.iter().any(|series| highest(series) > limit).then_some(limit)
}

/// The highest number of a series.
fn highest(series: &Series) -> f64 {
    series.y.iter().chain(&series.high).copied().fold(f64::NEG_INFINITY, f64::max)
}

/// Losses and shares as they are, unless losses leave two decades; errors by their logarithm.
fn scale(quantity: Quantity, series: &[&Series]) -> Scale {
    match quantity {
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

/// As it is; bytes by their logarithm where some methods send many times what others do, so that no line is
/// squeezed.
fn scale_of_x(against: Against, series: &[Series]) -> Scale {
    const MANY_TIMES: f64 = 5.0;
    let ends = series.iter().filter_map(|series| series.x.last());
    let (least, most) =
        ends.fold((f64::INFINITY, 0.0_f64), |(least, most), &end| (least.min(end), most.max(end)));
    match against {
        Against::BytesSent if least > 0.0 && most > MANY_TIMES * least => Scale::Log,
        _ => Scale::Linear,
    }
}

/// What lines and bands are, where there are several repetitions.
fn bands_note(series: &[Series], curves: &[&Curve], band: Band) -> Vec<String> {
    let repetitions = |series: &Series| curves.iter().filter(|curve| curve.method == series.name).count();
    let banded = series.iter().filter(|series| !series.low.is_empty() || band == Band::None);
    let most = banded.map(repetitions).max().unwrap_or(0);
    if most > 1 { vec![band.says(most)] } else { vec![] }
}

/// Cuts all lines where the first ends that went to the end: rounds in which everyone waits take longer, and
/// would push those that do not wait to the edge. Lines that ended early, because they diverged, do not
/// count. Says so, if any are cut.
fn cut_to_common_time(series: &mut [Series], curves: &[&Curve]) -> Option<String> {
    let last = |curve: &Curve| curve.points.last().map(|point| (point.iteration, point.time));
    let rounds = curves.iter().filter_map(|curve| last(curve)).map(|(k, _)| k).max();
    let whole = curves.iter().filter_map(|curve| last(curve)).filter(|(k, _)| Some(*k) == rounds);
    let end = whole.filter_map(|(_, time)| time).fold(f64::INFINITY, f64::min);
    let mut cut = false;
    for series in series {
        let kept = series.x.partition_point(|x| *x <= end).max(1);
        cut |= kept < series.x.len();
        for values in [&mut series.x, &mut series.y, &mut series.low, &mut series.high] {
            values.truncate(kept);
        }
    }
    cut.then(|| format!("Shown until the first method is done, at time {end:.0}; others go on."))
}

fn mean<'a>(
    method: &str,
    repetitions: impl Iterator<Item = &'a Curve>,
    (quantity, against): (Quantity, Against),
    manner: &Manner<'_>,
) -> Series {
    let (from, to) = (manner.window.0.unwrap_or(f64::NEG_INFINITY), manner.window.1.unwrap_or(f64::INFINITY));
    // What was sent by an iteration may differ between repetitions (losses), so x is a mean too.
    let mut at: BTreeMap<u64, (Vec<f64>, Vec<f64>)> = BTreeMap::new();
    for curve in repetitions {
        let place = (curve.topology.clone(), curve.method.clone(), curve.repetition);
        let pace = manner.pace.get(&place).filter(|_| against == Against::Seconds);
        for point in curve.points.iter() {
            let x = against.of(point).or_else(|| Some(pace? * point.iteration as f64));
            if let Some((x, y)) = x.zip(quantity.of(point)).filter(|(_, y)| y.is_finite()) {
                let (xs, ys) = at.entry(point.iteration).or_default();
                xs.push(x);
                ys.push(y);
            }
        }
    }
    // Divided first: a sum of huge numbers may overflow where their mean does not.
    let mean = |values: &[f64]| values.iter().map(|value| value / values.len() as f64).sum::<f64>();
    let mut series = Series::new(method, manner.palette.style(method), vec![], vec![]);
    let band = at.values().any(|(_, ys)| manner.band.of(ys).is_some());
    for (x, ys) in at.values().map(|(xs, ys)| (mean(xs), ys)).filter(|(x, _)| (from..=to).contains(x)) {
        let y = mean(ys);
        series.x.push(x);
        series.y.push(y);
        if band {
            let (low, high) = manner.band.of(ys).unwrap_or((y, y));
            series.low.push(low);
            series.high.push(high);
        }
    }
    series
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
#[path = "from_curves_tests.rs"]
mod tests;
