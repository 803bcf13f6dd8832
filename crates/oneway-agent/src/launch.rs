//! `oneway-agent launch`: a whole experiment as processes on this machine, one for each agent.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use oneway::numeric::Precision;
use oneway::numeric::sample::{Draws, Purpose};
use oneway_experiment::networked::{Networked, NetworkedCell};

use crate::disk::finished::Finished;
use crate::disk::journal::{self, Shape};
use crate::disk::owner::Owner;
use crate::files;
use crate::gather::gather;
use crate::plan::authority;
use crate::plan::config::Config;
use crate::plan::hosts::{Hosts, free_addresses};
use crate::plan::layout::{self, Behaviour};

/// The exit code of an agent that continues when it is started again: EX_TEMPFAIL of sysexits.
pub const RESUMABLE: u8 = 75;

/// An agent that failed. The exit code is the agent's.
#[derive(Debug, thiserror::Error)]
#[error("agent {agent} {what}: {last} (see {})", log.display())]
pub struct Failed {
    /// Who.
    pub agent: usize,
    /// How it ended.
    what: String,
    /// The last line of its log.
    last: String,
    log: PathBuf,
    /// The exit code of `launch`.
    pub code: u8,
}

/// Days that keys on this machine are valid.
const KEYS_DAYS: u32 = 30;

/// What to launch.
#[derive(Debug)]
pub struct Launch {
    /// The experiment.
    pub file: PathBuf,
    /// `--set`.
    pub overrides: Vec<String>,
    /// Where results go.
    pub out: PathBuf,
    /// How agents behave.
    pub behaviour: Behaviour,
    /// How many times an agent is killed at random and started again. The results must not change.
    pub kills: u64,
    /// The seed of the killing.
    pub kill_seed: u64,
    /// Whether links have certificates, which are made for it.
    pub secure: bool,
}

/// Runs all cells of an experiment, one after another; returns what was written.
pub fn launch(launch: &Launch, interrupted: &Arc<AtomicBool>) -> Result<Option<Vec<PathBuf>>> {
    let experiment = Networked::read(&launch.file, &launch.overrides)?;
    let cells = experiment.cells();
    experiment.prepare(&launch.out)?;
    let mut results = vec![];
    for (number, cell) in cells.iter().enumerate() {
        let folder = launch.out.join("agents").join(layout::folder_of(cell, number));
        let (topology, method, repetition) = cell.names();
        eprintln!("{topology} · {method} · {} ({} of {})", repetition + 1, number + 1, cells.len());
        if !run_cell(cell, &folder, launch, interrupted)? {
            eprintln!("interrupted; launch the same again to continue");
            return Ok(None);
        }
        let ended = gather(cell, &folder)?;
        eprintln!(
            "  {} after {} rounds, {:.0} rounds/s; state {}…",
            if ended.has_diverged() { "diverged" } else { "completed" },
            ended.rounds,
            rate(cell, &folder)?,
            &ended.state_hash[..12]
        );
        results.push((cell.clone(), ended));
    }
    experiment.save(&launch.out, results).map(Some)
}

/// Rounds a second, counted in the agents' last processes: one that was restarted did not do all rounds.
fn rate(cell: &NetworkedCell<'_>, folder: &Path) -> Result<f64> {
    let mut slowest = f64::INFINITY;
    for (agent, owner) in owners(cell, folder)?.iter().enumerate() {
        if let Some(finished) = Finished::read(&folder.join(layout::state_of(agent)), owner)? {
            slowest = slowest.min(finished.rounds as f64 / finished.seconds.max(1e-9));
        }
    }
    Ok(slowest)
}

/// Whom the files of all agents of a cell belong to.
fn owners(cell: &NetworkedCell<'_>, folder: &Path) -> Result<Vec<Owner>> {
    let owner = |agent| Owner::from_config(&Config::read(&folder.join(layout::file_of(agent)))?);
    (0..cell.setup().topology.agents()).map(owner).collect()
}

/// Keys for agents on this machine, one set for all cells: those that exist already, or new ones.
fn make_keys(out: &Path, agents: usize) -> Result<PathBuf> {
    let folder = std::path::absolute(out)?.join("agents").join(format!("keys-{agents}"));
    if !folder.exists() {
        authority::make(&vec!["127.0.0.1".to_owned(); agents], KEYS_DAYS, &folder)?;
    }
    Ok(folder)
}

