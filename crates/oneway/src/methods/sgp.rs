//! SGP, Stochastic Gradient Push (Assran, Loizou, Ballas & Rabbat 2019).
//!
//! z = x/w; x⁺ = C(x − γ g(z)); w⁺ = Cw, from w₀ = 1. Column-stochastic C alone biases x; the weight w carries the same
//! bias, and z = x/w is free of it.

use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::{Kind, Trust};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Stochastic gradients through push-sum; state is (z, x, g; w).
#[derive(Debug, Clone, PartialEq)]
pub struct Sgp;

impl Method for Sgp {
    fn layout(&self, _problem: &dyn Problem) -> Layout {
        let push = Width::vectors(1).and_scalars(1);
        Layout { state: Width::vectors(3).and_scalars(1), pull: Width::NONE, push }
    }

    fn network(&self) -> Network {
        Network::PushSum
    }

    fn roles(&self) -> Roles {
        Roles { conserved: Some(1), weight: Some(0), conserved_sent: Some(0), ..Roles::default() }
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([z, x, g], [w]) = row::split_mut(state);
        local.start(x);
        z.copy_from_slice(x);
        *w = 1.0;
        g.copy_from_slice(local.gradient(z));
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], _pull: &mut [f64], push: &mut [f64]) {
        let ([_z, x, g], [w]) = row::split(state);
        let ([half_step], [weight]) = row::split_mut(push);
        row::descend(half_step, x, at.η, g); // x − γ g(z)
        *weight = *w;
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], _pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([z, x, g], [w]) = row::split_mut(state);
        let ([c_x], [c_w]) = row::split(pushed);
        x.copy_from_slice(c_x); //               x⁺ = Σ_j C_ij (x_j − γ g_j)
        *w = *c_w; //                            w⁺ = Σ_j C_ij w_j
        for (z, x) in z.iter_mut().zip(x) {
            *z = *x / *w; //                     z⁺ = x⁺ / w⁺
        }
        g.copy_from_slice(local.gradient(z)); // g⁺ = ∇F_i(z⁺; ξ⁺)
    }
}

pub(super) const KIND: Kind = Kind {
    name: "sgp",
    about: "Stochastic Gradient Push: SGD through push-sum",
    rule: "z = x/w; x⁺ = C(x − ηg(z)); w⁺ = Cw",
    reference: "Assran, Loizou, Ballas & Rabbat 2019",
    trust: Trust::A,
    network: Network::PushSum,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(Sgp)),
    with_estimator: None,
};
