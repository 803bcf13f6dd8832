//! Minimality against brute force: over all digraphs of up to five agents, and some of six.

use super::*;
use crate::graph::mixing::{Link, Stochastic};
use crate::graph::{check_common_root, weights};
use crate::numeric::sample::{Draws, Purpose};

/// The ordered pairs of distinct agents; bit b of a mask stands for pair b.
fn pairs(n: usize) -> Vec<(usize, usize)> {
    (0..n).flat_map(|from| (0..n).filter(move |&to| to != from).map(move |to| (from, to))).collect()
}

fn edges(pairs: &[(usize, usize)], mask: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
    pairs.iter().enumerate().filter(move |(bit, _)| mask >> bit & 1 == 1).map(|(_, &pair)| pair)
}

fn digraph(n: usize, mask: usize) -> Digraph {
    Digraph::from_edges(n, edges(&pairs(n), mask)).unwrap()
}

/// Whether `root` reaches everyone along the links of the mask, or against them.
fn spans(n: usize, pairs: &[(usize, usize)], mask: usize, root: usize, against: bool) -> bool {
    let mut reached = 1_usize << root;
    loop {
        let before = reached;
        for (from, to) in edges(pairs, mask) {
            let (from, to) = if against { (to, from) } else { (from, to) };
            reached |= (reached >> from & 1) << to;
        }
        if reached == before {
            return reached == (1 << n) - 1;
        }
    }
}

fn strong(n: usize, pairs: &[(usize, usize)], mask: usize) -> bool {
    spans(n, pairs, mask, 0, false) && spans(n, pairs, mask, 0, true)
}

/// For every digraph, the fewest links that give it a property which more links never take away: 0, or one
/// more than the best with one link more.
fn fewest(pairs: usize, holds: impl Fn(usize) -> bool) -> Vec<u8> {
    let mut fewest = vec![0; 1 << pairs];
    for mask in (0..1 << pairs).rev() {
        if !holds(mask) {
            let more = (0..pairs).filter(|bit| mask >> bit & 1 == 0).map(|bit| fewest[mask | 1 << bit]);
            fewest[mask] = 1 + more.min().unwrap();
        }
    }
    fewest
}

/// New links between distinct agents, none twice, with which everyone reaches everyone.
fn assert_connects(graph: &Digraph, links: &[(usize, usize)]) {
    let repaired = Digraph::from_edges(graph.agents(), graph.edges().chain(links.iter().copied())).unwrap();
    assert_eq!(repaired.edge_count(), graph.edge_count() + links.len(), "{graph:?} {links:?}");
    assert!(repaired.is_strongly_connected(), "{graph:?} {links:?}");
}

#[test]
fn no_fewer_links_connect_any_digraph_of_up_to_five_agents() {
    for n in 1..=5 {
        let pairs = pairs(n);
        for (mask, &fewest) in fewest(pairs.len(), |mask| strong(n, &pairs, mask)).iter().enumerate() {
            let graph = digraph(n, mask);
            let links = strongly_connecting(&graph);
            assert_eq!(links.len(), usize::from(fewest), "{graph:?}");
            assert_connects(&graph, &links);
        }
    }
}

#[test]
fn no_fewer_links_connect_sparse_digraphs_of_six_agents() {
    /// Whether `more` links can connect; the next one has at least this bit.
    fn possible(pairs: &[(usize, usize)], mask: usize, from: usize, more: usize) -> bool {
        match more {
            0 => strong(6, pairs, mask),
            _ => (from..pairs.len()).any(|bit| possible(pairs, mask | 1 << bit, bit + 1, more - 1)),
        }
    }
    let pairs = pairs(6);
    let mut draws = Draws::new(1, Purpose::Graph, 0, 0);
    for links in (1..=10).cycle().take(120) {
        let mask = (0..links).fold(0, |mask, _| mask | 1 << draws.below(30));
        let graph = digraph(6, mask);
        let links = strongly_connecting(&graph);
        assert_connects(&graph, &links);
        assert!(links.is_empty() || !possible(&pairs, mask, 0, links.len() - 1), "{graph:?} {links:?}");
    }
}

#[test]
fn large_digraphs_get_as_many_links_as_the_bound_says() {
    let mut draws = Draws::new(2, Purpose::Graph, 0, 0);
    for n in [10, 100, 1000] {
        for m in [0, n / 2, n, 2 * n, 4 * n] {
            let edges: Vec<(usize, usize)> = (0..m).map(|_| (draws.below(n), draws.below(n))).collect();
            let graph = Digraph::from_edges(n, edges).unwrap();
            let links = strongly_connecting(&graph);
            assert_connects(&graph, &links);
            let condensed = graph.components().condensed(&graph);
            let count = |ends: &dyn Fn(usize) -> bool| (0..condensed.agents()).filter(|&c| ends(c)).count();
            let sources = count(&|c| condensed.in_neighbours(c).is_empty());
            let sinks = count(&|c| condensed.out_neighbours(c).is_empty());
            let bound = if condensed.agents() == 1 { 0 } else { sources.max(sinks) };
            assert_eq!(links.len(), bound);
        }
    }
}

