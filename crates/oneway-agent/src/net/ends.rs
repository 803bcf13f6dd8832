//! Who has come to its end, and who knows of ours.
//!
//! An agent that is done goes on serving until those that hear it are done. That it is done itself it says in two ways: by a token,
//! which whoever comes back finds; and by asking those that it hears to note it, until they say that they have. A token alone
//! can get lost on a bad link when its session ends.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What an agent knows of ends.
#[derive(Debug, Default)]
pub(super) struct Ends {
    known: Mutex<Known>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    /// Neighbours that are done, and at which round.
    done: BTreeMap<usize, u64>,
    /// Neighbours that know that this agent is.
    told: BTreeSet<usize>,
}

impl Ends {
    /// A neighbour is done.
    pub(super) fn note(&self, who: usize, round: u64) {
        self.lock().done.insert(who, round);
        self.news.notify_all();
    }

    /// A neighbour knows that this agent is done.
    pub(super) fn told(&self, who: usize) {
        self.lock().told.insert(who);
        self.news.notify_all();
    }

    /// The round at which a neighbour came to its end, if it has.
    pub(super) fn of(&self, who: usize) -> Option<u64> {
        self.lock().done.get(&who).copied()
    }

    /// Whether all of these are done.
    pub(super) fn are_done(&self, mut who: impl Iterator<Item = usize>) -> bool {
        let known = self.lock();
        who.all(|who| known.done.contains_key(&who))
    }

    /// Those who do not know yet that this agent is done.
    pub(super) fn untold(&self, who: impl Iterator<Item = usize>) -> Vec<usize> {
        let known = self.lock();
        who.filter(|who| !known.told.contains(who)).collect()
    }

    /// Waits for something new, at most so long.
    pub(super) fn wait(&self, at_most: Duration) {
        drop(self.news.wait_timeout(self.lock(), at_most));
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
