//! SMTPP without noise on strongly connected digraphs, random ones and hard ones: is there a step with which
//! it finds the minimiser?

use std::ops::ControlFlow;

use anyhow::Result;
use oneway::graph::Subgraph;
use oneway::graph::{Digraph, families};
use oneway::methods::Smtpp;
use rayon::prelude::*;

use super::quadratic::{distance_sq, problem, run as run_quadratic, topology};
use super::{AGENTS, MOMENTUM, PETALS};

/// Effective steps tried: this one, and its halves.
const LARGEST_STEP: f64 = 0.4;
const HALVINGS: i32 = 8;
/// Rounds given to a step; more to smaller ones.
const ROUNDS: f64 = 1000.0;
/// (1/n)Σ‖x_i − x*‖² of rounding.
const EXACT: f64 = 1e-26;
/// Beyond this there is no way back.
const LOST: f64 = 1e20;
const PER_FAMILY: [(&str, usize); 3] = [("erdos-renyi", 7), ("k-out", 7), ("geometric", 6)];

/// One digraph.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Trial {
    pub(crate) family: &'static str,
    /// 0 of what is not random.
    pub(crate) seed: u64,
    /// c_π.
    pub(crate) c_π: f64,
    /// The largest step tried that led to the minimiser to rounding, and the rounds it took; none if none
    /// did.
    pub(crate) reached: Option<(f64, u64)>,
}

pub(super) fn run() -> Result<Vec<Trial>> {
    let mut digraphs = vec![
        ("directed ring", 0, families::ring(AGENTS)?),
        ("flower", 0, families::flower(AGENTS, PETALS)?),
        ("star", 0, families::star(AGENTS)?),
        ("ring with back chords", 0, families::back_chords(AGENTS, 3, 2)?),
    ];
    for (family, count) in PER_FAMILY {
        let mut found = 0;
        for seed in 1.. {
            let digraph = match family {
                "erdos-renyi" => families::erdos_renyi(AGENTS, 0.15, seed)?,
                "k-out" => families::k_out(AGENTS, 2, seed)?,
                _ => families::geometric(AGENTS, 0.4, 0.5, seed)?,
            };
            if digraph.is_strongly_connected() {
                digraphs.push((family, seed, digraph));
                found += 1;
            }
            if found == count {
                break;
            }
        }
    }
    digraphs.into_par_iter().map(|(family, seed, digraph)| trial(family, seed, digraph)).collect()
}

fn trial(family: &'static str, seed: u64, digraph: Digraph) -> Result<Trial> {
    let topology = topology(digraph, Subgraph::Full)?;
    let problem = problem(AGENTS, 2, [0.5, 1.0], 0.0)?;
    let method = Smtpp::new(MOMENTUM)?;
    let mut reached = None;
    for halvings in 0..=HALVINGS {
        let step = LARGEST_STEP * 0.5_f64.powi(halvings);
        let rounds = (ROUNDS * LARGEST_STEP / step) as u64;
        let mut taken = None;
        run_quadratic(&method, &problem, &topology, step, [0, rounds], |view| {
            let far = distance_sq(view, &problem);
            if far <= EXACT {
                taken = Some(view.k);
            }
            let over = taken.is_some() || far > LOST;
            Ok(if over { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
        })?;
        if let Some(taken) = taken {
            reached = Some((step, taken));
            break;
        }
    }
    Ok(Trial { family, seed, c_π: topology.c_pi()?, reached })
}
