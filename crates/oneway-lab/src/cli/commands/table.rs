//! The table at the end of a run.

use comfy_table::{Table, presets};
use oneway_experiment::plan::Entry;
use oneway_experiment::results::cells::CellStatus;
use oneway_experiment::results::cells::Ran;
use oneway_experiment::results::repetitions::{Repetitions, mean};

use crate::draw::figure::axis::Scale;
use crate::draw::figure::sparkline::sparkline;
use crate::number::{fixed, scientific};

/// One line for each method on each topology: means over the repetitions that completed, at the end; and
/// below it, which did not.
pub(crate) fn of(entries: &[Entry], ran: &[Ran<'_>]) -> String {
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
    let mut notes = String::new();
    for entry in entries {
        let own = || ran.iter().filter(|ran| std::ptr::eq(ran.cell.entry, entry)).map(|ran| &ran.result.end);
        let (rounds, seconds) = (own().map(|end| end.rounds), own().map(|end| end.seconds_stepping));
        let (rounds, seconds) = (rounds.sum::<u64>(), seconds.sum::<f64>());
        let repetitions = Repetitions::of_entry(entry, ran);
        let loss = repetitions.mean_at_end(|m| Some(m.loss));
        // where there is no mean at all the status says why
        if let Some(note) = repetitions.note().filter(|_| loss.is_some()) {
            notes += &format!("\n  {} · {}: {note}", entry.topology_name, entry.method_name);
        }
        table.add_row([
            entry.topology_name.clone(),
            entry.method_name.clone(),
            repetitions.status(),
            fixed(loss, 4),
            scientific(repetitions.mean_at_end(|m| Some(m.grad_norm_sq))),
            sparkline(&mean_gradients(&repetitions), 18, Scale::Log),
            scientific(repetitions.mean_at_end(|m| Some(m.consensus_error))),
            fixed(repetitions.mean_at_end(|m| m.test_accuracy), 4),
            fixed((rounds > 0).then(|| 1e6 * seconds / rounds as f64), 1),
        ]);
    }
    match notes.is_empty() {
        true => table.to_string(),
        false => format!("{table}\nmeans are over the repetitions that completed:{notes}"),
    }
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

/// The mean ‖∇F(x̄)‖² of the repetitions that are drawn, at each recorded state.
fn mean_gradients(repetitions: &Repetitions<'_>) -> Vec<f64> {
    let drawn = repetitions.drawn();
    let shortest = drawn.iter().map(|(_, points)| points.len()).min().unwrap_or(0);
    let at = |at: usize| drawn.iter().map(|(_, points)| points[at].grad_norm_sq).collect::<Vec<f64>>();
    (0..shortest).filter_map(|state| mean(&at(state))).collect()
}
