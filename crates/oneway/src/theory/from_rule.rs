//! A round as a linear map, read off a rule: its programs say how each number depends on the others, and the
//! mixing matrices how the agents do.

use super::held::Held;
use crate::graph::Topology;
use crate::graph::mixing::Mixing;
use crate::method::{Ask, COMMON_INPUTS, Trace, TracedExchange};
use crate::numeric::{Affine, Program};

/// The reason why a round is no linear map, where it is none.
type Result<T> = std::result::Result<T, String>;

/// A sparse matrix by its rows: (column, value), columns ascending.
pub(super) type Rows = Vec<Vec<(u32, f64)>>;

/// Hands over the entries, row by row: row, column, value.
pub(super) fn each_entry(rows: &Rows, mut entry: impl FnMut(usize, usize, f64)) {
    for (row, entries) in rows.iter().enumerate() {
        entries.iter().for_each(|(column, value)| entry(row, *column as usize, *value));
    }
}

/// A rule on a topology.
#[derive(Debug)]
pub(super) struct FromRule<'a> {
    pub(super) trace: &'a Trace,
    pub(super) topology: &'a Topology,
    pub(super) held: &'a Held,
}

/// One exchange for one agent: what it sends of its vectors, and what its next vectors are made of.
struct Coefficients {
    /// `sends[p][u]`: of vector u in the p-th number that is sent.
    sends: Vec<Vec<f64>>,
    /// `next[v][q]`: in vector v of the q-th of its own vectors, then of what is pulled and pushed.
    next: Vec<Vec<f64>>,
    /// Of the gradient at x⁺ in vector v.
    gradient: Vec<f64>,
}

/// How many gradients are made for an agent.
fn gradients(ask: Ask) -> usize {
    match ask {
        Ask::Nothing => 0,
        Ask::Samples(count) => count,
        Ask::Component => 1,
        Ask::BothPoints | Ask::AllComponents => 2,
    }
}

/// The coefficients of a program's results in the inputs behind those that all programs have. Constants of
/// the round have no value here, and what depends on them has none either.
fn linear(program: &Program, common: [f64; 3], inputs: usize) -> Result<Vec<Vec<f64>>> {
    let of_round = [f64::NAN; COMMON_INPUTS - 3];
    let given = common.into_iter().chain(of_round).map(Some).chain(std::iter::repeat_n(None, inputs));
    let found = program.linear(&given.collect::<Vec<_>>()).map_err(|error| error.reason.to_string())?;
    let coefficients = |Affine { constant, slopes }: Affine| match constant {
        _ if constant.is_nan() || slopes.iter().any(|slope| slope.is_nan()) => {
            Err("it changes with the round".to_owned())
        }
        0.0 => Ok(slopes[COMMON_INPUTS..].to_vec()),
        _ => Err("it adds a number that is not of the state".to_owned()),
    };
    found.into_iter().map(coefficients).collect()
}

