//! What `curves.csv` says of many runs that stand side by side, made on the device with the bits of
//! [`oneway::engine::metrics`]: only numbers come back.

mod data;

use std::collections::HashMap;
use std::sync::Arc;

use oneway::engine::Setup;
use oneway::engine::metrics::{Extras, Measurement, bytes_after};
use oneway::method::{Network, Profile};
use oneway::numeric::Precision;

use crate::device::{Buffer, Device, Launch, Program, put};
use crate::error::{Error, Result};
use data::{Measured, POINTS, measured, put_data};

const NUMBERS: &str = include_str!("../../kernels/numbers.cu");
const SEATS: &str = include_str!("../../kernels/meter/seats.cu");
const KERNELS: &str = include_str!("../../kernels/meter/kernels.cu");
const HASH: &str = include_str!("../../kernels/meter/hash.cu");

/// Numbers that come back of a run; in the order of `ANSWERS` in `kernels/meter/seats.cu`.
const ANSWERS: usize = 9;
/// `TILES` of the kernels.
const TILES: usize = 16;
/// Blocks that evaluate at a time where what they need does not fit into their multiprocessor's memory.
const FAR_BLOCKS: usize = 1024;
/// Agents whose gradients share a sum, and the most blocks of sums: as in `engine/metrics.rs`.
const TOGETHER: usize = 8;
const BLOCKS: usize = 64;

/// A run that is measured: what it is, what is measured beside the rest, where its states are, and how far one
/// of their rows is from the next.
#[derive(Debug, Clone)]
pub(crate) struct Subject<'a> {
    pub(crate) setup: Setup<'a>,
    pub(crate) extras: Extras,
    pub(crate) states: u64,
    pub(crate) stride: usize,
}

/// Measures runs of one rule on problems of one kind and size.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    subjects: Vec<Subject<'a>>,
    profile: Profile,
    precision: Precision,
    /// Held-out rows of each problem.
    tests: Vec<Option<usize>>,
    program: Box<dyn Program>,
    /// The words of `Data` and the problem's number of each run; and those of networks, π_R and π_C of each
    /// round of the period.
    problems: Vec<Vec<u64>>,
    problem_of: Vec<usize>,
    shares: Vec<Vec<[u64; 2]>>,
    shares_of: Vec<usize>,
    /// Runs in their seats, POINTS of each group; some have several.
    seats: Vec<usize>,
    buffers: Buffers,
    /// Threads of a block that evaluates, and the bytes that they share; 0 where these are too many.
    threads: u32,
    shared: Option<u32>,
}

/// Memory on the device, for as many seats as there may be.
#[derive(Debug)]
struct Buffers {
    seats: Buffer,
    data: Buffer,
    answers: Buffer,
    flags: Buffer,
    /// The addresses of all others, in the order of the structure.
    scratch: [u64; 9],
}

/// What is known of runs whose measurements share kernels: only such runs can be measured together.
pub(crate) fn kind(setup: Setup<'_>) -> Result<String> {
    let profile = setup.method.profile_on(setup.problem);
    let Measured { text, room, .. } = measured(setup.problem)?;
    let (n, d) = (setup.problem.agents(), setup.problem.dim());
    let sent = profile.phases(); // of one rule, runs may have several exchanges in place of one
    Ok(format!("{:?} {:?} {sent} {n} {d} {room} {text}", profile.roles, profile.network))
}

