//! `oneway-agent run`: one agent, from its config to its last round, through restarts.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::agent::{Agent, Task};
use crate::checkpoint::saver::Saver;
use crate::checkpoint::{Checkpoint, Checkpoints};
use crate::config::Config;
use crate::files;
use crate::finished::Finished;
use crate::history::{History, Sent};
use crate::journal::{self, Journal, JournalError, Shape};
use crate::layout;
use crate::link::LinkError;
use crate::metrics;
use crate::net::observer::Estimates;
use crate::net::{ZenohLink, ZenohOptions};
use crate::owner::check_json;
use crate::recent::Recent;
use crate::rounds::{Disk, Rounds};
use crate::seldom::Seldom;
use crate::status::Status;

/// Where an agent notes which neighbours have come to their end.
const ENDS: &str = "ends.json";

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
    /// It is done, and others that hear it are not.
    #[error(
        "done, but not all that hear this agent are ({0} waited for them): start it again if one of them needs what it sent"
    )]
    Needed(String),
    /// Starting again would lead to the same.
    #[error("{0}")]
    Fatal(LinkError),
    /// What it has on disk is not what it computes.
    #[error(transparent)]
    Disk(JournalError),
}

impl Halt {
    /// Whether it goes on, or does more, when it is started again.
    pub fn is_resumable(&self) -> bool {
        matches!(self, Halt::Resumable(_) | Halt::NotNow(_) | Halt::Needed(_))
    }

    /// What an error means to an agent that has done so many rounds, with or without checkpoints.
    pub(crate) fn new(error: LinkError, round: u64, checkpoints: bool) -> Self {
        match error {
            LinkError::Gone { .. } | LinkError::Refused { .. } | LinkError::Gradient(_) => Halt::Fatal(error),
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
    method.check_problem(&*problem).with_context(place)?;
    let task =
        Task { method: &*method, problem: &*problem, ties: &ties, schedule, seed: config.identity.seed };

    config.network.check().with_context(place)?;
    let state = state.map_or_else(|| folder.join(&config.state), Path::to_owned);
    let _lock = match lock(&state)? {
        Some(lock) => lock,
        None => return Ok(Err(Halt::NotNow(format!("{}: this agent runs already", state.display())))),
    };
    let owner = config.owner()?;
    let (mut checkpoints, found) = Checkpoints::open(&state, owner)?;
    let finished = Finished::read(&state, &owner)?;
    check_json(&state.join(ENDS), &owner)?;
    let [width, pull, push] = task.widths();
    let shape = Shape { width, every: config.record_every, rounds: config.identity.rounds };
    if !found.is_empty() && !state.join(journal::FILE).exists() {
        bail!(
            "{}: it is missing, and what was recorded before the checkpoint cannot be recorded again: put it back, or remove the agent's folder to begin the run anew",
            state.join(journal::FILE).display()
        );
    }
    let mut journal = match Journal::open(&state, owner, shape) {
        Err(JournalError::Io { path, source }) if source.kind() == std::io::ErrorKind::StorageFull => {
            return Ok(Err(Halt::NotNow(format!("{}: {source}", path.display()))));
        }
        journal => journal?,
    };
    let mut recent = Recent::new(config.lag);
    let rounds_kept = History::enough(config.checkpoint_every, config.lag);
    let history = Arc::new(task.history(config.identity.run_id(), rounds_kept));
    let mut agent = Agent::new(task, Arc::clone(&history)).with_context(place)?;
    if let Some(chosen) = choose(&mut checkpoints, found, &journal, config.checkpoint_every)? {
        let (sent, Checkpoint { k, state: row, recent: states, .. }) = (checkpoints.sent(&chosen)?, chosen);
        let fits = |sent: &Sent| sent.pull.len() == pull && sent.push.len() == push;
        let fit = states.iter().all(|(_, state)| state.len() == width) && sent.iter().all(fits);
        if k > config.identity.rounds || !fit || !sent.is_sorted_by(|a, b| a.at < b.at) {
            bail!("{}: a checkpoint of round {k} that is none of this run", state.display());
        }
        agent.resume(k, &row).map_err(anyhow::Error::msg).with_context(|| state.display().to_string())?;
        recent.restore(states);
        history.restore(sent);
        tracing::info!(round = k, "going on from the checkpoint of round {k}");
    }
    let at = agent.k();
    journal.go_on_at(at)?;
    let sent_until = checkpoints.sent_until();
    let saver =
        journal.handle().and_then(|handle| Saver::start(checkpoints, handle)).context("checkpoints")?;
    let disk = Disk { folder: &state, owner, shape, journal, recent, saver, sent_until };

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
        ends_file: Some((state.join(ENDS), owner)),
    };
    if let Err(error) = can_listen(&config.network.listen) {
        return Ok(Err(Halt::NotNow(format!("listening at {}: {error}", config.network.listen))));
    }
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
        estimates.iter().for_each(|to| to.say(k, &state[..problem.dim()]));
    };
    let mut rounds = Rounds {
        config: &config,
        say: &say,
        agent,
        link: &mut link,
        disk,
        status: &status,
        saved: None,
        looked: Instant::now(),
        complaints: Seldom::default(),
    };
    status.begin(at);
    // who was cut off may have a checkpoint of a later round than the one that it went back to
    let done = match finished.filter(|finished| finished.round <= at) {
        Some(finished) => Ok(finished), // there is no round to go on with, but others may need what it sent
        None => rounds.finish(),
    };
    drop(rounds);
    let done = match done {
        Ok(finished) => {
            status.finish();
            tracing::info!(round = finished.round, diverged = finished.diverged, "done");
            let began = Instant::now();
            match link.linger(&ties, finished.round, Duration::from_secs_f64(config.linger)) {
                Ok(true) => Ok(finished),
                Ok(false) => Err(Halt::Needed(format!("{:.0} s", began.elapsed().as_secs_f64()))),
                Err(error) => Err(Halt::Resumable(error)),
            }
        }
        halted => halted,
    };
    link.close();
    Ok(done)
}

