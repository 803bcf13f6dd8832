//! A topology drawn: the pull graph and the push graph side by side.
//!
//! Links that exist but that a method does not use (trees are cut from a digraph) stay faint behind those it
//! uses. Around an agent is a disc whose area is its share of π: whose model counts on the left, who gathers
//! the pushed mass on the right.

use std::f64::consts::FRAC_PI_2;

use oneway::graph::Digraph;
use oneway::graph::mixing::Mixing;
use oneway::graph::topology::{Pair, Stationary};

use super::chart;
use super::layout::SMALL;
use super::palette::{Color, INK, LINK, MUTED, PAPER, PULL, PUSH};
use super::pen::Pen;
use super::places::{self, Place};
use super::render::Theme;
use super::svg::{Svg, number, path};

/// A topology to draw.
#[derive(Debug)]
pub(crate) struct Network<'a> {
    /// Empty for none.
    pub(crate) title: String,
    /// All links there are.
    pub(crate) full: &'a Digraph,
    /// The links that are used.
    pub(crate) pair: &'a Pair,
    /// π_R and π_C; without entries where there is none.
    pub(crate) stationary: &'a Stationary,
    /// The root, if one is to be marked.
    pub(crate) root: Option<usize>,
    /// Where the agents stand, see [`super::places`].
    pub(crate) places: Vec<Place>,
}

/// Half the side of the square that agents stand in, where they are few, and how many times that it may be.
const HALF: f64 = 146.0;
const MOST_TIMES: f64 = 1.6;
/// Around that square, for discs at its edge.
const ROOM: f64 = 30.0;
/// The badge that an id stands in, at most, and how far apart badges are, in badges.
const BADGE: f64 = 10.0;
const APART: f64 = 2.3;
/// The largest disc, and that of an agent whose share is 1/n.
const LARGEST_DISC: f64 = 29.0;
const EVEN_DISC: f64 = 15.0;

/// Draws a topology.
pub(crate) fn svg(network: &Network<'_>, theme: Theme) -> String {
    let top = if network.title.is_empty() { 34.0 } else { 62.0 };
    // Many agents have a larger square and, where that is not enough, smaller badges: none may cover another.
    let nearest = places::nearest(&network.places);
    let half = HALF * (APART * BADGE / (HALF * nearest)).clamp(1.0, MOST_TIMES);
    let badge = BADGE.min(half * nearest / APART);
    let panel = 2.0 * (half + ROOM);
    let (width, height) = (2.0 * panel + 12.0, top + panel + 8.0);
    let mut pen = Pen { svg: Svg::default(), theme };
    pen.root("network", &chart::id(&format!("{network:?}")), width, height);
    let about = if network.title.is_empty() { "network" } else { &network.title };
    pen.svg.element("title").text(about);
    pen.paper(width, height);
    if !network.title.is_empty() {
        pen.heading((14.0, 28.0), &network.title);
    }

    let Stationary { pull, push, .. } = network.stationary;
    let largest = pull.iter().chain(push).copied().filter(|share| share.is_finite()).fold(0.0, f64::max);
    let even = EVEN_DISC * badge / BADGE * (network.places.len() as f64).sqrt();
    let disc = if largest > 0.0 { even.min(LARGEST_DISC / largest.sqrt()) } else { 0.0 };
    let about = |flow: &str, matrix: &str, shares: &[f64]| match shares {
        [] => flow.to_owned(),
        _ => format!("{flow}, disc area ∝ π of {matrix}"),
    };
    let panels = [
        ("pull", about("Pull: models through R", "R", pull), &network.pair.pull, pull, PULL),
        ("push", about("Push: trackers through C", "C", push), &network.pair.push, push, PUSH),
    ];
    for (i, (class, about, mixing, shares, color)) in panels.into_iter().enumerate() {
        let left = i as f64 * (panel + 12.0);
        pen.text((left + 14.0, top - 8.0), "start", MUTED, SMALL, &about);
        pen.svg.element("g").set("class", class).open();
        let middle = (left + 0.5 * panel, top + 0.5 * panel);
        let place = |&(x, y): &Place| (middle.0 + half * x, middle.1 + half * y);
        let places: Vec<Place> = network.places.iter().map(place).collect();
        Panel { network, mixing, shares, color, places, disc, half, badge }.draw(&mut pen);
        pen.svg.close();
    }
    pen.svg.finish()
}

/// One of the two graphs.
struct Panel<'a> {
    network: &'a Network<'a>,
    mixing: &'a Mixing,
    shares: &'a [f64],
    color: Color,
    places: Vec<Place>,
    /// The radius of the disc of an agent that has all of π.
    disc: f64,
    half: f64,
    badge: f64,
}

