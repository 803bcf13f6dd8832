//! `oneway-agent run`: one agent, from its config to its last round, through restarts.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use oneway::engine::is_sound;
use serde::{Deserialize, Serialize};

use crate::agent::{Agent, Task};
use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::config::Config;
use crate::history::{History, Sent};
use crate::journal::Journal;
use crate::layout;
use crate::link::LinkError;
use crate::metrics;
use crate::net::observer::Estimates;
use crate::net::{ZenohLink, ZenohOptions};
use crate::status::Status;

/// How an agent came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// The [run](crate::identity::Identity::run_id) that it was.
    pub run: u64,
    /// Rounds done.
    pub round: u64,
    /// Whether it ended before its time, because states went beyond all bounds, here or elsewhere.
    pub diverged: bool,
    /// Seconds in rounds, by this process.
    pub seconds: f64,
    /// Of them in its first round, which waits for everyone to be there.
    pub seconds_first: f64,
    /// Of them waiting for neighbours.
    pub waited: f64,
    /// Rounds done by this process.
    pub rounds: u64,
    /// How often it asked for a row again.
    pub asked: u64,
}

impl Finished {
    /// Its name in an agent's folder.
    pub const FILE: &str = "finished.json";

    /// Of the agent with this folder, if it has come to its end in this run.
    pub fn read(folder: &Path, run: u64) -> Option<Self> {
        let found: Self = serde_json::from_slice(&std::fs::read(folder.join(Self::FILE)).ok()?).ok()?;
        (found.run == run).then_some(found)
    }
}

/// Why an agent stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// It can go on from where it was when it is started again.
    #[error("{0}; the state is kept: start this agent again to go on")]
    Resumable(LinkError),
    /// It did not begin, and nothing is wrong with its input: an address is taken, say.
    #[error("{0}; start this agent again")]
    NotNow(String),
    /// It has no checkpoints, and its neighbours no longer have what it would need to begin anew.
    #[error("{0}; there are no checkpoints (`checkpoint_every` = 0): start the run again from its beginning")]
    Lost(LinkError),
    /// Starting again would lead to the same.
    #[error("{0}")]
    Fatal(LinkError),
}

impl Halt {
    /// What an error means to an agent that has done so many rounds, with or without checkpoints.
    fn new(error: LinkError, round: u64, checkpoints: bool) -> Self {
        match error {
            LinkError::Gone { .. } | LinkError::Refused { .. } => Halt::Fatal(error),
            _ if checkpoints || round == 0 => Halt::Resumable(error),
            _ => Halt::Lost(error),
        }
    }
}

