//! Which kernels a round is made of.

use std::sync::Arc;

use oneway::method::{Ask, OfRound, Profile};

use crate::device::Launch;

/// Rounds in the table of steps: so many are begun at a time.
pub(super) const STEPS: usize = 64;

/// Threads of a block.
const THREADS: u32 = 128;

/// The launches of rounds.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) constants: [OfRound; 2],
    start: Ask,
    /// What is asked after each exchange.
    asks: Vec<Ask>,
    /// The run, with points where they are at the start, and where they are in rounds.
    run: [Arc<[u64]>; 2],
    problem: Arc<[u64]>,
    blocks: u32,
}

/// The words of the structure `Turn`.
#[derive(Debug, Clone, Copy, Default)]
struct Turn {
    step: u64,
    phase: u64,
    call: u64,
    from: u64,
    to: u64,
    adds: u64,
}

impl Rounds {
    pub(super) fn new(
        profile: &Profile,
        run: [Arc<[u64]>; 2],
        problem: Arc<[u64]>,
        (n, d): (usize, usize),
        threads: u64,
    ) -> Self {
        let asks = profile.exchanges.iter().map(|exchange| exchange.turns[0]).collect();
        let work = (n as u64).saturating_mul(d as u64).clamp(1, threads);
        let blocks = u32::try_from(work.div_ceil(u64::from(THREADS))).unwrap_or(u32::MAX);
        Self { constants: [OfRound::Zero; 2], start: profile.start, asks, run, problem, blocks }
    }

    fn launch(&self, kernel: &'static str, starts: bool, turn: Turn) -> Launch {
        let Turn { step, phase, call, from, to, adds } = turn;
        Launch {
            kernel,
            blocks: self.blocks,
            threads: THREADS,
            run: Arc::clone(&self.run[usize::from(!starts)]),
            problem: Arc::clone(&self.problem),
            turn: [step, phase, call, from, to, adds],
        }
    }

    /// The gradients that are asked for, and how many of the two places they fill.
    fn gradients(&self, ask: Ask, starts: bool, at: Turn, launches: &mut Vec<Launch>) -> u64 {
        let mut gradient = |turn: Turn| {
            launches.push(self.launch("oneway_prepare", starts, turn));
            launches.push(self.launch("oneway_gradient", starts, turn));
        };
        match ask {
            Ask::Nothing | Ask::Component | Ask::AllComponents => 0,
            Ask::Samples(count) => {
                // the sum of those before the last, beginning with zero
                for call in 0..count.saturating_sub(1) as u64 {
                    gradient(Turn { call, to: 1, adds: if call == 0 { 2 } else { 1 }, ..at });
                }
                gradient(Turn { call: count.saturating_sub(1) as u64, ..at });
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
    pub(super) fn start(&self) -> Vec<Launch> {
        let at = Turn::default();
        let mut launches = vec![self.launch("oneway_begin", true, at)];
        let call = self.gradients(self.start, true, at, &mut launches);
        launches.push(self.launch("oneway_start", true, Turn { call, ..at }));
        launches
    }

    /// As many rounds as this, by the first rows of the table.
    pub(super) fn rounds(&self, count: usize) -> Vec<Launch> {
        let mut launches = vec![];
        for step in 0..count as u64 {
            for (phase, &ask) in (0..).zip(&self.asks) {
                let at = Turn { step, phase, ..Turn::default() };
                launches.push(self.launch("oneway_send", false, at));
                let points = u64::from(ask != Ask::Nothing);
                launches.push(self.launch("oneway_hear", false, Turn { call: points, ..at }));
                let call = self.gradients(ask, false, at, &mut launches);
                launches.push(self.launch("oneway_update", false, Turn { call, ..at }));
            }
        }
        launches
    }
}
