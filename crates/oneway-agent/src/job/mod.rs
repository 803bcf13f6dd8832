//! `oneway-agent run plan.toml`: any process of a job, which finds its number, its agents and their neighbours.

mod blocks;
mod launcher;
mod meet;
mod node_list;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::files::{make_folder, write_whole};
use crate::plan::config::Config;
use crate::plan::hosts::{free_port, host_of};
use crate::plan::layout::{file_of, state_of};
use crate::plan::plan_file::PlanFile;
use blocks::{block, process_of};
use launcher::Member;
use meet::{Arrival, Meeting, Met, is_this_machine};

/// What the command line says of a process of a job.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Its agent, if no launcher says that.
    pub agent: Option<usize>,
    /// `host:port` where processes meet, if no launcher says that.
    pub rendezvous: Option<String>,
    /// For how long they wait for each other.
    pub within: Duration,
    /// A folder for the folders of checkpoints and records.
    pub state: Option<PathBuf>,
}

/// The most agents of a process: each has some threads.
const MOST: usize = 512;

/// What a process is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Role {
    /// Run the agents of these configs, which have the addresses of now; each with the folder of its state.
    Agents(Vec<(PathBuf, PathBuf)>),
    /// End, with exit code 2: another process says what is wrong.
    SaidElsewhere,
}

/// A process of a job that runs a plan.
struct Process<'p> {
    plan: &'p PlanFile,
    /// The folder of the configs.
    folder: &'p Path,
    /// The folder of the folders of states.
    states: &'p Path,
    number: usize,
    processes: usize,
}

/// The number of this process: what the command line says, or its launcher.
pub fn number(asked: Option<usize>, variable: &dyn Fn(&str) -> Option<String>) -> Result<usize> {
    Ok(Member::find(asked, None, variable)?.number)
}

