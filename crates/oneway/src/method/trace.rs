//! What a rule does, written down: its arithmetic on symbols.
//!
//! The programs are straight-line code without branches or memory. They print as equations, run in a small interpreter to the
//! engine's bits, and say where a rule is linear.

use super::rule::Numbers;
use super::{Ask, At, Carries, Exchange, Mail, Network, OfRound, Rule};
use crate::numeric::{Operations, Program, Symbol, Tape};

/// A rule as programs on one coordinate. All begin with the same inputs: η, w⁺, C_ii and the rule's two constants.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The network, whose matrices the equations name.
    pub network: Network,
    /// What an agent has besides its coordinates.
    pub carries: Carries,
    /// The letters of the state; empty for what has none.
    pub names: Vec<&'static str>,
    /// How many numbers go onto the pull graph and onto the push graph.
    pub sends: [usize; 2],
    /// Of x₀, g and the other gradient: the state.
    pub start: Program,
    /// What is asked at x₀.
    pub start_ask: Ask,
    /// The numbers of a round that the last two common inputs are.
    pub constants: [OfRound; 2],
    /// What happens in each exchange of a round.
    pub exchanges: Vec<TracedExchange>,
}

/// One exchange of a round.
#[derive(Debug, Clone, PartialEq)]
pub struct TracedExchange {
    /// Of the state: what is pulled, then what is pushed.
    pub send: Program,
    /// Of the state, and of what was pulled and pushed: x⁺ and x.
    pub points: Program,
    /// Of the state, what was pulled and pushed, g and the other gradient: the state.
    pub update: Program,
    /// What is asked after it.
    pub ask: Ask,
}

/// The inputs that all programs begin with.
pub const COMMON_INPUTS: usize = 5;

const PULLED: [&str; 2] = ["pulled", "pulled′"];
const PUSHED: [&str; 2] = ["pushed", "pushed′"];
const GRADIENT: [&str; 2] = ["g⁺", "other"];

impl Trace {
    pub(super) fn of<R: Rule>(rule: &R) -> Self {
        let profile = rule.profile();
        let unnamed = count::<R::State<Symbol>>().saturating_sub(R::NAMES.len() + R::LAST_NAMES.len());
        let names = R::NAMES.iter().copied().chain(std::iter::repeat_n("", unnamed));
        let exchange = |(phase, exchange): (u32, &Exchange)| TracedExchange {
            send: Tape::record(|| {
                let sent = rule.send(at(phase), state::<R>());
                [listed(sent.pull), listed(sent.push)].concat()
            }),
            points: Tape::record(|| rule.points(at(phase), state::<R>(), heard::<R>()).to_vec()),
            update: Tape::record(|| {
                let (at, state, heard) = (at(phase), state::<R>(), heard::<R>());
                listed(rule.update(at, state, heard, GRADIENT.map(Symbol::input)))
            }),
            ask: exchange.turns.first().copied().unwrap_or(Ask::Nothing),
        };
        Self {
            network: profile.network,
            carries: R::CARRIES,
            names: names.chain(R::LAST_NAMES.iter().copied()).collect(),
            sends: [count::<R::Pull<Symbol>>(), count::<R::Push<Symbol>>()],
            start: Tape::record(|| {
                let (at, x) = (at(0), Symbol::input("x₀"));
                listed(rule.start(at, x, GRADIENT.map(Symbol::input)))
            }),
            start_ask: profile.start,
            constants: rule.constants(),
            exchanges: (0..).zip(&profile.exchanges).map(exchange).collect(),
        }
    }

    /// How many operations one coordinate of one agent takes in a round: to send, to say where gradients are taken, and to
    /// update. Mixing and gradients are not the rule's.
    pub fn operations(&self) -> Operations {
        let of = |exchange: &TracedExchange| {
            let TracedExchange { send, points, update, ask } = exchange;
            let points = if *ask == Ask::Nothing { Operations::default() } else { points.operations() };
            send.operations() + points + update.operations()
        };
        self.exchanges.iter().map(of).sum()
    }
}

fn at(phase: u32) -> At<Symbol> {
    let [η, w, kept] = ["η", "w", "C_ii"].map(Symbol::input);
    At { η, w, kept, constants: ["1 − β₁ᵗ", "1 − β₂ᵗ"].map(Symbol::input), phase }
}

fn state<R: Rule>() -> R::State<Symbol> {
    Numbers::load(0, &mut |i| Symbol::input(R::NAMES.get(i).copied().unwrap_or("")))
}

fn heard<R: Rule>() -> Mail<R::Pull<Symbol>, R::Push<Symbol>> {
    Mail {
        pull: Numbers::load(0, &mut |i| Symbol::input(PULLED[i.min(1)])),
        push: Numbers::load(0, &mut |i| Symbol::input(PUSHED[i.min(1)])),
    }
}

fn listed(numbers: impl Numbers<Symbol>) -> Vec<Symbol> {
    let mut all = vec![];
    numbers.store(0, &mut |_, symbol| all.push(symbol));
    all
}

const fn count<V: Numbers<Symbol>>() -> usize {
    V::COUNT
}

/// Whether a rule takes its gradients at what it has pulled, in all exchanges, and nowhere else.
pub(super) fn points_are_pulled<R: Rule>(rule: &R) -> bool {
    let exchanges = rule.profile().exchanges;
    count::<R::Pull<Symbol>>() == 1
        && R::CARRIES != Carries::Eigenvector
        && (0..).zip(&exchanges).all(|(phase, exchange)| {
            let mut same = false;
            Tape::record(|| {
                let (at, state, heard) = (at(phase), state::<R>(), heard::<R>());
                same = listed(heard.pull)[..] == rule.points(at, state, heard)[..1];
                vec![]
            });
            same && exchange.turns.iter().all(|turn| matches!(turn, Ask::Samples(_) | Ask::Component))
        })
}
