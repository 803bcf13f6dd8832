//! The second half of an exchange, the same in every engine: points | gradients of many agents | update, turn
//! by turn.

use crate::Result;
use crate::method::{Ask, Exchange, Gradient, Gradients, Hearing, Kernel, Points, Profile, Round};
use crate::numeric::Float;
use crate::numeric::matrix::{Matrix, stride, stride_of};
use crate::numeric::row::{Agents, Rows, RowsMut};
use crate::numeric::sample::{Draws, Purpose};
use crate::problem::{GradientBatch, Problem};

/// Room for the points and gradients of some agents, and what is drawn for them. Nothing is allocated after
/// it is made, but at the start of a run.
#[derive(Debug)]
pub struct Turns<T = f64> {
    d: usize,
    points_are_pulled: bool,
    next: Matrix<T>,
    last: Matrix<T>,
    gradient: Matrix<T>,
    other: Matrix<T>,
    /// Points and gradients in double precision, where T is not: problems know no other.
    double: [Matrix; 2],
    draws: Vec<Draws>,
    /// The same draws once more, for two gradients with one sample.
    twins: Vec<Draws>,
    samples: Vec<usize>,
}

impl<T: Float> Turns<T> {
    /// For up to `agents` agents at a time.
    pub fn new(profile: &Profile, agents: usize, d: usize) -> Self {
        let asks = profile.exchanges.iter().flat_map(|exchange| &exchange.turns).chain([&profile.start]);
        let (mut both, mut other) = (false, false);
        for ask in asks {
            both |= *ask == Ask::BothPoints;
            other |= matches!(ask, Ask::BothPoints | Ask::Samples(2..));
        }
        let matrix = |needed: bool| Matrix::new(if needed { agents } else { 0 }, d);
        let double = || Matrix::new(if T::as_f64(&[]).is_some() { 0 } else { agents }, d);
        Self {
            d,
            points_are_pulled: profile.points_are_pulled,
            next: Matrix::new(agents, d),
            last: matrix(both),
            gradient: Matrix::new(agents, d),
            other: matrix(other),
            double: [double(), double()],
            draws: Vec::with_capacity(agents),
            twins: Vec::with_capacity(if both { agents } else { 0 }),
            samples: Vec::with_capacity(agents),
        }
    }

    /// Makes the draws ξ_k of an exchange, and tells the problem what will be asked.
    pub fn prepare(&mut self, problem: &dyn Problem, at: Round<'_>, k: u64, agents: Agents<'_>) {
        self.draws.clear();
        let drawn = |agent| Draws::new(at.seed, Purpose::Gradient, agent, k).in_phase(at.phase);
        self.draws.extend(agents.iter().map(drawn));
        problem.prefetch_all(agents, &mut self.draws);
    }

    /// Fills the states of agents at x₀.
    pub fn start(
        &mut self,
        kernel: &dyn Kernel<T>,
        problem: &dyn Problem,
        ask: Ask,
        at: Round<'_>,
        agents: Agents<'_>,
        mut states: RowsMut<'_, T>,
    ) -> Result<()> {
        self.prepare(problem, at, 0, agents);
        let mut x = vec![0.0; self.d];
        problem.start(&mut x);
        let x: Vec<T> = x.into_iter().map(T::from_f64).collect();
        (0..agents.len()).for_each(|q| self.next.row_mut(q, self.d).copy_from_slice(&x));
        let mut components = vec![];
        if ask != Ask::AllComponents {
            self.ask(problem, ask, agents, None)?;
        }
        let second = matches!(ask, Ask::BothPoints | Ask::Samples(2..));
        let [mut gradient, mut other] =
            [&mut self.gradient, &mut self.other].map(|rows| rows_of(rows, self.d));
        for q in 0..agents.len() {
            let at = Round { agent: agents.get(q), ..at };
            let next = match ask {
                Ask::AllComponents => {
                    all_components(problem, at.agent, &x, &mut components);
                    &mut components[..]
                }
                Ask::Nothing => &mut [],
                _ => gradient.row(q),
            };
            let other = if second { other.row(q) } else { &mut [] };
            kernel.start(at, &x, Gradient { next, other, sample: 0 }, states.row(q));
        }
        Ok(())
    }

    /// Goes through the turns of an exchange, whose draws are [prepared](Self::prepare): agents that have
    /// heard get their next states.
    pub fn finish(
        &mut self,
        kernel: &dyn Kernel<T>,
        problem: &dyn Problem,
        exchange: &Exchange,
        at: Round<'_>,
        block: &mut Hearing<'_, T>,
    ) -> Result<()> {
        let d = self.d;
        for (turn, &ask) in (0..).zip(&exchange.turns) {
            let at = Round { turn, ..at };
            let (some, both) = (ask != Ask::Nothing, ask == Ask::BothPoints);
            let pulled = (self.points_are_pulled && !problem.at_once()).then_some(block.pulled); // lent: in memory of our own
            if pulled.is_none() {
                let [next, last] =
                    [(some, &mut self.next), (both, &mut self.last)].map(|(is, rows)| asked(is, rows, d));
                kernel.point_block(at, block, &mut Points { next, last });
            }
            self.ask(problem, ask, block.agents, pulled)?;
            let other = both || matches!(ask, Ask::Samples(2..));
            let mut gradients = Gradients {
                next: asked(some, &mut self.gradient, d),
                other: asked(other, &mut self.other, d),
                samples: &self.samples,
            };
            kernel.update_block(at, block, &mut gradients);
        }
        Ok(())
    }

