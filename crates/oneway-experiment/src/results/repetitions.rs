//! The repetitions of one method on one topology: which of them count in a mean, and what became of the
//! others.
//!
//! Means are over repetitions that did all their rounds and did not diverge. One that ended early stands at
//! another iteration, and one that diverged at once has its start for a result: neither belongs in a mean.

use oneway::engine::metrics::Measurement;

use super::cells::{CellStatus, Ran};
use super::curves::Curve;
use super::manifest::{EntryRecord, Manifest};
use crate::experiment::plan::Entry;

/// What became of each repetition of a method on a topology.
#[derive(Debug)]
pub struct Repetitions<'a> {
    planned: usize,
    begun: Vec<Begun<'a>>,
}

/// A repetition that was begun.
#[derive(Debug)]
struct Begun<'a> {
    repetition: u64,
    status: CellStatus,
    rounds: u64,
    points: &'a [Measurement],
}

impl<'a> Repetitions<'a> {
    /// Those of an entry, among all that ran.
    pub fn of_entry(entry: &Entry, ran: &'a [Ran<'_>]) -> Self {
        let own = ran.iter().filter(|ran| std::ptr::eq(ran.cell.entry, entry));
        let begun = own.map(|ran| Begun {
            repetition: ran.cell.repetition,
            status: ran.result.end.status,
            rounds: ran.result.end.rounds,
            points: &ran.result.points,
        });
        Self { planned: entry.run.repetitions as usize, begun: begun.collect() }
    }

    /// Those of an entry of a results folder.
    pub fn of_record(entry: &EntryRecord, manifest: &Manifest, curves: &'a [Curve]) -> Self {
        let own = manifest
            .cells
            .iter()
            .filter(|cell| (&cell.topology, &cell.method) == (&entry.topology, &entry.method));
        let begun: Vec<Begun<'_>> = own
            .map(|cell| {
                let curve = curves.iter().find(|curve| cell.has_curve(curve));
                let points = curve.map_or(&[][..], |curve| &*curve.points);
                // folders of earlier versions call everything completed that did all its rounds
                let status = cell.end.status.judged_by(points);
                Begun { repetition: cell.repetition, status, rounds: cell.end.rounds, points }
            })
            .collect();
        Self { planned: begun.len().max(entry.repetitions as usize), begun }
    }

    fn counting(&self) -> impl Iterator<Item = &Begun<'a>> {
        self.begun.iter().filter(|begun| begun.status.came_to_its_end())
    }

    /// Each repetition that counts, and a value of it at the end.
    pub fn at_end(&self, of: impl Fn(&Measurement) -> Option<f64>) -> Vec<(u64, f64)> {
        self.counting().filter_map(|begun| Some((begun.repetition, of(begun.points.last()?)?))).collect()
    }

    /// Each repetition that counts, and the mean of a value over its last recorded states: of one, that of
    /// [`Self::at_end`]. Nothing of a repetition with fewer states, or with one that does not have the value.
    pub fn over_last(&self, states: usize, of: impl Fn(&Measurement) -> Option<f64>) -> Vec<(u64, f64)> {
        let value = |begun: &Begun<'_>| {
            let first = begun.points.len().checked_sub(states)?;
            let last: Vec<f64> = begun.points[first..].iter().map(&of).collect::<Option<_>>()?;
            Some((begun.repetition, mean(&last)?))
        };
        self.counting().filter_map(value).collect()
    }

    /// The mean of a value over the repetitions that count, at the end; none if none does.
    pub fn mean_at_end(&self, of: impl Fn(&Measurement) -> Option<f64>) -> Option<f64> {
        mean(&self.at_end(of).into_iter().map(|(_, value)| value).collect::<Vec<f64>>())
    }

    /// The repetitions to draw, and their curves: those that count, so that all end together. Where none
    /// does, those that came furthest.
    pub fn drawn(&self) -> Vec<(u64, &'a [Measurement])> {
        let end = |begun: &Begun<'_>| begun.points.last().map(|point| point.iteration);
        let furthest = self.begun.iter().filter_map(end).max();
        let counts = self.counting().next().is_some();
        let is_drawn = |begun: &&Begun<'_>| match counts {
            true => begun.status.came_to_its_end(),
            false => furthest.is_some() && end(begun) == furthest,
        };
        self.begun.iter().filter(is_drawn).map(|begun| (begun.repetition, begun.points)).collect()
    }

    /// "5 completed", "3 completed, 1 diverged by 40, 1 not run".
    pub fn status(&self) -> String {
        let parts: Vec<String> =
            self.counts(|_| true).iter().map(|(label, count)| format!("{count} {label}")).collect();
        if self.begun.is_empty() { "not run".to_owned() } else { parts.join(", ") }
    }

    /// How many of how many count, and what became of the others; nothing where all do.
    pub fn note(&self) -> Option<String> {
        let count = self.counting().count();
        let others = self.counts(|begun| !begun.status.came_to_its_end());
        let others: Vec<String> = others.iter().map(|(label, count)| format!("{count} {label}")).collect();
        (count < self.planned).then(|| format!("{count} of {} ({})", self.planned, others.join(", ")))
    }

    /// How often each thing became of those that are `wanted`, and of those that were not begun.
    fn counts(&self, wanted: impl Fn(&Begun<'_>) -> bool) -> Vec<(String, usize)> {
        let mut counts: Vec<(String, usize)> = vec![];
        for Begun { status, rounds, .. } in self.begun.iter().filter(|begun| wanted(begun)) {
            let label = match status {
                CellStatus::Completed => "completed".to_owned(),
                CellStatus::Diverged => format!("diverged by {rounds}"),
                CellStatus::Starved => "starved".to_owned(),
                CellStatus::Stopped => format!("stopped at {rounds}"),
                CellStatus::Failed => format!("failed at {rounds}"),
            };
            match counts.iter_mut().find(|(known, _)| *known == label) {
                Some((_, count)) => *count += 1,
                None => counts.push((label, 1)),
            }
        }
        match self.planned.saturating_sub(self.begun.len()) {
            0 => {}
            missing => counts.push(("not run".to_owned(), missing)),
        }
        counts
    }
}

