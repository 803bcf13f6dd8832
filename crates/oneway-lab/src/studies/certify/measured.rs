//! What the runs show of ‖∇F(x̄_k)‖².

use oneway::engine::metrics::Measurement;
use oneway_experiment::plan::Entry;
use oneway_experiment::results::cells::CellStatus;
use oneway_experiment::results::cells::Ran;
use serde::Serialize;

use super::Answer;

/// Steps within this share of the last one count as the last one.
const SAME_STEP: f64 = 0.01;

/// Means over repetitions, and over the recorded states.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Measured {
    /// The mean of ‖∇F(x̄_k)‖² over recorded k = 1, …, T.
    pub(crate) average: f64,
    /// The same over the last part: the last quarter of the rounds; where the step still changed in it, the
    /// second half of those that had the last step.
    pub(crate) last_part: f64,
    /// The first round of the last part.
    pub(crate) from: u64,
    /// The standard error of `last_part`, from the repetitions.
    pub(crate) standard_error: Option<f64>,
    pub(crate) repetitions: usize,
}

impl Measured {
    /// What was measured of an entry; none if a repetition diverged.
    pub(super) fn new(entry: &Entry, ran: &[Ran<'_>]) -> Answer<Self> {
        let own: Vec<&Ran<'_>> = ran.iter().filter(|ran| std::ptr::eq(ran.cell.entry, entry)).collect();
        let diverged = own.iter().filter(|ran| ran.result.end.status == CellStatus::Diverged).count();
        if diverged > 0 {
            return Answer::none(format!("{diverged} of {} runs diverged", own.len()));
        }
        let from = last_part(entry);
        let means = |from: u64| -> Option<Vec<f64>> {
            own.iter().map(|ran| mean(&ran.result.points, from)).collect()
        };
        let (Some(all), Some(last)) = (means(1), means(from)) else {
            return Answer::none("no state after the first was recorded");
        };
        if own.is_empty() {
            return Answer::none("nothing ran");
        }
        let average = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let last_part = average(&last);
        let deviation: f64 = last.iter().map(|value| (value - last_part).powi(2)).sum();
        let count = last.len() as f64;
        Answer::Known(Self {
            average: average(&all),
            last_part,
            from,
            standard_error: (last.len() > 1).then(|| (deviation / (count - 1.0) / count).sqrt()),
            repetitions: own.len(),
        })
    }
}

/// The mean of the states recorded from round `from` on.
fn mean(points: &[Measurement], from: u64) -> Option<f64> {
    let values: Vec<f64> =
        points.iter().filter(|point| point.iteration >= from).map(|point| point.grad_norm_sq).collect();
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The first round of the last part.
fn last_part(entry: &Entry) -> u64 {
    let rounds = entry.run.iterations;
    let quarter = rounds - rounds.div_ceil(4) + 1;
    let with_last_step = rounds_with_last_step(entry);
    match with_last_step > rounds - quarter {
        true => quarter,
        false => rounds - with_last_step / 2,
    }
}

/// For how many rounds the step was the last one.
pub(super) fn rounds_with_last_step(entry: &Entry) -> u64 {
    let rounds = entry.run.iterations;
    let last = entry.schedule.at(rounds.saturating_sub(1));
    let same = |k: &u64| (entry.schedule.at(*k) / last - 1.0).abs() <= SAME_STEP;
    (0..rounds).rev().take_while(same).count() as u64
}
