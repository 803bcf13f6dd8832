//! Sums over all agents of a run, who may be in several processes.
//!
//! Agents are summed within fixed blocks, ascending, then the blocks, ascending. So sums have the same bits,
//! whatever the threads and whichever process has which agent.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use crate::Result;
use crate::engine::observe::View;
use crate::engine::simulator::worth_threads;
use crate::graph::topology::Stationary;

/// The most blocks in which agents are summed; a constant, so that sums do not depend on threads.
const BLOCKS: usize = 64;

/// The processes that share a run's agents, in the order of these, as one of them sees them. All of them call
/// the same functions of this crate that take a team, one after another.
pub trait Team {
    /// Who of n agents is here.
    fn own(&self, agents: usize) -> Range<usize>;

    /// Receives what the process with the agents before has handed on, in the order in which it did.
    fn take(&mut self, numbers: &mut [f64]);

    /// Sends numbers to the process with the agents after these.
    fn hand_on(&mut self, numbers: &[f64]);

    /// Brings the numbers of the last process to all.
    fn share_last(&mut self, numbers: &mut [f64]);
}

/// All agents are here: nobody is before or after them.
pub(super) struct Alone;

impl Team for Alone {
    fn own(&self, agents: usize) -> Range<usize> {
        0..agents
    }

    fn take(&mut self, _: &mut [f64]) {}

    fn hand_on(&mut self, _: &[f64]) {}

    fn share_last(&mut self, _: &mut [f64]) {}
}

/// Makes sums over a run's agents.
pub(super) struct Sums<'t> {
    /// Who is here.
    pub(super) own: Range<usize>,
    agents: usize,
    team: &'t mut dyn Team,
}

impl<'t> Sums<'t> {
    pub(super) fn new(agents: usize, team: &'t mut dyn Team) -> Self {
        Self { own: team.own(agents), agents, team }
    }

    /// Whether nobody is elsewhere.
    pub(super) fn is_whole(&self) -> bool {
        self.own.len() == self.agents
    }

