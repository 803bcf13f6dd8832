//! The table of results: where every method ended on every topology.

use oneway_experiment::results::curves::Curve;
use oneway_experiment::results::manifest::Manifest;
use oneway_experiment::results::repetitions::Repetitions;

use super::TableBlock;
use crate::draw::figure::quantity::Quantity;
use crate::number::{counted, mean_and_error};

/// What is shown of the last state, and how a column is headed.
const COLUMNS: [(Quantity, &str); 7] = [
    (Quantity::Loss, "F(x̄)"),
    (Quantity::Gap, "F(x̄) − F*"),
    (Quantity::Gradient, "‖∇F(x̄)‖²"),
    (Quantity::AgentsGradient, "(1/n) Σ ‖∇F(x_i)‖²"),
    (Quantity::Distance, "‖x̄ − x*‖²"),
    (Quantity::Consensus, "consensus error"),
    (Quantity::Accuracy, "test accuracy"),
];

/// A table for each topology with a line for each method: how its runs ended, and means over those that came
/// to their end, with standard errors. Columns without a number are left out.
pub(crate) fn final_values(name: &str, manifest: &Manifest, curves: &[Curve]) -> Vec<TableBlock> {
    let mut topologies: Vec<&str> = vec![];
    for entry in &manifest.entries {
        if !topologies.contains(&&*entry.topology) {
            topologies.push(&entry.topology);
        }
    }
    let table = |(place, topology): (usize, &&str)| {
        let about = caption(name, topology, manifest);
        // what holds for all of them is said once
        let caption = if place == 0 { about } else { format!("{topology}, likewise.") };
        TableBlock { caption, ..of_topology(topology, manifest, curves) }
    };
    topologies.iter().enumerate().map(table).collect()
}

fn of_topology(topology: &str, manifest: &Manifest, curves: &[Curve]) -> TableBlock {
    let mut rows = vec![];
    for entry in manifest.entries.iter().filter(|entry| entry.topology == topology) {
        let repetitions = Repetitions::of_record(entry, manifest, curves);
        let values = COLUMNS.map(|(quantity, _)| {
            let at_end = repetitions.at_end(|point| quantity.of(point));
            mean_and_error(&at_end.into_iter().map(|(_, value)| value).collect::<Vec<f64>>())
        });
        rows.push(([entry.method.clone(), repetitions.status()], values));
    }
    let is_filled = |column: &usize| rows.iter().any(|(_, values)| values[*column].is_some());
    let filled: Vec<usize> = (0..COLUMNS.len()).filter(is_filled).collect();
    let header = ["method", "runs"].into_iter().chain(filled.iter().map(|&column| COLUMNS[column].1));
    let row = |(ends, values): &([String; 2], [Option<String>; 7])| {
        let values = filled.iter().map(|&column| values[column].clone().unwrap_or_else(|| "–".to_owned()));
        ends.iter().cloned().chain(values).collect()
    };
    TableBlock {
        caption: String::new(),
        header: header.map(str::to_owned).collect(),
        rows: rows.iter().map(row).collect(),
        heat: false,
    }
}

/// What the numbers are, and what F* is.
fn caption(name: &str, topology: &str, manifest: &Manifest) -> String {
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
    let place = if name == topology { topology.to_owned() } else { format!("{name}, {topology}") };
    format!("{place}, the last state{means}.{optimum}")
}
