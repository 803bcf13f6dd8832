//! DSMT, Distributed Stochastic Momentum Tracking (Huang, Pu & Nedić 2024), the ancestor of SMTPP.
//!
//! W̄ = (I + W)/2; X⁺ = W̄(X − ηY); Z⁺ = βZ + (1−β)G⁺; Y⁺ = W̄(Y + Z⁺ − Z), from Y₀ = Z₀ = (1−β)G₀, as in the
//! authors' code. The tracker is mixed after the new momentum has been added, so that X two rounds on depends
//! on gradients two links away: no single exchange can do it, and a round has two. Models go in the first,
//! trackers in the second.
//!
//! **Loopless Chebyshev acceleration** is the momentum of a heavy ball in the mixing. In place of S ↦ W̄S the
//! authors write S ↦ (1+η_w)W̄S − η_w S₋, with S₋ what was mixed the round before and moved as S was since
//! then. With D the last move that mixing made, this is
//!
//! D⁺ = η_w D + (1+η_w)(W̄S − S), then S + D⁺, from D₀ = 0,
//!
//! for the models (S = X − ηY) and for the trackers (S = Y + Z⁺ − Z). W̄S − S has mean zero, so D has, and the mean of S
//! stays: (1/n)ΣY = (1/n)ΣZ with and without. η_w = 0 is the plain form. The authors take η_w = 1/(1 + √(1−ρ²)), ρ the second
//! largest eigenvalue of W̄: then every eigenvalue of the mixing has modulus √η_w ≈ 1 − ½√(1−ρ²) where plain mixing has ρ.
//! That argument needs real eigenvalues and powers of one matrix, so the accelerated form asks for a symmetric W that stays the
//! same (with random matchings and η_w = 0.8 it diverges); the plain one for a balanced.
//!
//! Read in the authors' code (Kun73/DSMT): the rule, where S₋ is a second copy of X and of Y that starts as
//! they do, so that D₀ = 0; the start Y₀ = Z₀ = (1−β)G₀; and η_w, which is written (1 + (1−s)/(1+s))/2 there
//! with s = √(1−ρ²), the same number. There β is not free but √η_w (convex) or 1 − n^(−1/3)(1 − √η_w)
//! (nonconvex); here λ = 1−β is a parameter.

use crate::method::{Ask, At, Exchange, Mail, Network, Profile, Reliance, Rule};
use crate::methods::estimator::{self, Estimator, Momentum};
use crate::methods::{Kind, MOMENTUM, Trust};
use crate::numeric::Real;
use crate::parameters::Parameter;
use crate::{Error, Result};

/// Tracks what an estimator makes of the gradients, mixed twice a round; state is (x, y, z), the last moves
/// of mixing x and y, and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dsmt<E> {
    estimator: E,
    η_w: f64,
    network: Network,
}

impl Dsmt<Begun<Momentum>> {
    /// DSMT with momentum coefficient λ = 1−β ∈ (0, 1].
    pub fn new(λ: f64) -> Result<Self> {
        Ok(Self::from_estimator(Begun(Momentum::new("DSMT", λ)?)))
    }
}

impl<E: Estimator> Dsmt<E> {
    /// The same rounds with another estimator: X⁺ = W̄(X − ηY); Y⁺ = W̄(Y + M⁺ − M), from Y₀ = M₀.
    pub fn from_estimator(estimator: E) -> Self {
        Self { estimator, η_w: 0.0, network: Network::Balanced }
    }

    /// The same with accelerated mixing, η_w ∈ [0, 1), on a symmetric W.
    pub fn accelerated(self, η_w: f64) -> Result<Self> {
        match (0.0..1.0).contains(&η_w) {
            true => Ok(Self { η_w, network: Network::Undirected, ..self }),
            false => {
                Err(Error::parameter("DSMT", "acceleration", η_w, "the coefficient η_w must be in [0, 1)"))
            }
        }
    }

    /// κ = ½(1+η_w): the share of W in (1+η_w)(W̄ − I) = ½(1+η_w)(W − I).
    #[inline(always)]
    fn share<S: Real>(&self) -> S {
        S::constant(0.5) * (S::one() + S::parameter("η_w", self.η_w))
    }

    /// D⁺ = η_w D + (1+η_w)(W̄ − I)s, from what was heard of κs.
    #[inline(always)]
    fn mixed<S: Real>(&self, moved: S, s: S, heard: S) -> S {
        S::parameter("η_w", self.η_w) * moved + (heard - self.share::<S>() * s)
    }
}

