//! `oneway data`: export an embedded dataset, describe any.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oneway::data::libsvm::{self, Labels};
use oneway::data::{Dataset, Split};
use oneway_experiment::problem::dataset::{DatasetSpec, Named};

use crate::cli::args::{DataArgs, DataCommand, Embedded, SplitArg};

/// Runs the command.
pub(crate) fn data(args: &DataArgs) -> Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match &args.command {
        DataCommand::Export { dataset, split } => {
            let named = match dataset {
                Embedded::A9a => Named::A9a,
                Embedded::Digits => Named::Digits,
            };
            let split = match split {
                SplitArg::Train => Split::Train,
                SplitArg::Test => Split::Test,
            };
            libsvm::write(&named.load(split)?, &mut out)?;
        }
        DataCommand::Info { dataset, features } => {
            match DatasetSpec::new(dataset, Path::new(""), *features, Split::Train)? {
                DatasetSpec::Named(named, _) => {
                    writeln!(out, "{}: {}", named.name(), named.about())?;
                    describe(&mut out, "train", &named.load(Split::Train)?)?;
                    describe(&mut out, "test", &named.load(Split::Test)?)?;
                }
                file => {
                    // labels that are no signs are described as they are
                    let data = file.load(Labels::Signs).or_else(|_| file.load(Labels::Numbers))?;
                    writeln!(out, "{dataset}")?;
                    describe(&mut out, "rows", &data)?;
                }
            }
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

fn describe(out: &mut impl Write, part: &str, data: &Dataset) -> std::io::Result<()> {
    let values = if data.rows.is_binary() { "all 1" } else { "real" };
    writeln!(
        out,
        "{part:>5}: {} rows ({}), {} features, {} non-zeros ({values})",
        data.len(),
        labels(data),
        data.features,
        data.rows.entries(),
    )
}

/// What labels there are: how many of each, or from where to where.
fn labels(data: &Dataset) -> String {
    const FEW: usize = 30;
    let classes = data.classes();
    let count = |class: f64| data.labels.iter().filter(|label| **label == class).count();
    match &classes[..] {
        [-1.0] | [1.0] | [-1.0, 1.0] => {
            format!("{} labelled +1, {} labelled -1", count(1.0), count(-1.0))
        }
        [lowest, .., highest] if classes.len() > FEW => {
            format!("{} different labels from {lowest} to {highest}", classes.len())
        }
        few => {
            let counts: Vec<String> = few.iter().map(|&class| format!("{class}: {}", count(class))).collect();
            format!("{} class{}: {}", few.len(), if few.len() == 1 { "" } else { "es" }, counts.join(", "))
        }
    }
}
