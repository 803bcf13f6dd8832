//! `oneway-agent run`: one agent, from its config to its last round, through restarts.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use oneway::numeric::Precision;

use crate::agent::{Agent, Task};
use crate::disk::checkpoint::saver::Saver;
use crate::disk::checkpoint::{Checkpoint, Checkpoints};
use crate::disk::finished::Finished;
use crate::disk::journal::{self, Journal, JournalError, Shape};
use crate::disk::owner::{Owner, check_json};
use crate::disk::recent::Recent;
use crate::files;
use crate::link::zenoh::observer::Estimates;
use crate::link::zenoh::{ZenohLink, ZenohOptions};
use crate::plan::config::{Config, describe};
use crate::rounds::{Disk, Halt, Rounds};
use crate::watch::metrics;
use crate::watch::rate_limit::RateLimit;
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::history::{Sent, rounds_needed};

/// The file in which an agent notes which neighbours are done.
const ENDS: &str = "ends.json";

/// Runs the agent of a config file. Its state is in the given folder, or in the one that the config names.
/// The outer error is bad input; the inner one is a run that could not continue.
pub fn run(path: &Path, state: Option<&Path>) -> Result<Result<Finished, Halt>> {
    let config = Config::read(path)?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let place = || path.display().to_string();
    let (ties, schedule) = (config.ties(), config.step.build().with_context(place)?);
    let recipe = config.recipe().with_context(place)?;
    let method = recipe.build().with_context(place)?;
    let said = describe(&recipe, &config.step)?;
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
    config.network.check().with_context(place)?;
    let state = state.map_or_else(|| folder.join(&config.state), Path::to_owned);
    let task =
        Task { method: &*method, problem: &*problem, ties: &ties, schedule, seed: config.identity.seed };

    match config.identity.precision {
        Precision::F64 => run_task::<f64>(&config, task, &state),
        Precision::F32 => run_task::<f32>(&config, task, &state),
    }
}