/// Runs the agent of a config file, with its state in this folder or in the one that the config names. The outer error is bad input, the
/// inner one a run that could not go on.
pub fn run(path: &Path, state: Option<&Path>) -> Result<Result<Finished, Halt>> {
    let config = Config::read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let place = || path.display().to_string();
    let (ties, schedule) = (config.ties(), config.step.build().with_context(place)?);
    let method = config.method.build().with_context(place)?;
    let said = layout::describe(&*method, &schedule);
    if said != config.identity.method {
        bail!(
            "{}: the config was changed after it was planned: its method is {said}, and it was planned for {}",
            place(),
            config.identity.method
        );
    }
    if config.digest()? != config.sha256 {
        bail!(
            "{}: the config was changed after it was planned: only addresses, limits and places may be",
            place()
        );
    }
    let problem = config.problem(folder).with_context(place)?;
    method.check(&*problem).with_context(place)?;
    let task =
        Task { method: &*method, problem: &*problem, ties: &ties, schedule, seed: config.identity.seed };

    config.network.check().with_context(place)?;
    let state = state.map_or_else(|| folder.join(&config.state), Path::to_owned);
    let _lock = lock(&state)?;
    let fingerprint = config.identity.fingerprint();
    let (checkpoints, found) = Checkpoints::open(&state, fingerprint, ties.agent)?;
    let rounds_kept = History::enough(config.checkpoint_every, config.lag);
    let history = Arc::new(task.history(config.identity.run_id(), rounds_kept));
    let mut agent = Agent::new(task, Arc::clone(&history)).with_context(place)?;
    if let Some(Checkpoint { k, state: row, sent }) = found {
        let [_, pull, push] = task.widths();
        let fits = |sent: &Sent| sent.pull.len() == pull && sent.push.len() == push;
        if k > config.identity.rounds || !sent.iter().all(fits) || !sent.is_sorted_by(|a, b| a.at < b.at) {
            bail!("{}: a checkpoint of round {k} that is none of this run", state.display());
        }
        agent.resume(k, &row).map_err(anyhow::Error::msg).with_context(|| state.display().to_string())?;
        history.restore(sent);
        tracing::info!(round = k, "going on from the checkpoint of round {k}");
    }
    let (at, [width, ..]) = (agent.k(), task.widths());
    let journal = match Journal::open(&state, fingerprint, width, agent.k()) {
        Ok(journal) => journal,
        Err(error) => {
            let place = state.join(crate::journal::FILE).display().to_string();
            match error.kind() {
                std::io::ErrorKind::StorageFull => return Ok(Err(Halt::NotNow(format!("{place}: {error}")))),
                _ => return Err(error).context(place),
            }
        }
    };

    let status = Arc::new(Status::new(&ties, config.identity.rounds));
    if let Some(address) = &config.metrics {
        metrics::serve(address.clone(), Arc::clone(&status)).context("metrics")?;
    }
    let options = ZenohOptions {
        endpoints: &config.network,
        identity: config.identity.clone(),
        ties: &ties,
        rows: task.rows(),
        history,
        status: Arc::clone(&status),
        patience: config.patience(),
        guard: config.guard(),
        ends_file: Some(state.join("ends.json")),
    };
    let mut link = match ZenohLink::open(options) {
        Ok(link) => link,
        // the address may be another's, its own last process's, say, or not there yet
        Err(error) => {
            return Ok(Err(Halt::NotNow(format!("listening at {}: {error}", config.network.listen))));
        }
    };
    ctrlc::set_handler(link.stopper()).context("cannot listen for signals")?;

    let estimates = match config.network.observed {
        true => Some(Estimates::new(&link, &config.identity).context("publishing estimates")?),
        false => None,
    };
    let say = |k: u64, state: &[f64]| {
        estimates.iter().for_each(|to| to.say(k, method.estimate(state, problem.dim())));
    };
    let mut run = Run {
        config: &config,
        say: &say,
        agent,
        link: &mut link,
        checkpoints,
        journal,
        status: &status,
        saved: None,
        looked: Instant::now(),
    };
    let finished = Finished::read(&state, config.identity.run_id());
    status.begin(at);
    // who was cut off may have a checkpoint of a later round than the one that it went back to
    let done = match finished.filter(|finished| finished.round <= at) {
        Some(finished) => Ok(finished), // there is no round to go on with, but others may need what it sent
        None => {
            run.finish(&state).map_err(|error| Halt::new(error, run.agent.k(), config.checkpoint_every > 0))
        }
    };
    drop(run);
    let done = match done {
        Ok(finished) => {
            status.finish();
            tracing::info!(round = finished.round, diverged = finished.diverged, "done");
            let lingered = link.linger(&ties, finished.round, Duration::from_secs_f64(config.linger));
            if let Ok(false) = lingered {
                tracing::info!("those that hear this agent have not all come to their end");
            }
            Ok(finished)
        }
        halted => halted,
    };
    link.close();
    Ok(done)
}

/// Keeps a second process of the same agent away from its files, for as long as this one lives.
fn lock(state: &Path) -> Result<std::fs::File> {
    let path = state.join("lock");
    let place = || path.display().to_string();
    std::fs::create_dir_all(state).with_context(place)?;
    let file = std::fs::File::create(&path).with_context(place)?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(std::fs::TryLockError::WouldBlock) => bail!("{}: this agent runs already", place()),
        Err(std::fs::TryLockError::Error(error)) => Err(error).with_context(place),
    }
}

/// How rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All are done.
    Completed,
    /// The state is beyond all bounds.
    Diverged,
    /// In the middle of a round, because a neighbour's state is: back to the last round that was recorded.
    Cut,
}

/// A run under way.
struct Run<'a, 'r> {
    config: &'r Config,
    /// Tells an observer of a state, if there may be one.
    say: &'r dyn Fn(u64, &[f64]),
    agent: Agent<'a>,
    link: &'r mut ZenohLink,
    checkpoints: Checkpoints,
    journal: Journal,
    status: &'r Status,
    /// The round of the last checkpoint that this process wrote.
    saved: Option<u64>,
    looked: Instant,
}

