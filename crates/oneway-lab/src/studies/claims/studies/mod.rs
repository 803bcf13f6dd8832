//! Studies that put the claims of the analysis to the test: fixed problems, fixed seeds, the library's own
//! simulator.
//!
//! Cells run side by side; each is a pure function of its settings, so that the results do not depend on
//! threads.

pub(crate) mod corollary;
pub(crate) mod digraphs;
pub(crate) mod floor;
mod quadratic;
pub(crate) mod stability;

use anyhow::Result;
use oneway::graph::Subgraph;

use super::statistics::PowerLaw;

/// λ, the paper's choice.
const MOMENTUM: f64 = 0.1;
/// n, the paper's choice.
pub(crate) const AGENTS: usize = 20;
/// Cycles of the flower that stands for the Multi-Sub-Ring.
const PETALS: usize = 4;

/// Both ways to use a digraph, and how they are called: all of its links, and two trees.
const LINKS: [(Subgraph, &str); 2] = [(Subgraph::Full, ""), (Subgraph::Trees, " on trees")];

/// What all studies found.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Studies {
    /// Stationary errors for each λ, for [`LINKS`].
    pub(crate) floor: [floor::Floors; 2],
    /// Largest stable steps.
    pub(crate) stability: Vec<stability::Limit>,
    /// Corollary 1's schedule.
    pub(crate) corollary: corollary::Corollary,
    /// The floor of E‖∇F(x̄)‖² at a fixed step against n, for [`LINKS`].
    pub(crate) speed_up: [SpeedUp; 2],
    /// SMTPP on strongly connected digraphs.
    pub(crate) digraphs: Vec<digraphs::Trial>,
}

/// Floor against n.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct SpeedUp {
    /// (n, E‖∇F(x̄)‖²/σ²).
    pub(crate) floors: Vec<(usize, f64)>,
    pub(crate) fit: PowerLaw,
}

impl Studies {
    /// Runs them all, side by side, in about two seconds of one core.
    pub(crate) fn run() -> Result<Self> {
        let ((floor, speed_up), (stability, (corollary, digraphs))) = rayon::join(
            || rayon::join(floor::run, floor::speed_up),
            || rayon::join(stability::run, || rayon::join(corollary::run, digraphs::run)),
        );
        Ok(Self {
            floor: floor?,
            stability: stability?,
            corollary: corollary?,
            speed_up: speed_up?,
            digraphs: digraphs?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn studies_do_not_depend_on_threads() {
        let on = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(Studies::run).unwrap()
        };
        assert_eq!(on(1), on(3));
    }
}
