//! Limits as a table, as CSV, and as figures.

use oneway::graph::Subgraph;
use oneway::theory::stability::Limit;

use super::{Row, Sweep};
use crate::draw::figure::axis::{Axis, Scale};
use crate::draw::figure::chart::{Chart, Series};
use crate::draw::figure::gallery::{Art, Picture};
use crate::draw::figure::heat::{self, HeatMap};
use crate::draw::figure::palette::Palette;
use crate::draw::figure::render::Theme;
use crate::number::{counted, short};
use crate::terminal::{NOTHING, Table, column};

/// More columns do not fit a page.
const MOST_COLUMNS: usize = 14;

impl Row {
    fn c_π(&self) -> Option<f64> {
        self.found.as_ref().ok().map(|limits| limits.c_π)
    }

    fn push_pull(&self) -> Option<Limit> {
        self.found.as_ref().ok().map(|limits| limits.push_pull)
    }

    /// With the momentum at this place.
    fn smtpp(&self, at: usize) -> Option<Limit> {
        self.found.as_ref().ok().and_then(|limits| limits.smtpp.get(at).copied())
    }

    /// SMTPP's limit over Push-Pull's.
    fn gain(&self, at: usize) -> Option<f64> {
        self.smtpp(at).zip(self.push_pull()).map(|(smtpp, push_pull)| smtpp.effective / push_pull.effective)
    }
}

/// `KEY,graph,method,momentum,c_pi,limit_effective,limit_raw`, numbers in shortest round-trip form, cells
/// without one empty.
pub(crate) fn csv(sweep: &Sweep, rows: &[Row]) -> String {
    let mut text = format!("{},graph,method,momentum,c_pi,limit_effective,limit_raw\n", sweep.axis.key);
    for row in rows {
        let mut line = |method: &str, momentum: &str, limit: Option<Limit>| {
            let graph = row.graph.name();
            let [c_π, effective, raw] =
                [row.c_π(), limit.map(|limit| limit.effective), limit.map(|limit| limit.raw)]
                    .map(|number| number.map_or(String::new(), |number| number.to_string()));
            text += &format!("{},{graph},{method},{momentum},{c_π},{effective},{raw}\n", row.value);
        };
        line("push-pull", "", row.push_pull());
        for (at, λ) in sweep.momenta.iter().enumerate() {
            line("smtpp", &λ.to_string(), row.smtpp(at));
        }
    }
    text
}

/// A line for each value and graph.
pub(crate) fn table(sweep: &Sweep, rows: &[Row]) -> Table {
    let fixed = [
        column(sweep.axis.key.clone()),
        column("c_π").about("what turns a raw step η into an effective one").minor(),
        column("Push-Pull").about("largest stable η·c_π·h, h the curvature"),
    ];
    let momenta = sweep.momenta.iter().map(|λ| column(format!("SMTPP, λ = {λ}")));
    let mut table = Table::new(fixed.into_iter().chain(momenta));
    // by graph, so that a column is read from value to value
    let by_graph = sweep.graphs.iter().flat_map(|graph| rows.iter().filter(move |row| row.graph == *graph));
    for row in by_graph {
        let smtpp = (0..sweep.momenta.len()).map(|at| row.smtpp(at));
        let limits = std::iter::once(row.push_pull()).chain(smtpp).map(|limit| limit.map(|l| l.effective));
        let numbers = std::iter::once(row.c_π()).chain(limits);
        let numbers = numbers.map(|found| found.map_or(NOTHING.to_owned(), short));
        table.group(&format!("links used: {}", row.graph.name()));
        table.row([row.value.to_string()].into_iter().chain(numbers));
    }
    table
}

/// How it ended, in a line.
pub(crate) fn summary(sweep: &Sweep, rows: &[Row]) -> String {
    let gains: Vec<f64> =
        rows.iter().flat_map(|row| (0..sweep.momenta.len()).filter_map(|at| row.gain(at))).collect();
    let more = gains.iter().filter(|gain| **gain > 1.0).count();
    let most = gains.iter().copied().fold(f64::NAN, f64::max);
    match gains.len() {
        0 => format!("{} on {}: limits of Push-Pull alone", counted(rows.len() as u64, "row"), sweep.family),
        all => format!(
            "SMTPP allows a larger step than Push-Pull in {more} of {all} cases on {}, {} times as large at most",
            sweep.family,
            short(most)
        ),
    }
}

