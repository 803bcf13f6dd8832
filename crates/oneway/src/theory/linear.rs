//! A round as a linear map, derived from the method itself.
//!
//! With f_i(x) = ½h‖x‖², one curvature h for all agents, a round of most methods is linear in the agents'
//! vectors: s⁺ = T(ηh)·s with s all of them stacked. T is read off the programs of a rule. Where there is no
//! rule it is found by applying the method to vectors, in the engine that runs it everywhere else. So a new
//! method is analysed without a line of its own. T depends on η and h through their product only: in the
//! variables (hx, g, v, …) a round knows no other number.
//!
//! Push-sum's weights w do not depend on the vectors. They are held at their limit nπ_C, which makes z = x/w
//! linear. So are the rows by which pull-only methods learn π_R.

use std::sync::atomic::{AtomicUsize, Ordering};

use faer::Mat;

use super::from_rule::{FromRule, each_entry};
use super::held::Held;
use super::spectrum::LinearMap;
use crate::engine::{Engine, Schedule, Setup, Simulator, metrics};
use crate::graph::Topology;
use crate::method::{Method, Network, Roles, Trace};
use crate::numeric::row::Width;
use crate::numeric::sample::{Draws, Purpose};
use crate::problem::Problem;
use crate::{Error, Result};

/// Columns of T that flow through a round side by side.
const COLUMNS: usize = 256;

/// f_i(x) = ½‖x‖² for every agent; with a unit of noise in coordinate i of agent i's gradients, if asked for.
#[derive(Debug, Default)]
struct UnitCurvature {
    agents: usize,
    dim: usize,
    noisy: bool,
    /// Gradients asked for.
    calls: AtomicUsize,
}

impl Problem for UnitCurvature {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn gradient(&self, agent: usize, x: &[f64], _draws: &mut Draws, g: &mut [f64]) {
        self.calls.fetch_add(1, Ordering::Relaxed);
        self.exact(agent, x, g);
        if self.noisy {
            g[agent] += 1.0;
        }
    }

    fn exact(&self, _agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        g.copy_from_slice(x);
        0.5 * x.iter().map(|x| x * x).sum::<f64>()
    }
}

/// A method on a topology, as the map T(ηh) of a whole period of rounds.
///
/// ```
/// use oneway::{methods::PUSH_PULL, theory::linear::RoundMap, graph::Topology};
/// // one agent: x⁺ = x − ηy, y⁺ = y + x⁺ − g, g⁺ = x⁺
/// let alone = Topology::complete(1).unwrap();
/// let t = RoundMap::new(&PUSH_PULL, &alone).unwrap().dense(0.5).unwrap();
/// assert_eq!((t[(0, 0)], t[(0, 1)], t[(0, 2)]), (1.0, -0.5, 0.0));
/// assert_eq!((t[(1, 0)], t[(1, 1)], t[(1, 2)]), (1.0, 0.5, -1.0));
/// assert_eq!((t[(2, 0)], t[(2, 1)], t[(2, 2)]), (1.0, -0.5, 0.0));
/// ```
#[derive(Debug)]
pub struct RoundMap<'a> {
    method: &'a dyn Method,
    topology: &'a Topology,
    /// Vectors of an agent's state.
    vectors: usize,
    held: Held,
    /// What T is read off; none where it is found by applying the method to vectors.
    trace: Option<Trace>,
}

impl<'a> RoundMap<'a> {
    /// The map of a method on a topology it can run on; [`Error::NoTheory`] if its rounds are not linear.
    ///
    /// A rule's programs say whether it is linear, and the error what is not. Of other methods it is tried
    /// out.
    pub fn new(method: &'a dyn Method, topology: &'a Topology) -> Result<Self> {
        Self::from_trace(method, topology, method.trace())
    }

    /// The same map found by applying the method to vectors, also where it is a rule.
    ///
    /// Linearity is tried out on random vectors: T(a + b) = T(a) + T(b), with vectors side by side as
    /// coordinates.
    pub fn by_applying(method: &'a dyn Method, topology: &'a Topology) -> Result<Self> {
        Self::from_trace(method, topology, None)
    }

