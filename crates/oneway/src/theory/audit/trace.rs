//! One run as the lemmas see it.

use super::Subject;
use crate::Result;
use crate::engine::Schedule;
use crate::engine::Simulator;
use crate::engine::metrics;
use crate::engine::observe::View;
use crate::engine::{Engine, Setup};
use crate::methods::Smtpp;
use crate::theory::contraction::Contraction;

/// Numbers beyond this have diverged: their squares would soon overflow.
const DIVERGED_BEYOND: f64 = 1e100;

/// What the lemmas speak of at state k of one run.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct State {
    pub(super) k: u64,
    /// ‖X − Π_R X‖_R².
    pub(super) consensus: f64,
    /// ‖RX − Π_R X‖_R².
    pub(super) pulled: f64,
    /// ‖V − Π_C V‖_C².
    pub(super) tracking: f64,
    /// ‖CV − Π_C V‖_C².
    pub(super) pushed: f64,
    /// ‖M − ∇F(X)‖_F².
    pub(super) momentum: f64,
    /// ‖m̄_k‖².
    pub(super) mean_momentum: f64,
    /// ‖m̄_{k−1}‖², zero at the start.
    pub(super) last_momentum: f64,
    /// ‖V‖_F².
    pub(super) trackers: f64,
    /// ‖v̄ − m̄‖.
    pub(super) lost: f64,
    /// What rounding may have made of ‖v̄ − m̄‖ so far.
    pub(super) rounding_lost: f64,
    /// ‖∇F(x̄)‖².
    pub(super) gradient: f64,
    /// Σ of the above over states 1 to k.
    pub(super) gradient_sum: f64,
    /// F(z̃).
    pub(super) virtual_loss: f64,
    /// What rounding may make of squared norms.
    pub(super) rounding: f64,
}

/// Follows a run.
#[derive(Debug)]
pub(super) struct Tracer<'a> {
    pub(super) subject: Subject<'a>,
    pub(super) pull: &'a Contraction,
    pub(super) push: &'a Contraction,
}