/// A line for each value that has no limits, with the reason.
pub(crate) fn gaps(sweep: &Sweep, rows: &[Row]) -> String {
    let line = |row: &Row| {
        let reason = row.found.as_ref().err()?;
        Some(format!("no limits with {} = {}: {reason}\n", sweep.axis.key, row.value))
    };
    let mut lines: Vec<String> = rows.iter().filter_map(line).collect();
    lines.dedup(); // the graphs of a value share their reason
    lines.concat()
}

/// The limits over the axis, and for each graph a map of what momentum gains, all in one scale.
pub(crate) fn pictures(sweep: &Sweep, rows: &[Row]) -> Vec<Picture> {
    let ratios = rows.iter().flat_map(|row| (0..sweep.momenta.len()).filter_map(|at| row.gain(at)));
    let scale = heat::Scale::new(ratios);
    let maps = sweep.graphs.iter().map(|&graph| gain(sweep, rows, graph, scale));
    std::iter::once(limits(sweep, rows)).chain(maps).collect()
}

/// λ = 0.1 if it is there; that in the middle otherwise.
fn shown(sweep: &Sweep) -> usize {
    let usual = sweep.momenta.iter().position(|&λ| λ == 0.1);
    usual.unwrap_or(sweep.momenta.len() / 2)
}

fn limits(sweep: &Sweep, rows: &[Row]) -> Picture {
    let at = shown(sweep);
    let λ = sweep.momenta.get(at).copied();
    let variant = |name: &str, graph: Subgraph| match graph {
        Subgraph::Full => name.to_owned(),
        other => format!("{name} ({})", other.name().replace('-', " ")),
    };
    let mut lines: Vec<(String, Subgraph, Option<usize>)> = vec![];
    for &graph in &sweep.graphs {
        lines.extend(λ.map(|_| (variant("SMTPP", graph), graph, Some(at))));
        lines.push((variant("Push-Pull", graph), graph, None));
    }
    let palette = Palette::new(lines.iter().map(|(name, ..)| &**name));
    let series = lines.iter().map(|(name, graph, momentum)| {
        let here = rows.iter().filter(|row| row.graph == *graph);
        let limit = |row: &Row| momentum.map_or(row.push_pull(), |at| row.smtpp(at));
        // what is not a number leaves a gap in the line
        let effective = |row: &Row| limit(row).map_or(f64::NAN, |limit| limit.effective);
        let (x, y) = here.map(|row| (row.value, effective(row))).unzip();
        Series { name: name.clone(), style: palette.style(name), x, y, low: vec![], high: vec![] }
    });
    let values = &sweep.axis.values;
    let wide = values.first().zip(values.last()).is_some_and(|(low, high)| *low > 0.0 && high / low >= 20.0);
    let with = λ.map_or(String::new(), |λ| format!(", λ = {λ}"));
    let chart = Chart {
        title: format!("Largest stable step on {}{with}", sweep.family),
        x: Axis {
            label: sweep.axis.key.clone(),
            scale: if wide { Scale::Log } else { Scale::Linear },
            limit: None,
        },
        y: Axis { label: "largest stable η·c_π·h".to_owned(), scale: Scale::Log, limit: None },
        series: series.collect(),
        markers: vec![],
        notes: vec![],
    };
    Picture {
        file: "limits".to_owned(),
        topology: sweep.family.clone(),
        caption: "Largest stable step".to_owned(),
        art: Art::Chart(chart),
    }
}

fn gain(sweep: &Sweep, rows: &[Row], graph: Subgraph, scale: heat::Scale) -> Picture {
    let here: Vec<&Row> = rows.iter().filter(|row| row.graph == graph).collect();
    // evenly chosen, both ends among them
    let columns = here.len().min(MOST_COLUMNS);
    let chosen: Vec<&Row> =
        (0..columns).map(|c| here[c * (here.len() - 1) / columns.saturating_sub(1).max(1)]).collect();
    let ratios = |at: usize| chosen.iter().map(|row| row.gain(at)).collect::<Vec<_>>();
    let map = HeatMap {
        title: format!(
            "SMTPP's limit over Push-Pull's: {}, {}",
            sweep.family,
            graph.name().replace('-', " ")
        ),
        x_label: sweep.axis.key.clone(),
        columns: chosen.iter().map(|row| row.value.to_string()).collect(),
        y_label: "λ".to_owned(),
        rows: sweep.momenta.iter().map(f64::to_string).collect(),
        values: (0..sweep.momenta.len()).map(ratios).collect(),
        scale,
    };
    let [light, css] = [Theme::Light, Theme::Css].map(|theme| heat::svg(&map, theme));
    Picture {
        file: format!("gain-{}", graph.name()),
        topology: sweep.family.clone(),
        caption: map.title,
        art: Art::Drawing { light, css },
    }
}