#[test]
fn a_path_of_a_million_needs_one_link_and_a_million_alone_need_a_million() {
    let n = 1_000_000;
    let path = Digraph::from_edges(n, (1..n).map(|i| (i - 1, i))).unwrap();
    assert_eq!(strongly_connecting(&path), [(n - 1, 0)]);
    assert_eq!(strongly_connecting(&Digraph::from_edges(n, []).unwrap()).len(), n);
}

/// R and C with uniform weights on two digraphs.
fn uniform(pull: &Digraph, push: &Digraph) -> (Mixing, Mixing) {
    (weights::uniform_rows(pull).unwrap(), weights::uniform_columns(push).unwrap())
}

fn with(graph: &Digraph, links: &[(usize, usize)]) -> Digraph {
    let repaired = Digraph::from_edges(graph.agents(), graph.edges().chain(links.iter().copied())).unwrap();
    assert_eq!(repaired.edge_count(), graph.edge_count() + links.len(), "a link was there already");
    repaired
}

/// Mends two graphs apart; how many links it took.
fn mended_apart(pull: &Digraph, push: &Digraph) -> usize {
    let (r, c) = uniform(pull, push);
    let repair = separate(&r, &c).unwrap();
    assert!(!repair.pull_self_weight && !repair.push_self_weight, "uniform weights have self-weights");
    let (r, c) = uniform(&with(pull, &repair.pull), &with(push, &repair.push));
    assert!(check_common_root(&r, &c).unwrap().contains(&repair.root));
    repair.pull.len() + repair.push.len()
}

#[test]
fn no_fewer_links_give_two_graphs_a_common_root() {
    for n in 1..=5 {
        let pairs = pairs(n);
        // the fewest for each root alone; with a common root the two graphs have nothing more to do with each
        // other
        let alone = |against| -> Vec<Vec<u8>> {
            (0..n).map(|root| fewest(pairs.len(), |mask| spans(n, &pairs, mask, root, against))).collect()
        };
        let (down, up) = (alone(false), alone(true));
        let best = |r: usize, c: usize| (0..n).map(|root| down[root][r] + up[root][c]).min().unwrap();
        let digraphs = 1 << pairs.len();
        let mut draws = Draws::new(3, Purpose::Graph, 0, n as u64);
        let sampled: Vec<(usize, usize)> = match n {
            1..=3 => (0..digraphs).flat_map(|r| (0..digraphs).map(move |c| (r, c))).collect(),
            4 => (0..digraphs).flat_map(|r| [(); 8].map(|()| (r, 0))).collect(),
            _ => vec![(0, 0); 30_000],
        };
        for (r, c) in sampled {
            let drawn = |draws: &mut Draws| draws.below(digraphs) & draws.below(digraphs); // few links: much to repair
            let (r, c) = match n {
                1..=3 => (r, c),
                4 => (r, drawn(&mut draws)),
                _ => (drawn(&mut draws), drawn(&mut draws)),
            };
            let taken = mended_apart(&digraph(n, r), &digraph(n, c));
            assert_eq!(taken, usize::from(best(r, c)), "{:?} {:?}", digraph(n, r), digraph(n, c));
        }
    }
}

#[test]
fn links_that_carry_both_graphs_must_be_strongly_connected() {
    for mask in 0..1 << 6 {
        let graph = digraph(3, mask);
        let (r, c) = uniform(&graph, &graph);
        let repair = shared(&r, &c).unwrap();
        assert_eq!(repair.is_empty(), check_common_root(&r, &c).is_ok(), "{graph:?}");
        assert_eq!(repair.pull, repair.push);
        assert_eq!(repair.pull, strongly_connecting(&graph));
        let repaired = with(&graph, &repair.pull);
        let (r, c) = uniform(&repaired, &repaired);
        assert_eq!(check_common_root(&r, &c).unwrap(), [0, 1, 2]);
    }
}

#[test]
fn weights_that_go_round_want_a_self_weight_and_no_links() {
    let round = |n: usize, stochastic| {
        let links = (0..n).map(|i| Link { from: i, to: (i + 1) % n, weight: 1.0 });
        Mixing::new(n, stochastic, links).unwrap()
    };
    let (r, c) = (round(4, Stochastic::Rows), round(4, Stochastic::Columns));
    for repair in [shared(&r, &c).unwrap(), separate(&r, &c).unwrap()] {
        assert!(repair.pull.is_empty() && repair.push.is_empty() && !repair.is_empty());
        assert!(repair.pull_self_weight && repair.push_self_weight);
    }
    let one_sided = separate(&r, &Mixing::complete(4)).unwrap();
    assert!(one_sided.pull_self_weight && !one_sided.push_self_weight);
    // two pairs that swap: joining them makes cycles of length 2 and 4, so that values still go round
    let links = [(0, 1), (1, 0), (2, 3), (3, 2)].map(|(from, to)| Link { from, to, weight: 1.0 });
    let swaps = Mixing::new(4, Stochastic::Rows, links).unwrap();
    let repair = shared(&swaps, &swaps).unwrap();
    assert_eq!(repair.pull, [(0, 2), (2, 0)]);
    assert!(repair.pull_self_weight && repair.push_self_weight);
}

#[test]
fn graphs_of_different_size_are_refused() {
    for repair in [shared, separate] {
        assert!(repair(&Mixing::complete(3), &Mixing::complete(4)).is_err());
    }
}
