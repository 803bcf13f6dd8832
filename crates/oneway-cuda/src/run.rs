//! One run's states and scratch on a device, and what it shares with others: its network and its problem's
//! data.

use std::collections::HashMap;
use std::sync::Arc;

use oneway::engine::Setup;
use oneway::numeric::Precision;
use oneway::problem::Lent;

use crate::device::{Buffer, Program, put};
use crate::error::{Error, Result};
use crate::network::{put_kept, put_links};
use crate::problem::{put_problem, put_scratch};
use crate::rounds::Runs;
use crate::source::Source;

/// What is the same for all agents in a round, as the words of the kernels' structure `Step`.
pub(crate) type Step = [u64; 4];

/// Where in the words of the structure `Run` the gradient is, the table of steps, and the first of the two places
/// where gradients are taken.
pub(crate) const GRADIENT_WORD: usize = 9;
pub(crate) const STEPS_WORD: usize = 14;
pub(crate) const ASKED_WORD: usize = 24;

/// Round k of a run, with the samples of state `samples`.
pub(crate) fn step(setup: Setup<'_>, source: &Source, k: u64, samples: u64) -> Step {
    let [first, second] = source.trace.constants.map(|constant| constant.at(k).to_bits());
    let pair = k % setup.topology.period().len() as u64;
    [setup.schedule.at(k).to_bits(), first, second, pair | samples << 32] // rounds count modulo 2³²
}

/// Data that several runs share: networks, problems and tables of steps that are there already.
#[derive(Debug, Default)]
pub(crate) struct Known {
    steps: HashMap<String, Buffer>,
    networks: HashMap<usize, ([[u64; 4]; 2], u64)>,
    problems: HashMap<usize, Vec<u64>>,
    /// Starting points and hyper-parameters, by their bits.
    numbers: HashMap<Vec<u64>, u64>,
}

/// What a run needs room for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Room {
    /// Places for the states: one, or another for the next.
    pub(crate) states: usize,
    /// Places for messages: none, one, or another for those of the next round.
    pub(crate) messages: usize,
    /// Rows of the table of steps.
    pub(crate) steps: usize,
    /// Whether points are in memory that other programs see.
    pub(crate) lends: bool,
}

/// A run on a device.
#[derive(Debug)]
pub(crate) struct Placed {
    /// The states, and where the next ones go, if not in the place of the old.
    pub(crate) states: [Buffer; 2],
    /// Numbers in a state row, and from one row to the next.
    pub(crate) width: usize,
    pub(crate) stride: usize,
    /// The table of steps.
    pub(crate) steps: Buffer,
    /// A number that kernels can answer with.
    pub(crate) flag: Buffer,
    pub(crate) runs: Runs,
    pub(crate) problem: Arc<[u64]>,
    /// The addresses of what is lent: what was pulled, and points.
    pub(crate) lent: Vec<(u64, Arc<dyn Lent>)>,
}

impl Placed {
    /// From one state row of this width to the next: whole sectors of memory.
    pub(crate) fn stride(width: usize, precision: Precision) -> usize {
        width.next_multiple_of(32 / precision.bytes())
    }

