//! Which kernels a round is made of.

use std::sync::Arc;

use oneway::method::Ask;

use crate::around::{Around, samples_of};
use crate::device::Launch;
use crate::source::Source;

/// Rounds that are begun at a time. The table of steps has a row more, for the messages that they leave behind.
pub(crate) const STEPS: usize = 64;

/// Threads of a block.
pub(crate) const THREADS: usize = 128;

/// The kernels that make gradients, and those that take them; see `kernels/wide.cu`.
pub(crate) const PREPARE: &str = "oneway_prepare";
pub(crate) const GRADIENT: &str = "oneway_gradient";
pub(crate) const START: &str = "oneway_start";
pub(crate) const UPDATE: &str = "oneway_update";

/// Which kernels there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kernels {
    /// One for each part of an exchange.
    Apart,
    /// One for a whole round, which keeps this number of blocks busy: from states to states.
    Fused { blocks: usize },
    /// The same from messages to messages: gradients need no other coordinate. Quiet: nothing is drawn for
    /// them.
    Told { blocks: usize, quiet: bool },
    /// One for a whole round, in whose text the network is: states stay in their place.
    Few { blocks: usize, quiet: bool },
}

/// The words of the structure `Run`.
#[derive(Debug, Clone)]
pub(crate) struct Runs {
    /// At the start, where gradients are taken at x₀.
    pub(crate) start: Arc<[u64]>,
    /// In rounds, from states in the first place and from states in the other.
    pub(crate) rounds: [Arc<[u64]>; 2],
}

/// The launches of rounds.
#[derive(Debug)]
pub(crate) struct Rounds {
    start: Ask,
    /// What is asked after each exchange of the rule.
    asks: Vec<Ask>,
    around: Around,
    runs: Runs,
    problem: Arc<[u64]>,
    kernels: Kernels,
    /// Blocks for all coordinates of all agents, and the most that keep the device busy.
    blocks: u32,
    most: u32,
    launches_a_round: usize,
}

/// The words of the structure `Turn`; `phase` is made of two.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Turn {
    step: u64,
    /// The exchange of the rule, and of the network.
    pub(crate) phase: [u32; 2],
    call: u64,
    pub(crate) from: u64,
    pub(crate) to: u64,
    pub(crate) adds: u64,
}

impl Turn {
    fn words(self) -> [u64; 6] {
        let Self { step, phase: [phase, exchange], call, from, to, adds } = self;
        [step, u64::from(phase) | u64::from(exchange) << 32, call, from, to, adds]
    }

    /// That of a launch.
    pub(crate) fn of(launch: &Launch) -> Self {
        let [step, phase, call, from, to, adds] = launch.turn;
        Self { step, phase: [phase as u32, (phase >> 32) as u32], call, from, to, adds }
    }
}

impl Rounds {
    pub(crate) fn new(
        source: &Source,
        runs: Runs,
        problem: Arc<[u64]>,
        kernels: Kernels,
        (n, d, threads): (usize, usize, u64),
    ) -> Self {
        let (start, around) = (source.trace.start_ask, source.around);
        let asks = source.trace.exchanges.iter().map(|exchange| exchange.ask).collect();
        let most = u32::try_from(threads.div_ceil(THREADS as u64)).unwrap_or(u32::MAX).max(1);
        let mut rounds =
            Self { start, asks, around, runs, problem, kernels, blocks: 1, most, launches_a_round: 1 };
        rounds.blocks = rounds.at_most(n.saturating_mul(d).div_ceil(THREADS));
        rounds.launches_a_round = rounds.round(0, 1, 0).len();
        rounds
    }

    /// Whether what a round reads and what it writes take turns in two places.
    pub(crate) fn alternate(&self) -> bool {
        matches!(self.kernels, Kernels::Fused { .. } | Kernels::Told { .. })
    }

    /// As many blocks, or as keep the device busy.
    fn at_most(&self, blocks: usize) -> u32 {
        u32::try_from(blocks).unwrap_or(u32::MAX).clamp(1, self.most)
    }

    fn launch(&self, kernel: &'static str, run: &Arc<[u64]>, turn: Turn) -> Launch {
        Launch {
            kernel,
            blocks: self.blocks,
            threads: THREADS as u32,
            shared: 0,
            run: Arc::clone(run),
            problem: Arc::clone(&self.problem),
            turn: turn.words(),
        }
    }