/// Runs an agent whose states are kept in this folder, in the precision of T.
fn run_task<T: Number>(config: &Config, task: Task<'_>, state: &Path) -> Result<Result<Finished, Halt>> {
    let Task { ties, problem, .. } = task;
    // what a method or a problem cannot do is found before anything is written
    let rounds_kept = rounds_needed(config.checkpoint_every, config.lag);
    let history = Arc::new(task.history::<T>(config.identity.run_id(), rounds_kept));
    let mut agent = Agent::new(task, Arc::clone(&history))
        .with_context(|| format!("agent {} at its start", config.identity.agent))?;
    let _lock = match lock(state)? {
        Some(lock) => lock,
        None => return Ok(Err(Halt::NotNow(format!("{}: this agent runs already", state.display())))),
    };
    let owner = Owner::from_config(config)?;
    let (mut checkpoints, found) = Checkpoints::open(state, owner)?;
    let finished = Finished::read(state, &owner)?;
    check_json(&state.join(ENDS), &owner)?;
    let [width, pull, push] = task.widths();
    let shape = Shape::new(config, width);
    if !found.is_empty() && !state.join(journal::FILE).exists() {
        bail!(
            "{}: it is missing, and what was recorded before the checkpoint cannot be recorded again: put it back, or remove the agent's folder to begin the run again",
            state.join(journal::FILE).display()
        );
    }
    let mut journal = match Journal::open(state, owner, shape) {
        Err(JournalError::Io { path, source }) if source.kind() == std::io::ErrorKind::StorageFull => {
            return Ok(Err(Halt::NotNow(format!("{}: {source}", path.display()))));
        }
        journal => journal?,
    };
    let mut recent = Recent::new(config.lag);
    if let Some(chosen) = choose(&mut checkpoints, found, &journal, config.checkpoint_every)? {
        let (sent, Checkpoint { k, state: row, recent: states, .. }) = (checkpoints.sent(&chosen)?, chosen);
        let fits = |sent: &Sent<T>| sent.pull.len() == pull && sent.push.len() == push;
        let fit = states.iter().all(|(_, state)| state.len() == width) && sent.iter().all(fits);
        if k > config.identity.rounds || !fit || !sent.is_sorted_by(|a, b| a.at < b.at) {
            bail!("{}: the checkpoint of round {k} does not belong to this run", state.display());
        }
        agent.resume(k, &row).map_err(anyhow::Error::msg).with_context(|| state.display().to_string())?;
        recent.restore(states);
        history.restore(sent);
        tracing::info!(round = k, "resuming from the checkpoint of round {k}");
    }
    let at = agent.k();
    journal.go_on_at(at)?;
    let sent_until = checkpoints.sent_until();
    let saver =
        journal.handle().and_then(|handle| Saver::start(checkpoints, handle)).context("checkpoints")?;
    let disk = Disk { folder: state, owner, shape, journal, recent, saver, sent_until };

    let status = Arc::new(Status::new(ties, config.identity.rounds));
    if let Some(address) = &config.metrics {
        metrics::serve(address.clone(), Arc::clone(&status)).context("metrics")?;
    }
    let options = ZenohOptions {
        endpoints: &config.network,
        identity: config.identity.clone(),
        ties,
        rows: task.rows(),
        history,
        status: Arc::clone(&status),
        patience: config.patience(),
        guard: config.guard(),
        ends_file: Some((state.join(ENDS), owner)),
    };
    if let Err(error) = can_listen(&config.network.listens_at()) {
        return Ok(Err(Halt::NotNow(format!("listening at {}: {error}", config.network.listen))));
    }
    let mut link = match ZenohLink::open(options) {
        Ok(link) => link,
        // the address may be in use, by its own last process for example, or not configured yet
        Err(error) => {
            return Ok(Err(Halt::NotNow(format!("listening at {}: {error}", config.network.listen))));
        }
    };
    ctrlc::set_handler(link.stopper()).context("cannot listen for signals")?;

    let estimates = match config.network.observed {
        true => Some(Estimates::new(&link, &config.identity).context("publishing estimates")?),
        false => None,
    };
    let say = |k: u64, state: &[T]| {
        estimates.iter().for_each(|to| to.say(k, &state[..problem.dim()]));
    };
    let mut rounds = Rounds {
        config,
        say: &say,
        agent,
        link: &mut link,
        disk,
        status: &status,
        saved: None,
        looked: Instant::now(),
        complaints: RateLimit::default(),
    };
    status.begin(at);
    // an agent that went back may have a checkpoint of a later round
    let done = match finished.filter(|finished| finished.round <= at) {
        Some(finished) => Ok(finished), // no rounds are left, but neighbours may need what it sent
        None => rounds.finish(),
    };
    drop(rounds);
    let done = match done {
        Ok(finished) => {
            status.finish();
            tracing::info!(round = finished.round, diverged = finished.diverged, "done");
            let began = Instant::now();
            match link.linger(ties, finished.round, Duration::from_secs_f64(config.linger)) {
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

/// Chooses the checkpoint to resume from: the newest before which the journal is complete. A run never begins
/// again in silence.
fn choose<T>(
    checkpoints: &mut Checkpoints,
    found: Vec<Checkpoint<T>>,
    journal: &Journal,
    checkpoint_every: u64,
) -> Result<Option<Checkpoint<T>>> {
    let place = journal.path().display();
    let Some(oldest) = found.last().map(|oldest| oldest.k) else {
        let Some(reached) = journal.reaches() else { return Ok(None) };
        // the first one is complete at the latest when the second one is due
        if checkpoint_every > 0 && reached > 2 * checkpoint_every {
            bail!(
                "{place}: there are states of rounds up to {reached}, and no checkpoint: put checkpoint-a and checkpoint-b back, or remove the agent's folder to begin the run again"
            );
        }
        tracing::warn!(
            "{place}: there is no checkpoint: beginning again; what was recorded up to round {reached} is compared"
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

/// Says early what is wrong with the address of an endpoint such as tcp/10.0.0.1:7450: no such host, or not
/// an address of this machine. An address that is in use passes: it may be free in a moment.
fn can_listen(endpoint: &str) -> std::io::Result<()> {
    let address = endpoint.split_once('/').map_or(endpoint, |(_, address)| address);
    let address = address.split(['?', '#']).next().unwrap_or(address);
    match std::net::TcpListener::bind(address) {
        Err(error) if error.kind() != std::io::ErrorKind::AddrInUse => Err(error),
        _ => Ok(()),
    }
}

/// Locks an agent's files while this process runs; nothing if another process has locked them.
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
