//! The sensitivity study: how SMTPP stands to CSGDM under every reading of what the paper leaves open.

use oneway_experiment::results::curves::Curve;

use crate::draw::figure::from_curves;
use crate::terminal::{Table, column};

/// The ends of the plateaus of the step size.
const PLATEAUS: [u64; 3] = [300, 600, 900];
/// What is compared, and with what.
const METHODS: [&str; 2] = ["SMTPP", "SMTPP (trees)"];
const BASELINE: &str = "CSGDM";

/// A table of ratios: one row for each topology (with its partition), columns for method × plateau.
#[derive(Debug, PartialEq)]
pub(crate) struct Sensitivity {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<(String, Vec<Option<f64>>)>,
}

impl Sensitivity {
    /// Mean ‖∇F(x̄)‖² of each method at the end of each plateau, over that of CSGDM on the same data: 1 is as
    /// good as the centralised bound.
    pub(crate) fn new(curves: &[Curve]) -> Self {
        let topologies = from_curves::topologies(curves);
        let columns: Vec<(&str, u64)> =
            METHODS.iter().flat_map(|&method| PLATEAUS.map(|end| (method, end))).collect();
        let row = |&topology: &&str| {
            let mean = |method: &str, end: u64| mean_gradient(curves, topology, method, end);
            let ratio = |&(method, end): &(&str, u64)| Some(mean(method, end)? / mean(BASELINE, end)?);
            (plain_name(topology), columns.iter().map(ratio).collect())
        };
        Self {
            header: columns.iter().map(|(method, end)| format!("{method} at {end}")).collect(),
            rows: topologies.iter().map(row).collect(),
        }
    }

    /// For the terminal.
    pub(crate) fn table(&self) -> Table {
        let header = std::iter::once("‖∇F‖² over CSGDM's".to_owned()).chain(self.header.iter().cloned());
        let mut table = Table::new(header.map(column));
        for (name, ratios) in self.rows_as_text() {
            table.row(std::iter::once(name).chain(ratios));
        }
        table
    }

    /// Rows with ratios to three digits.
    pub(crate) fn rows_as_text(&self) -> impl Iterator<Item = (String, Vec<String>)> + '_ {
        let text = |ratio: &Option<f64>| ratio.map_or("–".to_owned(), |ratio| format!("{ratio:.3}"));
        self.rows.iter().map(move |(name, ratios)| (name.clone(), ratios.iter().map(text).collect()))
    }
}

/// `flower of 4 [problem.partition=by-label]` reads better as `flower of 4, by-label`.
fn plain_name(topology: &str) -> String {
    topology.replace(" [problem.partition=", ", ").replace(']', "")
}

fn mean_gradient(curves: &[Curve], topology: &str, method: &str, iteration: u64) -> Option<f64> {
    let own = curves.iter().filter(|curve| curve.topology == topology && curve.method == method);
    let at = |curve: &Curve| curve.points.iter().find(|m| m.iteration == iteration).map(|m| m.grad_norm_sq);
    // one that ended before has no place in a mean with the others
    let values = own.map(at).collect::<Option<Vec<f64>>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use oneway_experiment::results::curves::from_csv;

    #[test]
    fn ratios_are_of_means_at_the_ends_of_plateaus() {
        let line = |method: &str, repetition: u32, iteration: u32, gradient: f64| {
            format!(
                "ring [problem.partition=even],{method},{repetition},{iteration},0.4,{gradient:?},0.0,,,,,,,,,\n"
            )
        };
        let mut csv =
            "topology,method,repetition,iteration,loss,grad_norm_sq,consensus_error,tracking_error,\
momentum_error,conservation_error,test_accuracy,bytes_sent,time,loss_gap,agents_grad_norm_sq,distance_sq\n"
                .to_owned();
        for repetition in 0..2 {
            csv += &line("SMTPP", repetition, 300, 3.0 + f64::from(repetition));
        }
        csv += &line("CSGDM", 0, 300, 7.0);
        let table = Sensitivity::new(&from_csv(&csv).unwrap());
        assert_eq!(table.rows[0].0, "ring, even");
        assert_eq!(table.rows[0].1, [Some(0.5), None, None, None, None, None]);
        assert_eq!(table.header[3], "SMTPP (trees) at 300");
    }
}