    fn from_trace(method: &'a dyn Method, topology: &'a Topology, trace: Option<Trace>) -> Result<Self> {
        let n = topology.agents();
        let probe = UnitCurvature { agents: n, dim: 1, ..UnitCurvature::default() };
        let profile = method.profile_on(&probe);
        topology.check(profile.network)?;
        method.check_network(topology)?;
        method.check_problem(&probe).map_err(|error| Error::NoTheory(format!("{method:?}: {error}")))?;
        let Width { vectors, scalars } = profile.state;
        let held = match (profile.roles.weight, scalars) {
            (None, 0) => Held::Nothing,
            (Some(0), 1) => {
                let shares = &topology.stationary(0)?.push;
                Held::Weights(shares.iter().map(|share| n as f64 * share).collect())
            }
            (None, all) if profile.network == Network::PullOnly && all == n => {
                Held::Row(topology.stationary(0)?.pull.clone())
            }
            _ => {
                return Err(Error::NoTheory(format!(
                    "{method:?} keeps scalars other than push-sum's weight"
                )));
            }
        };
        let map = Self { method, topology, held, vectors, trace };
        match map.rule() {
            Some(rule) => drop(rule.matrix(0.1).map_err(|reason| map.not_linear(&reason))?),
            None => map.check_linear()?,
        }
        Ok(map)
    }

