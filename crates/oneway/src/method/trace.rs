//! What a rule does, written down: its arithmetic on symbols.
//!
//! The programs are straight-line code without branches or memory. They print as equations, run in a small interpreter to the
//! engine's bits, and say where a rule is linear.

use super::rule::Numbers;
use super::{Ask, At, Carries, Exchange, Mail, Network, Rule};
use crate::numeric::{Program, Symbol, Tape};

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
        let unnamed = count::<R::State<Symbol>>().saturating_sub(R::NAMES.len());
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
            names: R::NAMES.iter().copied().chain(std::iter::repeat_n("", unnamed)).collect(),
            sends: [count::<R::Pull<Symbol>>(), count::<R::Push<Symbol>>()],
            start: Tape::record(|| {
                let (at, x) = (at(0), Symbol::input("x₀"));
                listed(rule.start(at, x, GRADIENT.map(Symbol::input)))
            }),
            exchanges: (0..).zip(&profile.exchanges).map(exchange).collect(),
        }
    }

    /// The rule's equations, one for each letter of the state, as the code computes them: `x⁺ = R(x − ηv)`. Where a round has
    /// several exchanges, a letter has an equation for each that changes it.
    ///
    /// ```
    /// use oneway::{method::Method, methods::Smtpp};
    /// let equations = Smtpp::new(0.1).unwrap().trace().unwrap().equations();
    /// assert_eq!(equations, ["x⁺ = R(x − ηv)", "v⁺ = Cv + (m⁺ − m)", "m⁺ = (1 − λ)m + λg⁺"]);
    /// ```
    pub fn equations(&self) -> Vec<String> {
        let [pull, push] = match self.network {
            Network::PushPull => ["R", "C"],
            Network::PushSum => ["", "C"],
            Network::PullOnly => ["R", ""],
            Network::Balanced | Network::Undirected => ["W", "W"],
            Network::Central => ["", "mean"],
        };
        let mut equations = vec![];
        for exchange in &self.exchanges {
            let mixed = |matrix: &str, sent: usize| {
                let formula = exchange.send.text(sent);
                let alone = formula.chars().count() <= 1 && matrix.chars().count() <= 1;
                (if alone { format!("{matrix}{formula}") } else { format!("{matrix}({formula})") }, 1)
            };
            let heard = |name: &str| {
                let place = |names: [&str; 2]| names.iter().position(|known| *known == name);
                let pulled = place(PULLED).map(|i| mixed(pull, i));
                let pushed = place(PUSHED).map(|i| mixed(push, self.sends[0] + i));
                let named = match (name, self.carries, exchange.ask) {
                    ("w", Carries::Eigenvector, _) => Some("[y⁺]_i"),
                    ("w", ..) => Some("w⁺"),
                    ("other", _, Ask::BothPoints) => Some("g(x; ξ⁺)"),
                    ("other", ..) => Some("Σg"),
                    _ => None,
                };
                pulled.or(pushed).or(named.map(|name| (name.to_owned(), 2)))
            };
            let next = |symbol: Symbol| {
                let of_other = self.names.iter().zip(&exchange.update.results);
                of_other
                    .filter(|(name, _)| !name.is_empty())
                    .find(|(_, result)| **result == symbol)
                    .map(|(name, _)| format!("{name}⁺"))
            };
            for (i, name) in self.names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
                let formula = exchange.update.formula_of(i, &heard, &next);
                if formula != *name {
                    equations.push(format!("{name}⁺ = {formula}"));
                }
            }
        }
        equations
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
