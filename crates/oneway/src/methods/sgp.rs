//! SGP, Stochastic Gradient Push (Assran, Loizou, Ballas & Rabbat 2019).
//!
//! z = x/w; x⁺ = C(x − ηm); w⁺ = Cw, from w₀ = 1, with m what the estimator makes of the gradients at z.
//! Column-stochastic C alone biases x; the weight w carries the same bias, and z = x/w is free of it.
//!
//! - gradients, m = g(z): **SGP**.
//! - a heavy ball, m⁺ = βm + g(z⁺): **SGP with momentum**, as its authors train with. The ball stays at home;
//!   it is not sent.

use crate::Result;
use crate::method::{At, Carries, Mail, Method, Network, Profile, Roles, Rule};
use crate::methods::estimator::{self, Estimator, Gradient, HeavyBall, Skeleton, with_any};
use crate::methods::{HEAVY_BALL, Kind, Trust};
use crate::numeric::Real;

/// An estimator's steps through push-sum; state is (z, x, m), the estimator's memory, and w.
#[derive(Debug, Clone, PartialEq)]
pub struct Sgp<E> {
    estimator: E,
}

/// SGP has no parameters but the step.
pub const SGP: Sgp<Gradient> = Sgp { estimator: Gradient };

impl<E: Estimator> Sgp<E> {
    /// The same rounds with another estimator.
    pub fn from_estimator(estimator: E) -> Self {
        Self { estimator }
    }
}

impl<E: Estimator> Rule for Sgp<E> {
    type State<S: Real> = ([S; 3], E::Memory<S>);
    type Pull<S: Real> = ();
    type Push<S: Real> = S;
    const CARRIES: Carries = Carries::Weight;
    const NAMES: &'static [&'static str] = &["z", "x", "m"];

    fn profile(&self) -> Profile {
        let momentum = self.estimator.averages().then_some(2);
        let roles = Roles {
            conserved: Some(1),
            momentum,
            weight: Some(0),
            conserved_sent: Some(0),
            ..Roles::default()
        };
        estimator::profile(Network::PushSum, &self.estimator).with_roles(roles)
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (m, memory) = self.estimator.first(x, g);
        ([x, x, m], memory)
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([_z, x, m], _): Self::State<S>) -> Mail<(), S> {
        Mail { pull: (), push: x - at.η * m }
    }

    #[inline(always)]
    fn points<S: Real>(&self, at: At<S>, ([z, ..], _): Self::State<S>, heard: Mail<(), S>) -> [S; 2] {
        [heard.push / at.w, z] // z⁺ = x⁺ / w⁺
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([z, _x, m], memory): Self::State<S>,
        heard: Mail<(), S>,
        g: [S; 2],
    ) -> Self::State<S> {
        let (m_next, memory) = self.estimator.next(z, m, memory, g); // m⁺ at z⁺
        ([heard.push / at.w, heard.push, m_next], memory) //            x⁺ = Σ_j C_ij (x_j − η m_j)
    }
}

/// Around any estimator.
struct Around;

impl Skeleton for Around {
    fn around<E: Estimator>(self, estimator: E) -> Result<Box<dyn Method>> {
        Ok(Box::new(Sgp::from_estimator(estimator)))
    }
}

pub(super) const KIND: Kind = Kind {
    reference: "Assran, Loizou, Ballas & Rabbat 2019",
    trust: Trust::A,
    with_estimator: Some(|_, estimator| with_any(estimator, Around)),
    ..Kind::new("sgp", "Stochastic Gradient Push: SGD through push-sum", |_| Ok(Box::new(SGP)))
};

pub(super) const MOMENTUM: Kind = Kind {
    name: "sgp-momentum",
    about: "SGP with a heavy ball at each agent",
    parameters: &[HEAVY_BALL],
    build: |parameters| {
        Ok(Box::new(Sgp::from_estimator(HeavyBall::new("sgp-momentum", parameters.real("heavy_ball")?)?)))
    },
    with_estimator: None,
    ..KIND
};
