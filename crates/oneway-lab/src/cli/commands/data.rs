//! `oneway data`: export an embedded dataset, describe any.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oneway::data::libsvm::{self, Labels};
use oneway::data::{Dataset, Split};
use oneway_experiment::problem::dataset::{DatasetSpec, Named};

use crate::cli::args::{DataArgs, DataCommand, Embedded, SplitArg};
use crate::terminal::Screen;

/// Runs the command.
pub(crate) fn data(args: &DataArgs) -> Result<ExitCode> {
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
            let mut out = BufWriter::new(std::io::stdout().lock());
            libsvm::write(&named.load(split)?, &mut out)?;
            out.flush()?;
        }
        DataCommand::Info { dataset, features } => {
            let mut screen = Screen::stdout();
            match DatasetSpec::new(dataset, Path::new(""), *features, Split::Train)? {
                DatasetSpec::Named(named, _) => {
                    screen.text(&format!("{}: {}", named.name(), named.about()));
                    screen.text(&described("train", &named.load(Split::Train)?));
                    screen.text(&described("test", &named.load(Split::Test)?));
                }
                file => {
                    // labels that are no signs are described as they are
                    let data = file.load(Labels::Signs).or_else(|_| file.load(Labels::Numbers))?;
                    screen.text(dataset);
                    screen.text(&described("rows", &data));
                }
            }
            screen.show()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn described(part: &str, data: &Dataset) -> String {
    let values = if data.rows.is_binary() { "all 1" } else { "real" };
    format!(
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
