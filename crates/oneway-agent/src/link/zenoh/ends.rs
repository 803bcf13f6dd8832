//! Which neighbours are done, and which of them know that this agent is.
//!
//! An agent that is done continues to serve until its receivers are done. It announces its own end in two
//! ways: by a token, which an agent that is restarted finds; and by a request to its senders to note it,
//! until they answer that they have. A token alone can be lost on a bad link when its session ends, and
//! disappears with its process. What was noted is on disk: an agent that is killed and restarted does not
//! wait for a neighbour that has left.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::disk::owner::Owner;

/// What an agent knows of its neighbours' ends.
#[derive(Debug, Default)]
pub(super) struct Ends {
    file: Option<PathBuf>,
    known: Mutex<Known>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    /// Neighbours with a token, and the round in it.
    seen: BTreeMap<usize, u64>,
    /// The content of the file.
    noted: Noted,
}

/// What is on disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Noted {
    owner: Owner,
    /// Neighbours that have said that they are done.
    done: BTreeMap<usize, u64>,
    /// Neighbours that have noted that this agent is done.
    told: BTreeSet<usize>,
}

impl Ends {
    /// Reads the file, if there is one of this owner. `None` keeps everything in memory.
    pub(super) fn open(file: Option<(PathBuf, Owner)>) -> Self {
        let (file, owner) = file.unzip();
        let owner = owner.unwrap_or_default();
        let bytes = file.as_ref().and_then(|file| std::fs::read(file).ok());
        let noted = bytes.and_then(|bytes| serde_json::from_slice::<Noted>(&bytes).ok());
        let noted = noted.filter(|noted| noted.owner == owner).unwrap_or(Noted { owner, ..Noted::default() });
        let known = Known { seen: BTreeMap::new(), noted };
        Self { file, known: Mutex::new(known), news: Condvar::new() }
    }

    /// A neighbour has a token: it is done.
    pub(super) fn see(&self, who: usize, round: u64) {
        self.lock().seen.insert(who, round);
        self.news.notify_all();
    }

    /// A neighbour says that it is done.
    pub(super) fn note(&self, who: usize, round: u64) -> io::Result<()> {
        self.change(|noted| _ = noted.done.insert(who, round))
    }

    /// A neighbour has noted that this agent is done.
    pub(super) fn told(&self, who: usize) -> io::Result<()> {
        self.change(|noted| _ = noted.told.insert(who))
    }

    /// Changes what is on disk. If that fails, nothing changes.
    fn change(&self, change: impl FnOnce(&mut Noted)) -> io::Result<()> {
        let mut known = self.lock();
        let mut noted = known.noted.clone();
        change(&mut noted);
        if noted != known.noted {
            if let Some(file) = &self.file {
                crate::files::write_whole(file, &serde_json::to_vec(&noted)?)?;
            }
            known.noted = noted;
        }
        drop(known);
        self.news.notify_all();
        Ok(())
    }

    /// The last round of a neighbour that is done.
    pub(super) fn of(&self, who: usize) -> Option<u64> {
        let known = self.lock();
        known.noted.done.get(&who).or(known.seen.get(&who)).copied()
    }

    /// Whether a neighbour has said that it is done, and that is on disk.
    pub(super) fn is_noted(&self, who: usize) -> bool {
        self.lock().noted.done.contains_key(&who)
    }

    /// Whether a neighbour knows that this agent is done.
    pub(super) fn is_told(&self, who: usize) -> bool {
        self.lock().noted.told.contains(&who)
    }

    /// Waits for news, at most for this time.
    pub(super) fn wait(&self, at_most: Duration) {
        drop(self.news.wait_timeout(self.lock(), at_most));
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_noted_is_known_after_a_restart_and_what_was_seen_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let of = |agent| Owner { agent, ..Owner::default() };
        let open = |agent| Ends::open(Some((folder.path().join("ends.json"), of(agent))));
        let ends = open(7);
        ends.see(1, 500);
        ends.note(2, 400).unwrap();
        ends.told(3).unwrap();
        assert_eq!((ends.of(1), ends.of(2), ends.is_noted(1)), (Some(500), Some(400), false));
        let again = open(7);
        assert_eq!((again.of(1), again.of(2), again.is_noted(2)), (None, Some(400), true));
        assert!(again.is_told(3) && !again.is_told(2));
        assert_eq!(open(8).of(2), None, "of another agent");
        std::fs::write(folder.path().join("ends.json"), "{").unwrap();
        assert_eq!(open(7).of(2), None, "damaged");
        let nowhere = Ends::open(Some((folder.path().join("none/ends.json"), of(7))));
        assert!(nowhere.note(2, 400).is_err() && !nowhere.is_noted(2), "what is not on disk is not noted");
    }
}
