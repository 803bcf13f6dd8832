//! `oneway-agent carry`: a program of your own, by its place among the agents.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::carry::{Carry, Ended, carry, carry_all};
use crate::job;
use crate::launch::RESUMABLE;
use crate::plan::hosts::{free_addresses, read_hosts};

#[derive(Debug, Args)]
pub(super) struct CarryArgs {
    /// Where all agents are: `[[agent]]` with `address = "host:port"`, one for each
    #[arg(long, required_unless_present = "agents", conflicts_with = "agents")]
    hosts: Option<PathBuf>,
    /// Which agent this is [default: as mpirun or srun says, or RANK]
    #[arg(long, requires = "hosts")]
    agent: Option<usize>,
    /// Start this many agents on this machine, each with a program of its own
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=4096))]
    agents: Option<u32>,
    /// Where keys are, as `keys` makes them: links use TLS, and certificates prove who an agent is
    #[arg(long, requires = "hosts")]
    keys: Option<PathBuf>,
    /// Seconds after which a silent neighbour is given up, and for which this agent stays when it is done
    #[arg(long, default_value_t = 600.0)]
    patience: f64,
    /// Rounds whose rows are kept for neighbours that are started again [default: as many as take 256 MB]
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    keep: Option<u64>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM")]
    program: Vec<OsString>,
}

impl CarryArgs {
    pub(super) fn run(self) -> Result<ExitCode> {
        let patience = Duration::try_from_secs_f64(self.patience).ok().filter(|patience| !patience.is_zero());
        let Some(patience) = patience else {
            bail!("--patience {}: it must be above 0 seconds", self.patience)
        };
        let Self { hosts, agent, keys, keep, program, .. } = &self;
        let Some(path) = hosts else { return self.run_all() };
        let agent = job::number(*agent, &|name| std::env::var(name).ok())?;
        let hosts = read_hosts(path, keys.clone())?;
        if agent >= hosts.addresses.len() {
            bail!("{}: there is no agent {agent}: it has {}, from 0", path.display(), hosts.addresses.len());
        }
        let ended = carry(Carry { agent, hosts, patience, keep: *keep, program: program.clone() })?;
        Ok(ExitCode::from(match ended {
            Ended::Code(code) => code,
            Ended::Needed => {
                tracing::error!("done, but not all that hear this agent are");
                RESUMABLE
            }
            Ended::Stopped => RESUMABLE,
        }))
    }

    /// All agents on this machine.
    fn run_all(&self) -> Result<ExitCode> {
        let Self { agents, patience, keep, program, .. } = self;
        let agents = agents.map_or(0, |agents| agents as usize);
        let folder = tempfile::tempdir().context("a folder for the addresses")?;
        let hosts = folder.path().join("hosts.toml");
        let entries =
            free_addresses(agents)?.into_iter().map(|at| format!("[[agent]]\naddress = \"{at}\"\n"));
        std::fs::write(&hosts, entries.collect::<String>()).with_context(|| hosts.display().to_string())?;
        let words = |agent: usize| {
            let mut words: Vec<OsString> = ["carry", "--hosts"].map(OsString::from).to_vec();
            words.push(Path::as_os_str(&hosts).to_owned());
            words.extend(["--agent".into(), agent.to_string().into()]);
            words.extend(["--patience".into(), patience.to_string().into()]);
            if let Some(keep) = keep {
                words.extend(["--keep".into(), keep.to_string().into()]);
            }
            words.push("--".into());
            words.extend(program.iter().cloned());
            words
        };
        Ok(ExitCode::from(carry_all(agents, words)?))
    }
}
