//! Asynchrony: no rounds, no waiting. Each agent steps at its own speed, and messages take time or are lost.
//!
//! Time is virtual, and its unit is the mean step of a nominal agent ([`Clock`]). An agent that wakes takes
//! in what has arrived, steps, sends, and goes on at once. It makes the same calls of a method as the
//! [`Simulator`](crate::engine::Simulator), with its own count of steps for k: its k-th step has step size
//! η_k and the samples ξ_{k+1}, whatever the time is. An agent knows its own count and no other clock.
//!
//! - **Pull.** The newest row that has arrived from each in-neighbour counts: x⁺ = Σ_j R_ij pull_j(newest).
//!   An agent that has heard nothing from j yet puts its own row in j's place. That keeps the weights' sum at
//!   1, where leaving j out would ask for a division, and for something else altogether where j is all that
//!   an agent hears, as on trees.
//! - **Push.** On each link the sender keeps the running sum ρ = Σ C_ij push_j of all it has ever sent, and
//!   the receiver ρ̃ of all it has taken in; a message brings ρ, and ρ − ρ̃ is new. A message that is lost or
//!   overtaken is made good by the next one, and mass is conserved at every moment: Σ of what agents hold +
//!   on its way = what it must be. The sums are kept here as the rows of which they are made: ρ − ρ̃ is then
//!   added up without a rounding error of the size of ρ, and where every message is taken in by itself the
//!   bits are those of a synchronous round. An agent's own share C_ii push_i stays with it.
//!
//! R-FAST (Zhu et al. 2024) is made for this engine. Others run here as they are, if nothing that they rest
//! on is broken by rows of different ages; those whose memory presumes one round for all are refused, with
//! the reason ([`Asynchronous::check`]).
//!
//! **Order.** A wake at time t takes in what has arrived *before* t. So wakes of one moment do not see each
//! other, and with [`Clock::EVEN`] all agents wake at 1, 2, …, each takes in what the others sent at the wake
//! before, and every state has the bits of the simulator. All times are draws by counter, so that a run is a
//! pure function of (experiment, seed); it is done on one thread. A [`Log`] of the arrivals replays it
//! without a clock.

mod clock;
mod log;
mod outbox;
mod source;
mod synchronous;
mod wires;

pub use clock::{Clock, Times};
pub use log::Log;
pub use synchronous::Synchronous;

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::engine::observe::View;
use crate::engine::starvation::Starvation;
use crate::engine::unreliable;
use crate::engine::{Engine, Setup, Turns};
use crate::method::{Agents, Hearing, Network, Profile, Reliance, Round, Rows, RowsMut};
use crate::numeric::Precision;
use crate::numeric::matrix::{Matrix, stride};
use crate::numeric::row::Sum;
use crate::numeric::sample::Purpose;
use crate::numeric::vectors::widest;
use crate::{Error, Result};

use log::{Tape, fingerprint, put_number};
use outbox::Outbox;
use source::Source;
use wires::{Wire, Wires};

/// All agents of an asynchronous run. A round of this [`Engine`] is one unit of virtual time.
///
/// ```
/// use oneway::{methods::PUSH_PULL, problems::{Quadratic, QuadraticShape}, engine::Schedule, graph::Topology};
/// use oneway::engine::asynchronous::{Asynchronous, Clock, Times};
/// use oneway::engine::{Engine, Setup};
///
/// # fn main() -> oneway::Result<()> {
/// let shape = QuadraticShape { dim: 3, curvature: [1.0, 1.0], heterogeneity: 1.0, noise: 0.0 };
/// let problem = Quadratic::new(shape, 4, 1)?;
/// let topology = Topology::complete(4)?;
/// let schedule = Schedule::constant(0.1)?;
/// let setup = Setup { method: &PUSH_PULL, problem: &problem, topology: &topology, schedule, seed: 1 };
/// let clock = Clock { step: Times::Exponential, latency: 0.5, loss: 0.3, ..Clock::EVEN };
/// let mut engine = Asynchronous::new(setup, clock)?;
/// (0..1000).try_for_each(|_| engine.round())?;
/// let far = engine.view().estimate(2).iter().zip(problem.minimiser()).any(|(x, y)| (x - y).abs() > 1e-9);
/// assert!(!far);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Asynchronous<'a> {
    setup: Setup<'a>,
    profile: Profile,
    d: usize,
    /// Whole units of time that have passed.
    units: u64,
    /// One row an agent, as its last step has left it: what observers see, as in a round.
    states: Matrix,
    /// The same as sending has left it, where its next step begins: a method may note what it has sent.
    sent: Matrix,
    /// What each has sent: its newest message has the number of its steps.
    outboxes: Vec<Outbox>,
    /// The pull graph and the push graph.
    graphs: [Wires; 2],
    times: Source,
    /// A mixed pull row, a mixed push row.
    scratch: [Vec<f64>; 2],
    turns: Turns,
    wakes: u64,
    /// Steps of each agent: what its newest message is numbered by.
    steps: Vec<u64>,
    bytes: u64,
    /// The wakes so far, if they are logged.
    logged: Option<Vec<u8>>,
    starvation: Option<Starvation>,
    /// Σ of the push rows on their way, once someone has looked.
    in_flight: OnceCell<Vec<f64>>,
}

