//! One network on a device: states stay there, and are copied back when somebody looks.

mod rounds;

use std::cell::{OnceCell, RefCell};
use std::sync::Arc;

use oneway::engine::observe::{Snapshot, View};
use oneway::engine::{Engine, Setup};
use oneway::numeric::Precision;

use crate::device::{Buffer, Device, Program, Recording, put};
use crate::error::{Error, Result};
use crate::network::{put_kept, put_links};
use crate::problem::put_problem;
use crate::source::Source;
use rounds::{Rounds, STEPS};

/// All agents of one run, on a device.
///
/// Rounds are begun several at a time: [`round`](Engine::round) counts, and looking at the state (or
/// [`settle`](Engine::settle)) has them done.
#[derive(Debug)]
pub struct Wide<'a> {
    setup: Setup<'a>,
    precision: Precision,
    /// Rounds done or begun: the state is state k.
    k: u64,
    /// What is on the device; looking at it waits for what is begun.
    there: RefCell<There<'a>>,
    /// The state here, once somebody has looked.
    shown: OnceCell<Snapshot<'a>>,
}

/// What is on the device.
#[derive(Debug)]
struct There<'a> {
    setup: Setup<'a>,
    precision: Precision,
    program: Box<dyn Program>,
    rounds: Rounds,
    states: Buffer,
    /// Numbers in a state row, and from one row to the next.
    width: usize,
    stride: usize,
    steps: Buffer,
    /// The launches of a full table of steps.
    recording: Option<Recording>,
    /// Rounds done, and rounds asked for.
    done: u64,
    asked: u64,
    /// What went wrong where nobody could be told yet.
    failed: Option<Error>,
}

/// What is the same for all agents in a round, as the words of the kernels' structure `Step`.
type Step = [u64; 4];

impl<'a> Wide<'a> {
    /// Sets up all agents at state 0 on a device. An error says why that cannot be: [`Error::Unsupported`] for
    /// methods and problems that have no kernels.
    pub fn new(device: &dyn Device, setup: Setup<'a>, precision: Precision) -> Result<Self> {
        let profile = setup.check().map_err(|error| Error::Failed(error.to_string()))?;
        let source = Source::new(setup.method, setup.problem, precision)?;
        let mut program = device.load(&source.text)?;
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        let width = profile.state.len(d);
        let bytes = precision.bytes();
        let stride = width.next_multiple_of(32 / bytes); // whole sectors of memory
        let states = program.allocate(n * stride * bytes)?;
        let steps = program.allocate(STEPS * size_of::<Step>())?;
        let vectors = |program: &mut dyn Program, count: usize| {
            let buffer = program.allocate(count * n * d * bytes)?;
            Ok::<u64, Error>(program.address(buffer))
        };
        let heard: usize = source.trace.sends.iter().sum();
        let [links_pull, links_push] = put_links(&mut *program, setup.topology)?;
        let scalars = profile.state.scalars;
        let carried = program.allocate(n * scalars * bytes)?;
        let mut x = vec![0.0; d];
        setup.problem.start(&mut x);
        let sent = vectors(&mut *program, heard)?;
        let mixed = vectors(&mut *program, heard)?;
        let points = vectors(&mut *program, 2)?;
        let second = points + (n * d * bytes) as u64;
        let gradients = vectors(&mut *program, 2)?;
        let words = [
            vec![n as u64, stride as u64, setup.seed, program.address(states), program.address(states)],
            vec![sent, mixed, points, gradients, program.address(carried)],
            vec![put(&mut *program, &x)?, put(&mut *program, &source.parameters)?],
            vec![program.address(steps), put_kept(&mut *program, setup.topology)?],
            links_pull.to_vec(),
            links_push.to_vec(),
        ];
        let run = |next: u64| [&words.concat()[..], &[next, second]].concat().into();
        let problem: Arc<[u64]> = put_problem(&mut *program, setup.problem)?.into();
        let at = if profile.points_are_pulled { mixed } else { points };
        let rounds = Rounds::new(&profile, [run(points), run(at)], problem, (n, d), device.threads());
        let mut there = There {
            setup,
            precision,
            program,
            rounds,
            states,
            width,
            stride,
            steps,
            recording: None,
            done: 0,
            asked: 0,
            failed: None,
        };
        there.start(source.trace.constants)?;
        Ok(Self { setup, precision, k: 0, there: RefCell::new(there), shown: OnceCell::new() })
    }