    /// Places a run: its states, and what is between them.
    pub(crate) fn new(
        program: &mut dyn Program,
        known: &mut Known,
        (setup, source, precision): (Setup<'_>, &Source, Precision),
        Room { states: places, messages, steps, lends }: Room,
    ) -> Result<Self> {
        let (n, d, bytes) = (setup.problem.agents(), setup.problem.dim(), precision.bytes());
        let profile = setup.method.profile_on(setup.problem);
        let width = profile.state.len(d);
        let stride = Self::stride(width, precision);
        let first = program.allocate(n * stride * bytes)?;
        let states = [first, if places > 1 { program.allocate(n * stride * bytes)? } else { first }];
        let steps = known.steps(program, setup, source, steps)?;
        // one vector of all agents; others ask for memory that begins at such lines
        let vector = (n * d * bytes).next_multiple_of(64);
        let vectors = |program: &mut dyn Program, count: usize| {
            let buffer = program.allocate(count * vector)?;
            Ok::<u64, Error>(program.address(buffer))
        };
        let heard: usize = source.trace.sends.iter().sum();
        let carried = source.carried(n);
        let mut sent = [0; 2];
        for place in sent.iter_mut().take(messages) {
            let buffer = program.allocate((heard * d + carried) * n * bytes)?;
            *place = program.address(buffer);
        }
        let mut lent = vec![];
        let mut shown = |program: &mut dyn Program, count: usize| {
            if !lends {
                return vectors(program, count);
            }
            lent.push(program.allocate_lent(count * vector)?);
            Ok(lent[lent.len() - 1].0)
        };
        let mixed = shown(program, heard)?;
        let points = shown(program, 2)?;
        let gradients = vectors(program, 2)?;
        let mixed_carried = program.allocate(n * carried * bytes)?;
        let mut x = vec![0.0; d];
        setup.problem.start(&mut x);
        let ([pull, push], kept) = known.network(program, setup)?;
        let second = |first: u64| first + vector as u64;
        let behind = [
            &[mixed, points, gradients, second(gradients), program.address(mixed_carried)][..],
            &[
                known.numbers(program, &x)?,
                known.numbers(program, &source.parameters)?,
                program.address(steps),
                kept,
            ],
            &pull,
            &push,
        ]
        .concat();
        let run = |from: usize, to: usize, at: u64| {
            let [from_states, to_states] = [from, to].map(|place| program.address(states[place]));
            let places = [n as u64, stride as u64, setup.seed, from_states, to_states, sent[from], sent[to]];
            [&places[..], &behind, &[at, second(points), source.around.relays, source.around.alone]]
                .concat()
                .into()
        };
        let at = if profile.points_are_pulled { mixed } else { points };
        let other = usize::from(places.max(messages) > 1);
        let runs = Runs { start: run(0, 0, points), rounds: [run(0, other, at), run(other, 0, at)] };
        let data = known.problem(program, setup)?;
        let problem = put_scratch(program, setup.problem, data)?.into();
        let flag = program.allocate(8)?;
        Ok(Self { states, width, stride, steps, flag, runs, problem, lent })
    }
}

impl Known {
    /// A table of steps for all runs whose steps are the same in every round.
    fn steps(
        &mut self,
        program: &mut dyn Program,
        setup: Setup<'_>,
        source: &Source,
        rows: usize,
    ) -> Result<Buffer> {
        let period = setup.topology.period().len();
        let key = format!("{:?} {:?} {period}", setup.schedule, source.trace.constants);
        if let Some(known) = self.steps.get(&key) {
            return Ok(*known);
        }
        let table = program.allocate(rows * size_of::<Step>())?;
        self.steps.insert(key, table);
        Ok(table)
    }

    fn numbers(&mut self, program: &mut dyn Program, numbers: &[f64]) -> Result<u64> {
        let key: Vec<u64> = numbers.iter().map(|number| number.to_bits()).collect();
        if let Some(known) = self.numbers.get(&key) {
            return Ok(*known);
        }
        let placed = put(program, numbers)?;
        self.numbers.insert(key, placed);
        Ok(placed)
    }

    fn network(&mut self, program: &mut dyn Program, setup: Setup<'_>) -> Result<([[u64; 4]; 2], u64)> {
        let key = std::ptr::from_ref(setup.topology).addr();
        if let Some(known) = self.networks.get(&key) {
            return Ok(*known);
        }
        let placed = (put_links(program, setup.topology)?, put_kept(program, setup.topology)?);
        self.networks.insert(key, placed);
        Ok(placed)
    }

    fn problem(&mut self, program: &mut dyn Program, setup: Setup<'_>) -> Result<Vec<u64>> {
        let key = std::ptr::from_ref(setup.problem).addr();
        if let Some(known) = self.problems.get(&key) {
            return Ok(known.clone());
        }
        let placed = put_problem(program, setup.problem)?;
        self.problems.insert(key, placed.clone());
        Ok(placed)
    }
}
