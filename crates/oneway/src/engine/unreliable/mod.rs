//! An engine for networks that fail: links that lose and delay, agents that leave and come back.
//!
//! It makes the same calls of a method as the [`Simulator`](crate::engine::Simulator), and with nothing that
//! goes wrong it has the same bits. What goes wrong is a pure function of the seed ([`Faults`]): a run is
//! reproducible, and methods that are compared meet the same losses.
//!
//! - **Pull.** An agent mixes what has arrived, with weights divided by their sum: R is row-stochastic in
//!   every round.
//! - **Push.** Mass is late, never lost. A message carries all that was pushed over its link and has not
//!   arrived yet, which is what running sums do: the sender sends the sum ρ of all that it ever pushed there,
//!   and the receiver takes in what ρ has grown by since the last message it got. So Σ tracker + what is on
//!   its way = Σ tracked, to rounding, in every round, and so for push-sum's weights: C is column-stochastic
//!   if the links count as nodes.
//!
//! x̄ and c_π are those of the network without its faults.
//!
//! A push-sum method whose agents hear nothing for long divides by weights that have become tiny. The run
//! goes on and says so: [`Status::Starved`](crate::engine::Status::Starved).
//!
//! Memory is links·max(τ, 1) push rows on top of the states, and n·(τ + 1) pull rows; with
//! [`Missing::Latest`] a pull row a link more. Rounds run on one thread, in time O(links·width).

mod faults;
mod links;
mod mass;
mod news;

use std::cell::OnceCell;

pub use faults::{Absence, Churn, Faults, Missing};

use crate::engine::observe::View;
use crate::engine::starvation::Starvation;
use crate::engine::{Engine, Setup, Turns};
use crate::graph::Graph;
use crate::graph::mixing::Mixing;
use crate::graph::topology::{Pair, Topology};
use crate::method::{Agents, Hearing, Method, Network, Profile, Reliance, Round, Rows, RowsMut, SMALLEST};
use crate::numeric::Precision;
use crate::numeric::matrix::{Matrix, stride};
use crate::numeric::row::Sum;
use crate::{Error, Result};
use faults::Presence;
use links::Links;
use mass::Mass;
use news::News;

/// All agents of one run, on a network that fails.
///
/// ```
/// use oneway::{methods::PUSH_PULL, engine::metrics, problems::{Quadratic, QuadraticShape}, engine::Schedule};
/// use oneway::{engine::{Engine, Setup}, graph::Topology, engine::unreliable::{Faults, Unreliable}};
///
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
/// let problem = Quadratic::new(shape, 5, 1).unwrap();
/// let topology = Topology::complete(5).unwrap();
/// let schedule = Schedule::constant(0.1).unwrap();
/// let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
/// let faults = Faults { loss: 0.3, ..Faults::default() };
/// let mut network = Unreliable::new(setup, faults).unwrap();
/// (0..600).try_for_each(|_| network.round()).unwrap();
/// let end = metrics::measure(&network.view()).unwrap();
/// assert!(end.grad_norm_sq < 1e-20); // three in ten messages are lost, and yet
/// assert!(end.conservation_error.is_some_and(|error| error < 1e-15));
/// ```
#[derive(Debug)]
pub struct Unreliable<'a> {
    setup: Setup<'a>,
    faults: Faults,
    profile: Profile,
    d: usize,
    /// Rounds done: the state is state k.
    k: u64,
    /// One row an agent.
    states: Matrix,
    /// What each agent sends on the push graph.
    pushes: Matrix,
    /// Who is there, and the mixed rows of each.
    there: Vec<usize>,
    pulled: Matrix,
    pushed: Matrix,
    turns: Turns,
    presence: Presence,
    news: News,
    mass: Mass,
    bytes_sent: u64,
    starvation: Option<Starvation>,
    /// Σ of the push rows on their way, once somebody has asked.
    in_flight: OnceCell<Vec<f64>>,
}