impl<'a> Asynchronous<'a> {
    /// Sets up all agents at time 0, when each sends its first message.
    ///
    /// Refused are methods with several exchanges a round, with copies of their neighbours' state, or with a
    /// memory of what a round did to everyone's messages; pull-only and centralised ones; and networks that
    /// change with the round: there are no rounds.
    pub fn new(setup: Setup<'a>, clock: Clock) -> Result<Self> {
        clock.check()?;
        let n = setup.problem.agents();
        let paces = clock.paces(setup.seed, n);
        Self::with(setup, Source::Drawn { clock, paces, due: BinaryHeap::with_capacity(n) })
    }

    /// The same, and keeps a log of arrivals.
    pub fn logging(setup: Setup<'a>, clock: Clock) -> Result<Self> {
        Ok(Self { logged: Some(vec![]), ..Self::new(setup, clock)? })
    }

    /// Whether method and network can do without rounds; the error says why not.
    pub fn check(setup: &Setup<'_>) -> Result<()> {
        let profile = setup.method.profile_on(setup.problem);
        let (roles, pushes) = (profile.roles, !profile.push.is_empty());
        let reason = match () {
            () if profile.network == Network::Central => "a centralised method waits for everyone",
            () if profile.network == Network::PullOnly => {
                "a pull-only method needs one π_R for all steps, and an agent that mixes rows of different ages has another each time"
            }
            () if profile.phases() > 1 => {
                "the method has several exchanges a round, and no agent waits for another"
            }
            () if profile.keeps_copies => {
                "the method keeps copies of its neighbours' state, made of differences: a message that is lost or \
overtaken would spoil them"
            }
            () if profile.sends_a_share => unreliable::SENT_IN_PART,
            () if profile.reliance != Reliance::Nothing => unreliable::RELIES_ON_THE_LAST_ROUND,
            () if roles.conserved.is_some() && roles.conserved_sent.is_none() => unreliable::NOT_SENT_WHOLE,
            () if roles.tracker.is_some() && roles.tracker_sent.is_none() => match pushes {
                true => unreliable::NOT_SENT_WHOLE,
                false => unreliable::TRACKERS_NOT_PUSHED,
            },
            () if unreliable::weights_can_vanish(&profile, setup.topology) => unreliable::VANISHING_WEIGHTS,
            () if setup.topology.period().len() > 1 => {
                "the network changes with the round, and agents are not in the same round"
            }
            () => return Ok(()),
        };
        Err(Error::NotAsynchronous(reason.to_owned()))
    }

    /// Does a run again from its log, to the same bits. A log of another run is refused, and one that cannot
    /// be.
    ///
    /// Nothing wakes after the end of the log.
    pub fn replay(setup: Setup<'a>, log: &Log) -> Result<Self> {
        let engine = Self::with(setup, Source::Logged(Tape::new(log.tape.clone())))?;
        log.check(&setup, engine.fresh_graphs())?;
        Ok(engine)
    }

