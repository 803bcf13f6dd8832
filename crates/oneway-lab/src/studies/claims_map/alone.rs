//! What a question changes alone: pairs of readings that ran and differ in the answer to it and in nothing else.

use serde::Serialize;

use super::Map;
use super::verdicts::Verdict;

/// A question's pairs of readings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Alone {
    pub(crate) factor: String,
    pub(crate) pairs: usize,
    /// Verdicts of a pair on all claims in all views.
    pub(crate) verdicts: usize,
    /// Those that are not the same in both.
    pub(crate) changed: usize,
    /// Those of them that hold in one and fail in the other.
    pub(crate) turned: usize,
}

impl Map {
    /// Of every question, what it changes alone; those that change the largest share of verdicts first.
    pub(super) fn alone(&self) -> Vec<Alone> {
        let question = &self.question;
        let of = |factor: &super::space::Factor| Alone {
            factor: factor.name.clone(),
            pairs: 0,
            verdicts: 0,
            changed: 0,
            turned: 0,
        };
        let mut all: Vec<Alone> = question.space.factors.iter().map(of).collect();
        for (at, one) in question.readings.iter().enumerate() {
            for (other_at, other) in question.readings.iter().enumerate().skip(at + 1) {
                let mut apart = (0..one.len()).filter(|&factor| one[factor] != other[factor]);
                let (Some(factor), None) = (apart.next(), apart.next()) else { continue };
                let [one, other] = [at, other_at].map(|at| self.verdicts[at].iter().flatten());
                let found = &mut all[factor];
                found.pairs += 1;
                for (one, other) in one.zip(other) {
                    found.verdicts += 1;
                    found.changed += usize::from(one != other);
                    found.turned += usize::from(one != other && ![one, other].contains(&&Verdict::Open));
                }
            }
        }
        let share = |one: &Alone| one.changed as f64 / one.verdicts.max(1) as f64;
        all.sort_by(|a, b| share(b).total_cmp(&share(a)));
        all
    }
}
