//! Gradients that another program makes between the kernels of a round, where the points are.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use oneway::engine::Setup;
use oneway::numeric::Precision;
use oneway::numeric::sample::{Purpose, Streams};
use oneway::problem::{InPlace, Lent, PlacedBatch};

use crate::device::{Launch, Program};
use crate::error::Result;
use crate::rounds::{GRADIENT, PREPARE, START, Turn, UPDATE};
use crate::run::{ASKED_WORD, GRADIENT_WORD};

/// Who makes the gradients of a run.
pub(crate) struct Foreign<'a> {
    by: &'a dyn InPlace,
    setup: Setup<'a>,
    precision: Precision,
    /// The memory that points are in: of what was pulled, and of points.
    lent: [(u64, Arc<dyn Lent>); 2],
    /// The round and exchange that gradients were asked for last, and its draws from there on.
    draws: Option<([u64; 2], Streams)>,
    /// The gradients that the next update reads, and what keeps them.
    made: Option<(u64, Box<dyn Any + Send>)>,
}

impl fmt::Debug for Foreign<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Foreign for {:?}", self.setup.problem)
    }
}

impl<'a> Foreign<'a> {
    pub(crate) fn new(
        by: &'a dyn InPlace,
        setup: Setup<'a>,
        precision: Precision,
        lent: [(u64, Arc<dyn Lent>); 2],
    ) -> Self {
        Self { by, setup, precision, lent, draws: None, made: None }
    }

    /// Begins a kernel of the round whose samples are those of state `round`: in place of one that makes gradients
    /// they are asked for, and one that takes them finds them where they were made.
    pub(crate) fn begin(&mut self, program: &mut dyn Program, round: u64, launch: Launch) -> Result<()> {
        match (launch.kernel, self.made.take()) {
            (PREPARE, _) => Ok(()),
            (GRADIENT, _) => self.ask(program, round, launch),
            (UPDATE | START, Some((address, keeper))) => {
                let mut words = launch.run.to_vec();
                words[GRADIENT_WORD] = address;
                program.launch(&Launch { run: words.into(), ..launch })?;
                program.hold(keeper)
            }
            _ => program.launch(&launch),
        }
    }

    fn ask(&mut self, program: &mut dyn Program, round: u64, launch: Launch) -> Result<()> {
        let Turn { phase: [_, exchange], from, to, adds, .. } = Turn::of(&launch);
        let at = [round, u64::from(exchange)];
        let streams = match &mut self.draws {
            Some((known, streams)) if *known == at => streams, // they go on
            draws => {
                let (seed, n) = (self.setup.seed, self.setup.problem.agents());
                &mut draws.insert((at, Streams::new(seed, Purpose::Gradient, n, round, exchange))).1
            }
        };
        // the same sample at both points: the first call takes a copy of the streams
        let mut twins = (from > 0).then(|| streams.clone());
        let points = launch.run[ASKED_WORD + from as usize];
        let [(pulled, heard), (_, kept)] = &self.lent;
        let batch = PlacedBatch {
            points,
            lent: if points == *pulled { heard } else { kept },
            precision: self.precision,
            stream: program.stream(),
            draws: twins.as_mut().unwrap_or(streams),
        };
        let (address, keeper) = self.by.gradients_at(batch)?.into_parts();
        if (to, adds) == (0, 0) {
            self.made = Some((address, keeper));
            return Ok(());
        }
        // another is asked for before the update, and whoever made this one may have one place for both
        program.launch(&Launch { problem: [address].into(), ..launch })?;
        program.hold(keeper)
    }
}
