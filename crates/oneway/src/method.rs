//! The waist: what a decentralised method is, to the engine.
//!
//! A round is `send` → the engine mixes linearly (R·pull, C·push) → `step`. The method says what an agent does with its
//! own state; the engine owns the states and the messages, and can therefore check, hash, save and ship them. The same
//! compiled method runs in the simulator and in a networked agent.

use std::fmt::Debug;

use crate::Result;
use crate::matrix::stride;
use crate::problem::Problem;
use crate::row::Width;
use crate::sample::{Draws, Purpose};
use crate::topology::Pair;
use crate::vectors::widest;

/// Rows that are far away are asked for so many agents before they are mixed.
const AHEAD: usize = 2;

/// One agent's side of one decentralised method. Holds hyper-parameters only; the engine owns the state.
pub trait Method: Send + Sync + Debug {
    /// How wide the state row and the two message rows are, on this problem.
    fn layout(&self, problem: &dyn Problem) -> Layout;

    /// What kind of network the method is made for.
    fn network(&self) -> Network;

    /// Which part of the state plays which role in the laws that are checked while running.
    fn roles(&self) -> Roles;

    /// Whether the method can work on this problem; the error says what is missing.
    fn check(&self, _problem: &dyn Problem) -> Result<()> {
        Ok(())
    }

    /// Exchanges per round.
    fn phases(&self) -> u32 {
        1
    }

    /// Whether the method still makes sense where messages are lost or late: where pulled rows are fewer or older than they
    /// should be and pushed mass comes later. Not if it keeps copies of what its neighbours have and updates them by what
    /// they send, as methods that compress differences do, nor if it exchanges several times a round.
    fn bears_loss(&self) -> bool {
        self.phases() == 1
    }

    /// Bytes that one link carries in one exchange, on the pull graph and on the push graph: eight for each number of the two
    /// message rows, unless the method encodes them or leaves one out in this phase.
    fn bytes(&self, problem: &dyn Problem, _phase: u32) -> [usize; 2] {
        let Layout { pull, push, .. } = self.layout(problem);
        [pull, push].map(|width| width.len(problem.dim()) * size_of::<f64>())
    }

    /// Fills the state row at the start, from x₀ = `local.start(…)`.
    fn init(&self, state: &mut [f64], local: &mut Local<'_>);

    /// Fills what the agent sends on the pull graph and on the push graph.
    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]);

    /// Takes in what arrived: `pulled` = Σ_j R_ij pull_j and `pushed` = Σ_j C_ij push_j.
    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>);

    /// Pass 1 over a block of agents: every row sends. Provided; see [`Block`].
    fn send_block(&self, at: Round, mut block: Block<'_>, pulls: &mut [f64], pushes: &mut [f64]) {
        widest(
            #[inline(always)]
            || {
                let [pull, push] = block.message_widths();
                for (i, (agent, state)) in block.states().enumerate() {
                    let pull = &mut pulls[i * stride(pull)..][..pull];
                    let push = &mut pushes[i * stride(push)..][..push];
                    self.send(Round { agent, ..at }, state, pull, push);
                }
            },
        );
    }

    /// Pass 2 over a block of agents: every row mixes what it hears, then steps. Provided; see [`Block`].
    fn step_block(&self, at: Round, mut block: Block<'_>, mail: &Mail<'_>, scratch: &mut [f64]) {
        widest(
            #[inline(always)]
            || {
                let (problem, d) = (block.problem, block.d);
                let [pull_width, push_width] = block.message_widths();
                let (pulled, rest) = scratch.split_at_mut(stride(pull_width));
                let (pushed, gradient) = rest.split_at_mut(stride(push_width));
                let Pair { pull, push } = mail.pair;
                for (i, (agent, state)) in block.states().enumerate() {
                    if mail.far {
                        pull.prefetch(agent + AHEAD, mail.pulls, pulled.len());
                        push.prefetch(agent + AHEAD, mail.pushes, pushed.len());
                    }
                    let at = Round { agent, ..at };
                    // state k + 1 takes the samples ξ_{k+1}
                    let mut local = Local::new(problem, at, at.k + 1, mail.pair, &mut gradient[..d]);
                    if i == 0 || !pull.has_one_row() {
                        pull.mix_row(agent, mail.pulls, pulled);
                    }
                    if i == 0 || !push.has_one_row() {
                        push.mix_row(agent, mail.pushes, pushed);
                    }
                    self.step(at, state, &pulled[..pull_width], &pushed[..push_width], &mut local);
                }
            },
        );
    }

    /// The agent's estimate of the minimiser: the first vector of its state, unless the method says otherwise.
    fn estimate<'s>(&self, state: &'s [f64], d: usize) -> &'s [f64] {
        &state[..d]
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

/// The kind of network a method is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Network {
    /// R on the pull graph, C on the push graph, with a common root. x̄ = π_RᵀX.
    PushPull,
    /// C only, on a strongly connected digraph. x̄ is the mean of the conserved variable.
    PushSum,
    /// R only, on a strongly connected digraph. x̄ = π_RᵀX.
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
    /// The vector v that tracks: (1/n)Σ v_i = (1/n)Σ `tracked`_i in every round (Lemma 2).
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
}

/// Some agents in a row, as an engine hands them to a pass.
///
/// The two passes are provided methods of [`Method`], so that a method's `send` and `step` are compiled into the loop
/// over agents, and the whole of it for the widest vectors of the machine.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first agent.
    pub first: usize,
    /// Their state rows.
    pub states: &'a mut [f64],
    /// The widths of the rows.
    pub layout: Layout,
    /// The problem's dimension.
    pub d: usize,
    /// The problem.
    pub problem: &'a dyn Problem,
}

impl Block<'_> {
    #[inline(always)]
    fn states(&mut self) -> impl Iterator<Item = (usize, &mut [f64])> {
        let (first, width) = (self.first, self.layout.state.len(self.d));
        let rows = self.states.chunks_exact_mut(stride(width));
        rows.enumerate().map(move |(i, row)| (first + i, &mut row[..width]))
    }

    #[inline(always)]
    fn message_widths(&self) -> [usize; 2] {
        [self.layout.pull, self.layout.push].map(|width| width.len(self.d))
    }
}

/// All messages of an exchange, and how they are mixed.
#[derive(Debug)]
pub struct Mail<'a> {
    /// R and C.
    pub pair: &'a Pair,
    /// What every agent offers on the pull graph, a row each.
    pub pulls: &'a [f64],
    /// What every agent sends on the push graph, a row each.
    pub pushes: &'a [f64],
    /// Whether there are so many messages that a row to be mixed is probably not in a near cache.
    pub far: bool,
}