    /// The gradients that are asked for, from call `at.call` of the exchange on, and how many of the two places
    /// they fill.
    fn gradients(&self, ask: Ask, run: &Arc<[u64]>, at: Turn, launches: &mut Vec<Launch>) -> u64 {
        let mut gradient = |turn: Turn| {
            launches.push(self.launch(PREPARE, run, turn));
            launches.push(self.launch(GRADIENT, run, turn));
        };
        match ask {
            Ask::Nothing | Ask::Component | Ask::AllComponents => 0,
            Ask::Samples(count) => {
                // the sum of those before the last, beginning with zero
                let last = count.saturating_sub(1) as u64;
                for sample in 0..last {
                    let adds = if sample == 0 { 2 } else { 1 };
                    gradient(Turn { call: at.call + sample, to: 1, adds, ..at });
                }
                gradient(Turn { call: at.call + last, ..at });
                if count > 1 { 2 } else { 1 }
            }
            Ask::BothPoints => {
                gradient(Turn { from: 1, to: 1, ..at });
                gradient(at);
                2
            }
        }
    }

    /// State 0.
    pub(crate) fn start(&self) -> Vec<Launch> {
        let (run, at) = (&self.runs.start, Turn::default());
        let mut launches = vec![self.launch("oneway_begin", run, at)];
        let call = self.gradients(self.start, run, at, &mut launches);
        launches.push(self.launch(START, run, Turn { call, ..at }));
        if let Kernels::Told { .. } = self.kernels {
            launches.push(self.launch("oneway_tell", run, at));
        }
        launches
    }

    /// As many rounds as this, by the first rows of the table, from states in the first place or in the
    /// second.
    pub(crate) fn rounds(&self, count: usize, place: usize) -> Vec<Launch> {
        (0..count).flat_map(|step| self.round(step, count, place)).collect()
    }

    /// One of these rounds.
    pub(crate) fn round(&self, step: usize, count: usize, place: usize) -> Vec<Launch> {
        let at = Turn { step: step as u64, ..Turn::default() };
        let (kernel, blocks) = match self.kernels {
            Kernels::Apart => return self.apart(at),
            Kernels::Told { blocks, quiet: true } => ("oneway_quiet_round", blocks),
            Kernels::Fused { blocks } | Kernels::Told { blocks, .. } => ("oneway_round", blocks),
            Kernels::Few { blocks, quiet: true } => ("oneway_quiet_few", blocks),
            Kernels::Few { blocks, .. } => ("oneway_few", blocks),
        };
        // the last leaves a whole state behind
        let at = Turn { to: u64::from(step + 1 == count), ..at };
        let run = &self.runs.rounds[(place + step) % 2];
        vec![Launch { blocks: self.at_most(blocks), ..self.launch(kernel, run, at) }]
    }

    /// How many there are in a round.
    pub(crate) fn launches_a_round(&self) -> usize {
        self.launches_a_round
    }

    /// Looks for a number beyond all bounds, and writes to this address if there is one.
    pub(crate) fn look_for_divergence(&self, place: usize, flag: u64) -> Launch {
        self.launch("oneway_look", &self.runs.rounds[place], Turn { from: flag, ..Turn::default() })
    }

    /// A round, part by part.
    fn apart(&self, at: Turn) -> Vec<Launch> {
        let (run, mut launches, mut exchange) = (&self.runs.rounds[0], vec![], 0);
        for (phase, &ask) in (0..).zip(&self.asks) {
            for relay in 0..=self.around.relays {
                let last = relay == self.around.relays;
                let at = Turn { phase: [phase, exchange], ..at };
                launches.push(self.launch("oneway_send", run, Turn { from: u64::from(relay > 0), ..at }));
                let points = u64::from(last && ask != Ask::Nothing);
                launches.push(self.launch("oneway_hear", run, Turn { call: points, ..at }));
                let call = if last { self.gradients(ask, run, at, &mut launches) } else { 0 };
                launches.push(self.launch(UPDATE, run, Turn { call, to: u64::from(!last), ..at }));
                exchange += 1;
            }
        }
        // rounds with oneself draw on from where the last exchange has left off
        let mut drawn = self.asks.last().map_or(0, |ask| samples_of(*ask));
        for _ in 0..self.around.alone {
            for (phase, &ask) in (0..).zip(&self.asks) {
                let at = Turn { phase: [phase, exchange - 1], ..at };
                let points = u64::from(ask != Ask::Nothing);
                launches.push(self.launch("oneway_alone", run, Turn { call: points, ..at }));
                let call = self.gradients(ask, run, Turn { call: drawn, ..at }, &mut launches);
                launches.push(self.launch(UPDATE, run, Turn { call, ..at }));
                drawn += samples_of(ask);
            }
        }
        launches
    }
}
