//! Finished runs, kept by content: a file for each, named by the hash of all that its result depends on, or one
//! for many that were finished together.
//!
//! A run that was interrupted goes on where it was, and a run with one setting changed computes only what
//! changed. An entry carries its own checksum; one that is damaged is computed again.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use anyhow::{Context, Result};
use oneway::engine::metrics::{self, Measurement};
use oneway::engine::observe::View;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::curves::{point_from_csv, point_to_csv};
use super::divergence;
use super::packs::Packs;
use crate::experiment::plan::Cell;
use crate::files::write_whole;
use crate::hash::sha256;

/// A cell and what came of it.
#[derive(Debug)]
pub struct Ran<'a> {
    /// The cell.
    pub cell: Cell<'a>,
    /// What came of it.
    pub result: CellResult,
}

/// A run that came to its end.
#[derive(Debug, Clone, PartialEq)]
pub struct CellResult {
    /// How it ended.
    pub end: End,
    /// What was measured, state by state.
    pub points: Arc<[Measurement]>,
    /// Where it ended, if that is asked for; results that were kept on disk do not have it.
    pub estimates: Option<Arc<Estimates>>,
}

/// Where a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimates {
    /// x̄.
    pub average: Vec<f64>,
    /// x_i of each agent, one after another.
    pub agents: Vec<f64>,
}

impl Estimates {
    /// Where a run is.
    pub(crate) fn of(view: &View<'_>) -> oneway::Result<Self> {
        let agents = (0..view.agents()).flat_map(|i| view.estimate(i)).copied().collect();
        Ok(Self { average: metrics::average(view)?, agents })
    }
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct End {
    /// In a word.
    pub status: CellStatus,
    /// Rounds done.
    pub rounds: u64,
    /// SHA-256 of all final states.
    pub state_hash: String,
    /// Time in rounds.
    pub seconds_stepping: f64,
    /// Time in measuring.
    pub seconds_observing: f64,
    /// Why it failed, if it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// [`oneway::engine::Status`], in a word, once the curve has been looked at too.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellStatus {
    /// All rounds were done.
    Completed,
    /// States or the curve went beyond all bounds.
    Diverged,
    /// All rounds were done, but an agent was left with next to no push-sum weight.
    Starved,
    /// The user stopped it.
    Stopped,
    /// A gradient or a loss could not be made.
    Failed,
}

impl CellStatus {
    /// The same, but diverged where the curve shows it of a run that did all its rounds.
    pub(crate) fn judged_by(self, points: &[Measurement]) -> Self {
        match self {
            Self::Completed | Self::Starved if divergence::shows(points) => Self::Diverged,
            status => status,
        }
    }

    /// Its name in `summary.json`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Diverged => "diverged",
            Self::Starved => "starved",
            Self::Stopped => "stopped",
            Self::Failed => "failed",
        }
    }

    /// Whether it ended by itself: a run that is made again ends in the same way.
    pub fn is_final(self) -> bool {
        !matches!(self, Self::Stopped | Self::Failed)
    }

    /// Whether all rounds were done, so that the last state is a result.
    pub fn came_to_its_end(self) -> bool {
        matches!(self, Self::Completed | Self::Starved)
    }
}

/// The first line of an entry.
#[derive(Serialize, Deserialize)]
struct Head {
    key: String,
    sha256: String,
    end: End,
}

/// A folder of finished runs, or none.
#[derive(Debug)]
pub struct CellStore {
    folder: Option<PathBuf>,
    /// Those that stand in one file, once somebody asks for one.
    packs: OnceLock<RwLock<Packs>>,
}

impl CellStore {
    /// The store of an output folder.
    pub fn new(folder: &Path) -> Self {
        Self { folder: Some(folder.join("cells")), packs: OnceLock::new() }
    }

    /// Keeps nothing.
    pub fn none() -> Self {
        Self { folder: None, packs: OnceLock::new() }
    }

    /// A store that is gone with the guard it comes in, for runs whose results must not be kept.
    pub fn scratch() -> Result<Scratch> {
        Ok(Scratch(tempfile::tempdir().context("cannot make a temporary folder")?))
    }

    fn packs(&self, folder: &Path) -> &RwLock<Packs> {
        self.packs.get_or_init(|| RwLock::new(Packs::of(folder)))
    }

