//! One network on a device: states stay there, and are copied back when somebody looks.

use std::cell::{OnceCell, RefCell};

use oneway::engine::observe::{Snapshot, View};
use oneway::engine::{Engine, Setup};
use oneway::numeric::Precision;
use oneway::problem::{Description, InPlace};

use crate::columns;
use crate::device::{Device, Launch, Program, Recording};
use crate::error::{Error, Result};
use crate::foreign::Foreign;
use crate::rounds::{Kernels, Rounds, STEPS, THREADS};
use crate::run::{Known, Placed, Room, Step, step};
use crate::source::Source;
use crate::states::read_states;

/// Rows of up to this length are a block's work, where a gradient needs the whole row.
const MOST_IN_A_BLOCK: usize = 4096;

/// From this many coordinates on, networks of few agents have a thread for each coordinate.
const MANY: usize = 1 << 15;

/// Launches that are kept to be made again, at most: rounds of very many are begun one after another.
const MOST_RECORDED: usize = 1 << 14;

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
    source: Source,
    precision: Precision,
    program: Box<dyn Program>,
    placed: Placed,
    rounds: Rounds,
    /// Who makes the gradients, if it is another program.
    foreign: Option<Foreign<'a>>,
    /// The launches of a full table of steps, from either place of the states.
    recordings: [Option<Recording>; 2],
    /// Rounds done, and rounds asked for.
    done: u64,
    asked: u64,
    /// What went wrong where nobody could be told yet.
    failed: Option<Error>,
}

impl<'a> Wide<'a> {
    /// Sets up all agents at state 0 on a device. An error says why that cannot be: [`Error::Unsupported`]
    /// for methods and problems that have no kernels.
    ///
    /// A problem that makes its gradients [in place](oneway::problem::Problem::in_place) needs none: it is asked
    /// for them between kernels, of which there is then one for each part of an exchange.
    pub fn new(device: &dyn Device, setup: Setup<'a>, precision: Precision) -> Result<Self> {
        setup.check().map_err(|error| Error::Failed(error.to_string()))?;
        let foreign = setup.problem.in_place(device.memory());
        let source = match foreign {
            Some(_) => Source::of_foreign(setup.method, setup.problem, precision)?,
            None => Source::new(setup.method, setup.problem, precision)?,
        };
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        let few = if d >= MANY && foreign.is_none() { columns::few(setup, &source) } else { None };
        let quiet = matches!(setup.problem.describe(), Some(Description::Quadratic { noise: 0.0, .. }));
        let (kernels, states, messages) = match source.fuses {
            _ if foreign.is_some() => (Kernels::Apart, 1, 1),
            _ if few.is_some() => (Kernels::Few { blocks: d.div_ceil(THREADS), quiet }, 1, 0),
            true if source.by_coordinate => {
                (Kernels::Told { blocks: n.saturating_mul(d).div_ceil(THREADS), quiet }, 1, 2)
            }
            true if d <= MOST_IN_A_BLOCK => (Kernels::Fused { blocks: n }, 2, 0),
            _ => (Kernels::Apart, 1, 1),
        };
        let mut program = match few {
            Some(network) => device.load(&source.with_few(&network))?,
            None => device.load(&source.text)?,
        };
        let what = (setup, &source, precision);
        let room = Room { states, messages, steps: STEPS + 1, lends: foreign.is_some() };
        let placed = Placed::new(&mut *program, &mut Known::default(), what, room)?;
        let (runs, problem) = (placed.runs.clone(), placed.problem.clone());
        let rounds = Rounds::new(&source, runs, problem, kernels, (n, d, device.threads()));
        let first = [step(setup, &source, 0, 0)];
        program.write(placed.steps, bytemuck::cast_slice(&first))?;
        let lent = <[_; 2]>::try_from(placed.lent.clone()).ok();
        let with = |(by, lent): (&'a dyn InPlace, _)| Foreign::new(by, setup, precision, lent);
        let foreign = foreign.zip(lent).map(with);
        let recordings = [None; 2];
        let (done, asked, failed) = (0, 0, None);
        let mut there = There {
            setup,
            source,
            precision,
            program,
            placed,
            rounds,
            foreign,
            recordings,
            done,
            asked,
            failed,
        };
        there.begin(0, there.rounds.start())?;
        Ok(Self { setup, precision, k: 0, there: RefCell::new(there), shown: OnceCell::new() })
    }

    /// Waits until all rounds are done that were asked for, and copies nothing but a number.
    pub fn wait(&mut self) -> Result<()> {
        let there = self.there.get_mut();
        there.flush()?;
        there.program.read(there.placed.flag, &mut [0; 8])
    }

    /// The state, copied from the device.
    fn show(&self) -> Result<Snapshot<'a>> {
        let failed = |error: oneway::Error| Error::Failed(error.to_string());
        let mut snapshot = Snapshot::new(self.setup, self.k).map_err(failed)?.in_precision(self.precision);
        self.there.borrow_mut().read(&mut snapshot)?;
        Ok(snapshot)
    }

