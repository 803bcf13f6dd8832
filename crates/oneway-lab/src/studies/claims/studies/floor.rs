//! The error floor at a constant step: how it depends on λ (Theorem 1) and on n (linear speed-up).
//!
//! All f_i(x) = ½‖x − c_i‖² have curvature h = 1 and additive gradient noise; the stationary means of
//! ‖∇F(x̄)‖², (1/n)Σ‖∇F(x_i)‖² and (1/n)Σ‖v_i − nπ_C,i v̄‖² are exact, and divided by σ².

use anyhow::{Context, Result};
use oneway::graph::Topology;
use oneway::graph::families;
use oneway::methods::Smtpp;
use oneway::theory;
use rayon::prelude::*;

use super::quadratic::{paper_graphs, topology};
use super::{LINKS, MOMENTUM, SpeedUp};
use crate::studies::claims::statistics::PowerLaw;

/// η·c_π.
pub(crate) const STEP: f64 = 0.1;
/// Every λ tried.
pub(crate) const MOMENTA: [f64; 5] = [0.05, 0.1, 0.2, 0.4, 0.8];
/// Every n tried.
const SIZES: [usize; 4] = [5, 10, 20, 40];

/// Stationary means of one (graph, λ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Floor {
    pub(crate) momentum: f64,
    /// E‖∇F(x̄)‖²/σ².
    pub(crate) at_average: f64,
    /// E (1/n)Σ‖∇F(x_i)‖²/σ².
    pub(crate) at_agents: f64,
    /// E (1/n)Σ‖v_i − nπ_C,i v̄‖²/σ².
    pub(crate) tracking: f64,
}

/// The floors of one graph, λ ascending.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OnGraph {
    /// "multi-sub-ring", "multi-sub-ring on trees".
    pub(crate) graph: String,
    pub(crate) floors: Vec<Floor>,
}

impl OnGraph {
    /// The exponent p of floor ∝ λ^p.
    pub(crate) fn exponent(&self, of: impl Fn(&Floor) -> f64) -> PowerLaw {
        let points: Vec<(f64, f64)> = self.floors.iter().map(|floor| (floor.momentum, of(floor))).collect();
        PowerLaw::fit(&points)
    }
}

/// One graph against the other, on the same kind of links.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Floors {
    /// "" or " on trees".
    pub(crate) links: &'static str,
    pub(crate) sparse: OnGraph,
    pub(crate) dense: OnGraph,
}

/// Every λ on both graphs, on the full digraphs and on trees.
pub(super) fn run() -> Result<[Floors; 2]> {
    let [full, trees] = LINKS.map(|(subgraph, links)| -> Result<Floors> {
        let [sparse, dense] = paper_graphs()?.map(|(graph, digraph)| -> Result<OnGraph> {
            let topology = topology(digraph, subgraph)?;
            let floors = MOMENTA.par_iter().map(|&λ| floor(&topology, λ));
            Ok(OnGraph { graph: format!("{graph}{links}"), floors: floors.collect::<Result<_>>()? })
        });
        Ok(Floors { links, sparse: sparse?, dense: dense? })
    });
    Ok([full?, trees?])
}

/// The floor on the exponential graph for every n, λ = 0.1.
pub(super) fn speed_up() -> Result<[SpeedUp; 2]> {
    let [full, trees] = LINKS.map(|(subgraph, _)| -> Result<SpeedUp> {
        let of_size = |&n: &usize| {
            let topology = topology(families::exponential(n)?, subgraph)?;
            Ok((n, floor(&topology, MOMENTUM)?.at_average))
        };
        let floors: Vec<(usize, f64)> = SIZES.par_iter().map(of_size).collect::<Result<_>>()?;
        let points: Vec<(f64, f64)> = floors.iter().map(|&(n, floor)| (n as f64, floor)).collect();
        Ok(SpeedUp { floors, fit: PowerLaw::fit(&points) })
    });
    Ok([full?, trees?])
}

fn floor(topology: &Topology, λ: f64) -> Result<Floor> {
    let exact = theory::floor::floor(&Smtpp::new(λ)?, topology, STEP / topology.c_pi()?)?;
    let theory::floor::Floor { at_average, at_agents, tracking, .. } = exact;
    let tracking = tracking.context("SMTPP tracks")?;
    Ok(Floor { momentum: λ, at_average, at_agents, tracking })
}
