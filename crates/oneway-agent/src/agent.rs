//! One agent: the library's calls of a method, with `put` and `get` between them.
//!
//! The bits are the simulator's, because every number is made by the same operations in the same order. On pull edges the raw row
//! travels and the receiver multiplies by R_ij; on push edges the sender multiplies by its C_ij and the receiver adds (of a row that is
//! encoded the code travels with C_ij, and the product is the receiver's: the same two numbers, the same bits). Sums go by
//! ascending sender, the agent itself in its place, the first term assigned, multiply then add, never fused.

use std::sync::Arc;
use std::time::{Duration, Instant};

use oneway::engine::Schedule;
use oneway::engine::Turns;
use oneway::method::{Agents, Heard, Hearing, Kept, Method, Profile, Round, RowsMut};
use oneway::numeric::Precision;
use oneway::numeric::row::Sum;
use oneway::problem::Problem;

use crate::frame::{Graph, Moment};
use crate::history::{History, Sent};
use crate::link::{Link, LinkError};
use crate::rows::Rows;
use crate::ties::Ties;

/// What one agent is to do: its part of a run.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a> {
    /// The method.
    pub method: &'a dyn Method,
    /// The problem, of which only this agent's part is asked.
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

    /// What its rows are like.
    pub fn rows(&self) -> Rows {
        let profile = self.profile();
        let [_, pull, push] = profile.widths(self.problem.dim());
        Rows { widths: [pull, push], phases: profile.phases(), wire: profile.wire }
    }

    /// An empty history of so many rounds of a run.
    pub fn history(&self, run: u64, rounds: u64) -> History {
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
pub struct Agent<'a> {
    task: Task<'a>,
    profile: Profile,
    history: Arc<History>,
    k: u64,
    state: Vec<f64>,
    pulled: Vec<f64>,
    pushed: Vec<f64>,
    /// A row on its way in, on either graph.
    heard: [Vec<f64>; 2],
    turns: Turns,
    /// Room for the gradient of a loss that is asked for.
    gradient: Vec<f64>,
    /// Time in the method, gradients included.
    stepping: Duration,
}

impl<'a> Agent<'a> {
    /// An agent at state 0. What it sends goes into `history` too.
    pub fn new(task: Task<'a>, history: Arc<History>) -> oneway::Result<Self> {
        let (profile, d) = (task.profile(), task.problem.dim());
        let [state, pull, push] = profile.widths(d);
        let zeros = |width: usize| vec![0.0; width];
        let mut agent = Self {
            task,
            history,
            k: 0,
            state: zeros(state),
            pulled: zeros(pull),
            pushed: zeros(push),
            heard: [zeros(pull), zeros(push)],
            turns: Turns::new(&profile, 1, d),
            gradient: zeros(d),
            stepping: Duration::ZERO,
            profile,
        };
        let (ask, agents) = (agent.profile.start, Agents::one(task.ties.agent));
        let state = RowsMut::one(&mut agent.state);
        agent.turns.start(task.method, task.problem, ask, task.round(0, 0), agents, state)?;
        Ok(agent)
    }

    /// Puts it into a state that it had before; refused if the row is of another width.
    pub fn resume(&mut self, k: u64, state: &[f64]) -> Result<(), String> {
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

    /// The time that it has spent in the method.
    pub fn stepping(&self) -> Duration {
        self.stepping
    }

    /// Its state row.
    pub fn state(&self) -> &[f64] {
        &self.state
    }

    /// f_i at its own estimate. Costs a pass over its data, and changes nothing.
    pub fn loss(&mut self) -> f64 {
        let Task { problem, ties, .. } = self.task;
        problem.exact(ties.agent, &self.state[..problem.dim()], &mut self.gradient)
    }

    /// What it has sent lately.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// One round: state k becomes state k + 1. After an error the state is that of no round: go on from a checkpoint.
    pub fn round(&mut self, link: &mut dyn Link) -> Result<(), LinkError> {
        let Task { method, problem, ties, .. } = self.task;
        let task = self.task;
        for phase in 0..self.profile.phases() {
            let at = task.round(self.k, phase);
            let moment = Moment { round: self.k, phase };
            let [mut pull, mut push] = self.history.buffers(moment, [self.pulled.len(), self.pushed.len()]);
            let began = Instant::now();
            method.send(at, &mut self.state, &mut pull, &mut push);
            self.stepping += began.elapsed();
            let (pull, push) = (Arc::new(pull), Arc::new(push));
            self.history.keep(Sent { at: moment, pull: Arc::clone(&pull), push: Arc::clone(&push) });
            let [pull_bytes, push_bytes] = self.profile.bytes(phase, problem.dim(), Precision::F64);
            let links = ties.at(self.k);
            for (graph, bytes) in [(Graph::Pull, pull_bytes), (Graph::Push, push_bytes)] {
                for (to, _) in links.receivers(graph).filter(|(to, _)| *to != ties.agent && bytes > 0) {
                    link.put(to, graph, moment)?;
                }
            }

            let mut heard = Listener { link, own: ties.agent, at: moment, rows: &mut self.heard };
            let weights = links.pulls.iter().map(|&(from, weight)| (from, Some(weight)));
            heard.sum(Graph::Pull, weights, &pull, &mut self.pulled, pull_bytes > 0)?; // Σ_j R_ij·x_j
            let own = links.pushes.iter().find(|(to, _)| *to == ties.agent).map(|(_, weight)| *weight);
            let weights = links.pushed_by.iter().map(|&from| (from, own.filter(|_| from == ties.agent)));
            heard.sum(Graph::Push, weights, &push, &mut self.pushed, push_bytes > 0)?; // Σ_j C_ij·v_j

            let began = Instant::now();
            let agents = Agents::one(ties.agent);
            self.turns.prepare(problem, at, at.k + 1, agents); // ξ_{k+1}
            let Self { state, pulled, pushed, .. } = self;
            let mut heard = Hearing::one(ties.agent, Heard { state, pulled, pushed });
            let exchange = &self.profile.exchanges[phase as usize];
            let stepped = self.turns.finish(method, problem, exchange, at, &mut heard);
            stepped.map_err(|error| LinkError::Gradient(error.to_string()))?;
            self.stepping += began.elapsed();
        }
        self.k += 1;
        Ok(())
    }
}

/// Rows as they are heard, one by one.
struct Listener<'l, 'r> {
    link: &'l mut dyn Link,
    own: usize,
    at: Moment,
    rows: &'r mut [Vec<f64>; 2],
}

impl Listener<'_, '_> {
    /// `out` = Σ_j weight_j·row_j by ascending sender; what comes without a weight was multiplied by its sender.
    fn sum(
        &mut self,
        graph: Graph,
        senders: impl Iterator<Item = (usize, Option<f64>)>,
        own: &[f64],
        out: &mut [f64],
        sent: bool,
    ) -> Result<(), LinkError> {
        let mut sum = Sum::new(out);
        for (from, weight) in senders {
            let row: &[f64] = if from == self.own {
                own
            } else if sent {
                let row = &mut self.rows[graph as usize];
                self.link.get(from, graph, self.at, row)?;
                row
            } else {
                continue; // a row that nobody looks at in this phase
            };
            match weight {
                Some(weight) => sum.add(weight, row),
                None => sum.add_product(row),
            }
        }
        sum.finish(); // a push row may hear no one, not even itself
        Ok(())
    }
}
