//! Who has come to its end, and who knows of ours.
//!
//! An agent that is done goes on serving until those that hear it are done. That it is done itself it says in two ways: by a token,
//! which whoever comes back finds; and by asking those that it hears to note it, until they say that they have. A token alone
//! can get lost on a bad link when its session ends, and is gone with its process. What was noted is on disk: who is killed after that and
//! started again does not wait for somebody that has left.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::PathBuf;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::owner::Owner;

/// What an agent knows of ends.
#[derive(Debug, Default)]
pub(super) struct Ends {
    file: Option<PathBuf>,
    known: Mutex<Known>,
    news: Condvar,
}

#[derive(Debug, Default)]
struct Known {
    /// Neighbours that have a token of their end, and at which round it was.
    seen: BTreeMap<usize, u64>,
    /// What is on disk.
    noted: Noted,
}

/// What is known for ever.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Noted {
    owner: Owner,
    /// Neighbours that have said that they are done.
    done: BTreeMap<usize, u64>,
    /// Neighbours that know that this agent is.
    told: BTreeSet<usize>,
}

impl Ends {
    /// With what was noted in a file, if there is one, of this run.
    pub(super) fn open(file: Option<(PathBuf, Owner)>) -> Self {
        let (file, owner) = file.unzip();
        let owner = owner.unwrap_or_default();
        let bytes = file.as_ref().and_then(|file| std::fs::read(file).ok());
        let noted = bytes.and_then(|bytes| serde_json::from_slice::<Noted>(&bytes).ok());
        let noted = noted.filter(|noted| noted.owner == owner).unwrap_or(Noted { owner, ..Noted::default() });
        let known = Known { seen: BTreeMap::new(), noted };
        Self { file, known: Mutex::new(known), news: Condvar::new() }
    }

    /// A neighbour has a token that says that it is done.
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

    /// Changes what is known for ever, if the disk takes it.
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

    /// The round at which a neighbour came to its end, if it has.
    pub(super) fn of(&self, who: usize) -> Option<u64> {
        let known = self.lock();
        known.noted.done.get(&who).or(known.seen.get(&who)).copied()
    }

    /// Whether a neighbour has said itself that it is done.
    pub(super) fn is_noted(&self, who: usize) -> bool {
        self.lock().noted.done.contains_key(&who)
    }

    /// Whether a neighbour knows that this agent is done.
    pub(super) fn is_told(&self, who: usize) -> bool {
        self.lock().noted.told.contains(&who)
    }

    /// Waits for something new, at most so long.
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
