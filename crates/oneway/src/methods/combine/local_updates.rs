//! Local updates: several steps between exchanges.
//!
//! After the step that follows an exchange, an agent makes Q − 1 rounds with itself: it sends, and its own rows are handed back,
//! as if R = C = I. Each takes fresh samples. A tracker's law stays: with oneself alone v⁺ = v + m⁺ − m, so Σv = Σm as before; and
//! where all agree on x* with v = 0, a local round changes nothing, so trackers still find x*.

use super::{split_rows, with_rows_behind};
use crate::method::{Layout, Local, Method, Network, Roles, Round};
use crate::problem::Problem;
use crate::{Error, Result};

/// Any method with Q steps for each exchange; Q = 1 is the method itself, bit for bit.
///
/// The state is the inner method's, and for Q > 1 the two rows that an agent sends to itself.
#[derive(Debug)]
pub struct LocalUpdates {
    inner: Box<dyn Method>,
    steps: usize,
}

impl LocalUpdates {
    /// Q ≥ 1 steps for each exchange; `owner` is who is named in errors.
    pub fn new(owner: &str, inner: Box<dyn Method>, steps: usize) -> Result<Self> {
        let refuse = |expected: &str| Err(Error::parameter(owner, "local_steps", steps, expected));
        match steps {
            1 => {}
            2..=MOST if inner.network() == Network::Central => {
                return refuse("a centralised method steps with the mean of all gradients only");
            }
            2..=MOST if inner.keeps_copies() => {
                return refuse("compress what makes local steps, not the other way round");
            }
            2..=MOST => {}
            _ => return refuse("there are 1 to 100000 steps for each exchange"),
        }
        Ok(Self { inner, steps })
    }
}

/// Steps for each exchange, at most.
const MOST: usize = 100_000;

impl Method for LocalUpdates {
    fn layout(&self, problem: &dyn Problem) -> Layout {
        let inner = self.inner.layout(problem);
        match self.steps {
            1 => inner,
            _ => Layout { state: with_rows_behind(inner, problem.dim()), ..inner },
        }
    }

    fn network(&self) -> Network {
        self.inner.network()
    }

    fn roles(&self) -> Roles {
        self.inner.roles()
    }

    fn check(&self, problem: &dyn Problem) -> Result<()> {
        self.inner.check(problem)
    }

    fn phases(&self) -> u32 {
        self.inner.phases()
    }

    fn keeps_copies(&self) -> bool {
        self.inner.keeps_copies()
    }

    fn bytes(&self, problem: &dyn Problem, phase: u32) -> [usize; 2] {
        self.inner.bytes(problem, phase)
    }

    fn init(&self, state: &mut [f64], local: &mut Local<'_>) {
        let inner = self.inner.layout(local.problem()).state.len(local.problem().dim());
        let (inner, rows) = state.split_at_mut(inner);
        self.inner.init(inner, local);
        rows.fill(0.0);
    }

    fn send(&self, at: Round, state: &mut [f64], pull: &mut [f64], push: &mut [f64]) {
        match self.steps {
            1 => self.inner.send(at, state, pull, push),
            _ => {
                let (inner, _) = split_rows(state, [pull.len(), push.len()]);
                self.inner.send(at, inner, pull, push);
            }
        }
    }

    fn step(&self, at: Round, state: &mut [f64], pulled: &[f64], pushed: &[f64], local: &mut Local<'_>) {
        if self.steps == 1 {
            return self.inner.step(at, state, pulled, pushed, local);
        }
        let (inner, [own_pull, own_push]) = split_rows(state, [pulled.len(), pushed.len()]);
        self.inner.step(at, inner, pulled, pushed, local);
        let phases = self.inner.phases();
        if at.phase + 1 < phases {
            return; // the round goes on
        }
        for phase in (1..self.steps).flat_map(|_| 0..phases) {
            let at = Round { phase, ..at };
            self.inner.send(at, inner, own_pull, own_push);
            self.inner.step(at, inner, own_pull, own_push, local); // as if R = C = I
        }
    }

    fn estimate<'s>(&self, state: &'s [f64], d: usize) -> &'s [f64] {
        self.inner.estimate(state, d)
    }
}
