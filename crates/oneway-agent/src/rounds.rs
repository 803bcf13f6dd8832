//! Round after round, with records and checkpoints, to the end of a run.

use std::path::Path;
use std::time::{Duration, Instant};

use oneway::engine::is_sound;

use crate::agent::Agent;
use crate::checkpoint::Content;
use crate::checkpoint::saver::{Done, Saver};
use crate::config::Config;
use crate::finished::Finished;
use crate::journal::{self, Journal, JournalError, Shape};
use crate::link::LinkError;
use crate::net::ZenohLink;
use crate::owner::Owner;
use crate::recent::Recent;
use crate::run::Halt;
use crate::seldom::Seldom;
use crate::status::Status;

/// How rounds ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// All are done.
    Completed,
    /// The state is beyond all bounds.
    Diverged,
    /// In the middle of a round, because a neighbour's state is: back to the last round that was looked at.
    Cut,
}

/// What an agent keeps on disk.
#[derive(Debug)]
pub(crate) struct Disk<'r> {
    pub(crate) folder: &'r Path,
    pub(crate) owner: Owner,
    pub(crate) shape: Shape,
    pub(crate) journal: Journal,
    pub(crate) recent: Recent,
    pub(crate) saver: Saver,
    /// The last round of which it is on disk what was sent.
    pub(crate) sent_until: Option<u64>,
}

/// A run under way.
pub(crate) struct Rounds<'a, 'r> {
    pub(crate) config: &'r Config,
    /// Tells an observer of a state, if there may be one.
    pub(crate) say: &'r dyn Fn(u64, &[f64]),
    pub(crate) agent: Agent<'a>,
    pub(crate) link: &'r mut ZenohLink,
    pub(crate) disk: Disk<'r>,
    pub(crate) status: &'r Status,
    /// The round of the last checkpoint that this process wrote.
    pub(crate) saved: Option<u64>,
    pub(crate) looked: Instant,
    pub(crate) complaints: Seldom,
}

impl Rounds<'_, '_> {
    /// All rounds that are left.
    pub(crate) fn finish(&mut self) -> Result<Finished, Halt> {
        let rounds = self.config.identity.rounds;
        let (began, first) = (Instant::now(), self.agent.k());
        let (mut seconds, mut seconds_first) = (Duration::ZERO, None);
        let end = loop {
            let k = self.agent.k();
            if k.is_multiple_of(self.config.look_every) || k == rounds {
                self.record()?;
                (self.say)(k, self.agent.state());
                if !is_sound(self.agent.state()) {
                    break End::Diverged;
                }
            }
            if k == rounds {
                break End::Completed;
            }
            if self.link.is_stopped() {
                return Err(self.halt(LinkError::Stopped)); // the slowest of all never waits, and would never hear of it
            }
            let round = Instant::now(); // checkpoints that are waited for included
            if k.is_multiple_of(self.config.checkpoint_every) && k > first {
                self.begin_checkpoint();
            }
            match self.agent.round(self.link) {
                Ok(()) => {}
                // a neighbour whose state is beyond all bounds sends nothing more
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
        // what is finished must be found by whoever comes back
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

    /// Records the state of a round that is to be recorded, and keeps others for a while.
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

    /// Goes back to the last state that was looked at, of which all agents have one. What was sent since then stays in the history.
    fn go_back(&mut self) -> Result<bool, Halt> {
        let Disk { journal, recent, .. } = &mut self.disk;
        let recorded = match journal.sync().and_then(|()| journal.last()) {
            Ok(recorded) => recorded,
            Err(error) => {
                self.complain(&format!("no way back to a round: {error}"));
                return Ok(false);
            }
        };
        let recent = recent.last().map(|(k, state)| (k, state.to_vec()));
        let lost = || self.halt(LinkError::Network("the states that were recorded are lost".to_owned()));
        let (k, state) = recorded.into_iter().chain(recent).max_by_key(|(k, _)| *k).ok_or_else(lost)?;
        self.end_checkpoint();
        self.saved = None; // a checkpoint of that round has less history
        self.agent.resume(k, &state).map_err(|error| self.halt(LinkError::Network(error)))?;
        Ok(true)
    }

    /// Writes down the states in one of which the run has ended; whether they are there.
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

    /// Tries again and again what a full disk may not have room for.
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

    /// Looks at the agent's own loss, now and then: for those who watch, and not a part of the run.
    fn look(&mut self) {
        const EVERY: Duration = Duration::from_secs(2);
        if self.looked.elapsed() >= EVERY {
            let loss = self.agent.loss();
            self.status.loss(loss);
            self.looked = Instant::now();
        }
    }

    /// Says what is wrong with the disk, not more often than anybody can read it.
    fn complain(&mut self, what: &str) {
        if let Some(words) = self.complaints.say(what) {
            tracing::error!("{words}");
        }
    }

    /// Begins a checkpoint, after the states before it, when the one before is done. If it cannot be written the run goes on all the same.
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

    /// Looks whether it is there by now.
    fn look_at_checkpoint(&mut self) {
        let done = self.disk.saver.look();
        self.note_checkpoint(done);
    }

    fn note_checkpoint(&mut self, done: Option<Done>) {
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

    /// Writes a checkpoint of the present round; whether it is there.
    fn checkpoint(&mut self) -> bool {
        let k = self.agent.k();
        if self.saved != Some(k) {
            self.begin_checkpoint();
            self.end_checkpoint();
        }
        self.saved == Some(k)
    }
}