    /// What is shown of a state that cannot be had.
    fn unknown(&self, error: Error) -> Snapshot<'a> {
        self.there.borrow_mut().failed = Some(error);
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

impl There<'_> {
    /// In which of two places the states, or their messages, are.
    fn place(&self) -> usize {
        usize::from(self.rounds.alternate()) & (self.done % 2) as usize
    }

    /// Begins all rounds that were asked for. What has failed once is not tried again: nobody knows how much
    /// of it was done.
    fn flush(&mut self) -> Result<()> {
        if self.failed.is_none() {
            self.failed = self.begin_rounds().err();
        }
        self.failed.clone().map_or(Ok(()), Err)
    }

    fn begin_rounds(&mut self) -> Result<()> {
        while self.done < self.asked {
            let count = (self.asked - self.done).min(STEPS as u64) as usize;
            let rounds = (self.done..).take(count + 1);
            let steps: Vec<Step> = rounds.map(|k| step(self.setup, &self.source, k, k + 1)).collect();
            self.program.write(self.placed.steps, bytemuck::cast_slice(&steps))?;
            let place = self.place();
            let few = STEPS * self.rounds.launches_a_round() <= MOST_RECORDED;
            let records = few && self.foreign.is_none();
            if count == STEPS && records {
                let recording = match self.recordings[place] {
                    Some(recording) => recording,
                    None => {
                        let launches = self.rounds.rounds(STEPS, place);
                        *self.recordings[place].insert(self.program.record(&launches)?)
                    }
                };
                self.program.replay(recording)?;
            } else {
                for step in 0..count {
                    self.begin(self.done + step as u64 + 1, self.rounds.round(step, count, place))?;
                }
            }
            self.done += count as u64;
        }
        Ok(())
    }

    /// Begins the kernels of a round whose samples are those of state `round`, one after another.
    fn begin(&mut self, round: u64, launches: Vec<Launch>) -> Result<()> {
        let program = &mut *self.program;
        launches.into_iter().try_for_each(|launch| match &mut self.foreign {
            Some(foreign) => foreign.begin(program, round, launch),
            None => program.launch(&launch),
        })
    }

    fn is_sound(&mut self) -> Result<bool> {
        self.flush()?;
        let flag = self.placed.flag;
        self.program.write(flag, &[0; 8])?;
        let place = self.program.address(flag);
        self.program.launch(&self.rounds.look_for_divergence(self.place(), place))?;
        let mut found = [0; 8];
        self.program.read(flag, &mut found)?;
        Ok(found == [0; 8])
    }

    fn read(&mut self, snapshot: &mut Snapshot<'_>) -> Result<()> {
        self.flush()?;
        let (states, Placed { width, stride, .. }) = (self.placed.states[self.place()], &self.placed);
        read_states(&mut *self.program, states, self.precision, [*width, *stride], snapshot)
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
        Ok(self.wait()?)
    }

    fn rounds_done(&self) -> u64 {
        self.k
    }

    /// Looked for on the device: a number comes back, and not the states.
    fn is_sound(&mut self) -> oneway::Result<bool> {
        match self.shown.get() {
            Some(shown) => Ok(shown.is_sound()),
            None => Ok(self.there.get_mut().is_sound()?),
        }
    }

    /// The state as it is now. If it cannot be had it is shown as no numbers at all, and the next call that
    /// can fail says why.
    fn view(&self) -> View<'_> {
        self.shown.get_or_init(|| self.show().unwrap_or_else(|error| self.unknown(error))).view()
    }
}
