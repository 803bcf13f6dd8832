//! The `oneway` command: experiments run and drawn, theory asked, methods, topologies and data listed.
//!
//! Exit codes: 0 done; 1 `verify` or `replay` found a difference; 2 the input is wrong (nothing was written);
//! 130 interrupted (what was finished was written).

pub mod api;
mod cli;
mod draw;
mod number;
mod request;
mod studies;
mod terminal;
mod watch;

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches};
use oneway_experiment::names;

use cli::args::{Args, Command};
use cli::claims_args::ClaimsCommand;
use cli::commands;
use oneway::registry::Registry;

/// What the command does.
pub fn main() -> ExitCode {
    main_with(Registry::builtin())
}

/// The same command for a program of your own: every subcommand, and every experiment file, knows the
/// methods, estimators, codecs, topologies and problems of `registry`, which is
/// [installed](Registry::install) here.
///
/// ```no_run
/// use oneway::registry::Registry;
///
/// fn main() -> Result<std::process::ExitCode, oneway::Error> {
///     let registry = Registry::builtin(); // .with_method(&MINE)?
///     Ok(oneway_lab::main_with(registry))
/// }
/// ```
pub fn main_with(registry: Registry) -> ExitCode {
    match registry.install() {
        Ok(()) => match parsed(std::env::args_os()) {
            Ok(args) => ended(run(args)),
            Err(wrong) => ExitCode::from(explained(&wrong)),
        },
        Err(error) => ended(Err(error.into())),
    }
}

/// The same from arguments that somebody else was given, the name of the program among them. Returns the exit
/// code, also for `--help` and for arguments that are wrong.
pub fn main_from(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> u8 {
    let code = match parsed(arguments) {
        Ok(args) => ended(run(args)),
        Err(wrong) => {
            return explained(&wrong);
        }
    };
    // an `ExitCode` does not say what it is
    (0..=u8::MAX).find(|known| ExitCode::from(*known) == code).unwrap_or(1)
}

/// The arguments; help and messages fit the terminal.
fn parsed(arguments: impl IntoIterator<Item = std::ffi::OsString>) -> Result<Args, clap::Error> {
    // `--agents -3` is a number that is not possible, and not an option that is not known
    let command = with_negative_numbers(Args::command());
    let mut command = match terminal::Terminal::stdout().width {
        Some(width) => command.term_width(width),
        None => command,
    };
    let matches = command.try_get_matches_from_mut(arguments)?;
    Args::from_arg_matches(&matches).map_err(|wrong| wrong.format(&mut command))
}

/// The command, and all below it, with options that take negative numbers as values.
fn with_negative_numbers(command: clap::Command) -> clap::Command {
    let all = command.mut_args(|arg| {
        let takes_values = arg.get_long().is_some() && arg.get_action().takes_values();
        if takes_values { arg.allow_negative_numbers(true) } else { arg }
    });
    all.mut_subcommands(with_negative_numbers)
}

/// Prints help, or what is wrong with the arguments; returns the exit code.
fn explained(wrong: &clap::Error) -> u8 {
    let text = wrong.render();
    let (plain, painted) = (text.to_string(), text.ansi().to_string());
    // nobody to tell of errors
    let _ = match wrong.use_stderr() {
        true => std::io::stderr().write_all(terminal::Terminal::stderr().fitted(&plain, &painted).as_bytes()),
        false => {
            std::io::stdout().write_all(terminal::Terminal::stdout().fitted(&plain, &painted).as_bytes())
        }
    };
    u8::try_from(wrong.exit_code()).unwrap_or(2)
}

fn run(args: Args) -> anyhow::Result<ExitCode> {
    match args.command {
        Command::Reproduce(reproduce) => commands::reproduce::reproduce(&reproduce),
        Command::Claims(claims) => match &claims.command {
            ClaimsCommand::Map(map) => commands::claims::map(map),
        },
        Command::New(new) => commands::new::new(&new),
        Command::Run(run) => commands::run::run(&run),
        Command::Merge(merge) => commands::merge::merge(&merge),
        Command::Tune(tune) => commands::tune::tune(&tune),
        Command::Audit(audit) => commands::audit::audit(&audit),
        Command::Verify(verify) => commands::verify::verify(&verify),
        Command::Replay(replay) => commands::replay::replay(&replay),
        Command::Watch(watch) => commands::watch::watch(&watch),
        Command::Report(report) => commands::report::report(&report),
        Command::Certify(certify) => commands::certify::certify(&certify),
        Command::Plot(plot) => commands::plot::plot(&plot),
        Command::Table(table) => commands::tabulate::tabulate(&table),
        Command::Compare(compare) => commands::compare::compare(&compare),
        Command::Inspect(inspect) => commands::inspect::inspect(&inspect),
        Command::SweepStability(sweep) => commands::sweep_stability::sweep_stability(&sweep),
        Command::Methods(list) => commands::list::methods(&list),
        Command::Codecs(list) => commands::list::codecs(&list),
        Command::Problems(list) => commands::list::problems(&list),
        Command::Topologies(list) => commands::list::topologies(&list),
        Command::Data(data) => commands::data::data(&data),
        Command::Man { dir } => commands::man(&dir),
        Command::Completions { shell } => commands::completions(shell),
    }
}

/// The exit code; what went wrong is said.
fn ended(done: anyhow::Result<ExitCode>) -> ExitCode {
    match done {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            terminal::warn(&bounded(&message(&error)));
            ExitCode::from(2)
        }
    }
}

/// An error and its causes on one line; a cause that the error before it quotes already is not said twice.
pub fn message(error: &anyhow::Error) -> String {
    error.chain().map(ToString::to_string).fold(String::new(), |said, cause| match said {
        said if said.is_empty() => cause,
        said if said.ends_with(&cause) => said,
        said => format!("{said}: {cause}"),
    })
}

/// A message that a reader can take in: what is longer quotes a file that is no text for people.
fn bounded(message: &str) -> String {
    const LONGEST: usize = 2000;
    let begin: String = message.chars().take(LONGEST).collect();
    let end = if begin.len() < message.len() { " …" } else { "" };
    names::written_out(&begin) + end
}

/// Whether whoever read our output went away, as `head` does: no reason to complain.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let io = error.downcast_ref::<std::io::Error>();
    io.is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
}