impl<E: Estimator> Rule for Dsmt<E> {
    type State<S: Real> = ([S; 5], E::Memory<S>);
    type Pull<S: Real> = S;
    type Push<S: Real> = S;
    const NAMES: &'static [&'static str] = &["x", "y", "z", "D_x", "D_y"];

    fn profile(&self) -> Profile {
        let mut profile = estimator::tracking(self.network, &self.estimator);
        profile.reliance = if self.η_w > 0.0 { Reliance::SameWeights } else { Reliance::Nothing };
        profile.exchanges[0].sends = [true, false]; // models in the first exchange, trackers in the second
        profile.exchanges.push(Exchange { sends: [false, true], turns: vec![Ask::Nothing] });
        profile
    }

    #[inline(always)]
    fn start<S: Real>(&self, _: At<S>, x: S, g: [S; 2]) -> Self::State<S> {
        let (z, memory) = self.estimator.first(x, g);
        ([x, z, z, S::zero(), S::zero()], memory) // y₀ = z₀
    }

    #[inline(always)]
    fn send<S: Real>(&self, at: At<S>, ([x, y, ..], _): Self::State<S>) -> Mail<S, S> {
        let κ = self.share::<S>();
        match at.phase {
            0 => Mail { pull: κ * (x - at.η * y), push: S::zero() },
            _ => Mail { pull: S::zero(), push: κ * y }, // of y + z⁺ − z
        }
    }

    #[inline(always)]
    fn points<S: Real>(
        &self,
        at: At<S>,
        ([x, y, _z, x_moved, _], _): Self::State<S>,
        heard: Mail<S, S>,
    ) -> [S; 2] {
        let s = x - at.η * y;
        [s + self.mixed(x_moved, s, heard.pull), x] // x⁺ = s + D⁺, s = x − ηy
    }

    #[inline(always)]
    fn update<S: Real>(
        &self,
        at: At<S>,
        ([x, y, z, x_moved, y_moved], memory): Self::State<S>,
        heard: Mail<S, S>,
        g: [S; 2],
    ) -> Self::State<S> {
        if at.phase == 1 {
            let moved = self.mixed(y_moved, y, heard.push);
            return ([x, y + moved, z, x_moved, moved], memory); // y⁺ = y + z⁺ − z + D⁺
        }
        let s = x - at.η * y;
        let x_next = s + self.mixed(x_moved, s, heard.pull);
        let (z_next, memory) = self.estimator.next(x, z, memory, g); // z⁺ at x⁺
        // y + z⁺ − z is mixed in the second exchange
        ([x_next, y + (z_next - z), z_next, x_next - s, y_moved], memory)
    }
}

/// An estimator that has begun: m₀ is what it makes of its own start and of the first gradient. Momentum from
/// zero becomes m₀ = λ∇F_i(x₀; ξ₀).
#[derive(Debug, Clone, PartialEq)]
pub struct Begun<E>(pub E);

impl<E: Estimator> Estimator for Begun<E> {
    type Memory<S: Real> = E::Memory<S>;

    fn averages(&self) -> bool {
        self.0.averages()
    }

    fn asks(&self) -> [Ask; 2] {
        let [_, next] = self.0.asks();
        [next; 2]
    }

    #[inline(always)]
    fn first<S: Real>(&self, x: S, g: [S; 2]) -> (S, Self::Memory<S>) {
        let (m, memory) = self.0.first(x, g);
        self.0.next(x, m, memory, g)
    }

    #[inline(always)]
    fn next<S: Real>(&self, x: S, m: S, memory: Self::Memory<S>, g: [S; 2]) -> (S, Self::Memory<S>) {
        self.0.next(x, m, memory, g)
    }
}

const ACCELERATION: Parameter = Parameter::number(
    "acceleration",
    "η_w in [0, 1), the momentum of mixing; 1/(1 + √(1−ρ²)) with ρ the second eigenvalue of (I+W)/2",
    0.5,
);

pub(super) const PLAIN: Kind = Kind {
    reference: "Huang, Pu & Nedić 2024",
    trust: Trust::A,
    parameters: &[MOMENTUM],
    ..Kind::new(
        "dsmt",
        "distributed stochastic momentum tracking: momentum is tracked, and mixed twice a round",
        |parameters| Ok(Box::new(Dsmt::new(parameters.real("momentum")?)?)),
    )
};

pub(super) const ACCELERATED: Kind = Kind {
    name: "dsmt-lca",
    about: "DSMT with loopless Chebyshev acceleration: its mixing has momentum",
    parameters: &[MOMENTUM, ACCELERATION],
    build: |parameters| {
        let dsmt = Dsmt::new(parameters.real("momentum")?)?;
        Ok(Box::new(dsmt.accelerated(parameters.real("acceleration")?)?))
    },
    ..PLAIN
};