impl Panel<'_> {
    fn draw(&self, pen: &mut Pen) {
        for (&(x, y), &share) in self.places.iter().zip(self.shares) {
            let radius = self.disc * share.max(0.0).sqrt();
            if radius.is_finite() && radius > 0.5 {
                let paint = pen.theme.paint(self.color);
                let disc = pen.svg.element("circle").set("class", "share").set("cx", x).set("cy", y);
                disc.set("r", radius).set("fill", paint).set("fill-opacity", 0.22).empty();
            }
        }
        let used: Vec<(usize, usize)> =
            self.mixing.iter().map(|link| (link.from, link.to)).filter(|(from, to)| from != to).collect();
        let links = self.network.full.edge_count();
        let unused = self.network.full.edges().filter(|edge| !used.contains(edge));
        self.links(pen, "unused", &unused.collect::<Vec<_>>(), LINK, 0.9, 5.5);
        // A few links among many are meant to stand out; many must not drown the agents.
        let crowded = used.len() > 4 * self.places.len();
        let (width, head) = match (used.len() < links, crowded) {
            (true, _) => (2.2, 8.0),
            (false, false) => (1.5, 7.5),
            (false, true) => (0.9, 5.5),
        };
        self.links(pen, "used", &used, self.color, width, head);
        for (agent, &(x, y)) in self.places.iter().enumerate() {
            let root = self.network.root == Some(agent);
            let (fill, ink) = if root { (INK, PAPER) } else { (PAPER, INK) };
            let fill = pen.theme.paint(fill);
            let stroke = pen.theme.paint(if root { INK } else { MUTED });
            pen.svg.element("g").set("class", "agent").set("data-agent", agent.to_string()).open();
            let badge = pen.svg.element("circle").set("cx", x).set("cy", y).set("r", self.badge);
            badge.set("fill", fill).set("stroke", stroke).set("stroke-width", 1.0).empty();
            let size = if agent < 100 { 1.15 } else { 0.85 } * self.badge;
            pen.text((x, y + 0.36 * size), "middle", ink, size, &agent.to_string());
            pen.svg.close();
        }
    }

    /// On a circle a chord that passes others bends towards the middle, clear of their badges; the longer way
    /// round more, so that it does not run along its way back.
    fn bend_inwards(&self, from: usize, to: usize, two_way: bool) -> Bend {
        let agents = self.network.places.len();
        let (a, b) = (self.network.places[from], self.network.places[to]);
        let middle = (0.5 * (a.0 + b.0), 0.5 * (a.1 + b.1));
        let (length, off) = ((a.0 - b.0).hypot(a.1 - b.1), middle.0.hypot(middle.1));
        let steps = (to + agents - from) % agents;
        if off < 0.2 || steps.min(agents - steps) <= 1 {
            return if two_way { Bend::Aside } else { Bend::None };
        }
        let share = if 2 * steps <= agents { 0.2 } else { 0.32 };
        let by = self.half * share * length; // times how far out its middle is: long chords need no bend
        Bend::By(-middle.0 * by, -middle.1 * by)
    }

    /// Links of one kind: all lines in one path, all arrow heads in another.
    fn links(
        &self,
        pen: &mut Pen,
        class: &str,
        links: &[(usize, usize)],
        color: Color,
        width: f64,
        head: f64,
    ) {
        let (mut lines, mut heads) = (String::new(), String::new());
        let round = self.network.places.iter().all(|(x, y)| (x.hypot(*y) - 1.0).abs() < 1e-6);
        for &(from, to) in links {
            let (Some(&start), Some(&end)) = (self.places.get(from), self.places.get(to)) else { continue };
            let two_way = self.network.full.out_neighbours(to).contains(&(from as u32));
            let bend = match round {
                true => self.bend_inwards(from, to, two_way),
                false if two_way => Bend::Aside,
                false => Bend::None,
            };
            if let Some((line, arrow)) = arrow(start, end, bend, (head, self.badge)) {
                lines += &line;
                heads += &arrow;
            }
        }
        if lines.is_empty() {
            return;
        }
        let paint = pen.theme.paint(color);
        let line = pen.svg.element("path").set("class", class).set("d", lines).set("fill", "none");
        let thick = links.len() < 6 * self.places.len();
        line.set("stroke", &*paint)
            .set("stroke-width", width)
            .maybe("stroke-opacity", (!thick).then_some(0.5))
            .empty();
        pen.svg.element("path").set("class", class).set("d", heads).set("fill", paint).empty();
    }
}

/// How the middle of an arrow leaves the straight line.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bend {
    None,
    /// To its right, so that a link and its way back are two lines.
    Aside,
    /// By a vector.
    By(f64, f64),
}

/// Line and head of an arrow between two badges. None if they touch.
fn arrow(start: Place, end: Place, bend: Bend, (head, badge): (f64, f64)) -> Option<(String, String)> {
    let (dx, dy) = (end.0 - start.0, end.1 - start.1);
    let length = dx.hypot(dy);
    if length < 2.0 * badge + 3.0 {
        return None;
    }
    let aside = (0.1 * length).clamp(4.0, 16.0) / length;
    let (bend_x, bend_y) = match bend {
        Bend::None => (0.0, 0.0),
        Bend::Aside => (-dy * aside, dx * aside),
        Bend::By(x, y) => (x, y),
    };
    // A quadratic curve goes half way to its control point.
    let control = (0.5 * (start.0 + end.0) + 2.0 * bend_x, 0.5 * (start.1 + end.1) + 2.0 * bend_y);
    let towards = |from: Place, to: Place, by: f64| {
        let angle = (to.1 - from.1).atan2(to.0 - from.0);
        (from.0 + by * angle.cos(), from.1 + by * angle.sin())
    };
    let first = towards(start, control, badge + 1.0);
    let tip = towards(end, control, badge + 1.0);
    // The line stops inside the head: a blunt end must not show beyond the tip.
    let head = head.min(0.6 * (length - 2.0 * badge));
    let neck = towards(end, control, badge + 1.0 + 0.8 * head);
    let angle = (control.1 - end.1).atan2(control.0 - end.0);
    let side = |turn: f64| {
        let base = towards(end, control, badge + 1.0 + head);
        (base.0 + 0.4 * head * (angle + turn).cos(), base.1 + 0.4 * head * (angle + turn).sin())
    };
    let at = |(x, y): Place| format!("{} {}", number(x), number(y));
    let line = match bend {
        Bend::None => path(&[first, neck]),
        _ => format!("M{}Q{} {}", at(first), at(control), at(neck)),
    };
    Some((line, path(&[tip, side(FRAC_PI_2), side(-FRAC_PI_2)]) + "Z"))
}