impl<'a> Meter<'a> {
    /// Copies what is measured by: data, and the agents' shares of all weight.
    pub(crate) fn new(device: &dyn Device, subjects: Vec<Subject<'a>>, precision: Precision) -> Result<Self> {
        let Some(first) = subjects.first() else {
            return Err(Error::Unsupported("there are no runs".to_owned()));
        };
        let setup = first.setup;
        let (n, d) = (setup.problem.agents(), setup.problem.dim());
        let of_problem = measured(setup.problem)?;
        let real = if precision == Precision::F32 { "float" } else { "double" };
        let head = format!("typedef {real} real;\n#define DIM {d}\n");
        let text = [&head, NUMBERS, SEATS, &of_problem.text, KERNELS, HASH].join("\n");
        let mut program = device.load(&text)?;
        let profile = setup.method.profile_on(setup.problem);

        let (mut problems, mut tests, mut shares) = (vec![], vec![], vec![]);
        let (mut known, mut networks) = (HashMap::new(), HashMap::new());
        let (mut problem_of, mut shares_of) = (vec![], vec![]);
        for Subject { setup, .. } in &subjects {
            let key = std::ptr::from_ref(setup.problem).addr();
            if !known.contains_key(&key) {
                problems.push(put_data(&mut *program, setup.problem)?);
                tests.push(measured(setup.problem)?.tests);
            }
            problem_of.push(*known.entry(key).or_insert(problems.len() - 1));
            let key = std::ptr::from_ref(setup.topology).addr();
            if !networks.contains_key(&key) {
                shares.push(put_shares(&mut *program, *setup, &profile)?);
            }
            shares_of.push(*networks.entry(key).or_insert(shares.len() - 1));
        }
        let mut counts = vec![0usize; problems.len()];
        problem_of.iter().for_each(|problem| counts[*problem] += 1);
        let groups: usize = counts.iter().map(|count| count.div_ceil(POINTS)).sum();
        let shared = (of_problem.room <= device.shared()).then_some(of_problem.room as u32);
        let room = if shared.is_none() { FAR_BLOCKS.min(groups * n) * of_problem.room } else { 0 };
        let words = problems.first().map_or(0, Vec::len);
        let buffers = Buffers::new(&mut *program, (groups, n, d), words, room)?;
        let threads = of_problem.threads;
        let seats = vec![];
        let mut meter = Self {
            subjects,
            profile,
            precision,
            tests,
            program,
            problems,
            problem_of,
            shares,
            shares_of,
            seats,
            buffers,
            threads,
            shared,
        };
        meter.keep(&(0..meter.subjects.len()).collect::<Vec<_>>())?;
        Ok(meter)
    }

    /// From here on only these runs are looked at.
    pub(crate) fn keep(&mut self, runs: &[usize]) -> Result<()> {
        self.seats.clear();
        let mut data: Vec<u64> = vec![];
        for problem in 0..self.problems.len() {
            let own: Vec<usize> =
                runs.iter().copied().filter(|run| self.problem_of[*run] == problem).collect();
            for group in own.chunks(POINTS) {
                let last = std::iter::repeat_n(group[group.len() - 1], POINTS - group.len());
                self.seats.extend(group.iter().copied().chain(last));
                data.extend(&self.problems[problem]);
            }
        }
        if data.is_empty() {
            Ok(())
        } else {
            self.program.write(self.buffers.data, bytemuck::cast_slice(&data))
        }
    }

    fn groups(&self) -> usize {
        self.seats.len() / POINTS
    }

    /// Says where the states are, and what weighs how much in round k.
    fn put_seats(&mut self, k: u64) -> Result<()> {
        let seat = |run: &usize| {
            let Subject { states, stride, .. } = self.subjects[*run];
            let of_rounds = &self.shares[self.shares_of[*run]];
            let [pull, push] = of_rounds[(k % of_rounds.len() as u64) as usize];
            [states, stride as u64, pull, push]
        };
        let words: Vec<u64> = self.seats.iter().flat_map(seat).collect();
        self.program.write(self.buffers.seats, bytemuck::cast_slice(&words))
    }

    /// The words of the structure `Run`.
    fn run(&self) -> Arc<[u64]> {
        let Self { profile, program, buffers, .. } = self;
        let problem = self.subjects[0].setup.problem;
        let d = problem.dim();
        let one_up = |index: Option<usize>| index.map_or(0, |index| index as u64 + 1);
        let average = match (profile.roles.conserved, profile.network) {
            (Some(_), _) => 1,
            (None, Network::Central) => 2,
            (None, _) => 0,
        };
        let weight = profile.roles.weight.map(|weight| profile.state.vectors * d + weight);
        let known = [
            problem.agents() as u64,
            profile.state.len(d) as u64,
            self.groups() as u64,
            average,
            profile.roles.conserved.unwrap_or(0) as u64,
            one_up(profile.roles.tracker),
            one_up(profile.roles.tracked),
            one_up(profile.roles.momentum),
            one_up(weight),
            u64::from(profile.network == Network::PullOnly),
        ];
        let tables = [buffers.seats, buffers.data].map(|buffer| program.address(buffer));
        let back = [buffers.answers, buffers.flags].map(|buffer| program.address(buffer));
        [&known[..], &tables, &buffers.scratch, &back].concat().into()
    }

