//! What every engine does: it turns state k into state k + 1, and shows it to observers.
//!
//! The [`Simulator`] runs rounds on a network that never fails. Other engines make the same
//! calls of a method on networks that do.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use sha2::{Digest, Sha256};

pub mod asynchronous;
mod inner;
pub mod metrics;
pub mod observe;
pub mod part;
pub mod record;
pub mod schedule;
pub mod simulator;
mod starvation;
mod step;
mod sums;
mod turns;
pub mod unreliable;

pub use part::Part;
pub use schedule::Schedule;
pub use simulator::Simulator;
pub use turns::Turns;

use crate::engine::observe::{Observer, View};
use crate::graph::Topology;
use crate::method::{Kept, Method, Profile, Reliance, Round};
use crate::numeric::{Float, Precision};
use crate::problem::Problem;
use crate::{Error, Result};

/// A state with a number beyond this (or not finite) has diverged: its square is about to overflow.
const DIVERGED_BEYOND: f64 = 1e150;

/// What to run: the pure function's arguments.
#[derive(Debug, Clone, Copy)]
pub struct Setup<'a> {
    /// The method.
    pub method: &'a dyn Method,
    /// The problem.
    pub problem: &'a dyn Problem,
    /// The network.
    pub topology: &'a Topology,
    /// Step sizes, already divided by c_π where they were given as effective.
    pub schedule: Schedule,
    /// Seed of the sampling.
    pub seed: u64,
}

impl<'a> Setup<'a> {
    /// Whether method, problem and network go together; what the method is on this problem if they do.
    pub fn check(&self) -> Result<Profile> {
        let (n, d) = (self.problem.agents(), self.problem.dim());
        if self.topology.agents() != n {
            return Err(Error::Mismatch {
                left: "problem",
                left_size: n,
                right: "topology",
                right_size: self.topology.agents(),
                unit: "agents",
            });
        }
        let profile = self.method.profile_on(self.problem);
        self.topology.check(profile.network)?;
        let rounds = self.topology.period().len();
        if rounds > 1 && profile.keeps_copies {
            return Err(Error::CopiesGoStale { rounds });
        }
        if rounds > 1 && profile.reliance != Reliance::Nothing {
            return Err(Error::WeightsChange { rounds });
        }
        self.method.check(self.problem, self.topology)?;
        let numbers = n.checked_mul(profile.state.len(d)).filter(|numbers| *numbers < 1 << 40);
        if numbers.is_none() {
            let expected = "the states of all agents would not fit into any memory";
            return Err(Error::parameter("run", "agents × dim", format!("{n} × {d}"), expected));
        }
        Ok(profile)
    }

    /// The exchange `phase` of the round that turns state k into state k + 1.
    pub fn round(&self, k: u64, phase: u32) -> Round<'a> {
        Round {
            k,
            phase,
            turn: 0,
            η: self.schedule.at(k),
            agent: 0,
            agents: self.problem.agents(),
            d: self.problem.dim(),
            seed: self.seed,
            kept: Kept::Diagonal(&self.topology.at(k).push),
        }
    }

    /// What observers see of a state.
    pub(crate) fn view<'v>(&self, k: u64, profile: &'v Profile, states: &'v [f64]) -> View<'v>
    where
        'a: 'v,
    {
        let Setup { method, problem, topology, .. } = *self;
        View {
            k,
            method,
            problem,
            topology,
            states,
            profile,
            d: problem.dim(),
            in_flight: &[],
            bytes_sent: None,
            time: None,
            precision: Precision::F64,
            steps: &[],
        }
    }
}

/// How a run ended. Divergence is an outcome, not an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// All rounds were done.
    Completed,
    /// The state was beyond all bounds when it was next looked at.
    Diverged {
        /// Rounds done when it was noticed.
        round: u64,
    },
    /// All rounds were done, but an agent was cut off from the weight that push-sum divides by: its share of
    /// it fell below a thousandth of what it should be, and its steps were that much too long. Such a run may
    /// have been anywhere.
    Starved {
        /// Rounds done when it first happened.
        round: u64,
    },
    /// An observer asked to stop.
    Stopped {
        /// Rounds done.
        round: u64,
    },
    /// A gradient could not be made.
    Failed {
        /// Rounds done before the one that failed.
        round: u64,
        /// What the problem said.
        reason: String,
    },
}

/// How a run ended and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// How it ended.
    pub status: Status,
    /// Time in rounds; the clock stops while observers look.
    pub stepping: Duration,
    /// Time in observers.
    pub observing: Duration,
}

