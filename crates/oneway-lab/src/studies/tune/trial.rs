//! Candidates: settings of one method on one topology, and how they did.

use std::cmp::Ordering;

use anyhow::Result;
use oneway::engine::metrics::Measurement;
use oneway_experiment::results::cells::CellResult;
use oneway_experiment::set::assign;
use oneway_experiment::spec::MethodSpec;
use serde::Serialize;
use toml::{Table, Value};

use super::Criterion;

/// Candidates for each method on each topology, besides the file's own setting.
pub(super) const CANDIDATES: usize = 65;
/// What is tuned besides the step, where a method has it, and the values that are tried.
const SECOND: [(&str, [f64; 5]); 2] =
    [("momentum", [0.01, 0.03, 0.1, 0.3, 1.0]), ("heavy_ball", [0.1, 0.3, 0.5, 0.7, 0.9])];
/// Candidates' steps reach from 1/SPAN of the step in the file to SPAN times it.
const SPAN: f64 = 64.0;

/// One setting of one method on one topology, and how it did.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Trial {
    pub(super) topology: String,
    pub(super) method: String,
    pub(super) step: f64,
    /// The parameter that is tuned besides the step, and its value.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) second: Option<Second>,
    /// Whether it is the file's own setting.
    pub(super) own: bool,
    /// Whether its step or its second parameter is at the edge of the grid.
    pub(super) edge: bool,
    /// How far it was run, and its score there; none if it diverged or ended worse than it began.
    pub(super) iterations: u64,
    pub(super) score: Option<f64>,
}

/// A parameter and its value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Second {
    pub(super) parameter: &'static str,
    pub(super) value: f64,
}

impl Trial {
    /// Writes the trial's step and second parameter into a method.
    pub(super) fn apply(&self, method: &mut Table) -> Result<()> {
        assign(method, &["step", "size"], Value::Float(self.step))?;
        self.second.map_or(Ok(()), |second| assign(method, &[second.parameter], Value::Float(second.value)))
    }

    /// The second parameter as a table shows it.
    pub(super) fn second_text(&self) -> String {
        self.second.map_or("–".to_owned(), |second| format!("{} {}", second.parameter, second.value))
    }
}

/// The grid, and the file's own setting behind it.
pub(super) fn candidates(topology: &str, method: &MethodSpec) -> Vec<Trial> {
    let declared = |name: &str| method.kind.parameters.iter().find(|parameter| parameter.name == name);
    let tuned = SECOND.iter().find_map(|(name, grid)| Some((declared(name)?, grid)));
    let seconds: Vec<Option<Second>> = match tuned {
        Some((parameter, grid)) => {
            grid.iter().map(|&value| Some(Second { parameter: parameter.name, value })).collect()
        }
        None => vec![None],
    };
    // a λ by the corollary stays in the file's own words
    let own_second = tuned.filter(|_| !method.corollary_momentum).and_then(|(parameter, _)| {
        let given = method.parameters.iter().find(|(name, _)| name == parameter.name);
        let value = given.map(|(_, value)| *value).or(parameter.default)?;
        Some(Second { parameter: parameter.name, value })
    });
    let steps = CANDIDATES / seconds.len();
    let step = |i: usize| method.step.size * SPAN.powf(2.0 * i as f64 / (steps - 1) as f64 - 1.0);
    let own = Trial {
        topology: topology.to_owned(),
        method: method.name.clone(),
        step: method.step.size,
        second: own_second,
        own: true,
        edge: false,
        iterations: 0,
        score: None,
    };
    let mut trials = vec![];
    for i in 0..steps {
        for (j, &second) in seconds.iter().enumerate() {
            // λ = 1 is no edge: there is no momentum beyond it
            let beyond = |second: &Second| second.value < 1.0 && (j == 0 || j + 1 == seconds.len());
            let edge = i == 0 || i + 1 == steps || second.as_ref().is_some_and(beyond);
            trials.push(Trial { step: step(i), second, own: false, edge, ..own.clone() });
        }
    }
    trials.push(own);
    trials
}

/// The mean over the last quarter of a curve; none if it diverged, or ended worse than it began.
pub(super) fn score_of(result: &CellResult, by: Criterion) -> Option<f64> {
    let points = &result.points;
    let last = &points[points.len() - points.len().div_ceil(4)..];
    let of = |m: &Measurement| match by {
        Criterion::Loss => m.loss,
        Criterion::Gradient => m.grad_norm_sq,
    };
    let mean = last.iter().map(of).sum::<f64>() / last.len() as f64;
    let began = points.first().map_or(f64::NEG_INFINITY, of);
    (result.end.status.came_to_its_end() && mean <= began).then_some(mean)
}

