//! `oneway new`: writes a commented experiment file that runs as it is.
//!
//! What is not given by flags is asked for on a terminal: which data, which network, which methods. The
//! experiment is planned before its file is written, so that what cannot run is refused with the reason, and
//! nothing is written. No file is ever overwritten.

mod ask;
mod choices;
mod text;

use std::fs::OpenOptions;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use oneway_experiment::Experiment;
use oneway_experiment::plan::Plan;

use crate::cli::args::NewArgs;
use ask::Questions;
use choices::{Methods, Network, Task};

/// Runs the command.
pub(crate) fn new(args: &NewArgs) -> Result<ExitCode> {
    let file = args.file.clone().or(args.out.clone()).unwrap_or_else(|| PathBuf::from("experiment.toml"));
    refuse_existing(&file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let given = args.problem.is_some()
        || args.dataset.is_some()
        || args.topology.is_some()
        || !args.methods.is_empty();
    let terminal = std::io::stdin().is_terminal() && std::io::stderr().is_terminal();
    let mut questions = match () {
        () if args.yes || (given && !terminal) => Questions::none(),
        () if terminal => Questions::on_terminal(),
        () => bail!(
            "there is no terminal to ask on: say what the experiment is, as in `oneway new {} --dataset a9a \
             --topology exponential --agents 20 --methods smtpp,sgp`, or --yes for just that",
            file.display()
        ),
    };
    let task = questions.task(args, folder)?;
    let network = questions.network(args, folder)?;
    let methods = questions.methods(args)?;
    let text = text::experiment(&file, &task, &network, &methods);
    let planned = Experiment::parse(&text, folder, &[]).and_then(|experiment| Plan::new(&experiment));
    planned.with_context(|| format!("{} would not run, and is not written", file.display()))?;
    write(&file, &text)?;
    writeln!(
        std::io::stdout(),
        "{}: {}, {} agents on {}, {}\nrun it: oneway run {}",
        file.display(),
        task.shown(),
        network.agents,
        network.name,
        methods.names().join(", "),
        file.display()
    )?;
    Ok(ExitCode::SUCCESS)
}

fn refuse_existing(file: &Path) -> Result<()> {
    match file.symlink_metadata() {
        Ok(_) => bail!("{}: it is there already, and is not overwritten: give another name", file.display()),
        Err(_) => Ok(()),
    }
}

/// Writes a file that is not there yet.
fn write(file: &Path, text: &str) -> Result<()> {
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
    match written {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => refuse_existing(file),
        other => other.with_context(|| format!("cannot write {}", file.display())),
    }
}