    /// Keeps a result.
    pub(crate) fn put(&self, key: &str, result: &CellResult) -> Result<()> {
        let Some(folder) = &self.folder else { return Ok(()) };
        fs::create_dir_all(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
        write_whole(&path(folder, key), entry(key, result)?)
    }

    /// Keeps results that were finished together: in one file, where they are many.
    pub(crate) fn put_all(&self, results: &[(&str, &CellResult)]) -> Result<()> {
        /// Fewer have a file each, which can be looked at.
        const MANY: usize = 256;
        let Some(folder) = &self.folder else { return Ok(()) };
        if results.len() < MANY {
            return results.iter().try_for_each(|(key, result)| self.put(key, result));
        }
        let entries = results.par_iter().map(|(key, result)| Ok((*key, entry(key, result)?)));
        let entries = entries.collect::<Result<Vec<_>>>()?;
        fs::create_dir_all(folder).with_context(|| format!("cannot write to {}", folder.display()))?;
        self.packs(folder).write().unwrap_or_else(PoisonError::into_inner).put(folder, &entries)
    }

    /// Where a run of this key that is on its way is kept; nowhere in a store that keeps nothing.
    pub(crate) fn under_way(&self, key: &str) -> Option<PathBuf> {
        Some(self.folder.as_ref()?.join(format!("{key}.state")))
    }

    /// The result kept under `key`, if there is one and it is whole; a damaged one is reported and left for
    /// dead.
    pub fn get(&self, key: &str) -> Option<CellResult> {
        let folder = self.folder.as_ref()?;
        let path = path(folder, key);
        let packed = || self.packs(folder).read().unwrap_or_else(PoisonError::into_inner).get(key);
        let text = fs::read(&path).ok().or_else(packed)?;
        let result = String::from_utf8(text).ok().and_then(|text| read(key, &text));
        if result.is_none() {
            eprintln!("oneway: {} is damaged: computing it again", path.display());
        }
        result
    }
}

/// A result as it is kept.
fn entry(key: &str, result: &CellResult) -> Result<String> {
    let body = body(&result.points);
    let head = Head { key: key.to_owned(), sha256: sha256(&body), end: result.end.clone() };
    Ok(format!("{}\n{body}", serde_json::to_string(&head)?))
}

fn path(folder: &Path, key: &str) -> PathBuf {
    folder.join(format!("{key}.cell"))
}

/// A temporary folder for a store.
#[derive(Debug)]
pub struct Scratch(tempfile::TempDir);

impl Scratch {
    /// The store in it.
    pub fn store(&self) -> CellStore {
        CellStore::new(self.0.path())
    }
}

/// The lines of a curve, without names.
pub fn body(points: &[Measurement]) -> String {
    points.iter().map(|point| point_to_csv(point) + "\n").collect()
}

/// Reads what [`body`] wrote; `None` if it is not that.
pub fn points(body: &str) -> Option<Vec<Measurement>> {
    body.lines().map(point_from_csv).collect()
}

fn read(key: &str, text: &str) -> Option<CellResult> {
    let (head, body) = text.split_once('\n')?;
    let head: Head = serde_json::from_str(head).ok()?;
    let whole = head.key == key && head.sha256 == sha256(body);
    let points = points(body)?;
    whole.then_some(CellResult { end: head.end, points: points.into(), estimates: None })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> CellResult {
        let point = |iteration| Measurement {
            iteration,
            loss: 0.1 + 0.2,
            grad_norm_sq: 1e-9,
            consensus_error: 0.0,
            tracking_error: None,
            momentum_error: None,
            conservation_error: Some(1e-17),
            test_accuracy: Some(0.84),
            bytes_sent: Some(12),
            time: Some(0.1),
            loss_gap: Some(1.0 / 3.0),
            agents_grad_norm_sq: None,
            distance_sq: None,
        };
        let end = End {
            status: CellStatus::Diverged,
            rounds: 20,
            state_hash: "ab".repeat(32),
            seconds_stepping: 0.1,
            seconds_observing: 0.2,
            reason: None,
        };
        CellResult { end, points: Arc::new([point(0), point(10)]), estimates: None }
    }

    #[test]
    fn a_result_comes_back_whole() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::new(folder.path());
        assert_eq!(store.get("k"), None);
        store.put("k", &result()).unwrap();
        assert_eq!(store.get("k"), Some(result()));
    }

    #[test]
    fn many_results_come_back_out_of_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::new(folder.path());
        let (keys, result) = ((0..300).map(|at| format!("k{at}")).collect::<Vec<_>>(), result());
        let all: Vec<(&str, &CellResult)> = keys.iter().map(|key| (key.as_str(), &result)).collect();
        store.put_all(&all).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("cells")).unwrap().count(), 1);
        store.put_all(&all[..2]).unwrap(); // a few have files of their own
        assert_eq!(fs::read_dir(folder.path().join("cells")).unwrap().count(), 3);
        for store in [store, CellStore::new(folder.path())] {
            assert!(keys.iter().all(|key| store.get(key).as_ref() == Some(&result)));
            assert_eq!(store.get("k300"), None);
        }
    }

    #[test]
    fn damage_anywhere_is_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let store = CellStore::new(folder.path());
        store.put("k", &result()).unwrap();
        let whole = fs::read(path(&folder.path().join("cells"), "k")).unwrap();
        for cut in [0, 1, whole.len() / 2, whole.len() - 1] {
            fs::write(path(&folder.path().join("cells"), "k"), &whole[..cut]).unwrap();
            assert_eq!(store.get("k"), None, "cut to {cut} bytes");
        }
        // a digit of the curve changed: still readable, no longer what was computed
        let text = String::from_utf8(whole).unwrap().replace("0.84", "0.94");
        fs::write(path(&folder.path().join("cells"), "k"), text).unwrap();
        assert_eq!(store.get("k"), None);
        fs::write(path(&folder.path().join("cells"), "k"), [0xff, 0xfe, 0x00]).unwrap();
        assert_eq!(store.get("k"), None);
    }
}
