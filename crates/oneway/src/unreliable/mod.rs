//! An engine for networks that fail: links that lose and delay, agents that leave and come back.
//!
//! It makes the same two calls as the [`Simulator`](crate::simulator::Simulator), `send` and `step`, and with nothing that
//! goes wrong it has the same bits. What goes wrong is a pure function of the seed ([`Faults`]): a run is reproducible, and
//! methods that are compared meet the same losses.
//!
//! - **Pull.** An agent mixes what has arrived, with weights divided by their sum: R is row-stochastic in every round.
//! - **Push.** Mass is late, never lost. A message carries all that was pushed over its link and has not arrived yet, which is
//!   what running sums do: the sender sends the sum ρ of all that it ever pushed there, and the receiver takes in what ρ has
//!   grown by since the last message it got. So Σ tracker + what is on its way = Σ tracked, to rounding, in every round, and so
//!   for push-sum's weights: C is column-stochastic if the links count as nodes.
//!
//! x̄ and c_π are those of the network without its faults.
//!
//! A push-sum method whose agents hear nothing for long divides by weights that have become tiny. The run goes on and says so:
//! [`Status::Starved`](crate::engine::Status::Starved).
//!
//! Memory is links·max(τ, 1) push rows on top of the states, and n·(τ + 1) pull rows; with
//! [`Missing::Latest`] a pull row a link more. Rounds run on one thread, in time O(links·width).

mod faults;
mod links;
mod mass;
mod news;

use std::cell::OnceCell;

pub use faults::{Absence, Churn, Faults, Graph, Missing};

use crate::engine::{Engine, Setup};
use crate::matrix::{Matrix, stride};
use crate::method::{Layout, Local, Method, Network, Reliance, Round};
use crate::mixing::Mixing;
use crate::observe::View;
use crate::row::Sum;
use crate::starvation::Starvation;
use crate::topology::{Pair, Topology};
use crate::{Error, Result};
use faults::Presence;
use links::Links;
use mass::Mass;
use news::News;

/// All agents of one run, on a network that fails.
///
/// ```
/// use oneway::{methods::PUSH_PULL, metrics, problems::{Quadratic, QuadraticShape}, schedule::Schedule};
/// use oneway::{engine::{Engine, Setup}, topology::Topology, unreliable::{Faults, Unreliable}};
///
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
/// let problem = Quadratic::new(shape, 5, 1).unwrap();
/// let topology = Topology::complete(5).unwrap();
/// let schedule = Schedule::constant(0.1).unwrap();
/// let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
/// let faults = Faults { loss: 0.3, ..Faults::default() };
/// let mut network = Unreliable::new(setup, faults).unwrap();
/// (0..600).for_each(|_| network.round());
/// let end = metrics::measure(&network.view()).unwrap();
/// assert!(end.grad_norm_sq < 1e-20); // three in ten messages are lost, and yet
/// assert!(end.conservation_error.is_some_and(|error| error < 1e-15));
/// ```
#[derive(Debug)]
pub struct Unreliable<'a> {
    setup: Setup<'a>,
    faults: Faults,
    layout: Layout,
    d: usize,
    /// Rounds done: the state is state k.
    k: u64,
    /// One row an agent.
    states: Matrix,
    /// What each agent sends on the push graph.
    pushes: Matrix,
    /// A mixed pull row, a mixed push row, a gradient.
    scratch: Matrix,
    presence: Presence,
    news: News,
    mass: Mass,
    bytes_sent: u64,
    starvation: Option<Starvation>,
    /// Σ of the push rows on their way, once somebody has asked.
    in_flight: OnceCell<Vec<f64>>,
}

impl<'a> Unreliable<'a> {
    /// Sets up all agents at state 0, everyone there and nothing on its way. Refuses methods that need every message.
    pub fn new(setup: Setup<'a>, faults: Faults) -> Result<Self> {
        let layout = setup.check()?;
        let Setup { method, problem, topology, .. } = setup;
        check(method, topology, &faults)?;
        let (n, d) = (problem.agents(), problem.dim());
        let [state, pull, push] = [layout.state, layout.pull, layout.push].map(|width| width.len(d));
        let links = |of: fn(&Pair) -> &Mixing| Links::new(topology.period().iter().map(of), n);
        let mut engine = Self {
            layout,
            d,
            k: 0,
            states: Matrix::new(n, state),
            pushes: Matrix::new(n, push),
            scratch: Matrix::new(1, stride(pull) + stride(push) + d),
            presence: Presence::new(faults.churn.clone(), n, setup.seed),
            news: News::new(links(|pair| &pair.pull), n, faults.delay, faults.missing, pull),
            mass: Mass::new(links(|pair| &pair.push), faults.delay, push),
            bytes_sent: 0,
            starvation: Starvation::of(&setup)?,
            in_flight: OnceCell::new(),
            setup,
            faults,
        };
        let (at, pair) = (setup.round(0, 0), topology.at(0));
        for agent in 0..n {
            let scratch = &mut engine.scratch.rows_mut()[..d];
            let mut local = Local::new(problem, Round { agent, ..at }, 0, pair, scratch);
            method.init(engine.states.row_mut(agent, state), &mut local);
        }
        Ok(engine)
    }

    /// Whether an agent was away in the last round.
    pub fn was_away(&self, agent: usize) -> bool {
        self.presence.is_away(agent)
    }

