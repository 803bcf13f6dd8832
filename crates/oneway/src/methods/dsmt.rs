//! DSMT, Distributed Stochastic Momentum Tracking (Huang, Pu & Nedić 2024), the ancestor of SMTPP.
//!
//! W̄ = (I + W)/2; X⁺ = W̄(X − ηY); Z⁺ = βZ + (1−β)G⁺; Y⁺ = W̄(Y + Z⁺ − Z), from Y₀ = Z₀ = (1−β)G₀, as in the authors' code.
//! The tracker is mixed after the new momentum has been added, so that X two rounds on depends on gradients two links away:
//! no single exchange can do it, and a round has two. Models go in the first, trackers in the second.
//!
//! **Loopless Chebyshev acceleration** is the momentum of a heavy ball in the mixing. In place of S ↦ W̄S the authors write
//! S ↦ (1+η_w)W̄S − η_w S₋, with S₋ what was mixed the round before and moved as S was since then. With D the last move
//! that mixing made, this is
//!
//! D⁺ = η_w D + (1+η_w)(W̄S − S), then S + D⁺, from D₀ = 0,
//!
//! for the models (S = X − ηY) and for the trackers (S = Y + Z⁺ − Z). W̄S − S has mean zero, so D has, and the mean of S
//! stays: (1/n)ΣY = (1/n)ΣZ with and without. η_w = 0 is the plain form. The authors take η_w = 1/(1 + √(1−ρ²)), ρ the second
//! largest eigenvalue of W̄: then every eigenvalue of the mixing has modulus √η_w ≈ 1 − ½√(1−ρ²) where plain mixing has ρ.
//! That argument needs real eigenvalues and powers of one matrix, so the accelerated form asks for a symmetric W that stays the
//! same (with random matchings and η_w = 0.8 it diverges); the plain one for a balanced.
//!
//! Read in the authors' code (Kun73/DSMT): the rule, where S₋ is a second copy of X and of Y that starts as they do, so that D₀ = 0; the
//! start Y₀ = Z₀ = (1−β)G₀; and η_w, which is written (1 + (1−s)/(1+s))/2 there with s = √(1−ρ²), the same number. There β is not free
//! but √η_w (convex) or 1 − n^(−1/3)(1 − √η_w) (nonconvex); here λ = 1−β is a parameter.

use crate::method::{Layout, Local, Method, Network, Reliance, Roles, Round};
use crate::methods::estimator::{Estimator, Momentum};
use crate::methods::{Kind, MOMENTUM, Trust};
use crate::parameters::Parameter;
use crate::problem::Problem;
use crate::row::{self, Width};
use crate::topology::Subgraph;
use crate::{Error, Result};

/// Tracks what an estimator makes of the gradients, mixed twice a round; state is (x, y, z), the last moves of mixing x and y,
/// and the estimator's memory.
#[derive(Debug, Clone, PartialEq)]
pub struct Dsmt<E> {
    estimator: E,
    η_w: f64,
    network: Network,
}

impl Dsmt<Begun<Momentum>> {
    /// DSMT with momentum coefficient λ = 1−β ∈ (0, 1].
    pub fn new(λ: f64) -> Result<Self> {
        Ok(Self::of(Begun(Momentum::new("DSMT", λ)?)))
    }
}

impl<E: Estimator> Dsmt<E> {
    /// The same rounds with another estimator: X⁺ = W̄(X − ηY); Y⁺ = W̄(Y + M⁺ − M), from Y₀ = M₀.
    pub fn of(estimator: E) -> Self {
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

    /// ½(1+η_w): the share of W in (1+η_w)(W̄ − I) = ½(1+η_w)(W − I).
    fn share(&self) -> f64 {
        0.5 * (1.0 + self.η_w)
    }
}

impl<E: Estimator> Method for Dsmt<E> {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let state = Width::vectors(5 + self.estimator.memory(problem));
        Layout { state, pull: Width::vectors(1), push: Width::vectors(1) }
    }

    fn network(&self) -> Network {
        self.network
    }

    fn roles(&self) -> Roles {
        let momentum = self.estimator.averages().then_some(2);
        Roles { tracker: Some(1), tracked: Some(2), momentum, tracker_sent: Some(0), ..Roles::default() }
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.estimator.check(problem)
    }

    fn reliance(&self) -> Reliance {
        if self.η_w > 0.0 { Reliance::SameWeights } else { Reliance::Nothing }
    }

    fn phases(&self) -> u32 {
        2
    }

    /// Models in the first exchange, trackers in the second.
    fn bytes(&self, problem: &dyn Problem, phase: u32) -> [usize; 2] {
        let vector = problem.dim() * size_of::<f64>();
        if phase == 0 { [vector, 0] } else { [0, vector] }
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let ([x, y, z, x_moved, y_moved], memory) = row::split_head_mut(state, local.problem().dim());
        local.start(x);
        self.estimator.first(x, z, memory, local);
        y.copy_from_slice(z); // y₀ = z₀
        x_moved.fill(0.0);
        y_moved.fill(0.0);
    }

