//! A rule's straight-line programs, interpreted one number at a time: the engine's lanes must have the same
//! bits.

use super::Failure;
use crate::engine::Setup;
use crate::graph::mixing::Mixing;
use crate::method::{Ask, Carries, Trace, TracedExchange};
use crate::numeric::sample::{Draws, Purpose};

type Result<T> = std::result::Result<T, Failure>;

/// All agents, one number at a time.
pub(super) struct Interpreter<'a> {
    setup: Setup<'a>,
    trace: &'a Trace,
    /// `states[agent][c][vector]`.
    states: Vec<Vec<Vec<f64>>>,
    /// The scalars behind each state.
    scalars: Vec<Vec<f64>>,
}

impl<'a> Interpreter<'a> {
    /// All agents at state 0.
    pub(super) fn new(setup: Setup<'a>, trace: &'a Trace) -> Result<Self> {
        let mut interpreter = Self { setup, trace, states: vec![], scalars: vec![] };
        interpreter.start(setup.method.profile_on(setup.problem).start)?;
        Ok(interpreter)
    }

    fn common(&self, agent: usize, w: f64, k: u64) -> Vec<f64> {
        let kept = self.setup.topology.at(k).push.weight(agent, agent);
        let [first, second] = self.trace.constants.map(|constant| constant.at(k));
        vec![self.setup.schedule.at(k), w, kept, first, second]
    }

    /// The gradient at the first point, and the other one that is asked for.
    fn gradients(
        &self,
        ask: Ask,
        agent: usize,
        points: [&[f64]; 2],
        k: u64,
        phase: u32,
    ) -> Result<[Vec<f64>; 2]> {
        let problem = self.setup.problem;
        let mut draws = Draws::new(self.setup.seed, Purpose::Gradient, agent, k).in_phase(phase);
        let [mut next, mut other] = [(); 2].map(|()| vec![0.0; points[0].len()]);
        match ask {
            Ask::Nothing => {}
            Ask::Samples(count) => {
                for _ in 1..count {
                    problem.gradient(agent, points[0], &mut draws, &mut next);
                    other.iter_mut().zip(&next).for_each(|(sum, g)| *sum += g);
                }
                problem.gradient(agent, points[0], &mut draws, &mut next);
            }
            Ask::BothPoints => {
                problem.gradient(agent, points[1], &mut draws.clone(), &mut other);
                problem.gradient(agent, points[0], &mut draws, &mut next);
            }
            Ask::Component | Ask::AllComponents => return Err("a rule cannot ask for components".into()),
        }
        Ok([next, other])
    }

    fn start(&mut self, ask: Ask) -> Result<()> {
        let (n, d) = (self.setup.problem.agents(), self.setup.problem.dim());
        let mut x = vec![0.0; d];
        self.setup.problem.start(&mut x);
        for agent in 0..n {
            let [g, other] = self.gradients(ask, agent, [&x, &x], 0, 0)?;
            let first = |c: usize| {
                let inputs = [self.common(agent, 1.0, 0), vec![x[c], g[c], other[c]]].concat();
                self.trace.start.run(&inputs)
            };
            self.states.push((0..d).map(first).collect());
            self.scalars.push(match self.trace.carries {
                Carries::Nothing => vec![],
                Carries::Weight => vec![1.0],
                Carries::Eigenvector => (0..n).map(|j| f64::from(j == agent)).collect(),
            });
        }
        Ok(())
    }

    /// State k becomes state k + 1.
    pub(super) fn round(&mut self, k: u64) -> Result<()> {
        let exchanges = &self.trace.exchanges;
        (0..).zip(exchanges).try_for_each(|(phase, exchange)| self.exchange(k, phase, exchange))
    }

    fn exchange(&mut self, k: u64, phase: u32, exchange: &TracedExchange) -> Result<()> {
        let (n, d) = (self.setup.problem.agents(), self.setup.problem.dim());
        let sent: Vec<Vec<Vec<f64>>> = (0..n)
            .map(|agent| {
                let common = self.common(agent, 1.0, k);
                let send = |c: usize| exchange.send.run(&[&common[..], &self.states[agent][c]].concat());
                (0..d).map(send).collect()
            })
            .collect();
        let pair = self.setup.topology.at(k);
        let [pulls, pushes] = self.trace.sends;
        let scalars = self.scalars.clone();
        for agent in 0..n {
            self.scalars[agent] = match self.trace.carries {
                Carries::Nothing => vec![],
                Carries::Weight => vec![mixed(&pair.push, agent, |j| scalars[j][0])],
                Carries::Eigenvector => (0..n).map(|i| mixed(&pair.pull, agent, |j| scalars[j][i])).collect(),
            };
            let w = match self.trace.carries {
                Carries::Nothing => 1.0,
                Carries::Weight => self.scalars[agent][0],
                Carries::Eigenvector => self.scalars[agent][agent],
            };
            let inputs: Vec<Vec<f64>> = (0..d)
                .map(|c| {
                    let pulled = (0..pulls).map(|i| mixed(&pair.pull, agent, |j| sent[j][c][i]));
                    let pushed = (pulls..pulls + pushes).map(|i| mixed(&pair.push, agent, |j| sent[j][c][i]));
                    let own = self.common(agent, w, k).into_iter().chain(self.states[agent][c].clone());
                    own.chain(pulled).chain(pushed).collect()
                })
                .collect();
            let points: Vec<Vec<f64>> = inputs.iter().map(|inputs| exchange.points.run(inputs)).collect();
            let [next, last] = [0, 1].map(|i| points.iter().map(|point| point[i]).collect::<Vec<_>>());
            let [g, other] = self.gradients(exchange.ask, agent, [&next, &last], k + 1, phase)?;
            for (c, inputs) in inputs.iter().enumerate() {
                self.states[agent][c] = exchange.update.run(&[&inputs[..], &[g[c], other[c]]].concat());
            }
        }
        Ok(())
    }

    /// Agent i's row, as an engine keeps it.
    pub(super) fn row(&self, i: usize) -> Vec<f64> {
        let vectors =
            (0..self.trace.names.len()).flat_map(|v| self.states[i].iter().map(move |state| state[v]));
        vectors.chain(self.scalars[i].iter().copied()).collect()
    }
}

/// Σ_j W_ij x_j as the bit contract says it.
fn mixed(mixing: &Mixing, i: usize, x: impl Fn(usize) -> f64) -> f64 {
    mixing.row(i).map(|(j, weight)| weight * x(j)).reduce(|sum, term| sum + term).unwrap_or(0.0)
}
