//! Families with nothing random in them.

use super::{check_count, check_edges};
use crate::graph::digraph::check_agents;
use crate::graph::{Digraph, MAX_EDGES};
use crate::{Error, Result};

/// The directed ring 0 → 1 → … → n − 1 → 0.
///
/// ```
/// let ring = oneway::graph::families::ring(3).unwrap();
/// assert_eq!(ring.edges().collect::<Vec<_>>(), [(0, 1), (1, 2), (2, 0)]);
/// ```
pub fn ring(agents: usize) -> Result<Digraph> {
    check_agents("ring", agents)?;
    Digraph::from_edges(agents, (0..agents).map(|i| (i, (i + 1) % agents)))
}

/// The flower, our reading of the paper's Multi-Sub-Ring: directed cycles that share agent 0 and nothing
/// else.
///
/// # Arguments
/// * `agents`: n.
/// * `petals`: the number K of cycles, from 1 (a ring) to n − 1 (a two-way star). The other n − 1 agents are
///   split over them as evenly as possible, first cycles longer, with consecutive ids: 0 → a₁ → … → a_m → 0.
///
/// # Returns
/// A strongly connected digraph with n − 1 + K edges.
///
/// ```
/// let flower = oneway::graph::families::flower(6, 2).unwrap();
/// assert_eq!(flower.out_neighbours(0), [1, 4]); // 0 → 1 → 2 → 3 → 0 and 0 → 4 → 5 → 0
/// assert_eq!(flower.in_neighbours(0), [3, 5]);
/// ```
pub fn flower(agents: usize, petals: usize) -> Result<Digraph> {
    check_agents("flower", agents)?;
    let why = "each cycle needs an agent of its own beside agent 0";
    check_count("flower", "petals", petals, agents, agents - 1, why)?;
    let mut edges = Vec::with_capacity(2 * agents);
    for (first, last) in shares(1, agents, petals) {
        edges.push((0, first));
        edges.extend((first..last).map(|i| (i, i + 1)));
        edges.push((last, 0));
    }
    Digraph::from_edges(agents, edges)
}

/// Rings whose first agents, the heads, form a ring themselves.
///
/// # Arguments
/// * `agents`: n.
/// * `rings`: the number K of rings, from 1 to n; the agents are split over them as evenly as possible, first
///   rings longer, with consecutive ids.
///
/// # Returns
/// A strongly connected digraph.
///
/// ```
/// let rings = oneway::graph::families::ring_of_rings(6, 2).unwrap();
/// assert_eq!(rings.out_neighbours(0), [1, 3]); // on its own ring, and to the next head
/// ```
pub fn ring_of_rings(agents: usize, rings: usize) -> Result<Digraph> {
    check_agents("ring-of-rings", agents)?;
    check_count("ring-of-rings", "rings", rings, agents, agents, "each ring needs an agent")?;
    let mut edges = Vec::with_capacity(2 * agents);
    for (head, last) in shares(0, agents, rings) {
        edges.extend((head..last).map(|i| (i, i + 1)));
        edges.push((last, head));
        edges.push((head, if last + 1 == agents { 0 } else { last + 1 }));
    }
    Digraph::from_edges(agents, edges)
}

/// The directed ring with chords that lead back: i → i + 1 for all i, and i → i − span for every `every`-th
/// i.
///
/// # Arguments
/// * `agents`: n.
/// * `span`: how far back a chord leads, modulo n, from 1 (the two-way ring, if every agent has a chord) to n
///   − 1 (where the chord is the ring's own link).
/// * `every`: agents 0, every, 2·every, … have a chord.
///
/// # Returns
/// A strongly connected digraph.
///
/// ```
/// let chords = oneway::graph::families::back_chords(8, 3, 4).unwrap();
/// assert_eq!(chords.out_neighbours(0), [1, 5]);
/// assert_eq!(chords.out_neighbours(4), [1, 5]);
/// assert_eq!(chords.out_neighbours(5), [6]);
/// ```
pub fn back_chords(agents: usize, span: usize, every: usize) -> Result<Digraph> {
    check_agents("back-chords", agents)?;
    check_count("back-chords", "span", span, agents, agents - 1, "a chord leads to another agent")?;
    check_count("back-chords", "every", every, agents, usize::MAX, "")?;
    let ring = (0..agents).map(|i| (i, (i + 1) % agents));
    let chords = (0..agents).step_by(every).map(|i| (i, (i + agents - span % agents) % agents));
    Digraph::from_edges(agents, ring.chain(chords))
}

