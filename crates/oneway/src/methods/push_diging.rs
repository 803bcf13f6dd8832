//! Push-DIGing (Nedić, Olshevsky & Shi 2017), with stochastic gradients.
//!
//! u⁺ = C(u − αy); w⁺ = Cw; x⁺ = u⁺/w⁺; y⁺ = Cy + g(x⁺) − g(x), from u₀ = x₀, w₀ = 1, y₀ = g₀. The tracker y is not
//! divided by w.

use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::{Kind, Trust, track};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// Gradient tracking through push-sum; state is (x, u, y, g; w).
#[derive(Debug, Clone, PartialEq)]
pub struct PushDiging;

impl Method for PushDiging {
    fn layout(&self, _problem: &dyn Problem) -> Layout {
        let push = Width::vectors(2).and_scalars(1);
        Layout { state: Width::vectors(4).and_scalars(1), pull: Width::NONE, push }
    }

    fn network(&self) -> Network {
        Network::PushSum
    }

    fn roles(&self) -> Roles {
        Roles {
            conserved: Some(1),
            tracker: Some(2),
            tracked: Some(3),
            weight: Some(0),
            conserved_sent: Some(0),
            tracker_sent: Some(1),
            ..Roles::default()
        }
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, u, y, g], [w]) = row::split_mut(state);
        local.start(x);
        u.copy_from_slice(x);
        *w = 1.0;
        g.copy_from_slice(local.gradient(x));
        y.copy_from_slice(g); // y₀ = g₀
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], _pull: &mut [f64], push: &mut [f64]) {
        let ([_x, u, y, _g], [w]) = row::split(state);
        let ([half_step, tracker], [weight]) = row::split_mut(push);
        row::descend(half_step, u, at.η, y); // u − αy
        tracker.copy_from_slice(y);
        *weight = *w;
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], _pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([x, u, y, g], [w]) = row::split_mut(state);
        let ([c_u, c_y], [c_w]) = row::split(pushed);
        u.copy_from_slice(c_u); //              u⁺ = Σ_j C_ij (u_j − α y_j)
        *w = *c_w; //                           w⁺ = Σ_j C_ij w_j
        for (x, u) in x.iter_mut().zip(u) {
            *x = *u / *w; //                    x⁺ = u⁺ / w⁺
        }
        track(y, c_y, g, local.gradient(x)); // y⁺ = Σ_j C_ij y_j + g(x⁺) − g(x)
    }
}

pub(super) const KIND: Kind = Kind {
    name: "push-diging",
    about: "Push-DIGing: gradient tracking through push-sum",
    rule: "u⁺ = C(u − ηy); w⁺ = Cw; x⁺ = u⁺/w⁺; y⁺ = Cy + g(x⁺) − g(x)",
    reference: "Nedić, Olshevsky & Shi 2017",
    trust: Trust::A,
    network: Network::PushSum,
    graphs: &[Subgraph::Full],
    parameters: &[],
    build: |_| Ok(Box::new(PushDiging)),
    with_estimator: None,
};
