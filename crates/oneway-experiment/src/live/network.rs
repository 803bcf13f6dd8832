//! The network of an entry, as it is drawn.

use std::collections::BTreeMap;

use oneway::graph::mixing::Mixing;

use super::Places;
use super::files::{Link, Network};
use crate::experiment::plan::Entry;

/// With more agents than this there are no arrows that anybody could follow.
const MOST_AGENTS: usize = 150;
/// Nor with more links.
const MOST_LINKS: usize = 4096;
/// Links that come and go are shown with their rounds up to this period.
const LONGEST_PERIOD: usize = 64;

impl Network {
    /// That of an entry. What is too large to draw has no links and no places.
    pub(super) fn new(entry: &Entry, places: Places<'_>) -> Self {
        let agents = entry.topology.agents();
        let (links, places) = match agents {
            0..=MOST_AGENTS => (links(entry).unwrap_or_default(), places(entry)),
            _ => (vec![], vec![]),
        };
        let period = entry.topology.period().len();
        Self {
            name: entry.topology_name.clone(),
            graph: entry.graph.to_owned(),
            agents,
            period,
            links,
            places,
        }
    }
}

/// All links of the period; nothing if they are too many, or everybody hears everybody at once.
fn links(entry: &Entry) -> Option<Vec<Link>> {
    let period = entry.topology.period();
    let central = period.iter().any(|pair| pair.pull.has_one_row() || pair.push.has_one_row());
    if central || period.len() > LONGEST_PERIOD {
        return None;
    }
    let mut found: BTreeMap<(usize, usize), Link> = BTreeMap::new();
    let profile = entry.method.profile_on(&*entry.problem.problem);
    for (round, pair) in period.iter().enumerate() {
        let used = [(&pair.pull, !profile.pull.is_empty()), (&pair.push, !profile.push.is_empty())];
        for (graph, (mixing, _)) in used.into_iter().enumerate().filter(|(_, (_, used))| *used) {
            for (from, to) in off_diagonal(mixing) {
                let new = || Link { from, to, graphs: 0, rounds: vec![] };
                let link = found.entry((from, to)).or_insert_with(new);
                link.graphs |= 1 << graph;
                if period.len() > 1 && link.rounds.last() != Some(&round) {
                    link.rounds.push(round);
                }
            }
        }
        if found.len() > MOST_LINKS {
            return None;
        }
    }
    Some(found.into_values().collect())
}

fn off_diagonal(mixing: &Mixing) -> impl Iterator<Item = (usize, usize)> {
    mixing.iter().map(|link| (link.from, link.to)).filter(|(from, to)| from != to)
}
