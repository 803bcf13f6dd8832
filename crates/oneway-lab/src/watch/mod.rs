//! Results folders as the live page shows them, while they are filled and afterwards.

mod folder;
mod places;
mod shown;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use oneway_experiment::live::{self, Run};
use oneway_experiment::results::manifest::Manifest;
use oneway_watch::hub::Hub;
use oneway_watch::model::{Axis, Colour, Head, Quantity as ShownQuantity};
use oneway_watch::server::Server;

use crate::draw::figure::palette::Palette;
use crate::draw::figure::quantity::{Against, Quantity};
use folder::Folder;

pub(crate) use places::places;

/// Some results folders, shown.
#[derive(Debug)]
pub(crate) struct Folders {
    title: String,
    all: Vec<Folder>,
}

impl Folders {
    /// These folders, or those in them. Refused where there is nothing to show, now or later.
    pub(crate) fn open(dirs: &[PathBuf]) -> Result<Self> {
        let mut all: Vec<PathBuf> = vec![];
        for dir in dirs {
            let found = inside(dir)?;
            all.extend(found.into_iter().filter(|path| !all.contains(path)).collect::<Vec<_>>());
        }
        let title = |dir: &PathBuf| {
            let whole = dir.canonicalize().unwrap_or_else(|_| dir.clone());
            whole.file_name().unwrap_or_default().to_string_lossy().into_owned()
        };
        let several = all.len() > 1;
        Ok(Self {
            title: dirs.iter().map(title).collect::<Vec<_>>().join(", "),
            all: all.into_iter().enumerate().map(|(at, path)| Folder::new(at, path, several)).collect(),
        })
    }

    /// Looks at what has changed since the last time, and publishes it.
    pub(crate) fn look(&mut self, hub: &Hub) {
        self.all.iter_mut().for_each(Folder::reload);
        let methods: Vec<String> = self.all.iter().flat_map(Folder::methods).collect();
        let palette = Palette::new(methods.iter().map(String::as_str));
        let cells = self.all.iter().map(Folder::count).sum::<usize>();
        self.all.iter_mut().for_each(|folder| folder.publish(hub, &palette, most_points(cells)));
        hub.publish("head", &self.head());
    }

    fn head(&self) -> Head {
        let states: Vec<(&'static str, String)> = self.all.iter().map(Folder::state).collect();
        let first = |wanted: &str| states.iter().find(|(state, _)| *state == wanted);
        let shown = ["running", "died", "ended", "waiting"].iter().find_map(|state| first(state));
        let (state, about) = shown.cloned().unwrap_or(("waiting", "nothing here yet".to_owned()));
        let mut notes: Vec<String> = vec![];
        for note in self.all.iter().flat_map(Folder::notes) {
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
        Head {
            title: self.title.clone(),
            state,
            about,
            notes,
            quantities: Quantity::ALL.map(shown_quantity).to_vec(),
            axes: AXES.map(|against| Axis { key: against.key(), title: against.label() }).to_vec(),
            colours: COLOURS.to_vec(),
        }
    }
}

/// What curves are drawn over.
const AXES: [Against; 3] = [Against::Iterations, Against::BytesSent, Against::Time];

fn shown_quantity(quantity: Quantity) -> ShownQuantity {
    ShownQuantity {
        key: quantity.key(),
        title: quantity.title(),
        label: quantity.label(),
        log: quantity != Quantity::Accuracy,
    }
}

const COLOURS: [Colour; 3] = [
    Colour {
        key: "distance",
        title: "distance from x\u{304}",
        label: "‖xᵢ − x\u{304}‖",
        log: true,
        missing: "not sampled",
    },
    Colour {
        key: "loss",
        title: "own loss",
        label: "fᵢ(xᵢ)",
        log: false,
        missing: "not sampled: taking it would have cost this run more than half a per cent of its time",
    },
    Colour {
        key: "lag",
        title: "lag",
        label: "steps behind the fastest agent",
        log: false,
        missing: "all agents keep step: only asynchronous runs have lags",
    },
];

/// Points of a line, fewer where there are many.
fn most_points(cells: usize) -> usize {
    (40_000 / cells.max(1)).clamp(60, 2000)
}

/// The folder itself, if it shows anything, or those in it that do.
fn inside(dir: &Path) -> Result<Vec<PathBuf>> {
    let shows = |dir: &Path| Run::read(dir).is_some() || dir.join(Manifest::FILE).is_file();
    if shows(dir) {
        return Ok(vec![dir.to_owned()]);
    }
    let entries = std::fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    let mut folders: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    folders.retain(|folder| shows(folder));
    folders.sort();
    if folders.is_empty() {
        bail!(
            "{} has no results, nor a run that shows itself: there is no {}, and no {}/ of a run with --live",
            dir.display(),
            Manifest::FILE,
            live::FOLDER
        );
    }
    Ok(folders)
}

/// A server that shows folders, from its own threads, until it is dropped.
#[derive(Debug)]
pub(crate) struct Watching {
    hub: Arc<Hub>,
    server: Server,
    stopped: Arc<AtomicBool>,
}

impl Watching {
    /// Listens on this port, or on any that is free, if possible the `usual` one.
    pub(crate) fn listen(port: Option<u16>, usual: Option<u16>) -> Result<Self> {
        let hub = Arc::new(Hub::default());
        let usual = usual.filter(|_| port.is_none());
        let server = match usual.and_then(|port| Server::start(Some(port), Arc::clone(&hub)).ok()) {
            Some(server) => server,
            None => Server::start(port, Arc::clone(&hub)).with_context(|| match port {
                Some(port) => format!("cannot listen on 127.0.0.1:{port}: give another --port"),
                None => "cannot listen on 127.0.0.1".to_owned(),
            })?,
        };
        Ok(Self { hub, server, stopped: Arc::default() })
    }

    /// Where the page is.
    pub(crate) fn server(&self) -> &Server {
        &self.server
    }

    /// Shows these folders from now on. While nobody looks, neither do we.
    pub(crate) fn show(&self, mut folders: Folders) -> Result<()> {
        const EVERY: Duration = Duration::from_millis(250);
        let (hub, stopped) = (Arc::clone(&self.hub), Arc::clone(&self.stopped));
        folders.look(&hub);
        std::thread::Builder::new().name("look".to_owned()).spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                if hub.is_watched() {
                    folders.look(&hub);
                }
                std::thread::sleep(EVERY);
            }
        })?;
        Ok(())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::Relaxed);
    }
}
