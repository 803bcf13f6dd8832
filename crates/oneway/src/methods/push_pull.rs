//! Push-Pull (Pu, Shi, Xu & Nedić 2020), Stochastic Push-Pull (You & Pu), and STPP: Push-Pull on two weight-1 trees.
//!
//! X⁺ = R(X − αY); Y⁺ = CY + G⁺ − G, from Y₀ = G₀. The old sample's gradient is kept and reused.

use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::track;
use crate::row::{self, Width};

/// Tracks gradients; state is (x, y, g).
#[derive(Debug, Clone, PartialEq)]
pub struct PushPull;

impl Method for PushPull {
    fn layout(&self) -> Layout {
        Layout { state: Width::vectors(3), pull: Width::vectors(1), push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        Network::PushPull
    }

    fn roles(&self) -> Roles {
        Roles { tracker: Some(1), tracked: Some(2), ..Roles::default() }
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, y, g], []) = row::split_mut(state);
        local.start(x);
        g.copy_from_slice(local.gradient(x));
        y.copy_from_slice(g); // y₀ = g₀
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, y, _g], []) = row::split(state);
        row::descend(pull, x, at.η, y); // x − αy
        push.copy_from_slice(y);
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([x, y, g], []) = row::split_mut(state);
        let g_next = local.gradient(pulled); // g⁺ = ∇F_i(x⁺; ξ⁺)
        x.copy_from_slice(pulled); //           x⁺ = Σ_j R_ij (x_j − α y_j)
        track(y, pushed, g, g_next); //         y⁺ = Σ_j C_ij y_j + g⁺ − g
    }
}
