//! Radios in the unit square, each with its own power: why links go one way in the first place.

use std::f64::consts::{FRAC_PI_4, PI};

use crate::graph::digraph::check_agents;
use crate::graph::lists::Lists;
use crate::graph::{Digraph, MAX_EDGES};
use crate::numeric::sample::{Draws, Purpose};
use crate::{Error, Result};

/// Where an agent stands in the unit square, and how far it is heard.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Radio {
    /// From the left, 0 to 1.
    pub x: f64,
    /// From the bottom, 0 to 1.
    pub y: f64,
    /// How far it is heard.
    pub range: f64,
}

impl Radio {
    /// Whether `listener` stands within range; distances are compared squared.
    pub fn is_heard_by(&self, listener: &Radio) -> bool {
        let (dx, dy) = (listener.x - self.x, listener.y - self.y);
        dx * dx + dy * dy <= self.range * self.range
    }
}

/// Agents at random in the unit square, each heard as far as its own power carries: of two, often only one
/// hears the other.
///
/// # Arguments
/// * `agents`: n.
/// * `range`: the mean range, > 0.
/// * `spread`: how unequal the ranges are, from 0 (all equal, so all links are two-way) to 1. An agent's
///   range is uniform on range·(1 − spread) to range·(1 + spread).
/// * `seed`: which of them.
///
/// # Returns
/// The digraph in which i hears j if |p_i − p_j| ≤ range_j; [`geometric_points`] gives the points and ranges
/// themselves.
///
/// # Complexity
/// O(n + m) expected, by a grid of cells.
///
/// ```
/// use oneway::graph::families::geometric;
/// let graph = geometric(100, 0.2, 0.5, 7).unwrap();
/// assert!(!graph.is_symmetric());
/// assert!(geometric(100, 0.2, 0.0, 7).unwrap().is_symmetric());
/// ```
pub fn geometric(agents: usize, range: f64, spread: f64, seed: u64) -> Result<Digraph> {
    check(agents, range, spread)?;
    // Even from a corner a quarter of the disc lies in the square. What is too much only away from corners is
    // caught while the edges are counted.
    let pairs = agents as f64 * (agents - 1) as f64;
    let reach = range.min(1.0);
    if pairs * FRAC_PI_4 * reach * reach > MAX_EDGES as f64 {
        let largest = libm::sqrt(MAX_EDGES as f64 / (pairs * PI));
        let expected =
            format!("with {agents} agents that is more than {MAX_EDGES} edges, give at most {largest:.2e}");
        return Err(Error::parameter("geometric", "range", range, expected));
    }
    let radios = geometric_points(agents, range, spread, seed)?;
    let cells = Cells::new(&radios);
    let edges = radios.iter().enumerate().flat_map(|(from, sender)| {
        let listeners = cells.around(sender).filter(|&to| sender.is_heard_by(&radios[to]));
        listeners.map(move |to| (from, to))
    });
    Digraph::from_edges(agents, edges)
}

/// The radios of [`geometric`], by agent; same arguments.
///
/// ```
/// use oneway::graph::families::geometric_points;
/// let radios = geometric_points(10, 0.2, 0.5, 7).unwrap();
/// assert!(radios.iter().all(|radio| (0.1..=0.3).contains(&radio.range)));
/// ```
pub fn geometric_points(agents: usize, range: f64, spread: f64, seed: u64) -> Result<Vec<Radio>> {
    check(agents, range, spread)?;
    let radio = |agent| {
        let mut draws = Draws::new(seed, Purpose::Graph, agent, 0);
        let (x, y) = (draws.unit(), draws.unit());
        Radio { x, y, range: range * (1.0 + spread * (2.0 * draws.unit() - 1.0)) }
    };
    Ok((0..agents).map(radio).collect())
}

fn check(agents: usize, range: f64, spread: f64) -> Result<()> {
    check_agents("geometric", agents)?;
    if !(range.is_finite() && range > 0.0) {
        return Err(Error::parameter("geometric", "range", range, "it must be greater than 0"));
    }
    if !(0.0..=1.0).contains(&spread) {
        return Err(Error::parameter("geometric", "spread", spread, "it must be from 0 to 1"));
    }
    Ok(())
}

/// The unit square cut into side × side cells, with the agents that stand in each: about two.
struct Cells {
    side: usize,
    agents: Lists,
}

impl Cells {
    fn new(radios: &[Radio]) -> Self {
        let side = (libm::sqrt(radios.len() as f64 / 2.0) as usize).max(1);
        let cell = |radio: &Radio| (Self::place(side, radio.y) * side + Self::place(side, radio.x)) as u32;
        let pairs = radios.iter().enumerate().map(|(agent, radio)| (cell(radio), agent as u32));
        Self { side, agents: Lists::deal(side * side, pairs) }
    }

    /// Which row or column of cells a coordinate falls in; what lies outside the square counts to the
    /// nearest.
    fn place(side: usize, coordinate: f64) -> usize {
        ((coordinate * side as f64) as usize).min(side - 1) // `as` turns negative numbers into 0
    }

    /// The agents in all cells that the range of `sender` touches.
    fn around(&self, sender: &Radio) -> impl Iterator<Item = usize> + '_ {
        let reach = sender.range * (1.0 + 1e-9); // rounding must not lose a listener on the very edge
        let span = |at: f64| Self::place(self.side, at - reach)..=Self::place(self.side, at + reach);
        let columns = span(sender.x);
        span(sender.y)
            .flat_map(move |row| columns.clone().map(move |column| row * self.side + column))
            .flat_map(|cell| self.agents.of(cell).iter().map(|&agent| agent as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_find_exactly_who_is_in_range() {
        for (agents, range, spread) in
            [(1, 0.1, 0.5), (2, 3.0, 0.0), (50, 0.3, 1.0), (300, 0.02, 0.4), (300, 0.9, 0.1)]
        {
            let radios = geometric_points(agents, range, spread, 5).unwrap();
            let pairs = (0..agents).flat_map(|from| (0..agents).map(move |to| (from, to)));
            let all = pairs.filter(|&(from, to)| radios[from].is_heard_by(&radios[to]));
            let brute_force = Digraph::from_edges(agents, all).unwrap();
            assert_eq!(geometric(agents, range, spread, 5).unwrap(), brute_force);
        }
    }

    #[test]
    fn an_agents_radio_does_not_depend_on_how_many_others_there_are() {
        let (few, many) =
            (geometric_points(5, 0.1, 0.3, 2).unwrap(), geometric_points(50, 0.1, 0.3, 2).unwrap());
        assert_eq!(few, many[..5]);
    }

    #[test]
    fn impossible_ranges_and_spreads_are_errors() {
        for wrong in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(geometric(5, wrong, 0.3, 1).is_err());
        }
        for wrong in [-0.1, 1.1, f64::NAN] {
            assert!(geometric(5, 0.3, wrong, 1).is_err());
        }
        assert!(geometric(0, 0.3, 0.3, 1).is_err());
        let error = geometric(100_000, 0.4, 0.3, 1).unwrap_err().to_string();
        assert!(error.ends_with("give at most 5.64e-2"), "{error}");
    }
}
