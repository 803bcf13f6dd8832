//! Logs of arrivals of asynchronous cells: written beside the results, and replayed from there.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use oneway::engine::Engine;
use oneway::engine::asynchronous::{Asynchronous, Log};

use crate::experiment::clock::Timing;
use crate::experiment::plan::Cell;
use crate::results::cells::Ran;
use crate::results::folder::{ARRIVALS, OutputFolder};

/// The folder of logs in a results folder.
const FOLDER: &str = "arrivals";
/// Bytes of a log, at most: what is larger is not ours.
const LARGEST: u64 = 1 << 30;

/// Writes the log of every asynchronous cell that ran; returns where, if there is one.
///
/// A cell is run once more for it, without measuring, and must end in the state in which it ended.
pub fn write(folder: &OutputFolder, ran: &[Ran<'_>]) -> Result<Option<PathBuf>> {
    let folder = OutputFolder::prepare(folder.path())?; // with a list of its own
    let mut place = None;
    for ran in ran {
        let Timing::Asynchronous(clock) = ran.cell.entry.timing else { continue };
        let mut engine = Asynchronous::logging(ran.cell.setup(), clock)?;
        (0..ran.result.end.rounds).try_for_each(|_| engine.round())?;
        let log = engine.log().context("no log was kept")?.with_label(&ran.cell.key);
        if log.state_hash() != ran.result.end.state_hash {
            bail!("{}: run once more for its log, it ended in another state", ran.cell);
        }
        let logs = folder.inside(FOLDER)?;
        logs.write(&format!("{}.log", ran.cell.key), log.to_bytes())?;
        place = Some(logs.path().to_owned());
    }
    folder.settle(ARRIVALS)?;
    Ok(place)
}

/// Reads a log, and says whose results folder it is in.
pub fn read(path: &Path) -> Result<(Log, PathBuf)> {
    if path.is_dir() {
        bail!("{}: {}", path.display(), about_folder(path));
    }
    let read = || {
        let mut bytes = vec![];
        fs::File::open(path)?.take(LARGEST + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > LARGEST {
            bail!("it has more than {LARGEST} bytes, which no log of arrivals has");
        }
        Ok(Log::from_bytes(&bytes)?)
    };
    let log = read().with_context(|| path.display().to_string())?;
    let parent = |path: &Path| match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Some(PathBuf::from(".")),
        other => other.map(Path::to_owned),
    };
    let whole = fs::canonicalize(path).with_context(|| path.display().to_string())?;
    let folder = parent(&whole).and_then(|logs| parent(&logs));
    Ok((log, folder.with_context(|| format!("{} is in no results folder", path.display()))?))
}

/// What to say to a folder in place of a log.
fn about_folder(path: &Path) -> String {
    for logs in [path.to_owned(), path.join(FOLDER)] {
        let entries = fs::read_dir(&logs).into_iter().flatten().flatten().map(|entry| entry.path());
        if entries.filter(|entry| entry.extension().is_some_and(|ending| ending == "log")).count() > 0 {
            return format!("it is a folder: give its logs, {}", logs.join("*.log").display());
        }
    }
    "it is a folder without logs of arrivals: `oneway run FILE --log-arrivals` writes them".to_owned()
}

/// Runs a cell again as its log says: the hash of its final state.
pub fn replay(cell: &Cell<'_>, log: &Log) -> oneway::Result<String> {
    let mut engine = Asynchronous::replay(cell.setup(), log)?;
    (0..log.units()).try_for_each(|_| engine.round())?;
    Ok(engine.state_hash())
}
