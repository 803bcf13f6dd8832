//! The waist: what a decentralised method is, to the engine.
//!
//! A round is `send` → the engine mixes linearly (R·pull, C·push) → `step`. The method says what an agent does with its
//! own state; the engine owns the states and the messages, and can therefore check, hash, save and ship them. The same
//! compiled method runs in the simulator and in a networked agent.

use std::fmt::Debug;

use crate::Result;
use crate::codec::Wire;
use crate::passes::Passes;
use crate::problem::Problem;
use crate::row::Width;
use crate::sample::{Draws, Purpose};
use crate::topology::{Pair, Topology};

/// One agent's side of one decentralised method. Holds hyper-parameters only; the engine owns the state.
pub trait Method: Send + Sync + Debug {
    /// How wide the state row and the two message rows are, on this problem.
    fn layout(&self, problem: &dyn Problem) -> Layout;

    /// What kind of network the method is made for.
    fn network(&self) -> Network;

    /// Which part of the state plays which role in the laws that are checked while running.
    fn roles(&self) -> Roles;

    /// What a combinator is around: what it does not say itself, in the provided methods below, is what the inner method says.
    fn inner(&self) -> Option<&dyn Method> {
        None
    }

    /// Whether the method can work on this problem; the error says what is missing.
    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.check(problem))
    }

    /// Whether the method can work on this network, which is of its kind; the error says what is missing.
    fn check_network(&self, topology: &Topology) -> Result<()> {
        self.inner().map_or(Ok(()), |inner| inner.check_network(topology))
    }

    /// What a step size given as *effective* is divided by: x̄ moves by the raw step times this times the mean gradient (times
    /// what momentum of any kind adds). It is c_π for push-pull methods, n for pull-only ones, 1 for others, unless the method
    /// descends along something else than its tracker.
    fn step_divisor(&self, topology: &Topology) -> Result<f64> {
        self.inner()
            .map_or_else(|| topology.step_divisor(self.network()), |inner| inner.step_divisor(topology))
    }

    /// What the method's memory of one exchange presumes of the next.
    fn reliance(&self) -> Reliance {
        self.inner().map_or(Reliance::Nothing, <dyn Method>::reliance)
    }

    /// Exchanges per round.
    fn phases(&self) -> u32 {
        self.inner().map_or(1, <dyn Method>::phases)
    }

    /// Whether an agent keeps copies of what its neighbours hold, made of differences that they send: a message that is
    /// lost, late or overtaken would spoil them for ever.
    fn keeps_copies(&self) -> bool {
        self.inner().is_some_and(<dyn Method>::keeps_copies)
    }

    /// Bytes that one link carries in one exchange, on the pull graph and on the push graph: eight for each number of the two
    /// message rows, unless the method encodes them or leaves one out in this phase.
    fn bytes(&self, problem: &dyn Problem, _phase: u32) -> [usize; 2] {
        let Layout { pull, push, .. } = self.layout(problem);
        [pull, push].map(|width| width.len(problem.dim()) * size_of::<f64>())
    }

    /// How the rows of its messages are written as so many bytes; none where they are the bits of their numbers.
    fn wire(&self, _problem: &dyn Problem) -> Option<Wire> {
        None
    }

    /// Fills the state row at the start, from x₀ = `local.start(…)`.
    fn init(&self, state: &mut [f64], local: &mut Local<'_>);

    /// Fills what the agent sends on the pull graph and on the push graph.
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]);

    /// Takes in what arrived: `pulled` = Σ_j R_ij pull_j and `pushed` = Σ_j C_ij push_j.
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>);

    /// The two passes compiled for this very method, for the few whose rounds are worth it; see [`Passes`].
    fn own_passes(&self) -> Option<&dyn Passes> {
        None
    }

    /// The agent's estimate of the minimiser: the first vector of its state, unless the method says otherwise.
    fn estimate<'s>(&self, state: &'s [f64], d: usize) -> &'s [f64] {
        self.inner().map_or(&state[..d], |inner| inner.estimate(state, d))
    }
}

/// The widths of a method's rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The state that an agent keeps.
    pub state: Width,
    /// What it offers on the pull graph, mixed by R.
    pub pull: Width,
    /// What it sends on the push graph, mixed by C.
    pub push: Width,
}

/// What a method's memory of one exchange presumes of the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reliance {
    /// Nothing: every exchange stands for itself.
    Nothing,
    /// The same weights: it goes on with the move that W made in the round before.
    SameWeights,
    /// The same weights, and messages as they were sent: it takes what W has moved them by for a correction.
    WholeMessages,
}

