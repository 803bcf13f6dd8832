//! Rules: a method as one coordinate's arithmetic.
//!
//! In almost every method, what happens to coordinate c of an agent depends on coordinate c alone, once the
//! gradient is known. Such a method is a [`Rule`]: what it sends, where it takes its gradient, how it
//! updates, written once for any [`Real`] number. It is a [`Method`](super::Method) by itself.

use super::Profile;
use crate::numeric::Real;
use crate::numeric::vectors::filled;

/// One coordinate's arithmetic of a method. Holds hyper-parameters only; the engine owns the state.
///
/// ```
/// use oneway::method::{At, Mail, Network, Profile, Rule};
/// use oneway::numeric::Real;
///
/// /// Decentralised gradient descent: x⁺ = Σ_j W_ij x_j − ηg.
/// #[derive(Debug)]
/// struct Descent;
///
/// impl Rule for Descent {
///     type State<S: Real> = [S; 2]; // x, g
///     type Pull<S: Real> = S;
///     type Push<S: Real> = ();
///     const NAMES: &'static [&'static str] = &["x", "g"];
///
///     fn profile(&self) -> Profile {
///         Profile::new(Network::Balanced)
///     }
///     fn start<S: Real>(&self, _: At<S>, x: S, [g, _]: [S; 2]) -> [S; 2] {
///         [x, g]
///     }
///     fn send<S: Real>(&self, _: At<S>, [x, _]: [S; 2]) -> Mail<S, ()> {
///         Mail { pull: x, push: () }
///     }
///     fn points<S: Real>(&self, at: At<S>, [x, g]: [S; 2], heard: Mail<S, ()>) -> [S; 2] {
///         [heard.pull - at.η * g, x]
///     }
///     fn update<S: Real>(&self, at: At<S>, [_, g]: [S; 2], heard: Mail<S, ()>, [g_next, _]: [S; 2]) -> [S; 2] {
///         [heard.pull - at.η * g, g_next]
///     }
/// }
/// ```
pub trait Rule: Send + Sync + std::fmt::Debug + 'static {
    /// What an agent keeps of a coordinate. The first number is its estimate of the minimiser.
    type State<S: Real>: Numbers<S>;
    /// What it offers on the pull graph; `()` for nothing.
    type Pull<S: Real>: Numbers<S>;
    /// What it sends on the push graph; `()` for nothing.
    type Push<S: Real>: Numbers<S>;
    /// What an agent has besides its coordinates.
    const CARRIES: Carries = Carries::Nothing;
    /// Whether it looks at [`At::kept`], which takes a search to find.
    const LOOKS_AT_KEPT: bool = false;
    /// The letters of the state, for its equations in print; numbers without one are not printed.
    const NAMES: &'static [&'static str];
    /// The letters of the last numbers of the state, where some in between have none.
    const LAST_NAMES: &'static [&'static str] = &[];

    /// Network, roles, gradients and exchanges. The widths are those of the types above.
    fn profile(&self) -> Profile;

    /// Numbers that are the same for all coordinates of a round, and worth making once: see
    /// [`At::constants`].
    #[inline(always)]
    fn constants(&self) -> [OfRound; 2] {
        [OfRound::Zero; 2]
    }

    /// The state at x₀, from the gradients that the profile asks for at the start.
    fn start<S: Real>(&self, at: At<S>, x: S, g: [S; 2]) -> Self::State<S>;

    /// What is sent.
    fn send<S: Real>(&self, at: At<S>, state: Self::State<S>) -> Mail<Self::Pull<S>, Self::Push<S>>;

    /// x⁺, where the gradient is taken, and x, where the last one was.
    fn points<S: Real>(
        &self,
        at: At<S>,
        state: Self::State<S>,
        heard: Mail<Self::Pull<S>, Self::Push<S>>,
    ) -> [S; 2];

    /// The state after the exchange, from what was heard and the gradients: the one at x⁺, and the other that
    /// was asked for.
    fn update<S: Real>(
        &self,
        at: At<S>,
        state: Self::State<S>,
        heard: Mail<Self::Pull<S>, Self::Push<S>>,
        g: [S; 2],
    ) -> Self::State<S>;

    /// Whether this method can work on a network of its kind; the error says what is missing.
    fn check_network(&self, _topology: &crate::graph::Topology) -> crate::Result<()> {
        Ok(())
    }

    /// What an *effective* step is divided by, where that is not the network's own; see
    /// [`Method::step_divisor`](super::Method::step_divisor).
    fn step_divisor(&self, topology: &crate::graph::Topology) -> crate::Result<f64> {
        topology.step_divisor(self.profile().network)
    }
}

