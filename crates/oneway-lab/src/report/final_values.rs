//! The table of results: where every method ended on every topology.

use super::TableBlock;
use super::number::{counted, mean_and_error};
use crate::figure::quantity::Quantity;
use crate::results::curves::Curve;
use crate::results::manifest::{EntryRecord, Manifest};
use crate::results::repetitions::Repetitions;

/// What is shown of the last state, and how a column is headed.
const COLUMNS: [(Quantity, &str); 6] = [
    (Quantity::Loss, "F(x̄)"),
    (Quantity::Gap, "F(x̄) − F*"),
    (Quantity::Gradient, "‖∇F(x̄)‖²"),
    (Quantity::AgentsGradient, "(1/n) Σ ‖∇F(x_i)‖²"),
    (Quantity::Consensus, "consensus error"),
    (Quantity::Accuracy, "test accuracy"),
];

/// One line for each method on each topology: how its runs ended, and means over those that came to their end, with standard
/// errors. Columns without a number are left out, and so is that of the topology if there is but one.
pub(crate) fn final_values(name: &str, manifest: &Manifest, curves: &[Curve]) -> TableBlock {
    let mut rows = vec![];
    for entry in &manifest.entries {
        let repetitions = Repetitions::of_record(entry, manifest, curves);
        let values = COLUMNS.map(|(quantity, _)| {
            let at_end = repetitions.at_end(|point| quantity.of(point));
            mean_and_error(&at_end.into_iter().map(|(_, value)| value).collect::<Vec<f64>>())
        });
        rows.push((entry, repetitions.status(), values));
    }
    let several = manifest.entries.iter().any(|entry| entry.topology != manifest.entries[0].topology);
    let filled: Vec<usize> = (0..COLUMNS.len())
        .filter(|&column| rows.iter().any(|(.., values)| values[column].is_some()))
        .collect();
    let row = |(entry, status, values): (&EntryRecord, String, [Option<String>; 6])| {
        let topology = several.then(|| entry.topology.clone());
        let values = filled.iter().map(|&column| values[column].clone().unwrap_or_else(|| "–".to_owned()));
        let ends = [entry.method.clone()].into_iter().chain(topology);
        ends.chain(values).chain([status]).collect()
    };
    let header = ["method"].into_iter().chain(several.then_some("topology"));
    let header = header.chain(filled.iter().map(|&column| COLUMNS[column].1)).chain(["runs"]);
    TableBlock {
        caption: caption(name, manifest),
        header: header.map(str::to_owned).collect(),
        rows: rows.into_iter().map(row).collect(),
        heat: false,
    }
}

/// What the numbers are, and what F* is.
fn caption(name: &str, manifest: &Manifest) -> String {
    let repetitions = manifest.cells.iter().map(|record| record.repetition + 1).max().unwrap_or(0);
    let means = match repetitions {
        0 | 1 => String::new(),
        many => format!(": means ± standard errors over {}", counted(many, "repetition")),
    };
    let mut known: Vec<&str> = vec![];
    for optimum in manifest.entries.iter().filter_map(|entry| entry.optimum.as_ref()) {
        if !known.contains(&&*optimum.is) {
            known.push(&optimum.is);
        }
    }
    let optimum = if known.is_empty() { String::new() } else { format!(" F* is {}.", known.join(", or ")) };
    format!("{name}, the last state{means}.{optimum}")
}
