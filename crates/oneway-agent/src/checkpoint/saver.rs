//! Checkpoints are written by a thread of their own, one at a time, while rounds go on.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::{Checkpoints, Content};
use crate::history::Sent;

/// What is to be written: a copy of the state, and the rows that were sent as they are in memory.
#[derive(Debug)]
struct Job {
    k: u64,
    state: Vec<f64>,
    recent: Vec<(u64, Vec<f64>)>,
    sent: Vec<Sent>,
    oldest: u64,
}

/// How it went.
#[derive(Debug)]
pub struct Done {
    /// The round of the checkpoint.
    pub k: u64,
    /// Why it is not there.
    pub result: io::Result<()>,
    /// The last round of which it is on disk what was sent.
    pub sent_until: Option<u64>,
    /// What the state was copied to, for the next one.
    state: Vec<f64>,
}

/// The thread that writes checkpoints. What it has begun it ends, also when nobody waits for it any more.
#[derive(Debug)]
pub struct Saver {
    jobs: Option<SyncSender<Job>>,
    done: Receiver<Done>,
    is_busy: bool,
    spare: Vec<f64>,
    thread: Option<JoinHandle<()>>,
}

impl Saver {
    /// Starts it. Before a checkpoint the journal, of which it has a handle, is synced.
    pub fn start(checkpoints: Checkpoints, journal: File) -> io::Result<Self> {
        let ((jobs, to_do), (say, done)) = (sync_channel(1), sync_channel(1));
        let save = move || save_all(checkpoints, &journal, &to_do, &say);
        let thread = std::thread::Builder::new().name("checkpoints".to_owned()).spawn(save)?;
        Ok(Self { jobs: Some(jobs), done, is_busy: false, spare: vec![], thread: Some(thread) })
    }

    /// Begins a checkpoint, when the one before is done: wait for it first.
    pub fn begin(&mut self, Content { k, state, recent, sent, oldest }: &Content<'_>) {
        let mut copy = std::mem::take(&mut self.spare);
        copy.clear();
        copy.extend_from_slice(state);
        let (recent, sent) = (recent.to_vec(), sent.to_vec());
        let job = Job { k: *k, state: copy, recent, sent, oldest: *oldest };
        self.is_busy = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
    }

    /// How the last one went, if it is done by now.
    pub fn look(&mut self) -> Option<Done> {
        let done = self.done.try_recv().ok();
        self.take(done)
    }

    /// How the last one went, when it is done; nothing if there is none.
    pub fn wait(&mut self) -> Option<Done> {
        let done = self.is_busy.then(|| self.done.recv().ok()).flatten();
        self.take(done)
    }

    fn take(&mut self, done: Option<Done>) -> Option<Done> {
        let mut done = done?;
        self.is_busy = false;
        self.spare = std::mem::take(&mut done.state);
        Some(done)
    }
}

impl Drop for Saver {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("checkpoints are written no more");
        }
    }
}

fn save_all(mut checkpoints: Checkpoints, journal: &File, jobs: &Receiver<Job>, done: &SyncSender<Done>) {
    for Job { k, state, recent, sent, oldest } in jobs {
        let content = Content { k, state: &state, recent: &recent, sent: &sent, oldest };
        let result = journal.sync_data().and_then(|()| checkpoints.save(&content));
        drop(sent); // rows go back to who will fill them again
        if done.send(Done { k, result, sent_until: checkpoints.sent_until(), state }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::Owner;

    fn begin(saver: &mut Saver, k: u64) {
        saver.begin(&Content { k, state: &[k as f64], recent: &[], sent: &[], oldest: 0 });
    }

    #[test]
    fn what_was_begun_is_ended_and_said_once() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Checkpoints::open(folder.path(), Owner::default()).unwrap();
        let journal = File::create(folder.path().join("states")).unwrap();
        let mut saver = Saver::start(open().0, journal).unwrap();
        assert!(saver.look().is_none() && saver.wait().is_none(), "nothing was begun");
        begin(&mut saver, 10);
        let done = saver.wait().unwrap();
        assert!(done.k == 10 && done.result.is_ok());
        assert!(saver.look().is_none() && saver.wait().is_none(), "it is said once");
        begin(&mut saver, 20);
        drop(saver); // as whoever is stopped
        let found: Vec<u64> = open().1.iter().map(|found| found.k).collect();
        assert_eq!(found, [20, 10]);
    }
}