impl<'a> Unreliable<'a> {
    /// Sets up all agents at state 0, everyone there and nothing on its way. Refuses methods that need every
    /// message.
    pub fn new(setup: Setup<'a>, faults: Faults) -> Result<Self> {
        let profile = setup.check()?;
        let Setup { method, problem, topology, .. } = setup;
        check(method, topology, &faults)?;
        let (n, d) = (problem.agents(), problem.dim());
        let [state, pull, push] = profile.widths(d);
        let links = |of: fn(&Pair) -> &Mixing| Links::new(topology.period().iter().map(of), n);
        let mut engine = Self {
            d,
            k: 0,
            states: Matrix::new(n, state),
            pushes: Matrix::new(n, push),
            there: Vec::with_capacity(n),
            pulled: Matrix::new(n, pull),
            pushed: Matrix::new(n, push),
            turns: Turns::new(&profile, n, d),
            presence: Presence::new(faults.churn.clone(), n, setup.seed),
            news: News::new(links(|pair| &pair.pull), n, faults.delay, faults.missing, pull),
            mass: Mass::new(links(|pair| &pair.push), faults.delay, push),
            bytes_sent: 0,
            starvation: Starvation::new(&setup, &profile)?,
            in_flight: OnceCell::new(),
            profile,
            setup,
            faults,
        };
        let (agents, ask) = (Agents::Range { first: 0, len: n }, engine.profile.start);
        let states = RowsMut::new(engine.states.rows_mut(), state, stride(state));
        engine.turns.start(method, problem, ask, setup.round(0, 0), agents, states)?;
        Ok(engine)
    }

    /// Whether an agent was away in the last round.
    pub fn was_away(&self, agent: usize) -> bool {
        self.presence.is_away(agent)
    }

    /// Pass 1: everyone who is there fills its two messages.
    fn send(&mut self, at: Round<'_>) {
        let [state, _, push] = self.profile.widths(self.d);
        for &agent in &self.there {
            let (pull, push) = (self.news.offer(at.k, agent), self.pushes.row_mut(agent, push));
            self.setup.method.send(Round { agent, ..at }, self.states.row_mut(agent, state), pull, push);
        }
    }

    /// Pass 2: messages travel, and everyone who is there mixes what has arrived and updates its state.
    fn step(&mut self, at: Round<'_>) -> Result<()> {
        let Setup { method, problem, topology, seed, .. } = self.setup;
        let [state, pull, push] = self.profile.widths(self.d);
        let bytes = self.profile.bytes(0, self.d, Precision::F64);
        let pair = topology.at(at.k);
        let exchange = Exchange { k: at.k, seed, faults: &self.faults, presence: &self.presence };
        let mut heard = 0;
        for agent in 0..problem.agents() {
            let mut sent = [0; 2];
            if pull > 0 {
                sent[0] = self.news.exchange(&exchange, &pair.pull, agent);
            }
            // a row for who is away, too: what reaches it is counted, and overwritten by the next
            let place = heard.min(problem.agents() - 1);
            if push > 0 {
                let mut sum = Sum::new(self.pushed.row_mut(place, push));
                sent[1] = self.mass.exchange(&exchange, &pair.push, agent, &self.pushes, &mut sum);
                sum.finish();
            }
            self.bytes_sent += sent[0] * bytes[0] as u64 + sent[1] * bytes[1] as u64;
            if !self.presence.is_away(agent) {
                self.news.mix(at.k, &pair.pull, agent, self.pulled.row_mut(place, pull));
                heard += 1;
            }
        }

        let agents = Agents::List(&self.there);
        self.turns.prepare(problem, at, at.k + 1, agents); // state k + 1 takes the samples ξ_{k+1}
        let mut block = Hearing {
            agents,
            first: 0,
            states: RowsMut::new(self.states.rows_mut(), state, stride(state)),
            pulled: Rows::new(self.pulled.rows(), pull, stride(pull)),
            pushed: Rows::new(self.pushed.rows(), push, stride(push)),
        };
        self.turns.finish(method, problem, &self.profile.exchanges[0], at, &mut block)?;
        if let Some(starvation) = &mut self.starvation {
            for &agent in &self.there {
                starvation.look(at.k + 1, agent, self.states.row(agent, state));
            }
        }
        Ok(())
    }
}

