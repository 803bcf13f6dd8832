//! What a run shows of itself while it runs: a folder `live/` inside of its results folder, for `oneway
//! watch`.
//!
//! It is a state and not a history: `run.json` says which cells there are and on which networks, and each cell
//! that has begun has one small file, which it replaces a few times a second. So the folder is bounded, a
//! reader can come and go at any time, and what a killed run leaves behind is whole. A lock that the run
//! holds, and that the operating system frees when it dies, tells the two apart.
//!
//! It is no part of the results: nothing else reads it. Looking and writing take at most a fixed share of the
//! time of a cell (`pace.rs`), and change no bit of it.

mod cell;
mod files;
mod network;
mod pace;
mod thinned;

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::experiment::plan::{Cell, Entry};

pub(crate) use cell::CellLive;
pub use files::{Agents, Checked, Link, Network, Run, RunCell, Snapshot};

/// The folder's name.
pub const FOLDER: &str = "live";

/// In it, the port of 127.0.0.1 at which a run was last shown.
pub const PORT: &str = "port";

/// Held by the run that writes.
const LOCK: &str = "lock";

/// Where agents stand in a drawing of an entry's network: a square from −1 to 1, y downwards.
pub type Places<'a> = &'a dyn Fn(&Entry) -> Vec<(f64, f64)>;

/// Writes what a run shows of itself.
#[derive(Debug)]
pub struct Live {
    folder: PathBuf,
    run: Mutex<Run>,
    failed: AtomicBool,
    /// Locked for as long as this lives.
    _lock: File,
}

impl Live {
    /// Begins to show a run of these cells in a results folder, in place of what an earlier one showed there.
    /// Refused while another run shows itself in it.
    pub fn begin(results: &Path, cells: &[Cell<'_>], places: Places<'_>) -> Result<Self> {
        let folder = results.join(FOLDER);
        let place = || format!("cannot write to {}", folder.display());
        fs::create_dir_all(&folder).with_context(place)?;
        let lock = File::options().create(true).append(true).open(folder.join(LOCK)).with_context(place)?;
        if !is_locked_by_us(&lock) {
            bail!("{}: another run shows itself there; wait for it, or give another --out", folder.display());
        }
        files::remove_cells(&folder)?;
        let run = Run::new(cells, places);
        run.write(&folder)?;
        Ok(Self { folder, run: Mutex::new(run), failed: AtomicBool::new(false), _lock: lock })
    }

    /// Shows a cell that begins.
    pub(crate) fn cell(&self, cell: &Cell<'_>) -> CellLive<'_> {
        CellLive::new(self, cell)
    }

    /// Notes how the run ended: `completed` or `interrupted`. A run that is dropped before has failed.
    pub fn end(&self, how: &str) {
        let mut run = self.run.lock().unwrap_or_else(PoisonError::into_inner);
        run.ended = Some(how.to_owned());
        self.note(run.write(&self.folder));
    }

    /// A run goes on when its view cannot be written, and says so once.
    fn note(&self, written: Result<()>) {
        if let Err(error) = written
            && !self.failed.swap(true, Ordering::Relaxed)
        {
            eprintln!("oneway: the live view is not written any more: {error:#}");
        }
    }

    fn is_written(&self) -> bool {
        !self.failed.load(Ordering::Relaxed)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        let open = self.run.lock().unwrap_or_else(PoisonError::into_inner).ended.is_none();
        if open {
            self.end("failed");
        }
    }
}

/// Whether a run shows itself in this results folder now; `None` where the disk knows no locks.
pub fn is_running(results: &Path) -> Option<bool> {
    let lock = File::open(results.join(FOLDER).join(LOCK)).ok()?;
    match lock.try_lock_shared() {
        Ok(()) => Some(false), // and free again when it is closed
        Err(TryLockError::WouldBlock) => Some(true),
        Err(TryLockError::Error(_)) => None,
    }
}

/// Removes what an earlier run has shown in this results folder, unless it still does.
pub fn clear(results: &Path) -> Result<()> {
    let folder = results.join(FOLDER);
    if !folder.is_dir() || is_running(results) == Some(true) {
        return Ok(());
    }
    files::remove_cells(&folder)?;
    for name in [files::RUN, LOCK, PORT] {
        files::remove(&folder.join(name))?;
    }
    let _ = fs::remove_dir(&folder); // stays if there is anything else in it
    Ok(())
}

/// Whether we have the lock. Somebody who only asks whether it is held has it for a moment.
fn is_locked_by_us(lock: &File) -> bool {
    (0..40).any(|_| match lock.try_lock() {
        Ok(()) | Err(TryLockError::Error(_)) => true, // no locks on this disk: nobody else is there, we hope
        Err(TryLockError::WouldBlock) => {
            std::thread::sleep(Duration::from_millis(5));
            false
        }
    })
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests;