    fn rule(&self) -> Option<FromRule<'_>> {
        let (topology, held) = (self.topology, &self.held);
        self.trace.as_ref().map(|trace| FromRule { trace, topology, held })
    }

    fn check_linear(&self) -> Result<()> {
        let mut draws = Draws::new(0, Purpose::Graph, 0, 0);
        let sample: Vec<[f64; 2]> = (0..self.dim()).map(|_| [draws.normal(), draws.normal()]).collect();
        let linear = self.with(0.1, 3, |flow| {
            flow.fill(|at, column| match column {
                0 | 1 => sample[at][column],
                _ => sample[at][0] + sample[at][1],
            });
            flow.turn();
            (0..self.dim()).all(|at| {
                let [a, b, both] = [0, 1, 2].map(|column| flow.row(at)[column]);
                (a + b - both).abs() <= 1e-9 * (1.0 + a.abs() + b.abs())
            })
        })?;
        match linear {
            true => Ok(()),
            false => Err(self.not_linear("T(a + b) is not T(a) + T(b)")),
        }
    }

    fn not_linear(&self, why: &str) -> Error {
        Error::NoTheory(format!("a round of {:?} is not a linear map: {why}", self.method))
    }

    /// Length of s: all vectors of all agents.
    pub fn dim(&self) -> usize {
        self.topology.agents() * self.vectors
    }

    /// Rounds that T stands for.
    pub fn rounds(&self) -> usize {
        self.topology.period().len()
    }

    /// T(ηh) as a matrix: entry s·n + i is vector s of agent i. O(n·deg·dim) time, dim² room.
    pub fn dense(&self, step: f64) -> Result<Mat<f64>> {
        let mut matrix = Mat::zeros(self.dim(), self.dim());
        self.entries(step, |row, column, value| matrix[(row, column)] = value)?;
        Ok(matrix)
    }

    /// T(ηh) by its entries that are not zero.
    pub(super) fn sparse(&self, step: f64) -> Result<SparseRound<'_>> {
        let mut rows = vec![vec![]; self.dim()];
        self.entries(step, |row, column, value| rows[row].push((column as u32, value)))?;
        let ends = rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        });
        let ends = ends.collect();
        Ok(SparseRound { map: self, ends, entries: rows.concat(), next: vec![0.0; self.dim()] })
    }

    /// Hands over the entries of T(ηh) that are not zero, a row's in the order of their columns.
    fn entries(&self, step: f64, mut entry: impl FnMut(usize, usize, f64)) -> Result<()> {
        if let Some(rule) = self.rule() {
            Schedule::constant(step)?;
            let rows = rule.matrix(step).map_err(|reason| self.not_linear(&reason))?;
            each_entry(&rows, entry);
            return Ok(());
        }
        for first in (0..self.dim()).step_by(COLUMNS) {
            let width = COLUMNS.min(self.dim() - first);
            self.with(step, width, |flow| {
                flow.fill(|at, column| f64::from(at == first + column));
                flow.turn();
                for row in 0..self.dim() {
                    let values = flow.row(row).iter().enumerate();
                    values.filter(|(_, value)| **value != 0.0).for_each(|(c, v)| entry(row, first + c, *v));
                }
            })?;
        }
        Ok(())
    }

    /// Lets vectors flow through rounds with the raw step ηh, `width` of them side by side.
    pub(super) fn with<T>(
        &self,
        step: f64,
        width: usize,
        work: impl FnOnce(&mut Flow<'_, '_>) -> T,
    ) -> Result<T> {
        let problem =
            UnitCurvature { agents: self.topology.agents(), dim: width, ..UnitCurvature::default() };
        self.on(&problem, step, work)
    }

    fn on<T>(
        &self,
        problem: &UnitCurvature,
        step: f64,
        work: impl FnOnce(&mut Flow<'_, '_>) -> T,
    ) -> Result<T> {
        let Self { method, topology, .. } = *self;
        let schedule = Schedule::constant(step)?;
        let simulator = Simulator::new(Setup { method, problem, topology, schedule, seed: 0 })?;
        Ok(work(&mut Flow { simulator, map: self, width: problem.dim }))
    }

    /// T(ηh) on the states that can occur, as a matrix: what Lemma 2 forbids is mapped to zero.
    pub(super) fn dense_within_law(&self, step: f64) -> Result<Mat<f64>> {
        let mut matrix = self.dense(step)?;
        (0..matrix.ncols()).for_each(|column| self.keep_to_law(matrix.col_as_slice_mut(column)));
        Ok(matrix)
    }

    /// N: what a round makes of a unit of noise in one agent's gradient, a column an agent. Refuses a method
    /// that takes more than one gradient a round.
    pub fn noise(&self, step: f64) -> Result<Mat<f64>> {
        let n = self.topology.agents();
        let (noise, calls) = match self.rule() {
            Some(rule) => {
                Schedule::constant(step)?;
                let mut noise = Mat::zeros(self.dim(), n);
                let rows = rule.noise(step).map_err(|reason| self.not_linear(&reason))?;
                each_entry(&rows, |row, column, value| noise[(row, column)] = value);
                (noise, n * rule.gradients())
            }
            None => {
                let problem = UnitCurvature { agents: n, dim: n, noisy: true, ..UnitCurvature::default() };
                self.on(&problem, step, |flow| {
                    flow.fill(|_, _| 0.0);
                    let before = problem.calls.load(Ordering::Relaxed);
                    flow.turn();
                    let noise = Mat::from_fn(self.dim(), n, |at, column| flow.row(at)[column]);
                    (noise, problem.calls.load(Ordering::Relaxed) - before)
                })?
            }
        };
        match calls == n {
            true => Ok(noise),
            false => Err(Error::NoTheory(format!(
                "{:?} asks for {calls} gradients of {n} agents a round",
                self.method
            ))),
        }
    }

    /// What the quantities of interest read off s.
    pub(super) fn readouts(&self) -> Result<Readouts> {
        let n = self.topology.agents();
        self.with(1.0, self.dim(), |flow| {
            flow.fill(|at, column| f64::from(at == column));
            let view = flow.simulator.view();
            let trackers = self.method.roles().tracker.map(|tracker| {
                let π_c = &self.topology.stationary(0)?.push;
                let mean = |i: usize, j: usize| match &self.held {
                    Held::Row(π_r) => π_r[j], // v_i − Σ_j π_R,j v_j
                    _ => π_c[i],              // v_i − π_C,i Σ_j v_j
                };
                let share = |i: usize, at: usize| match at / n == tracker {
                    true => f64::from(at % n == i) - mean(i, at % n),
                    false => 0.0,
                };
                Ok((0..n).map(|i| (0..self.dim()).map(|at| share(i, at)).collect()).collect())
            });
            Ok(Readouts {
                average: metrics::average(&view)?,
                estimates: (0..n).map(|i| view.estimate(i).to_vec()).collect(),
                trackers: trackers.transpose()?,
            })
        })?
    }

    /// Takes out what is conserved: Σ(tracker − tracked) = 0 in every run (Lemma 2), and would stay what it
    /// is for ever.
    fn keep_to_law(&self, s: &mut [f64]) {
        let Roles { tracker, tracked, .. } = self.method.roles();
        let Some((tracker, tracked)) = tracker.zip(tracked) else { return };
        let n = self.topology.agents();
        let part = |index: usize| index * n..(index + 1) * n;
        let mean = |of: &[f64]| match &self.held {
            Held::Row(π_r) => π_r.iter().zip(of).map(|(share, x)| share * x).sum(),
            _ => of.iter().sum::<f64>() / n as f64,
        };
        let share = 0.5 * (mean(&s[part(tracker)]) - mean(&s[part(tracked)]));
        s[part(tracker)].iter_mut().for_each(|v| *v -= share);
        s[part(tracked)].iter_mut().for_each(|m| *m += share);
    }
}