impl FromRule<'_> {
    fn vectors(&self) -> usize {
        self.trace.names.len()
    }

    fn dim(&self) -> usize {
        self.vectors() * self.topology.agents()
    }

    /// Gradients that are made for an agent in a period.
    pub(super) fn gradients(&self) -> usize {
        let a_round: usize = self.trace.exchanges.iter().map(|exchange| gradients(exchange.ask)).sum();
        a_round * self.topology.period().len()
    }

    fn coefficients(&self, exchange: &TracedExchange, η: f64, w: f64, kept: f64) -> Result<Coefficients> {
        let (vectors, heard) = (self.vectors(), self.trace.sends.iter().sum::<usize>());
        let sends = linear(&exchange.send, [η, 1.0, kept], vectors)?;
        let points = linear(&exchange.points, [η, w, kept], vectors + heard)?;
        let update = linear(&exchange.update, [η, w, kept], vectors + heard + 2)?;
        // with f(x) = ½x² a gradient is its point
        let other = |q: usize| match exchange.ask {
            Ask::BothPoints => points[1][q],
            Ask::Samples(count) => count.saturating_sub(1) as f64 * points[0][q],
            _ => 0.0,
        };
        let next = |row: &Vec<f64>| {
            let ([of_next, of_other], asks) =
                ([row[vectors + heard], row[vectors + heard + 1]], exchange.ask);
            let of = |q: usize| match asks {
                Ask::Nothing => row[q],
                _ => row[q] + of_next * points[0][q] + of_other * other(q),
            };
            (0..vectors + heard).map(of).collect()
        };
        let gradient = update.iter().map(|row| row[vectors + heard]).collect();
        Ok(Coefficients { sends, next: update.iter().map(next).collect(), gradient })
    }

    /// Calls `work` with the matrix of each exchange of a period, first to last, and with what it makes of a
    /// unit of noise in one agent's gradient, a column an agent.
    fn each_exchange(&self, step: f64, mut work: impl FnMut(Rows, Rows)) -> Result<()> {
        let (n, vectors, [pulls, _]) = (self.topology.agents(), self.vectors(), self.trace.sends);
        let mut weights = self.held.weights(n);
        for k in 0..self.topology.period().len() as u64 {
            let pair = self.topology.at(k);
            for exchange in &self.trace.exchanges {
                weights = self.held.mixed(&pair.push, weights);
                let of_agent =
                    |i: usize| self.coefficients(exchange, step, weights[i], pair.push.weight(i, i));
                let agents = (0..n).map(of_agent).collect::<Result<Vec<_>>>()?;
                let mut sum = Accumulator::new(self.dim());
                let mut rows: Rows = vec![];
                for (v, i) in (0..vectors).flat_map(|v| (0..n).map(move |i| (v, i))) {
                    let next = &agents[i].next[v];
                    (0..vectors).for_each(|u| sum.add(u * n + i, next[u]));
                    for (p, &share) in next[vectors..].iter().enumerate().filter(|(_, share)| **share != 0.0)
                    {
                        let mixing: &Mixing = if p < pulls { &pair.pull } else { &pair.push };
                        for (j, weight) in mixing.row(i) {
                            let sent = agents[j].sends[p].iter().enumerate();
                            sent.for_each(|(u, of)| sum.add(u * n + j, share * (weight * of)));
                        }
                    }
                    rows.push(sum.take());
                }
                let noise = (0..vectors).flat_map(|v| (0..n).map(move |i| (v, i)));
                let asks = exchange.ask != Ask::Nothing;
                let of_noise = |(v, i): (usize, usize)| match agents[i].gradient[v] {
                    share if asks && share != 0.0 => vec![(i as u32, share)],
                    _ => vec![],
                };
                work(rows, noise.map(of_noise).collect());
            }
        }
        Ok(())
    }

    /// The matrix of a whole period. O(links · vectors²) for a round of one exchange.
    pub(super) fn matrix(&self, step: f64) -> Result<Rows> {
        let mut all: Option<Rows> = None;
        self.each_exchange(step, |exchange, _| {
            all = Some(match &all {
                None => exchange,
                Some(before) => product(&exchange, before, self.dim()),
            });
        })?;
        Ok(all.unwrap_or_default())
    }

    /// What a period makes of a unit of noise in one agent's gradient, a column an agent.
    pub(super) fn noise(&self, step: f64) -> Result<Rows> {
        let n = self.topology.agents();
        let mut all: Rows = vec![vec![]; self.dim()];
        self.each_exchange(step, |exchange, noise| {
            let mut sum = Accumulator::new(n);
            all = product(&exchange, &all, n)
                .iter()
                .zip(&noise)
                .map(|(moved, fresh)| {
                    moved.iter().chain(fresh).for_each(|(column, value)| sum.add(*column as usize, *value));
                    sum.take()
                })
                .collect();
        })?;
        Ok(all)
    }
}

/// Sums up a row.
struct Accumulator {
    values: Vec<f64>,
    touched: Vec<u32>,
    is_touched: Vec<bool>,
}

impl Accumulator {
    fn new(columns: usize) -> Self {
        Self { values: vec![0.0; columns], touched: vec![], is_touched: vec![false; columns] }
    }

    fn add(&mut self, column: usize, value: f64) {
        if value != 0.0 {
            if !std::mem::replace(&mut self.is_touched[column], true) {
                self.touched.push(column as u32);
            }
            self.values[column] += value;
        }
    }

    /// The row, and zeros in its place.
    fn take(&mut self) -> Vec<(u32, f64)> {
        self.touched.sort_unstable();
        let mut row = vec![];
        for &column in &self.touched {
            let at = column as usize;
            self.is_touched[at] = false;
            let value = std::mem::take(&mut self.values[at]);
            if value != 0.0 {
                row.push((column, value));
            }
        }
        self.touched.clear();
        row
    }
}

/// AB.
fn product(a: &Rows, b: &Rows, columns: usize) -> Rows {
    let mut sum = Accumulator::new(columns);
    let row = |row: &Vec<(u32, f64)>| {
        for (at, factor) in row {
            b[*at as usize].iter().for_each(|(column, value)| sum.add(*column as usize, factor * value));
        }
        sum.take()
    };
    a.iter().map(row).collect()
}
