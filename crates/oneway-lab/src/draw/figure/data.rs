//! A chart's numbers for the page that shows it: what is under the pointer.

use serde_json::{Value, json};

use super::axis::{Axis, Range, Scale};
use super::chart::{Chart, Series};
use super::layout::Layout;

/// More points than a hand can point at.
const MOST_POINTS: usize = 500;

/// `{id, x: {label, scale, min, max, px0, px1}, y: …, series: [{name, color_light, color_dark, dash, x, y,
/// low, high}]}`.
///
/// `px0` and `px1` are where `min` and `max` stand in the SVG's `viewBox`. A number that cannot be shown is
/// `null`; `low` and `high` are empty if there is no band.
pub(crate) fn chart_data(chart: &Chart) -> Value {
    let layout = Layout::new(chart);
    json!({
        "id": chart.id(),
        "x": axis(&chart.x, &layout.x),
        "y": axis(&chart.y, &layout.y),
        "series": chart.series.iter().map(series).collect::<Vec<_>>(),
    })
}

fn axis(axis: &Axis, range: &Range) -> Value {
    json!({
        "label": axis.label,
        "scale": match axis.scale { Scale::Linear => "linear", Scale::Log => "log" },
        // All digits: rounded ends would shift every point on the page.
        "min": range.min,
        "max": range.max,
        "px0": hundredths(range.start),
        "px1": hundredths(range.end),
    })
}

fn series(series: &Series) -> Value {
    let points = series.points().count();
    let every = points.div_ceil(MOST_POINTS).max(1);
    // The last point is what readers look for: count from the end.
    let kept = |i: &usize| (points - 1 - i).is_multiple_of(every);
    let pick = |values: &[f64]| -> Vec<Value> {
        let few = values.len() < points;
        (0..if few { 0 } else { points }).filter(kept).map(|i| rounded(values[i])).collect()
    };
    json!({
        "name": series.name,
        "color_light": series.style.color.light,
        "color_dark": series.style.color.dark,
        // points apart have a swatch of dots
        "dash": series.style.mark.map_or(series.style.dash.unwrap_or(""), |_| "3 5"),
        "x": pick(&series.x),
        "y": pick(&series.y),
        "low": pick(&series.low),
        "high": pick(&series.high),
    })
}

/// Five significant digits: what a reader can see.
fn rounded(value: f64) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    let short: f64 = format!("{value:.4e}").parse().unwrap_or(value);
    match short as i64 {
        whole if whole as f64 == short && whole.abs() < 1_000_000_000_000 => json!(whole), // 10, not 10.0
        _ => json!(short),
    }
}

fn hundredths(value: f64) -> f64 {
    (100.0 * value).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let shown =
            [0.6931471805599156, 900.0, 123456.7, 1e-300, -0.0, f64::NAN].map(|v| rounded(v).to_string());
        assert_eq!(shown, ["0.69315", "900", "123460", "1e-300", "0", "null"]);
    }
}
