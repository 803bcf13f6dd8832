//! All figures of a results folder: what was measured on each topology, and the topologies themselves.

use std::collections::BTreeSet;

use anyhow::Result;
use oneway::engine::schedule::Shape;
use oneway::graph::topology::{Pair, Stationary};
use oneway::graph::{Digraph, families};
use oneway_experiment::plan::{Entry, Plan};
use oneway_experiment::results::curves::Curve;
use oneway_experiment::results::folder::OutputFolder;
use oneway_experiment::spec::{LinksSpec, Spec, TopologySpec};
use rayon::prelude::*;

use super::chart::Chart;
use super::network::{self, Network};
use super::places::{self, Place};
use super::quantity::{Against, Quantity};
use super::render::{self, Theme};
use super::{embed, export, font, from_curves};

/// Pixels of a PNG for each of the figure's: sharp on dense screens and in print.
const DENSITY: f32 = 2.0;

/// A figure, to be drawn in any theme.
#[derive(Debug)]
pub(crate) struct Picture {
    /// Its file's name, without ending.
    pub(crate) file: String,
    /// The topology it belongs to.
    pub(crate) topology: String,
    pub(crate) caption: String,
    pub(crate) art: Art,
}

/// What is drawn.
#[derive(Debug)]
pub(crate) enum Art {
    /// A chart, drawn when asked.
    Chart(Chart),
    /// A drawing, as light SVG and as SVG for pages.
    Drawing { light: String, css: String },
}

impl Picture {
    /// Writes it as SVG, PNG and PDF. Returns the characters that PNG and PDF have no glyphs for.
    fn write(&self, folder: &OutputFolder) -> Result<BTreeSet<char>> {
        let svg = match &self.art {
            Art::Chart(chart) => render::svg(chart, Theme::Light),
            Art::Drawing { light, .. } => light.clone(),
        };
        let (drawable, missing) = export::drawable(&svg);
        folder.write(&format!("{}.png", self.file), render::png(&drawable, DENSITY)?)?;
        folder.write(&format!("{}.pdf", self.file), render::pdf(&drawable)?)?;
        folder.write(&format!("{}.svg", self.file), embed::with_fonts(&svg))?;
        Ok(missing)
    }
}

/// Writes pictures as SVG, PNG and PDF, and warns once of what cannot be drawn in the latter two.
pub(crate) fn write(pictures: &[Picture], folder: &OutputFolder) -> Result<()> {
    let missing = pictures.par_iter().map(|picture| picture.write(folder)).collect::<Result<Vec<_>>>()?;
    let missing: BTreeSet<char> = missing.into_iter().flatten().collect();
    if !missing.is_empty() {
        crate::terminal::warn(&format!(
            "the fonts of PNG and PDF figures lack {}: there a {:?} stands in its place; SVG and pages show it",
            export::named(&missing),
            font::REPLACEMENT
        ));
    }
    Ok(())
}