/// The exponential graph: i → i + 2^k modulo n for every 2^k < n, ⌈log₂ n⌉ edges out of and into each agent.
///
/// ```
/// let graph = oneway::graph::families::exponential(6).unwrap();
/// assert_eq!(graph.out_neighbours(0), [1, 2, 4]);
/// ```
pub fn exponential(agents: usize) -> Result<Digraph> {
    check_agents("exponential", agents)?;
    check_edges("exponential", agents, agents * exponential_offsets(agents).count())?;
    let edges =
        (0..agents).flat_map(|i| exponential_offsets(agents).map(move |offset| (i, (i + offset) % agents)));
    Digraph::from_edges(agents, edges)
}

/// The one-peer exponential graphs: in round k each agent is heard by one other, i → i + 2^(k mod ⌈log₂ n⌉)
/// modulo n.
///
/// # Returns
/// The ⌈log₂ n⌉ digraphs of one period; one, without edges, for a lone agent. Each alone may be disconnected
/// (even offsets on an even n); their union is the exponential graph.
///
/// ```
/// let rounds = oneway::graph::families::one_peer_exponential(6).unwrap();
/// let heard_by: Vec<_> = rounds.iter().map(|graph| graph.out_neighbours(5)[0]).collect();
/// assert_eq!(heard_by, [0, 1, 3]);
/// ```
pub fn one_peer_exponential(agents: usize) -> Result<Vec<Digraph>> {
    check_agents("one-peer-exponential", agents)?;
    if agents == 1 {
        return Ok(vec![ring(1)?]);
    }
    check_edges("one-peer-exponential", agents, agents * exponential_offsets(agents).count())?;
    exponential_offsets(agents)
        .map(|offset| Digraph::from_edges(agents, (0..agents).map(|i| (i, (i + offset) % agents))))
        .collect()
}

/// The two-way grid, filled row by row.
///
/// # Arguments
/// * `agents`: n = rows × columns.
/// * `columns`: a divisor of n; `None` for the most square grid, [`most_square`], which for a prime n is a
///   line.
///
/// ```
/// let grid = oneway::graph::families::grid(12, None).unwrap(); // three rows of four
/// assert_eq!(grid.out_neighbours(5), [1, 4, 6, 9]);
/// ```
pub fn grid(agents: usize, columns: Option<usize>) -> Result<Digraph> {
    lattice("grid", agents, columns, false)
}

/// The two-way grid whose rows and columns close to rings; arguments as for [`grid`].
///
/// ```
/// let torus = oneway::graph::families::torus(12, Some(4)).unwrap();
/// assert_eq!(torus.out_neighbours(0), [1, 3, 4, 8]);
/// ```
pub fn torus(agents: usize, columns: Option<usize>) -> Result<Digraph> {
    lattice("torus", agents, columns, true)
}

/// The columns of the most square grid of n agents: the smallest divisor of n that is at least √n.
///
/// ```
/// use oneway::graph::families::most_square;
/// assert_eq!([20, 16, 7, 1].map(most_square), [5, 4, 7, 1]);
/// ```
pub fn most_square(agents: usize) -> usize {
    let rows =
        (1..).take_while(|rows| rows * rows <= agents).filter(|&rows| agents.is_multiple_of(rows)).last();
    agents / rows.unwrap_or(1)
}

/// The two-way star: agent 0 hears all and is heard by all.
///
/// ```
/// let star = oneway::graph::families::star(4).unwrap();
/// assert_eq!((star.out_neighbours(0), star.in_neighbours(3)), (&[1, 2, 3][..], &[0][..]));
/// ```
pub fn star(agents: usize) -> Result<Digraph> {
    check_agents("star", agents)?;
    Digraph::from_edges(agents, (1..agents).flat_map(|i| both_ways(0, i)))
}

/// The complete graph: all hear all. At most 10,000 agents, for it has n(n − 1) edges.
///
/// ```
/// assert_eq!(oneway::graph::families::complete(5).unwrap().edge_count(), 20);
/// ```
pub fn complete(agents: usize) -> Result<Digraph> {
    check_agents("complete", agents)?;
    if agents * (agents - 1) > MAX_EDGES {
        let expected = format!("it would have more than {MAX_EDGES} edges, give at most 10000 agents");
        return Err(Error::parameter("complete", "agents", agents, expected));
    }
    Digraph::from_edges(agents, (0..agents).flat_map(|i| (0..agents).map(move |j| (i, j))))
}

/// The two-way tree in which the children of agent i are B·i + 1 to B·i + B.
///
/// # Arguments
/// * `agents`: n; the last level need not be full.
/// * `branching`: B ≥ 1; 1 gives a line.
///
/// ```
/// let tree = oneway::graph::families::tree(7, 2).unwrap();
/// assert_eq!(tree.out_neighbours(1), [0, 3, 4]);
/// ```
pub fn tree(agents: usize, branching: usize) -> Result<Digraph> {
    check_agents("tree", agents)?;
    check_count("tree", "branching", branching, agents, usize::MAX, "")?;
    Digraph::from_edges(agents, (1..agents).flat_map(|i| both_ways((i - 1) / branching, i)))
}

