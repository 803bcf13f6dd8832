//! The waist: what a decentralised method is, to an engine.
//!
//! A round is send | mix | points | gradients | update. `send` fills an agent's messages, the engine mixes
//! them linearly (R·pull, C·push), `point` says where gradients are taken, the problem makes the gradients of
//! many agents in one call, and `update` makes the next state of all this. The engine owns states and
//! messages, and can therefore check, hash, save and ship them. The same compiled method runs in the
//! simulator and in a networked agent.
//!
//! Most methods are a [`Rule`]: one coordinate's arithmetic. Those that are not implement [`Method`] and
//! [`Kernel`] on whole rows.

mod blocks;
mod by_rule;
mod carried;
mod equations;
mod profile;
mod round;
mod rows;
mod rule;
mod trace;
mod traced;

pub use crate::graph::Network;
pub use crate::numeric::row::{Agents, Rows, RowsMut};
pub use profile::{Ask, Exchange, Profile, Sizes};
pub use round::{Kept, Round};
pub use rows::{Gradient, Gradients, Heard, Hearing, Point, Points, Sending};
pub use rule::{At, Carries, Mail, Numbers, OfRound, Rule};
pub use trace::{COMMON_INPUTS, Trace, TracedExchange};
pub use traced::{DefinedExchange, Definition, Expression, Expressions, Input, Traced};

use std::fmt::Debug;

use crate::Result;
use crate::graph::Topology;
use crate::numeric::Float;
use crate::problem::Problem;

/// One agent's side of one decentralised method. Holds hyper-parameters only; the engine owns the state.
pub trait Method: Kernel<f64> {
    /// What the method is, on a problem of these sizes.
    fn profile(&self, sizes: Sizes) -> Profile;

    /// What a combinator is around: what it does not say itself, in the three methods below, is what the
    /// inner method says.
    fn inner(&self) -> Option<&dyn Method> {
        None
    }

    /// What a combinator does to the rounds of the method inside it, where it does the same arithmetic more
    /// often: an engine that has that arithmetic need not ask the combinator.
    fn repeats(&self) -> Option<Repeats> {
        None
    }

    /// Whether the method can work on this problem; the error says what is missing.
    fn check_problem(&self, problem: &dyn Problem) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.check_problem(problem))
    }

    /// Whether the method can work on this network, which is of its kind; the error says what is missing.
    fn check_network(&self, topology: &Topology) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.check_network(topology))
    }

    /// Both.
    fn check(&self, problem: &dyn Problem, topology: &Topology) -> Result<()> {
        self.check_network(topology)?;
        self.check_problem(problem)
    }

    /// What a step size given as *effective* is divided by: x̄ moves by the raw step times this times the
    /// mean gradient (times what momentum of any kind adds). It is c_π for push-pull methods, n for pull-only
    /// ones, 1 for others, unless the method descends along something else than its tracker.
    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        match self.inner() {
            Some(inner) => inner.step_divisor(topology),
            None => topology.step_divisor(self.profile(SMALLEST).network),
        }
    }

    /// What it does to one coordinate, written down; none where it is no [`Rule`].
    fn trace(&self) -> Option<Trace> {
        None
    }

    /// The same method in single precision, where it can be had.
    fn single_precision(&self) -> Option<&dyn Kernel<f32>> {
        None
    }
}

/// How a combinator does more often what the method inside it does once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeats {
    /// So many exchanges in place of each: what arrived is kept behind the state and sent on.
    Exchanges(u32),
    /// So many steps for each exchange, all but the first in rounds with oneself, as if R = C = I. What an agent
    /// sent to itself is kept behind the state.
    Steps(usize),
}

/// A precision in which methods compute: `f64`, which all have, or `f32`.
pub trait InPrecision: Float {
    /// The method in this precision, where it can be had.
    fn kernel(method: &dyn Method) -> Option<&dyn Kernel<Self>>;
}

impl InPrecision for f64 {
    fn kernel(method: &dyn Method) -> Option<&dyn Kernel<f64>> {
        Some(method)
    }
}

impl InPrecision for f32 {
    fn kernel(method: &dyn Method) -> Option<&dyn Kernel<f32>> {
        method.single_precision()
    }
}

/// The sizes for which a method is asked what does not depend on them.
pub(crate) const SMALLEST: Sizes = Sizes { agents: 1, dim: 1, samples: Some(1) };

