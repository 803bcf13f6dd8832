//! `oneway compare`: two results folders side by side.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use comfy_table::{Table, presets};
use oneway::metrics::Measurement;

use crate::args::CompareArgs;
use crate::results::curves::{self, Curve};
use crate::results::table::{fixed, scientific};

/// Runs the command.
pub(crate) fn compare(args: &CompareArgs) -> Result<ExitCode> {
    let [left, right] = [&args.left, &args.right].map(|dir| read(dir));
    let (left, right) = (left?, right?);
    let mut names: Vec<(&str, &str)> = vec![];
    for curve in left.iter().chain(&right) {
        let name = (&*curve.topology, &*curve.method);
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let mut table = Table::new();
    table.load_style(presets::UTF8_BORDERS_ONLY);
    table.set_header([
        "topology",
        "method",
        "loss: first",
        "second",
        "‖∇F‖²: first",
        "second",
        "ratio",
        "curves",
    ]);
    for (topology, method) in names {
        let of = |curves: &[Curve]| -> Vec<Curve> {
            curves.iter().filter(|c| (&*c.topology, &*c.method) == (topology, method)).cloned().collect()
        };
        let (a, b) = (of(&left), of(&right));
        let gradients = [&a, &b].map(|curves| mean_at_end(curves, |m| m.grad_norm_sq));
        let ratio = gradients[0].zip(gradients[1]).map(|(a, b)| b / a);
        let verdict = match (a.is_empty(), b.is_empty()) {
            (true, _) => "second only",
            (_, true) => "first only",
            _ if curves::to_csv(&a) == curves::to_csv(&b) => "same bits",
            _ => "differ",
        };
        table.add_row([
            topology.to_owned(),
            method.to_owned(),
            fixed(mean_at_end(&a, |m| m.loss), 4),
            fixed(mean_at_end(&b, |m| m.loss), 4),
            scientific(gradients[0]),
            scientific(gradients[1]),
            fixed(ratio, 3),
            verdict.to_owned(),
        ]);
    }
    writeln!(std::io::stdout(), "{table}")?;
    Ok(ExitCode::SUCCESS)
}

fn read(dir: &Path) -> Result<Vec<Curve>> {
    if !dir.is_dir() {
        bail!("{} is not a results folder", dir.display());
    }
    curves::read(&dir.join(curves::FILE)).context("a results folder has a curves.csv")
}

/// The mean over repetitions at the last recorded iteration.
fn mean_at_end(curves: &[Curve], of: impl Fn(&Measurement) -> f64) -> Option<f64> {
    let values: Vec<f64> = curves.iter().filter_map(|curve| curve.points.last()).map(of).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}