/// The kind of network a method is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// R on the pull graph, C on the push graph, with a common root. x̄ = π_RᵀX.
    PushPull,
    /// C only, on a strongly connected digraph. x̄ is the mean of the conserved variable.
    PushSum,
    /// R only, with self-weights and one π_R for all rounds, on a strongly connected digraph. x̄ = π_RᵀX.
    PullOnly,
    /// One doubly stochastic W = R = C on a strongly connected digraph. x̄ is the mean.
    Balanced,
    /// One symmetric W = R = C on a connected undirected graph. x̄ is the mean.
    Undirected,
    /// Everyone hears everyone, C = 11ᵀ/n: not decentralised at all, but the bound to compare with.
    Central,
}

impl Network {
    /// What it is, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Network::PushPull => "push-pull: R and C with a common root",
            Network::PushSum => "push-sum: C on a strongly connected digraph",
            Network::PullOnly => "pull-only: R on a strongly connected digraph",
            Network::Balanced => "balanced: one doubly stochastic W on a strongly connected digraph",
            Network::Undirected => "undirected: one symmetric W on a connected graph",
            Network::Central => "centralised: everyone hears everyone",
        }
    }
}

/// Which vector (or scalar) of the state plays which role; `None` where a method has no such part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Roles {
    /// The vector whose plain mean over agents is x̄, for push-sum methods. Others: x̄ = π_Rᵀ of the estimates.
    pub conserved: Option<usize>,
    /// The vector v that tracks: (1/n)Σ v_i = (1/n)Σ `tracked`_i in every round (Lemma 2). In pull-only methods, where trackers
    /// are mixed by R, the means are π_R's: Σ π_R,i v_i = Σ π_R,i `tracked`_i.
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

/// Where in the run we are, and who.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Round {
    /// The round that turns state k into state k + 1.
    pub k: u64,
    /// The exchange within the round, for methods with several.
    pub phase: u32,
    /// The step size η_k; the schedule belongs to the experiment, not to the method.
    pub η: f64,
    /// The agent whose row this is.
    pub agent: usize,
    /// How many agents there are, n.
    pub agents: usize,
    /// The seed of the run.
    pub seed: u64,
}

impl Round {
    /// The agent's draws for this exchange, other than its samples: those of a random codec, say.
    pub fn draws(&self, purpose: Purpose) -> Draws {
        Draws::new(self.seed, purpose, self.agent, self.k).in_phase(self.phase)
    }
}

/// What an agent has for itself: its part of the problem, its own weights, and its draws for one state.
#[derive(Debug)]
pub struct Local<'a> {
    problem: &'a dyn Problem,
    agent: usize,
    draws: Draws,
    pair: &'a Pair,
    gradient: &'a mut [f64],
}

impl<'a> Local<'a> {
    /// The agent of `at`, at state `k`: samples ξ_{agent,k}, fresh ones in each phase, and ∇f_agent. `scratch` has the
    /// problem's dimension.
    #[inline]
    pub fn new(problem: &'a dyn Problem, at: Round, k: u64, pair: &'a Pair, scratch: &'a mut [f64]) -> Self {
        let mut draws = Draws::new(at.seed, Purpose::Gradient, at.agent, k).in_phase(at.phase);
        problem.foresee(at.agent, &mut draws);
        Self { problem, agent: at.agent, draws, pair, gradient: scratch }
    }

    /// The agent's own part of the problem is asked through the calls below; this is for its sizes.
    pub fn problem(&self) -> &'a dyn Problem {
        self.problem
    }

    /// Who the agent is.
    pub fn agent(&self) -> usize {
        self.agent
    }

    /// C_ii, the share of what it pushes that the agent keeps. O(in-degree).
    pub fn own_push_weight(&self) -> f64 {
        self.pair.push.weight(self.agent, self.agent)
    }

    /// Writes the starting point x₀, the same for all agents.
    pub fn start(&self, x: &mut [f64]) {
        self.problem.start(x);
    }

    /// A stochastic gradient ∇F_i(x; ξ) with a fresh sample; a second call draws a second sample.
    #[inline]
    pub fn gradient(&mut self, x: &[f64]) -> &mut [f64] {
        self.problem.gradient(self.agent, x, &mut self.draws, self.gradient);
        self.gradient
    }

    /// Two gradients with *one* fresh sample: returns ∇F_i(x; ξ), and writes ∇F_i(other; ξ) into `g_other`.
    #[inline]
    pub fn gradients(&mut self, x: &[f64], other: &[f64], g_other: &mut [f64]) -> &mut [f64] {
        self.problem.gradient(self.agent, other, &mut self.draws.clone(), g_other);
        self.gradient(x)
    }

    /// One of the agent's samples, drawn afresh: uniform below [`Problem::samples`], 0 where there are none.
    #[inline]
    pub fn sample(&mut self) -> usize {
        self.problem.samples().map_or(0, |samples| self.draws.below(samples))
    }

    /// ∇f_is(x), the gradient of the agent's component `sample`.
    #[inline]
    pub fn component(&mut self, sample: usize, x: &[f64]) -> &mut [f64] {
        self.problem.component(self.agent, sample, x, self.gradient);
        self.gradient
    }
}
