//! One agent: the library's calls of a method, with an exchange of rows between them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oneway::engine::Schedule;
use oneway::engine::Turns;
use oneway::method::{Agents, Heard, Hearing, Kept, Kernel, Method, Profile, Round, RowsMut};
use oneway::problem::Problem;

use crate::exchange::{Mixed, exchange};
use crate::link::{Link, LinkError};
use crate::plan::ties::Ties;
use crate::wire::frame::Moment;
use crate::wire::history::{History, Sent};
use crate::wire::rows::Rows;
use crate::wire::{Number, wide};

/// One agent's part of a run: what a [`Setup`](oneway::engine::Setup) is to all agents.
///
/// They are two types because an agent must not need what a `Setup` has. It knows its own links and never the
/// whole network, so there is no topology to check the method against (that was done when the run was
/// planned), and its problem may be its own rows alone.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The method.
    pub method: &'a dyn Method,
    /// The problem. Only this agent's part is used.
    pub problem: &'a dyn Problem,
    /// Who the agent is, and whom it hears.
    pub ties: &'a Ties,
    /// Step sizes.
    pub schedule: Schedule,
    /// Seed of the sampling.
    pub seed: u64,
}

impl Task<'_> {
    fn round(&self, k: u64, phase: u32) -> Round<'_> {
        let Ties { agent, agents, .. } = *self.ties;
        Round {
            k,
            phase,
            turn: 0,
            η: self.schedule.at(k),
            agent,
            agents,
            d: self.problem.dim(),
            seed: self.seed,
            kept: Kept::Share(self.ties.at(k).kept(agent)),
        }
    }

    /// What the method is on this problem.
    pub fn profile(&self) -> Profile {
        self.method.profile_on(self.problem)
    }

    /// The form of its rows.
    pub fn rows(&self) -> Rows {
        let profile = self.profile();
        let [_, pull, push] = profile.widths(self.problem.dim());
        Rows { widths: [pull, push], phases: profile.phases(), wire: profile.wire }
    }

    /// An empty history that keeps this many rounds of a run.
    pub fn history<T: Number>(&self, run: u64, rounds: u64) -> History<T> {
        let profile = self.profile();
        History::new(run, self.ties.clone(), rounds, profile.phases()).coded_by(profile.wire)
    }

    /// The widths of a state row, a pull row and a push row.
    pub fn widths(&self) -> [usize; 3] {
        self.profile().widths(self.problem.dim())
    }
}

/// An agent at state k.
#[derive(Debug)]
pub struct Agent<'a, T: Number = f64> {
    task: Task<'a>,
    kernel: &'a dyn Kernel<T>,
    profile: Profile,
    history: Arc<History<T>>,
    k: u64,
    state: Vec<T>,
    pulled: Vec<T>,
    pushed: Vec<T>,
    /// Room for the row of a neighbour, on each graph.
    heard: [Vec<T>; 2],
    turns: Turns<T>,
    /// Room for a gradient, for [`loss`](Self::loss).
    gradient: Vec<f64>,
    /// Time in the method, gradients included.
    stepping: Duration,
}

impl<'a, T: Number> Agent<'a, T> {
    /// An agent at state 0. What it sends goes into `history` too. Refused if the method has no kernel of
    /// this precision.
    pub fn new(task: Task<'a>, history: Arc<History<T>>) -> oneway::Result<Self> {
        let (profile, d) = (task.profile(), task.problem.dim());
        let kernel = T::kernel(task.method).ok_or(oneway::Error::NoSinglePrecision)?;
        let [state, pull, push] = profile.widths(d);
        let zeros = |width: usize| vec![T::default(); width];
        let mut agent = Self {
            task,
            kernel,
            history,
            k: 0,
            state: zeros(state),
            pulled: zeros(pull),
            pushed: zeros(push),
            heard: [zeros(pull), zeros(push)],
            turns: Turns::new(&profile, 1, d),
            gradient: vec![0.0; d],
            stepping: Duration::ZERO,
            profile,
        };
        let (ask, agents) = (agent.profile.start, Agents::one(task.ties.agent));
        let state = RowsMut::one(&mut agent.state);
        agent.turns.start(kernel, task.problem, ask, task.round(0, 0), agents, state)?;
        Ok(agent)
    }

    /// Goes back to a state that it had before. Refused if the row has another width.
    pub fn resume(&mut self, k: u64, state: &[T]) -> Result<(), String> {
        if state.len() != self.state.len() {
            return Err(format!("a state of {} numbers, not {}", state.len(), self.state.len()));
        }
        self.k = k;
        self.state.copy_from_slice(state);
        Ok(())
    }

    /// Rounds done.
    pub fn k(&self) -> u64 {
        self.k
    }

    /// The time spent in the method so far.
    pub fn stepping(&self) -> Duration {
        self.stepping
    }

    /// Its state row.
    pub fn state(&self) -> &[T] {
        &self.state
    }

    /// f_i at its own estimate. Costs a pass over its data, and changes nothing.
    pub fn loss(&mut self) -> f64 {
        let Task { problem, ties, .. } = self.task;
        problem.exact(ties.agent, &wide(&self.state[..problem.dim()]), &mut self.gradient)
    }

    /// The rows that it sent in the last rounds.
    pub fn history(&self) -> &History<T> {
        &self.history
    }

    /// One round: state k becomes state k + 1. After an error the state belongs to no round: resume from a
    /// checkpoint.
    pub fn round(&mut self, link: &mut dyn Link<T>) -> Result<(), LinkError> {
        let Task { problem, ties, .. } = self.task;
        let (task, kernel) = (self.task, self.kernel);
        for phase in 0..self.profile.phases() {
            let at = task.round(self.k, phase);
            let moment = Moment { round: self.k, phase };
            let [mut pull, mut push] = self.history.buffers(moment, [self.pulled.len(), self.pushed.len()]);
            let began = Instant::now();
            kernel.send(at, &mut self.state, &mut pull, &mut push);
            self.stepping += began.elapsed();
            let (pull, push) = (Arc::new(pull), Arc::new(push));
            self.history.keep(Sent { at: moment, pull: Arc::clone(&pull), push: Arc::clone(&push) });
            let sends = self.profile.sent(phase).map(|width| !width.is_empty());
            let mixed = Mixed { pulled: &mut self.pulled, pushed: &mut self.pushed, heard: &mut self.heard };
            exchange(link, ties, moment, sends, [&pull, &push], mixed)?;

            let began = Instant::now();
            let agents = Agents::one(ties.agent);
            self.turns.prepare(problem, at, at.k + 1, agents); // ξ_{k+1}
            let Self { state, pulled, pushed, .. } = self;
            let mut heard = Hearing::one(ties.agent, Heard { state, pulled, pushed });
            let exchange = &self.profile.exchanges[phase as usize];
            let stepped = self.turns.finish(kernel, problem, exchange, at, &mut heard);
            stepped.map_err(|error| LinkError::Gradient(error.to_string()))?;
            self.stepping += began.elapsed();
        }
        self.k += 1;
        Ok(())
    }
}