impl dyn Method + '_ {
    /// What the method is, on this problem.
    pub fn profile_on(&self, problem: &dyn Problem) -> Profile {
        self.profile(Sizes::from_problem(problem))
    }

    /// The kind of network it is made for.
    pub fn network(&self) -> Network {
        self.profile(SMALLEST).network
    }

    /// Which part of the state plays which role.
    pub fn roles(&self) -> Roles {
        self.profile(SMALLEST).roles
    }

    /// What its memory of one exchange presumes of the next.
    pub fn reliance(&self) -> Reliance {
        self.profile(SMALLEST).reliance
    }

    /// Whether an agent keeps copies of what its neighbours hold; see [`Profile::keeps_copies`].
    pub fn keeps_copies(&self) -> bool {
        self.profile(SMALLEST).keeps_copies
    }

    /// What the rule inside does to one coordinate: its own, or that of the method it is around.
    pub fn trace_inside(&self) -> Option<Trace> {
        self.trace().or_else(|| self.inner()?.trace_inside())
    }

    /// Exchanges a round.
    pub fn phases(&self) -> u32 {
        self.profile(SMALLEST).phases()
    }
}

/// What a method does with rows of numbers.
///
/// A method says what it does with one agent's rows. Engines call the blocks, which do the same for many
/// agents; a [`Rule`] has faster ones than the loops that are provided.
pub trait Kernel<T>: Send + Sync + Debug {
    /// Fills the state at x₀ = `x`, from the gradients that the profile asks for at the start. Of
    /// [`Ask::AllComponents`] `gradient.next` has all components, one after another.
    fn start(&self, at: Round<'_>, x: &[T], gradient: Gradient<'_, T>, state: &mut [T]);

    /// Fills what the agent sends on the pull graph and on the push graph.
    fn send(&self, at: Round<'_>, state: &mut [T], pull: &mut [T], push: &mut [T]);

    /// Says where the gradients are taken, from what was heard. It is called in every turn, also in those
    /// that ask for nothing.
    fn point(&self, at: Round<'_>, heard: Heard<'_, T>, point: Point<'_, T>);

    /// Makes the next state of what was heard and of the gradients.
    fn update(&self, at: Round<'_>, heard: Heard<'_, T>, gradient: Gradient<'_, T>);

    /// [`send`](Self::send), for some agents.
    fn send_block(&self, at: Round<'_>, block: &mut Sending<'_, T>) {
        for q in 0..block.agents.len() {
            let (state, pull, push) = (block.states.row(q), block.pulls.row(q), block.pushes.row(q));
            self.send(Round { agent: block.agents.get(q), ..at }, state, pull, push);
        }
    }

    /// [`point`](Self::point), for some agents.
    fn point_block(&self, at: Round<'_>, block: &mut Hearing<'_, T>, points: &mut Points<'_, T>) {
        for q in 0..block.agents.len() {
            self.point(Round { agent: block.agents.get(q), ..at }, block.row(q), points.row(q));
        }
    }

    /// [`update`](Self::update), for some agents.
    fn update_block(&self, at: Round<'_>, block: &mut Hearing<'_, T>, gradients: &mut Gradients<'_, T>) {
        for q in 0..block.agents.len() {
            self.update(Round { agent: block.agents.get(q), ..at }, block.row(q), gradients.row(q));
        }
    }
}

/// What a method's memory of one exchange presumes of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reliance {
    /// Nothing: every exchange stands for itself.
    Nothing,
    /// The same weights: it goes on with the move that W made in the round before.
    SameWeights,
    /// The same weights, and messages as they were sent: it uses Wp − p as a correction term.
    WholeMessages,
}

/// Which vector (or scalar) of the state plays which role; `None` where a method has no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles {
    /// The vector whose plain mean over agents is x̄, for push-sum methods. Others: x̄ = π_Rᵀ of the
    /// estimates.
    pub conserved: Option<usize>,
    /// The vector v that tracks: (1/n)Σ v_i = (1/n)Σ `tracked`_i in every round (Lemma 2). In pull-only
    /// methods, where trackers are mixed by R, the means are π_R's: Σ π_R,i v_i = Σ π_R,i `tracked`_i.
    pub tracker: Option<usize>,
    /// The vector whose mean the tracker has.
    pub tracked: Option<usize>,
    /// The vector m_i that estimates ∇f_i(x_i).
    pub momentum: Option<usize>,
    /// The scalar w_i with (1/n)Σ w_i = 1: push-sum's weight.
    pub weight: Option<usize>,
    /// Where in the push row the tracker travels: what is on its way there is missing in the agents' sum.
    pub tracker_sent: Option<usize>,
    /// Where in the push row the conserved vector travels.
    pub conserved_sent: Option<usize>,
}

impl Roles {
    /// Those of a tracker whose state begins with (x, v, m) and whose push row is v: v tracks m, which is a
    /// momentum if it `averages`.
    pub fn tracking(averages: bool) -> Self {
        let momentum = averages.then_some(2);
        Roles { tracker: Some(1), tracked: Some(2), momentum, tracker_sent: Some(0), ..Roles::default() }
    }
}
