//! `oneway-agent run`: one agent, by its config or by its place in a job.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, bail};
use clap::Args;

use crate::job::{self, Role};
use crate::launch::RESUMABLE;
use crate::plan::plan_file::PlanFile;
use crate::run::run_all;

#[derive(Debug, Args)]
pub(super) struct RunArgs {
    /// The config that `plan` wrote for this agent, or `plan.toml`, which is the same for every process of a job
    config: PathBuf,
    /// Folder for checkpoints and records [default: the one beside the config]; with `plan.toml`, the folder
    /// that has a folder for each agent
    #[arg(long)]
    state: Option<PathBuf>,
    /// With `plan.toml` and one process an agent: the number of this agent [default: as mpirun or srun says, or
    /// RANK]
    #[arg(long)]
    agent: Option<usize>,
    /// With `plan.toml`: host:port of the first process, where all find each other [default: the job's first
    /// host, and a port made from the job's number]
    #[arg(long, value_name = "HOST:PORT")]
    rendezvous: Option<String>,
    /// With `plan.toml`: seconds that processes wait for each other at the beginning
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=86_400))]
    meet_within: u32,
    /// End when standard input ends: for `launch`
    #[arg(long, hide = true)]
    until_stdin_ends: bool,
}

impl RunArgs {
    /// Runs the agent of a config, or of this process of a job.
    pub(super) fn run(self) -> Result<ExitCode> {
        let Self { config, state, agent, rendezvous, meet_within, until_stdin_ends } = self;
        if until_stdin_ends {
            end_with_stdin()?;
        }
        let agents = match PlanFile::read(&config)? {
            Some(plan) => {
                let within = Duration::from_secs(meet_within.into());
                let asked = job::Asked { agent, rendezvous, within, state };
                match job::join(&config, &plan, &asked, &|name| std::env::var(name).ok())? {
                    Role::Agents(all) => {
                        all.into_iter().map(|(config, state)| (config, Some(state))).collect()
                    }
                    Role::SaidElsewhere => return Ok(ExitCode::from(2)),
                }
            }
            None if agent.is_some() || rendezvous.is_some() => {
                bail!("{}: --agent and --rendezvous are for plan.toml, and this is no plan", config.display())
            }
            None => vec![(config, state)],
        };
        Ok(match run_all(&agents)? {
            Ok(_) => ExitCode::SUCCESS,
            Err((agent, halt)) => {
                let whose = if agents.len() > 1 { format!("agent {agent}: ") } else { String::new() };
                eprintln!("oneway-agent: {whose}{halt}");
                ExitCode::from(if halt.is_resumable() { RESUMABLE } else { 1 })
            }
        })
    }
}

/// Ends this process when its standard input ends, because its parent has ended. Files on disk are always
/// whole.
fn end_with_stdin() -> Result<()> {
    let watch = || {
        let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
        eprintln!("oneway-agent: the process that started this agent has ended, so this agent ends too");
        std::process::exit(i32::from(RESUMABLE));
    };
    std::thread::Builder::new().name("stdin".to_owned()).spawn(watch)?;
    Ok(())
}
