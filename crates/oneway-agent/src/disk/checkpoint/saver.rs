//! A thread that writes checkpoints, one at a time, while rounds continue.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::{Checkpoints, Content};
use crate::wire::Number;
use crate::wire::history::Sent;

/// What to write: a copy of the state, and the sent rows, shared with the agent.
#[derive(Debug)]
struct Job<T> {
    k: u64,
    state: Vec<T>,
    recent: Vec<(u64, Vec<T>)>,
    sent: Vec<Sent<T>>,
    oldest: u64,
}

/// The result of a checkpoint.
#[derive(Debug)]
pub struct Done<T = f64> {
    /// The round of the checkpoint.
    pub k: u64,
    /// Whether it was written.
    pub result: io::Result<()>,
    /// The last round whose sent rows are on disk.
    pub sent_until: Option<u64>,
    /// The buffer of the state's copy, to be used again.
    state: Vec<T>,
}

/// The thread that writes checkpoints. When this is dropped, it finishes the one that it has begun.
#[derive(Debug)]
pub struct Saver<T = f64> {
    jobs: Option<SyncSender<Job<T>>>,
    done: Receiver<Done<T>>,
    is_busy: bool,
    spare: Vec<T>,
    thread: Option<JoinHandle<()>>,
}

impl<T: Number> Saver<T> {
    /// Starts the thread. It syncs the journal before each checkpoint.
    pub fn start(checkpoints: Checkpoints, journal: File) -> io::Result<Self> {
        let ((jobs, to_do), (say, done)) = (sync_channel(1), sync_channel(1));
        let save = move || save_all(checkpoints, &journal, &to_do, &say);
        let thread = std::thread::Builder::new().name("checkpoints".to_owned()).spawn(save)?;
        Ok(Self { jobs: Some(jobs), done, is_busy: false, spare: vec![], thread: Some(thread) })
    }

    /// Begins a checkpoint. [Wait](Self::wait) for the one before first.
    pub fn begin(&mut self, Content { k, state, recent, sent, oldest }: &Content<'_, T>) {
        let mut copy = std::mem::take(&mut self.spare);
        copy.clear();
        copy.extend_from_slice(state);
        let (recent, sent) = (recent.to_vec(), sent.to_vec());
        let job = Job { k: *k, state: copy, recent, sent, oldest: *oldest };
        self.is_busy = self.jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok());
    }

    /// The result of the last one, if it is done.
    pub fn look(&mut self) -> Option<Done<T>> {
        let done = self.done.try_recv().ok();
        self.take(done)
    }

    /// Waits for the result of the last one; nothing if none was begun.
    pub fn wait(&mut self) -> Option<Done<T>> {
        let done = self.is_busy.then(|| self.done.recv().ok()).flatten();
        self.take(done)
    }

    fn take(&mut self, done: Option<Done<T>>) -> Option<Done<T>> {
        let mut done = done?;
        self.is_busy = false;
        self.spare = std::mem::take(&mut done.state);
        Some(done)
    }
}

impl<T> Drop for Saver<T> {
    fn drop(&mut self) {
        drop(self.jobs.take());
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that writes checkpoints has failed");
        }
    }
}

fn save_all<T: Number>(
    mut checkpoints: Checkpoints,
    journal: &File,
    jobs: &Receiver<Job<T>>,
    done: &SyncSender<Done<T>>,
) {
    for Job { k, state, recent, sent, oldest } in jobs {
        let content = Content { k, state: &state, recent: &recent, sent: &sent, oldest };
        let result = journal.sync_data().and_then(|()| checkpoints.save(&content));
        drop(sent); // so that the agent can fill these rows again
        if done.send(Done { k, result, sent_until: checkpoints.sent_until(), state }).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::owner::Owner;

    fn begin(saver: &mut Saver, k: u64) {
        saver.begin(&Content { k, state: &[k as f64], recent: &[], sent: &[], oldest: 0 });
    }

    #[test]
    fn what_was_begun_is_ended_and_said_once() {
        let folder = tempfile::tempdir().unwrap();
        let open = || Checkpoints::open::<f64>(folder.path(), Owner::default()).unwrap();
        let journal = File::create(folder.path().join("states")).unwrap();
        let mut saver = Saver::start(open().0, journal).unwrap();
        assert!(saver.look().is_none() && saver.wait().is_none(), "nothing was begun");
        begin(&mut saver, 10);
        let done = saver.wait().unwrap();
        assert!(done.k == 10 && done.result.is_ok());
        assert!(saver.look().is_none() && saver.wait().is_none(), "it is said once");
        begin(&mut saver, 20);
        drop(saver); // as when an agent is stopped
        let found: Vec<u64> = open().1.iter().map(|found| found.k).collect();
        assert_eq!(found, [20, 10]);
    }
}