/// What an agent has besides its coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Carries {
    /// Nothing.
    Nothing,
    /// Push-sum's weight w, one scalar behind the state and behind the push row: w⁺ = Σ_j C_ij w_j from 1.
    Weight,
    /// Its row y of Rᵏ, n scalars behind the state and behind the pull row: y⁺ = Σ_j R_ij y_j from e_i. Its
    /// weight is [y⁺]_i.
    Eigenvector,
}

/// A number that is the same for all agents and coordinates of a round, the t-th: t = k + 1 turns state k
/// into state k + 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OfRound {
    /// 0, where none is needed.
    Zero,
    /// t.
    Count,
    /// βᵗ.
    Power(f64),
    /// 1 − βᵗ.
    OneMinusPower(f64),
}

impl OfRound {
    /// It, in the round that turns state k into state k + 1.
    #[inline(always)]
    pub fn at(self, k: u64) -> f64 {
        match self {
            OfRound::Zero => 0.0,
            OfRound::Count => (k + 1) as f64,
            OfRound::Power(β) => libm::pow(β, (k + 1) as f64),
            OfRound::OneMinusPower(β) => 1.0 - libm::pow(β, (k + 1) as f64),
        }
    }
}

/// Where in the run we are, for one coordinate.
#[derive(Debug, Clone, Copy)]
pub struct At<S> {
    /// η_k.
    pub η: S,
    /// The weight that the agent has after the exchange, w⁺ or [y⁺]_i; 1 if it carries none.
    pub w: S,
    /// C_ii, the share of what it pushes that the agent keeps.
    pub kept: S,
    /// What [`Rule::constants`] are in this round.
    pub constants: [S; 2],
    /// The exchange within the round.
    pub phase: u32,
}

/// What is sent, or what was heard, on the two graphs.
#[derive(Debug, Clone, Copy)]
pub struct Mail<P, Q> {
    /// On the pull graph; when heard, Σ_j R_ij pull_j.
    pub pull: P,
    /// On the push graph; when heard, Σ_j C_ij push_j.
    pub push: Q,
}

/// The numbers that belong to one coordinate: one, none (`()`), an array of one or more, or a pair of such.
pub trait Numbers<S>: Copy {
    /// How many.
    const COUNT: usize;

    /// Takes them from `at(first)`, `at(first + 1)`, ….
    fn load(first: usize, at: &mut impl FnMut(usize) -> S) -> Self;

    /// Gives them to `put(first, …)`, `put(first + 1, …)`, ….
    fn store(self, first: usize, put: &mut impl FnMut(usize, S));
}

impl<S: Real> Numbers<S> for S {
    const COUNT: usize = 1;

    #[inline(always)]
    fn load(first: usize, at: &mut impl FnMut(usize) -> S) -> Self {
        at(first)
    }

    #[inline(always)]
    fn store(self, first: usize, put: &mut impl FnMut(usize, S)) {
        put(first, self);
    }
}

impl<S: Real> Numbers<S> for () {
    const COUNT: usize = 0;

    #[inline(always)]
    fn load(_first: usize, _at: &mut impl FnMut(usize) -> S) -> Self {}

    #[inline(always)]
    fn store(self, _first: usize, _put: &mut impl FnMut(usize, S)) {}
}

impl<S: Real, const N: usize> Numbers<S> for [S; N] {
    const COUNT: usize = N;

    #[inline(always)]
    fn load(first: usize, at: &mut impl FnMut(usize) -> S) -> Self {
        filled(|i| at(first + i))
    }

    #[inline(always)]
    fn store(self, first: usize, put: &mut impl FnMut(usize, S)) {
        let mut i = 0;
        while i < N {
            put(first + i, self[i]);
            i += 1;
        }
    }
}

impl<S: Real, A: Numbers<S>, B: Numbers<S>> Numbers<S> for (A, B) {
    const COUNT: usize = A::COUNT + B::COUNT;

    #[inline(always)]
    fn load(first: usize, at: &mut impl FnMut(usize) -> S) -> Self {
        (A::load(first, at), B::load(first + A::COUNT, at))
    }

    #[inline(always)]
    fn store(self, first: usize, put: &mut impl FnMut(usize, S)) {
        self.0.store(first, put);
        self.1.store(first + A::COUNT, put);
    }
}