/// All agents of one run, and the network between them.
pub trait Engine<'a> {
    /// What is run.
    fn setup(&self) -> Setup<'a>;

    /// One round: state k becomes state k + 1. An error is a gradient that could not be made; the state is
    /// then that of no round.
    fn round(&mut self) -> Result<()>;

    /// Waits until all rounds are done that were begun, where an engine works ahead of its caller. An error is
    /// one of theirs.
    fn settle(&mut self) -> Result<()> {
        Ok(())
    }

    /// The state as it is now.
    fn view(&self) -> View<'_>;

    /// Rounds done: the state is state k.
    fn rounds_done(&self) -> u64 {
        self.view().k
    }

    /// Whether the state is within all bounds; see [`is_sound`].
    fn is_sound(&mut self) -> Result<bool> {
        Ok(is_sound(self.view().states))
    }

    /// The round after which an agent first had next to none of the weight that push-sum divides by; see
    /// [`Status::Starved`].
    fn starved(&self) -> Option<u64> {
        None
    }

    /// The same, to go on from a state that was kept, where the states are all that it depends on.
    fn resumable(&mut self) -> Option<&mut dyn Resumable> {
        None
    }

    /// Runs until `rounds` rounds are done, showing the observer state 0, every `every`-th and the last.
    fn run(&mut self, rounds: u64, every: u64, observer: &mut dyn Observer) -> Result<Outcome> {
        let every = every.max(1);
        let (mut stepping, mut observing) = (Duration::ZERO, Duration::ZERO);
        let mut began = Instant::now();
        let mut lap = || {
            let now = Instant::now();
            now - std::mem::replace(&mut began, now)
        };
        let status = loop {
            let k = self.rounds_done();
            match self.is_sound() {
                Ok(true) => {}
                Ok(false) => break Status::Diverged { round: k },
                Err(error) => break Status::Failed { round: k, reason: error.to_string() },
            }
            let flow = match observer.looks_at(k) {
                true => observer.observe(&self.view())?,
                false => observer.reached(k),
            };
            if let Err(error) = self.settle() {
                break Status::Failed { round: k, reason: error.to_string() }; // it could not be shown
            }
            observing += lap();
            if k >= rounds {
                break self.starved().map_or(Status::Completed, |round| Status::Starved { round });
            }
            if flow == ControlFlow::Break(()) {
                break Status::Stopped { round: k };
            }
            let next = (k - k % every).saturating_add(every).min(rounds);
            let failed = (k..next).find_map(|k| self.round().err().map(|error| (k, error)));
            let failed = failed.or_else(|| self.settle().err().map(|error| (next, error)));
            stepping += lap();
            if let Some((round, error)) = failed {
                break Status::Failed { round, reason: error.to_string() };
            }
        };
        Ok(Outcome { status, stepping, observing })
    }

    /// The [hash](hash_states) of all agents' states.
    fn state_hash(&self) -> String {
        let view = self.view();
        hash_states(view.precision, (0..view.agents()).flat_map(|i| view.state(i)).copied())
    }
}

/// SHA-256 of all agents' states, agents ascending, as little-endian bits of their numbers. All NaNs count as
/// one. In single precision the bits are those of `f32`, and the hash begins with `f32:`.
pub fn hash_states(precision: Precision, states: impl Iterator<Item = f64>) -> String {
    let mut hasher = Sha256::new();
    let mut add = |bytes: &[u8]| hasher.update(bytes);
    for x in states {
        match precision {
            Precision::F64 => x.hash_bytes(&mut add),
            Precision::F32 => (x as f32).hash_bytes(&mut add),
        }
    }
    let prefix = if precision == Precision::F32 { "f32:" } else { "" };
    let digest = hasher.finalize();
    prefix
        .chars()
        .chain(digest.iter().flat_map(|byte| format!("{byte:02x}").into_bytes()).map(char::from))
        .collect()
}

/// An engine that can go on from a state.
pub trait Resumable {
    /// Goes on from state k, which was reached before: `fill(agent, row)` writes what
    /// [`View::state`] showed of it.
    fn resume_at(&mut self, k: u64, fill: &mut dyn FnMut(usize, &mut [f64]));
}

/// Whether states are within all bounds: none of their numbers is beyond 10¹⁵⁰, or NaN. Engines end a run
/// whose states are not.
///
/// ```
/// use oneway::engine::is_sound;
/// assert!(is_sound(&[0.0, -1e150]) && !is_sound(&[0.0, 1e151]) && !is_sound(&[f64::NAN]));
/// ```
pub fn is_sound(states: &[f64]) -> bool {
    // whole blocks rather than number by number, so that vectors look; NaN is not ≤ anything
    let sound = |block: &[f64]| block.iter().fold(true, |sound, x| sound & (x.abs() <= DIVERGED_BEYOND));
    states.chunks(1024).all(sound)
}
