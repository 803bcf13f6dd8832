//! SGP, Stochastic Gradient Push (Assran, Loizou, Ballas & Rabbat 2019).
//!
//! z = x/w; x⁺ = C(x − ηm); w⁺ = Cw, from w₀ = 1, with m what the estimator makes of the gradients at z. Column-stochastic C
//! alone biases x; the weight w carries the same bias, and z = x/w is free of it.
//!
//! - gradients, m = g(z): **SGP**.
//! - a heavy ball, m⁺ = βm + g(z⁺): **SGP with momentum**, as its authors train with. The ball stays at home; it is not sent.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::estimator::{Estimator, Gradient, HeavyBall};
use crate::methods::{HEAVY_BALL, Kind, Trust};
use crate::passes::{self, Passes};
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// An estimator's steps through push-sum; state is (z, x, m), the estimator's memory, and w.
#[derive(Debug, Clone, PartialEq)]
pub struct Sgp<E> {
    estimator: E,
}

/// SGP has no parameters but the step.
pub const SGP: Sgp<Gradient> = Sgp { estimator: Gradient };

impl<E: Estimator> Sgp<E> {
    /// The same rounds with another estimator.
    pub fn of(estimator: E) -> Self {
        Self { estimator }
    }
}

impl<E: Estimator> Method for Sgp<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(3 + self.estimator.memory(problem)).and_scalars(1);
        Layout { state, pull: Width::NONE, push: Width::vectors(1).and_scalars(1) }
    }

    fn network(&self) -> Network {
        Network::PushSum
    }

    fn roles(&self) -> Roles {
        let momentum = self.estimator.averages().then_some(2);
        Roles { conserved: Some(1), momentum, weight: Some(0), conserved_sent: Some(0), ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn own_passes(&self) -> Option<&dyn Passes> {
        passes::compiled(self)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([z, x, m], memory, [w]) = row::split_ends_mut(state, local.problem().dim());
        local.start(x);
        z.copy_from_slice(x);
        *w = 1.0;
        self.estimator.first(z, m, memory, local);
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], _pull: &mut [f64], push: &mut [f64]) {
        let ([half_step], [weight]) = row::split_mut(push);
        let ([_z, x, m], _memory, [w]) = row::split_ends_mut(state, half_step.len());
        row::descend(half_step, x, at.η, m); // x − ηm
        *weight = *w;
    }

    #[inline(always)]
    fn step(&self, _at: Round, state: &mut [f64], _pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let ([c_x], [c_w]) = row::split(pushed);
        let ([z, x, m], memory, [w]) = row::split_ends_mut(state, c_x.len());
        *w = *c_w; //                                                           w⁺ = Σ_j C_ij w_j
        let z_next = x; // in the place of x, for the moment
        row::divide(z_next, c_x, *w); //                                        z⁺ = x⁺ / w⁺
        m.copy_from_slice(self.estimator.next(z, z_next, m, memory, local)); // m⁺ at z⁺
        z.copy_from_slice(z_next);
        z_next.copy_from_slice(c_x); //                                         x⁺ = Σ_j C_ij (x_j − η m_j)
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
    build: |_| Ok(Box::new(SGP)),
    with_estimator: Some(|_, estimator| Ok(Box::new(Sgp::of(estimator)))),
};

pub(super) const MOMENTUM: Kind = Kind {
    name: "sgp-momentum",
    about: "SGP with a heavy ball at each agent",
    rule: "z = x/w; m⁺ = βm + g(z); x⁺ = C(x − ηm⁺); w⁺ = Cw",
    parameters: &[HEAVY_BALL],
    build: |parameters| {
        Ok(Box::new(Sgp::of(HeavyBall::new("sgp-momentum", parameters.real("heavy_ball")?)?)))
    },
    with_estimator: None,
    ..KIND
};
