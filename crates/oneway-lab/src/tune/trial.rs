//! Candidates: settings of one method on one topology, and how they did.

use anyhow::Result;
use oneway::metrics::Measurement;
use serde::Serialize;
use toml::{Table, Value};

use crate::args::Criterion;
use crate::experiment::set::assign;
use crate::experiment::spec::MethodSpec;
use crate::results::cells::{CellResult, CellStatus};

/// Candidates for each method on each topology.
pub(super) const CANDIDATES: usize = 39;
/// What is tuned besides the step, where a method has it, and the values that are tried.
const SECOND: [(&str, [f64; 3]); 2] = [("momentum", [0.05, 0.1, 0.3]), ("heavy_ball", [0.3, 0.6, 0.9])];
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
    let own_second = tuned.and_then(|(parameter, _)| {
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
            let edge = i == 0 || i + 1 == steps || (seconds.len() > 1 && (j == 0 || j + 1 == seconds.len()));
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
    (result.end.status == CellStatus::Completed && mean <= began).then_some(mean)
}

/// One in `keep` of the trials of each method on each topology, at least one, best first.
pub(super) fn best(trials: Vec<Trial>, keep: usize) -> Vec<Trial> {
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
    let kept = groups.into_iter().flat_map(|mut group| {
        group.sort_by(|a, b| a.score.unwrap_or(f64::INFINITY).total_cmp(&b.score.unwrap_or(f64::INFINITY)));
        if group.iter().all(|trial| trial.score.is_none()) {
            group.retain(|trial| trial.own); // nothing converged: nothing is better than what there was
        }
        let own = group.iter().position(|trial| trial.own);
        let kept = if keep == usize::MAX { 1 } else { group.len() / keep };
        match own {
            // the file's own stays in until the last choice
            Some(place) if place >= kept && kept > 1 => {
                let own = group.remove(place);
                group.truncate(kept);
                group.push(own);
            }
            _ => group.truncate(kept.max(1)),
        }
        group
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_nothing_converged_the_own_setting_is_left() {
        let trial = |step, own, score| Trial {
            topology: "ring".to_owned(),
            method: "AB".to_owned(),
            step,
            second: None,
            own,
            edge: false,
            iterations: 9,
            score,
        };
        let steps = |trials: Vec<Trial>| best(trials, usize::MAX).iter().map(|t| t.step).collect::<Vec<_>>();
        assert_eq!(steps(vec![trial(1.0, false, None), trial(2.0, true, None)]), [2.0]);
        assert_eq!(steps(vec![trial(1.0, false, Some(0.5)), trial(2.0, true, None)]), [1.0]);
    }
}
