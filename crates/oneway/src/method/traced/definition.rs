//! What a method is, as data.

use super::super::{
    Ask, Carries, Exchange, Method, Network, OfRound, Profile, Reliance, Roles, SMALLEST, Trace,
};
use super::code::Space;
use crate::method::COMMON_INPUTS;
use crate::numeric::Program;

/// A method as data: its programs on one coordinate, and what engines have to know of it.
///
/// All programs begin with the [common inputs](COMMON_INPUTS): η, the agent's weight w⁺, C_ii and the two
/// numbers of the round.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// The kind of network it is made for.
    pub network: Network,
    /// What an agent has besides its coordinates.
    pub carries: Carries,
    /// The letters of the state, one for each number that an agent keeps of a coordinate; the first is its
    /// estimate. A letter may be empty: it is not printed.
    pub names: Vec<String>,
    /// How many numbers go onto the pull graph and onto the push graph.
    pub sends: [usize; 2],
    /// Which number of the state plays which role in the laws that are checked while running.
    pub roles: Roles,
    /// What its memory of one exchange presumes of the next.
    pub reliance: Reliance,
    /// The numbers of a round that the last two common inputs are.
    pub constants: [OfRound; 2],
    /// What is asked at x₀.
    pub start_ask: Ask,
    /// Of x₀, g and the other gradient: the state.
    pub start: Program,
    /// The exchanges of a round, one after another.
    pub exchanges: Vec<DefinedExchange>,
}

/// One exchange of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct DefinedExchange {
    /// Whether the pull row is sent, and whether the push row is; what is not sent is heard as zero.
    pub sends: [bool; 2],
    /// What is asked after it.
    pub ask: Ask,
    /// Of the state: what is pulled, then what is pushed.
    pub send: Program,
    /// Of the state, and of what was pulled and pushed: x⁺, where the gradient is taken, and x, where the
    /// last one was.
    pub points: Program,
    /// Of the state, what was pulled and pushed, g and the other gradient: the state.
    pub update: Program,
}

impl Definition {
    /// A method with a trace as data, under a name; none where it has no trace, or more than one turn after
    /// an exchange.
    pub fn from_method(name: &str, method: &dyn Method) -> Option<Self> {
        let (trace, profile) = (method.trace()?, method.profile(SMALLEST));
        let exchanges = trace.exchanges.into_iter().zip(&profile.exchanges).map(|(traced, exchange)| {
            (exchange.turns == [traced.ask]).then_some(DefinedExchange {
                sends: exchange.sends,
                ask: traced.ask,
                send: traced.send,
                points: traced.points,
                update: traced.update,
            })
        });
        Some(Self {
            name: name.to_owned(),
            network: trace.network,
            carries: trace.carries,
            names: trace.names.iter().map(|name| (*name).to_owned()).collect(),
            sends: trace.sends,
            roles: profile.roles,
            reliance: profile.reliance,
            constants: trace.constants,
            start_ask: trace.start_ask,
            start: trace.start,
            exchanges: exchanges.collect::<Option<_>>()?,
        })
    }

    /// The profile, without widths.
    pub(super) fn profile(&self, trace: &Trace) -> Profile {
        let exchange =
            |exchange: &DefinedExchange| Exchange { sends: exchange.sends, turns: vec![exchange.ask] };
        Profile {
            roles: self.roles,
            reliance: self.reliance,
            start: self.start_ask,
            points_are_pulled: points_are_pulled(trace),
            exchanges: self.exchanges.iter().map(exchange).collect(),
            ..Profile::new(self.network)
        }
    }
}

/// Whether gradients are taken at what was pulled, in all exchanges, and nowhere else.
fn points_are_pulled(trace: &Trace) -> bool {
    let pulled = COMMON_INPUTS + trace.names.len();
    trace.sends[0] == 1
        && trace.carries != Carries::Eigenvector
        && trace.exchanges.iter().all(|exchange| {
            let at_pulled = exchange.points.input_at(exchange.points.results[0]) == Some(pulled);
            at_pulled && matches!(exchange.ask, Ask::Samples(_))
        })
}

/// The programs of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Section {
    Start,
    Send,
    Points,
    Update,
}

impl Section {
    pub(super) fn name(self) -> &'static str {
        match self {
            Section::Start => "start",
            Section::Send => "send",
            Section::Points => "points",
            Section::Update => "update",
        }
    }

    /// The inputs behind the common ones, in order, of a method that keeps and sends these counts of numbers.
    pub(super) fn inputs(self, kept: usize, sends: [usize; 2]) -> Vec<(Space, usize)> {
        let all = |space: Space, count: usize| (0..count).map(move |i| (space, i));
        let gradients = || all(Space::Gradient, 1).chain(all(Space::Other, 1));
        let state = || all(Space::State, kept);
        let heard = || all(Space::Pulled, sends[0]).chain(all(Space::Pushed, sends[1]));
        match self {
            Section::Start => all(Space::Start, 1).chain(gradients()).collect(),
            Section::Send => state().collect(),
            Section::Points => state().chain(heard()).collect(),
            Section::Update => state().chain(heard()).chain(gradients()).collect(),
        }
    }

    /// How many results there are.
    pub(super) fn results(self, kept: usize, sends: [usize; 2]) -> usize {
        match self {
            Section::Start | Section::Update => kept,
            Section::Send => sends[0] + sends[1],
            Section::Points => 2,
        }
    }
}
