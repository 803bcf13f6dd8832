//! The loop over rounds, with records and checkpoints, to the end of a run.

use std::path::Path;
use std::time::{Duration, Instant};

use oneway::engine::is_sound;

use crate::agent::Agent;
use crate::disk::checkpoint::Content;
use crate::disk::checkpoint::saver::{Done, Saver};
use crate::disk::finished::Finished;
use crate::disk::journal::{self, Journal, JournalError, Shape};
use crate::disk::owner::Owner;
use crate::disk::recent::Recent;
use crate::link::LinkError;
use crate::link::zenoh::ZenohLink;
use crate::plan::config::Config;
use crate::watch::rate_limit::RateLimit;
use crate::watch::status::Status;
use crate::wire::{Number, wide};

/// Why an agent stopped before its end.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// When it is started again, it continues where it stopped.
    #[error("{0}; the state is kept: start this agent again to go on")]
    Resumable(LinkError),
    /// It did not begin, though its input is right: an address is in use, for example.
    #[error("{0}; start this agent again")]
    NotNow(String),
    /// It has no checkpoints, and its neighbours no longer have the rows that it would need to begin again.
    #[error("{0}; there are no checkpoints (`checkpoint_every` = 0): start the run again from its beginning")]
    Lost(LinkError),
    /// It is done, but some receivers of its rows are not.
    #[error(
        "done, but not all that hear this agent are ({0} waited for them): start it again if one of them needs what it sent"
    )]
    Needed(String),
    /// A restart would end in the same way.
    #[error("{0}")]
    Fatal(LinkError),
    /// What is on disk differs from what it computes.
    #[error(transparent)]
    Disk(JournalError),
}

impl Halt {
    /// Whether a restart helps.
    pub fn is_resumable(&self) -> bool {
        matches!(self, Halt::Resumable(_) | Halt::NotNow(_) | Halt::Needed(_))
    }

    /// What an error means for an agent that has done `round` rounds, with or without checkpoints.
    pub(crate) fn new(error: LinkError, round: u64, checkpoints: bool) -> Self {
        match error {
            LinkError::Gone { .. } | LinkError::Refused { .. } | LinkError::Gradient(_) => Halt::Fatal(error),
            _ if checkpoints || round == 0 => Halt::Resumable(error),
            _ => Halt::Lost(error),
        }
    }
}

/// How rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All rounds are done.
    Completed,
    /// The state has diverged.
    Diverged,
    /// In the middle of a round, because a neighbour's state has diverged: it goes back to the last round
    /// that was checked.
    Cut,
}

/// What an agent keeps on disk.
#[derive(Debug)]
pub(crate) struct Disk<'r, T> {
    pub(crate) folder: &'r Path,
    pub(crate) owner: Owner,
    pub(crate) shape: Shape,
    pub(crate) journal: Journal,
    pub(crate) recent: Recent<T>,
    pub(crate) saver: Saver<T>,
    /// The last round whose sent rows are on disk.
    pub(crate) sent_until: Option<u64>,
}

/// A run under way.
pub(crate) struct Rounds<'a, 'r, T: Number> {
    pub(crate) config: &'r Config,
    /// Publishes a state to observers, where they are allowed.
    pub(crate) say: &'r dyn Fn(u64, &[T]),
    pub(crate) agent: Agent<'a, T>,
    pub(crate) link: &'r mut ZenohLink<T>,
    pub(crate) disk: Disk<'r, T>,
    pub(crate) status: &'r Status,
    /// The round of the last checkpoint that this process wrote.
    pub(crate) saved: Option<u64>,
    pub(crate) looked: Instant,
    pub(crate) complaints: RateLimit,
}

impl<T: Number> Rounds<'_, '_, T> {
    /// Does all rounds that are left.
    pub(crate) fn finish(&mut self) -> Result<Finished, Halt> {
        let rounds = self.config.identity.rounds;
        let (began, first) = (Instant::now(), self.agent.k());
        let (mut seconds, mut seconds_first) = (Duration::ZERO, None);
        let end = loop {
            let k = self.agent.k();
            if k.is_multiple_of(self.config.look_every) || k == rounds {
                self.record()?;
                (self.say)(k, self.agent.state());
                if !is_sound(&wide(self.agent.state())) {
                    break End::Diverged;
                }
            }
            if k == rounds {
                break End::Completed;
            }
            if self.link.is_stopped() {
                return Err(self.halt(LinkError::Stopped)); // the slowest agent never waits, so it must look here
            }
            let round = Instant::now(); // the wait for a checkpoint included
            if k.is_multiple_of(self.config.checkpoint_every) && k > first {
                self.begin_checkpoint();
            }
            match self.agent.round(self.link) {
                Ok(()) => {}
                // a neighbour whose state has diverged sends nothing more
                Err(LinkError::Ended { from, round }) => {
                    tracing::warn!("agent {from} ended at round {round}, so this one does at round {k}");
                    break End::Cut;
                }
                Err(error) => return Err(self.halt(error)),
            }
            seconds += round.elapsed();
            seconds_first.get_or_insert(seconds);
            self.look_at_checkpoint();
            self.look();
            self.status.reach(self.agent.k(), self.agent.stepping());
        };
        // after a restart it must be known that this agent has finished
        self.wait_for_room(|run| {
            Ok((end != End::Cut || run.go_back()?)
                && (end == End::Completed || run.keep_recent())
                && run.checkpoint())
        })?;
        let neighbours = self.status.report().neighbours;
        let finished = Finished {
            owner: self.disk.owner,
            round: self.agent.k(),
            diverged: end != End::Completed,
            seconds: seconds.as_secs_f64(),
            seconds_first: seconds_first.unwrap_or_default().as_secs_f64(),
            waited: neighbours.iter().map(|of| of.waited).sum(),
            rounds: self.agent.k().saturating_sub(first),
            asked: neighbours.iter().map(|of| of.asked).sum(),
        };
        if let Err(error) = finished.write(self.disk.folder) {
            tracing::error!("{error:#}");
        }
        tracing::info!(seconds = began.elapsed().as_secs_f64(), "all rounds are done");
        Ok(finished)
    }