/// What quantities are drawn against, and what that adds to a file's name. A page opens on the first.
///
/// With a clock that is time: a round in which everyone waits for the slowest counts as one iteration,
/// however long it takes.
fn axes(curves: &[Curve], topology: &str) -> [(Against, &'static str); 3] {
    let mut points =
        curves.iter().filter(|curve| curve.topology == topology).flat_map(|curve| curve.points.iter());
    match points.all(|point| point.time.is_some()) {
        true => {
            [(Against::Time, ""), (Against::Iterations, "-by-iteration"), (Against::BytesSent, "-by-bytes")]
        }
        false => [(Against::Iterations, ""), (Against::BytesSent, "-by-bytes"), (Against::Time, "-by-time")],
    }
}

/// The first quantities of each topology, or `all`, against iterations, bytes sent and, where there is a
/// clock, time.
pub(crate) fn charts(curves: &[Curve], variants: &[Spec], all: bool) -> Vec<Picture> {
    let notes = step_notes(variants);
    let mut pictures = vec![];
    for topology in from_curves::topologies(curves) {
        let shown = if all { &Quantity::ALL[..] } else { &Quantity::FIRST };
        for &quantity in shown {
            for (against, suffix) in axes(curves, topology) {
                let mut chart = from_curves::chart(curves, topology, quantity, against);
                if against == Against::Iterations {
                    chart.markers.clone_from(&notes);
                }
                if !chart.series.is_empty() {
                    pictures.push(Picture {
                        file: format!("{}-{}{suffix}", file_name(topology), quantity.key()),
                        topology: topology.to_owned(),
                        caption: quantity.title().to_owned(),
                        art: Art::Chart(chart),
                    });
                }
            }
        }
    }
    pictures
}

/// With more agents than this, a drawing of a network cannot be read.
pub(crate) const MOST_AGENTS: usize = 100;

/// A drawing for each topology and each set of its links that methods use, unless there are too many agents.
/// Topologies that differ in what a sweep set elsewhere, and not in their links, share one.
pub(crate) fn networks(plan: &Plan, variants: &[Spec]) -> Result<Vec<Picture>> {
    let maps: Vec<(String, Vec<Place>)> = variants.iter().flat_map(maps).collect();
    let decentralised = |entry: &&Entry| entry.graph != "complete" && entry.run.agents <= MOST_AGENTS;
    let entries: Vec<&Entry> = plan.entries.iter().filter(decentralised).collect();
    let links =
        entries.iter().map(|entry| (unswept(&entry.topology_name), entry.graph, entry.mixing_sha256()));
    let links: Vec<(&str, &str, [String; 2])> = links.collect();
    let mut pictures: Vec<Picture> = vec![];
    for (at, entry) in entries.iter().enumerate() {
        if links[..at].contains(&links[at]) {
            continue;
        }
        let pair = entry.topology.at(0);
        let same = entries.iter().filter(|other| other.topology_name == entry.topology_name);
        let digraph = |pair: &Pair| Digraph::from_mixing(&pair.pull);
        let mut full = digraph(pair)?;
        for other in same {
            let other = digraph(other.topology.at(0))?;
            if other.edge_count() > full.edge_count() {
                full = other;
            }
        }
        let mapped = maps.iter().find(|(name, _)| *name == entry.topology_name);
        let places = mapped.map_or_else(|| places::tidy(&full), |(_, places)| places.clone());
        let mut alike = entries.iter().zip(&links).filter(|(_, other)| **other == links[at]);
        let shared = alike.any(|(other, _)| other.topology_name != entry.topology_name);
        let (name, graph) = (if shared { links[at].0 } else { &entry.topology_name }, entry.graph);
        let about = if graph == "full" { "all links".to_owned() } else { format!("spanning {graph}") };
        let drawing = Drawing { name, graph, links: &about, full: &full, places };
        pictures.push(drawing.picture(pair, entry.topology.stationary(0)?));
    }
    Ok(pictures)
}

/// `ring` of `ring [problem.partition=even]`.
fn unswept(name: &str) -> &str {
    name.strip_suffix(']').and_then(|name| name.rsplit_once(" [")).map_or(name, |(name, _)| name)
}

/// A topology and a set of its links, to be drawn.
#[derive(Debug)]
pub(crate) struct Drawing<'a> {
    pub(crate) name: &'a str,
    /// `full`, `trees` or `lazy-trees`.
    pub(crate) graph: &'a str,
    /// What its links are; of trees the root is added.
    pub(crate) links: &'a str,
    /// All links there are; those not used are faint.
    pub(crate) full: &'a Digraph,
    pub(crate) places: Vec<Place>,
}