    /// Σ of `width` numbers over all agents: `work(agents, sums)` adds those of some agents here, ascending.
    pub(super) fn of(
        &mut self,
        threads: bool,
        width: usize,
        work: impl Fn(Range<usize>, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let (n, own) = (self.agents, self.own.clone());
        let blocks = n.min(BLOCKS);
        let block = |b: usize| part(n, blocks, b);
        let begun: Vec<usize> = (0..blocks).filter(|b| own.contains(&block(*b).start)).collect();
        let one = |b: &usize| {
            let agents = block(*b);
            let mut sums = vec![0.0; width];
            work(agents.start..agents.end.min(own.end), &mut sums);
            sums
        };
        let mut begun_sums: Vec<Vec<f64>> = match threads {
            true => begun.par_iter().map(one).collect(),
            false => begun.iter().map(one).collect(),
        };
        // at once, so that nobody waits for a process that waits itself
        if begun.last().is_some_and(|b| block(*b).end > own.end)
            && let Some(unfinished) = begun_sums.pop()
        {
            self.team.hand_on(&unfinished);
        }
        let before = (0..blocks).map(block).find(|b| b.start < own.start && b.end > own.start);
        let finished_before = before.and_then(|began| {
            let mut sums = vec![0.0; width];
            self.team.take(&mut sums);
            work(own.start..own.end.min(began.end), &mut sums);
            let is_finished = began.end <= own.end;
            if !is_finished {
                self.team.hand_on(&sums);
            }
            is_finished.then_some(sums)
        });
        let mut total = vec![0.0; width];
        self.in_turn(&mut total, |_, total| {
            finished_before.iter().chain(&begun_sums).for_each(|sums| add(total, 1.0, sums));
        });
        total
    }

    /// Σ_i of `width` numbers: `work(i, sums)` adds those of agent i.
    pub(super) fn over_agents(
        &mut self,
        view: &View<'_>,
        width: usize,
        work: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Vec<f64> {
        let threads = worth_threads(view.agents(), view.d);
        self.of(threads, width, |agents, sums| agents.for_each(|i| work(i, sums)))
    }

    /// Σ_i of one number.
    pub(super) fn one(&mut self, view: &View<'_>, of: impl Fn(usize) -> f64 + Sync) -> f64 {
        self.over_agents(view, 1, |i, sums| sums[0] += of(i))[0]
    }

    /// Σ_i weight_i·vector_i.
    pub(super) fn vector<'v>(
        &mut self,
        view: &View<'_>,
        term: impl Fn(usize) -> (f64, &'v [f64]) + Sync,
    ) -> Vec<f64> {
        self.over_agents(view, view.d, |i, sums| {
            let (weight, vector) = term(i);
            add(sums, weight, vector);
        })
    }

    /// π_R and π_C as the round of a view begins. Where processes share a run, that with agent 0 finds them for
    /// all: it may take a while, and memory.
    pub(super) fn stationary<'v>(&mut self, view: &View<'v>) -> Result<[Cow<'v, [f64]>; 2]> {
        if self.is_whole() {
            let Stationary { pull, push, .. } = view.topology.stationary(view.k)?;
            return Ok([pull, push].map(|π| Cow::Borrowed(&π[..])));
        }
        let n = self.agents;
        let found = if self.own.start == 0 { Some(view.topology.stationary(view.k)?) } else { None };
        let mut both = vec![0.0; 2 * n];
        self.in_turn(&mut both, |_, both| {
            if let Some(Stationary { pull, push, .. }) = found {
                both[..n].copy_from_slice(pull);
                both[n..].copy_from_slice(push);
            }
        });
        let push = both.split_off(n);
        Ok([both, push].map(Cow::Owned))
    }

    /// Each process, in the order of agents, works on what the one before has made of the numbers, with its
    /// own agents. All have what comes out at the end.
    pub(super) fn in_turn(&mut self, numbers: &mut [f64], work: impl FnOnce(Range<usize>, &mut [f64])) {
        if self.own.start > 0 {
            self.team.take(numbers);
        }
        work(self.own.clone(), numbers);
        if self.own.end < self.agents {
            self.team.hand_on(numbers);
        }
        if !self.is_whole() {
            self.team.share_last(numbers);
        }
    }
}

/// What `work` makes of each of a fixed number of parts of `n` things, in their order.
pub(super) fn in_parts<R: Send>(threads: bool, n: usize, work: impl Fn(Range<usize>) -> R + Sync) -> Vec<R> {
    let parts = n.min(BLOCKS);
    match threads {
        true => (0..parts).into_par_iter().map(|p| work(part(n, parts, p))).collect(),
        false => (0..parts).map(|p| work(part(n, parts, p))).collect(),
    }
}

/// One of `parts` parts of n things.
fn part(n: usize, parts: usize, which: usize) -> Range<usize> {
    which * n / parts..(which + 1) * n / parts
}

pub(super) fn add(sum: &mut [f64], weight: f64, vector: &[f64]) {
    sum.iter_mut().zip(vector).for_each(|(s, v)| *s += weight * v);
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;
    use crate::engine::metrics::{Extras, Measurement, measure_in, measure_many};
    use crate::engine::observe::Snapshot;
    use crate::engine::{Engine, Schedule, Setup, Simulator};
    use crate::graph::Topology;
    use crate::methods::PUSH_PULL;
    use crate::numeric::sample::Draws;
    use crate::problem::Problem;
    use crate::problems::{Quadratic, QuadraticShape};

    const N: usize = 150;
    const D: usize = 3;

    /// A process among others; here a thread.
    struct Process {
        own: Range<usize>,
        before: Option<Receiver<Vec<f64>>>,
        after: Option<Sender<Vec<f64>>>,
        /// To all, where it is the last one.
        all: Vec<Sender<Vec<f64>>>,
        last: Receiver<Vec<f64>>,
    }

    impl Team for Process {
        fn own(&self, _: usize) -> Range<usize> {
            self.own.clone()
        }

        fn take(&mut self, numbers: &mut [f64]) {
            numbers.copy_from_slice(&self.before.as_ref().unwrap().recv().unwrap());
        }

        fn hand_on(&mut self, numbers: &[f64]) {
            self.after.as_ref().unwrap().send(numbers.to_vec()).unwrap();
        }

        fn share_last(&mut self, numbers: &mut [f64]) {
            self.all.iter().for_each(|to| to.send(numbers.to_vec()).unwrap());
            numbers.copy_from_slice(&self.last.recv().unwrap());
        }
    }

    /// Processes with the agents between these.
    fn processes(cuts: &[usize]) -> Vec<Process> {
        let (mut to_all, mut before, mut processes) = (vec![], None, vec![]);
        for own in cuts.windows(2).map(|cut| cut[0]..cut[1]) {
            let ((to, last), (after, next)) = (channel(), channel());
            let after = (own.end < N).then_some(after);
            to_all.push(to);
            processes.push(Process { own, before: before.replace(next), after, all: vec![], last });
        }
        processes.last_mut().unwrap().all = to_all;
        processes
    }

    /// What is asked of other agents than these is no number.
    #[derive(Debug)]
    struct Only {
        whole: Quadratic,
        own: Range<usize>,
        at_once: bool,
    }

    impl Problem for Only {
        fn agents(&self) -> usize {
            N
        }

        fn dim(&self) -> usize {
            D
        }

        fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
            self.whole.gradient(agent, x, draws, g);
        }

        fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
            let loss = self.whole.exact(agent, x, g);
            if self.own.contains(&agent) { loss } else { f64::NAN }
        }