/// The trials of each method on each topology, in the order in which they come.
fn by_method_and_topology(trials: Vec<Trial>) -> Vec<Vec<Trial>> {
    let mut groups: Vec<Vec<Trial>> = vec![];
    for trial in trials {
        match groups
            .iter_mut()
            .find(|group| (&group[0].topology, &group[0].method) == (&trial.topology, &trial.method))
        {
            Some(group) => group.push(trial),
            None => groups.push(vec![trial]),
        }
    }
    groups
}

fn by_score(a: &Trial, b: &Trial) -> Ordering {
    a.score.unwrap_or(f64::INFINITY).total_cmp(&b.score.unwrap_or(f64::INFINITY))
}

/// Of each method on each topology the file's own trial, which stays in until the last choice, and the best
/// one in `keep` of the others: as many for each method, also where none converged, so that all have the same
/// budget.
pub(super) fn survivors(trials: Vec<Trial>, keep: usize) -> Vec<Trial> {
    let kept = by_method_and_topology(trials).into_iter().flat_map(|group| {
        let (own, mut others): (Vec<Trial>, Vec<Trial>) = group.into_iter().partition(|trial| trial.own);
        others.sort_by(by_score);
        others.truncate((others.len() / keep).max(1));
        others.into_iter().chain(own)
    });
    kept.collect()
}

/// The best trial of each method on each topology; the file's own where none converged, for nothing is better
/// than that.
pub(super) fn best(trials: Vec<Trial>) -> Vec<Trial> {
    let best = by_method_and_topology(trials).into_iter().filter_map(|mut group| {
        group.sort_by(by_score);
        let chosen = group.iter().position(|trial| trial.score.is_some() || trial.own)?;
        Some(group.swap_remove(chosen))
    });
    best.collect()
}

/// The fewest and the most rounds that a method was given on a topology, in one repetition.
pub(super) fn rounds(all: Vec<Trial>) -> Option<(u64, u64)> {
    let given = by_method_and_topology(all).into_iter();
    let given = given.map(|group| group.iter().map(|trial| trial.iterations).sum::<u64>());
    given.fold(None, |range, rounds| match range {
        None => Some((rounds, rounds)),
        Some((fewest, most)) => Some((rounds.min(fewest), rounds.max(most))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(method: &str, step: f64, own: bool, score: Option<f64>) -> Trial {
        Trial {
            topology: "ring".to_owned(),
            method: method.to_owned(),
            step,
            second: None,
            own,
            edge: false,
            iterations: 9,
            score,
        }
    }

    #[test]
    fn where_nothing_converged_the_own_setting_is_left() {
        let steps = |trials: Vec<Trial>| best(trials).iter().map(|t| t.step).collect::<Vec<_>>();
        assert_eq!(steps(vec![trial("AB", 1.0, false, None), trial("AB", 2.0, true, None)]), [2.0]);
        assert_eq!(steps(vec![trial("AB", 1.0, false, Some(0.5)), trial("AB", 2.0, true, None)]), [1.0]);
        let own_wins = vec![trial("AB", 1.0, false, Some(0.5)), trial("AB", 2.0, true, Some(0.4))];
        assert_eq!(steps(own_wins), [2.0]);
    }

    /// Whether candidates converge or not, and wherever the own setting ranks, as many go on.
    #[test]
    fn every_method_has_the_same_budget() {
        let scores: [fn(usize) -> Option<f64>; 3] =
            [|_| None, |i| Some(i as f64), |i| (i > 5).then_some(-(i as f64))];
        let all: Vec<Trial> = (["a", "b", "c"].iter().zip(scores))
            .flat_map(|(name, score)| (0..=9).map(move |i| trial(name, i as f64, i == 9, score(i))))
            .collect();
        let left = survivors(all, 3);
        for name in ["a", "b", "c"] {
            assert_eq!(left.iter().filter(|trial| trial.method == name).count(), 3 + 1, "{name}");
            assert!(left.iter().any(|trial| trial.method == name && trial.own), "{name}");
        }
        assert_eq!(rounds(left), Some((36, 36)));
    }
}
