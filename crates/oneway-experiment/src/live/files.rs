//! The files of `live/`: written whole, read with bounds.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use oneway::engine::metrics::Measurement;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{FOLDER, Places, now};
use crate::experiment::plan::Cell;
use crate::files::replace;
use crate::results::cells::{CellStatus, body};
use crate::results::curves::point_from_csv;

/// Which cells there are.
pub(super) const RUN: &str = "run.json";

/// The version of these files.
const FORMAT: u32 = 1;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 64 << 20;

/// `run.json`: what runs, on which networks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// Version of the format.
    format: u32,
    /// When it began, in seconds since 1970.
    pub began: f64,
    /// Its process.
    pub process: u32,
    /// `completed`, `interrupted` or `failed`; nothing while it runs, or if it was killed.
    pub ended: Option<String>,
    /// All cells, in the order of the output.
    pub cells: Vec<RunCell>,
    /// The networks that they are on.
    pub networks: Vec<Network>,
}

/// A cell of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunCell {
    /// What its files are called by; cells that share one are the same run.
    pub key: String,
    /// What the topology is called.
    pub topology: String,
    /// What the method is called.
    pub method: String,
    /// Which repetition it is, from 0.
    pub repetition: u64,
    /// Rounds to be done.
    pub iterations: u64,
    /// Which of the networks it is on.
    pub network: usize,
}

/// A network as it is drawn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Network {
    /// What the topology is called.
    pub name: String,
    /// `full`, `trees`, `lazy-trees` or `complete`.
    pub graph: String,
    /// How many agents.
    pub agents: usize,
    /// After how many rounds links come again.
    pub period: usize,
    /// The links; none where they are too many to draw.
    pub links: Vec<Link>,
    /// Where agents stand, in a square from −1 to 1, y downwards; none where they are too many to draw.
    pub places: Vec<(f64, f64)>,
}

/// Messages go this way.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The sender.
    pub from: usize,
    /// The receiver.
    pub to: usize,
    /// 1 for the pull graph, 2 for the push graph, 3 for both.
    pub graphs: u8,
    /// The rounds of the period in which it is there; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rounds: Vec<usize>,
}

/// How far a cell is: its own file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Rounds done.
    pub round: u64,
    /// When that was, in seconds since 1970.
    pub at: f64,
    /// Rounds a second since the last look, or of the whole run where there was none.
    pub rate: f64,
    /// How it ended; nothing while it runs.
    pub status: Option<CellStatus>,
    /// Lines of `curves.csv`, without names, evenly fewer where there are many; none once the whole curve is
    /// kept in `cells/`.
    points: String,
    /// What was found of the laws.
    pub checked: Checked,
    /// The agents.
    pub agents: Option<Agents>,
}

/// What was found of the laws in all states that were measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Checked {
    /// How many states were measured.
    pub states: u64,
    /// The largest of ‖v̄ − m̄‖ and |w̄ − 1|, where the method conserves anything.
    pub conservation: Option<f64>,
    /// The smallest F(x̄) − F*, where F* is known.
    pub gap: Option<f64>,
    /// States with a loss that is no finite number.
    pub not_finite: u64,
}

impl Checked {
    /// Takes one more state into account.
    pub fn add(&mut self, point: &Measurement) {
        let larger = |a: Option<f64>, b: f64| Some(a.map_or(b, |a| if b > a || b.is_nan() { b } else { a }));
        self.states += 1;
        self.not_finite += u64::from(!point.loss.is_finite());
        if let Some(error) = point.conservation_error {
            self.conservation = larger(self.conservation, error);
        }
        if let Some(gap) = point.loss_gap {
            self.gap = larger(self.gap.map(|gap| -gap), -gap).map(|gap| -gap);
        }
    }

    /// What is found in a whole curve.
    pub fn of(points: &[Measurement]) -> Self {
        points.iter().fold(Self::default(), |mut checked, point| {
            checked.add(point);
            checked
        })
    }
}

