//! CSGDM, centralised SGD with momentum: the bound that decentralised methods are measured against.
//!
//! ḡ = (1/n) Σ g_i(x); m⁺ = (1−λ)m + λḡ; x⁺ = x − ηm⁺, from m₀ = 0. It needs no engine of its own: an agent pushes its
//! gradient, and mixing with C = 11ᵀ/n hands everyone the mean. All agents add the same numbers in the same order, so
//! they hold the same x to the last bit. In Sutskever's scaling μ = 1−λ and ε = ηλ.

use crate::Result;
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::methods::{Kind, MOMENTUM, Trust, momentum_coefficient};
use crate::passes::Passes;
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;

/// SGD with momentum on the mean gradient; state is (x, m, g).
#[derive(Debug, Clone, PartialEq)]
pub struct Csgdm {
    λ: f64,
}

impl Csgdm {
    /// CSGDM with momentum coefficient λ ∈ (0, 1]; λ = 1 is plain SGD.
    pub fn new(λ: f64) -> Result<Self> {
        Ok(Self { λ: momentum_coefficient("CSGDM", λ)? })
    }
}

impl Method for Csgdm {
    fn layout(&self, _problem: &dyn Problem) -> Layout {
        Layout { state: Width::vectors(3), pull: Width::NONE, push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        Network::Central
    }

    fn roles(&self) -> Roles {
        Roles::default()
    }

    fn own_passes(&self) -> Option<&dyn Passes> {
        Some(self)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, m, g], []) = row::split_mut(state);
        local.start(x);
        m.fill(0.0);
        g.copy_from_slice(local.gradient(x));
    }

    #[inline(always)]
    fn send(&self, _at: Round, state: &mut [f64], _pull: &mut [f64], push: &mut [f64]) {
        let ([_x, _m, g], []) = row::split(state);
        push.copy_from_slice(g);
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], _pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let λ = self.λ;
        let ([x, m, g], []) = row::split_mut(state);
        for ((x, m), mean) in x.iter_mut().zip(m).zip(pushed) {
            *m = (1.0 - λ) * *m + λ * mean; //   m⁺ = (1−λ) m + λ ḡ
            *x -= at.η * *m; //                  x⁺ = x − η m⁺
        }
        g.copy_from_slice(local.gradient(x)); // for the mean of the next round
    }
}

pub(super) const KIND: Kind = Kind {
    name: "csgdm",
    about: "centralised SGD with momentum: the bound, as if everyone heard everyone",
    rule: "m⁺ = (1−λ)m + λḡ; x⁺ = x − ηm⁺",
    reference: "Sutskever, Martens, Dahl & Hinton 2013",
    trust: Trust::A,
    network: Network::Central,
    graphs: &[Subgraph::Full],
    parameters: &[MOMENTUM],
    build: |parameters| Ok(Box::new(Csgdm::new(parameters.real("momentum")?)?)),
    with_estimator: None,
};
