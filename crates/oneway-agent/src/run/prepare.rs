//! What an agent does before it meets anybody: it finds out whether it can run, and from which round on.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

use crate::agent::{Agent, Task};
use crate::disk::checkpoint::saver::Saver;
use crate::disk::checkpoint::{Checkpoint, Checkpoints};
use crate::disk::finished::Finished;
use crate::disk::journal::{self, Journal, JournalError, Shape};
use crate::disk::owner::{Owner, check_json};
use crate::disk::recent::Recent;
use crate::files;
use crate::plan::config::Config;
use crate::rounds::{Disk, Halt};
use crate::watch::status::Status;
use crate::wire::Number;
use crate::wire::history::{History, Sent, rounds_needed};

/// The file in which an agent notes which neighbours are done.
const ENDS: &str = "ends.json";

/// An agent that can begin.
pub(super) struct Ready<'r, T: Number> {
    pub(super) config: &'r Config,
    pub(super) task: Task<'r>,
    pub(super) agent: Agent<'r, T>,
    pub(super) history: Arc<History<T>>,
    pub(super) disk: Disk<'r, T>,
    pub(super) status: Arc<Status>,
    /// How it ended before, if it did.
    pub(super) finished: Option<Finished>,
    /// Where it notes which neighbours are done.
    pub(super) ends: PathBuf,
    /// Held while it runs.
    _lock: std::fs::File,
}

/// Prepares an agent whose states are kept in this folder. The outer error is bad input; the inner one says why
/// it cannot begin now.
pub(super) fn prepare<'r, T: Number>(
    config: &'r Config,
    task: Task<'r>,
    state: &'r Path,
) -> Result<Result<Ready<'r, T>, Halt>> {
    // what a method or a problem cannot do is found before anything is written
    let rounds_kept = rounds_needed(config.checkpoint_every, config.lag);
    let history = Arc::new(task.history::<T>(config.identity.run_id(), rounds_kept));
    let mut agent = Agent::new(task, Arc::clone(&history))
        .with_context(|| format!("agent {} at its start", config.identity.agent))?;
    let lock = match lock(state)? {
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
    journal.go_on_at(agent.k())?;
    let sent_until = checkpoints.sent_until();
    let saver =
        journal.handle().and_then(|handle| Saver::start(checkpoints, handle)).context("checkpoints")?;
    let disk = Disk { folder: state, owner, shape, journal, recent, saver, sent_until };

    let status = Arc::new(Status::new(task.ties, config.identity.rounds));
    let ends = state.join(ENDS);
    Ok(Ok(Ready { config, task, agent, history, disk, status, finished, ends, _lock: lock }))
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
