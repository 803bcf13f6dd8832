//! Random families without geometry. Each agent's draws are its own, so an agent's links do not depend on the
//! others'.

use super::check_count;
use crate::graph::digraph::check_agents;
use crate::graph::lists::Lists;
use crate::graph::{Digraph, MAX_EDGES};
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// The directed Erdős–Rényi graph G(n, p): each ordered pair is an edge with probability p, independently of
/// all others.
///
/// # Arguments
/// * `agents`: n.
/// * `probability`: p, from 0 to 1; about (ln n)/n makes it strongly connected or not, so check.
/// * `seed`: which of them.
///
/// # Complexity
/// O(n + m) expected: the gaps between edges are drawn, not the edges.
///
/// ```
/// use oneway::graph::families::erdos_renyi;
/// assert_eq!(erdos_renyi(20, 0.3, 7).unwrap(), erdos_renyi(20, 0.3, 7).unwrap());
/// assert_eq!(erdos_renyi(20, 1.0, 7).unwrap().edge_count(), 380);
/// ```
pub fn erdos_renyi(agents: usize, probability: f64, seed: u64) -> Result<Digraph> {
    const FAMILY: &str = "erdos-renyi";
    check_agents(FAMILY, agents)?;
    if !(0.0..=1.0).contains(&probability) {
        return Err(Error::parameter(FAMILY, "probability", probability, "it must be from 0 to 1"));
    }
    let others = agents - 1;
    if probability * agents as f64 * others as f64 > MAX_EDGES as f64 {
        let largest = MAX_EDGES as f64 / agents as f64 / others as f64;
        let expected =
            format!("with {agents} agents that is more than {MAX_EDGES} edges, give at most {largest:.2e}");
        return Err(Error::parameter(FAMILY, "probability", probability, expected));
    }

    // The number of pairs passed over before the next edge is geometric, ⌊ln U / ln(1 − p)⌋. With p = 1 the
    // quotient is ln U / −∞ = 0, no pair is passed over; with p = 0 it is ln U / −0 = ∞, which `as` turns
    // into the largest number.
    let log_miss = libm::log1p(-probability);
    let edges = (0..agents).flat_map(|from| {
        let mut draws = Draws::new(seed, Purpose::Graph, from, 0);
        let mut at = 0_usize;
        std::iter::from_fn(move || {
            let passed_over = (libm::log(draws.unit()) / log_miss) as usize;
            let other = at.saturating_add(passed_over);
            at = other.saturating_add(1);
            (other < others).then(|| (from, skip_self(from, other)))
        })
    });
    Digraph::from_edges(agents, edges)
}

/// Each agent is heard by k others, drawn uniformly without replacement.
///
/// # Arguments
/// * `agents`: n.
/// * `degree`: k, from 1 to n − 1. Links in are left to chance: with small k some agent may hear no one, so
///   check.
/// * `seed`: which of them.
///
/// # Complexity
/// O(n + m log k), by Floyd's sampling.
///
/// ```
/// let graph = oneway::graph::families::k_out(50, 3, 7).unwrap();
/// assert!((0..50).all(|i| graph.out_neighbours(i).len() == 3));
/// ```
pub fn k_out(agents: usize, degree: usize, seed: u64) -> Result<Digraph> {
    const FAMILY: &str = "k-out";
    check_agents(FAMILY, agents)?;
    let others = agents - 1;
    check_count(FAMILY, "degree", degree, agents, others, "each agent picks among the others")?;
    let degree = degree.min(others); // a lone agent picks no one
    if degree * agents > MAX_EDGES {
        let expected = format!("with {agents} agents give at most {}", MAX_EDGES / agents);
        return Err(Error::parameter(FAMILY, "degree", degree, expected));
    }

    // Who was last to pick each candidate; one array for all, so that no agent has to clear it.
    let mut picked_by = vec![u32::MAX; others];
    let mut heard_by = Lists::with_capacity(agents, degree * agents);
    for from in 0..agents {
        let mut draws = Draws::new(seed, Purpose::Graph, from, 0);
        let picks = (others - degree..others).map(|newest| {
            let drawn = draws.below(newest + 1);
            let other = if picked_by[drawn] == from as u32 { newest } else { drawn };
            picked_by[other] = from as u32;
            skip_self(from, other) as u32
        });
        heard_by.push(picks).sort_unstable();
    }
    Ok(Digraph::from_heard_by(heard_by))
}

/// The `other`-th agent, not counting agent `i`.
fn skip_self(i: usize, other: usize) -> usize {
    other + usize::from(other >= i)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erdos_renyi_has_binomially_many_edges_everywhere() {
        let (agents, probability) = (2000, 0.01);
        let graph = erdos_renyi(agents, probability, 3).unwrap();
        let pairs = (agents * (agents - 1)) as f64;
        let deviation = libm::sqrt(pairs * probability * (1.0 - probability));
        let off = (graph.edge_count() as f64 - pairs * probability) / deviation;
        assert!(off.abs() < 4.0, "{off} standard deviations");
        // The last pairs of a row are as likely as the first.
        let late = graph.edges().filter(|&(_, to)| to >= agents / 2).count() as f64;
        assert!((late / graph.edge_count() as f64 - 0.5).abs() < 0.02);
    }

    #[test]
    fn extreme_probabilities_are_exact() {
        assert_eq!(erdos_renyi(100, 0.0, 1).unwrap().edge_count(), 0);
        assert_eq!(erdos_renyi(100, f64::MIN_POSITIVE, 1).unwrap().edge_count(), 0);
        assert_eq!(erdos_renyi(100, 1.0, 1).unwrap().edge_count(), 9900);
        for wrong in [-0.1, 1.1, f64::NAN, f64::INFINITY] {
            assert!(erdos_renyi(100, wrong, 1).is_err());
        }
        let error = erdos_renyi(100_000, 0.5, 1).unwrap_err().to_string();
        assert!(error.ends_with("give at most 1.00e-2"), "{error}");
    }

    #[test]
    fn k_out_picks_every_other_equally_often() {
        let (agents, degree, graphs) = (8, 3, 7000);
        let mut picks = [0_u32; 8];
        for seed in 0..graphs {
            let graph = k_out(agents, degree, seed).unwrap();
            for &to in graph.out_neighbours(2) {
                picks[to as usize] += 1;
            }
        }
        let expected = graphs as f64 * 3.0 / 7.0;
        for (other, &count) in picks.iter().enumerate() {
            let ratio = f64::from(count) / expected;
            assert!(if other == 2 { count == 0 } else { (ratio - 1.0).abs() < 0.08 }, "{picks:?}");
        }
        assert_eq!(k_out(5, 4, 9).unwrap().edge_count(), 20);
        let graph = k_out(50, 7, 9).unwrap();
        assert_eq!(Digraph::from_edges(50, graph.edges()).unwrap(), graph);
        assert!(k_out(5, 5, 9).is_err() && k_out(5, 0, 9).is_err());
        assert_eq!(k_out(1, 4, 9).unwrap().edge_count(), 0);
        assert!(k_out(1_000_000, 101, 9).unwrap_err().to_string().ends_with("give at most 100"));
    }

    #[test]
    fn seeds_give_different_graphs() {
        assert_ne!(erdos_renyi(50, 0.2, 1).unwrap(), erdos_renyi(50, 0.2, 2).unwrap());
        assert_ne!(k_out(50, 4, 1).unwrap(), k_out(50, 4, 2).unwrap());
    }
}
