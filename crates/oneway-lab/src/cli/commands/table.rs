//! The table at the end of a run.

use oneway_experiment::plan::Entry;
use oneway_experiment::results::cells::CellStatus;
use oneway_experiment::results::cells::Ran;
use oneway_experiment::results::repetitions::{Repetitions, mean, standard_error};

use crate::draw::figure::axis::Scale;
use crate::draw::figure::sparkline::sparkline;
use crate::number::{counted, short, short_with_error};
use crate::terminal::{Cell, NOTHING, Screen, Style, Table, column};

/// Columns of a curve.
const CURVE: usize = 18;

/// One line for each method on each topology: means over the repetitions that completed, at the end; and
/// below it, which did not.
pub(crate) fn show(screen: &mut Screen, entries: &[Entry], ran: &[Ran<'_>]) {
    let all: Vec<(&Entry, Repetitions<'_>)> =
        entries.iter().map(|entry| (entry, Repetitions::of_entry(entry, ran))).collect();
    // where every run did all its rounds, the summary says so
    let odd = ran.iter().any(|ran| ran.result.end.status != CellStatus::Completed)
        || all.iter().any(|(_, repetitions)| repetitions.note().is_some());
    let several = entries.iter().any(|entry| entry.run.repetitions > 1);
    let loss = if several { "F(x̄) at the end, mean ± standard error" } else { "F(x̄) at the end" };
    let status = odd.then(|| column("status").prose());
    let columns = [column("method")].into_iter().chain(status).chain([
        column("loss").about(loss),
        column("‖∇F‖²").about("at x̄"),
        column("its curve").about("on a log scale").minor(),
        column("accuracy").about("on the test data").minor(),
        column("consensus").about("mean ‖x_i − x̄‖²").minor(),
        column("µs/round").minor(),
    ]);
    let mut table = Table::new(columns);
    let mut notes = String::new();
    for (entry, repetitions) in &all {
        let own = || ran.iter().filter(|ran| std::ptr::eq(ran.cell.entry, *entry)).map(|ran| &ran.result.end);
        let (rounds, seconds) = (own().map(|end| end.rounds), own().map(|end| end.seconds_stepping));
        let (rounds, seconds) = (rounds.sum::<u64>(), seconds.sum::<f64>());
        let at_end = |of: fn(&oneway::engine::metrics::Measurement) -> Option<f64>| {
            let values: Vec<f64> = repetitions.at_end(of).into_iter().map(|(_, value)| value).collect();
            let shown = mean(&values).map(|mean| short_with_error(mean, standard_error(&values)));
            Cell::from(shown.unwrap_or_else(|| NOTHING.to_owned()))
        };
        // where there is no mean at all the status says why
        let means = repetitions.mean_at_end(|m| Some(m.loss)).is_some();
        if let Some(note) = repetitions.note().filter(|_| means) {
            notes += &format!("\n  {} · {}: {note}", entry.topology_name, entry.method_name);
        }
        let style = if means { Style::Plain } else { Style::Bad };
        let status = odd.then(|| Cell::new(repetitions.status(), style));
        let time = (rounds > 0).then(|| short(1e6 * seconds / rounds as f64));
        table.group(&entry.topology_name);
        table.row([Cell::from(&*entry.method_name)].into_iter().chain(status).chain([
            at_end(|m| Some(m.loss)),
            at_end(|m| Some(m.grad_norm_sq)),
            sparkline(&mean_gradients(repetitions), CURVE, Scale::Log).into(),
            at_end(|m| m.test_accuracy),
            at_end(|m| Some(m.consensus_error)),
            time.unwrap_or_else(|| NOTHING.to_owned()).into(),
        ]));
    }
    screen.table(&table);
    if !notes.is_empty() {
        screen.text(&format!("means are over the repetitions that completed:{notes}"));
    }
}

/// How the runs ended, in a line: `10 runs: 9 completed, 1 diverged`.
pub(crate) fn ended(ran: &[Ran<'_>], planned: usize) -> String {
    let count = |status: CellStatus| ran.iter().filter(|ran| ran.result.end.status == status).count();
    let kinds = [
        (count(CellStatus::Completed), "completed"),
        (count(CellStatus::Diverged), "diverged"),
        (count(CellStatus::Starved), "starved"),
        (count(CellStatus::Failed), "failed"),
        (count(CellStatus::Stopped), "stopped"),
        (planned.saturating_sub(ran.len()), "not run"),
    ];
    let some = kinds.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
    format!("{}: {}", counted(planned as u64, "run"), some.collect::<Vec<_>>().join(", "))
}

/// What helps against runs that diverged.
pub(crate) fn diverged(ran: &[Ran<'_>]) -> Option<&'static str> {
    let any = ran.iter().any(|ran| ran.result.end.status == CellStatus::Diverged);
    any.then_some(
        "diverged: the step is too large for this problem on this network; try a smaller one, or let `oneway tune` find it",
    )
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