impl Drawing<'_> {
    /// Draws the links that `pair` uses, with discs for π, or none where π has no entries.
    pub(crate) fn picture(self, pair: &Pair, stationary: &Stationary) -> Picture {
        let Self { name, graph, links, full, places } = self;
        let root = (graph != "full").then(|| {
            let shares = stationary.pull.iter().enumerate();
            shares.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(agent, _)| agent)
        });
        let links = match root {
            None => links.to_owned(),
            Some(root) => format!("{links} with root {root}"),
        };
        let title = format!("{name}, {} agents: {links}", full.agents());
        let mut network = Network { title: title.clone(), full, pair, stationary, root, places };
        let light = network::svg(&network, Theme::Light);
        network.title = String::new(); // a page has captions
        let css = network::svg(&network, Theme::Css);
        Picture {
            file: format!("{}-network-{graph}", file_name(name)),
            topology: name.to_owned(),
            caption: title,
            art: Art::Drawing { light, css },
        }
    }
}

/// Where agents stand, for the topologies that say so.
fn maps(spec: &Spec) -> Vec<(String, Vec<Place>)> {
    let map = |topology: &TopologySpec| Some((topology.name.clone(), map(topology, spec.run.agents)?));
    spec.topologies.iter().filter_map(map).collect()
}

/// Where the radios of a geometric topology are.
pub(crate) fn map(topology: &TopologySpec, agents: usize) -> Option<Vec<Place>> {
    let LinksSpec::Family { family, parameters } = &topology.links else { return None };
    if family.name != "geometric" {
        return None;
    }
    let (range, spread) = (parameters.real("range").ok()?, parameters.real("spread").ok()?);
    let radios = families::geometric_points(agents, range, spread, topology.seed).ok()?;
    Some(places::map(radios.iter().map(|radio| (radio.x, radio.y))))
}

/// "η/10" where the steps of all methods become smaller together.
pub(crate) fn step_notes(variants: &[Spec]) -> Vec<(f64, String)> {
    let [spec] = variants else { return vec![] };
    let decay = |shape: Shape| match shape {
        Shape::Decay { factor, every } => Some((factor, every)),
        _ => None,
    };
    let mut decays = spec.methods.iter().map(|method| decay(method.step.shape));
    let Some(Some((factor, every))) = decays.next() else { return vec![] };
    if every == 0 || !decays.all(|other| other == Some((factor, every))) {
        return vec![];
    }
    let note = |plateau: u64| match (1.0 / factor).powi(plateau as i32) {
        by if by.fract() == 0.0 && by < 1e6 => format!("η/{by}"),
        by => format!("η·{:.3}", 1.0 / by),
    };
    // A note on each of many plateaus would hide the lines.
    let plateaus = (spec.run.iterations.saturating_sub(1) / every).min(6);
    (1..=plateaus).map(|plateau| ((plateau * every) as f64, note(plateau))).collect()
}

/// Makes file names differ, whatever the case: the second `loss` becomes `loss-2`.
pub(crate) fn name_apart(pictures: &mut [Picture]) {
    let mut taken = std::collections::HashSet::new();
    for picture in pictures {
        let plain = picture.file.clone();
        let mut number = 1;
        while !taken.insert(picture.file.to_lowercase()) {
            number += 1;
            picture.file = format!("{plain}-{number}");
        }
    }
}

/// A name that every file system takes.
pub(crate) fn file_name(name: &str) -> String {
    let allowed = |c: char| if c.is_alphanumeric() || matches!(c, '-' | '_' | '.') { c } else { '-' };
    name.trim_start_matches('.').chars().take(60).map(allowed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_apart() {
        assert_eq!(file_name("../a b/ring [x=1]"), "-a-b-ring--x-1-");
        assert_eq!(file_name(&"x".repeat(300)).len(), 60);
        let picture = |file: &str| Picture {
            file: file.to_owned(),
            topology: String::new(),
            caption: String::new(),
            art: Art::Drawing { light: String::new(), css: String::new() },
        };
        let mut pictures = ["x-y", "X-y", "x-y-2", "x-y"].map(picture);
        name_apart(&mut pictures);
        let names = pictures.map(|picture| picture.file);
        assert_eq!(names, ["x-y", "X-y-2", "x-y-2-2", "x-y-3"]);
    }
}
