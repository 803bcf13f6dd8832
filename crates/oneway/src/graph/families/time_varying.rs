//! Random families whose graph changes with the round. A period of rounds is drawn once from the seed, and
//! then comes again: so a time-varying network has stationary vectors, a c_π and stability limits like any
//! other.

use super::deterministic::exponential_offsets;
use super::{check_count, check_edges};
use crate::graph::digraph::check_agents;
use crate::graph::{Digraph, MAX_EDGES};
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// In each round agents are paired at random; with an odd number one is left alone. Links go both ways, so
/// that with uniform weights pairs average: symmetric and doubly stochastic in every round.
///
/// # Arguments
/// * `agents`: n.
/// * `period`: rounds to draw, 1 or more.
/// * `seed`: which of them.
///
/// # Complexity
/// O(n·period).
///
/// ```
/// let rounds = oneway::graph::families::random_matching(10, 4, 7).unwrap();
/// assert_eq!(rounds.len(), 4);
/// assert!(rounds.iter().all(|graph| graph.is_symmetric() && graph.edge_count() == 10));
/// ```
pub fn random_matching(agents: usize, period: usize, seed: u64) -> Result<Vec<Digraph>> {
    const FAMILY: &str = "random-matching";
    check_agents(FAMILY, agents)?;
    let rounds = (0..checked_period(FAMILY, period, agents, agents)?).map(|round| {
        let mut order: Vec<usize> = (0..agents).collect();
        Draws::new(seed, Purpose::Graph, 0, round as u64).shuffle(&mut order);
        let (pairs, _alone) = order.as_chunks();
        Digraph::from_edges(agents, pairs.iter().flat_map(|&[a, b]| [(a, b), (b, a)]))
    });
    rounds.collect()
}

/// In each round each link of `base` is there with the given probability, independently of all others.
///
/// # Arguments
/// * `base`: the links that there can be.
/// * `probability`: from 0 to 1.
/// * `period`: rounds to draw, 1 or more. Over it everyone must reach everyone: check.
/// * `seed`: which of them.
///
/// # Complexity
/// O((n + m)·period) for m links.
///
/// ```
/// use oneway::graph::families::{random_links, ring};
/// let rounds = random_links(&ring(10).unwrap(), 0.5, 100, 7).unwrap();
/// let links: usize = rounds.iter().map(|graph| graph.edge_count()).sum();
/// assert!((430..570).contains(&links), "{links} of 1000");
/// ```
pub fn random_links(base: &Digraph, probability: f64, period: usize, seed: u64) -> Result<Vec<Digraph>> {
    const FAMILY: &str = "random-links";
    if !(0.0..=1.0).contains(&probability) {
        return Err(Error::parameter(FAMILY, "probability", probability, "it must be from 0 to 1"));
    }
    let agents = base.agents();
    let rounds = (0..checked_period(FAMILY, period, agents, base.edge_count())?).map(|round| {
        let edges = (0..agents).flat_map(|from| {
            // round 0 of these streams belongs to random base graphs
            let mut draws = Draws::new(seed, Purpose::Graph, from, round as u64 + 1);
            let heard_by = base.out_neighbours(from).iter().copied();
            heard_by.filter(move |_| draws.unit() < probability).map(move |to| (from, to as usize))
        });
        Digraph::from_edges(agents, edges)
    });
    rounds.collect()
}

/// The exponential graph with its first `offsets` offsets, all of them for 0; the links of `period` rounds
/// must be possible.
pub(super) fn first_offsets(agents: usize, offsets: usize, period: usize) -> Result<Digraph> {
    const FAMILY: &str = "random-links";
    check_agents(FAMILY, agents)?;
    let there_are = exponential_offsets(agents).count();
    if offsets > 0 {
        let why = "offsets are the powers of two below n";
        check_count(FAMILY, "offsets", offsets, agents, there_are, why)?;
    }
    let kept = if offsets == 0 { there_are } else { offsets.min(there_are) };
    checked_period(FAMILY, period, agents, kept * agents)?;
    let heard_by = |from: usize| {
        exponential_offsets(agents).take(kept).map(move |offset| (from, (from + offset) % agents))
    };
    Digraph::from_edges(agents, (0..agents).flat_map(heard_by))
}