/// Numbers of each agent, or means over groups of agents that follow each other where there are many.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Agents {
    /// Rounds done when they were taken.
    pub round: u64,
    /// Agents in a group.
    pub group: usize,
    /// ‖x_i − x̄‖.
    pub distance: Vec<Option<f32>>,
    /// f_i(x_i), where it costs little: it may be of an earlier round.
    pub loss: Option<Vec<Option<f32>>>,
    /// How many steps it is behind the agent with most, where agents do not wait.
    pub lag: Option<Vec<Option<f32>>>,
}

impl Run {
    /// A run of these cells that begins.
    pub fn new(cells: &[Cell<'_>], places: Places<'_>) -> Self {
        let mut networks: Vec<Network> = vec![];
        let mut of = |cell: &Cell<'_>| {
            // links that a method does not use are not drawn, so that a network may differ by method
            let network = Network::new(cell.entry, places);
            networks.iter().position(|other| *other == network).unwrap_or_else(|| {
                networks.push(network);
                networks.len() - 1
            })
        };
        let mut rows: Vec<RunCell> = vec![];
        for cell in cells {
            let before = rows.last().filter(|last| {
                cell.repetition > 0
                    && (&last.topology, &last.method) == (&cell.entry.topology_name, &cell.entry.method_name)
            });
            rows.push(RunCell {
                key: cell.key.clone(),
                topology: cell.entry.topology_name.clone(),
                method: cell.entry.method_name.clone(),
                repetition: cell.repetition,
                iterations: cell.entry.run.iterations,
                network: before.map_or_else(|| of(cell), |last| last.network),
            });
        }
        Self { format: FORMAT, began: now(), process: std::process::id(), ended: None, cells: rows, networks }
    }

    /// The run that shows itself in a results folder, or did.
    pub fn read(results: &Path) -> Option<Self> {
        read(&results.join(FOLDER).join(RUN)).filter(|run: &Self| {
            let sound = |cell: &RunCell| cell.network < run.networks.len() && is_key(&cell.key);
            run.format == FORMAT && run.cells.iter().all(sound) && run.networks.iter().all(Network::is_sound)
        })
    }

    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write(&folder.join(RUN), self)
    }
}

impl Network {
    fn is_sound(&self) -> bool {
        let there = |link: &Link| link.from < self.agents && link.to < self.agents;
        (self.places.is_empty() || self.places.len() == self.agents) && self.links.iter().all(there)
    }
}

impl Snapshot {
    pub(super) fn new(round: u64, rate: f64, points: &[Measurement], checked: Checked) -> Self {
        Self { round, at: now(), rate, status: None, points: body(points), checked, agents: None }
    }

    /// Where a cell keeps it.
    pub fn path(results: &Path, key: &str) -> PathBuf {
        results.join(FOLDER).join(format!("{key}.json"))
    }

    /// That of a cell, if it has begun.
    pub fn read(path: &Path) -> Option<Self> {
        read(path)
    }

    pub(super) fn write(&self, path: &Path) -> Result<()> {
        write(path, self)
    }

    /// What was measured.
    pub fn points(&self) -> Vec<Measurement> {
        self.points.lines().map_while(point_from_csv).collect()
    }
}

/// Whether it can name a file: a hash.
fn is_key(key: &str) -> bool {
    !key.is_empty() && key.len() <= 128 && key.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn write(path: &Path, value: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(value)?;
    replace(path, &path.with_extension("part"), &mut File::options(), |file| file.write_all(&text))
        .with_context(|| path.display().to_string())
}

/// Nothing if it is not there, too large, or not what we wrote.
fn read<T: DeserializeOwned>(path: &Path) -> Option<T> {
    let mut text = vec![];
    File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok().filter(|_| text.len() as u64 <= LARGEST)
}

/// Removes the files of cells, whole or not.
pub(super) fn remove_cells(folder: &Path) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| folder.display().to_string())?;
    for path in entries.filter_map(|entry| Some(entry.ok()?.path())) {
        let ours = path.extension().is_some_and(|end| end == "json" || end == "part");
        if ours && path.file_stem().and_then(|stem| stem.to_str()).is_some_and(is_key) {
            remove(&path)?;
        }
    }
    Ok(())
}

/// Removes a file, if it is there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove {}", path.display()))
        }
        _ => Ok(()),
    }
}
