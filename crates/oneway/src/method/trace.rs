//! What a rule does, written down: its arithmetic on symbols.
//!
//! The programs are straight-line code without branches or memory. They print as equations, run in a small
//! interpreter to the engine's bits, and say where a rule is linear.

use super::rule::Numbers;
use super::{Ask, At, Carries, Exchange, Mail, Network, OfRound, Profile, Rule};
use crate::numeric::{Operations, Program, Symbol, Tape};

/// A rule as programs on one coordinate. All begin with the same inputs: η, w⁺, C_ii and the rule's two
/// constants.
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
    pub(super) fn from_rule<R: Rule>(rule: &R) -> Self {
        let counts = [count::<R::State<Symbol>>(), count::<R::Pull<Symbol>>(), count::<R::Push<Symbol>>()];
        let names = [R::NAMES, R::LAST_NAMES];
        Self::made((rule.profile(), R::CARRIES, rule.constants()), counts, names, &|part| results(rule, part))
    }

    /// What does not depend on the rule, apart: it would be compiled for each.
    fn made(
        (profile, carries, constants): (Profile, Carries, [OfRound; 2]),
        [state, pull, push]: [usize; 3],
        [first, last]: [&[&'static str]; 2],
        results: &dyn Fn(Part) -> Vec<Symbol>,
    ) -> Self {
        let unnamed = state.saturating_sub(first.len() + last.len());
        let names = first.iter().copied().chain(std::iter::repeat_n("", unnamed));
        let program = |part| Tape::record(|| results(part));
        let exchange = |(phase, exchange): (u32, &Exchange)| TracedExchange {
            send: program(Part::Send(phase)),
            points: program(Part::Points(phase)),
            update: program(Part::Update(phase)),
            ask: exchange.turns.first().copied().unwrap_or(Ask::Nothing),
        };
        Self {
            network: profile.network,
            carries,
            names: names.chain(last.iter().copied()).collect(),
            sends: [pull, push],
            start: program(Part::Start),
            start_ask: profile.start,
            constants,
            exchanges: (0..).zip(&profile.exchanges).map(exchange).collect(),
        }
    }

    /// How many operations one coordinate of one agent takes in a round: to send, to say where gradients are
    /// taken, and to update. Mixing and gradients are not the rule's.
    pub fn operations(&self) -> Operations {
        let of = |exchange: &TracedExchange| {
            let TracedExchange { send, points, update, ask } = exchange;
            let points = if *ask == Ask::Nothing { Operations::default() } else { points.operations() };
            send.operations() + points + update.operations()
        };
        self.exchanges.iter().map(of).sum()
    }
}

#[inline(never)]
fn at(phase: u32) -> At<Symbol> {
    let [η, w, kept] = ["η", "w", "C_ii"].map(Symbol::input);
    At { η, w, kept, constants: ["1 − β₁ᵗ", "1 − β₂ᵗ"].map(Symbol::input), phase }
}

/// One of a rule's programs; all but the start's are those of an exchange.
#[derive(Debug, Clone, Copy)]
enum Part {
    Start,
    Send(u32),
    Points(u32),
    Update(u32),
}

/// What one of a rule's programs gives, recorded on this thread's tape.
fn results<R: Rule>(rule: &R, part: Part) -> Vec<Symbol> {
    let mut all = vec![];
    match part {
        Part::Start => {
            let (at, x) = (at(0), Symbol::input("x₀"));
            list(rule.start(at, x, gradients()), &mut all);
        }
        Part::Send(phase) => {
            let sent = rule.send(at(phase), state::<R>());
            list(sent.pull, &mut all);
            list(sent.push, &mut all);
        }
        Part::Points(phase) => {
            let (at, state, heard) = (at(phase), state::<R>(), heard::<R>());
            list(rule.points(at, state, heard), &mut all);
        }
        Part::Update(phase) => {
            let (at, state, heard) = (at(phase), state::<R>(), heard::<R>());
            list(rule.update(at, state, heard, gradients()), &mut all);
        }
    }
    all
}

fn state<R: Rule>() -> R::State<Symbol> {
    Numbers::load(0, &mut |i| named(R::NAMES, i))
}

fn heard<R: Rule>() -> Mail<R::Pull<Symbol>, R::Push<Symbol>> {
    Mail {
        pull: Numbers::load(0, &mut |i| named(&PULLED, i.min(1))),
        push: Numbers::load(0, &mut |i| named(&PUSHED, i.min(1))),
    }
}

#[inline(never)]
fn gradients() -> [Symbol; 2] {
    GRADIENT.map(Symbol::input)
}

#[inline(never)]
fn named(names: &[&'static str], i: usize) -> Symbol {
    Symbol::input(names.get(i).copied().unwrap_or(""))
}

fn list(numbers: impl Numbers<Symbol>, all: &mut Vec<Symbol>) {
    numbers.store(0, &mut |_, symbol| put(all, symbol));
}

#[inline(never)]
fn put(all: &mut Vec<Symbol>, symbol: Symbol) {
    all.push(symbol);
}

const fn count<V: Numbers<Symbol>>() -> usize {
    V::COUNT
}

/// Whether a rule takes its gradients at what it has pulled, in all exchanges, and nowhere else.
pub(super) fn points_are_pulled<R: Rule>(rule: &R, profile: &Profile) -> bool {
    count::<R::Pull<Symbol>>() == 1
        && R::CARRIES != Carries::Eigenvector
        && are_pulled(profile, count::<R::State<Symbol>>(), &|part| results(rule, part))
}

/// The same of a rule that keeps this many numbers and pulls one.
fn are_pulled(profile: &Profile, kept: usize, results: &dyn Fn(Part) -> Vec<Symbol>) -> bool {
    let pulled = Symbol::at(COMMON_INPUTS + kept); // inputs are the first of a program, in this order
    (0..).zip(&profile.exchanges).all(|(phase, exchange)| {
        let mut same = false;
        Tape::record(|| {
            same = results(Part::Points(phase))[0] == pulled;
            vec![]
        });
        same && exchange.turns.iter().all(|turn| matches!(turn, Ask::Samples(_) | Ask::Component))
    })
}
