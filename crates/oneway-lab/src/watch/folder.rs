//! One results folder, as the page shows it.

use std::path::{Path, PathBuf};

use anyhow::Result;
use oneway_experiment::Experiment;
use oneway_experiment::live::{self, Run, RunCell};
use oneway_experiment::plan::Plan;
use oneway_experiment::results::curves::{self, Curve};
use oneway_experiment::results::manifest::{CellRecord, Manifest};
use oneway_watch::hub::Hub;
use oneway_watch::model::{Cell, Link, Network};

use super::places;
use super::shown::{Shown, Stamp, stamp};
use crate::draw::figure::palette::Palette;

/// A results folder.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its place among those that are shown: what its documents are named by.
    at: usize,
    path: PathBuf,
    /// Its name, where there are several.
    group: String,
    stamps: [Stamp; 2],
    found: Found,
    cells: Vec<(RunCell, Shown)>,
    networks: Vec<live::Network>,
    /// Whether networks and names have changed since they were published.
    new: bool,
    /// How the cells' own state is to be read: whether their run is alive, and was when they were published.
    running: [Option<bool>; 2],
}

/// Where the cells are known from.
#[derive(Debug)]
enum Found {
    Nothing,
    /// A run that shows itself, or did: when it began, and how it ended.
    Live {
        began: f64,
        ended: Option<String>,
    },
    /// Results alone; what could not be found out besides.
    Results {
        trouble: Option<String>,
    },
}

impl Folder {
    pub(super) fn new(at: usize, path: PathBuf, several: bool) -> Self {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let group = if several { name } else { String::new() };
        let stamps = [None, None];
        let (cells, networks, running) = (vec![], vec![], [None, None]);
        Self { at, path, group, stamps, found: Found::Nothing, cells, networks, new: false, running }
    }

    /// Looks at what has changed on the disk.
    pub(super) fn reload(&mut self) {
        let of = |inner: &str| stamp(&self.path.join(inner));
        let stamps = [of(&format!("{}/run.json", live::FOLDER)), of(Manifest::FILE)];
        self.running[0] = live::is_running(&self.path);
        if stamps != self.stamps {
            match Run::read(&self.path) {
                Some(run) => self.follow(run),
                None if stamps[1].is_some() => self.read_results(),
                None => {} // a run that clears the folder before it begins, or a disk that is away
            }
            self.stamps = stamps;
        }
        if matches!(self.found, Found::Live { .. }) {
            self.cells.iter_mut().for_each(|(cell, shown)| shown.reload(&self.path, &cell.key));
        }
    }

    /// Shows a run that shows itself. What is known of cells that it has in common with the one before stays
    /// until they say more.
    fn follow(&mut self, run: Run) {
        let mut before: Vec<Option<(RunCell, Shown)>> =
            std::mem::take(&mut self.cells).into_iter().map(Some).collect();
        let same = matches!(self.found, Found::Live { began, .. } if began.to_bits() == run.began.to_bits());
        let mut shown = |(at, cell): (usize, &RunCell)| {
            let is_it =
                |known: &Option<(RunCell, Shown)>| known.as_ref().is_some_and(|(known, _)| known == cell);
            // the same place, unless the experiment was changed
            let at = if before.get(at).is_some_and(is_it) { Some(at) } else { before.iter().position(is_it) };
            let mut shown = at.and_then(|at| before[at].take()).map(|(_, shown)| shown).unwrap_or_default();
            if !same {
                shown.begin_again();
            }
            shown
        };
        let shown: Vec<Shown> = run.cells.iter().enumerate().map(&mut shown).collect();
        self.cells = run.cells.into_iter().zip(shown).collect();
        (self.networks, self.new) = (run.networks, true);
        self.found = Found::Live { began: run.began, ended: run.ended };
    }

    /// Shows finished results of a run that did not show itself.
    fn read_results(&mut self) {
        let read = || Ok((Manifest::read(&self.path)?, curves::read(&self.path.join(curves::FILE))?));
        let read: Result<(Manifest, Vec<Curve>)> = read();
        let (manifest, curves) = match read {
            Ok(read) => read,
            Err(error) => return self.found = Found::Results { trouble: Some(format!("{error:#}")) },
        };
        // the settings add networks, but may name files that have moved
        let (planned, trouble) = match planned(&manifest) {
            Ok(run) => (Some(run), None),
            Err(error) => (None, Some(format!("no networks: {error:#}"))),
        };
        let shown = |record: &CellRecord| {
            let curve = curves.iter().find(|curve| record.has_curve(curve));
            let points = curve.map_or(&[][..], |curve| &curve.points);
            let same = |cell: &&RunCell| {
                (&cell.topology, &cell.method, cell.repetition)
                    == (&record.topology, &record.method, record.repetition)
            };
            let known = planned.as_ref().and_then(|run| run.cells.iter().find(same));
            let cell = known.cloned().unwrap_or_else(|| RunCell {
                key: record.key.clone(),
                topology: record.topology.clone(),
                method: record.method.clone(),
                repetition: record.repetition,
                iterations: record.end.rounds,
                network: usize::MAX,
            });
            (cell, Shown::finished(record.end.status.name(), points))
        };
        self.cells = manifest.cells.iter().map(shown).collect();
        self.networks = planned.map_or(vec![], |run| run.networks);
        (self.found, self.new) = (Found::Results { trouble }, true);
    }