impl<'a> Engine<'a> for Unreliable<'a> {
    fn setup(&self) -> Setup<'a> {
        self.setup
    }

    /// One round: state k becomes state k + 1. Allocates nothing.
    fn round(&mut self) -> Result<()> {
        self.in_flight.take();
        self.presence.enter(self.k);
        self.there.clear();
        let presence = &self.presence;
        self.there.extend((0..self.setup.problem.agents()).filter(|&agent| !presence.is_away(agent)));
        let at = self.setup.round(self.k, 0);
        self.send(at);
        self.step(at)?;
        self.k += 1;
        Ok(())
    }

    fn starved(&self) -> Option<u64> {
        self.starvation.as_ref().and_then(Starvation::since)
    }

    fn view(&self) -> View<'_> {
        let in_flight = self.in_flight.get_or_init(|| {
            let mut row = vec![0.0; self.profile.push.len(self.d)];
            let mut sum = Sum::new(&mut row);
            self.mass.on_its_way(&mut sum);
            row
        });
        let bytes_sent = Some(self.bytes_sent);
        View { in_flight, bytes_sent, ..self.setup.view(self.k, &self.profile, self.states.rows()) }
    }
}

/// Whether faults can be, and whether a method can do without some messages on this network; the error says
/// why not.
pub fn check(method: &dyn Method, topology: &Topology, faults: &Faults) -> Result<()> {
    faults.check(topology.agents())?;
    let profile = method.profile(SMALLEST);
    let roles = profile.roles;
    let reason = match () {
        () if profile.network == Network::Central => "a centralised method has no links of its own",
        () if profile.network == Network::PullOnly => {
            "a pull-only method needs one π_R for all rounds, and where messages are missing R is another in each"
        }
        () if profile.phases() > 1 => "it exchanges several times a round",
        () if profile.keeps_copies => {
            "it keeps copies of its neighbours' state, made of differences: a lost one would spoil them for ever"
        }
        () if profile.sends_a_share => SENT_IN_PART,
        () if profile.reliance != Reliance::Nothing => RELIES_ON_THE_LAST_ROUND,
        () if roles.conserved.is_some() && roles.conserved_sent.is_none() => NOT_SENT_WHOLE,
        () if roles.tracker.is_some() && roles.tracker_sent.is_none() => TRACKERS_NOT_PUSHED,
        () if weights_can_vanish(&profile, topology) => VANISHING_WEIGHTS,
        () => return Ok(()),
    };
    Err(Error::NeedsEveryMessage(reason))
}

/// Why [`Reliance`] matters.
pub(crate) const RELIES_ON_THE_LAST_ROUND: &str = "it takes what one round of W did to everyone's messages for a correction \
                                                   in the next, and where some are missing or of another age that is none";
/// Why a tracker must be pushed.
pub(crate) const TRACKERS_NOT_PUSHED: &str =
    "its trackers are not pushed, and keep their mean only as long as R is doubly stochastic";
/// Why a method's sum cannot be followed while messages are on their way.
pub(crate) const NOT_SENT_WHOLE: &str =
    "what it conserves is not sent as it is, so that what is on its way cannot be counted";
/// Why [`Profile::sends_a_share`] matters.
pub(crate) const SENT_IN_PART: &str = "what it conserves is not sent as it is, but compressed with a share γ < 1 of mixing, so that \
     what is on its way cannot be counted: give `gamma = 1` beside `alpha = 0`, which encodes the message itself";
/// Why [`weights_can_vanish`] matters.
pub(crate) const VANISHING_WEIGHTS: &str =
    "it divides by push-sum weights, and one is zero where an agent keeps nothing and nothing arrives";

/// Whether the method divides by push-sum weights that can be zero: an agent that keeps nothing of its own
/// may hear nothing.
pub(crate) fn weights_can_vanish(profile: &Profile, topology: &Topology) -> bool {
    let keeps = |mixing: &Mixing| (0..mixing.agents()).all(|i| mixing.weight(i, i) > 0.0);
    profile.roles.weight.is_some() && !topology.period().iter().all(|pair| keeps(&pair.push))
}

/// What an exchange of messages needs to know of its round.
#[derive(Debug, Clone, Copy)]
struct Exchange<'e> {
    k: u64,
    seed: u64,
    faults: &'e Faults,
    presence: &'e Presence,
}

impl Exchange<'_> {
    fn is_away(&self, agent: usize) -> bool {
        self.presence.is_away(agent)
    }

    fn fate(&self, graph: Graph, from: usize, to: usize) -> Option<u32> {
        self.faults.fate(self.seed, graph, from, to, self.k)
    }
}
