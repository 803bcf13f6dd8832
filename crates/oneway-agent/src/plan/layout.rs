//! From an experiment to one folder of configs for each of its cells: what `plan` writes, and `launch` runs.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway_experiment::networked::{Networked, NetworkedCell, Share, sha256, write_recipe};

use crate::files::{make_folder, write_whole};
use crate::plan::config::{Config, ProblemConfig, StepConfig, describe};
use crate::plan::endpoints::{Dial, Endpoints, NOT_YET, Tls};
use crate::plan::hosts::Hosts;
use crate::plan::identity::Identity;
use crate::plan::plan_file::PlanFile;
use crate::plan::ties::Ties;

/// How agents behave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Behaviour {
    /// Rounds between checkpoints; by default as many as a small history allows.
    pub checkpoint_every: Option<u64>,
    /// Rows beyond this are refused.
    pub guard: Option<f64>,
    /// Seconds after which a silent neighbour is given up.
    pub patience: f64,
    /// Seconds for which they continue to serve others after their last round.
    pub linger: f64,
    /// Whether they publish their estimates, for observers.
    pub observed: bool,
}

/// Bytes that an agent's history may hold by default, at most.
pub(crate) const HISTORY: u64 = 256 << 20;

/// Rounds between checkpoints that keep the history small: it has 3c + L + 1 rounds of two rows.
fn checkpoint_every(exchange_bytes: usize, phases: u32, lag: u64) -> u64 {
    let rounds = HISTORY / (exchange_bytes as u64 * u64::from(phases)).max(1);
    (rounds.saturating_sub(lag + 1) / 3).clamp(1, 100)
}

/// The name of an agent's config.
pub fn file_of(agent: usize) -> String {
    format!("agent-{agent}.toml")
}

/// The name of the folder with an agent's state, beside its config.
pub fn state_of(agent: usize) -> String {
    format!("agent-{agent}")
}

/// The identity of an agent of a cell.
pub fn identity(cell: &NetworkedCell<'_>, agent: usize) -> Result<Identity> {
    let setup = cell.setup();
    let [problem, pull, push] = cell.hashes();
    Ok(Identity {
        protocol: Identity::PROTOCOL,
        code: Identity::code(),
        run: cell.key().to_owned(),
        agents: setup.topology.agents(),
        topology: format!("{pull}{push}"),
        problem,
        method: describe(cell.recipe(), &StepConfig::new(&setup.schedule))?,
        seed: setup.seed,
        rounds: cell.rounds(),
        precision: cell.precision(),
        agent,
    })
}

/// Writes the configs of all cells; returns their folders. One cell goes into `out` itself.
pub fn plan(
    file: &Path,
    overrides: &[String],
    hosts: &Hosts,
    behaviour: Behaviour,
    out: &Path,
) -> Result<Vec<PathBuf>> {
    let experiment = Networked::read(file, overrides)?;
    let cells = experiment.cells();
    for cell in &cells {
        let agents = cell.setup().topology.agents();
        if !hosts.meets && hosts.addresses.len() != agents {
            bail!(
                "{}: there are {agents} agents, and {} hosts: give one for each",
                file.display(),
                hosts.addresses.len()
            );
        }
    }
    let mut folders = vec![];
    for (number, cell) in cells.iter().enumerate() {
        let folder = folder_in(out, cell, number, cells.len());
        write(cell, hosts, behaviour, &folder)?;
        folders.push(folder);
    }
    Ok(folders)
}

