//! `oneway-agent launch`: a whole experiment as processes on this machine, one for each agent.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use oneway::numeric::sample::{Draws, Purpose};
use oneway_experiment::networked::{Networked, NetworkedCell};

use crate::authority;
use crate::config::Config;
use crate::files;
use crate::finished::Finished;
use crate::gather::gather;
use crate::journal::{self, Shape};
use crate::layout::{self, Behaviour, Hosts};
use crate::owner::Owner;

/// The exit code of an agent that can go on when it is started again: EX_TEMPFAIL of sysexits.
pub const RESUMABLE: u8 = 75;

/// An agent that could not do its part. The exit code is the agent's own.
#[derive(Debug, thiserror::Error)]
#[error("agent {agent} {what}: {last} (see {})", log.display())]
pub struct Failed {
    /// Who.
    pub agent: usize,
    /// How it ended.
    what: String,
    /// The last that it said.
    last: String,
    log: PathBuf,
    /// What `launch` ends with.
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
    /// So many agents are killed on the way, at random, and started again: nothing may change.
    pub kills: u64,
    /// What these depend on.
    pub kill_seed: u64,
    /// Whether links have certificates, which are made for it.
    pub secure: bool,
}

/// Runs all cells of an experiment, one after another; returns what was written.
pub fn launch(launch: &Launch, interrupted: &Arc<AtomicBool>) -> Result<Option<Vec<PathBuf>>> {
    let experiment = Networked::read(&launch.file, &launch.overrides)?;
    experiment.prepare(&launch.out)?;
    let cells = experiment.cells();
    let mut results = vec![];
    for (number, cell) in cells.iter().enumerate() {
        let folder = launch.out.join("agents").join(layout::folder_of(cell, number));
        let (topology, method, repetition) = cell.names();
        eprintln!("{topology} · {method} · {} ({} of {})", repetition + 1, number + 1, cells.len());
        if !run_cell(cell, &folder, launch, interrupted)? {
            eprintln!("interrupted; agents go on where they were when the same is launched again");
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

/// Rounds a second of those that the agents' last processes did: who was started again did not do them all.
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
    let owner = |agent| Config::read(&folder.join(layout::file_of(agent)))?.owner();
    (0..cell.setup().topology.agents()).map(owner).collect()
}

/// Keys for agents on this machine, one set for all cells: those that are there already, or new ones.
fn make_keys(out: &Path, agents: usize) -> Result<PathBuf> {
    let folder = std::path::absolute(out)?.join("agents").join(format!("keys-{agents}"));
    if !folder.exists() {
        authority::make(&vec!["127.0.0.1".to_owned(); agents], KEYS_DAYS, &folder)?;
    }
    Ok(folder)
}

/// Ports that are free now, one for each agent.
fn free_addresses(agents: usize) -> Result<Vec<String>> {
    let listeners: Vec<TcpListener> =
        (0..agents).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<Result<_, _>>()?;
    listeners.iter().map(|listener| Ok(listener.local_addr()?.to_string())).collect()
}

/// Runs the agents of a cell until all have come to their end; `false` if interrupted.
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
    let mut crew = Crew { folder, owners, children: vec![], standing: vec![Standing::default(); n] };
    if crew.all_finished()? {
        return Ok(true); // when the same was launched before
    }
    for agent in 0..n {
        let child = crew.start(agent)?;
        crew.children.push(child);
    }
    // as far as is seen of a run: rounds are looked at every so often
    let mut chaos = Chaos::new(launch, cell.rounds().saturating_sub(cell.record_every()));
    let mut said = Instant::now();
    while !crew.all_finished()? {
        if interrupted.load(Ordering::Relaxed) {
            return Ok(false);
        }
        let slowest = crew.slowest(cell);
        crew.mend(slowest)?;
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

/// The processes of a cell. They end with it, however it ends.
struct Crew<'a> {
    folder: &'a Path,
    owners: Vec<Owner>,
    children: Vec<Child>,
    standing: Vec<Standing>,
}

/// How an agent gets on.
#[derive(Debug, Clone, Copy, Default)]
struct Standing {
    /// When it was last started again.
    started: Option<Instant>,
    /// How often it gave up in good faith at this round of the slowest.
    gave_up: (u64, u32),
}

/// So often an agent may give up in good faith while nobody comes forward.
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
            .arg("--until-stdin-ends") // however this process ends, its agents end with it
            .stdin(Stdio::piped())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("cannot start agent {agent}"))
    }

    /// Starts again who was killed, or went away in good faith; whoever cannot go on ends the run, and whoever gives up again and again
    /// without anybody coming forward.
    fn mend(&mut self, slowest: u64) -> Result<()> {
        for agent in 0..self.children.len() {
            let Some(status) = self.children[agent].try_wait()? else { continue };
            let Standing { started, gave_up: (round, times) } = &mut self.standing[agent];
            let is_recent = started.is_some_and(|started| started.elapsed() < Duration::from_secs(1));
            if status.success() && is_recent {
                continue; // it has nothing to do but to serve others, and has seen that they need nothing
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
                        true => format!("gave up {PATIENCE} times while nobody came forward"),
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

    /// Whether all agents have come to their end.
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
        let shape = Shape { width, every: cell.record_every(), rounds: cell.rounds() };
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
    /// Rounds at which the next ones die, latest first.
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

    /// Who dies now, if anyone does.
    fn strike(&mut self, round: u64, agents: usize) -> Option<usize> {
        self.at.pop_if(|at| *at <= round)?;
        self.struck += 1;
        Some(self.draws.below(agents))
    }
}

/// Says where results are.
pub fn say(written: &[PathBuf]) -> Result<()> {
    let mut out = std::io::stdout();
    for path in written {
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}
