//! What an agent's scalars are held at, while a round acts on its vectors.

use crate::graph::mixing::Mixing;

/// What an agent's scalars are held at.
#[derive(Debug)]
pub(super) enum Held {
    /// There are none.
    Nothing,
    /// Push-sum's weight, one number for each agent: nπ_C.
    Weights(Vec<f64>),
    /// The same row for all agents: π_R.
    Row(Vec<f64>),
}

impl Held {
    /// The weights of n agents before a period.
    pub(super) fn weights(&self, n: usize) -> Vec<f64> {
        match self {
            Held::Nothing => vec![1.0; n],
            Held::Weights(all) | Held::Row(all) => all.clone(),
        }
    }

    /// The weights after an exchange.
    pub(super) fn mixed(&self, push: &Mixing, weights: Vec<f64>) -> Vec<f64> {
        match self {
            Held::Weights(_) => {
                let of = |i: usize| push.row(i).map(|(j, weight)| weight * weights[j]).sum();
                (0..weights.len()).map(of).collect() // w⁺ = Σ_j C_ij w_j
            }
            Held::Nothing | Held::Row(_) => weights,
        }
    }
}
