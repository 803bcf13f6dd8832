//! The two passes of a round over a block of agents: every row sends; then every row mixes what it hears, and steps.
//!
//! A method's `send` and `step` can be compiled into these loops, and the whole of it for the widest vectors of the machine. That is
//! worth its compile time for the methods that most runs are made of. The others share one copy of the loops, in which `send`
//! and `step` are virtual calls; the bits are the same.

use std::any::Any;

use crate::matrix::stride;
use crate::method::{Layout, Local, Method, Round};
use crate::methods::estimator::Gradient;
use crate::methods::{Csgdm, PushDiging, PushPull, Sgp, Smtpp};
use crate::problem::Problem;
use crate::topology::Pair;
use crate::vectors::widest;

/// Rows that are far away are asked for so many agents before they are mixed.
const AHEAD: usize = 2;

/// Both passes, compiled for one method.
pub trait Passes {
    /// Pass 1: every row sends.
    fn send_block(&self, at: Round, block: Block<'_>, pulls: &mut [f64], pushes: &mut [f64]);

    /// Pass 2: every row mixes what it hears, then steps.
    fn step_block(&self, at: Round, block: Block<'_>, mail: &Mail<'_>, scratch: &mut [f64]);
}

/// The methods that have passes of their own. They are compiled here, and in no other crate.
macro_rules! compiled {
    ($($method:ty),* $(,)?) => {
        $(
            impl Passes for $method {
                fn send_block(&self, at: Round, block: Block<'_>, pulls: &mut [f64], pushes: &mut [f64]) {
                    send_rows(self, at, block, pulls, pushes);
                }

                fn step_block(&self, at: Round, block: Block<'_>, mail: &Mail<'_>, scratch: &mut [f64]) {
                    step_rows(self, at, block, mail, scratch);
                }
            }
        )*

        /// The passes that are compiled for this method, if there are such.
        pub(crate) fn compiled(method: &dyn Any) -> Option<&dyn Passes> {
            $(
                if let Some(method) = method.downcast_ref::<$method>() {
                    return Some(method);
                }
            )*
            None
        }
    };
}

compiled!(Smtpp, PushPull, Sgp<Gradient>, PushDiging<Gradient>, Csgdm);

/// Pass 1, compiled for the method if it has passes of its own.
pub(crate) fn send(method: &dyn Method, at: Round, block: Block<'_>, pulls: &mut [f64], pushes: &mut [f64]) {
    match method.own_passes() {
        Some(own) => own.send_block(at, block, pulls, pushes),
        None => send_rows(method, at, block, pulls, pushes),
    }
}

/// Pass 2, compiled for the method if it has passes of its own.
pub(crate) fn step(method: &dyn Method, at: Round, block: Block<'_>, mail: &Mail<'_>, scratch: &mut [f64]) {
    match method.own_passes() {
        Some(own) => own.step_block(at, block, mail, scratch),
        None => step_rows(method, at, block, mail, scratch),
    }
}

/// Pass 1 over a block of agents: every row sends.
#[inline(always)]
fn send_rows<M: Method + ?Sized>(
    method: &M,
    at: Round,
    mut block: Block<'_>,
    pulls: &mut [f64],
    pushes: &mut [f64],
) {
    widest(
        #[inline(always)]
        || {
            let [pull, push] = block.message_widths();
            for (i, (agent, state)) in block.states().enumerate() {
                let pull = &mut pulls[i * stride(pull)..][..pull];
                let push = &mut pushes[i * stride(push)..][..push];
                method.send(Round { agent, ..at }, state, pull, push);
            }
        },
    );
}

/// Pass 2 over a block of agents: every row mixes what it hears, then steps.
#[inline(always)]
fn step_rows<M: Method + ?Sized>(
    method: &M,
    at: Round,
    mut block: Block<'_>,
    mail: &Mail<'_>,
    scratch: &mut [f64],
) {
    widest(
        #[inline(always)]
        || {
            let (problem, d) = (block.problem, block.d);
            let [pull_width, push_width] = block.message_widths();
            let (pulled, rest) = scratch.split_at_mut(stride(pull_width));
            let (pushed, gradient) = rest.split_at_mut(stride(push_width));
            let Pair { pull, push } = mail.pair;
            for (i, (agent, state)) in block.states().enumerate() {
                if mail.far {
                    pull.prefetch(agent + AHEAD, mail.pulls, pulled.len());
                    push.prefetch(agent + AHEAD, mail.pushes, pushed.len());
                }
                let at = Round { agent, ..at };
                // state k + 1 takes the samples ξ_{k+1}
                let mut local = Local::new(problem, at, at.k + 1, mail.pair, &mut gradient[..d]);
                if i == 0 || !pull.has_one_row() {
                    pull.mix_row(agent, mail.pulls, pulled);
                }
                if i == 0 || !push.has_one_row() {
                    push.mix_row(agent, mail.pushes, pushed);
                }
                method.step(at, state, &pulled[..pull_width], &pushed[..push_width], &mut local);
            }
        },
    );
}

/// Some agents in a row, as an engine hands them to a pass.
#[derive(Debug)]
pub struct Block<'a> {
    /// The first agent.
    pub first: usize,
    /// Their state rows.
    pub states: &'a mut [f64],
    /// The widths of the rows.
    pub layout: Layout,
    /// The problem's dimension.
    pub d: usize,
    /// The problem.
    pub problem: &'a dyn Problem,
}

impl Block<'_> {
    #[inline(always)]
    fn states(&mut self) -> impl Iterator<Item = (usize, &mut [f64])> {
        let (first, width) = (self.first, self.layout.state.len(self.d));
        let rows = self.states.chunks_exact_mut(stride(width));
        rows.enumerate().map(move |(i, row)| (first + i, &mut row[..width]))
    }

    #[inline(always)]
    fn message_widths(&self) -> [usize; 2] {
        [self.layout.pull, self.layout.push].map(|width| width.len(self.d))
    }
}

/// All messages of an exchange, and how they are mixed.
#[derive(Debug)]
pub struct Mail<'a> {
    /// R and C.
    pub pair: &'a Pair,
    /// What every agent offers on the pull graph, a row each.
    pub pulls: &'a [f64],
    /// What every agent sends on the push graph, a row each.
    pub pushes: &'a [f64],
    /// Whether there are so many messages that a row to be mixed is probably not in a near cache.
    pub far: bool,
}
