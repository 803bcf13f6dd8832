//! `oneway data`: export an embedded dataset, describe any.

use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use oneway::data::{Dataset, a9a, libsvm};

use crate::args::{DataArgs, DataCommand, Embedded, SplitArg};
use crate::experiment::problem::DatasetSpec;

/// Runs the command.
pub(crate) fn data(args: &DataArgs) -> Result<ExitCode> {
    let mut out = BufWriter::new(std::io::stdout().lock());
    match &args.command {
        DataCommand::Export { dataset: Embedded::A9a, split } => {
            let split = match split {
                SplitArg::Train => a9a::Split::Train,
                SplitArg::Test => a9a::Split::Test,
            };
            libsvm::write(&a9a::a9a(split), &mut out)?;
        }
        DataCommand::Info { dataset, features } => {
            match DatasetSpec::new(dataset, Path::new(""), *features, a9a::Split::Train)? {
                DatasetSpec::A9a(_) => {
                    writeln!(out, "a9a: UCI Adult (Becker & Kohavi 1996, CC BY 4.0), binarised")?;
                    describe(&mut out, "train", &a9a::a9a(a9a::Split::Train))?;
                    describe(&mut out, "test", &a9a::a9a(a9a::Split::Test))?;
                }
                file => {
                    let data = file.load()?;
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
    let positive = data.labels.iter().filter(|&&label| label > 0.0).count();
    let values = if data.rows.is_binary() { "all 1" } else { "real" };
    writeln!(
        out,
        "{part:>5}: {} rows ({positive} labelled +1, {} labelled -1), {} features, {} non-zeros ({values})",
        data.len(),
        data.len() - positive,
        data.features,
        data.rows.entries(),
    )
}
