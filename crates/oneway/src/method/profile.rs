//! What a method is, to an engine: one value.

use super::{Network, Reliance, Roles};
use crate::codec::Wire;
use crate::numeric::Precision;
use crate::numeric::row::Width;
use crate::problem::Problem;

/// The sizes of a problem, on which the widths of rows may depend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// How many agents there are, n.
    pub agents: usize,
    /// The problem's dimension, d.
    pub dim: usize,
    /// Samples of each agent, where the problem is a finite sum.
    pub samples: Option<usize>,
}

impl Sizes {
    /// Those of a problem.
    pub fn from_problem(problem: &dyn Problem) -> Self {
        Self { agents: problem.agents(), dim: problem.dim(), samples: problem.samples() }
    }
}

/// What a method is: how wide its rows are, how its rounds go, what network it needs and what its memory
/// presumes.
#[derive(Debug, Clone)]
pub struct Profile {
    /// The state that an agent keeps.
    pub state: Width,
    /// What it offers on the pull graph, mixed by R.
    pub pull: Width,
    /// What it sends on the push graph, mixed by C.
    pub push: Width,
    /// The kind of network it is made for.
    pub network: Network,
    /// Which part of the state plays which role in the laws that are checked while running.
    pub roles: Roles,
    /// What its memory of one exchange presumes of the next.
    pub reliance: Reliance,
    /// Whether an agent keeps copies of what its neighbours hold, made of differences that they send: a
    /// message that is lost, late or overtaken would spoil them for ever.
    pub keeps_copies: bool,
    /// Whether it is around a method that sends its sums whole, and sends only a share of them.
    pub sends_a_share: bool,
    /// The gradients that it starts with, at x₀.
    pub start: Ask,
    /// Whether the gradients after an exchange are taken at the pulled row itself, so that `point` need not
    /// be called.
    pub points_are_pulled: bool,
    /// The exchanges of a round, one after another.
    pub exchanges: Vec<Exchange>,
    /// How its rows are encoded; none where they travel as the bits of their numbers.
    pub wire: Option<Wire>,
}

/// One exchange of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exchange {
    /// Whether the pull row is sent, and whether the push row is; what is not sent is zero.
    pub sends: [bool; 2],
    /// What is asked after it, turn by turn: points, gradients, update.
    pub turns: Vec<Ask>,
}

/// The gradients that an update needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ask {
    /// None.
    Nothing,
    /// ∇F_i(x⁺; ξ_s) of a number of fresh samples at one point: the last, and the sum of those before it.
    Samples(usize),
    /// ∇F_i(x⁺; ξ) and ∇F_i(x; ξ) with *one* fresh sample: at the new point and at the last.
    BothPoints,
    /// ∇f_is(x⁺) of one component s, drawn afresh.
    Component,
    /// ∇f_is(x₀) of every component s.
    AllComponents,
}

impl Ask {
    /// One gradient, with a fresh sample.
    pub const ONE: Ask = Ask::Samples(1);
}

impl Profile {
    /// A method with one exchange a round and one fresh gradient after it, on this kind of network. It has no
    /// roles and no widths yet: a rule's are those of its types.
    pub fn new(network: Network) -> Self {
        Self {
            state: Width::NONE,
            pull: Width::NONE,
            push: Width::NONE,
            network,
            roles: Roles::default(),
            reliance: Reliance::Nothing,
            keeps_copies: false,
            sends_a_share: false,
            start: Ask::ONE,
            points_are_pulled: false,
            exchanges: vec![Exchange { sends: [true; 2], turns: vec![Ask::ONE] }],
            wire: None,
        }
    }

    /// The same with these roles.
    pub fn with_roles(self, roles: Roles) -> Self {
        Self { roles, ..self }
    }

    /// The same with other gradients: at the start, and after each exchange that asks for some.
    pub fn asking(mut self, start: Ask, ask: Ask) -> Self {
        self.start = start;
        let turns = self.exchanges.iter_mut().flat_map(|exchange| &mut exchange.turns);
        turns.filter(|turn| **turn != Ask::Nothing).for_each(|turn| *turn = ask);
        self
    }

    /// Exchanges a round.
    pub fn phases(&self) -> u32 {
        self.exchanges.len() as u32
    }

    /// The widths of the state, the pull row and the push row in dimension d.
    pub fn widths(&self, d: usize) -> [usize; 3] {
        [self.state, self.pull, self.push].map(|width| width.len(d))
    }

    /// What travels in an exchange, on the pull graph and on the push graph.
    pub fn sent(&self, phase: u32) -> [Width; 2] {
        let sends = self.exchanges[phase as usize].sends;
        let sent = |sends: bool, width: Width| if sends { width } else { Width::NONE };
        [sent(sends[0], self.pull), sent(sends[1], self.push)]
    }

    /// Bytes that one link carries in one exchange, on the pull graph and on the push graph.
    pub fn bytes(&self, phase: u32, d: usize, precision: Precision) -> [usize; 2] {
        let number = precision.bytes();
        self.sent(phase).map(|Width { vectors, scalars }| match &self.wire {
            None => (vectors * d + scalars) * number,
            Some(wire) => vectors * wire.codec.bytes(d) + scalars * number,
        })
    }
}