fn lattice(family: &str, agents: usize, columns: Option<usize>, wraps: bool) -> Result<Digraph> {
    check_agents(family, agents)?;
    let columns = match columns {
        Some(columns) if agents > 1 => columns,
        _ => most_square(agents),
    };
    if !agents.is_multiple_of(columns) {
        let expected = format!("the agents must fill the rows, so it must divide {agents}");
        return Err(Error::parameter(family, "columns", columns, expected));
    }
    let edges = (0..agents).flat_map(|i| {
        let (row_start, column) = (i - i % columns, i % columns);
        let right = if column + 1 < columns { Some(i + 1) } else { wraps.then_some(row_start) };
        let down = if i + columns < agents { Some(i + columns) } else { wraps.then_some(column) };
        [right, down].into_iter().flatten().flat_map(move |j| both_ways(i, j))
    });
    Digraph::from_edges(agents, edges)
}

fn both_ways(i: usize, j: usize) -> [(usize, usize); 2] {
    [(i, j), (j, i)]
}

/// 1, 2, 4, … below n: ⌈log₂ n⌉ numbers.
pub(super) fn exponential_offsets(agents: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |offset| Some(2 * offset)).take_while(move |&offset| offset < agents)
}

/// Splits `start..end` into `parts` runs as even as possible, first ones longer; yields the first and last id
/// of each run that is not empty.
fn shares(start: usize, end: usize, parts: usize) -> impl Iterator<Item = (usize, usize)> {
    let (least, longer) = ((end - start) / parts, (end - start) % parts);
    let runs = if least == 0 { longer } else { parts };
    (0..runs).map(move |part| {
        let first = start + part * least + part.min(longer);
        (first, first + least + usize::from(part < longer) - 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(graph: &Digraph) -> Vec<(usize, usize)> {
        graph.edges().collect()
    }

    #[test]
    fn the_flower_of_the_paper_has_23_edges() {
        let flower = flower(20, 4).unwrap();
        assert_eq!(flower.edge_count(), 23);
        assert!(flower.is_strongly_connected());
        assert_eq!(flower.out_neighbours(0), [1, 6, 11, 16]); // 19 = 5 + 5 + 5 + 4
        assert_eq!(flower.in_neighbours(0), [5, 10, 15, 19]);
    }

    #[test]
    fn extreme_flowers_are_a_ring_and_a_star() {
        assert_eq!(flower(6, 1).unwrap(), ring(6).unwrap());
        assert_eq!(flower(6, 5).unwrap(), star(6).unwrap());
        let error = flower(6, 6).unwrap_err().to_string();
        assert_eq!(
            error,
            "flower: `petals` = 6 is not possible: with 6 agents it must be from 1 to 5: \
             each cycle needs an agent of its own beside agent 0"
        );
        assert!(flower(1, 0).is_err());
    }

    #[test]
    fn extreme_rings_of_rings_are_rings() {
        assert_eq!(ring_of_rings(6, 1).unwrap(), ring(6).unwrap());
        assert_eq!(ring_of_rings(6, 6).unwrap(), ring(6).unwrap());
        assert_eq!(ring_of_rings(20, 4).unwrap().edge_count(), 24);
        assert!(ring_of_rings(6, 7).is_err());
    }

    #[test]
    fn lattices_have_their_edges() {
        assert_eq!(edges(&grid(4, None).unwrap()), edges(&torus(4, None).unwrap()));
        assert_eq!(grid(6, Some(3)).unwrap().edge_count(), 14);
        assert!((0..20).all(|i| torus(20, None).unwrap().out_neighbours(i).len() == 4));
        assert_eq!(torus(5, Some(1)).unwrap(), back_chords(5, 1, 1).unwrap());
        let error = grid(20, Some(3)).unwrap_err().to_string();
        assert!(error.ends_with("it must divide 20"), "{error}");
        assert!(torus(20, Some(0)).is_err());
        assert_eq!(torus(1, Some(4)).unwrap().edge_count(), 0);
    }

    #[test]
    fn complete_graphs_stop_at_ten_thousand() {
        let error = complete(10_001).unwrap_err().to_string();
        assert!(error.contains("give at most 10000 agents"), "{error}");
        assert!(complete(usize::MAX).is_err());
    }

    #[test]
    fn a_tree_of_branching_one_is_a_line() {
        assert_eq!(tree(5, 1).unwrap(), grid(5, Some(5)).unwrap());
        assert_eq!(tree(5, usize::MAX).unwrap(), star(5).unwrap());
        assert!(tree(5, 0).is_err());
    }
}