    fn launch(
        &mut self,
        kernel: &'static str,
        blocks: usize,
        shape: (u32, u32),
        turn: [u64; 6],
    ) -> Result<()> {
        let blocks = u32::try_from(blocks).unwrap_or(u32::MAX).max(1);
        let (run, problem) = (self.run(), Arc::from([0]));
        let (threads, shared) = shape;
        self.program.launch(&Launch { kernel, blocks, threads, shared, run, problem, turn })
    }

    /// Gradients and losses at x̄ (0), at agents' own estimates (1), or at one agent's (2, and which).
    fn evaluate(&mut self, at: u64, agent: u64) -> Result<()> {
        let blocks = self.groups() * self.subjects[0].setup.problem.agents();
        let turn = [at, agent, 0, 0, 0, 0];
        match self.shared {
            Some(shared) => self.launch("oneway_evaluate", blocks, (self.threads, shared), turn),
            None => self.launch("oneway_evaluate_far", blocks.min(FAR_BLOCKS), (self.threads, 0), turn),
        }
    }

    /// Whether the states of each run that is looked at are within all bounds: by run, true for others.
    pub(crate) fn are_sound(&mut self, k: u64) -> Result<Vec<bool>> {
        if self.seats.is_empty() {
            return Ok(vec![true; self.subjects.len()]);
        }
        self.put_seats(k)?;
        self.launch("oneway_sound", self.seats.len(), (128, 0), [0; 6])?;
        let mut flags = vec![0u64; self.seats.len()];
        self.program.read(self.buffers.flags, bytemuck::cast_slice_mut(&mut flags))?;
        let mut sound = vec![true; self.subjects.len()];
        self.seats.iter().zip(flags).for_each(|(run, flag)| sound[*run] &= flag == 0);
        Ok(sound)
    }

    /// SHA-256 of the states of each run that is looked at, as [`Engine::state_hash`] has it; by run.
    ///
    /// [`Engine::state_hash`]: oneway::engine::Engine::state_hash
    pub(crate) fn hashes(&mut self) -> Result<Vec<String>> {
        const THREADS: usize = 32;
        self.put_seats(0)?;
        self.launch("oneway_hash", self.seats.len().div_ceil(THREADS), (THREADS as u32, 0), [0; 6])?;
        let mut words = vec![[0u64; 4]; self.seats.len()];
        self.program.read(self.buffers.flags, bytemuck::cast_slice_mut(&mut words))?;
        let prefix = if self.precision == Precision::F32 { "f32:" } else { "" };
        let mut hashes = vec![String::new(); self.subjects.len()];
        for (run, [a, b, c, d]) in self.seats.iter().zip(words) {
            hashes[*run] = format!("{prefix}{a:016x}{b:016x}{c:016x}{d:016x}");
        }
        Ok(hashes)
    }

    /// What there is to say of state k of each run that is looked at, by run.
    pub(crate) fn measure(&mut self, k: u64) -> Result<Vec<Option<Measurement>>> {
        let (groups, n) = (self.groups(), self.subjects[0].setup.problem.agents());
        if groups == 0 {
            return Ok(vec![None; self.subjects.len()]);
        }
        self.put_seats(k)?;
        self.launch("oneway_means", self.seats.len(), (128, 0), [0; 6])?;
        self.evaluate(0, 0)?;
        if self.tests.iter().any(Option::is_some) {
            self.launch("oneway_right", groups * TILES, (self.threads, self.threads * 8), [0; 6])?;
        }
        self.launch("oneway_finish", groups, (256, 0), [0; 6])?;
        if self.profile.roles.momentum.is_some() {
            self.evaluate(1, 0)?;
            self.launch("oneway_far", groups, (256, 0), [0; 6])?;
        }
        let at_agents = self.seats.iter().any(|run| self.subjects[*run].extras.agents);
        if at_agents && self.profile.network != Network::Central {
            for agent in 0..n {
                self.evaluate(2, agent as u64)?;
                self.launch("oneway_at_agent", groups, (256, 0), sums_at(agent, n))?;
            }
        }
        let mut answers = vec![[0f64; ANSWERS]; self.seats.len()];
        self.program.read(self.buffers.answers, bytemuck::cast_slice_mut(&mut answers))?;
        let mut found = vec![None; self.subjects.len()];
        for (run, answers) in self.seats.iter().zip(answers) {
            found[*run].get_or_insert_with(|| self.measurement(*run, k, answers));
        }
        Ok(found)
    }