/// The mean of values; none of none. Divided first: a sum of huge numbers may overflow where their mean does
/// not.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().map(|value| value / values.len() as f64).sum())
}

/// The standard error of the mean of values; none of fewer than two.
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let (mean, n) = (mean(values)?, values.len() as f64);
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (n > 1.0).then(|| (squares / (n - 1.0) / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::divergence::tests::curve;
    use super::*;

    fn repetitions<'a>(planned: usize, begun: &[(CellStatus, u64, &'a [Measurement])]) -> Repetitions<'a> {
        let begun = begun.iter().zip(0..).map(|(&(status, rounds, points), repetition)| Begun {
            repetition,
            status,
            rounds,
            points,
        });
        Repetitions { planned, begun: begun.collect() }
    }

    #[test]
    fn only_what_completed_counts_and_the_rest_is_named() {
        use CellStatus::{Completed, Diverged, Stopped};
        let (whole, other) = (curve(&[1.0, 0.5, 0.25]), curve(&[1.0, 0.5, 0.75]));
        let (short, start) = (curve(&[1.0, 0.1]), curve(&[1.0]));
        let loss = |m: &Measurement| Some(m.loss);
        let some = repetitions(
            5,
            &[(Completed, 20, &whole), (Completed, 20, &other), (Stopped, 10, &short), (Diverged, 7, &start)],
        );
        assert_eq!(some.mean_at_end(loss), Some(0.5));
        assert_eq!(some.over_last(1, loss), some.at_end(loss));
        assert_eq!(some.over_last(2, loss), [(0, 0.375), (1, 0.625)]);
        assert_eq!((some.over_last(4, loss), some.over_last(0, loss)), (vec![], vec![]));
        assert_eq!(some.drawn(), [(0, &whole[..]), (1, &other)]);
        assert_eq!(some.status(), "2 completed, 1 stopped at 10, 1 diverged by 7, 1 not run");
        assert_eq!(some.note().unwrap(), "2 of 5 (1 stopped at 10, 1 diverged by 7, 1 not run)");

        let none = repetitions(2, &[(Diverged, 7, &start), (Diverged, 15, &short)]);
        assert_eq!(none.mean_at_end(loss), None, "a start is no result");
        assert_eq!(none.drawn(), [(1, &short[..])]);
        assert_eq!(none.note().unwrap(), "0 of 2 (1 diverged by 7, 1 diverged by 15)");

        let all = repetitions(1, &[(Completed, 20, &whole)]);
        assert_eq!((all.status().as_str(), all.note()), ("1 completed", None));
        assert_eq!(repetitions(3, &[]).status(), "not run");
        assert_eq!(repetitions(3, &[]).note().unwrap(), "0 of 3 (3 not run)");
    }

    #[test]
    fn errors_are_those_of_means() {
        assert_eq!(standard_error(&[1.0]), None);
        assert_eq!(standard_error(&[1.0, 3.0]), Some(1.0));
        assert_eq!((mean(&[]), mean(&[1e308, 1e308])), (None, Some(1e308)));
    }
}
