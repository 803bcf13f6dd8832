//! Push-sum weights that run dry.
//!
//! A push-sum method estimates z_i = x_i/w_i. As long as what an agent hands on comes back in time, w_i stays
//! near its share of all weight, nπ_C,i. Where nothing arrives, because those whom it hears are away, slow or
//! cut off, w_i shrinks by C_ii with every step while the agent goes on to subtract ηg_i from x_i: its
//! estimate moves by ηg_i/w_i, a step that doubles and doubles. Mass is conserved all the while, so that no
//! other law notices. This one is watched in every step: w_i must be at least a thousandth of min(1, nπ_C,i),
//! the lesser of where it began and where it belongs.

use crate::Result;
use crate::engine::Setup;
use crate::method::Profile;

/// A weight below this part of its share is starved: steps are a thousand times as long as meant.
const STARVED: f64 = 1.0 / 1024.0;

/// Watches the weights of a push-sum method.
#[derive(Debug)]
pub(crate) struct Starvation {
    /// Where in a state row the weight is.
    place: usize,
    /// The least that each agent must have.
    least: Vec<f64>,
    /// The first step that left an agent with less.
    since: Option<u64>,
}

impl Starvation {
    /// For a method that divides by weights; none for others.
    pub(crate) fn new(setup: &Setup<'_>, profile: &Profile) -> Result<Option<Self>> {
        let Setup { problem, topology, .. } = *setup;
        let Some(weight) = profile.roles.weight else { return Ok(None) };
        let n = problem.agents();
        let mut least = vec![1.0; n];
        for k in 0..topology.period().len() as u64 {
            let shares = topology.stationary(k)?.push.iter().map(|π| n as f64 * π);
            least.iter_mut().zip(shares).for_each(|(least, share)| *least = share.min(*least));
        }
        least.iter_mut().for_each(|least| *least *= STARVED);
        let place = profile.state.vectors * problem.dim() + weight;
        Ok(Some(Self { place, least, since: None }))
    }

    /// Looks at the state of an agent after its step that ends round k (or unit of time k).
    pub(crate) fn look(&mut self, k: u64, agent: usize, state: &[f64]) {
        if state[self.place] < self.least[agent] {
            self.since.get_or_insert(k);
        }
    }

    /// Since when an agent has been starved, if ever.
    pub(crate) fn since(&self) -> Option<u64> {
        self.since
    }
}