/// Writes the configs of all agents of a cell, their shares of the data, and the [plan](PlanFile) of them all
/// into a folder.
pub fn write(cell: &NetworkedCell<'_>, hosts: &Hosts, behaviour: Behaviour, folder: &Path) -> Result<()> {
    let setup = cell.setup();
    let (n, d) = (setup.topology.agents(), setup.problem.dim());
    if !hosts.meets && hosts.addresses.len() != n {
        bail!("there are {n} agents and {} addresses: give one for each", hosts.addresses.len());
    }
    let profile = setup.method.profile_on(setup.problem);
    let exchange = (profile.pull.len(d) + profile.push.len(d)) * cell.precision().bytes();
    let shares = cell.shares("shard.libsvm")?; // renamed for each agent below
    make_folder(folder).with_context(|| folder.display().to_string())?;
    let mut digests = Vec::with_capacity(n);
    for (ties, mut share) in Ties::all(setup.topology).into_iter().zip(shares) {
        let agent = ties.agent;
        let shard = write_rows(&mut share, agent, folder)?;
        let every = checkpoint_every(exchange, profile.phases(), ties.lag);
        let mut config = Config {
            sha256: String::new(),
            format: Config::FORMAT,
            state: state_of(agent).into(),
            record_every: cell.record_every(),
            look_every: cell.look_every(),
            checkpoint_every: behaviour.checkpoint_every.unwrap_or(every),
            guard: behaviour.guard,
            metrics: hosts.metrics.get(agent).cloned(),
            patience: behaviour.patience,
            linger: behaviour.linger,
            identity: identity(cell, agent)?,
            network: endpoints(&ties, hosts, behaviour.observed),
            method: write_recipe(cell.recipe())?,
            step: StepConfig::new(&setup.schedule),
            problem: ProblemConfig { agents: share.agents, shard, settings: share.settings },
            lag: ties.lag,
            links: ties.period,
        };
        config.sha256 = config.digest()?;
        let path = folder.join(file_of(agent));
        write_whole(&path, config.to_toml()?.as_bytes()).with_context(|| path.display().to_string())?;
        digests.push(config.sha256);
    }
    PlanFile::new(hosts.meets, digests).write(folder)
}

/// Writes an agent's own rows, if it has any; returns their hash.
fn write_rows(share: &mut Share, agent: usize, folder: &Path) -> Result<Option<String>> {
    let Some(text) = share.text()? else { return Ok(None) };
    let name = format!("shard-{agent}.libsvm");
    let path = folder.join(&name);
    write_whole(&path, &text).with_context(|| path.display().to_string())?;
    share.settings.insert("dataset".to_owned(), toml::Value::String(name));
    Ok(Some(sha256(text)))
}

/// Where an agent listens and whom it dials: of two neighbours, the one with the higher number.
pub(crate) fn endpoints(ties: &Ties, hosts: &Hosts, observed: bool) -> Endpoints {
    let protocol = if hosts.keys.is_some() { "tls" } else { "tcp" };
    let of = |agent: usize| match hosts.meets {
        true => format!("{protocol}/agent-{agent}"),
        false => format!("{protocol}/{}", hosts.addresses[agent]),
    };
    let dial = |agent| Dial { agent, address: of(agent) };
    let tls = hosts.keys.as_ref().map(|keys| Tls {
        authority: keys.join("authority.pem"),
        certificate: keys.join(format!("agent-{}.pem", ties.agent)),
        key: keys.join(format!("agent-{}.key", ties.agent)),
    });
    let lower = ties.neighbours().into_iter().filter(|&who| who < ties.agent);
    let bind = hosts.binds.get(ties.agent).cloned().flatten();
    let met = hosts.meets.then(|| NOT_YET.to_owned());
    Endpoints {
        listen: of(ties.agent),
        bind,
        connect: lower.map(dial).collect(),
        tls,
        met,
        block: None,
        observed,
    }
}

/// A cell's name as a folder: letters, digits and hyphens, and a number that makes it unique.
pub fn folder_of(cell: &NetworkedCell<'_>, number: usize) -> String {
    let (topology, method, repetition) = cell.names();
    let plain = |name: &str| -> String {
        let kept = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' });
        kept.take(40).collect()
    };
    format!("{number:03}-{}-{}-{}", plain(topology), plain(method), repetition + 1)
}

/// The folder of the configs of a cell: the plan's own, or one inside it if there are several cells.
pub fn folder_in(plan: &Path, cell: &NetworkedCell<'_>, number: usize, cells: usize) -> PathBuf {
    if cells == 1 { plan.to_owned() } else { plan.join(folder_of(cell, number)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_are_rare_for_short_rows_and_frequent_for_long_ones() {
        assert_eq!(checkpoint_every(8 * 2 * 123, 1, 7), 100);
        assert_eq!(checkpoint_every(8 * 200_000, 1, 7), 53);
        assert_eq!(checkpoint_every(8 * 2_000_000, 1, 7), 2);
        assert_eq!(checkpoint_every(8 * 20_000_000, 1, 7), 1);
        assert_eq!(checkpoint_every(0, 1, 7), 100);
    }
}