    pub(super) fn methods(&self) -> Vec<String> {
        self.cells.iter().map(|(cell, _)| cell.method.clone()).collect()
    }

    pub(super) fn count(&self) -> usize {
        self.cells.len()
    }

    /// Publishes what has changed.
    pub(super) fn publish(&mut self, hub: &Hub, palette: &Palette, most: usize) {
        let (at, changed) = (self.at, self.new || self.running[0] != self.running[1]);
        self.running[1] = self.running[0];
        if std::mem::take(&mut self.new) {
            for (number, network) in self.networks.iter().enumerate() {
                hub.publish(&format!("network/{at}-{number}"), &drawn(network));
            }
            let (cells, networks) = (self.cells.len(), self.networks.len());
            hub.retain(|name| match name.split_once('/') {
                Some((kind, id)) => match id.split_once('-').and_then(|(own, number)| {
                    Some((own.parse::<usize>().ok()?, number.parse::<usize>().ok()?))
                }) {
                    Some((own, number)) if own == at => {
                        number < if kind == "network" { networks } else { cells }
                    }
                    _ => true,
                },
                None => true,
            });
        }
        let alive = self.running[0] != Some(false);
        for (number, (cell, shown)) in self.cells.iter_mut().enumerate() {
            let new = std::mem::take(&mut shown.new);
            if new || changed {
                let style = palette.style(&cell.method);
                let status = match (shown.status, shown.begun, alive) {
                    (Some(status), ..) => status,
                    (None, true, true) => "running",
                    (None, true, false) => "cut",
                    (None, false, _) => "waiting",
                };
                let known = cell.network < self.networks.len();
                let document = Cell {
                    group: self.group.clone(),
                    topology: cell.topology.clone(),
                    method: cell.method.clone(),
                    repetition: cell.repetition,
                    network: known.then(|| format!("{at}-{}", cell.network)),
                    colour: [style.color.light.to_owned(), style.color.dark.to_owned()],
                    dash: style.dash.unwrap_or_default().to_owned(),
                    round: shown.round,
                    of: cell.iterations,
                    rate: shown.rate.filter(|_| status == "running"),
                    status,
                    laws: shown.laws(),
                };
                hub.publish(&format!("cell/{at}-{number}"), &document);
            }
            if new {
                hub.publish(&format!("curve/{at}-{number}"), &shown.curve(most));
                hub.publish(&format!("agents/{at}-{number}"), &shown.agents());
            }
        }
    }

    /// In a word, and in a few.
    pub(super) fn state(&self) -> (&'static str, String) {
        let ended = |how: &str| match how {
            "completed" => ("ended", "done".to_owned()),
            "interrupted" => ("died", "interrupted: run it again to go on".to_owned()),
            _ => ("died", "failed".to_owned()),
        };
        match (&self.found, self.running[0]) {
            (Found::Nothing, _) => ("waiting", "nothing here yet".to_owned()),
            (Found::Live { ended: Some(how), .. }, _) => ended(how),
            (Found::Live { ended: None, .. }, Some(false)) => {
                ("died", "the run has died: run it again to go on".to_owned())
            }
            (Found::Live { ended: None, .. }, _) => ("running", "running".to_owned()),
            (Found::Results { .. }, _) => ("ended", "finished results".to_owned()),
        }
    }

    pub(super) fn notes(&self) -> Vec<String> {
        match &self.found {
            Found::Results { trouble } => {
                let hint = "These runs did not show themselves: `oneway run FILE --live` (or --watch) adds \
                            each agent's numbers, and curves while they come.";
                trouble.iter().cloned().chain([hint.to_owned()]).collect()
            }
            _ => vec![],
        }
    }
}

/// The cells of results, planned again, for the networks that they were on.
fn planned(manifest: &Manifest) -> Result<Run> {
    let experiment = Experiment::new(manifest.settings.clone(), Path::new(&manifest.folder))?;
    let plan = Plan::new(&experiment)?;
    Ok(Run::new(&plan.cells(), &places(&experiment.variants, &plan.entries)))
}

fn drawn(network: &live::Network) -> Network {
    let live::Network { name, agents, period, links, places, .. } = network;
    let link = |link: &live::Link| Link(link.from, link.to, link.graphs, link.rounds.clone());
    let places = places.iter().map(|(x, y)| ((x * 1e4).round() / 1e4, (y * 1e4).round() / 1e4)).collect();
    let links = links.iter().map(link).collect();
    Network { name: name.clone(), agents: *agents, period: *period, links, places }
}
