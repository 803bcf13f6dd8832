//! Three questions on a terminal, each with a default; an answer that will not do is asked for again.

use std::io::{BufRead, Write};
use std::path::Path;

use anyhow::{Result, bail};

use super::{Methods, Network, Task};
use crate::cli::args::NewArgs;

/// How often a question is asked.
const TRIES: usize = 5;

/// What came of the question for data.
enum Answer {
    Task(Task),
    /// A table that does not say which column is the label.
    Unlabelled(String),
}

/// Asks, or takes defaults.
pub(super) struct Questions {
    asks: bool,
}

impl Questions {
    /// Nobody is asked.
    pub(super) fn none() -> Self {
        Self { asks: false }
    }

    /// On standard error, answered on standard input.
    pub(super) fn on_terminal() -> Self {
        Self { asks: true }
    }

    /// Which data.
    pub(super) fn task(&mut self, args: &NewArgs, folder: &Path) -> Result<Task> {
        let made = |data: &str, label: Option<&str>| Task::new(data, label, args.problem.as_deref(), folder);
        let label = args.label.as_deref();
        match (&args.dataset, args.problem.as_deref()) {
            (Some(data), _) => made(data, label),
            (None, Some("quadratic")) => made("quadratic", label),
            (None, problem) => {
                let default = match problem {
                    Some("softmax" | "two-layer") => "digits",
                    Some("least-squares" | "robust") => "synthetic",
                    _ => "a9a",
                };
                let question =
                    "Which data? The path of a file, or a9a, digits, fashion-mnist, synthetic, quadratic";
                let answer = self.ask(question, default, |answer| match made(answer, label) {
                    Err(error) if error.to_string().contains("is the label?") => {
                        Ok(Answer::Unlabelled(answer.to_owned()))
                    }
                    made => made.map(Answer::Task),
                })?;
                match answer {
                    Answer::Task(task) => Ok(task),
                    Answer::Unlabelled(data) => {
                        let question = "Which of its columns is the label? Its name, or its number from 1";
                        self.ask(question, "1", |column| made(&data, Some(column)))
                    }
                }
            }
        }
    }

    /// Which network.
    pub(super) fn network(&mut self, args: &NewArgs, folder: &Path) -> Result<Network> {
        if let Some(topology) = &args.topology {
            return Network::new(topology, args.agents, folder);
        }
        let default = match args.agents {
            Some(agents) => format!("exponential {agents}"),
            None => "exponential 20".to_owned(),
        };
        let question = "Which network, of how many agents? A name as in `oneway topologies`, or the path of an edge list";
        self.ask(question, &default, |answer| {
            let (name, agents) =
                match answer.rsplit_once(' ').map(|(name, n)| (name.trim(), n.parse::<usize>())) {
                    Some((name, Ok(agents))) => (name, Some(agents)),
                    _ => (answer, args.agents),
                };
            Network::new(name, agents, folder)
        })
    }

    /// Which methods.
    pub(super) fn methods(&mut self, args: &NewArgs) -> Result<Methods> {
        match &args.methods[..] {
            [] => self.ask("Which methods? Names as in `oneway methods`", "smtpp push-pull sgp", |answer| {
                Methods::new(answer.split([' ', ',']).filter(|name| !name.is_empty()))
            }),
            names => Methods::new(names.iter().map(String::as_str)),
        }
    }

    fn ask<T>(
        &self,
        question: &str,
        default: &str,
        mut answered: impl FnMut(&str) -> Result<T>,
    ) -> Result<T> {
        if !self.asks {
            return answered(default);
        }
        for _ in 0..TRIES {
            let mut out = std::io::stderr().lock();
            write!(out, "{question}\n[{default}]: ")?;
            out.flush()?;
            let mut line = String::new();
            if std::io::stdin().lock().read_line(&mut line)? == 0 {
                bail!("no answer came, and nothing is written");
            }
            let answer = line.trim();
            match answered(if answer.is_empty() { default } else { answer }) {
                Ok(done) => return Ok(done),
                Err(error) => writeln!(out, "{}", crate::message(&error))?,
            }
        }
        bail!("that were {TRIES} answers that will not do, and nothing is written")
    }
}