    /// Pass 1: everyone who is there fills its two messages.
    fn send(&mut self, at: Round) {
        let [state, push] = [self.layout.state, self.layout.push].map(|width| width.len(self.d));
        for agent in (0..self.setup.problem.agents()).filter(|&agent| !self.presence.is_away(agent)) {
            let (pull, push) = (self.news.offer(at.k, agent), self.pushes.row_mut(agent, push));
            self.setup.method.send(Round { agent, ..at }, self.states.row_mut(agent, state), pull, push);
        }
    }

    /// Pass 2: messages travel, and everyone who is there mixes what has arrived and steps.
    fn step(&mut self, at: Round) {
        let Setup { method, problem, topology, seed, .. } = self.setup;
        let [state, pull, push] =
            [self.layout.state, self.layout.pull, self.layout.push].map(|width| width.len(self.d));
        let bytes = method.bytes(problem, 0);
        let pair = topology.at(at.k);
        let exchange = Exchange { k: at.k, seed, faults: &self.faults, presence: &self.presence };
        let (pulled, rest) = self.scratch.rows_mut().split_at_mut(stride(pull));
        let (pushed, gradient) = rest.split_at_mut(stride(push));
        let (pulled, pushed) = (&mut pulled[..pull], &mut pushed[..push]);
        for agent in 0..problem.agents() {
            let mut sent = [0; 2];
            if pull > 0 {
                sent[0] = self.news.exchange(&exchange, &pair.pull, agent);
            }
            if push > 0 {
                let mut sum = Sum::new(pushed);
                sent[1] = self.mass.exchange(&exchange, &pair.push, agent, &self.pushes, &mut sum);
                sum.finish();
            }
            self.bytes_sent += sent[0] * bytes[0] as u64 + sent[1] * bytes[1] as u64;
            if self.presence.is_away(agent) {
                continue;
            }
            self.news.mix(at.k, &pair.pull, agent, pulled);
            let at = Round { agent, ..at };
            // state k + 1 takes the samples ξ_{k+1}
            let mut local = Local::new(problem, at, at.k + 1, pair, &mut gradient[..self.d]);
            let row = self.states.row_mut(agent, state);
            method.step(at, row, pulled, pushed, &mut local);
            if let Some(starvation) = &mut self.starvation {
                starvation.look(at.k + 1, agent, row);
            }
        }
    }
}

impl<'a> Engine<'a> for Unreliable<'a> {
    fn setup(&self) -> Setup<'a> {
        self.setup
    }

    /// One round: state k becomes state k + 1. Allocates nothing.
    fn round(&mut self) {
        self.in_flight.take();
        self.presence.enter(self.k);
        let at = self.setup.round(self.k, 0);
        self.send(at);
        self.step(at);
        self.k += 1;
    }

    fn starved(&self) -> Option<u64> {
        self.starvation.as_ref().and_then(Starvation::since)
    }

    fn view(&self) -> View<'_> {
        let in_flight = self.in_flight.get_or_init(|| {
            let mut row = vec![0.0; self.layout.push.len(self.d)];
            let mut sum = Sum::new(&mut row);
            self.mass.on_its_way(&mut sum);
            row
        });
        let bytes_sent = Some(self.bytes_sent);
        View { in_flight, bytes_sent, ..self.setup.view(self.k, self.states.rows()) }
    }
}

/// Whether faults can be, and whether a method can do without some messages on this network; the error says why not.
pub fn check(method: &dyn Method, topology: &Topology, faults: &Faults) -> Result<()> {
    faults.check(topology.agents())?;
    let roles = method.roles();
    let reason = match () {
        () if method.network() == Network::Central => "a centralised method has no links of its own",
        () if method.network() == Network::PullOnly => {
            "a pull-only method needs one π_R for all rounds, and where messages are missing R is another in each"
        }
        () if method.phases() > 1 => "it exchanges several times a round",
        () if method.keeps_copies() => {
            "it keeps copies of its neighbours' state, made of differences: a lost one would spoil them for ever"
        }
        () if sends_a_share(method) => SENT_IN_PART,
        () if method.reliance() != Reliance::Nothing => RELIES_ON_THE_LAST_ROUND,
        () if roles.conserved.is_some() && roles.conserved_sent.is_none() => NOT_SENT_WHOLE,
        () if roles.tracker.is_some() && roles.tracker_sent.is_none() => TRACKERS_NOT_PUSHED,
        () if weights_can_vanish(method, topology) => VANISHING_WEIGHTS,
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
/// Why [`sends_a_share`] matters.
pub(crate) const SENT_IN_PART: &str = "what it conserves is not sent as it is, but compressed with a share γ < 1 of mixing, so that \
     what is on its way cannot be counted: give `gamma = 1` beside `alpha = 0`, which encodes the message itself";
/// Why [`weights_can_vanish`] matters.
pub(crate) const VANISHING_WEIGHTS: &str =
    "it divides by push-sum weights, and one is zero where an agent keeps nothing and nothing arrives";

/// Whether it is something around a method that would send its sums whole, and does not.
pub(crate) fn sends_a_share(method: &dyn Method) -> bool {
    let sent = |method: &dyn Method| {
        let roles = method.roles();
        roles.tracker_sent.is_some() || roles.conserved_sent.is_some()
    };
    !sent(method) && method.inner().is_some_and(sent)
}

/// Whether the method divides by push-sum weights that can be zero: an agent that keeps nothing of its own may hear nothing.
pub(crate) fn weights_can_vanish(method: &dyn Method, topology: &Topology) -> bool {
    let keeps = |mixing: &Mixing| (0..mixing.agents()).all(|i| mixing.weight(i, i) > 0.0);
    method.roles().weight.is_some() && !topology.period().iter().all(|pair| keeps(&pair.push))
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