    /// From sums to what is recorded; as `engine/metrics.rs` divides them.
    fn measurement(&self, run: usize, k: u64, answers: [f64; ANSWERS]) -> Measurement {
        let Subject { setup: Setup { problem, topology, .. }, ref extras, .. } = self.subjects[run];
        let [loss, grad_norm_sq, consensus, tracking, momentum, drift, weight, right, at_agents] = answers;
        let (roles, n) = (&self.profile.roles, problem.agents() as f64);
        let loss = loss / n;
        let trackers = roles.tracker.and(roles.tracked).map(|_| drift.sqrt());
        let weights = roles.weight.map(|_| (weight / n - 1.0).abs());
        let central = self.profile.network == Network::Central; // all agents hold x̄
        Measurement {
            iteration: k,
            loss,
            grad_norm_sq,
            consensus_error: consensus / n,
            tracking_error: roles.tracker.map(|_| tracking / n),
            momentum_error: roles.momentum.map(|_| momentum / n),
            conservation_error: match (trackers, weights) {
                (Some(trackers), Some(weights)) => Some(trackers.max(weights)),
                (one, other) => one.or(other),
            },
            test_accuracy: self.tests[self.problem_of[run]].map(|tests| right / tests as f64),
            bytes_sent: bytes_after(k, topology, &self.profile, (problem.dim(), self.precision)),
            time: None,
            loss_gap: extras.optimum.map(|optimum| loss - optimum),
            distance_sq: None, // a run whose distance is asked for goes alone
            agents_grad_norm_sq: extras.agents.then_some(if central { grad_norm_sq } else { at_agents / n }),
        }
    }
}

/// Which sums begin and end with an agent: a few agents' gradients are summed together, and these by blocks.
fn sums_at(agent: usize, n: usize) -> [u64; 6] {
    let few = n.div_ceil(TOGETHER);
    let blocks = few.min(BLOCKS);
    let (at, last) = (agent / TOGETHER, (agent + 1).is_multiple_of(TOGETHER) || agent + 1 == n);
    let ends_block = (0..blocks).any(|b| (b + 1) * few / blocks == at + 1);
    let begins = agent.is_multiple_of(TOGETHER);
    [2, agent as u64, u64::from(begins), u64::from(last), u64::from(last && ends_block), 0]
}

/// π_R and π_C of each round of the period, where they are asked for.
fn put_shares(program: &mut dyn Program, setup: Setup<'_>, profile: &Profile) -> Result<Vec<[u64; 2]>> {
    let roles = &profile.roles;
    let asked = roles.tracker.is_some() || (roles.conserved.is_none() && profile.network != Network::Central);
    if !asked {
        return Ok(vec![[0; 2]]);
    }
    let of_round = |k: usize| {
        let shares = setup.topology.stationary(k as u64);
        let shares = shares.map_err(|error| Error::Failed(error.to_string()))?;
        Ok([put(program, &shares.pull)?, put(program, &shares.push)?])
    };
    (0..setup.topology.period().len()).map(of_round).collect()
}

impl Buffers {
    fn new(
        program: &mut dyn Program,
        (groups, n, d): (usize, usize, usize),
        words: usize,
        room: usize,
    ) -> Result<Self> {
        let seats = groups * POINTS;
        // means, sums, gradients, losses, apart, totals, running, rights, and the room
        let numbers = [
            seats * d,
            seats * d,
            seats * n * d,
            seats * n,
            seats * n * 2,
            seats * d * 2,
            seats * 3,
            groups * TILES * POINTS,
            room.div_ceil(8),
        ];
        let mut scratch = [0; 9];
        for (place, count) in scratch.iter_mut().zip(numbers) {
            let buffer = program.allocate(8 * count)?;
            *place = program.address(buffer);
        }
        Ok(Self {
            seats: program.allocate(seats * 32)?,
            data: program.allocate(groups * words * 8)?,
            answers: program.allocate(seats * ANSWERS * 8)?,
            flags: program.allocate(seats * 32)?,
            scratch,
        })
    }
}