/// Runs the agents of a cell until all are done; `false` if interrupted.
fn run_cell(
    cell: &NetworkedCell<'_>,
    folder: &Path,
    launch: &Launch,
    interrupted: &Arc<AtomicBool>,
) -> Result<bool> {
    let n = cell.setup().topology.agents();
    let mut addresses = free_addresses(2 * n)?;
    let metrics = addresses.split_off(n);
    let keys = launch.secure.then(|| make_keys(&launch.out, n)).transpose()?;
    let hosts = Hosts { metrics, addresses, keys, ..Hosts::default() };
    layout::write(cell, &hosts, launch.behaviour, folder)?;
    let owners = owners(cell, folder)?;
    let precision = cell.precision();
    let mut crew =
        Crew { folder, precision, owners, children: vec![], standing: vec![Standing::default(); n] };
    if crew.all_finished()? {
        return Ok(true); // by an earlier launch
    }
    for agent in 0..n {
        let child = crew.start(agent)?;
        crew.children.push(child);
    }
    // progress is seen in recorded rounds only
    let mut chaos = Chaos::new(launch, cell.rounds().saturating_sub(cell.record_every()));
    let mut said = Instant::now();
    while !crew.all_finished()? {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let slowest = crew.slowest(cell);
        crew.restart_stopped(slowest)?;
        if let Some(agent) = chaos.strike(slowest, n) {
            crew.children[agent].kill()?;
        }
        if said.elapsed() > Duration::from_secs(2) {
            said = Instant::now();
            eprintln!("  round {slowest} of {}", cell.rounds());
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    if launch.kills > 0 {
        eprintln!("  {} agents were killed and started again", chaos.struck);
    }
    Ok(true)
}

/// The processes of a cell. They are killed when this is dropped.
struct Crew<'a> {
    folder: &'a Path,
    precision: Precision,
    owners: Vec<Owner>,
    children: Vec<Child>,
    standing: Vec<Standing>,
}

/// The restarts of an agent.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    /// When it was last started again.
    started: Option<Instant>,
    /// At which round of the slowest agent it last exited with 75, and how many times.
    gave_up: (u64, u32),
}

/// How many times an agent may exit with 75 while no agent makes progress.
const PATIENCE: u32 = 3;

impl Crew<'_> {
    fn start(&self, agent: usize) -> Result<Child> {
        let path = self.folder.join(format!("agent-{agent}.log"));
        let log = files::private().create(true).append(true).open(&path);
        let log = log.with_context(|| path.display().to_string())?;
        let program = std::env::current_exe().context("cannot find this program")?;
        Command::new(program)
            .arg("run")
            .arg(self.folder.join(layout::file_of(agent)))
            .arg("--until-stdin-ends") // so that agents end with this process
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start agent {agent}"))
    }

    /// Restarts agents that were killed or exited with 75. Ends the run if an agent fails, or exits with 75
    /// repeatedly while no agent makes progress.
    fn restart_stopped(&mut self, slowest: u64) -> Result<()> {
        for agent in 0..self.children.len() {
            let Some(status) = self.children[agent].try_wait()? else { continue };
            let Standing { started, gave_up: (round, times) } = &mut self.standing[agent];
            let is_recent = started.is_some_and(|started| started.elapsed() < Duration::from_secs(1));
            if status.success() && is_recent {
                continue; // it only serves others now, and they need nothing
            }
            *started = Some(Instant::now());
            let is_resumable = status.code() == Some(i32::from(RESUMABLE));
            *times = if is_resumable && *round == slowest { *times + 1 } else { u32::from(is_resumable) };
            *round = slowest;
            match status.code() {
                None | Some(0) => {}
                Some(_) if is_resumable && *times < PATIENCE => {}
                Some(code) => {
                    let log = self.folder.join(format!("agent-{agent}.log"));
                    let text = std::fs::read_to_string(&log).unwrap_or_default();
                    let last = text.lines().last().unwrap_or("it said nothing").to_owned();
                    let what = match is_resumable {
                        true => format!("gave up {PATIENCE} times while no agent made progress"),
                        false => format!("ended with code {code}"),
                    };
                    let code = u8::try_from(code).unwrap_or(1);
                    return Err(Failed { agent, what, last, log, code }.into());
                }
            }
            self.children[agent] = self.start(agent)?;
        }
        Ok(())
    }

    /// Whether all agents are done.
    fn all_finished(&self) -> Result<bool> {
        for (agent, owner) in self.owners.iter().enumerate() {
            if Finished::read(&self.folder.join(layout::state_of(agent)), owner)?.is_none() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The last round that all agents have recorded.
    fn slowest(&self, cell: &NetworkedCell<'_>) -> u64 {
        let setup = cell.setup();
        let width = setup.method.profile_on(setup.problem).state.len(setup.problem.dim());
        let (every, rounds) = (cell.record_every(), cell.rounds());
        let shape = Shape { width, precision: self.precision, every, rounds };
        let reached = |agent| journal::recorded(&self.folder.join(layout::state_of(agent)), shape);
        let records = (0..self.children.len()).map(reached).min().unwrap_or(0);
        (records.saturating_sub(1) * cell.record_every()).min(cell.rounds())
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Kills agents at random moments of a run.
struct Chaos {
    draws: Draws,
    /// Rounds at which an agent is killed, latest first.
    at: Vec<u64>,
    struck: u64,
}

impl Chaos {
    fn new(launch: &Launch, rounds: u64) -> Self {
        let mut draws = Draws::new(launch.kill_seed, Purpose::Clock, 0, 0);
        let bound = usize::try_from(rounds).unwrap_or(usize::MAX).max(1);
        let mut at: Vec<u64> = (0..launch.kills).map(|_| draws.below(bound) as u64).collect();
        at.sort_unstable_by(|a, b| b.cmp(a));
        Self { draws, at, struck: 0 }
    }

    /// The agent to kill now, if any.
    fn strike(&mut self, round: u64, agents: usize) -> Option<usize> {
        self.at.pop_if(|at| *at <= round)?;
        self.struck += 1;
        Some(self.draws.below(agents))
    }
}

/// Prints where results are.
pub fn say(written: &[PathBuf]) -> Result<()> {
    let mut out = std::io::stdout();
    for path in written {
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}