/// Which of the checkpoints that were found, the newest first, is gone on from: the newest before which nothing is missing in the
/// journal. Nothing is begun anew in silence.
fn choose(
    checkpoints: &mut Checkpoints,
    found: Vec<Checkpoint>,
    journal: &Journal,
    checkpoint_every: u64,
) -> Result<Option<Checkpoint>> {
    let place = journal.path().display();
    let Some(oldest) = found.last().map(|oldest| oldest.k) else {
        let Some(reached) = journal.reaches() else { return Ok(None) };
        // the first one is there at the latest when the second one is due
        if checkpoint_every > 0 && reached > 2 * checkpoint_every {
            bail!(
                "{place}: there are states of rounds up to {reached}, and no checkpoint: put checkpoint-a and checkpoint-b back, or remove the agent's folder to begin the run anew"
            );
        }
        tracing::warn!(
            "{place}: there is no checkpoint: beginning anew; what was recorded up to round {reached} is compared"
        );
        return Ok(None);
    };
    let newest = found[0].k;
    let Some(chosen) = found.into_iter().find(|found| journal.holds(found.k)) else {
        return Err(journal.fault(oldest).into());
    };
    if chosen.k < newest {
        tracing::warn!(
            "{place}: states are missing before the checkpoint of round {newest}: the one of round {} is used",
            chosen.k
        );
        checkpoints.go_back();
    }
    Ok(Some(chosen))
}

/// Says at once what is wrong with the address of an endpoint such as tcp/10.0.0.1:7450: no such host, or none of this machine's. One
/// that is taken may be free in a moment.
fn can_listen(endpoint: &str) -> std::io::Result<()> {
    let address = endpoint.split_once('/').map_or(endpoint, |(_, address)| address);
    let address = address.split(['?', '#']).next().unwrap_or(address);
    match std::net::TcpListener::bind(address) {
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => Err(error),
        _ => Ok(()),
    }
}

/// Keeps a second process of the same agent away from its files, for as long as this one lives; nothing if there is one.
fn lock(state: &Path) -> Result<Option<std::fs::File>> {
    let path = state.join("lock");
    let place = || path.display().to_string();
    files::make_folder(state).with_context(place)?;
    let file = files::private().write(true).create(true).truncate(false).open(&path).with_context(place)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error).with_context(place),
    }
}