    fn with(setup: Setup<'a>, times: Source) -> Result<Self> {
        Self::check(&setup)?;
        let profile = setup.check()?;
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        let [state, pull, push] = profile.widths(d);
        let mut engine = Self {
            setup,
            d,
            units: 0,
            states: Matrix::new(n, state),
            sent: Matrix::new(n, state),
            outboxes: (0..n).map(|_| Outbox::new([pull, push])).collect(),
            graphs: graphs(&setup, [pull, push]),
            times,
            scratch: [pull, push].map(|width| vec![0.0; width]),
            turns: Turns::new(&profile, 1, d),
            wakes: 0,
            steps: vec![0; n],
            bytes: 0,
            logged: None,
            starvation: Starvation::new(&setup, &profile)?,
            in_flight: OnceCell::new(),
            profile,
        };
        let (agents, ask) = (Agents::Range { first: 0, len: n }, engine.profile.start);
        let states = RowsMut::new(engine.sent.rows_mut(), state, stride(state));
        Turns::new(&engine.profile, n, d).start(
            setup.method,
            setup.problem,
            ask,
            setup.round(0, 0),
            agents,
            states,
        )?;
        (0..n).for_each(|i| engine.send(i, 0, 0.0));
        Ok(engine)
    }

    fn fresh_graphs(&self) -> [Wires; 2] {
        let [_, pull, push] = self.profile.widths(self.d);
        graphs(&self.setup, [pull, push])
    }

    /// The log so far, if one is kept.
    pub fn log(&self) -> Option<Log> {
        let state = self.state_hash();
        let byte = |at: usize| u8::from_str_radix(state.get(2 * at..2 * at + 2)?, 16).ok();
        Some(Log {
            fingerprint: fingerprint(&self.setup),
            label: String::new(),
            units: self.units,
            wakes: self.wakes,
            tape: self.logged.clone()?,
            state: std::array::from_fn(|at| byte(at).unwrap_or(0)),
        })
    }

    /// Steps that all agents have done together.
    pub fn wakes(&self) -> u64 {
        self.wakes
    }

    /// Steps that agent i has done.
    pub fn steps(&self, i: usize) -> u64 {
        self.steps[i]
    }

    /// Agent i wakes: it takes in what has arrived, steps, sends, and goes on.
    fn wake(&mut self, i: usize, time: f64) -> Result<()> {
        if let Some(log) = &mut self.logged {
            put_number(log, i as u64);
            log.extend(time.to_le_bytes());
        }
        for wire in self.graphs.iter_mut().flat_map(|graph| graph.heard_by_mut(i)) {
            match &mut self.times {
                Source::Drawn { .. } => wire.take_in(time),
                Source::Logged(tape) => wire.take_in_more(tape.number().unwrap_or(0)),
            }
            if let Some(log) = &mut self.logged {
                put_number(log, wire.taken - wire.before);
            }
        }

        let Setup { method, problem, .. } = self.setup;
        let k = self.steps(i);
        let [pulled, pushed] = &mut self.scratch;
        let outboxes = &self.outboxes;
        widest(
            #[inline(always)]
            || {
                pull(self.graphs[0].heard_by(i), outboxes, pulled);
                push(self.graphs[1].heard_by(i), outboxes, pushed);
            },
        );
        let at = Round { agent: i, ..self.setup.round(k, 0) };
        let width = self.profile.state.len(self.d);
        self.turns.prepare(problem, at, k + 1, Agents::one(i)); // its state k + 1 takes the samples ξ_{k+1}
        let mut heard = Hearing {
            agents: Agents::one(i),
            first: i,
            states: RowsMut::one(self.sent.row_mut(i, width)),
            pulled: Rows::one(pulled),
            pushed: Rows::one(pushed),
        };
        self.turns.finish(method, problem, &self.profile.exchanges[0], at, &mut heard)?;
        let state = self.sent.row(i, width);
        if let Some(starvation) = &mut self.starvation {
            starvation.look(self.units, i, state);
        }

        // what it sent before is counted now, as in a round: the message that leaves now belongs to its next
        // step
        let links = |graph: &Wires| graph.out_of(i).len();
        let bytes = self.profile.bytes(0, self.d, Precision::F64);
        self.bytes += (links(&self.graphs[0]) * bytes[0] + links(&self.graphs[1]) * bytes[1]) as u64;
        self.wakes += 1;
        self.steps[i] = k + 1;
        self.send(i, k + 1, time);
        Ok(())
    }