    /// Has the gradients made that are asked for, at `pulled` or else at the points that the method has said.
    fn ask(
        &mut self,
        problem: &dyn Problem,
        ask: Ask,
        agents: Agents<'_>,
        pulled: Option<Rows<'_, T>>,
    ) -> Result<()> {
        let Self { d, next, last, gradient, other, double, draws, twins, samples, .. } = self;
        let mut next = pulled.map_or(Where::Lent(next), Where::Shown);
        let mut call = Call { problem, agents, d: *d, double };
        match ask {
            Ask::Nothing | Ask::AllComponents => Ok(()),
            Ask::Samples(count) => {
                let numbers = agents.len() * stride_of::<T>(*d);
                if count > 1 {
                    other.rows_mut()[..numbers].fill(T::default());
                }
                for _ in 1..count {
                    call.gradients(&mut next, draws, gradient)?;
                    let sums = other.rows_mut()[..numbers].iter_mut();
                    sums.zip(gradient.rows()).for_each(|(sum, g)| *sum += *g);
                }
                call.gradients(&mut next, draws, gradient)
            }
            Ask::BothPoints => {
                twins.clone_from(draws);
                call.gradients(&mut Where::Lent(last), twins, other)?;
                call.gradients(&mut next, draws, gradient)
            }
            Ask::Component => {
                samples.clear();
                let drawn = |draws: &mut Draws| problem.samples().map_or(0, |samples| draws.below(samples));
                samples.extend(draws.iter_mut().map(drawn));
                call.components(next.rows(*d), samples, gradient);
                Ok(())
            }
        }
    }
}

/// The rows, or none.
fn asked<T: Float>(wanted: bool, matrix: &mut Matrix<T>, d: usize) -> RowsMut<'_, T> {
    if wanted { rows_of(matrix, d) } else { RowsMut::none() }
}

fn rows_of<T: Float>(matrix: &mut Matrix<T>, d: usize) -> RowsMut<'_, T> {
    RowsMut::new(matrix.rows_mut(), d, stride_of::<T>(d))
}

fn all_components<T: Float>(problem: &dyn Problem, agent: usize, x: &[T], components: &mut Vec<T>) {
    let x: Vec<f64> = x.iter().map(|x| x.to_f64()).collect();
    let mut g = vec![0.0; x.len()];
    components.clear();
    for sample in 0..problem.samples().unwrap_or(0) {
        problem.component(agent, sample, &x, &mut g);
        components.extend(g.iter().map(|g| T::from_f64(*g)));
    }
}

/// The points of a call: rows of somebody else, or our own, which can be lent.
enum Where<'a, T> {
    Shown(Rows<'a, T>),
    Lent(&'a mut Matrix<T>),
}

impl<T: Float> Where<'_, T> {
    fn rows(&self, d: usize) -> Rows<'_, T> {
        match self {
            Where::Shown(rows) => *rows,
            Where::Lent(matrix) => Rows::new(matrix.rows(), d, stride_of::<T>(d)),
        }
    }
}

/// One call of a problem, in double precision.
struct Call<'c, 'd> {
    problem: &'c dyn Problem,
    agents: Agents<'c>,
    d: usize,
    double: &'d mut [Matrix; 2],
}

impl Call<'_, '_> {
    fn gradients<T: Float>(
        &mut self,
        points: &mut Where<'_, T>,
        draws: &mut [Draws],
        out: &mut Matrix<T>,
    ) -> Result<()> {
        let (problem, agents, d) = (self.problem, self.agents, self.d);
        if problem.at_once()
            && let Where::Lent(matrix) = points
            && let Some(out) = T::as_f64_mut(out.rows_mut())
            && let Some(memory) = matrix.lend()
        {
            let (points, gradients) =
                (Rows::new(matrix.lent(&memory), d, stride(d)), RowsMut::new(out, d, stride(d)));
            let done = problem.gradients_in(GradientBatch { agents, points, draws, gradients }, &memory);
            matrix.take_back(memory);
            return done;
        }
        self.with(points.rows(d), out, |points, gradients| {
            problem.gradients(GradientBatch { agents, points, draws, gradients })
        })
    }

    fn components<T: Float>(&mut self, points: Rows<'_, T>, samples: &[usize], out: &mut Matrix<T>) {
        let (problem, agents) = (self.problem, self.agents);
        self.with(points, out, |points, mut gradients| {
            for (q, &sample) in samples.iter().enumerate() {
                problem.component(agents.get(q), sample, points.row(q), gradients.row(q));
            }
        });
    }

    fn with<T: Float, R>(
        &mut self,
        points: Rows<'_, T>,
        out: &mut Matrix<T>,
        work: impl FnOnce(Rows<'_, f64>, RowsMut<'_, f64>) -> R,
    ) -> R {
        let (d, stride) = (self.d, stride_of::<f64>(self.d));
        if let (Some(points), Some(out)) = (points.as_f64(), T::as_f64_mut(out.rows_mut())) {
            return work(points, RowsMut::new(out, d, stride));
        }
        let [double_points, double_out] = self.double;
        for q in 0..self.agents.len() {
            let pairs = double_points.row_mut(q, d).iter_mut().zip(points.row(q));
            pairs.for_each(|(double, x)| *double = x.to_f64());
        }
        let result =
            work(Rows::new(double_points.rows(), d, stride), RowsMut::new(double_out.rows_mut(), d, stride));
        for q in 0..self.agents.len() {
            let pairs = out.row_mut(q, d).iter_mut().zip(double_out.row(q, d));
            pairs.for_each(|(g, double)| *g = T::from_f64(*double));
        }
        result
    }
}