    #[inline(always)]
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        let ([x, y], _) = row::split_head_mut(state, pull.len());
        let κ = self.share();
        if at.phase == 0 {
            let pairs = pull.iter_mut().zip(x).zip(y);
            pairs.for_each(|((pull, x), y)| *pull = κ * (*x - at.η * *y)); // κ(x − ηy)
            push.fill(0.0);
        } else {
            push.iter_mut().zip(y).for_each(|(push, y)| *push = κ * *y); //   κ(y + z⁺ − z)
            pull.fill(0.0);
        }
    }

    #[inline(always)]
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        let Self { η_w, .. } = *self;
        let κ = self.share();
        let ([x, y, z, x_moved, y_moved], memory) = row::split_head_mut(state, pulled.len());
        if at.phase == 1 {
            for ((y, moved), w_y) in y.iter_mut().zip(y_moved).zip(pushed) {
                *moved = η_w * *moved + (w_y - κ * *y); // D⁺ = η_w D + (1+η_w)(W̄ − I)(y + z⁺ − z)
                *y += *moved; //                           y⁺ = y + z⁺ − z + D⁺
            }
            return;
        }
        for (((moved, x), y), w_x) in x_moved.iter_mut().zip(&*x).zip(&*y).zip(pulled) {
            let s = x - at.η * y;
            *moved = s + (η_w * *moved + (w_x - κ * s)); // x⁺ = s + D⁺, s = x − ηy, kept here for a while
        }
        let z_next = self.estimator.next(x, x_moved, z, memory, local); // z⁺ at x⁺
        let models = x.iter_mut().zip(x_moved);
        for (((x, moved), y), (z, z_next)) in models.zip(y).zip(z.iter_mut().zip(z_next)) {
            let s = *x - at.η * *y;
            (*x, *moved) = (*moved, *moved - s);
            *y += z_next - *z; // y + z⁺ − z, to be mixed in the second exchange
            *z = *z_next;
        }
    }
}

/// An estimator that has begun: m₀ is what it makes of its own start and of the first gradient. Momentum from zero becomes
/// m₀ = λ∇F_i(x₀; ξ₀).
#[derive(Debug, Clone, PartialEq)]
pub struct Begun<E>(pub E);

impl<E: Estimator> Estimator for Begun<E> {
    fn memory(&self, problem: &dyn Problem) -> usize {
        self.0.memory(problem)
    }

    fn averages(&self) -> bool {
        self.0.averages()
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.0.check(problem)
    }

    fn first(&self, x: &[f64], m: &mut [f64], memory: &mut [f64], local: &mut Local<'_>) {
        self.0.first(x, m, memory, local);
        m.copy_from_slice(self.0.next(x, x, m, memory, local));
    }

    #[inline(always)]
    fn next<'l>(
        &self,
        x: &[f64],
        x_next: &[f64],
        m: &[f64],
        memory: &mut [f64],
        local: &'l mut Local<'_>,
    ) -> &'l [f64] {
        self.0.next(x, x_next, m, memory, local)
    }
}

const ACCELERATION: Parameter = Parameter {
    name: "acceleration",
    about: "η_w in [0, 1), the momentum of mixing; 1/(1 + √(1−ρ²)) with ρ the second eigenvalue of (I+W)/2",
    default: Some(0.5),
};

pub(super) const PLAIN: Kind = Kind {
    name: "dsmt",
    about: "distributed stochastic momentum tracking: momentum is tracked, and mixed twice a round",
    rule: "W̄ = (I+W)/2; X⁺ = W̄(X − ηY); Z⁺ = (1−λ)Z + λG⁺; Y⁺ = W̄(Y + Z⁺ − Z)",
    reference: "Huang, Pu & Nedić 2024",
    trust: Trust::A,
    network: Network::Balanced,
    graphs: &[Subgraph::Full],
    parameters: &[MOMENTUM],
    build: |parameters| Ok(Box::new(Dsmt::new(parameters.real("momentum")?)?)),
    with_estimator: None,
};

pub(super) const ACCELERATED: Kind = Kind {
    name: "dsmt-lca",
    about: "DSMT with loopless Chebyshev acceleration: its mixing has momentum",
    rule: "DSMT with S ↦ S + D⁺, D⁺ = η_w D + (1+η_w)(W̄ − I)S in place of S ↦ W̄S",
    network: Network::Undirected,
    parameters: &[MOMENTUM, ACCELERATION],
    build: |parameters| {
        let dsmt = Dsmt::new(parameters.real("momentum")?)?;
        Ok(Box::new(dsmt.accelerated(parameters.real("acceleration")?)?))
    },
    ..PLAIN
};
