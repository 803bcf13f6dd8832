//! A problem made of closures.

use std::fmt;

use crate::numeric::sample::Draws;
use crate::problem::{GradientBatch, Problem};
use crate::{Error, Result};

/// What a closure says when it cannot make a gradient; `?` turns any error into it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

type Exact = dyn Fn(usize, &[f64], &mut [f64]) -> f64 + Send + Sync;
type Sampled =
    dyn Fn(usize, &[f64], &mut Draws, &mut [f64]) -> std::result::Result<(), Failure> + Send + Sync;
type Batched = dyn Fn(GradientBatch<'_>) -> std::result::Result<(), Failure> + Send + Sync;

/// F(x) = (1/n) Σ f_i(x), with f_i and its gradient from closures.
///
/// ```
/// use oneway::problem::Problem;
/// use oneway::problems::FromFn;
///
/// // f_i(x) = ½(x − i)², whose sum is least at the mean of all i
/// let problem = FromFn::new(5, 1, |agent, x, g| {
///     g[0] = x[0] - agent as f64;
///     0.5 * g[0] * g[0]
/// })
/// .with_smoothness(1.0);
/// let mut g = [0.0];
/// assert_eq!((problem.exact(4, &[1.0], &mut g), g), (4.5, [-3.0]));
/// ```
///
/// Gradients are exact unless [stochastic](Self::stochastic) ones are given, for an agent at a time, or for
/// [many in one call](Self::batched).
pub struct FromFn {
    agents: usize,
    dim: usize,
    exact: Box<Exact>,
    sampled: Option<Box<Sampled>>,
    batched: Option<Box<Batched>>,
    start: Option<Vec<f64>>,
    smoothness: f64,
}

impl FromFn {
    /// n objectives in dimension d: `exact(agent, x, g)` returns f_i(x) and writes ∇f_i(x) into `g`.
    pub fn new(
        agents: usize,
        dim: usize,
        exact: impl Fn(usize, &[f64], &mut [f64]) -> f64 + Send + Sync + 'static,
    ) -> Self {
        let exact = Box::new(exact);
        Self { agents, dim, exact, sampled: None, batched: None, start: None, smoothness: f64::INFINITY }
    }

    /// The same with stochastic gradients: `sampled(agent, x, draws, g)` writes one into `g`. An error ends
    /// the run.
    pub fn stochastic(
        self,
        sampled: impl Fn(usize, &[f64], &mut Draws, &mut [f64]) -> std::result::Result<(), Failure>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self { sampled: Some(Box::new(sampled)), ..self }
    }

    /// The same with the stochastic gradients of all agents in one call. An error ends the run.
    pub fn batched(
        self,
        batched: impl Fn(GradientBatch<'_>) -> std::result::Result<(), Failure> + Send + Sync + 'static,
    ) -> Self {
        Self { batched: Some(Box::new(batched)), ..self }
    }

    /// The same with another starting point than the origin.
    pub fn with_start(self, x: Vec<f64>) -> Result<Self> {
        match x.len() == self.dim {
            true => Ok(Self { start: Some(x), ..self }),
            false => Err(Error::Mismatch {
                left: "problem",
                left_size: self.dim,
                right: "starting point",
                right_size: x.len(),
                unit: "coordinates",
            }),
        }
    }

    /// The same with a known L: every ∇f_i is L-Lipschitz.
    pub fn with_smoothness(self, smoothness: f64) -> Self {
        Self { smoothness, ..self }
    }
}

impl fmt::Debug for FromFn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { agents, dim, .. } = self;
        f.debug_struct("FromFn").field("agents", agents).field("dim", dim).finish_non_exhaustive()
    }
}

impl Problem for FromFn {
    fn agents(&self) -> usize {
        self.agents
    }

    fn dim(&self) -> usize {
        self.dim
    }

    fn start(&self, x: &mut [f64]) {
        match &self.start {
            Some(start) => x.copy_from_slice(start),
            None => x.fill(0.0),
        }
    }

    /// NaN where the closure fails: here nothing else can be said.
    fn gradient(&self, agent: usize, x: &[f64], draws: &mut Draws, g: &mut [f64]) {
        let batch = GradientBatch::one(agent, x, draws, g);
        if self.gradients(batch).is_err() {
            g.fill(f64::NAN);
        }
    }

    fn gradients(&self, mut batch: GradientBatch<'_>) -> Result<()> {
        if let Some(batched) = &self.batched {
            return batched(batch)
                .map_err(|error| Error::Gradient { agent: None, reason: error.to_string() });
        }
        for q in 0..batch.agents.len() {
            let (agent, x) = (batch.agents.get(q), batch.points.row(q));
            let g = batch.gradients.row(q);
            match &self.sampled {
                None => _ = (self.exact)(agent, x, g),
                Some(sampled) => {
                    let failed =
                        |error: Failure| Error::Gradient { agent: Some(agent), reason: error.to_string() };
                    sampled(agent, x, &mut batch.draws[q], g).map_err(failed)?;
                }
            }
        }
        Ok(())
    }

    fn at_once(&self) -> bool {
        self.batched.is_some()
    }

    fn exact(&self, agent: usize, x: &[f64], g: &mut [f64]) -> f64 {
        (self.exact)(agent, x, g)
    }

    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn noise(&self) -> Option<f64> {
        (self.sampled.is_none() && self.batched.is_none()).then_some(0.0)
    }
}