    /// The state, copied from the device.
    fn show(&self) -> Result<Snapshot<'a>> {
        let failed = |error: oneway::Error| Error::Failed(error.to_string());
        let mut snapshot = Snapshot::new(self.setup, self.k).map_err(failed)?.in_precision(self.precision);
        self.there.borrow_mut().read(|agent, row| {
            snapshot.state_mut(agent).map_err(failed)?.copy_from_slice(row);
            Ok(())
        })?;
        Ok(snapshot)
    }
}

impl There<'_> {
    fn start(&mut self, constants: [oneway::method::OfRound; 2]) -> Result<()> {
        self.rounds.constants = constants;
        let steps = [self.step(0, 0)];
        self.program.write(self.steps, bytemuck::cast_slice(&steps))?;
        self.rounds.start().iter().try_for_each(|launch| self.program.launch(launch))
    }

    /// Round k, whose samples are those of state `samples`.
    fn step(&self, k: u64, samples: u64) -> Step {
        let [first, second] = self.rounds.constants.map(|constant| constant.at(k).to_bits());
        let pair = k % self.setup.topology.period().len() as u64;
        [self.setup.schedule.at(k).to_bits(), first, second, pair | samples << 32] // rounds count modulo 2³²
    }

    /// Begins all rounds that were asked for.
    fn flush(&mut self) -> Result<()> {
        while self.done < self.asked {
            let count = (self.asked - self.done).min(STEPS as u64) as usize;
            let steps: Vec<Step> = (self.done..).take(count).map(|k| self.step(k, k + 1)).collect();
            self.program.write(self.steps, bytemuck::cast_slice(&steps))?;
            if count == STEPS {
                let recording = match self.recording {
                    Some(recording) => recording,
                    None => *self.recording.insert(self.program.record(&self.rounds.rounds(STEPS))?),
                };
                self.program.replay(recording)?;
            } else {
                self.rounds.rounds(count).iter().try_for_each(|launch| self.program.launch(launch))?;
            }
            self.done += count as u64;
        }
        Ok(())
    }

    /// Has `take` see every agent's row.
    fn read(&mut self, mut take: impl FnMut(usize, &[f64]) -> Result<()>) -> Result<()> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        self.flush()?;
        let agents = self.setup.problem.agents();
        match self.precision {
            Precision::F64 => {
                let mut all = vec![0.0f64; agents * self.stride];
                self.program.read(self.states, bytemuck::cast_slice_mut(&mut all))?;
                let mut rows = all.chunks_exact(self.stride.max(1)).enumerate();
                rows.try_for_each(|(agent, row)| take(agent, &row[..self.width]))
            }
            Precision::F32 => {
                let mut all = vec![0.0f32; agents * self.stride];
                self.program.read(self.states, bytemuck::cast_slice_mut(&mut all))?;
                let mut shown = vec![0.0; self.width];
                for (agent, row) in all.chunks_exact(self.stride.max(1)).enumerate() {
                    shown.iter_mut().zip(row).for_each(|(shown, x)| *shown = f64::from(*x));
                    take(agent, &shown)?;
                }
                Ok(())
            }
        }
    }
}

impl<'a> Engine<'a> for Wide<'a> {
    fn setup(&self) -> Setup<'a> {
        self.setup
    }

    fn round(&mut self) -> oneway::Result<()> {
        self.shown.take();
        let there = self.there.get_mut();
        if let Some(failed) = &there.failed {
            return Err(failed.clone().into());
        }
        there.asked += 1;
        self.k += 1;
        if there.asked - there.done == STEPS as u64 {
            there.flush()?;
        }
        Ok(())
    }

    fn settle(&mut self) -> oneway::Result<()> {
        if self.shown.get().is_none() {
            let snapshot = self.show()?;
            self.shown = OnceCell::from(snapshot);
        }
        Ok(())
    }

    /// The state as it is now. If it cannot be had it is shown as no numbers at all, and the next call that can
    /// fail says why.
    fn view(&self) -> View<'_> {
        self.shown.get_or_init(|| self.show().unwrap_or_else(|error| self.unknown(error))).view()
    }
}

impl<'a> Wide<'a> {
    fn unknown(&self, error: Error) -> Snapshot<'a> {
        self.there.borrow_mut().failed = Some(error);
        #[allow(clippy::expect_used)]
        let mut snapshot =
            Snapshot::new(self.setup, self.k).expect("it was checked when the engine was made");
        for agent in 0..self.setup.problem.agents() {
            if let Ok(row) = snapshot.state_mut(agent) {
                row.fill(f64::NAN);
            }
        }
        snapshot.in_precision(self.precision)
    }
}