/// How many rounds to draw of `edges` links each: one for a lone agent, who has no links to draw.
fn checked_period(family: &str, period: usize, agents: usize, edges: usize) -> Result<usize> {
    check_count(family, "period", period, 1, usize::MAX, "")?;
    check_edges(family, agents, edges)?;
    if period.saturating_mul(edges.max(agents)) > MAX_EDGES {
        let expected =
            format!("that is more than {MAX_EDGES} links, give at most {}", MAX_EDGES / edges.max(agents));
        return Err(Error::parameter(family, "period", period, expected));
    }
    Ok(if agents == 1 { 1 } else { period })
}

#[cfg(test)]
mod tests {
    use super::super::{complete, exponential, ring};
    use super::*;

    #[test]
    fn matchings_leave_at_most_one_alone_and_pair_all_equally_often() {
        let rounds = random_matching(5, 6000, 3).unwrap();
        let mut met = [[0_u32; 5]; 5];
        for graph in &rounds {
            assert_eq!(graph.edge_count(), 4);
            graph.edges().for_each(|(from, to)| met[from][to] += 1);
        }
        for (from, row) in met.iter().enumerate() {
            for (to, &times) in row.iter().enumerate() {
                // two pairs of ten in each round
                assert!(from == to || (1100..1300).contains(&times), "{met:?}");
            }
        }
    }

    #[test]
    fn links_come_from_the_base_as_often_as_they_should() {
        let base = complete(6).unwrap();
        let rounds = random_links(&base, 0.2, 5000, 3).unwrap();
        let mut there = [0_u32; 36];
        for graph in &rounds {
            graph.edges().for_each(|(from, to)| there[6 * from + to] += 1);
        }
        assert!((0..36).all(|link| link % 7 == 0 || (900..1100).contains(&there[link])), "{there:?}");
        let ring = ring(4).unwrap();
        for (probability, edges) in [(0.0, 0), (1.0, 4)] {
            assert_eq!(random_links(&ring, probability, 1, 1).unwrap()[0].edge_count(), edges);
        }
    }

    #[test]
    fn few_offsets_of_the_exponential_graph() {
        assert_eq!(first_offsets(6, 1, 9).unwrap(), ring(6).unwrap());
        assert_eq!(first_offsets(6, 2, 9).unwrap().out_neighbours(5), [0, 1]);
        for all in [0, 3] {
            assert_eq!(first_offsets(6, all, 9).unwrap(), exponential(6).unwrap());
        }
        let error = first_offsets(6, 4, 9).unwrap_err().to_string();
        assert!(error.contains("with 6 agents it must be from 1 to 3"), "{error}");
        assert_eq!(first_offsets(1, 99, 9).unwrap().edge_count(), 0);
    }

    #[test]
    fn impossible_periods_and_probabilities_say_what_would_be_right() {
        let ring = ring(4).unwrap();
        for (error, words) in [
            (random_matching(4, 0, 1), "`period` = 0 is not possible: it must be at least 1"),
            (random_matching(4, 100_000_000, 1), "give at most 25000000"),
            (random_matching(0, 1, 1), "`agents` = 0"),
            (random_links(&ring, 1.5, 10, 1), "`probability` = 1.5 is not possible: it must be from 0 to 1"),
            (random_links(&ring, f64::NAN, 10, 1), "it must be from 0 to 1"),
            (random_links(&ring, 0.5, 0, 1), "`period` = 0"),
        ] {
            let message = error.unwrap_err().to_string();
            assert!(message.contains(words), "{message}");
        }
    }
}