        fn at_once(&self) -> bool {
            self.at_once
        }
    }

    #[test]
    fn processes_measure_what_one_measures_and_need_their_own_agents_only() {
        let shape = QuadraticShape { dim: D, curvature: [0.5, 2.0], heterogeneity: 1.0, noise: 0.1 };
        let topology = Topology::from_digraphs(
            &[crate::graph::families::ring(N).unwrap()],
            crate::graph::topology::Subgraph::Full,
            crate::graph::topology::Weights::Uniform,
            0,
        );
        let (topology, schedule) = (topology.unwrap(), Schedule::constant(0.01).unwrap());
        let extras = Extras { agents: true, ..Extras::default() };
        let problem = |own, at_once| Only { whole: Quadratic::new(shape, N, 1).unwrap(), own, at_once };
        // blocks of agents begin at ⌊150b/64⌋: 0, 2, 4, 7, 9, 11, …
        let one_each: Vec<usize> = (0..=N).collect();
        for cuts in [&[0, 75, N][..], &[0, 1, 2, 3, 10, 11, N], &[0, 2, 4, 149, N], &one_each] {
            for at_once in [false, true] {
                let whole = problem(0..N, at_once);
                let setup =
                    Setup { method: &PUSH_PULL, problem: &whole, topology: &topology, schedule, seed: 1 };
                let mut simulator = Simulator::new(setup).unwrap();
                (0..5).for_each(|_| simulator.round().unwrap());
                let expected = measure_many(&[simulator.view()], &extras).unwrap();
                let states: Vec<Vec<f64>> = (0..N).map(|i| simulator.view().state(i).to_vec()).collect();
                let measure = &|mut process: Process| -> Vec<Measurement> {
                    let problem = problem(process.own.clone(), at_once);
                    let mut part = Snapshot::new(Setup { problem: &problem, ..setup }, 5).unwrap();
                    for (i, state) in states.iter().enumerate() {
                        let row = part.state_mut(i).unwrap();
                        row.fill(f64::NAN);
                        if process.own.contains(&i) {
                            row.copy_from_slice(state);
                        }
                    }
                    measure_in(&mut process, &[part.view()], &extras).unwrap()
                };
                let found: Vec<_> = std::thread::scope(|scope| {
                    let jobs =
                        processes(cuts).into_iter().map(|process| scope.spawn(move || measure(process)));
                    jobs.collect::<Vec<_>>().into_iter().map(|job| job.join().unwrap()).collect()
                });
                found.iter().for_each(|found| assert_eq!(*found, expected, "{cuts:?}"));
            }
        }
    }
}
