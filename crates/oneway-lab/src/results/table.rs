//! The table at the end of a run.

use comfy_table::{Table, presets};
use oneway::metrics::Measurement;

use super::cells::CellStatus;
use crate::experiment::plan::Entry;
use crate::figure::axis::Scale;
use crate::figure::sparkline::sparkline;
use crate::runner::Ran;

/// One line for each method on each topology: means over its repetitions at the last recorded iteration.
pub(crate) fn of(entries: &[Entry], ran: &[Ran<'_>]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header([
        "topology",
        "method",
        "status",
        "loss",
        "‖∇F‖²",
        "its curve",
        "consensus",
        "accuracy",
        "µs/round",
    ]);
    for entry in entries {
        let cells: Vec<&Ran<'_>> = ran.iter().filter(|ran| std::ptr::eq(ran.cell.entry, entry)).collect();
        let last: Vec<&Measurement> = cells.iter().filter_map(|ran| ran.result.points.last()).collect();
        let mean = |of: &dyn Fn(&Measurement) -> Option<f64>| {
            let values: Vec<f64> = last.iter().filter_map(|m| of(m)).collect();
            (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
        };
        let rounds: u64 = cells.iter().map(|ran| ran.result.end.rounds).sum();
        let seconds: f64 = cells.iter().map(|ran| ran.result.end.seconds_stepping).sum();
        table.add_row([
            entry.topology_name.clone(),
            entry.method_name.clone(),
            statuses(&cells),
            fixed(mean(&|m| Some(m.loss)), 4),
            scientific(mean(&|m| Some(m.grad_norm_sq))),
            sparkline(&mean_gradients(&cells), 18, Scale::Log),
            scientific(mean(&|m| Some(m.consensus_error))),
            fixed(mean(&|m| m.test_accuracy), 4),
            fixed((rounds > 0).then(|| 1e6 * seconds / rounds as f64), 1),
        ]);
    }
    table
}

/// What must be said of methods whose push-sum weights ran dry.
pub(crate) fn starved(entries: &[Entry], ran: &[Ran<'_>]) -> Vec<String> {
    let line = |entry: &Entry| {
        let cells = || ran.iter().filter(|ran| std::ptr::eq(ran.cell.entry, entry));
        let starved = cells().filter(|ran| ran.result.end.status == CellStatus::Starved).count();
        (starved > 0).then(|| {
            format!(
                "{} on {}: in {starved} of {} runs an agent that heard too little was left with less than a thousandth of its \
                 push-sum weight, and its steps were as much too long: look at the consensus error before you trust it",
                entry.method_name,
                entry.topology_name,
                cells().count()
            )
        })
    };
    entries.iter().filter_map(line).collect()
}

/// The mean ‖∇F(x̄)‖² over repetitions at each recorded state that all of them reached.
fn mean_gradients(cells: &[&Ran<'_>]) -> Vec<f64> {
    let shortest = cells.iter().map(|ran| ran.result.points.len()).min().unwrap_or(0);
    let mean = |at: usize| {
        cells.iter().map(|ran| ran.result.points[at].grad_norm_sq).sum::<f64>() / cells.len() as f64
    };
    (0..shortest).map(mean).collect()
}

/// So many digits after the point; what would be too long for that, or is not there, otherwise.
pub(crate) fn fixed(value: Option<f64>, digits: usize) -> String {
    match value {
        Some(large) if large.abs() >= 1e6 => scientific(value),
        Some(value) => format!("{value:.digits$}"),
        None => "–".to_owned(),
    }
}

/// Three digits and an exponent.
pub(crate) fn scientific(value: Option<f64>) -> String {
    value.map_or("–".to_owned(), |value| format!("{value:.2e}"))
}

/// "5 completed", or what else became of them.
fn statuses(cells: &[&Ran<'_>]) -> String {
    let mut counts: Vec<(String, usize)> = vec![];
    for ran in cells {
        let rounds = ran.result.end.rounds;
        let label = match ran.result.end.status {
            CellStatus::Completed => "completed".to_owned(),
            CellStatus::Diverged => format!("diverged by {rounds}"),
            CellStatus::Starved => "starved".to_owned(),
            CellStatus::Stopped => format!("stopped at {rounds}"),
        };
        match counts.iter_mut().find(|(known, _)| *known == label) {
            Some((_, count)) => *count += 1,
            None => counts.push((label, 1)),
        }
    }
    let parts: Vec<String> = counts.iter().map(|(label, count)| format!("{count} {label}")).collect();
    if parts.is_empty() { "not run".to_owned() } else { parts.join(", ") }
}