    fn halt(&self, error: LinkError) -> Halt {
        Halt::new(error, self.agent.k(), self.config.checkpoint_every > 0)
    }

    /// Records the state in rounds that are recorded; keeps other states for a while.
    fn record(&mut self) -> Result<(), Halt> {
        let (k, state) = (self.agent.k(), self.agent.state());
        if !self.disk.shape.is_recorded(k) {
            self.disk.recent.keep(k, state);
            return Ok(());
        }
        match self.disk.journal.append(k, state) {
            Ok(()) => Ok(()),
            Err(error @ JournalError::Io { .. }) => {
                self.complain(&format!("the state of round {k} is not recorded yet: {error}"));
                self.wait_for_room(|run| Ok(!run.disk.journal.is_full() || run.disk.journal.sync().is_ok()))
            }
            Err(error) => Err(Halt::Disk(error)),
        }
    }

    /// Goes back to the last state that was checked; all agents have one of that round. Rows sent since then
    /// stay in the history.
    fn go_back(&mut self) -> Result<bool, Halt> {
        let Disk { journal, recent, .. } = &mut self.disk;
        let recorded = match journal.sync().and_then(|()| journal.last::<T>()) {
            Ok(recorded) => recorded,
            Err(error) => {
                self.complain(&format!("cannot go back to a recorded round: {error}"));
                return Ok(false);
            }
        };
        let recent = recent.last().map(|(k, state)| (k, state.to_vec()));
        let lost = || self.halt(LinkError::Network("the states that were recorded are lost".to_owned()));
        let (k, state) = recorded.into_iter().chain(recent).max_by_key(|(k, _)| *k).ok_or_else(lost)?;
        self.end_checkpoint();
        self.saved = None; // a checkpoint of that round would have less history
        self.agent.resume(k, &state).map_err(|error| self.halt(LinkError::Network(error)))?;
        Ok(true)
    }

    /// Writes the last states, in one of which the run ended; whether that succeeded.
    fn keep_recent(&mut self) -> bool {
        let Disk { folder, owner, shape, recent, .. } = &self.disk;
        if recent.states().len() == 0 {
            return true;
        }
        let written = journal::write_recent(folder, *owner, *shape, recent.states());
        if let Err(error) = &written {
            self.complain(&format!("the last states are not recorded yet: {error}"));
        }
        written.is_ok()
    }

    /// Repeats what fails on a full disk until it succeeds.
    fn wait_for_room(
        &mut self,
        mut is_done: impl FnMut(&mut Self) -> Result<bool, Halt>,
    ) -> Result<(), Halt> {
        while !is_done(self)? {
            if self.link.is_stopped() {
                return Err(self.halt(LinkError::Stopped));
            }
            std::thread::sleep(Duration::from_secs(1));
        }
        Ok(())
    }

    /// Computes the agent's own loss from time to time, for its status. It is not a part of the run.
    fn look(&mut self) {
        const EVERY: Duration = Duration::from_secs(2);
        if self.looked.elapsed() >= EVERY {
            let loss = self.agent.loss();
            self.status.loss(loss);
            self.looked = Instant::now();
        }
    }

    /// Logs what is wrong with the disk, at a limited rate.
    fn complain(&mut self, what: &str) {
        if let Some(words) = self.complaints.say(what) {
            tracing::error!("{words}");
        }
    }

    /// Begins a checkpoint, once the one before is done and the states before it are written. If it fails,
    /// the run continues.
    fn begin_checkpoint(&mut self) {
        let k = self.agent.k();
        self.end_checkpoint();
        if let Err(error) = self.disk.journal.flush() {
            return self.has_failed(k, &error);
        }
        let mut sent = self.agent.history().snapshot();
        let oldest = sent.first().map_or(k, |oldest| oldest.at.round);
        sent.retain(|sent| self.disk.sent_until.is_none_or(|until| until < sent.at.round));
        let recent: Vec<_> = self.disk.recent.states().map(|(k, state)| (k, state.to_vec())).collect();
        let state = self.agent.state();
        self.disk.saver.begin(&Content { k, state, recent: &recent, sent: &sent, oldest });
    }

    /// Waits for the checkpoint that was begun.
    fn end_checkpoint(&mut self) {
        let done = self.disk.saver.wait();
        self.note_checkpoint(done);
    }

    /// Checks whether it is done.
    fn look_at_checkpoint(&mut self) {
        let done = self.disk.saver.look();
        self.note_checkpoint(done);
    }

    fn note_checkpoint(&mut self, done: Option<Done<T>>) {
        let Some(Done { k, result, sent_until, .. }) = done else { return };
        self.disk.sent_until = sent_until;
        match result {
            Ok(()) => {
                self.saved = Some(k);
                self.status.checkpoint(k);
            }
            Err(error) => self.has_failed(k, &error),
        }
    }

    fn has_failed(&mut self, k: u64, error: &std::io::Error) {
        self.status.checkpoint_failed();
        self.complain(&format!("no checkpoint at round {k}: {error}"));
    }

    /// Writes a checkpoint of this round, if there is none yet; whether that succeeded.
    fn checkpoint(&mut self) -> bool {
        let k = self.agent.k();
        if self.saved != Some(k) {
            self.begin_checkpoint();
            self.end_checkpoint();
        }
        self.saved == Some(k)
    }
}