    /// Agent i sends message `number` at `time`, and sets its alarm.
    fn send(&mut self, i: usize, number: u64, time: f64) {
        let Setup { method, seed, .. } = self.setup;
        let [pulls, pushes] = &self.graphs;
        let wanted = || {
            let held = pulls.out_of(i).map(|wire| wire.taken.saturating_sub(1));
            let missing = pushes.out_of(i).map(|wire| wire.taken);
            held.chain(missing).fold(number - 1, u64::min)
        };
        let (pull, push) = self.outboxes[i].next(wanted);
        let width = self.profile.state.len(self.d);
        let state = self.sent.row_mut(i, width);
        self.states.row_mut(i, width).copy_from_slice(state);
        method.send(Round { agent: i, ..self.setup.round(number, 0) }, state, pull, push);

        if let Source::Drawn { clock, paces, due } = &mut self.times {
            self.graphs.iter_mut().for_each(|graph| graph.send(clock, seed, i, number, time));
            let next = (time + paces[i] * clock.step_time(seed, i, number)).max(time.next_up());
            due.push(Reverse((next.to_bits(), i as u32)));
        }
    }

    /// Σ over links of C_ij push_j, sent and not yet taken in, less what an agent's state still shows
    /// although it has left: its newest message. So Σ tracker + this = Σ tracked at every moment.
    fn on_its_way(&self) -> Vec<f64> {
        let mut sum = vec![0.0; self.profile.push.len(self.d)];
        for wire in self.graphs[1].all().iter().filter(|wire| !wire.is_own()) {
            let outbox = &self.outboxes[wire.from as usize];
            let mut add = |weight: f64, number| {
                sum.iter_mut().zip(outbox.push(number)).for_each(|(sum, x)| *sum += weight * x);
            };
            match wire.taken {
                taken if taken > outbox.newest() => add(-wire.weight, outbox.newest()),
                taken => (taken..outbox.newest()).for_each(|number| add(wire.weight, number)),
            }
        }
        sum
    }
}

/// R and C as wires, nothing on them yet.
fn graphs(setup: &Setup<'_>, [pull, push]: [usize; 2]) -> [Wires; 2] {
    let pair = setup.topology.at(0);
    [Wires::new(&pair.pull, Purpose::PullJourney, pull), Wires::new(&pair.push, Purpose::PushJourney, push)]
}

/// Σ_j R_ij pull_j(newest), senders ascending; one's own row for those not heard yet.
#[inline(always)]
fn pull(wires: &[Wire], outboxes: &[Outbox], out: &mut [f64]) {
    let mut sum = Sum::new(out);
    for wire in wires {
        let own = &outboxes[wire.to as usize];
        let row = match wire.taken.checked_sub(1) {
            Some(newest) if !wire.is_own() => outboxes[wire.from as usize].pull(newest),
            _ => own.pull(own.newest()),
        };
        sum.add(wire.weight, row);
    }
    sum.finish();
}

/// Σ_j (ρ_ij − ρ̃_ij), senders ascending, with one's own share C_ii push_i in its place.
#[inline(always)]
fn push(wires: &[Wire], outboxes: &[Outbox], out: &mut [f64]) {
    let mut sum = Sum::new(out);
    for wire in wires {
        let outbox = &outboxes[wire.from as usize];
        let new = if wire.is_own() { outbox.newest()..outbox.newest() + 1 } else { wire.new_messages() };
        new.for_each(|number| sum.add(wire.weight, outbox.push(number)));
    }
    sum.finish();
}

impl<'a> Engine<'a> for Asynchronous<'a> {
    fn setup(&self) -> Setup<'a> {
        self.setup
    }

    /// One unit of virtual time: all wakes in it, in the order of time and, at one moment, of agents.
    fn round(&mut self) -> Result<()> {
        self.in_flight.take();
        self.units += 1;
        while let Some((i, time)) = self.times.wake_until(self.units as f64) {
            self.wake(i, time)?;
        }
        Ok(())
    }

    fn starved(&self) -> Option<u64> {
        self.starvation.as_ref().and_then(Starvation::since)
    }

    fn view(&self) -> View<'_> {
        View {
            in_flight: self.in_flight.get_or_init(|| self.on_its_way()),
            time: Some(self.units as f64),
            bytes_sent: Some(self.bytes),
            steps: &self.steps,
            ..self.setup.view(self.units, &self.profile, self.states.rows())
        }
    }
}

#[cfg(test)]
mod tests;