impl Tracer<'_> {
    /// States 0 to `rounds` of the run with this seed, or fewer if it diverges.
    pub(super) fn run(&self, rounds: u64, seed: u64) -> Result<Vec<State>> {
        let Subject { problem, topology, momentum, step } = self.subject;
        let method = Smtpp::new(momentum)?;
        let schedule = Schedule::constant(step)?;
        let mut simulator = Simulator::new(Setup { method: &method, problem, topology, schedule, seed })?;
        let mut states: Vec<State> =
            Vec::with_capacity(usize::try_from(rounds).unwrap_or(0).saturating_add(1));
        let mut last_mean = vec![0.0; problem.dim()];
        for k in 0..=rounds {
            if k > 0 {
                simulator.round()?;
            }
            let view = simulator.view();
            let magnitude =
                (0..view.agents()).flat_map(|i| view.state(i)).map(|x| x.abs()).fold(0.0, f64::max);
            // NaN is lost on `max`, but not on the sum
            if !(magnitude <= DIVERGED_BEYOND && view.state(0).iter().sum::<f64>().is_finite()) {
                break;
            }
            let state = self.state(&view, states.last(), &mut last_mean)?;
            states.push(state);
        }
        Ok(states)
    }

    fn state(&self, view: &View<'_>, before: Option<&State>, last_mean: &mut Vec<f64>) -> Result<State> {
        let Subject { problem, topology, momentum: λ, step: η } = self.subject;
        let (n, d) = (view.agents(), problem.dim());
        let stationary = topology.stationary(0)?;
        let pair = topology.at(0);
        let [x, v, m] = [0, 1, 2].map(|part| stacked(view, part));
        let average = metrics::average(view)?;
        let total = |rows: &[f64]| combined(rows, d, |_| 1.0);
        let (v_total, m_total) = (total(&v), total(&m));
        let m_mean: Vec<f64> = m_total.iter().map(|sum| sum / n as f64).collect();

        let from_average = |rows: &[f64]| less(rows, |_| 1.0, &average);
        let from_share = |rows: &[f64]| less(rows, |i| stationary.push[i], &v_total);
        let lag = η * stationary.c_pi * (1.0 - λ) / λ;
        let virtual_point: Vec<f64> = average.iter().zip(&*last_mean).map(|(x, m)| x - lag * m).collect();

        let (mut gradient, mut virtual_loss) = (vec![0.0; d], 0.0);
        let (mut momentum, mut gradients) = (0.0, 0.0);
        let (mut losses, mut g) = ([0.0; 3], vec![0.0; 3 * d]);
        for (i, (x, m)) in x.chunks_exact(d).zip(m.chunks_exact(d)).enumerate() {
            problem.exact_many(i, &[x, &average, &virtual_point], &mut losses, &mut g);
            let (own, at_average) = (&g[..d], &g[d..2 * d]);
            gradients += squares(own);
            momentum += m.iter().zip(own).map(|(m, g)| (m - g) * (m - g)).sum::<f64>();
            gradient.iter_mut().zip(at_average).for_each(|(sum, g)| *sum += g / n as f64);
            virtual_loss += losses[2] / n as f64;
        }
        let gradient = squares(&gradient);
        let lost: f64 = v_total.iter().zip(&m_total).map(|(v, m)| (v - m) * (v - m)).sum();
        let (v_size, m_size) = (squares(&v), squares(&m));
        let sizes = self.pull.delta_sq() * squares(&x) + self.push.delta_sq() * v_size + m_size + gradients;
        let last_momentum = squares(last_mean);
        *last_mean = m_mean.clone();
        let (lost_before, sum_before) = before.map_or((0.0, 0.0), |b| (b.rounding_lost, b.gradient_sum));
        Ok(State {
            k: view.k,
            consensus: self.pull.norm_sq(&from_average(&x)),
            pulled: self.pull.norm_sq(&from_average(&mixed(&pair.pull, &x, d))),
            tracking: self.push.norm_sq(&from_share(&v)),
            pushed: self.push.norm_sq(&from_share(&mixed(&pair.push, &v, d))),
            momentum,
            mean_momentum: squares(&m_mean),
            last_momentum,
            trackers: v_size,
            lost: lost.sqrt() / n as f64,
            rounding_lost: lost_before + 4.0 * f64::EPSILON * (v_size.sqrt() + m_size.sqrt()),
            gradient,
            gradient_sum: if view.k == 0 { 0.0 } else { sum_before + gradient },
            virtual_loss,
            // ‖a + ε‖² ≤ (1 + τ)‖a‖² + (1 + 1/τ)‖ε‖² with τ = 1e-9 and ‖ε‖ ≤ n·2⁻⁵²·size
            rounding: 1e9 * (n as f64 * f64::EPSILON).powi(2) * sizes,
        })
    }
}

/// One vector of every agent, one after another.
fn stacked(view: &View<'_>, part: usize) -> Vec<f64> {
    (0..view.agents()).flat_map(|i| view.vector(i, part)).copied().collect()
}

/// Σ_i weight_i·row_i.
fn combined(rows: &[f64], d: usize, weight: impl Fn(usize) -> f64) -> Vec<f64> {
    let mut sum = vec![0.0; d];
    for (i, row) in rows.chunks_exact(d).enumerate() {
        sum.iter_mut().zip(row).for_each(|(sum, x)| *sum += weight(i) * x);
    }
    sum
}

/// row_i − share_i·common.
fn less(rows: &[f64], share: impl Fn(usize) -> f64, common: &[f64]) -> Vec<f64> {
    let row = |(i, row): (usize, &[f64])| -> Vec<f64> {
        row.iter().zip(common).map(|(x, common)| x - share(i) * common).collect()
    };
    rows.chunks_exact(common.len()).enumerate().flat_map(row).collect()
}

fn mixed(mixing: &crate::graph::mixing::Mixing, rows: &[f64], d: usize) -> Vec<f64> {
    let mut out = vec![0.0; rows.len()];
    out.chunks_exact_mut(d).enumerate().for_each(|(i, row)| mixing.mix_row(i, rows, row));
    out
}

fn squares(values: &[f64]) -> f64 {
    values.iter().map(|x| x * x).sum()
}
