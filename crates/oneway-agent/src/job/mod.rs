//! `oneway-agent run plan.toml`: any process of a job, which finds its number, its config and its neighbours.

mod launcher;
mod meet;
mod node_list;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::files::{make_folder, write_whole};
use crate::plan::config::Config;
use crate::plan::endpoints::NOT_YET;
use crate::plan::hosts::{free_port, host_of};
use crate::plan::layout::{file_of, state_of};
use crate::plan::plan_file::PlanFile;
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

/// What a process is to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Role {
    /// Run the agent of a config; its state is in this folder.
    Agent {
        /// The config, with the addresses of now.
        config: PathBuf,
        /// The folder of its state.
        state: PathBuf,
    },
    /// End, with exit code 2: another process says what is wrong.
    SaidElsewhere,
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
    if let Some((size, name)) = member.size.filter(|(size, _)| *size != agents) {
        if member.number > 0 {
            return Ok(Role::SaidElsewhere); // all processes see the same
        }
        bail!(
            "{}: {name} says {size} processes, and the plan has {agents} agents: start one for each",
            place()
        );
    }
    let agent = member.number;
    if agent >= agents {
        bail!("{}: there is no agent {agent}: the plan has {agents}, from 0", place());
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    let config = folder.join(file_of(agent));
    let state = asked.state.as_deref().unwrap_or(folder).join(state_of(agent));
    let ready = ready(plan, agent, &config, &state);
    let has_met =
        |config: &Config| !plan.meets || (member.start.is_some() && config.network.met == member.start);
    let ready = match ready {
        Ok(ready) if has_met(&ready) => return Ok(Role::Agent { config, state }),
        Err(error) if !plan.meets => return Err(error),
        ready => ready,
    };
    let Some(place) = member.rendezvous else {
        bail!("{}: no launcher says where the first process is: give --rendezvous host:port", place())
    };
    let meeting = Meeting { place, within: asked.within };
    let port = ready
        .as_ref()
        .map_err(|error| format!("{error:#}"))
        .and_then(|_| free_port().map_err(|error| error.to_string()));
    let arrival = Arrival::new(agent, agents, plan.digest(), port);
    let addresses = if agent == 0 {
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
    let start = member.start.unwrap_or_else(|| "a job".to_owned());
    write_addresses(ready?, &config, &addresses, start)?;
    Ok(Role::Agent { config, state })
}

/// The config of an agent, once all that can be wrong here was looked for.
fn ready(plan: &PlanFile, agent: usize, path: &Path, state: &Path) -> Result<Config> {
    let config = Config::read(path)?;
    let place = || path.display().to_string();
    if config.identity.agent != agent || config.digest()? != plan.configs[agent] {
        bail!("{}: it is not the config of agent {agent} of this plan", place());
    }
    if plan.meets {
        // addresses will be written there, maybe by a second process of this number too
        oneway_experiment::files::write_whole(path, config.to_toml()?)?;
    }
    make_folder(state).with_context(|| state.display().to_string())?;
    Ok(config)
}

/// Writes the addresses that were found into an agent's config.
fn write_addresses(mut config: Config, path: &Path, addresses: &[String], start: String) -> Result<()> {
    let protocol = if config.network.tls.is_some() { "tls" } else { "tcp" };
    let of = |agent: usize| {
        let address = addresses.get(agent).with_context(|| format!("agent {agent} has no address"))?;
        let host = host_of(address)?;
        anyhow::Ok((format!("{protocol}/{address}"), host))
    };
    let (listen, host) = of(config.identity.agent)?;
    let port = listen.rsplit_once(':').map_or("0", |(_, port)| port);
    // all addresses of the machine, since its name may stand for one of them only
    let any = if host.contains(':') { "[::]" } else { "0.0.0.0" };
    config.network.bind = (!is_this_machine(&host)).then(|| format!("{any}:{port}"));
    config.network.listen = listen;
    for dial in &mut config.network.connect {
        dial.address = of(dial.agent)?.0;
    }
    debug_assert_ne!(start, NOT_YET);
    config.network.met = Some(start);
    write_whole(path, config.to_toml()?.as_bytes()).with_context(|| path.display().to_string())
}