impl Run<'_, '_> {
    /// Round after round, with records and checkpoints.
    fn finish(&mut self, folder: &Path) -> Result<Finished, LinkError> {
        let (rounds, every) = (self.config.identity.rounds, self.config.record_every);
        let (began, first) = (Instant::now(), self.agent.k());
        let (mut seconds, mut seconds_first) = (Duration::ZERO, None);
        let end = loop {
            let k = self.agent.k();
            if k.is_multiple_of(every) || k == rounds {
                if let Err(error) = self.journal.append(k, self.agent.state()) {
                    tracing::error!(round = k, "the state is not recorded yet: {error}");
                    self.wait_for_room(|run| Ok(!run.journal.is_full() || run.journal.sync().is_ok()))?;
                }
                (self.say)(k, self.agent.state());
                if !is_sound(self.agent.state()) {
                    break End::Diverged;
                }
            }
            if k == rounds {
                break End::Completed;
            }
            if self.link.is_stopped() {
                return Err(LinkError::Stopped); // the slowest of all never waits, and would never hear of it
            }
            if k.is_multiple_of(self.config.checkpoint_every) && k > first {
                self.checkpoint();
            }
            let round = Instant::now();
            match self.agent.round(self.link) {
                Ok(()) => {}
                // a neighbour whose state is beyond all bounds sends nothing more
                Err(LinkError::Ended { from, round }) => {
                    tracing::warn!("agent {from} ended at round {round}, so this one does at round {k}");
                    break End::Cut;
                }
                Err(error) => return Err(error),
            }
            seconds += round.elapsed();
            seconds_first.get_or_insert(seconds);
            self.look();
            self.status.reach(self.agent.k(), self.agent.stepping());
        };
        // what is finished must be found by whoever comes back
        self.wait_for_room(|run| Ok((end != End::Cut || run.go_back()?) && run.checkpoint()))?;
        let neighbours = self.status.report().neighbours;
        let finished = Finished {
            run: self.config.identity.run_id(),
            round: self.agent.k(),
            diverged: end != End::Completed,
            seconds: seconds.as_secs_f64(),
            seconds_first: seconds_first.unwrap_or_default().as_secs_f64(),
            waited: neighbours.iter().map(|of| of.waited).sum(),
            rounds: self.agent.k().saturating_sub(first),
            asked: neighbours.iter().map(|of| of.asked).sum(),
        };
        if let Ok(json) = serde_json::to_string(&finished)
            && let Err(error) = write_whole(&folder.join(Finished::FILE), json.as_bytes())
        {
            tracing::error!("{}: {error}", Finished::FILE);
        }
        tracing::info!(seconds = began.elapsed().as_secs_f64(), "all rounds are done");
        Ok(finished)
    }

    /// Goes back to the last state that was recorded, of which all agents have one. What was sent since then stays in the history.
    fn go_back(&mut self) -> Result<bool, LinkError> {
        match self.journal.sync().and_then(|()| self.journal.last()) {
            Ok(Some((k, state))) => {
                self.saved = None; // a checkpoint of that round has less history
                self.agent.resume(k, &state).map(|()| true).map_err(LinkError::Network)
            }
            Ok(None) => Err(LinkError::Network("the states that were recorded are lost".to_owned())),
            Err(error) => {
                tracing::error!("no way back to a round: {error}");
                Ok(false)
            }
        }
    }

    /// Tries again and again what a full disk may not have room for.
    fn wait_for_room(
        &mut self,
        mut is_done: impl FnMut(&mut Self) -> Result<bool, LinkError>,
    ) -> Result<(), LinkError> {
        while !is_done(self)? {
            if self.link.is_stopped() {
                return Err(LinkError::Stopped);
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        Ok(())
    }

    /// Looks at the agent's own loss, now and then: for those who watch, and not a part of the run.
    fn look(&mut self) {
        const EVERY: Duration = Duration::from_secs(2);
        if self.looked.elapsed() >= EVERY {
            let loss = self.agent.loss();
            self.status.loss(loss);
            self.looked = Instant::now();
        }
    }

    /// Writes a checkpoint, after the states before it; whether it is there. If it cannot be written the run goes on all the same.
    fn checkpoint(&mut self) -> bool {
        let k = self.agent.k();
        if self.saved == Some(k) {
            return true;
        }
        let (state, sent) = (self.agent.state(), self.agent.history().snapshot());
        let saved = self.journal.sync().and_then(|()| self.checkpoints.save(k, state, &sent));
        match saved {
            Ok(()) => {
                self.saved = Some(k);
                self.status.checkpoint(k);
            }
            Err(error) => tracing::error!(round = k, "no checkpoint at round {k}: {error}"),
        }
        self.saved == Some(k)
    }
}

/// Writes a file: first aside, then into its place.
pub(crate) fn write_whole(path: &Path, content: &[u8]) -> std::io::Result<()> {
    let mut aside = path.as_os_str().to_owned();
    aside.push(".part");
    std::fs::write(&aside, content)?;
    std::fs::rename(&aside, path)
}