/// Linear functions of s, as rows of weights.
pub(super) struct Readouts {
    /// x̄, where F is evaluated.
    pub(super) average: Vec<f64>,
    /// x_i, each agent's estimate.
    pub(super) estimates: Vec<Vec<f64>>,
    /// v_i − nπ_C,i v̄, each agent's error in tracking.
    pub(super) trackers: Option<Vec<Vec<f64>>>,
}

/// Vectors on their way through rounds.
#[derive(Debug)]
pub(super) struct Flow<'s, 'm> {
    simulator: Simulator<'s>,
    map: &'m RoundMap<'m>,
    width: usize,
}

impl Flow<'_, '_> {
    /// Sets entry `at` of vector number `column` to `value(at, column)`.
    pub(super) fn fill(&mut self, mut value: impl FnMut(usize, usize) -> f64) {
        let (n, width) = (self.map.topology.agents(), self.width);
        self.simulator.fill_states(|agent, row| {
            let (vectors, scalars) = row.split_at_mut(self.map.vectors * width);
            for (part, vector) in vectors.chunks_exact_mut(width).enumerate() {
                let numbers = vector.iter_mut().enumerate();
                numbers.for_each(|(column, number)| *number = value(part * n + agent, column));
            }
            match &self.map.held {
                Held::Nothing => {}
                Held::Weights(limits) => scalars.fill(limits[agent]),
                Held::Row(limit) => scalars.copy_from_slice(limit),
            }
        });
    }

    /// s ← Ts, a whole period.
    pub(super) fn turn(&mut self) {
        (0..self.map.rounds())
            .for_each(|_| self.simulator.round().expect("a unit curvature has gradients everywhere"));
    }

    /// Entry `at` of all vectors.
    pub(super) fn row(&self, at: usize) -> &[f64] {
        let n = self.map.topology.agents();
        self.simulator.view().vector(at % n, at / n)
    }
}

/// T by its entries, on the states that can occur: those that obey Lemma 2.
///
/// A round costs a product for each entry: a third of what the engine takes, which is made for long vectors.
#[derive(Debug)]
pub(super) struct SparseRound<'m> {
    map: &'m RoundMap<'m>,
    /// Where each row ends in `entries`.
    ends: Vec<usize>,
    /// (column, value), row by row.
    entries: Vec<(u32, f64)>,
    next: Vec<f64>,
}

impl LinearMap for SparseRound<'_> {
    fn dim(&self) -> usize {
        self.ends.len()
    }

    fn apply(&mut self, s: &mut [f64], times: u64) {
        self.map.keep_to_law(s);
        for _ in 0..times {
            let mut start = 0;
            for (next, &end) in self.next.iter_mut().zip(&self.ends) {
                let row = &self.entries[start..end];
                *next = row.iter().map(|(column, value)| value * s[*column as usize]).sum();
                start = end;
            }
            s.copy_from_slice(&self.next);
            self.map.keep_to_law(s); // a round may leave it from states that no run is in
        }
    }
}