/// Finds out what this process is to do in the job that runs a plan, whose file has this path. `variable`
/// gives the values of environment variables.
pub fn join(
    path: &Path,
    plan: &PlanFile,
    asked: &Asked,
    variable: &dyn Fn(&str) -> Option<String>,
) -> Result<Role> {
    let place = || path.display().to_string();
    let member = Member::find(asked.agent, asked.rendezvous.clone(), variable).with_context(place)?;
    let agents = plan.agents;
    let (processes, said_by) = member.size.unwrap_or((agents, "--agent"));
    if let Some(wrong) = wrong_size(plan, processes) {
        if member.number > 0 {
            return Ok(Role::SaidElsewhere); // all processes see the same
        }
        bail!("{}: {said_by} says {processes} processes, and the plan has {agents} agents: {wrong}", place());
    }
    if member.number >= processes {
        bail!("{}: there is no agent {}: the plan has {agents}, from 0", place(), member.number);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let states = asked.state.as_deref().unwrap_or(folder);
    let own = Process { plan, folder, states, number: member.number, processes };
    let has_met = |config: &Config| {
        !plan.meets
            || (member.start.is_some()
                && config.network.met == member.start
                && config.network.block == own.in_config())
    };
    let ready = match own.ready() {
        Ok(ready) if ready.iter().all(has_met) => return Ok(own.role()),
        Err(error) if !plan.meets => return Err(error),
        ready => ready,
    };
    let Some(place) = member.rendezvous else {
        bail!("{}: no launcher says where the first process is: give --rendezvous host:port", place())
    };
    let meeting = Meeting { place, within: asked.within };
    let port = match &ready {
        Ok(_) => free_port().map_err(|error| error.to_string()),
        Err(error) => Err(format!("{error:#}")),
    };
    let arrival = Arrival::new(own.number, processes, plan.digest(), port);
    let addresses = if own.number == 0 {
        let listener = meeting.open().with_context(|| format!("listening at {}", meeting.place))?;
        meeting
            .hold(&listener, arrival)
            .map_err(anyhow::Error::msg)
            .with_context(|| path.display().to_string())?
    } else {
        match meeting.attend(&arrival) {
            Met::Addresses(addresses) => addresses,
            Met::SaidElsewhere => return Ok(Role::SaidElsewhere),
            // what is wrong here is nearer than that there is nobody to tell
            Met::Nobody(why) => return Err(ready.err().unwrap_or_else(|| anyhow::Error::msg(why))),
        }
    };
    own.write_addresses(ready?, &addresses, &member.start.unwrap_or_else(|| "a job".to_owned()))?;
    Ok(own.role())
}

/// What is wrong with a number of processes.
fn wrong_size(plan: &PlanFile, processes: usize) -> Option<String> {
    let agents = plan.agents;
    let many = |process| block(agents, processes, process).len();
    if processes == 0 || processes > agents {
        Some(format!("start at most {agents}"))
    } else if processes < agents && !plan.meets {
        Some("start one for each: their addresses were given when it was planned".to_owned())
    } else if (0..processes).any(|process| many(process) > MOST) {
        Some(format!("a process can have {MOST} of them; `oneway-mpi` has blocks of any size"))
    } else {
        None
    }
}

impl Process<'_> {
    fn agents(&self) -> Range<usize> {
        block(self.plan.agents, self.processes, self.number)
    }

    fn role(&self) -> Role {
        let paths = |agent| (self.folder.join(file_of(agent)), self.states.join(state_of(agent)));
        Role::Agents(self.agents().map(paths).collect())
    }

    /// Its agents, as a config names them.
    fn in_config(&self) -> Option<(usize, usize)> {
        let agents = self.agents();
        (agents.len() > 1).then(|| (agents.start, agents.end - 1))
    }

    /// The configs of its agents, once all that can be wrong here was looked for.
    fn ready(&self) -> Result<Vec<Config>> {
        self.agents().map(|agent| self.ready_with(agent)).collect()
    }

    fn ready_with(&self, agent: usize) -> Result<Config> {
        let path = self.folder.join(file_of(agent));
        let (config, place) = (Config::read(&path)?, || path.display().to_string());
        if config.identity.agent != agent || config.digest()? != self.plan.configs[agent] {
            bail!("{}: it is not the config of agent {agent} of this plan", place());
        }
        if config.network.tls.is_some() && self.processes < self.plan.agents {
            bail!("{}: links with keys need a process for each agent: a certificate names one", place());
        }
        if self.plan.meets {
            // addresses will be written there, maybe by a second process of this number too
            oneway_experiment::files::write_whole(&path, config.to_toml()?)?;
        }
        let state = self.states.join(state_of(agent));
        make_folder(&state).with_context(|| state.display().to_string())?;
        Ok(config)
    }

    /// Writes the addresses that were found into the configs of its agents.
    fn write_addresses(&self, configs: Vec<Config>, addresses: &[String], start: &str) -> Result<()> {
        for mut config in configs {
            let network = &mut config.network;
            let protocol = if network.tls.is_some() { "tls" } else { "tcp" };
            let of = |agent: usize| {
                let process = process_of(self.plan.agents, self.processes, agent);
                let address =
                    addresses.get(process).with_context(|| format!("agent {agent} has no address"))?;
                anyhow::Ok((format!("{protocol}/{address}"), host_of(address)?))
            };
            let (listen, host) = of(config.identity.agent)?;
            let port = listen.rsplit_once(':').map_or("0", |(_, port)| port);
            // all addresses of the machine, since its name may stand for one of them only
            let any = if host.contains(':') { "[::]" } else { "0.0.0.0" };
            network.bind = (!is_this_machine(&host)).then(|| format!("{any}:{port}"));
            network.listen = listen;
            for dial in &mut network.connect {
                dial.address = of(dial.agent)?.0;
            }
            (network.met, network.block) = (Some(start.to_owned()), self.in_config());
            let path = self.folder.join(file_of(config.identity.agent));
            write_whole(&path, config.to_toml()?.as_bytes()).with_context(|| path.display().to_string())?;
        }
        Ok(())
    }
}
