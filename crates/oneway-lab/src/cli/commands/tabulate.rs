//! `oneway table`: where the methods of a results folder ended.

use std::io::Write;
use std::process::ExitCode;

use anyhow::Result;
use oneway_experiment::files::write_whole;

use crate::cli::paper_args::TableArgs;
use crate::draw::paper::finals::{Question, tables};
use crate::draw::paper::question::quantity;
use crate::draw::paper::sources::{Choice, Sources};

/// Runs the command.
pub(crate) fn tabulate(args: &TableArgs) -> Result<ExitCode> {
    let quantities = args.y.iter().map(|name| quantity(name)).collect::<Result<Vec<_>>>()?;
    let sources = Sources::read(std::slice::from_ref(&args.dir))?;
    let choice = Choice { methods: &args.choice.methods, topologies: &args.choice.topologies };
    let found = sources.found(choice)?;
    let mut all = vec![];
    for quantity in quantities {
        let question = Question { quantity, last: args.last as usize, against: args.against.as_deref() };
        all.extend(tables(&sources, &found, &question)?);
    }
    let text = args.format.write(&all);
    match &args.out {
        None => write!(std::io::stdout(), "{text}")?,
        Some(path) => {
            write_whole(path, text)?;
            writeln!(std::io::stdout(), "{}", path.display())?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
