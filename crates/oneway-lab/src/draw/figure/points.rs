//! The points of a chart as CSV: exactly what is drawn.

use std::fmt::Write as _;

use super::chart::Chart;

/// `series,x,mean,lower,upper`, a line for each point that is drawn; no lower and upper where there is no
/// band. Numbers in shortest round-trip form.
pub(super) fn csv(chart: &Chart) -> String {
    let mut csv = "series,x,mean,lower,upper\n".to_owned();
    for series in &chart.series {
        let band: Vec<(f64, f64, f64)> = series.band().collect();
        for (at, (x, y)) in series.points().enumerate().filter(|&(_, point)| chart.shows(point)) {
            let band = band.get(at).map_or(",".to_owned(), |(_, low, high)| format!("{low:?},{high:?}"));
            let _ = writeln!(csv, "{},{x:?},{y:?},{band}", series.name);
        }
    }
    csv
}
